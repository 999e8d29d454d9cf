import { statSync } from 'node:fs';
import { LendstreamError, describeError } from '../../errors.ts';
import { type Connection, openDatabase } from '../../sqlite.ts';

/**
 * Bytes per database page of a new file. An older file keeps its page size. Rows are longer than a page, and most
 * system calls of a commit or a checkpoint handle one page each. Pages of 4 KiB cost a fifth more processor time.
 * Larger ones save little more, and a commit of one event writes a few whole pages.
 */
const pageBytes = 8192;

/**
 * The write-ahead log file is cut back to this size when it restarts. That happens only after a burst, because
 * overwriting the file costs a third less processor time than growing it again. Bytes.
 */
const walBytesKept = 256 * 1024 * 1024;

/** How long a statement waits for another thread of this process that holds a database lock. Milliseconds. */
const lockWaitMilliseconds = 5_000;

/**
 * How long a restart of the write-ahead log waits for its readers. Reads of this process take a few milliseconds. A
 * backup takes minutes, and appends wait as long as this does. Milliseconds.
 */
const walRestartWaitMilliseconds = 100;

/** The version of a new file. */
const schemaVersion = 1;

/**
 * The version of a file as soon as it has a compressed row: a program that cannot read such rows must refuse the file
 * instead of calling it damaged. A file without them stays readable for that program.
 */
const schemaVersionWithCompression = 2;

/**
 * A batch is found by its last offset: the first row of a partition at or above a position is the one to read, whatever
 * holes precede it. The index contains the columns that retention needs, so that its decision never touches the bodies.
 * Ids of topics and partitions are never reused: a topic created under an old name shares no row with its predecessor.
 */
const schema = `
  CREATE TABLE topic (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    cleanup_policy TEXT NOT NULL,
    retention_milliseconds REAL NOT NULL,
    retention_bytes REAL
  ) STRICT;
  CREATE TABLE partition (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    topic_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    earliest_offset INTEGER NOT NULL DEFAULT 0,
    latest_offset_at_least INTEGER NOT NULL DEFAULT 0,
    compacted_to_offset INTEGER NOT NULL DEFAULT 0,
    compacted_record_count INTEGER NOT NULL DEFAULT 0,
    UNIQUE (topic_id, number)
  ) STRICT;
  CREATE TABLE batch (
    id INTEGER PRIMARY KEY,
    partition_id INTEGER NOT NULL,
    last_offset INTEGER NOT NULL,
    appended_at INTEGER NOT NULL,
    body_bytes INTEGER NOT NULL,
    base_offset INTEGER NOT NULL,
    record_count INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    body BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX batch_by_position ON batch (partition_id, last_offset, appended_at, body_bytes);
  CREATE TABLE writer (
    id TEXT PRIMARY KEY,
    epoch INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE group_offset (
    group_name TEXT NOT NULL,
    topic TEXT NOT NULL,
    partition INTEGER NOT NULL,
    next_offset INTEGER NOT NULL,
    PRIMARY KEY (group_name, topic, partition)
  ) STRICT, WITHOUT ROWID;
`;

/**
 * Tables that an earlier program did not create. It ignores them, so they change no version.
 *
 * compaction_lag has the topics whose replaced and deleted records must be removed in time.
 */
const laterTables = `
  CREATE TABLE IF NOT EXISTS compaction_lag (
    topic_id INTEGER PRIMARY KEY,
    milliseconds REAL NOT NULL
  ) STRICT;
`;

/**
 * Opens the connection that writes, and creates the schema in a new file.
 * @param databaseBytesMaximum The file never grows beyond this. Appends that would need more fail with LOG_FULL.
 *   Default: the size of the disk.
 * @param syncsToDisk Whether a commit waits for the disk. Only tests may do without.
 * @throws DATA_FOLDER_UNUSABLE: not a database, damaged, or written by another version
 */
export function openForWriting(path: string, databaseBytesMaximum?: number, syncsToDisk = true): Connection {
  try {
    const walBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    const connection = openDatabase(path, { returnArrays: true });
    // Without secure_delete, a page that was split keeps a copy of what moved to the other, which nothing could erase
    // later. FAST overwrites such copies wherever the page is written anyway.
    connection.exec(`
      PRAGMA busy_timeout = ${lockWaitMilliseconds};
      PRAGMA page_size = ${pageBytes};
      PRAGMA auto_vacuum = INCREMENTAL;
      PRAGMA synchronous = ${syncsToDisk ? 'FULL' : 'OFF'};
      PRAGMA journal_mode = WAL;
      PRAGMA wal_autocheckpoint = 0;
      PRAGMA journal_size_limit = ${walBytesKept};
      PRAGMA cache_size = -32768;
      PRAGMA secure_delete = FAST;
    `);
    if (databaseBytesMaximum !== undefined) {
      connection.exec(`PRAGMA max_page_count = ${Math.floor(databaseBytesMaximum / pageBytesOf(connection))}`);
    }
    // What the file lacks may still be in the write-ahead log.
    if (walBytes === 0) requireWholeFile(connection, path);
    const version = pragmaNumber(connection, 'user_version');
    if (version === 0) {
      connection.exec(`BEGIN IMMEDIATE; ${schema} PRAGMA user_version = ${schemaVersion}; COMMIT;`);
    } else if (version !== schemaVersion && version !== schemaVersionWithCompression) {
      throw new LendstreamError(
        'DATA_FOLDER_UNUSABLE',
        `${path} has schema version ${version}, and this program knows versions ${schemaVersion} and ` +
          `${schemaVersionWithCompression} only.`,
      );
    }
    connection.exec(laterTables);
    return connection;
  } catch (error) {
    throw unusable(path, error);
  }
}

/** Marks the file as one that may have compressed rows. Part of the transaction that stores the first of them. */
export function allowCompressedRows(connection: Connection): void {
  if (pragmaNumber(connection, 'user_version') === schemaVersionWithCompression) return;
  connection.exec(`PRAGMA user_version = ${schemaVersionWithCompression}`);
}

/** The error for a file that cannot be opened (DATA_FOLDER_UNUSABLE). */
export function unusable(path: string, error: unknown): LendstreamError {
  if (error instanceof LendstreamError) return error;
  const detail = `${path} cannot be opened: ${describeError(error)}.`;
  return new LendstreamError('DATA_FOLDER_UNUSABLE', detail, { cause: error });
}

/**
 * Refuses a file that was cut off, such as a copy that was interrupted. Any other check takes as long as reading all of
 * the file, so it runs beside the service: see log-check.ts.
 */
function requireWholeFile(connection: Connection, path: string): void {
  const bytes = pragmaNumber(connection, 'page_count') * pageBytesOf(connection);
  const present = statSync(path).size;
  if (present >= bytes) return;
  throw new LendstreamError(
    'DATA_FOLDER_UNUSABLE',
    `${path} is damaged and must be restored from a copy: it has ${present} bytes instead of ${bytes}.`,
  );
}

/**
 * Opens a connection that cannot change data. It may still checkpoint. It never creates the file, for a folder that
 * lost its log must not seem to have one.
 */
export function openForReading(path: string): Connection {
  const connection = openDatabase(path, { returnArrays: true, mustExist: true });
  connection.exec(`
    PRAGMA busy_timeout = ${lockWaitMilliseconds};
    PRAGMA query_only = ON;
    PRAGMA synchronous = FULL;
    PRAGMA wal_autocheckpoint = 0;
    PRAGMA cache_size = -8192;
  `);
  return connection;
}

/**
 * Copies the rest of the write-ahead log into the database file, so that the next commit writes to the start of the
 * log. Returns false when a reader still uses the log.
 */
export function restartWal(connection: Connection): boolean {
  return checkpoint(connection, 'RESTART');
}

/** The same, and empties the file of the write-ahead log: what was removed from the database stays in it otherwise. */
export function emptyWal(connection: Connection): boolean {
  return checkpoint(connection, 'TRUNCATE');
}

function checkpoint(connection: Connection, mode: 'RESTART' | 'TRUNCATE'): boolean {
  connection.exec(`PRAGMA busy_timeout = ${walRestartWaitMilliseconds}`);
  try {
    return pragmaNumber(connection, `wal_checkpoint(${mode})`) === 0;
  } finally {
    connection.exec(`PRAGMA busy_timeout = ${lockWaitMilliseconds}`);
  }
}

/** Bytes per page of this file. */
export function pageBytesOf(connection: Connection): number {
  return pragmaNumber(connection, 'page_size');
}

/** The value of a pragma that returns one number. */
export function pragmaNumber(connection: Connection, name: string): number {
  const row = connection.prepare(`PRAGMA ${name}`).get() as [number] | undefined;
  return row?.[0] ?? 0;
}
