import { LendstreamError, describeError } from '../../errors.ts';
import type { ErrorCode } from '../../errors.ts';
import { type Connection, databaseErrorKind, openDatabase } from '../../sqlite.ts';

/**
 * Bytes per database page of a new file; an older one keeps what it was made with. Rows are longer than a page and most
 * of the system calls of a commit and a checkpoint are for one page each: pages of 4 KiB cost a fifth more processor
 * time, larger ones little less, and a commit of one event writes a few whole pages.
 */
const pageBytes = 8192;

/** The largest file SQLite can have. */
const databasePagesMaximum = 2 ** 32 - 2;

/**
 * The write-ahead log file is cut back to this size when it starts over: only after a burst, because overwriting it
 * costs a third less processor time than making it grow again.
 */
const walBytesKept = 256 * 1024 * 1024;

/** How long a statement waits for another thread of this process that holds a database lock. */
const lockWaitMilliseconds = 5_000;

/**
 * How long starting the write-ahead log over waits for those that read from it. Reads of this process take a few
 * milliseconds; a backup takes minutes, and appends wait as long as this does.
 */
const walRestartWaitMilliseconds = 100;

const schemaVersion = 1;

/**
 * A batch is found by its last offset: the first row of a partition at or above a position is the one to read, whatever
 * holes lie before it. The index carries what retention asks for, so that deciding it never touches the bodies.
 * Ids of topics and partitions are never used again: a topic created under an old name shares no row with its
 * predecessor.
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
 * Opens the connection that writes, creating the schema in a new file.
 * @param databaseBytesMaximum The file never grows beyond this; appends that would answer LOG_FULL.
 * @throws DATA_FOLDER_UNUSABLE: not a database, damaged, or written by another version
 */
export function openForWriting(path: string, databaseBytesMaximum: number): Connection {
  try {
    const connection = openDatabase(path, { returnArrays: true });
    connection.exec(`
      PRAGMA busy_timeout = ${lockWaitMilliseconds};
      PRAGMA page_size = ${pageBytes};
      PRAGMA auto_vacuum = INCREMENTAL;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA wal_autocheckpoint = 0;
      PRAGMA journal_size_limit = ${walBytesKept};
      PRAGMA cache_size = -32768;
    `);
    const pagesMaximum = Math.min(Math.floor(databaseBytesMaximum / pageBytesOf(connection)), databasePagesMaximum);
    connection.exec(`PRAGMA max_page_count = ${pagesMaximum}`);
    checkIntegrity(connection, path);
    const version = pragmaNumber(connection, 'user_version');
    if (version === 0) {
      connection.exec(`BEGIN IMMEDIATE; ${schema} PRAGMA user_version = ${schemaVersion}; COMMIT;`);
    } else if (version !== schemaVersion) {
      throw new LendstreamError(
        'DATA_FOLDER_UNUSABLE',
        `${path} has schema version ${version}, and this program knows version ${schemaVersion} only.`,
      );
    }
    return connection;
  } catch (error) {
    if (error instanceof LendstreamError) throw error;
    throw new LendstreamError('DATA_FOLDER_UNUSABLE', `${path} cannot be opened: ${describeError(error)}.`, {
      cause: error,
    });
  }
}

function checkIntegrity(connection: Connection, path: string): void {
  const findings = (connection.prepare('PRAGMA quick_check(5)').all() as [string][]).map(([finding]) => finding);
  if (findings.length === 1 && findings[0] === 'ok') return;
  throw new LendstreamError(
    'DATA_FOLDER_UNUSABLE',
    `${path} is damaged and must be restored from a copy. The integrity check says: ${findings.join('; ')}.`,
  );
}

/** Opens a connection that cannot change data; it may still checkpoint. */
export function openForReading(path: string): Connection {
  const connection = openDatabase(path, { returnArrays: true });
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
 * Carries over what is left of the write-ahead log, so that the next commit writes to its start. Answers false when
 * somebody still reads from it.
 */
export function restartWal(connection: Connection): boolean {
  connection.exec(`PRAGMA busy_timeout = ${walRestartWaitMilliseconds}`);
  try {
    return pragmaNumber(connection, 'wal_checkpoint(RESTART)') === 0;
  } finally {
    connection.exec(`PRAGMA busy_timeout = ${lockWaitMilliseconds}`);
  }
}

/** Bytes per page of this file. */
export function pageBytesOf(connection: Connection): number {
  return pragmaNumber(connection, 'page_size');
}

/** What a pragma of one number says. */
export function pragmaNumber(connection: Connection, name: string): number {
  const row = connection.prepare(`PRAGMA ${name}`).get() as [number] | undefined;
  return row?.[0] ?? 0;
}

/** Which error of the log a failed statement is. */
export function codeOfDatabaseError(error: unknown): ErrorCode {
  if (error instanceof LendstreamError) return error.code;
  return databaseErrorKind(error) === 'full' ? 'LOG_FULL' : 'LOG_UNAVAILABLE';
}
