import type { Clock } from '../clock.ts';
import { describeError, isLendstreamError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { formatOffset } from './cursor.ts';
import { noValue, type EventLog, type Offset, type ReadResult, type TopicPartition } from './event-log.ts';
import { checkForeignRecords } from './foreign-records.ts';

/** What a reader of an event type without a subscription asked for. */
export interface EventTypeStreamParameters {
  /** The most events of one batch. */
  readonly batchLimit: number;
  /** How long a batch that is not full waits; with nothing to send a batch without events says that all is well. */
  readonly flushMilliseconds: number;
  /** Ends the stream after this many events; 0 means never. */
  readonly streamLimit: number;
  /** How long the stream may live; 0 means for ever. Milliseconds. */
  readonly streamTimeoutMilliseconds: number;
  /** Ends the stream when every partition had this many batches without events in a row; 0 means never. */
  readonly keepAliveLimit: number;
}

export interface EventTypeStreamServices {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How much one read brings. Bytes. */
const readBytes = 64 * 1024;

/** How much of a partition is held back for a fuller batch. Bytes. */
const batchBytesMaximum = 1024 * 1024;

/** How long to wait before a read that failed for the moment is tried again. Milliseconds. */
const retryMilliseconds = 1_000;

interface Partition extends TopicPartition {
  /** Where the next read begins. */
  readOffset: Offset;
  /** What was read and is not sent, in order, as it is stored. */
  events: { readonly offset: Offset; readonly value: Buffer }[];
  bytes: number;
  reading: boolean;
  retryAt: number;
  flushAt: number;
  keepAlives: number;
}

/**
 * The events of an event type as they come, without a subscription: nothing is remembered of the reader, who begins where
 * it says. The reader pulls: reading stops while a full batch waits for it. Times are monotonic milliseconds.
 */
export class EventTypeStream {
  readonly #services: EventTypeStreamServices;
  readonly #parameters: EventTypeStreamParameters;
  readonly #partitions: Partition[];
  readonly #stop = new AbortController();
  readonly #endsAt: number;
  #eventsLeft: number;
  #ending = false;
  #wake = (): void => {};

  /** @param positions Where to begin, with the offset of the first event wanted. */
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
    this.#eventsLeft = streamLimit === 0 ? Infinity : streamLimit;
    const fresh = { events: [], bytes: 0, reading: false, retryAt: 0, flushAt: now + flushMilliseconds, keepAlives: 0 };
    this.#partitions = positions.map(({ topic, partition, offset }) => ({
      ...fresh,
      topic,
      partition,
      readOffset: offset,
      events: [],
    }));
  }

  /** The next line as soon as one is due; null at the end. */
  async next(): Promise<{ readonly pieces: readonly Buffer[]; release(): void } | null> {
    for (;;) {
      const now = this.#services.clock.monotonic();
      if (now >= this.#endsAt || this.#eventsLeft <= 0 || this.#isIdle()) this.#end();
      const due = this.#eventsLeft > 0 ? this.#partitions.find((partition) => this.#isDue(partition, now)) : undefined;
      if (due !== undefined) return { pieces: [this.#take(due, now)], release: nothingToRelease };
      if (this.#ending) return null;
      for (const partition of this.#partitions) this.#read(partition, now);
      await this.#change(now);
    }
  }

  /** Sends what it holds and ends; who has gone stops asking. */
  close(): void {
    this.#end();
    this.#wake();
  }

  #end(): void {
    this.#ending = true;
    this.#stop.abort();
  }

  #isIdle(): boolean {
    const { keepAliveLimit } = this.#parameters;
    return keepAliveLimit > 0 && this.#partitions.every(({ keepAlives }) => keepAlives >= keepAliveLimit);
  }

  #isDue({ events, bytes, flushAt }: Partition, now: number): boolean {
    if (this.#ending) return events.length > 0;
    return events.length >= this.#parameters.batchLimit || bytes >= batchBytesMaximum || now >= flushAt;
  }

  /** Takes a batch off a partition, and puts the partition behind the others. */
  #take(partition: Partition, now: number): Buffer {
    const count = Math.min(this.#parameters.batchLimit, partition.events.length, this.#eventsLeft);
    const sent = partition.events.splice(0, count);
    for (const { value } of sent) partition.bytes -= value.length;
    this.#eventsLeft -= count;
    partition.keepAlives = count > 0 ? 0 : partition.keepAlives + 1;
    partition.flushAt = now + this.#parameters.flushMilliseconds;
    this.#partitions.splice(this.#partitions.indexOf(partition), 1);
    this.#partitions.push(partition);
    const last = sent.at(-1)?.offset ?? (partition.events[0]?.offset ?? partition.readOffset) - 1;
    const cursor = `{"cursor":{"partition":"${partition.partition}","offset":"${formatOffset(last)}"}`;
    if (count === 0) return Buffer.from(`${cursor}}\n`);
    const values = sent.flatMap(({ value }, index) => (index === 0 ? [value] : [comma, value]));
    return Buffer.concat([Buffer.from(`${cursor},"events":[`), ...values, Buffer.from(']}\n')]);
  }

  #read(partition: Partition, now: number): void {
    const wantsMore = partition.events.length < this.#parameters.batchLimit && partition.bytes < batchBytesMaximum;
    if (partition.reading || !wantsMore || now < partition.retryAt) return;
    partition.reading = true;
    const place = { topic: partition.topic, partition: partition.partition, offset: partition.readOffset };
    const options = { bytesMaximum: readBytes, waitMilliseconds: Infinity, signal: this.#stop.signal };
    this.#services.log
      .read(place, options)
      .then((result) => receive(partition, result))
      .catch((error: unknown) => this.#failed(partition, error))
      .finally(() => {
        partition.reading = false;
        this.#wake();
      });
  }

  #failed(partition: Partition, error: unknown): void {
    if (this.#ending) return;
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
    this.#end();
  }

  /** Resolves when something was read, or when something is due by time alone. */
  async #change(now: number): Promise<void> {
    const times = this.#partitions.flatMap(({ flushAt, retryAt }) => (retryAt > now ? [flushAt, retryAt] : [flushAt]));
    const milliseconds = Math.min(this.#endsAt, ...times) - now;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.max(1, Math.min(milliseconds, timerMillisecondsMaximum)));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = () => {};
  }
}

/** Lines are copies: nothing of what was read is lent. */
const nothingToRelease = (): void => {};

const comma = Buffer.from(',');
const timerMillisecondsMaximum = 2_147_483_647;

/** Deleted keys and what somebody else wrote and nobody can read are passed over. */
function receive(partition: Partition, { batches, nextOffset }: ReadResult): void {
  for (const source of batches) {
    const { batch } = checkForeignRecords(source);
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
