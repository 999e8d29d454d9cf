/**
 * The score of an id: its time in milliseconds, a bit that is 1 once its event is stored, and ten bits of the
 * partition. Exact below 2^53, until 2109. The score of a claim also distinguishes it from other claims of its id.
 */

const partitions = 1_024;

export function scoreOf(time: number, partition: number, isStored = false): number {
  return (2 * time + (isStored ? 1 : 0)) * partitions + partition;
}

export interface ClaimScore {
  /** Milliseconds since the epoch. */
  readonly claimedAt: number;
  readonly partition: number;
}

export function claimOf(score: number): ClaimScore {
  return { claimedAt: Math.floor(score / (2 * partitions)), partition: score % partitions };
}
