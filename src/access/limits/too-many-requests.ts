import { LendstreamError } from '../../errors.ts';

/** A limit that refused, for programs: the headers of the response are made of it. */
export interface ExceededLimit {
  readonly name: string;
  readonly limit: number;
  /** The time for which the limit counts; undefined for one on what exists at the same time. Seconds. */
  readonly windowSeconds?: number;
}

/** The refusal of what goes beyond a limit. @param waitMilliseconds After this time it may be tried again. */
export function tooManyRequests(detail: string, exceeded: ExceededLimit, waitMilliseconds: number): LendstreamError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMilliseconds / 1_000));
  return new LendstreamError('TOO_MANY_REQUESTS', detail, { details: { exceeded, retryAfterSeconds } });
}
