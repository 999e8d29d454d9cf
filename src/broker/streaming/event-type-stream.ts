import type { Clock } from '../../clock.ts';
import { describeError, isLendstreamError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { eventsEnd, eventsStart, lineEnd, type LineInfo } from './batch-line.ts';
import { closeInfo, type CloseCode } from './close-reasons.ts';
import { formatOffset } from '../cursors/cursor.ts';
import { noValue, type EventLog, type Offset, type ReadResult, type TopicPartition } from '../../ports/event-log.ts';
import { checkExternalRecords } from '../log/external-records.ts';

/** The parameters of a reader of an event type without a subscription. */
export interface EventTypeStreamParameters {
  /** The most events of one batch. */
  readonly batchLimit: number;
  /**
   * How long a batch that is not full waits. If there are no events by then, an empty batch is sent as a keep-alive.
   * Milliseconds.
   */
  readonly flushMilliseconds: number;
  /** Ends the stream after this many events; 0 means never. */
  readonly streamLimit: number;
  /** How long the stream may live; 0 means without limit. Milliseconds. */
  readonly streamTimeoutMilliseconds: number;
  /** Ends the stream when every partition had this many batches without events in a row; 0 means never. */
  readonly keepAliveLimit: number;
}

export interface EventTypeStreamServices {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How much one read fetches. Bytes. */
const readBytes = 64 * 1024;

/** The most that a partition holds back for a fuller batch. Bytes. */
const batchBytesMaximum = 1024 * 1024;

/** How long to wait before a read that failed with a retriable error is tried again. Milliseconds. */
const retryMilliseconds = 1_000;

interface Partition extends TopicPartition {
  /** Where the next read begins. */
  readOffset: Offset;
  /** Events that were read and not sent, in order, in their stored bytes. */
  events: { readonly offset: Offset; readonly value: Buffer }[];
  bytes: number;
  reading: boolean;
  retryAt: number;
  flushAt: number;
  /** Whether any line carried this partition's cursor. */
  hasSentCursor: boolean;
  keepAlives: number;
}

/**
 * Streams the events of an event type as they arrive, without a subscription. Nothing is remembered about the reader:
 * it chooses where to begin. The reader pulls: reading stops while a full batch waits for it. Times are monotonic
 * milliseconds.
 */
export class EventTypeStream {
  readonly #services: EventTypeStreamServices;
  readonly #parameters: EventTypeStreamParameters;
  readonly #partitions: Partition[];
  readonly #stop = new AbortController();
  readonly #endsAt: number;
  #remainingEvents: number;
  /** Why the stream ends; undefined while nothing ends it. */
  #closing: { readonly code: CloseCode; readonly detail: string } | undefined;
  #hasSentReason = false;
  #wake = (): void => {};

  /** @param positions Where to begin: each with the offset of the first event wanted. */
  constructor(
    services: EventTypeStreamServices,
    positions: readonly (TopicPartition & { readonly offset: Offset })[],
    parameters: EventTypeStreamParameters,
  ) {
    this.#services = services;
    this.#parameters = parameters;
    const now = services.clock.monotonic();
    const { streamTimeoutMilliseconds, streamLimit, flushMilliseconds } = parameters;
    this.#endsAt = streamTimeoutMilliseconds === 0 ? Infinity : now + streamTimeoutMilliseconds;
    this.#remainingEvents = streamLimit === 0 ? Infinity : streamLimit;
    this.#partitions = positions.map(({ topic, partition, offset }) => ({
      topic,
      partition,
      readOffset: offset,
      events: [],
      bytes: 0,
      reading: false,
      retryAt: 0,
      flushAt: now + flushMilliseconds,
      hasSentCursor: false,
      keepAlives: 0,
    }));
  }

  /** The next line as soon as one is due; null at the end. */
  async next(): Promise<{ readonly pieces: readonly Buffer[]; release(): void } | null> {
    for (;;) {
      const now = this.#services.clock.monotonic();
      this.#endIfDue(now);
      const due = this.#nextDue(now);
      if (due !== undefined) return chunkOfLine(this.#buildLine(due, now));
      if (this.#closing !== undefined) {
        const info = this.#lastLineInfo(now);
        const [partition] = this.#partitions;
        if (info === undefined || partition === undefined) return null;
        return chunkOfLine(Buffer.from(cursorText(partition) + lineEnd(info)));
      }
      for (const partition of this.#partitions) this.#read(partition, now);
      await this.#waitForChange(now);
    }
  }

  /** Sends the waiting events, says why, and ends. A reader that has gone does not call {@link next} again. */
  close(code: CloseCode): void {
    this.#end(code);
    this.#wake();
  }

  #end(code: CloseCode, detail = ''): void {
    this.#closing ??= { code, detail };
    this.#stop.abort();
  }

  #endIfDue(now: number): void {
    const { streamLimit, keepAliveLimit } = this.#parameters;
    if (this.#remainingEvents <= 0) this.#end('stream_limit', String(streamLimit));
    else if (now >= this.#endsAt) this.#end('stream_timeout');
    else if (this.#isIdle()) this.#end('keep_alive_limit', String(keepAliveLimit));
  }

  /** The info of the line being built. Only the last line has one: it says why the stream ends. */
  #lastLineInfo(now: number): LineInfo | undefined {
    if (this.#closing === undefined || this.#hasSentReason || this.#nextDue(now) !== undefined) return undefined;
    this.#hasSentReason = true;
    return closeInfo(this.#closing.code, this.#closing.detail);
  }

  #nextDue(now: number): Partition | undefined {
    return this.#remainingEvents > 0 ? this.#partitions.find((partition) => this.#isDue(partition, now)) : undefined;
  }

  #isIdle(): boolean {
    const { keepAliveLimit } = this.#parameters;
    return keepAliveLimit > 0 && this.#partitions.every(({ keepAlives }) => keepAlives >= keepAliveLimit);
  }

  #isDue({ events, bytes, flushAt, hasSentCursor }: Partition, now: number): boolean {
    // The reader gets a cursor for each partition before the timeout ends the stream, even if no event arrived there.
    if (this.#closing !== undefined)
      return events.length > 0 || (this.#closing.code === 'stream_timeout' && !hasSentCursor);
    return events.length >= this.#parameters.batchLimit || bytes >= batchBytesMaximum || now >= flushAt;
  }

  /** Takes a batch from a partition, and moves the partition to the end of the list. */
  #buildLine(partition: Partition, now: number): Buffer {
    const count = Math.min(this.#parameters.batchLimit, partition.events.length, this.#remainingEvents);
    const sent = partition.events.splice(0, count);
    for (const { value } of sent) partition.bytes -= value.length;
    this.#remainingEvents -= count;
    partition.keepAlives = count > 0 ? 0 : partition.keepAlives + 1;
    partition.flushAt = now + this.#parameters.flushMilliseconds;
    partition.hasSentCursor = true;
    this.#partitions.splice(this.#partitions.indexOf(partition), 1);
    this.#partitions.push(partition);
    const cursor = cursorText(partition, sent.at(-1)?.offset);
    this.#endIfDue(now);
    const end = lineEnd(this.#lastLineInfo(now));
    if (count === 0) return Buffer.from(cursor + end);
    const values = sent.flatMap(({ value }, index) => (index === 0 ? [value] : [comma, value]));
    return Buffer.concat([Buffer.from(cursor + eventsStart), ...values, Buffer.from(eventsEnd + end)]);
  }

  #read(partition: Partition, now: number): void {
    const wantsMore = partition.events.length < this.#parameters.batchLimit && partition.bytes < batchBytesMaximum;
    if (partition.reading || !wantsMore || now < partition.retryAt) return;
    partition.reading = true;
    const position = { topic: partition.topic, partition: partition.partition, offset: partition.readOffset };
    const options = { bytesMaximum: readBytes, waitMilliseconds: Infinity, signal: this.#stop.signal };
    this.#services.log
      .read(position, options)
      .then((result) => addEvents(partition, result))
      .catch((error: unknown) => this.#handleReadFailure(partition, error))
      .finally(() => {
        partition.reading = false;
        this.#wake();
      });
  }

  #handleReadFailure(partition: Partition, error: unknown): void {
    if (this.#closing !== undefined) return;
    if (isLendstreamError(error, 'OFFSET_OUT_OF_RANGE') && Number(error.details['earliest']) > partition.readOffset) {
      partition.readOffset = Number(error.details['earliest']);
      return;
    }
    const facts = { eventType: partition.topic, partition: partition.partition, error: describeError(error) };
    if (isLendstreamError(error) && error.retriable && error.code !== 'LOG_CLOSED') {
      this.#services.logger.warn(facts, 'Reading for a stream without a subscription failed and is tried again');
      partition.retryAt = this.#services.clock.monotonic() + retryMilliseconds;
      return;
    }
    this.#services.logger.warn(facts, 'A stream without a subscription ended: its events cannot be read any more');
    if (isLendstreamError(error, 'LOG_CLOSED')) this.#end('server_shutdown');
    else this.#end('log_error', describeError(error));
  }

  /** Resolves when a read has ended, when the stream is closed, or when a line is due by time. */
  async #waitForChange(now: number): Promise<void> {
    const times = this.#partitions.flatMap(({ flushAt, retryAt }) => (retryAt > now ? [flushAt, retryAt] : [flushAt]));
    const deadline = Math.max(Math.min(this.#endsAt, ...times), now + 1);
    await new Promise<void>((resolve) => {
      const timer = this.#services.clock.at(deadline, resolve);
      this.#wake = () => {
        timer.cancel();
        resolve();
      };
    });
    this.#wake = () => {};
  }
}

/** A chunk that consists of one line. Lines are copies, so they use no pooled memory. */
function chunkOfLine(bytes: Buffer): { readonly pieces: readonly Buffer[]; release(): void } {
  return { pieces: [bytes], release: nothingToRelease };
}

const nothingToRelease = (): void => {};

/** From a line's start to its events. @param last The offset sent last; default: the one before the next event. */
function cursorText({ partition, events, readOffset }: Partition, last?: Offset): string {
  const offset = last ?? (events[0]?.offset ?? readOffset) - 1;
  return `{"cursor":{"partition":"${partition}","offset":"${formatOffset(offset)}"}`;
}

const comma = Buffer.from(',');

/** Adds the events of a read. Deleted keys and unreadable external records are passed over. */
function addEvents(partition: Partition, { batches, nextOffset }: ReadResult): void {
  for (const source of batches) {
    const { batch } = checkExternalRecords(source);
    for (let index = 0; index < batch.count; index += 1) {
      const start = batch.valueStarts[index] ?? noValue;
      if (start === noValue) continue;
      const value = batch.bytes.subarray(start, batch.valueEnds[index]);
      partition.events.push({ offset: batch.offsets[index] ?? 0, value });
      partition.bytes += value.length;
    }
  }
  partition.readOffset = nextOffset;
}
