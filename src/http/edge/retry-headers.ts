import type { Response } from 'express';
import type { LendstreamError } from '../../errors.ts';

/** When to repeat a request whose error does not say it. Seconds. */
const retryAfterSecondsDefault = 1;

interface ExceededLimit {
  readonly name: string;
  readonly limit: number;
  readonly windowSeconds?: number;
}

/**
 * Says when a request that failed may be tried again, and which limit refused it: `RateLimit-Policy` and `RateLimit` of
 * the draft of the IETF, as structured fields. Other responses do not have them: they would cost every request.
 */
export function setRetryHeaders(response: Response, { retriable, details }: LendstreamError): void {
  if (!retriable) return;
  const seconds = Number(details['retryAfterSeconds'] ?? retryAfterSecondsDefault);
  response.set('Retry-After', String(seconds));
  const exceeded = details['exceeded'] as ExceededLimit | undefined;
  if (exceeded === undefined) return;
  const { name, limit, windowSeconds } = exceeded;
  response.set('RateLimit-Policy', `"${name}";q=${limit}${windowSeconds === undefined ? '' : `;w=${windowSeconds}`}`);
  response.set('RateLimit', `"${name}";r=0;t=${seconds}`);
}
