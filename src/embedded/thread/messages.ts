import type { CleanupPolicy, Offset } from '../../ports/event-log.ts';
import type { ErrorCode } from '../../errors.ts';

/**
 * The requests of the main thread to the writer thread, and the replies. One table, so that both sides agree by type.
 */
export interface WriterRequests {
  open: {
    request: {
      path: string;
      databaseBytesMaximum: number | undefined;
      diskReserveBytes: number;
      syncsToDisk: boolean | undefined;
    };
    response: PersistedState;
  };
  commit: { request: CommitRequest; response: CommitResponse };
  openWriter: { request: { writerId: string }; response: { epoch: number } };
  createTopic: { request: { topic: PersistedTopic }; response: { topicId: number; partitionIds: number[] } };
  alterTopic: { request: { topicId: number; topic: PersistedTopic }; response: { addedPartitionIds: number[] } };
  deleteTopic: { request: { topicId: number }; response: null };
  saveGroupOffsets: { request: { offsets: readonly GroupOffset[] }; response: null };
  /** Persists the first held offset. Afterwards the rows below it may be deleted. */
  raiseEarliest: { request: { partitionId: number; earliest: Offset; latest: Offset }; response: null };
  /**
   * Deletes some of the rows that are below the earliest offset or belong to a deleted partition. `hasSurplus`: whether
   * there are more free pages than are kept, so that the file must shrink before more is removed. `overwrites`: whether
   * the bytes that were removed are overwritten in the database file at once.
   */
  deleteSome: {
    request: { partitionId: number; below: Offset; overwrites: boolean };
    response: { isDone: boolean; hasSurplus: boolean };
  };
  /**
   * Replaces the bodies of rows with compacted ones, and deletes rows without any record left. `overwrites`: whether
   * the bytes that were removed are overwritten in the database file at once.
   */
  replaceRows: {
    request: { rows: readonly RowReplacement[]; overwrites: boolean };
    response: { hasSurplus: boolean };
  };
  saveCompaction: { request: { partitionId: number; toOffset: Offset; recordCount: number }; response: null };
  /** A run of retention begins: what was appended since the last one shows how many free pages are soon used again. */
  beginMaintenance: { request: null; response: null };
  /** Returns some free pages to the file system when there are many. */
  shrinkFile: { request: null; response: { freedPages: number } };
  /** Returns some free pages whatever their number: they may have what was removed. To be called until none is left. */
  returnPages: { request: null; response: { freedPages: number } };
  /**
   * Copies the rest of the write-ahead log into the database file. If nothing reads from the log, the next commit then
   * writes to its start.
   */
  restartWal: { request: null; response: { isRestarted: boolean } };
  /** The same, and empties the file of the write-ahead log, unless something reads from it. */
  emptyWal: { request: null; response: { isEmpty: boolean } };
  /** Why nothing can be stored now, in a sentence each: the files are missing or moved, or there is no room. */
  inspectStorage: { request: null; response: { missing: string | null; full: string | null } };
  close: { request: null; response: null };
}

/** The requests of the main thread to the fetching thread, and the replies. */
export interface FetcherRequests {
  open: { request: { path: string }; response: null };
  /** The bodies of consecutive sound rows, checked. None when there is no row in the range. */
  fetch: { request: FetchRequest; response: FetchResponse };
  /** The base offset of the first row in the range that was appended at a time or later; `latest` if there is none. */
  findTime: {
    request: { partitionId: number; from: Offset; latest: Offset; time: number };
    response: { offset: Offset };
  };
  close: { request: null; response: null };
}

export interface FetchRequest {
  readonly topic: string;
  readonly partition: number;
  readonly partitionId: number;
  readonly from: Offset;
  /** Only rows that end below this offset are fetched. */
  readonly latest: Offset;
  /** At least one row is fetched, however large. */
  readonly bytesMaximum: number;
  /** Memory to read many rows into, which belongs to the thread until it replies. */
  readonly memory: SharedArrayBuffer | undefined;
}

/** Bodies in the order of their rows: first those in the memory of the request, then those in memory of their own. */
export interface FetchResponse {
  /**
   * The positions of those in the memory of the request: of each body its `valuesAt` and its `headAt` (`BodyInRun` in
   * batch-format.ts). A list of numbers is passed on in half the time that objects take.
   */
  readonly positions: readonly number[];
  readonly bodies: readonly ArrayBuffer[];
}

/** The requests of the main thread to the maintenance thread, and the replies. */
export interface MaintenanceRequests {
  open: { request: { path: string }; response: null };
  checkpoint: { request: null; response: { walBytes: number } };
  planRetention: { request: RetentionRequest; response: { earliest: Offset } };
  /** When the first record at or above an offset was appended (milliseconds since the epoch); null without one. */
  appendedAtFrom: { request: { partitionId: number; from: Offset }; response: { appendedAt: number | null } };
  /** The response says below which offset this compaction replaces rows; the rest needs another one. */
  beginCompaction: { request: CompactionRequest; response: { toOffset: Offset } };
  /** The next rows to replace, in small steps. */
  nextCompaction: {
    request: null;
    response: { isDone: boolean; rows: readonly RowReplacement[]; recordCount: number };
  };
  close: { request: null; response: null };
}

export interface PersistedTopic {
  readonly name: string;
  readonly partitionCount: number;
  readonly cleanupPolicy: CleanupPolicy;
  readonly retentionMilliseconds: number;
  readonly retentionBytes: number | null;
  readonly compactionLagMilliseconds: number | null;
}

export interface PersistedPartition {
  readonly id: number;
  readonly topicId: number;
  readonly number: number;
  readonly earliest: Offset;
  readonly latest: Offset;
  readonly compactedTo: Offset;
  readonly compactedRecordCount: number;
}

export interface GroupOffset {
  readonly group: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: Offset;
}

/** The state of the log when it opens. */
export interface PersistedState {
  readonly topics: readonly (PersistedTopic & { readonly id: number })[];
  readonly partitions: readonly PersistedPartition[];
  readonly groupOffsets: readonly GroupOffset[];
  /** Deleted partitions that still have rows, because the deletion was interrupted. */
  readonly orphanedPartitionIds: readonly number[];
}

export interface NewRow {
  readonly partitionId: number;
  readonly baseOffset: Offset;
  readonly lastOffset: Offset;
  readonly count: number;
  readonly appendedAt: number;
  /** In memory of its own, which is transferred there and back, or in memory that both threads see. */
  readonly body: ArrayBuffer | SharedBody;
}

/** A body in memory that the main thread shares, and does not change before the reply. */
export interface SharedBody {
  readonly memory: SharedArrayBuffer;
  readonly start: number;
  readonly bytes: number;
}

export interface CommitRequest {
  readonly rows: readonly NewRow[];
  /** Writers whose transactions are among the rows: each must still have this epoch. */
  readonly writers: readonly { readonly writerId: string; readonly epoch: number }[];
}

export interface CommitResponse {
  /** Writers that later ones have fenced. If there are any, nothing was committed. */
  readonly fencedWriterIds: readonly string[];
  /** The bodies of the rows that have memory of their own, transferred back. */
  readonly bodies: readonly ArrayBuffer[];
}

export interface RetentionRequest {
  readonly partitionId: number;
  readonly earliest: Offset;
  readonly latest: Offset;
  /** Batches appended before this may be removed. Milliseconds since the epoch; null sets no limit of age. */
  readonly appendedBefore: number | null;
  /**
   * The oldest batches may be removed as long as the newer ones alone have at least this size. Bytes; null means no
   * limit.
   */
  readonly bytesMaximum: number | null;
}

export interface CompactionRequest {
  readonly topic: string;
  readonly partition: number;
  readonly partitionId: number;
  /** Below this offset, each key has one record since the last compaction. */
  readonly compactedTo: Offset;
  /** Only records below this offset are compacted. */
  readonly latest: Offset;
  /** The most memory that the keys between both offsets may take. A batch that exceeds it is the last. Bytes. */
  readonly keyBytesMaximum: number;
  /** Tombstones appended before this are removed as well. Milliseconds since the epoch. */
  readonly tombstonesBefore: number;
}

/** The new content of a row. A body of null deletes the row. */
export type RowReplacement = {
  readonly partitionId: number;
  readonly lastOffset: Offset;
} & ({ readonly body: null } | { readonly body: ArrayBuffer; readonly count: number });

/** A failed request, in the form that is sent between threads. */
export interface ThreadFailure {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly details: Readonly<Record<string, unknown>>;
}
