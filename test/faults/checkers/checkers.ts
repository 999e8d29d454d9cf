import { commandEffects, balanceConservation, loanSequences } from './commands.ts';
import { boundedRedelivery, commitRegress, gapsBelowCommitted, interleavedCommits } from './commits.ts';
import { nonmonotonicPolls, pollSkips, silentStreams } from './deliveries.ts';
import type { Checker, Evidence } from './evidence.ts';
import { abortedReads, duplicates, inconsistentOffsets, lostWrites, producerOrder, unseen } from './log.ts';

/** The promises that every run must keep, whatever was done to the system. */
export const checkers: readonly Checker[] = [
  lostWrites,
  unseen,
  duplicates,
  inconsistentOffsets,
  abortedReads,
  producerOrder,
  pollSkips,
  nonmonotonicPolls,
  silentStreams,
  commitRegress,
  gapsBelowCommitted,
  interleavedCommits,
  boundedRedelivery,
  commandEffects,
  loanSequences,
  balanceConservation,
];

export interface CheckOutcome {
  readonly checker: string;
  readonly promise: string;
  readonly findings: readonly string[];
}

export function judge(evidence: Evidence): CheckOutcome[] {
  return checkers.map(({ name, promise, check }) => ({ checker: name, promise, findings: check(evidence) }));
}
