import { cursorText, eventsEnd, eventsStart, lineFrame, lineStart } from './line-format.ts';
import type { LineFrame } from './line-format.ts';
import type { ChunkBuilder } from './chunk-builder.ts';
import type { PendingEvents } from './batch-rules.ts';
import type { PartitionOwnership } from '../../ports/coordination.ts';
import type { EventTypePartition } from '../../ports/event-type-partition.ts';
import { formatOffset } from '../cursors/cursor-text.ts';
import type { Offset, ReadResult } from '../../ports/event-log.ts';
import type { PassedOver } from './filters/filtered-read.ts';
import { PartitionBuffer } from './partition-buffer.ts';
import { UncommittedEvents } from './uncommitted-events.ts';
import type { Closing } from './end-conditions.ts';
import { searchFrom, type EventSearch, type PartitionInTurn } from './event-search.ts';
import type { FailedDelivery } from '../../ports/failed-deliveries.ts';

/** One partition while a stream owns it: events read, sent and committed. Decides nothing about time or sockets. */
export class StreamPartition implements EventTypePartition, PendingEvents, PartitionInTurn {
  readonly eventType: string;
  readonly partition: number;
  /** The fence of the present ownership. */
  fence: number;
  readonly buffer: PartitionBuffer;
  /** The position that the last line carried. */
  sentThrough: Offset;
  committedThrough: Offset;
  /**
   * Whether retention has deleted what came after the committed offset, and nothing is committed since. The stream then
   * starts behind its loss, at a position that the coordination store does not know.
   */
  startsBehindLoss = false;
  /** Where the next read begins. */
  readOffset: Offset;
  /** A read is running. */
  reading = false;
  /** Grows when a running read is no longer wanted. The result of a read that began in an earlier turn is ignored. */
  readGeneration = 0;
  /** Why nothing more can be read. Events that were read before are sent first. */
  readFailure: Closing | undefined;
  /** Monotonic milliseconds. */
  lastSentAt: number;
  /** Keep-alives since the last batch with events, or that moved over events of no interest. */
  keepAlives = 0;
  /** How much a filter has searched since the stream could last send. Bytes. */
  searchedBytes = 0;
  eventsOfEndedTimespan = 0;
  overflowing = false;
  /**
   * Until when the partition waits for commits before it goes to its next stream; undefined while it stays here.
   * Monotonic milliseconds.
   */
  handOverUntil: number | undefined;
  /** Undefined on every partition where no event failed. */
  search: EventSearch | undefined;
  readonly #frame: LineFrame;
  /** Undefined until the first events are sent, as on most partitions of an idle stream. */
  #uncommitted: UncommittedEvents | undefined;

  /**
   * @param committedThrough The stream starts after this offset.
   * @param now Monotonic milliseconds.
   * @param frame Of its lines. One without a place for a cursor token is for streams without commits.
   */
  constructor(
    ownership: Pick<PartitionOwnership, 'eventType' | 'partition' | 'fence'>,
    committedThrough: Offset,
    now: number,
    frame = lineFrame(ownership.eventType, ownership.partition),
  ) {
    this.eventType = ownership.eventType;
    this.partition = ownership.partition;
    this.fence = ownership.fence;
    this.#frame = frame;
    this.committedThrough = committedThrough;
    this.sentThrough = committedThrough;
    this.readOffset = committedThrough + 1;
    this.buffer = new PartitionBuffer(committedThrough);
    this.lastSentAt = now;
  }

  /** Events that wait to be sent. */
  get events(): number {
    return this.buffer.events;
  }

  /** Events that were sent and not committed. */
  get uncommittedEvents(): number {
    return this.#uncommitted === undefined ? 0 : this.#uncommitted.count;
  }

  /** Adds the result of a read. @param passedOver What a filter left out of it. */
  addRecords({ batches, nextOffset }: ReadResult, passedOver?: PassedOver): void {
    for (const batch of batches) this.buffer.push(batch);
    if (passedOver !== undefined) this.buffer.noteFiltered(passedOver);
    this.readOffset = Math.max(this.readOffset, nextOffset);
    this.buffer.skipHolesThrough(this.readOffset - 1);
  }

  /** Continues at `earliest`, because older records are no longer stored. Returns how many offsets that skips. */
  skipTo(earliest: Offset): number {
    const skipped = Math.max(earliest - this.readOffset, 0);
    this.readOffset += skipped;
    this.buffer.skipHolesThrough(this.readOffset - 1);
    return skipped;
  }

  /** Counts the waiting events in a span of append times that is over. */
  updateEndedTimespan(timespanMilliseconds: number): void {
    const oldest = timespanMilliseconds === 0 ? undefined : this.buffer.oldestAppendedAt();
    this.eventsOfEndedTimespan =
      oldest === undefined ? 0 : this.buffer.eventsOfTimespanEndedAt(oldest + timespanMilliseconds);
  }

  /**
   * Whether a line without events has a new position: behind events that the filter of the stream passed over. They
   * count as delivered when the consumer commits it.
   */
  get isMovedByFilter(): boolean {
    return this.buffer.filteredThrough > this.sentThrough && this.buffer.passedThrough > this.sentThrough;
  }

  /**
   * Writes a line with the next `events` events, or a keep-alive for 0, up to its end: see {@link lineEnd}.
   * @param now Monotonic milliseconds.
   * @param mayMove Whether a line without events may have a new position.
   */
  writeLine(chunk: ChunkBuilder, events: number, cursorToken: string, now: number, mayMove = true): void {
    this.lastSentAt = now;
    if (events === 0) {
      const isMoved = mayMove && this.isMovedByFilter;
      // Without commits the position moves over deletions and holes as soon as no event waits before them.
      if (isMoved || !this.#awaitsCommits()) this.sentThrough = this.buffer.passedThrough;
      this.keepAlives = isMoved ? 0 : this.keepAlives + 1;
      chunk.addText(this.#lineStart(cursorToken));
      return;
    }
    this.keepAlives = 0;
    const runs = this.buffer.removeNext(events);
    this.sentThrough = this.buffer.passedThrough;
    if (this.#awaitsCommits()) this.#uncommitted ??= new UncommittedEvents();
    chunk.addText(this.#lineStart(cursorToken) + eventsStart);
    const { addRun } = this.#frame;
    let isFirst = true;
    for (const run of runs) {
      if (addRun !== undefined) {
        if (!isFirst) chunk.addText(',');
        addRun(chunk, run);
      } else if (isFirst) {
        chunk.addRun(run);
      } else {
        chunk.addNextRun(run);
      }
      this.#uncommitted?.addRun(run);
      isFirst = false;
    }
    chunk.addText(eventsEnd);
  }

  /**
   * Notes a committed offset. An older one changes nothing. One beyond the sent events moves the stream there.
   * Returns whether the committed offset moved forward.
   */
  commitThrough(offset: Offset): boolean {
    if (offset <= this.committedThrough) return false;
    this.committedThrough = offset;
    this.startsBehindLoss = false;
    this.#uncommitted?.commitThrough(offset);
    // While an event is passed over, its commit may be seen here first: nothing is sent before the notice of it.
    if (this.search?.isPassingOver === false) this.search = searchFrom(this.search.record, offset);
    if (offset > this.sentThrough) {
      this.sentThrough = offset;
      this.buffer.dropThrough(offset);
      if (this.readOffset <= offset) {
        this.readOffset = offset + 1;
        this.readGeneration += 1;
      }
    }
    return true;
  }

  /** Goes on behind the event that was being passed over, or with it if that failed. */
  endPassingOver(): void {
    const { search } = this;
    if (search !== undefined) this.search = searchFrom(search.record, this.committedThrough, search.hasLetter);
  }

  /**
   * The events that were sent and not committed, to be counted as failed; undefined when there are none.
   * @param searchedEvents How many of them are searched at most.
   * @param leftThrough The last offset that has left. Lines beyond it were made, and the reader did not get them.
   */
  failedDelivery(searchedEvents: number, leftThrough: Offset = Infinity): FailedDelivery | undefined {
    const firstOffset = this.#uncommitted?.first;
    if (firstOffset === undefined || this.#uncommitted === undefined || firstOffset > leftThrough) return undefined;
    const throughOffset = Math.min(this.#uncommitted.offsetAt(searchedEvents), leftThrough);
    return { eventType: this.eventType, partition: this.partition, firstOffset, throughOffset };
  }

  /**
   * The last offset that was passed over after the committed one, if nothing before it waits for the consumer's commit:
   * no event that was sent, nor one that its filter passed over.
   */
  get committableWithoutConsumer(): Offset | undefined {
    const { passedThrough: passed, filteredThrough } = this.buffer;
    const { committedThrough } = this;
    const isPassed = passed > committedThrough && filteredThrough <= committedThrough;
    return isPassed && this.uncommittedEvents === 0 ? passed : undefined;
  }

  /** Discards events that were read and not sent, so that reading continues right after the sent ones. */
  rewind(): void {
    this.buffer.clear();
    this.readOffset = this.buffer.passedThrough + 1;
    this.readGeneration += 1;
  }

  /** The cursor of the last line, as a JSON object. */
  cursor(cursorToken: string): string {
    return cursorText(this.#frame, this.#offsetText(), cursorToken);
  }

  #awaitsCommits(): boolean {
    return this.#frame.afterOffset !== undefined;
  }

  #lineStart(cursorToken: string): string {
    return lineStart(this.#frame, this.#offsetText(), cursorToken);
  }

  #offsetText(): string {
    const frame = this.#frame;
    return frame.formatOffset === undefined ? formatOffset(this.sentThrough) : frame.formatOffset(this.sentThrough);
  }
}
