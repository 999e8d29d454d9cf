/**
 * Published ids: the port that knows which events were published lately, for event types that store a repeated event
 * once. The log is the truth: an adapter keeps the ids of a window in memory or in Redis, may lose them, and then reads
 * them from the log again.
 *
 * An id is claimed before its event is appended, and settled afterwards. So of any number of requests with one id, on
 * any number of processes, one appends and the others wait for its outcome. A claim whose process died, or whose append
 * has an unknown outcome, is decided by the log: the id is stored if the log has it. An append that has not arrived
 * there {@link claimMilliseconds} after its claim counts as not stored.
 */

/**
 * After this time a claim that was not settled belongs to a process that died, or to an append that never arrives.
 * Longer than an append may take after the last moment at which it may begin. Milliseconds.
 */
export const claimMilliseconds = 30_000;

/** The share of {@link claimMilliseconds} in which an append may begin: the rest is for its outcome. */
export const appendingShare = 1 / 3;

export interface IdsToClaim {
  readonly topic: string;
  /**
   * Since when the publisher has claimed every id of the topic without a break. Other times have an index of their own,
   * as has an earlier topic with this name: what was stored without a claim is missing in it.
   */
  readonly claimedSince: string;
  /** How long after it was stored an event counts. Never shorter than {@link claimMilliseconds}. */
  readonly windowMilliseconds: number;
  /** As {@link publishedId} makes them, each once. */
  readonly ids: readonly string[];
  /** By index of the id: the partition that its event would be appended to. */
  readonly partitions: readonly number[];
}

export interface IdClaim {
  /** The ids that were stored within the window, with the partition of their event. These are not claimed. */
  readonly storedIn: ReadonlyMap<string, number>;
  /** Whether an append of the claimed ids may begin now. Otherwise it might arrive when the claim has ended. */
  isCurrent(): boolean;
  /**
   * Ends the claim. Ids in neither set were not stored. Never fails: a claim that cannot be settled is decided by the
   * log.
   * @param unknown Ids whose append has an unknown outcome.
   */
  settle(stored: ReadonlySet<string>, unknown: ReadonlySet<string>): Promise<void>;
}

export interface PublishedIds {
  /**
   * Claims all ids that were not stored within the window, or none of them. Waits while others hold claims of any.
   * @throws OVERLOADED when the topic would have more ids within its window than the limit; COORDINATION_UNAVAILABLE;
   *   what `EventLog.read` throws when ids have to be read from the log
   */
  claim(request: IdsToClaim): Promise<IdClaim>;

  close(): void;
}

/** An `eid` as it is compared and kept: without its dashes and its letter case, in 22 characters. */
export function publishedId(eid: string): string {
  return Buffer.from(eid.replaceAll('-', ''), 'hex').toString('base64url');
}
