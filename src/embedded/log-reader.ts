import { LendstreamError, describeError, isLendstreamError } from '../errors.ts';
import type { Offset, ReadResult, RecordBatch } from '../broker/event-log.ts';
import { batchFrom, decodeRow } from './batch-format.ts';
import type { StoredBatch } from './batch-format.ts';
import type { BatchCache } from './batch-cache.ts';
import { openForReading } from './log-database.ts';
import type { Connection } from './log-database.ts';
import type { PartitionState } from './partition-state.ts';

/** What one miss of the cache reads at least, so that small batches are not fetched one by one. */
const readAheadBytesMinimum = 256 * 1024;

/** What a miss reads where the miss before it ended: each statement costs as much as reading some rows. */
const readAheadBytesMaximum = 1024 * 1024;

/** One read answers no more than this (or one larger batch), so that it never holds up the event loop for long. */
const readBytesMaximum = 4 * 1024 * 1024;

/** Rows that one look at the index goes through at most. */
const indexRowsMaximum = 256;

/** What a row is taken to weigh before any of its partition was read. Bytes. */
const rowBytesAssumed = 16 * 1024;

/** How long reads answered at once may keep the event loop to themselves. */
const turnMilliseconds = 10;

type SizeRow = [lastOffset: Offset, bodyBytes: number];
type BatchColumns = [
  baseOffset: Offset,
  lastOffset: Offset,
  appendedAt: number,
  count: number,
  checksum: number,
  body: Buffer,
];

/** Reads committed batches on the main thread: from memory where they are there, else from the database. */
export class LogReader {
  readonly #connection: Connection;
  readonly #cache: BatchCache;
  readonly #selectSizes;
  readonly #selectBatches;
  /** What the rows last read weighed on average, by partition: how many of the index are worth looking at. Bytes. */
  readonly #rowBytes = new WeakMap<PartitionState, number>();
  /** Where the last load of a partition ended: one that goes on there is part of a longer run. */
  readonly #loadedTo = new WeakMap<PartitionState, Offset>();
  #turnStartedAt: number | undefined;

  constructor(databasePath: string, cache: BatchCache) {
    this.#connection = openForReading(databasePath);
    this.#cache = cache;
    this.#selectSizes = this.#connection
      .prepare(
        `SELECT last_offset, body_bytes FROM batch
         WHERE partition_id = ? AND last_offset >= ? AND last_offset < ? ORDER BY last_offset LIMIT ?`,
      )
      .raw();
    this.#selectBatches = this.#connection
      .prepare(
        `SELECT base_offset, last_offset, appended_at, record_count, checksum, body FROM batch
         WHERE partition_id = ? AND last_offset >= ? AND last_offset <= ? ORDER BY last_offset`,
      )
      .raw();
  }

  /**
   * Reads on from a position below `latest`.
   * @returns no batches only when nothing but holes lies between the position and `latest`
   * @throws CORRUPT_BATCH when the first batch is damaged; a later one fails the read that begins there
   */
  async read(partition: PartitionState, from: Offset, bytesMaximum: number): Promise<ReadResult> {
    const result = this.#readNow(partition, from, Math.min(bytesMaximum, readBytesMaximum));
    if (this.#isTurnSpent()) await new Promise((resolve) => setImmediate(resolve));
    return result;
  }

  #readNow(partition: PartitionState, from: Offset, bytesMaximum: number): ReadResult {
    const batches: RecordBatch[] = [];
    let bytes = 0;
    let nextOffset = from;
    let loaded: StoredBatch[] = [];
    let loadedIndex = 0;
    while (nextOffset < partition.latest) {
      let batch = loaded[loadedIndex] ?? this.#cache.find(partition, nextOffset);
      if (batch === undefined) {
        if (batches.length > 0 && bytes >= bytesMaximum) break;
        loaded = this.#loadOrStop(partition, nextOffset, bytesMaximum - bytes, batches.length > 0);
        loadedIndex = 0;
        batch = loaded[0];
        if (batch === undefined) {
          if (batches.length === 0) nextOffset = partition.latest;
          break;
        }
      }
      if (batches.length > 0 && bytes + batch.bytes.length > bytesMaximum) break;
      if (batch === loaded[loadedIndex]) loadedIndex += 1;
      bytes += batch.bytes.length;
      nextOffset = batch.position.lastOffset + 1;
      const wanted = batchFrom(batch, from);
      if (wanted.count > 0) batches.push(wanted);
    }
    return { batches, nextOffset };
  }

  /** A damaged batch behind sound ones is left for the next read to report. */
  #loadOrStop(partition: PartitionState, from: Offset, bytes: number, hasBatches: boolean): StoredBatch[] {
    try {
      const isRun = this.#loadedTo.get(partition) === from;
      return this.#load(partition, from, Math.max(bytes, isRun ? readAheadBytesMaximum : readAheadBytesMinimum));
    } catch (error) {
      if (hasBatches && isLendstreamError(error, 'CORRUPT_BATCH')) return [];
      throw error;
    }
  }

  #load(partition: PartitionState, from: Offset, bytesMaximum: number): StoredBatch[] {
    try {
      const { id, latest } = partition;
      const rowBytes = this.#rowBytes.get(partition) ?? rowBytesAssumed;
      const rows = Math.min(Math.ceil(bytesMaximum / rowBytes) + 1, indexRowsMaximum);
      const sizes = this.#selectSizes.all(id, from, latest, rows) as SizeRow[];
      const lastOffset = lastOffsetWithin(sizes, bytesMaximum);
      if (lastOffset === undefined) return [];
      this.#rowBytes.set(partition, averageBytes(sizes));
      const loaded: StoredBatch[] = [];
      for (const columns of this.#selectBatches.all(id, from, lastOffset) as BatchColumns[]) {
        const batch = decodeUnlessLater(partition, columns, loaded.length > 0);
        if (batch === undefined) break;
        loaded.push(batch);
        this.#cache.add(partition, batch);
        this.#loadedTo.set(partition, batch.position.lastOffset + 1);
      }
      return loaded;
    } catch (error) {
      throw readFailure(partition, from, error);
    }
  }

  /**
   * True when reads have been answered for a while without the event loop getting its turn: promises alone would let
   * a reader of many batches starve every timer and socket.
   */
  #isTurnSpent(): boolean {
    const now = performance.now();
    if (this.#turnStartedAt === undefined) {
      this.#turnStartedAt = now;
      setImmediate(() => {
        this.#turnStartedAt = undefined;
      });
      return false;
    }
    return now - this.#turnStartedAt > turnMilliseconds;
  }

  close(): void {
    this.#connection.close();
  }
}

/** The last offset of the run of rows that fits, the first row always included. */
function lastOffsetWithin(sizes: readonly SizeRow[], bytesMaximum: number): Offset | undefined {
  let within: Offset | undefined;
  let bytes = 0;
  for (const [lastOffset, bodyBytes] of sizes) {
    bytes += bodyBytes;
    if (within !== undefined && bytes > bytesMaximum) break;
    within = lastOffset;
  }
  return within;
}

function averageBytes(sizes: readonly SizeRow[]): number {
  let bytes = 0;
  for (const [, bodyBytes] of sizes) bytes += bodyBytes;
  return bytes / sizes.length;
}

/** @returns undefined for a damaged row that is not the first of its read */
function decodeUnlessLater(
  partition: PartitionState,
  [baseOffset, lastOffset, appendedAt, count, checksum, body]: BatchColumns,
  isLater: boolean,
): StoredBatch | undefined {
  try {
    return decodeRow(partition, {
      partitionId: partition.id,
      baseOffset,
      lastOffset,
      appendedAt,
      count,
      checksum,
      body,
    });
  } catch (error) {
    if (isLater) return undefined;
    throw error;
  }
}

function readFailure({ topic, partition }: PartitionState, from: Offset, error: unknown): LendstreamError {
  if (error instanceof LendstreamError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith('SQLITE_CORRUPT')
    ? new LendstreamError(
        'CORRUPT_BATCH',
        `Topic ${topic}, partition ${partition}, cannot be read from offset ${from} on: ${describeError(error)}.`,
        { cause: error, details: { topic, partition, baseOffset: from } },
      )
    : new LendstreamError('LOG_UNAVAILABLE', `Reading the log failed: ${describeError(error)}.`, { cause: error });
}
