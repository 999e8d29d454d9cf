/**
 * Sends a loan command and waits for its outcome. A command is done once, however often it is sent under its id:
 * after a lost response, it is sent again.
 */

import { monotonic, sleep, timestamp } from '../../client/clock.ts';
import type { Responses } from '../../contract.ts';
import { apiErrorOf, call, JsonText } from '../api/api.ts';

export const commandsType = 'lendstream.loan-commands';

/** Where commands are published. */
export const commandsPath = `/event-types/${commandsType}/events`;

/** How long an outcome is waited for; the command is decided later all the same. */
const patienceMilliseconds = 30_000;
const firstPauseMilliseconds = 100;
const pauseMillisecondsMaximum = 1_000;

export type CommandOutcome = Responses['getCommand'];

/** Which loan or product a command is for. */
export type CommandSubject = { readonly loanAccountId: string } | { readonly loanProductId: string };

/** A command as the event that is published. @param payload JSON. */
export function commandJson(id: string, type: string, subject: CommandSubject, payload: string): string {
  const envelope = JSON.stringify({
    metadata: { eid: id, occurred_at: timestamp() },
    type,
    ...subject,
  });
  return `${envelope.slice(0, -1)},"payload":${payload}}`;
}

/** @param json From {@link commandJson}. @throws ApiError */
export async function publishCommand(json: string): Promise<void> {
  await call('POST', commandsPath, new JsonText(`[${json}]`));
}

/** @returns Undefined when it is not decided after some time. @throws ApiError */
export async function outcomeOf(id: string, signal: AbortSignal): Promise<CommandOutcome | undefined> {
  const until = monotonic() + patienceMilliseconds;
  for (let pause = firstPauseMilliseconds; monotonic() < until; pause = Math.min(pause * 2, pauseMillisecondsMaximum)) {
    try {
      const outcome = await call<CommandOutcome>('GET', `/commands/${id}`, undefined, { signal });
      if (outcome.status !== 'PENDING') return outcome;
    } catch (error) {
      signal.throwIfAborted();
      // Unknown until it is decided; and a service that does not respond may be back soon.
      const { status } = apiErrorOf(error);
      if (status !== 404 && status !== 0) throw error;
    }
    await sleep(pause, signal);
    signal.throwIfAborted();
  }
  return undefined;
}
