import { BoundedMap } from '../../bounded-map.ts';
import { LendstreamError, describeError } from '../../errors.ts';
import type { Offset } from '../../ports/event-log.ts';
import { type Connection, databaseErrorKind } from '../../sqlite.ts';
import { type BatchRow, bodyOfRow, putIntoRun } from '../records/batch-format.ts';
import { inflatedBytesOf } from '../records/compressed-bodies.ts';
import { batchColumns, rowOf, type BatchColumns } from './batch-columns.ts';
import { openForReading } from './database.ts';
import { discard } from './discarded-memory.ts';
import type { FetchResponse, FetchRequest, FetcherRequests } from './messages.ts';
import { TransferredResponse, serveRequests } from './log-thread.ts';

/**
 * The fetching thread reads rows, compares their checksums and decompresses them, so that neither a slow disk nor a
 * long backlog blocks the main thread.
 */

/** The most rows that one query of the index returns. */
const indexRowsMaximum = 256;

/** The assumed size of a row before any row of its partition was read. Bytes. */
const rowBytesAssumed = 16 * 1024;

/** The most partitions whose rows have a known average size: about 2 MB. Those read last are known. */
const averagesMaximum = 10_000;

let opened: { connection: Connection; statements: ReturnType<typeof prepareStatements> } | undefined;
/**
 * The average size in memory of the rows last read, by partition. It decides how many rows are worth reading.
 * Compressed rows are larger in memory than in the file. Bytes.
 */
const averageBytesByPartition = new BoundedMap<number, number>(averagesMaximum);

function prepareStatements(connection: Connection) {
  return {
    // One text costs less than a row of the library for each size.
    sizes: connection.prepare(
      `SELECT json_group_array(body_bytes) FROM (
         SELECT body_bytes FROM batch
         WHERE partition_id = ? AND last_offset >= ? AND last_offset < ? ORDER BY last_offset LIMIT ?)`,
    ),
    rowAt: connection.prepare(
      `SELECT base_offset, last_offset, appended_at FROM batch
       WHERE partition_id = ? AND last_offset >= ? AND last_offset < ? ORDER BY last_offset LIMIT 1`,
    ),
    batches: connection.prepare(
      `SELECT ${batchColumns} FROM batch
       WHERE partition_id = ? AND last_offset >= ? AND last_offset < ? ORDER BY last_offset LIMIT ?`,
    ),
  };
}

function fetchRows(request: FetchRequest): TransferredResponse<FetchResponse> {
  if (opened === undefined) throw new LendstreamError('LOG_CLOSED', 'The log is closed.');
  const { sizes, batches } = opened.statements;
  const { partitionId, from, latest, bytesMaximum } = request;
  try {
    const averageRowBytes = averageBytesByPartition.get(partitionId) ?? rowBytesAssumed;
    const rowsMaximum = Math.min(Math.ceil(bytesMaximum / averageRowBytes) + 1, indexRowsMaximum);
    const [sizesText] = sizes.get(partitionId, from, latest, rowsMaximum) as [string];
    const rowCount = countWithin(JSON.parse(sizesText) as number[], bytesMaximum);
    const columns = batches.all(partitionId, from, latest, rowCount) as BatchColumns[];
    const rows = columns.map((each) => rowOf(partitionId, each));
    const bytes = rows.reduce((sum, { body }) => sum + inflatedBytesOf(body), 0);
    if (rows.length > 0) averageBytesByPartition.set(partitionId, bytes / rows.length);
    return bodiesWithin(request, rows, new FetchedBodies(request.memory, Math.min(bytes, bytesMaximum))).toResponse();
  } catch (error) {
    throw readFailure(request, error);
  }
}

/** Halves the range again and again: as many rows are looked at as its length has binary digits. */
function findTime({ partitionId, from, latest, time }: FetcherRequests['findTime']['request']): { offset: Offset } {
  if (opened === undefined) throw new LendstreamError('LOG_CLOSED', 'The log is closed.');
  let [low, high] = [from, latest];
  try {
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const row = opened.statements.rowAt.get(partitionId, middle, latest) as
        | [baseOffset: Offset, lastOffset: Offset, appendedAt: number]
        | undefined;
      // A row that reaches down to the lower bound, or a hole up to the end, has nothing before it to look at.
      if (row === undefined) high = middle;
      else if (row[2] < time) low = row[1] + 1;
      else high = Math.min(row[0], middle);
    }
  } catch (error) {
    throw new LendstreamError('LOG_UNAVAILABLE', `Reading the log failed: ${describeError(error)}.`);
  }
  return { offset: low };
}

/** Adds the bodies of the rows, as far as they fit when they are decompressed. The first row is always added. */
function bodiesWithin(request: FetchRequest, rows: readonly BatchRow[], bodies: FetchedBodies): FetchedBodies {
  let bytes = 0;
  for (const row of rows) {
    bytes += inflatedBytesOf(row.body);
    if (bodies.count > 0 && bytes > request.bytesMaximum) break;
    const body = intactBody(request, row, bodies.count > 0);
    if (body === undefined) break;
    bodies.add(body);
  }
  return bodies;
}

/** The bodies of one reply: in the memory of the request as long as they fit, then each in memory of its own. */
class FetchedBodies {
  /** The memory of the request, as long as more may fit into it. */
  #free: Buffer | undefined;
  #valuesAt = 0;
  #headsFrom = 0;
  readonly #positions: number[] = [];
  readonly #bodies: ArrayBuffer[] = [];
  /** The memory of the bodies that were copied. */
  readonly #copied: ArrayBuffer[] = [];

  /** @param bytes The approximate size of all bodies. Memory that they would leave mostly empty is not used. */
  constructor(memory: SharedArrayBuffer | undefined, bytes: number) {
    if (memory === undefined || bytes < memory.byteLength / 2) return;
    this.#free = Buffer.from(memory);
    this.#headsFrom = memory.byteLength;
  }

  get count(): number {
    return this.#positions.length / 2 + this.#bodies.length;
  }

  add(body: Buffer): void {
    const put = this.#free === undefined ? undefined : putIntoRun(this.#free, body, this.#valuesAt, this.#headsFrom);
    if (put === undefined) {
      this.#free = undefined;
      this.#bodies.push(memoryOf(body));
      return;
    }
    if (ownsMemory(body)) this.#copied.push(body.buffer);
    const { valuesAt, headAt, valuesEnd } = put;
    this.#positions.push(valuesAt, headAt);
    this.#valuesAt = valuesEnd + 1;
    this.#headsFrom = headAt;
  }

  /** To be called once, when no body is read any more. */
  toResponse(): TransferredResponse<FetchResponse> {
    discard(this.#copied);
    return new TransferredResponse({ positions: this.#positions, bodies: this.#bodies }, this.#bodies);
  }
}

/**
 * The body of a row, decompressed; undefined when it is damaged. A damaged row after sound ones is left for the fetch
 * that begins there to report.
 * @throws CORRUPT_BATCH for a damaged row that is the first
 */
function intactBody(request: FetchRequest, row: BatchRow, isLater: boolean): Buffer | undefined {
  try {
    return bodyOfRow(request, row);
  } catch (error) {
    if (isLater) return undefined;
    throw error;
  }
}

/** The memory of the body, to be transferred. */
function memoryOf(body: Buffer): ArrayBuffer {
  return ownsMemory(body) ? body.buffer : new Uint8Array(body).buffer;
}

/** The SQLite library gives each blob memory of its own, and so does decompression. */
function ownsMemory(body: Buffer): body is Buffer<ArrayBuffer> {
  const { buffer, byteOffset, length } = body;
  return buffer instanceof ArrayBuffer && byteOffset === 0 && buffer.byteLength === length;
}

/** How many rows fit. The first one always does. @param sizes Of rows that follow each other, in bytes. */
function countWithin(sizes: readonly number[], bytesMaximum: number): number {
  let bytes = 0;
  const first = sizes.findIndex((size, index) => (bytes += size) > bytesMaximum && index > 0);
  return first < 0 ? sizes.length : first;
}

function readFailure({ topic, partition, from }: FetchRequest, error: unknown): LendstreamError {
  if (error instanceof LendstreamError) return error;
  return databaseErrorKind(error) === 'damaged'
    ? new LendstreamError(
        'CORRUPT_BATCH',
        `Topic ${topic}, partition ${partition}, cannot be read from offset ${from} on: ${describeError(error)}.`,
        { details: { topic, partition, baseOffset: from } },
      )
    : new LendstreamError('LOG_UNAVAILABLE', `Reading the log failed: ${describeError(error)}.`);
}

serveRequests<FetcherRequests>({
  open: ({ path }) => {
    const connection = openForReading(path);
    opened = { connection, statements: prepareStatements(connection) };
    return null;
  },
  fetch: fetchRows,
  findTime,
  close: () => {
    opened?.connection.close();
    opened = undefined;
    return null;
  },
});
