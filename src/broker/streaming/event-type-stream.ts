import type { Clock, Timer } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import { AssignedPartitions } from './assigned-partitions.ts';
import { jsonLines, uncommittableLineFrame, type LineFormat, type LineInfo } from './line-format.ts';
import type { Chunk } from './chunk-builder.ts';
import { flushDueAt, sendAllowance, type BatchRules } from './batch-rules.ts';
import { closeInfo, type CloseCode } from './close-codes.ts';
import { closingDueAt, closingReason, type Closing, type ClosingRules, type StreamProgress } from './end-conditions.ts';
import type { EventLog, Offset, TopicPartition } from '../../ports/event-log.ts';
import { StreamPartition } from './stream-partition.ts';
import type { EventTypeStreamParameters } from './stream-parameters.ts';
import { ReadAhead } from './read-ahead.ts';
import { LineSender } from './line-sender.ts';

export interface EventTypeStreamServices {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How much the stream buffers for each of its partitions to fill a batch. Bytes. */
const bufferBytesPerPartition = 1024 * 1024;

/**
 * Streams the events of an event type as they arrive, without a subscription. Nothing is remembered about the reader:
 * it chooses where to begin. It is the engine of a subscription's stream with partitions that never change and without
 * commits. Only the last line says something about the stream: why it ends. Times are monotonic milliseconds.
 */
export class EventTypeStream {
  readonly #clock: Clock;
  readonly #rules: BatchRules & ClosingRules;
  readonly #positions: readonly { readonly offset: Offset }[];
  /** In the order of the positions. */
  readonly #assigned: AssignedPartitions;
  readonly #reads: ReadAhead;
  readonly #sender: LineSender;
  readonly #endsAt: number;
  #reader: ((chunk: Chunk | null | Promise<never>) => void) | undefined;
  /** Why the stream ends; undefined while nothing ends it. */
  #closing: Closing | undefined;
  #hasSentReason = false;
  #timer: Timer | undefined;

  /** @param positions Where to begin: each with the offset of the first event wanted. */
  constructor(
    { log, clock, logger }: EventTypeStreamServices,
    positions: readonly (TopicPartition & { readonly offset: Offset })[],
    parameters: EventTypeStreamParameters,
    format: LineFormat = jsonLines,
  ) {
    const now = clock.monotonic();
    this.#clock = clock;
    this.#positions = positions;
    this.#rules = {
      ...parameters,
      timespanMilliseconds: 0,
      uncommittedEventsMaximum: Infinity,
      commitTimeoutMilliseconds: Infinity,
    };
    this.#endsAt = now + parameters.streamTimeoutMilliseconds;
    const partitions = positions.map(({ topic, partition, offset }) => {
      const frame = uncommittableLineFrame(partition);
      return new StreamPartition({ eventType: topic, partition, fence: 0 }, offset - 1, now, frame);
    });
    this.#assigned = new AssignedPartitions(partitions, bufferBytesPerPartition * partitions.length);
    this.#reads = new ReadAhead(log, logger, this.#assigned, () => this.#advance(), undefined, parameters.filter);
    this.#sender = new LineSender(this.#rules, this.#assigned, false, format);
  }

  /** The next lines as soon as one is due; null at the end. One caller at a time. Reading ahead is bounded. */
  next(): Promise<Chunk | null> {
    return new Promise((resolve) => {
      this.#reader = resolve;
      this.#advance();
    });
  }

  /** Sends the waiting events, says why, and ends. A reader that has gone does not call {@link next} again. */
  close(code: CloseCode): void {
    this.#close({ code, detail: '' });
    this.#advance();
  }

  #close(closing: Closing): void {
    this.#closing ??= closing;
    this.#timer?.cancel();
    this.#reads.stop();
  }

  #advance(): void {
    if (this.#reader === undefined) return;
    const now = this.#clock.monotonic();
    try {
      this.#closeIfDue(now);
      this.#reads.discardChanged();
      const chunk =
        this.#closing === undefined
          ? this.#sender.nextChunk(now, () => this.#reasonWithLastEvents(now))
          : this.#lastChunk(this.#closing, now);
      if (chunk !== undefined) {
        this.#resolveReader(chunk);
        return;
      }
    } catch (error) {
      // Nothing may follow: the events of the line that could not be built would be missing.
      this.#close({ code: 'log_error', detail: '' });
      this.#hasSentReason = true;
      this.#resolveReader(Promise.reject(error));
      return;
    }
    this.#reads.begin(this.#rules, now);
    this.#setTimer(now);
  }

  #resolveReader(chunk: Chunk | null | Promise<never>): void {
    const reader = this.#reader;
    this.#reader = undefined;
    reader?.(chunk);
  }

  #closeIfDue(now: number): void {
    if (this.#closing !== undefined) return;
    const closing = closingReason(this.#rules, this.#progress(now), now);
    if (closing !== undefined) this.#close(closing);
  }

  #progress(now: number): StreamProgress {
    return {
      partitions: this.#assigned.list,
      sentEvents: this.#sender.sentEvents,
      uncommittedSince: undefined,
      idleSince: now,
      endsAt: this.#endsAt,
      logClosed: this.#reads.logClosed,
    };
  }

  /** Why the stream ends, if the lines that were just written reached a limit and no event waits. */
  #reasonWithLastEvents(now: number): LineInfo | undefined {
    this.#closeIfDue(now);
    if (this.#closing === undefined || this.#flushableEvents() > 0) return undefined;
    this.#hasSentReason = true;
    return closeInfo(this.#closing.code, this.#closing.detail);
  }

  /** The waiting events and why the stream ends; null when the reader knows that already. */
  #lastChunk({ code, detail }: Closing, now: number): Chunk | null {
    if (this.#hasSentReason) return null;
    this.#hasSentReason = true;
    const partitions = this.#assigned.list;
    const isTimeout = code === 'stream_timeout';
    let lines = partitions.filter((partition, index) => {
      return partition.isMovedByFilter || (isTimeout && this.#isUnheard(index));
    });
    if (lines.length === 0 && this.#flushableEvents() === 0) lines = partitions.slice(0, 1);
    return this.#sender.lastChunk(lines, closeInfo(code, detail), now, true);
  }

  /** How many of the waiting events may still be sent. */
  #flushableEvents(): number {
    let events = 0;
    for (const partition of this.#assigned.list) events += partition.events;
    return Math.min(events, sendAllowance(this.#rules, 0, this.#sender.sentEvents));
  }

  /**
   * Whether no line has had the cursor of this partition, and none will have it with waiting events. Before the timeout
   * ends the stream the reader gets a cursor of each partition.
   */
  #isUnheard(index: number): boolean {
    const partition = this.#assigned.list[index];
    if (partition === undefined || partition.events > 0 || partition.keepAlives > 0) return false;
    return partition.sentThrough < (this.#positions[index]?.offset ?? 0);
  }

  #setTimer(now: number): void {
    let at = closingDueAt(this.#rules, this.#progress(now));
    if (this.#reads.retryAt > 0) at = Math.min(at, this.#reads.retryAt);
    for (const { lastSentAt } of this.#assigned.list) at = Math.min(at, flushDueAt(this.#rules, lastSentAt));
    this.#timer?.cancel();
    this.#timer = this.#clock.at(Math.max(at, now + 1), () => this.#advance());
  }
}
