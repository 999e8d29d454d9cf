import type { Offset } from './event-log.ts';
import type { EventTypePartition } from './event-type-partition.ts';

/** Events of a partition that a stream had sent when it ended, and that were not committed. */
export interface FailedDelivery extends EventTypePartition {
  /** The first of them. */
  readonly firstOffset: Offset;
  /** The last one to look at when the event that fails is searched for. */
  readonly throughOffset: Offset;
}

/** What a stream reports at its end for a subscription with a policy for events that its consumer cannot process. */
export interface FailedDeliveries {
  /** After so many streams in a row the events are delivered one by one. */
  readonly failuresMaximum: number;
  readonly partitions: readonly FailedDelivery[];
}

/**
 * How often the next event of a partition failed: so many streams in a row ended without the commit of the event at
 * `firstOffset`. A record whose `firstOffset` is committed by now is out of date and means nothing, so a commit need
 * not touch it.
 */
export interface FailureRecord {
  readonly failures: number;
  readonly firstOffset: Offset;
  readonly throughOffset: Offset;
  /** Whether the events up to `throughOffset` are delivered one by one, to find the one that fails. */
  readonly isOneByOne: boolean;
}

/**
 * The record of a partition after one more stream failed. Every adapter of the coordination port implements this rule.
 * @param before The record before; undefined when there is none.
 */
export function recordFailure(
  before: FailureRecord | undefined,
  { firstOffset, throughOffset }: FailedDelivery,
  failuresMaximum: number,
): FailureRecord {
  const isSame = before?.firstOffset === firstOffset;
  const failures = isSame ? before.failures + 1 : 1;
  if (before?.isOneByOne === true && firstOffset <= before.throughOffset) {
    return { failures, firstOffset, throughOffset: before.throughOffset, isOneByOne: true };
  }
  // A stream may fail before it sends as much as the one before: the event that fails may be further on.
  const through = isSame ? Math.max(before.throughOffset, throughOffset) : throughOffset;
  // From here on the failures of one event are counted, not those of a batch.
  if (failures >= failuresMaximum) return { failures: 0, firstOffset, throughOffset: through, isOneByOne: true };
  return { failures, firstOffset, throughOffset: through, isOneByOne: false };
}
