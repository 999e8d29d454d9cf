import { eventsEnd, eventsStart, lineEnd, lineFrame, lineStart } from './batch-line.ts';
import type { ChunkBuilder, LineFrame, LineInfo } from './batch-line.ts';
import type { PartitionWaiting } from './batches.ts';
import type { EventTypePartition, PartitionOwnership } from '../../ports/coordination.ts';
import { formatOffset } from '../cursors/cursor.ts';
import type { Offset, ReadResult } from '../../ports/event-log.ts';
import { PartitionBuffer } from './partition-buffer.ts';
import { UncommittedEvents } from './uncommitted-events.ts';

/** One partition while a stream owns it: what was read, sent and committed. Decides nothing about time or sockets. */
export class StreamPartition implements EventTypePartition, PartitionWaiting {
  readonly eventType: string;
  readonly partition: number;
  /** Of the present tenure. */
  fence: number;
  readonly buffer: PartitionBuffer;
  /** The position that the last line carried. */
  sentThrough: Offset;
  committedThrough: Offset;
  /** Where the next read begins. */
  readOffset: Offset;
  /** A read is under way. */
  reading = false;
  /** Grows when what is being read is no longer wanted; a read that began before counts for nothing. */
  readTurn = 0;
  /** Why nothing more can be read; what was read before is sent first. */
  readFailure: string | undefined;
  /** Monotonic milliseconds. */
  lastSentAt: number;
  /** Keep-alives since the last batch with events. */
  keepAlives = 0;
  eventsOfEndedTimespan = 0;
  overflowing = false;
  /**
   * Until when the partition waits for commits before it goes to its next stream; undefined while it stays here.
   * Monotonic milliseconds.
   */
  handOverUntil: number | undefined;
  readonly #frame: LineFrame;
  /** Undefined until the first events are sent, as on most partitions of an idle stream. */
  #uncommitted: UncommittedEvents | undefined;

  /** @param committedThrough What the stream starts behind. */
  constructor(ownership: PartitionOwnership, committedThrough: Offset, now: number) {
    this.eventType = ownership.eventType;
    this.partition = ownership.partition;
    this.fence = ownership.fence;
    this.#frame = lineFrame(this.eventType, this.partition);
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

  /** Takes in what a read brought. */
  received({ batches, nextOffset }: ReadResult): void {
    for (const batch of batches) this.buffer.push(batch);
    this.readOffset = Math.max(this.readOffset, nextOffset);
    this.buffer.passHolesThrough(this.readOffset - 1);
  }

  /** Goes on at `earliest`, because what lay before it is no longer held. Answers how many offsets that skips. */
  skipTo(earliest: Offset): number {
    const skipped = Math.max(earliest - this.readOffset, 0);
    this.readOffset += skipped;
    this.buffer.passHolesThrough(this.readOffset - 1);
    return skipped;
  }

  /** Notes the span of append times: how many waiting events lie in one that is over. */
  noteTimespan(timespanMilliseconds: number): void {
    const oldest = timespanMilliseconds === 0 ? undefined : this.buffer.oldestAppendedAt();
    this.eventsOfEndedTimespan =
      oldest === undefined ? 0 : this.buffer.eventsOfTimespanEndedAt(oldest + timespanMilliseconds);
  }

  /** Writes a line with the next `events` events, or a keep-alive. */
  sendInto(chunk: ChunkBuilder, events: number, cursorToken: string, info: LineInfo | undefined, now: number): void {
    if (events === 0) {
      chunk.addText(this.#lineStart(cursorToken));
      this.keepAlives += 1;
    } else {
      const position = chunk.reserveText();
      this.#uncommitted ??= new UncommittedEvents();
      this.buffer.sendInto(chunk, events, this.#uncommitted);
      this.sentThrough = this.buffer.passedThrough;
      chunk.fillText(position, this.#lineStart(cursorToken) + eventsStart);
      chunk.addText(eventsEnd);
      this.keepAlives = 0;
    }
    chunk.addText(lineEnd(info));
    this.lastSentAt = now;
  }

  /** The last line of a stream: no events, and why it ends. */
  sayInto(chunk: ChunkBuilder, cursorToken: string, info: LineInfo): void {
    chunk.addText(this.#lineStart(cursorToken));
    chunk.addText(lineEnd(info));
  }

  /**
   * Takes note of a committed offset; one that lies behind is nothing new. One beyond what was sent moves the stream
   * there. Answers whether it moved the commit forward.
   */
  commitThrough(offset: Offset): boolean {
    if (offset <= this.committedThrough) return false;
    this.committedThrough = offset;
    this.#uncommitted?.commitThrough(offset);
    if (offset > this.sentThrough) {
      this.sentThrough = offset;
      this.buffer.dropThrough(offset);
      if (this.readOffset <= offset) {
        this.readOffset = offset + 1;
        this.readTurn += 1;
      }
    }
    return true;
  }

  /** What lies behind the committed offset and is no event: it can be committed without the consumer. */
  get committableWithoutConsumer(): Offset | undefined {
    const passed = this.buffer.passedThrough;
    return this.uncommittedEvents === 0 && passed > this.committedThrough ? passed : undefined;
  }

  /** Forgets what was read and not sent, so that reading goes on right behind what was sent. */
  rewind(): void {
    this.buffer.clear();
    this.readOffset = this.buffer.passedThrough + 1;
    this.readTurn += 1;
  }

  #lineStart(cursorToken: string): string {
    return lineStart(this.#frame, formatOffset(this.sentThrough), cursorToken);
  }
}
