import { systemClock } from '../../clock.ts';
import { LendstreamError, describeError } from '../../errors.ts';
import type { CleanupPolicy } from '../../ports/event-log.ts';
import type { Connection } from '../../sqlite.ts';
import { checksumOf } from '../records/checksum.ts';
import { isCompressed, storedBody } from '../records/compressed-bodies.ts';
import {
  allowCompressedRows,
  emptyWal,
  openForWriting,
  pageBytesOf,
  pragmaNumber,
  restartWal,
  unusable,
} from './database.ts';
import { codeOfDatabaseError } from './database-errors.ts';
import type {
  CommitResponse,
  CommitRequest,
  GroupOffset,
  NewRow,
  PersistedPartition,
  PersistedState,
  PersistedTopic,
  RowReplacement,
  WriterRequests,
} from './messages.ts';
import { TransferredResponse, serveRequests } from './log-thread.ts';
import { FilesAndDiskSpace } from './files-and-disk-space.ts';

/**
 * The writer thread has the only connection that changes the database. A commit waits for the disk here, so that the
 * event loop of the main thread never does.
 */

/** The most rows deleted in one transaction: an append may have to wait for it. */
const deletedRowsPerTransaction = 64;
/** The most bytes of rows deleted in one transaction: each page of a row is freed separately. */
const deletedBytesPerTransaction = 2 * 1024 * 1024;

/**
 * Free pages are returned to the file system beyond this share of the file. Rows in pages with gaps take at most 1.2
 * times the space of a fresh copy, so the file takes at most 1.5 times as much.
 */
const freePagesShare = 0.15;
/** Free pages with fewer bytes than this are always kept... */
const freeBytesMinimum = 4 * 1024 * 1024;
/**
 * ...and ones with more only as far as the appends of the last minutes would use them up. SQLite searches the list of
 * free pages for each page that it returns, so the list must not get long: of 16 GiB, a page took milliseconds.
 */
const freeBytesMaximum = 64 * 1024 * 1024;
/** The most pages that are returned in one transaction: an append may have to wait for it. */
const freedPagesPerTransaction = 256;
/** A transaction that takes longer than this returns fewer pages the next time. Milliseconds. */
const freeingMillisecondsMaximum = 20;

/** Bytes that are written to check whether a full log has room again. */
const probeBytes = 64 * 1024;

interface OpenDatabase {
  readonly connection: Connection;
  readonly statements: ReturnType<typeof prepareStatements>;
  readonly storage: FilesAndDiskSpace;
  /** Bytes of rows appended since the last maintenance run, and between the two before: the next will be as many. */
  readonly appendedBytes: { thisInterval: number; lastInterval: number };
  /** How many free pages the next transaction returns to the file system. */
  pagesToFree: number;
  /** Whether a recent change did not fit. */
  isFull: boolean;
  /** What happened to the files, after a change was lost because of it. From then on nothing is written. */
  lost: string | null;
}

let opened: OpenDatabase | undefined;

function database(): OpenDatabase {
  if (opened === undefined) throw new LendstreamError('LOG_CLOSED', 'The log is not open.');
  return opened;
}

function prepareStatements(connection: Connection) {
  return {
    insertBatch: connection.prepare(
      `INSERT INTO batch (partition_id, last_offset, appended_at, body_bytes, base_offset, record_count, checksum, body)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    replaceBatch: connection.prepare(
      `UPDATE batch SET record_count = ?, checksum = ?, body_bytes = ?, body = ? WHERE partition_id = ? AND last_offset = ?`,
    ),
    keepLatest: connection.prepare(
      'UPDATE partition SET latest_offset_at_least = max(latest_offset_at_least, ?) WHERE id = ?',
    ),
    deleteBatch: connection.prepare('DELETE FROM batch WHERE partition_id = ? AND last_offset = ?'),
    oldestBatches: connection.prepare(
      `SELECT id, body_bytes FROM batch WHERE partition_id = ? AND last_offset < ?
         ORDER BY last_offset LIMIT ${deletedRowsPerTransaction}`,
    ),
    deleteBatchById: connection.prepare('DELETE FROM batch WHERE id = ?'),
    epochOf: connection.prepare('SELECT epoch FROM writer WHERE id = ?'),
    raiseEpoch: connection.prepare(
      'INSERT INTO writer (id, epoch) VALUES (?, 1) ON CONFLICT (id) DO UPDATE SET epoch = epoch + 1',
    ),
    saveGroupOffset: connection.prepare(
      `INSERT INTO group_offset (group_name, topic, partition, next_offset) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET next_offset = excluded.next_offset`,
    ),
    insertPartition: connection.prepare('INSERT INTO partition (topic_id, number) VALUES (?, ?)'),
  };
}

/**
 * Runs a change as one transaction. A failure before the commit undoes everything. A failure of the commit itself may
 * have left the change on disk. No change is made to files that are not where they were opened.
 * @param space `needed` refuses a change while the disk has less free space than its reserve; `reserve` is for changes
 *   that make room.
 * @throws LOG_FULL, LOG_UNAVAILABLE (nothing was stored), OUTCOME_UNKNOWN
 */
function inTransaction<Result>(space: 'needed' | 'reserve', change: (connection: Connection) => Result): Result {
  const { connection, storage } = database();
  requireFiles();
  if (space === 'needed') requireDiskSpace();
  let isCommitting = false;
  let result: Result;
  try {
    connection.exec('BEGIN IMMEDIATE');
    result = change(connection);
    isCommitting = true;
    connection.exec('COMMIT');
  } catch (error) {
    if (connection.isTransaction) connection.exec('ROLLBACK');
    const code = codeOfDatabaseError(error);
    if (code === 'LOG_FULL') {
      database().isFull = true;
      throw new LendstreamError('LOG_FULL', logFull, { cause: error });
    }
    if (!isCommitting || error instanceof LendstreamError) throw error;
    throw new LendstreamError('OUTCOME_UNKNOWN', `The disk did not confirm a commit: ${describeError(error)}`, {
      cause: error,
    });
  }
  const missing = storage.missing();
  if (missing === null) return result;
  const lost = `${missing} Anything written since then is lost: restart the service.`;
  database().lost = lost;
  throw new LendstreamError('OUTCOME_UNKNOWN', lost);
}

/** What happened to the files, now or before; null when nothing did. */
function missingFiles(): string | null {
  const { lost, storage } = database();
  return lost ?? storage.missing();
}

/** @throws LOG_UNAVAILABLE when data written now would be gone after the next start */
function requireFiles(): void {
  const missing = missingFiles();
  if (missing !== null) throw new LendstreamError('LOG_UNAVAILABLE', `Nothing was stored: ${missing}`);
}

/** @throws LOG_FULL */
function requireDiskSpace(): void {
  const full = database().storage.full();
  if (full !== null) throw new LendstreamError('LOG_FULL', `Nothing was stored: ${full}`);
}

const logFull = 'The log is full: its disk is full, or its size limit is reached.';

function inspectStorage(): WriterRequests['inspectStorage']['response'] {
  const missing = missingFiles();
  if (missing !== null) return { missing, full: null };
  if (database().isFull) database().isFull = !hasSpaceAgain();
  return { missing, full: database().storage.full() ?? (database().isFull ? logFull : null) };
}

function hasSpaceAgain(): boolean {
  try {
    inTransaction('needed', (connection) => {
      connection.exec(
        `INSERT INTO batch (partition_id, last_offset, appended_at, body_bytes, base_offset, record_count, checksum, body)
         VALUES (-1, 0, 0, ${probeBytes}, 0, 0, 0, zeroblob(${probeBytes}));
         DELETE FROM batch WHERE partition_id = -1;`,
      );
    });
    return true;
  } catch {
    return false;
  }
}

function commit({ rows, writers }: CommitRequest): TransferredResponse<CommitResponse> {
  const bodies = rows.flatMap(({ body }) => (body instanceof ArrayBuffer ? [body] : []));
  // Before the transaction, which then takes no longer than its writes.
  const storedBodies = rows.map(({ body, count }) => storedBody(bytesOfBody(body), count));
  const fencedWriterIds = inTransaction('needed', (connection) => {
    const { statements, appendedBytes } = database();
    const fenced = writers.filter(({ writerId, epoch }) => epochOf(writerId) !== epoch);
    if (fenced.length > 0) return fenced.map(({ writerId }) => writerId);
    for (const [index, { partitionId, baseOffset, lastOffset, count, appendedAt }] of rows.entries()) {
      const bytes = storedBodies[index] as Buffer;
      if (isCompressed(bytes)) allowCompressedRows(connection);
      statements.insertBatch.run(
        partitionId,
        lastOffset,
        appendedAt,
        bytes.length,
        baseOffset,
        count,
        checksumOf(bytes),
        bytes,
      );
      appendedBytes.thisInterval += bytes.length;
    }
    return [];
  });
  return new TransferredResponse({ fencedWriterIds, bodies }, bodies);
}

function bytesOfBody(body: NewRow['body']): Buffer {
  return body instanceof ArrayBuffer ? Buffer.from(body) : Buffer.from(body.memory, body.start, body.bytes);
}

/** The epoch of a writer that was opened before. */
function epochOf(writerId: string): number {
  const [epoch] = database().statements.epochOf.get(writerId) as [number];
  return epoch;
}

function loadState(connection: Connection): PersistedState {
  const topics = connection
    .prepare(
      `SELECT id, name, (SELECT count(*) FROM partition WHERE topic_id = topic.id),
         cleanup_policy, retention_milliseconds, retention_bytes,
         (SELECT milliseconds FROM compaction_lag WHERE topic_id = topic.id) FROM topic`,
    )
    .all() as [number, string, number, CleanupPolicy, number, number | null, number | null][];
  const partitions = connection
    .prepare(
      `SELECT id, topic_id, number, earliest_offset,
         max(latest_offset_at_least,
           ifnull((SELECT max(last_offset) + 1 FROM batch WHERE partition_id = partition.id), 0)),
         compacted_to_offset, compacted_record_count
       FROM partition ORDER BY topic_id, number`,
    )
    .all() as [number, number, number, number, number, number, number][];
  const groupOffsets = connection
    .prepare('SELECT group_name, topic, partition, next_offset FROM group_offset')
    .all() as [string, string, number, number][];
  return {
    topics: topics.map(([id, name, partitionCount, cleanupPolicy, ...limits]) => {
      const [retentionMilliseconds, retentionBytes, compactionLagMilliseconds] = limits;
      const policy = { cleanupPolicy, retentionMilliseconds, retentionBytes, compactionLagMilliseconds };
      return { id, name, partitionCount, ...policy };
    }),
    partitions: partitions.map(
      ([id, topicId, number, earliest, latest, compactedTo, compactedRecordCount]): PersistedPartition => ({
        id,
        topicId,
        number,
        earliest,
        latest,
        compactedTo,
        compactedRecordCount,
      }),
    ),
    groupOffsets: groupOffsets.map(([group, topic, partition, offset]): GroupOffset => ({
      group,
      topic,
      partition,
      offset,
    })),
    orphanedPartitionIds: orphanedPartitionIds(connection, new Set(partitions.map(([id]) => id))),
  };
}

/**
 * Walks the index from one partition to the next, so that its cost depends on the number of partitions, not of rows.
 */
function orphanedPartitionIds(connection: Connection, known: ReadonlySet<number>): number[] {
  const next = connection.prepare('SELECT min(partition_id) FROM batch WHERE partition_id > ?');
  const orphaned: number[] = [];
  let id = (next.get(0) as [number | null])[0];
  while (id !== null) {
    if (!known.has(id)) orphaned.push(id);
    id = (next.get(id) as [number | null])[0];
  }
  return orphaned;
}

function addPartitions(topicId: number, from: number, to: number): number[] {
  const ids: number[] = [];
  for (let number = from; number < to; number += 1) {
    ids.push(Number(database().statements.insertPartition.run(topicId, number).lastInsertRowid));
  }
  return ids;
}

function createTopic({ topic }: { topic: PersistedTopic }): { topicId: number; partitionIds: number[] } {
  return inTransaction('needed', (connection) => {
    const { lastInsertRowid } = connection
      .prepare('INSERT INTO topic (name, cleanup_policy, retention_milliseconds, retention_bytes) VALUES (?, ?, ?, ?)')
      .run(topic.name, topic.cleanupPolicy, topic.retentionMilliseconds, topic.retentionBytes);
    const topicId = Number(lastInsertRowid);
    saveCompactionLag(topicId, topic);
    return { topicId, partitionIds: addPartitions(topicId, 0, topic.partitionCount) };
  });
}

function alterTopic({ topicId, topic }: { topicId: number; topic: PersistedTopic }): { addedPartitionIds: number[] } {
  return inTransaction('needed', (connection) => {
    connection
      .prepare('UPDATE topic SET cleanup_policy = ?, retention_milliseconds = ?, retention_bytes = ? WHERE id = ?')
      .run(topic.cleanupPolicy, topic.retentionMilliseconds, topic.retentionBytes, topicId);
    saveCompactionLag(topicId, topic);
    const [count] = connection.prepare('SELECT count(*) FROM partition WHERE topic_id = ?').get(topicId) as [number];
    return { addedPartitionIds: addPartitions(topicId, count, topic.partitionCount) };
  });
}

function saveCompactionLag(topicId: number, { compactionLagMilliseconds: milliseconds }: PersistedTopic): void {
  const { connection } = database();
  if (milliseconds === null) connection.prepare('DELETE FROM compaction_lag WHERE topic_id = ?').run(topicId);
  else connection.prepare('INSERT OR REPLACE INTO compaction_lag VALUES (?, ?)').run(topicId, milliseconds);
}

function deleteTopic({ topicId }: { topicId: number }): null {
  return inTransaction('reserve', (connection) => {
    connection.prepare('DELETE FROM group_offset WHERE topic = (SELECT name FROM topic WHERE id = ?)').run(topicId);
    connection.prepare('DELETE FROM partition WHERE topic_id = ?').run(topicId);
    connection.prepare('DELETE FROM compaction_lag WHERE topic_id = ?').run(topicId);
    connection.prepare('DELETE FROM topic WHERE id = ?').run(topicId);
    return null;
  });
}

function deleteSome({
  overwrites,
  ...range
}: WriterRequests['deleteSome']['request']): WriterRequests['deleteSome']['response'] {
  return overwrites ? overwriting(() => deleteRows(range)) : deleteRows(range);
}

function deleteRows({
  partitionId,
  below,
}: Omit<WriterRequests['deleteSome']['request'], 'overwrites'>): WriterRequests['deleteSome']['response'] {
  return inTransaction('reserve', (connection) => {
    const { statements } = database();
    const oldest = statements.oldestBatches.all(partitionId, below) as [number, number][];
    let bytes = 0;
    for (const [id, bodyBytes] of oldest) {
      if (bytes >= deletedBytesPerTransaction) break;
      statements.deleteBatchById.run(id);
      bytes += bodyBytes;
    }
    returnFreePages(connection);
    return { isDone: oldest.length === 0, hasSurplus: surplusPages() > 0 };
  });
}

function replaceRows({ rows, overwrites }: WriterRequests['replaceRows']['request']): { hasSurplus: boolean } {
  return overwrites ? overwriting(() => replace(rows)) : replace(rows);
}

/** Does something so that pages which it frees are overwritten as well. */
function overwriting<Result>(change: () => Result): Result {
  const { connection } = database();
  connection.exec('PRAGMA secure_delete = ON');
  try {
    return change();
  } finally {
    connection.exec('PRAGMA secure_delete = FAST');
  }
}

function replace(rows: readonly RowReplacement[]): { hasSurplus: boolean } {
  return inTransaction('reserve', (connection) => {
    const { statements } = database();
    for (const { partitionId, lastOffset, ...content } of rows) {
      if (content.body === null) {
        statements.keepLatest.run(lastOffset + 1, partitionId);
        statements.deleteBatch.run(partitionId, lastOffset);
      } else {
        const bytes = storedBody(Buffer.from(content.body), content.count);
        if (isCompressed(bytes)) allowCompressedRows(connection);
        statements.replaceBatch.run(content.count, checksumOf(bytes), bytes.length, bytes, partitionId, lastOffset);
      }
    }
    returnFreePages(connection);
    return { hasSurplus: surplusPages() > 0 };
  });
}

/** Returns some of the free pages to the file system, if there are too many. */
function shrinkFile(): { freedPages: number } {
  // Reading the numbers of pages is no transaction that would have to wait for the disk.
  if (surplusPages() <= 0) return { freedPages: 0 };
  return { freedPages: inTransaction('reserve', returnFreePages) };
}

/** Returns some free pages to the file system, even those that the next appends would use. */
function returnPages(): { freedPages: number } {
  const { connection } = database();
  const free = pragmaNumber(connection, 'freelist_count');
  if (free === 0) return { freedPages: 0 };
  return { freedPages: inTransaction('reserve', () => returnSome(connection, free)) };
}

/** Part of every transaction that removes something, so that the list of free pages does not get long. */
function returnFreePages(connection: Connection): number {
  const surplus = surplusPages();
  return surplus <= 0 ? 0 : returnSome(connection, surplus);
}

/** Returns free pages, as many as one transaction should. @param surplus How many there are to return. */
function returnSome(connection: Connection, surplus: number): number {
  const startedAt = systemClock.monotonic();
  const pages = Math.min(surplus, database().pagesToFree);
  connection.exec(`PRAGMA incremental_vacuum(${pages})`);
  const isSlow = systemClock.monotonic() - startedAt > freeingMillisecondsMaximum;
  database().pagesToFree = isSlow
    ? Math.ceil(pages / 2)
    : Math.min(2 * database().pagesToFree, freedPagesPerTransaction);
  return pages;
}

/** How many free pages there are beyond those that are kept for the next appends. */
function surplusPages(): number {
  const { connection, appendedBytes } = database();
  const pageBytes = pageBytesOf(connection);
  const share = pragmaNumber(connection, 'page_count') * freePagesShare;
  const soonUsed = Math.max(freeBytesMaximum, appendedBytes.lastInterval, appendedBytes.thisInterval) / pageBytes;
  const kept = Math.max(freeBytesMinimum / pageBytes, Math.min(share, soonUsed));
  return Math.floor(pragmaNumber(connection, 'freelist_count') - kept);
}

serveRequests<WriterRequests>({
  open: ({ path, databaseBytesMaximum, diskReserveBytes, syncsToDisk }) => {
    const connection = openForWriting(path, databaseBytesMaximum, syncsToDisk);
    let state: PersistedState;
    try {
      state = loadState(connection);
    } catch (error) {
      connection.close();
      throw unusable(path, error);
    }
    const storage = new FilesAndDiskSpace(path, diskReserveBytes);
    opened = {
      connection,
      statements: prepareStatements(connection),
      storage,
      isFull: false,
      lost: null,
      appendedBytes: { thisInterval: 0, lastInterval: 0 },
      pagesToFree: freedPagesPerTransaction,
    };
    return state;
  },
  commit,
  openWriter: ({ writerId }) =>
    inTransaction('needed', () => {
      database().statements.raiseEpoch.run(writerId);
      return { epoch: epochOf(writerId) };
    }),
  createTopic,
  alterTopic,
  deleteTopic,
  saveGroupOffsets: ({ offsets }) =>
    inTransaction('reserve', () => {
      for (const { group, topic, partition, offset } of offsets) {
        database().statements.saveGroupOffset.run(group, topic, partition, offset);
      }
      return null;
    }),
  raiseEarliest: ({ partitionId, earliest, latest }) =>
    inTransaction('reserve', (connection) => {
      connection
        .prepare(
          `UPDATE partition SET earliest_offset = ?, latest_offset_at_least = max(latest_offset_at_least, ?)
           WHERE id = ?`,
        )
        .run(earliest, latest, partitionId);
      return null;
    }),
  deleteSome,
  replaceRows,
  saveCompaction: ({ partitionId, toOffset, recordCount }) =>
    inTransaction('reserve', (connection) => {
      connection
        .prepare(
          `UPDATE partition SET compacted_to_offset = ?, compacted_record_count = ?,
             latest_offset_at_least = max(latest_offset_at_least, ?) WHERE id = ?`,
        )
        .run(toOffset, recordCount, toOffset, partitionId);
      return null;
    }),
  shrinkFile,
  returnPages,
  beginMaintenance: () => {
    const { appendedBytes } = database();
    appendedBytes.lastInterval = appendedBytes.thisInterval;
    appendedBytes.thisInterval = 0;
    return null;
  },
  inspectStorage,
  restartWal: () => ({ isRestarted: restartWal(database().connection) }),
  emptyWal: () => ({ isEmpty: emptyWal(database().connection) }),
  close: () => {
    const { connection } = database();
    opened = undefined;
    connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    connection.close();
    return null;
  },
});
