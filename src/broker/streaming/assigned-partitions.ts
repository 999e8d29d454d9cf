import type { CommittedOffset, PartitionOwnership } from '../../ports/coordination.ts';
import { isSamePartition, partitionKey } from '../../ports/event-type-partition.ts';
import { beforeFirst } from '../cursors/cursor-text.ts';
import type { Offset, PartitionBounds } from '../../ports/event-log.ts';
import { searchFrom } from './event-search.ts';
import { UndeliveredNotices } from './undelivered-notices.ts';
import { lineFrame, type LineFormat } from './line-format.ts';
import { StreamPartition } from './stream-partition.ts';

/**
 * How much a stream buffers to fill batches larger than its prefetch. Above it the largest incomplete batch is sent
 * early. Bytes, over all its partitions, exceeded by no more than one read.
 */
export const bufferBytesMaximum = 16 * 1024 * 1024;

/** The partitions that one stream reads now, and their totals. */
export class AssignedPartitions {
  /** What the consumer is to be told about events of these partitions that it does not get. */
  readonly notices = new UndeliveredNotices();
  readonly #bufferBytesMaximum: number;
  readonly #frameOf: NonNullable<LineFormat['frameOf']>;
  #list: readonly StreamPartition[];

  /**
   * @param list Those to begin with.
   * @param maximum How much they buffer before the largest incomplete batch is sent early. Bytes.
   * @param frameOf The frame of the lines of those that are adopted.
   */
  constructor(
    list: readonly StreamPartition[] = [],
    maximum = bufferBytesMaximum,
    frameOf: LineFormat['frameOf'] = lineFrame,
  ) {
    this.#list = list;
    this.#bufferBytesMaximum = maximum;
    this.#frameOf = frameOf;
  }

  get list(): readonly StreamPartition[] {
    return this.#list;
  }

  uncommittedEvents(): number {
    let events = 0;
    for (const { uncommittedEvents } of this.#list) events += uncommittedEvents;
    return events;
  }

  bufferedBytes(): number {
    let bytes = 0;
    for (const { buffer } of this.#list) bytes += buffer.bytes;
    return bytes;
  }

  /** Whether no more may be read to fill a batch. */
  isFull(): boolean {
    return this.bufferedBytes() >= this.#bufferBytesMaximum;
  }

  /** Whether any partition passed over offsets that no consumer can commit. */
  hasCommittableWithoutConsumer(): boolean {
    for (const { committableWithoutConsumer } of this.#list) if (committableWithoutConsumer !== undefined) return true;
    return false;
  }

  /** Whether in any partition the event is searched that the consumer cannot process. */
  isSearching(): boolean {
    for (const { search } of this.#list) if (search !== undefined) return true;
    return false;
  }

  /** Notes committed offsets. Returns whether any of them moved forward. */
  applyCommits(committed: readonly CommittedOffset[]): boolean {
    let moved = false;
    for (const { eventType, partition, offset } of committed) {
      const assignedPartition = this.#list.find(
        (assigned) => assigned.partition === partition && assigned.eventType === eventType,
      );
      if (assignedPartition?.commitThrough(offset) === true) moved = true;
    }
    return moved;
  }

  /**
   * Drops partitions that are no longer owned. Stops those that are to go to another stream: they wait for commits
   * until `handOverUntil`. Resumes those that stay after all.
   *
   * A partition may be lost and regained before the stream notices, for example when the store lost its data. It
   * continues where it is: the consumer has the events that were sent, and a stream never goes backwards.
   *
   * @param owned The partitions that the stream owns according to the coordination store.
   * @param handOverUntil Monotonic milliseconds.
   * @returns whether any partition stopped, so that some of the running reads are no longer wanted
   */
  keepOwned(owned: readonly PartitionOwnership[], handOverUntil: number): boolean {
    const ownershipOf = this.#finder(owned);
    const ownerships: PartitionOwnership[] = [];
    const kept = this.#list.filter((assigned, index) => {
      const ownership = ownershipOf(assigned, index);
      if (ownership !== undefined) ownerships.push(ownership);
      return ownership !== undefined;
    });
    let stopped = kept.length < this.#list.length;
    if (stopped) this.#list = kept;
    for (const [index, assigned] of kept.entries()) {
      const { fence = assigned.fence, state } = ownerships[index] ?? {};
      assigned.fence = fence;
      const leaving = state === 'reassigning';
      if (!leaving) {
        assigned.handOverUntil = undefined;
      } else if (assigned.handOverUntil === undefined) {
        assigned.handOverUntil = handOverUntil;
        assigned.rewind();
        stopped = true;
      }
    }
    return stopped;
  }

  /** Restarts the wait of partitions that are to go to another stream. @param handOverUntil Monotonic milliseconds. */
  setHandOverDeadline(handOverUntil: number): void {
    for (const assigned of this.#list) if (assigned.handOverUntil !== undefined) assigned.handOverUntil = handOverUntil;
  }

  /**
   * Finds the ownership of a partition by where it is in the list. Both lists are nearly always alike: thousands of
   * streams look at once after the coordination store was lost, so maps are made only where they differ.
   */
  #finder(
    owned: readonly PartitionOwnership[],
  ): (assigned: StreamPartition, index: number) => PartitionOwnership | undefined {
    if (this.#isAlike(owned)) return (_assigned, index) => owned[index];
    const byKey = new Map(owned.map((ownership) => [partitionKey(ownership), ownership]));
    return (assigned) => byKey.get(partitionKey(assigned));
  }

  #isAlike(owned: readonly PartitionOwnership[]): boolean {
    const { length } = this.#list;
    return owned.length === length && owned.every((each, index) => isSamePartition(each, this.#list[index]));
  }

  /** The owned partitions that are not in the list yet. */
  missing(owned: readonly PartitionOwnership[]): PartitionOwnership[] {
    if (this.#list.length === 0) return [...owned];
    if (this.#isAlike(owned)) return [];
    const assigned = new Set(this.#list.map(partitionKey));
    return owned.filter((ownership) => !assigned.has(partitionKey(ownership)));
  }

  /**
   * Starts with newly owned partitions, after the committed offset or after the offsets that retention deleted.
   * @param bounds Of the gained partitions, in the same order.
   * @param now Monotonic milliseconds, like `handOverUntil`.
   * @param hasPolicy Whether the subscription has a policy for events that its consumer cannot process.
   */
  adopt(
    gained: readonly PartitionOwnership[],
    bounds: readonly PartitionBounds[],
    committed: readonly CommittedOffset[],
    now: number,
    handOverUntil: number,
    hasPolicy = false,
  ): void {
    const offsets = new Map(committed.map((position) => [partitionKey(position), position.offset]));
    const adopted = gained.map((ownership, index) => {
      const position = offsets.get(partitionKey(ownership)) ?? beforeFirst;
      const start = Math.max(position, (bounds[index]?.earliest ?? 0) - 1);
      this.notices.countSkippedOffsets(start - position);
      const partition = this.partitionOf(ownership, start, now);
      partition.startsBehindLoss = start > position;
      if (ownership.state === 'reassigning') partition.handOverUntil = handOverUntil;
      if (hasPolicy && ownership.failureRecord !== undefined) {
        partition.search = searchFrom(ownership.failureRecord, start);
        this.notices.reportFailures(ownership, ownership.failureRecord, start);
      }
      return partition;
    });
    // An array of exactly this length: a spread array grows with room for 16 more.
    this.#list = this.#list.concat(adopted);
  }

  /** A partition that is not in the list. @param now Monotonic milliseconds. */
  partitionOf(
    ownership: Pick<PartitionOwnership, 'eventType' | 'partition' | 'fence'>,
    committedThrough: Offset,
    now: number,
  ): StreamPartition {
    const frame = this.#frameOf(ownership.eventType, ownership.partition);
    return new StreamPartition(ownership, committedThrough, now, frame);
  }

  clear(): void {
    this.#list = [];
  }

  /**
   * Removes and returns the partitions that are to go to another stream, have no uncommitted events, and of which no
   * event is being passed over: the next stream would write its dead letter again.
   */
  removeHandedOver(): StreamPartition[] {
    let leaving = false;
    for (const { handOverUntil } of this.#list) if (handOverUntil !== undefined) leaving = true;
    if (!leaving) return [];
    const done = this.#list.filter(
      ({ handOverUntil, uncommittedEvents, search }) =>
        handOverUntil !== undefined && uncommittedEvents === 0 && search?.isPassingOver !== true,
    );
    if (done.length > 0) this.#list = this.#list.filter((assigned) => !done.includes(assigned));
    return done;
  }
}
