import { type Clock, after, giveWay } from '../clock.ts';
import { LendstreamError, describeError, isLendstreamError } from '../errors.ts';
import type { HealthPart } from '../health.ts';
import type { Logger } from '../logger.ts';
import type { Offset, ReadResult, RecordBatch } from '../ports/event-log.ts';
import { batchFrom, decodeBody, decodeBodyInRun } from './records/batch-format.ts';
import type { StoredBatch } from './records/decoded-batch.ts';
import { MemoryPool } from './records/memory-pool.ts';
import type { BatchCache } from './batch-cache.ts';
import type { FetchResponse, FetcherRequests } from './thread/messages.ts';
import { startLogThread } from './thread/log-thread.ts';
import type { LogThread } from './thread/log-thread.ts';
import type { PartitionState } from './partition-state.ts';
import { SharedBuffer } from '../ports/shared-buffer.ts';

/** The least that one cache miss fetches, so that small batches are not fetched one by one. Bytes. */
const fetchBytesMinimum = 256 * 1024;

/** The bytes that a miss fetches if it continues the fetch before it: each fetch costs as much as reading some rows. */
const fetchBytesMaximum = 2 * 1024 * 1024;

/** The bytes for the bodies of a long fetch and their lists, when a record has 128 bytes or more. */
const sharedBufferBytes = fetchBytesMaximum + fetchBytesMaximum / 8;

/** One read returns no more than this (or one larger batch), so that it never blocks the event loop for long. Bytes. */
const readBytesMaximum = 4 * 1024 * 1024;

/** The pause before a thread that ended is started again. Milliseconds. */
const restartMilliseconds = 1_000;

/** How long reads served from memory may keep the event loop to themselves. Milliseconds. */
const turnMilliseconds = 10;

/** A run of batches that was fetched at once. */
interface FetchedRange {
  readonly from: Offset;
  /** Where the next fetch continues. */
  readonly to: Offset;
}

/** Reads committed batches: from the cache if they are there, else through the fetching thread (see fetcher.ts). */
export class LogReader {
  readonly #cache: BatchCache;
  readonly #databasePath: string;
  readonly #health: HealthPart;
  readonly #clock: Clock;
  readonly #logger: Logger;
  /** Undefined until something is first read that the cache does not have: many logs are read from their end alone. */
  #thread: LogThread<FetcherRequests> | undefined;
  /** The last fetch of each partition. A fetch that continues where it ended is part of a longer run. */
  readonly #lastFetch = new WeakMap<PartitionState, FetchedRange>();
  /** Fetches under way, by partition and position: readers at one position share them. */
  readonly #pendingFetches = new Map<string, Promise<readonly StoredBatch[]>>();
  readonly #memoryPool = new MemoryPool(sharedBufferBytes);
  #turnStartedAt: number | undefined;
  #isClosed = false;

  constructor(databasePath: string, cache: BatchCache, health: HealthPart, clock: Clock, logger: Logger) {
    this.#databasePath = databasePath;
    this.#cache = cache;
    this.#health = health;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** The thread, which may have ended and wait for its restart. @throws LOG_CLOSED */
  #startedThread(): LogThread<FetcherRequests> {
    if (this.#isClosed) throw new LendstreamError('LOG_CLOSED', 'The log is closed.');
    this.#thread ??= this.#startThread();
    return this.#thread;
  }

  #startThread(): LogThread<FetcherRequests> {
    const thread = startLogThread<FetcherRequests>(new URL('./thread/fetcher.js', import.meta.url), (error) => {
      if (this.#isClosed) return;
      const facts = { error: describeError(error) };
      this.#logger.error(facts, 'The thread that reads the log ended; restarting it');
      this.#restartThread(`The thread that reads the log ended; restarting it: ${describeError(error)}.`);
    });
    thread.call('open', { path: this.#databasePath }).then(
      () => this.#health.reportReady(),
      (error: unknown) => {
        // A thread that ended before it replied is already being started again.
        if (this.#isClosed || isLendstreamError(error, 'OUTCOME_UNKNOWN')) return;
        this.#logger.error({ error: describeError(error) }, 'The log cannot be opened for reading; retrying');
        this.#restartThread(`The log cannot be opened for reading: ${describeError(error)}.`);
        void thread.end();
      },
    );
    return thread;
  }

  #restartThread(reason: string): void {
    this.#health.reportNotReady(reason);
    after(this.#clock, restartMilliseconds, () => {
      if (!this.#isClosed) this.#thread = this.#startThread();
    });
  }

  /**
   * Reads from a position below `latest`.
   * @returns no batches only when there are nothing but holes between the position and `latest`; undefined when
   *   retention or the deletion of the topic overtook the read, so that the position has to be checked again
   * @throws CORRUPT_BATCH when the first batch is damaged (a damaged later one fails the read that begins there);
   *   LOG_UNAVAILABLE, LOG_CLOSED
   */
  async read(partition: PartitionState, from: Offset, bytesMaximum: number): Promise<ReadResult | undefined> {
    const { latest } = partition;
    const bytes = Math.min(bytesMaximum, readBytesMaximum);
    const cached = this.#cache.find(partition, from);
    if (cached !== undefined) {
      const result = collectBatches(cached, (offset) => this.#cache.find(partition, offset), from, bytes);
      this.#fetchAhead(partition, result.nextOffset, latest);
      if (this.#isTurnSpent()) await giveWay();
      return result;
    }
    const fetched = await this.#fetch(partition, from, latest);
    if (partition.isDeleted || from < partition.earliest) return undefined;
    const [first, ...rest] = fetched;
    if (first === undefined) return { batches: [], nextOffset: latest };
    return collectBatches(first, () => rest.shift(), from, bytes);
  }

  /**
   * The first offset whose record was appended at a time or later; the end when there is none.
   * @throws LOG_UNAVAILABLE, LOG_CLOSED
   */
  async offsetAt(partition: PartitionState, time: number): Promise<Offset> {
    const { id: partitionId, earliest, latest } = partition;
    const { offset } = await this.#startedThread()
      .call('findTime', { partitionId, from: earliest, latest, time })
      .catch((error: unknown) => {
        throw this.#failure(error);
      });
    return Math.max(offset, partition.earliest);
  }

  /** Fetches the next run while a reader is busy with the last one. */
  #fetchAhead(partition: PartitionState, position: Offset, latest: Offset): void {
    const last = this.#lastFetch.get(partition);
    if (last === undefined || position <= last.from || position > last.to || last.to >= latest) return;
    if (this.#cache.find(partition, last.to) !== undefined) return;
    // A reader that continues there meets the same failure and reports it.
    this.#fetch(partition, last.to, latest).catch(() => undefined);
  }

  #fetch(partition: PartitionState, from: Offset, latest: Offset): Promise<readonly StoredBatch[]> {
    const key = `${partition.id}:${from}`;
    const shared = this.#pendingFetches.get(key);
    if (shared !== undefined) return shared;
    const fetch = this.#fetchFromThread(partition, from, latest).finally(() => this.#pendingFetches.delete(key));
    this.#pendingFetches.set(key, fetch);
    return fetch;
  }

  async #fetchFromThread(partition: PartitionState, from: Offset, latest: Offset): Promise<readonly StoredBatch[]> {
    const { id: partitionId, topic, partition: number } = partition;
    const isSequential = this.#lastFetch.get(partition)?.to === from;
    const bytesMaximum = isSequential ? fetchBytesMaximum : fetchBytesMinimum;
    const memory = isSequential ? this.#memoryPool.acquire() : undefined;
    const request = { topic, partition: number, partitionId, from, latest, bytesMaximum, memory };
    const response = await this.#startedThread()
      .call('fetch', request)
      .catch((error: unknown) => {
        throw this.#failure(error);
      });
    const batches = this.#decode(partition, memory, response);
    for (const batch of batches) {
      if (batch.position.lastOffset >= partition.earliest) this.#cache.add(partition, batch);
    }
    const last = batches.at(-1);
    if (last !== undefined) this.#lastFetch.set(partition, { from, to: last.position.lastOffset + 1 });
    return batches;
  }

  #decode(
    partition: PartitionState,
    memory: SharedArrayBuffer | undefined,
    { positions, bodies }: FetchResponse,
  ): StoredBatch[] {
    const batches: StoredBatch[] = [];
    if (memory !== undefined) {
      const sharedBuffer = new SharedBuffer(memory, this.#memoryPool.recycle);
      for (let at = 0; at < positions.length; at += 2) {
        const position = { valuesAt: positions[at] as number, headAt: positions[at + 1] as number };
        batches.push(decodeBodyInRun(partition, sharedBuffer, position));
      }
      // Readers that wait for these batches take and hold them before the next turn of the event loop.
      void giveWay().then(sharedBuffer.release);
    }
    for (const body of bodies) batches.push(decodeBody(partition, Buffer.from(body)));
    return batches;
  }

  #failure(error: unknown): unknown {
    if (this.#isClosed) return new LendstreamError('LOG_CLOSED', 'The log is closed.');
    if (!isLendstreamError(error, 'OUTCOME_UNKNOWN')) return error;
    return new LendstreamError('LOG_UNAVAILABLE', 'The thread that reads the log ended.', { cause: error });
  }

  /**
   * True when reads have been served for a while without the event loop getting its turn. With promises alone, a reader
   * of many batches would starve every timer and socket.
   */
  #isTurnSpent(): boolean {
    const now = this.#clock.monotonic();
    if (this.#turnStartedAt === undefined) {
      this.#turnStartedAt = now;
      void giveWay().then(() => {
        this.#turnStartedAt = undefined;
      });
      return false;
    }
    return now - this.#turnStartedAt > turnMilliseconds;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // A thread that ended by itself was logged at that moment, and has nothing left to close.
    await this.#thread?.call('close', null).catch(() => undefined);
    await this.#thread?.end();
  }
}

/** As many consecutive batches as fit and are in memory. The first one is taken whatever its size. */
function collectBatches(
  first: StoredBatch,
  next: (offset: Offset) => StoredBatch | undefined,
  from: Offset,
  bytesMaximum: number,
): ReadResult {
  const batches: RecordBatch[] = [];
  let bytes = 0;
  let nextOffset = from;
  for (let batch: StoredBatch | undefined = first; batch !== undefined; batch = next(nextOffset)) {
    if (batches.length > 0 && bytes + batch.bodyBytes > bytesMaximum) break;
    bytes += batch.bodyBytes;
    nextOffset = batch.position.lastOffset + 1;
    const wanted = batchFrom(batch, from);
    if (wanted.count > 0) {
      batch.sharedBuffer?.retain();
      batches.push(wanted);
    }
  }
  return { batches, nextOffset };
}
