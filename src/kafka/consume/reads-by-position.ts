import type { Clock } from '../../clock.ts';
import type { Offset, ReadOptions, ReadResult, TopicPartition } from '../../ports/event-log.ts';
import { PendingRead, type PendingReadHolder } from '../../ports/pending-read.ts';
import type { DecodedBatches } from '../protocol/record-batches/decoding.ts';
import { PartitionChunks, retained } from './fetched-records.ts';

/**
 * The pending reads at one position of one partition. They share requests and results.
 *
 * A read begins with an immediate fetch. The next response ends it when its time is up. A request that
 * was sent before the read came does not count, because the read has to see what was appended in between. When there is
 * nothing to read yet, a read that has time left waits, and a long poll fetches for it.
 */
export class ReadPosition implements PendingReadHolder {
  readonly offset: Offset;
  readonly #reads: PartitionReads;
  /** Reads that need an immediate fetch. */
  queued: PendingRead[] = [];
  /** Reads whose immediate fetch is under way. */
  inFlight: PendingRead[] = [];
  /** Reads that a long poll fetches for. */
  readonly waiting = new Set<PendingRead>();
  /**
   * The most that any read here wanted. Thousands of streams may wait at one position, and each request asks for this.
   * Bytes.
   */
  bytesWanted = 0;
  /** Nothing is fetched for this position while the meaning of an error is being found out. */
  isSuspended = false;

  constructor(reads: PartitionReads, offset: Offset) {
    this.#reads = reads;
    this.offset = offset;
  }

  get needsImmediateFetch(): boolean {
    return this.queued.length > 0 && this.inFlight.length === 0 && !this.isSuspended;
  }

  get needsPoll(): boolean {
    return this.waiting.size > 0 && !this.isSuspended;
  }

  /** Adds a read: to those that wait for a long poll, or to those that need an immediate fetch. */
  add(read: PendingRead, waits: boolean): void {
    this.bytesWanted = Math.max(this.bytesWanted, read.options.bytesMaximum);
    if (waits) this.waiting.add(read);
    else this.queued.push(read);
  }

  /** Marks the immediate fetch of the queued reads as under way. */
  beginImmediateFetch(): void {
    this.inFlight = this.queued;
    this.queued = [];
  }

  /** The immediate fetch got no response: it has to be sent again. */
  retryImmediateFetch(): void {
    if (this.inFlight.length > 0) this.queued = [...this.inFlight, ...this.queued];
    this.inFlight = [];
  }

  /** The immediate fetch got a response: there is nothing yet. */
  endImmediateFetchEmpty(): void {
    const { inFlight } = this;
    this.inFlight = [];
    for (const read of inFlight) {
      if (read.isDue) read.completeEmpty();
      else if (!read.isEnded) this.waiting.add(read);
    }
  }

  /** Lets the waiting reads do an immediate fetch: there may be more than the poll brought. */
  requeueWaiting(): void {
    this.queued.push(...this.waiting);
    this.waiting.clear();
  }

  /** Fails reads that have been queued for too long. */
  failDueBefore(dueAt: number, error: () => unknown): void {
    for (const read of this.queued) if (read.isDue && read.dueAt < dueAt) read.fail(error());
    this.queued = this.queued.filter(({ isEnded }) => !isEnded);
  }

  *all(): Iterable<PendingRead> {
    yield* this.inFlight;
    yield* this.queued;
    yield* this.waiting;
  }

  readDue(read: PendingRead): void {
    if (!this.waiting.delete(read)) return;
    read.completeEmpty();
    this.#reads.forgetIfEmpty(this);
  }

  readAborted(read: PendingRead): void {
    if (this.waiting.delete(read)) this.#reads.forgetIfEmpty(this);
  }

  /** Reads that ended by themselves while they were queued or in flight still count: the next response removes them. */
  get isEmpty(): boolean {
    return this.waiting.size === 0 && this.queued.length === 0 && this.inFlight.length === 0;
  }
}

/** The failure to read a partition, until the next good response. */
export interface PartitionBackoff {
  /** Monotonic milliseconds. */
  readonly since: number;
  /** When the next attempt is due. Monotonic milliseconds. */
  readonly retryAt: number;
  error: unknown;
  /** Another attempt is under way. */
  isRetrying: boolean;
}

/** Everything about one partition that is being read or was read lately. Does not decide when to ask which broker. */
export class PartitionReads implements TopicPartition {
  readonly topic: string;
  readonly partition: number;
  readonly chunks = new PartitionChunks();
  /** In the order in which reads came to them. */
  readonly positions = new Map<Offset, ReadPosition>();
  /** The end for committed readers, as last reported. It may have grown since. */
  end: Offset = -1;
  /** How much has to be requested so that the next batch fits, as far as known. Bytes. */
  bytesMinimum: number;
  backoff: PartitionBackoff | undefined;
  /** Since when the brokers say that the topic or partition does not exist. Monotonic milliseconds. */
  unknownSince: number | undefined;

  constructor({ topic, partition }: TopicPartition, bytesMinimum: number) {
    this.topic = topic;
    this.partition = partition;
    this.bytesMinimum = bytesMinimum;
  }

  join(offset: Offset, options: ReadOptions, clock: Clock): Promise<ReadResult> {
    let position = this.positions.get(offset);
    if (position === undefined) {
      position = new ReadPosition(this, offset);
      this.positions.set(offset, position);
    }
    const at = position;
    const dueAt = clock.monotonic() + Math.max(0, options.waitMilliseconds);
    return new Promise((resolve) => {
      const read = new PendingRead(clock, at, offset, options, dueAt, resolve);
      // At the last known end a long poll responds as fast as an immediate fetch, and keeps waiting when there is
      // nothing.
      at.add(read, !read.isDue && (offset === this.end || at.waiting.size > 0));
    });
  }

  /** Returns the position whose turn it is for an immediate fetch: a request can hold only one per partition. */
  nextImmediateFetch(): ReadPosition | undefined {
    for (const position of this.positions.values()) if (position.needsImmediateFetch) return position;
    return undefined;
  }

  /** Returns the lowest position where reads wait: a response for it shows growth to those above as well. */
  lowestPolledPosition(): ReadPosition | undefined {
    let lowest: ReadPosition | undefined;
    for (const position of this.positions.values()) {
      if (position.needsPoll && (lowest === undefined || position.offset < lowest.offset)) lowest = position;
    }
    return lowest;
  }

  /** Completes every read whose position is in memory. Reads that wait below the end go back to an immediate fetch. */
  serve(): void {
    for (const position of this.positions.values()) {
      if (this.#completeFromCache(position)) this.positions.delete(position.offset);
      else if (position.offset < this.end && position.needsPoll) position.requeueWaiting();
    }
  }

  #completeFromCache(position: ReadPosition): boolean {
    let shared: DecodedBatches | undefined;
    let sharedBytesMaximum = -1;
    for (const read of position.all()) {
      if (read.isEnded) continue;
      const { bytesMaximum } = read.options;
      if (bytesMaximum !== sharedBytesMaximum) {
        sharedBytesMaximum = bytesMaximum;
        shared = this.chunks.read(position.offset, bytesMaximum);
        if (shared === undefined) return false;
      }
      if (shared !== undefined) read.complete(retained(shared));
    }
    return shared !== undefined || position.isEmpty;
  }

  fail(position: ReadPosition, error: unknown): void {
    this.positions.delete(position.offset);
    for (const read of position.all()) read.fail(error);
  }

  failAll(error: unknown): void {
    for (const position of this.positions.values()) this.fail(position, error);
  }

  forgetIfEmpty(position: ReadPosition): void {
    if (position.isEmpty && this.positions.get(position.offset) === position) this.positions.delete(position.offset);
  }
}
