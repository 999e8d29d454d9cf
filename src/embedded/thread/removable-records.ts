import { LendstreamError } from '../../errors.ts';
import type { LogRecord, Offset, TopicPartition } from '../../ports/event-log.ts';
import { noValue } from '../../ports/event-log.ts';
import type { Connection } from '../../sqlite.ts';
import { decodeRow, encodeBody } from '../records/batch-format.ts';
import type { StoredBatch } from '../records/decoded-batch.ts';
import { batchColumns, rowOf, type BatchColumns } from './batch-columns.ts';
import { openForReading, pageBytesOf } from './database.ts';
import type { CompactionRequest, MaintenanceRequests, RetentionRequest, RowReplacement } from './messages.ts';
import { serveRequests } from './log-thread.ts';

/**
 * The maintenance thread runs checkpoints and decides which records retention and compaction remove. It changes no row
 * itself. The writer thread carries out its decisions, in steps small enough for an append to wait for.
 */

/** The most rows that one statement reads. */
const rowsPerStatement = 64;

/** New content after which one step of a compaction ends. Bytes. */
const replacedBytesPerStep = 256 * 1024;

/** The most rows that one step of a compaction replaces. */
const replacedRowsPerStep = 64;

let connection: Connection | undefined;
let compaction: Compaction | undefined;

interface Compaction {
  /** Its `latest` is the end of what this compaction replaces. */
  readonly request: CompactionRequest;
  /** Of the records since the last compaction: before them, each key has one record. */
  readonly newestByKey: ReadonlyMap<string, Offset>;
  position: Offset;
  recordCount: number;
}

function database(): Connection {
  if (connection === undefined) throw new LendstreamError('LOG_CLOSED', 'The log is not open.');
  return connection;
}

function checkpoint(): { walBytes: number } {
  const [, frames] = database().prepare('PRAGMA wal_checkpoint(PASSIVE)').get() as [number, number, number];
  return { walBytes: frames * pageBytesOf(database()) };
}

/**
 * The first offset to keep. Whole batches are removed, from the oldest on. The first batch to keep also keeps all later
 * ones.
 */
function planRetention(request: RetentionRequest): { earliest: Offset } {
  const { partitionId, latest, appendedBefore, bytesMaximum } = request;
  const select = database().prepare(
    `SELECT last_offset, appended_at, body_bytes FROM batch
     WHERE partition_id = ? AND last_offset >= ? AND last_offset < ? ORDER BY last_offset LIMIT ${rowsPerStatement}`,
  );
  let surplusBytes = bytesMaximum === null ? 0 : storedBytes(request) - bytesMaximum;
  let earliest = request.earliest;
  for (;;) {
    const rows = select.all(partitionId, earliest, latest) as [Offset, number, number][];
    for (const [lastOffset, appendedAt, bytes] of rows) {
      const isExpired = appendedBefore !== null && appendedAt < appendedBefore;
      if (!isExpired && (bytesMaximum === null || surplusBytes < bytes)) return { earliest };
      surplusBytes -= bytes;
      earliest = lastOffset + 1;
    }
    if (rows.length === 0) return { earliest };
  }
}

function storedBytes({ partitionId, earliest }: RetentionRequest): number {
  const [bytes] = database()
    .prepare('SELECT total(body_bytes) FROM batch WHERE partition_id = ? AND last_offset >= ?')
    .get(partitionId, earliest) as [number];
  return bytes;
}

function appendedAtFrom({ partitionId, from }: MaintenanceRequests['appendedAtFrom']['request']) {
  const row = database()
    .prepare('SELECT appended_at FROM batch WHERE partition_id = ? AND last_offset >= ? ORDER BY last_offset LIMIT 1')
    .get(partitionId, from) as [number] | undefined;
  return { appendedAt: row?.[0] ?? null };
}

function batchesFrom(partition: TopicPartition & { partitionId: number; latest: Offset }, from: Offset): StoredBatch[] {
  const rows = database()
    .prepare(
      `SELECT ${batchColumns} FROM batch
       WHERE partition_id = ? AND last_offset >= ? AND last_offset < ? ORDER BY last_offset LIMIT ${rowsPerStatement}`,
    )
    .all(partition.partitionId, from, partition.latest) as BatchColumns[];
  return rows.map((columns) => decodeRow(partition, rowOf(partition.partitionId, columns)));
}

/** The memory of an entry of a map with an offset by key, without the characters of the key. Bytes. */
const keyOverheadBytes = 100;

/**
 * Finds the newest record of each key since the last compaction, as far as the memory for keys allows. A partition with
 * many new keys takes several compactions, each of which reads all before it.
 */
function beginCompaction(request: CompactionRequest): { toOffset: Offset } {
  const { compactedTo, latest, keyBytesMaximum } = request;
  const newestByKey = new Map<string, Offset>();
  let keyBytes = 0;
  let toOffset = compactedTo;
  while (toOffset < latest && keyBytes <= keyBytesMaximum) {
    const batches = batchesFrom(request, toOffset);
    // Behind the last row there may be offsets without a record.
    if (batches.length === 0) toOffset = latest;
    for (const batch of batches) {
      for (const [index, offset] of batch.offsets.entries()) {
        const key = batch.key(index);
        if (key === null) continue;
        if (!newestByKey.has(key)) keyBytes += keyOverheadBytes + key.length;
        newestByKey.set(key, offset);
      }
      toOffset = batch.position.lastOffset + 1;
      if (keyBytes > keyBytesMaximum) break;
    }
  }
  compaction = { request: { ...request, latest: toOffset }, newestByKey, position: 0, recordCount: 0 };
  return { toOffset };
}

function nextCompaction(): MaintenanceRequests['nextCompaction']['response'] {
  const running = compaction;
  if (running === undefined) throw new LendstreamError('INTERNAL', 'No compaction was begun.');
  const rows: RowReplacement[] = [];
  let bytes = 0;
  for (;;) {
    const batches = batchesFrom(running.request, running.position);
    if (batches.length === 0) {
      compaction = undefined;
      return { isDone: true, rows, recordCount: running.recordCount };
    }
    for (const batch of batches) {
      running.position = batch.position.lastOffset + 1;
      const kept = keptIndexes(running, batch);
      running.recordCount += kept.length;
      if (kept.length === batch.count) continue;
      const replacement = replacementOf(batch, kept);
      rows.push(replacement);
      bytes += replacement.body?.byteLength ?? 0;
      if (bytes >= replacedBytesPerStep || rows.length >= replacedRowsPerStep) {
        return { isDone: false, rows, recordCount: running.recordCount };
      }
    }
  }
}

/** The records that stay: the newest of each key, unless it is a tombstone that has expired. */
function keptIndexes({ request, newestByKey }: Compaction, batch: StoredBatch): number[] {
  const tombstonesExpired = batch.appendedAt < request.tombstonesBefore;
  const kept: number[] = [];
  for (const [index, offset] of batch.offsets.entries()) {
    const key = batch.key(index);
    const isNewest = key === null || (newestByKey.get(key) ?? offset) === offset;
    const isTombstone = batch.valueStarts[index] === noValue;
    if (isNewest && !(isTombstone && tombstonesExpired)) kept.push(index);
  }
  return kept;
}

function replacementOf(batch: StoredBatch, kept: readonly number[]): RowReplacement {
  const { partitionId, lastOffset } = batch.position;
  if (kept.length === 0) return { partitionId, lastOffset, body: null };
  const records = kept.map((index): LogRecord => {
    const start = batch.valueStarts[index] as number;
    const value = start === noValue ? null : batch.bytes.subarray(start, batch.valueEnds[index]);
    return { key: batch.key(index), value };
  });
  const offsets = kept.map((index) => batch.offsets[index] as Offset);
  return { partitionId, lastOffset, count: kept.length, body: encodeBody(batch.position, records, offsets) };
}

serveRequests<MaintenanceRequests>({
  open: ({ path }) => {
    connection = openForReading(path);
    return null;
  },
  checkpoint,
  planRetention,
  appendedAtFrom,
  beginCompaction,
  nextCompaction,
  close: () => {
    connection?.close();
    connection = undefined;
    return null;
  },
});
