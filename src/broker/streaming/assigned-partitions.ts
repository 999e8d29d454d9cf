import { partitionKey, type CommittedOffset, type PartitionOwnership } from '../../ports/coordination.ts';
import { beforeFirst } from '../cursors/cursor.ts';
import type { PartitionBounds } from '../../ports/event-log.ts';
import { StreamPartition } from './partition.ts';

/** The partitions that one stream owns now, and what they add up to. */
export class HeldPartitions {
  list: readonly StreamPartition[] = [];
  /**
   * Offsets lost to retention of which the consumer has not been told yet: those of events, and those of deletions and
   * of markers between them.
   */
  skippedOffsets = 0;
  /** Records of other producers that are no events, of which the consumer has not been told yet. */
  unreadableRecords = 0;

  uncommittedEvents(): number {
    let events = 0;
    for (const { uncommittedEvents } of this.list) events += uncommittedEvents;
    return events;
  }

  bufferedBytes(): number {
    let bytes = 0;
    for (const { buffer } of this.list) bytes += buffer.bytes;
    return bytes;
  }

  /** Whether any partition passed over something that no consumer can commit. */
  hasPassed(): boolean {
    for (const { committableWithoutConsumer } of this.list) if (committableWithoutConsumer !== undefined) return true;
    return false;
  }

  /** Takes note of committed offsets. Answers whether any of them moved forward. */
  takeCommits(committed: readonly CommittedOffset[]): boolean {
    let moved = false;
    for (const { eventType, partition, offset } of committed) {
      const own = this.list.find((held) => held.partition === partition && held.eventType === eventType);
      if (own?.commitThrough(offset) === true) moved = true;
    }
    return moved;
  }

  /**
   * Lets go of partitions that are no longer owned; stops those that are to go to another stream, which then wait for
   * commits until `handOverUntil`; resumes those that stay after all.
   *
   * One that was away and came back before that was noticed (the store lost its data, say) goes on where it is: the
   * consumer has what was sent, and a stream never goes backwards.
   *
   * @param owned What the stream owns according to the coordination store.
   * @returns whether anything stopped, so that reads under way are no longer all wanted
   */
  keepOwned(owned: readonly PartitionOwnership[], handOverUntil: number): boolean {
    const byKey = new Map(owned.map((ownership) => [partitionKey(ownership), ownership]));
    const kept = this.list.filter((held) => byKey.has(partitionKey(held)));
    let stopped = kept.length < this.list.length;
    if (stopped) this.list = kept;
    for (const held of kept) {
      const { fence = held.fence, state } = byKey.get(partitionKey(held)) ?? {};
      held.fence = fence;
      const leaving = state === 'reassigning';
      if (!leaving) {
        held.handOverUntil = undefined;
      } else if (held.handOverUntil === undefined) {
        held.handOverUntil = handOverUntil;
        held.rewind();
        stopped = true;
      }
    }
    return stopped;
  }

  /** Partitions that are to go to another stream wait for commits anew, until then. Monotonic milliseconds. */
  awaitCommitsUntil(handOverUntil: number): void {
    for (const held of this.list) if (held.handOverUntil !== undefined) held.handOverUntil = handOverUntil;
  }

  /** What is owned and not held yet. */
  missing(owned: readonly PartitionOwnership[]): PartitionOwnership[] {
    const held = new Set(this.list.map(partitionKey));
    return owned.filter((ownership) => !held.has(partitionKey(ownership)));
  }

  /**
   * Begins with partitions that became the stream's, behind what was committed or behind what retention took away.
   * @param bounds Of the gained partitions, in their order.
   */
  adopt(
    gained: readonly PartitionOwnership[],
    bounds: readonly PartitionBounds[],
    committed: readonly CommittedOffset[],
    now: number,
    handOverUntil: number,
  ): void {
    const offsets = new Map(committed.map((position) => [partitionKey(position), position.offset]));
    const adopted = gained.map((ownership, index) => {
      const position = offsets.get(partitionKey(ownership)) ?? beforeFirst;
      const start = Math.max(position, (bounds[index]?.earliest ?? 0) - 1);
      this.skippedOffsets += start - position;
      const partition = new StreamPartition(ownership, start, now);
      if (ownership.state === 'reassigning') partition.handOverUntil = handOverUntil;
      return partition;
    });
    // A list of just its length: one that is spread grows with room for 16 more.
    this.list = this.list.concat(adopted);
  }

  /** Takes out the partitions that are to change hands and of which all that was sent is committed. */
  takeHandedOver(): StreamPartition[] {
    let leaving = false;
    for (const { handOverUntil } of this.list) if (handOverUntil !== undefined) leaving = true;
    if (!leaving) return [];
    const done = this.list.filter((held) => held.handOverUntil !== undefined && held.uncommittedEvents === 0);
    if (done.length > 0) this.list = this.list.filter((held) => !done.includes(held));
    return done;
  }
}
