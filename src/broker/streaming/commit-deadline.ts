import type { StreamParameters } from './stream-parameters.ts';

/** The deadline by which the consumer of a stream must commit what it got. Times are monotonic milliseconds. */

export type CommitRules = Pick<StreamParameters, 'commitTimeoutMilliseconds'>;

/**
 * The deadline of a stream, even of a closing one; 0 when no sent events wait for a commit.
 * @param uncommittedSince Since when sent events have waited for a commit; undefined when there are none.
 */
export function commitDeadline(rules: CommitRules, uncommittedSince: number | undefined): number {
  return uncommittedSince === undefined ? 0 : uncommittedSince + rules.commitTimeoutMilliseconds;
}

/** Whether sent events were not committed in time. */
export function isCommitOverdue(rules: CommitRules, uncommittedSince: number | undefined, now: number): boolean {
  return uncommittedSince !== undefined && now >= commitDeadline(rules, uncommittedSince);
}
