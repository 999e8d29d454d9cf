import type { Response } from 'express';
import type { Usage } from '../../../access/limits/usage.ts';

/** Where the response keeps the usage of the sender of its request. */
const usageName = 'usage';

/** What the sender of a response's request uses; undefined for one without limits. */
export function usageOf(response: Response): Usage | undefined {
  return response.locals[usageName] as Usage | undefined;
}

/** Says what the sender of a response's request uses. */
export function setUsage(response: Response, usage: Usage): void {
  response.locals[usageName] = usage;
}

/** Counts a response as a stream until it is closed. @throws TOO_MANY_REQUESTS */
export function countStream(response: Response): void {
  const release = usageOf(response)?.openStream();
  if (release === undefined) return;
  if (response.destroyed) release();
  else response.once('close', release);
}

/** What lets others run in the middle of a long response: all responses of one sender share its turns. */
export function turnsOf(response: Response): (() => Promise<void>) | undefined {
  const usage = usageOf(response);
  return usage === undefined ? undefined : () => usage.giveWay();
}
