import type { CleanupPolicy, Offset } from '../../ports/event-log.ts';
import type { ErrorCode } from '../../errors.ts';

/** What the main thread asks of the writer thread, and the answers. One table, so that both sides agree by type. */
export interface WriterRequests {
  open: {
    request: { path: string; databaseBytesMaximum: number; diskReserveBytes: number };
    answer: PersistedState;
  };
  commit: { request: CommitRequest; answer: CommitAnswer };
  openWriter: { request: { writerId: string }; answer: { epoch: number } };
  createTopic: { request: { topic: PersistedTopic }; answer: { topicId: number; partitionIds: number[] } };
  alterTopic: { request: { topicId: number; topic: PersistedTopic }; answer: { addedPartitionIds: number[] } };
  deleteTopic: { request: { topicId: number }; answer: null };
  saveGroupOffsets: { request: { offsets: readonly GroupOffset[] }; answer: null };
  /** Persists the first held offset, then the rows below it may go. */
  raiseEarliest: { request: { partitionId: number; earliest: Offset; latest: Offset }; answer: null };
  /** Deletes some of the rows that lie below the earliest offset or belong to no partition any more. */
  deleteSome: { request: { partitionId: number; below: Offset }; answer: { deletedRows: number } };
  /** Puts compacted bodies in the place of rows, deleting those that have no record left. */
  replaceRows: { request: { rows: readonly RowReplacement[] }; answer: null };
  saveCompaction: { request: { partitionId: number; toOffset: Offset; recordCount: number }; answer: null };
  /** Gives some free pages back to the file system when there are many. */
  shrinkFile: { request: null; answer: { freedPages: number } };
  /** Carries over what is left of the write-ahead log, so that the next commit writes to its start, if nobody reads. */
  restartWal: { request: null; answer: { isRestarted: boolean } };
  /** Why nothing can be stored now, in a sentence each: the files are not where they were, or there is no room. */
  inspectStorage: { request: null; answer: { missing: string | null; full: string | null } };
  close: { request: null; answer: null };
}

/** What the main thread asks of the fetching thread, and the answers. */
export interface FetchRequests {
  open: { request: { path: string }; answer: null };
  /** The bodies of sound rows in a row, checked; none when no row lies in the range. */
  fetch: { request: FetchQuestion; answer: FetchAnswer };
  close: { request: null; answer: null };
}

export interface FetchQuestion {
  readonly topic: string;
  readonly partition: number;
  readonly partitionId: number;
  readonly from: Offset;
  /** Rows that end below this. */
  readonly latest: Offset;
  /** At least one row is fetched, however large. */
  readonly bytesMaximum: number;
  /** Handed over for many rows to be read into. */
  readonly memory: ArrayBuffer | undefined;
}

/** Bodies in the order of their rows: first those in the memory of the question, then those in memory of their own. */
export interface FetchAnswer {
  readonly run: FetchedRun | undefined;
  readonly bodies: readonly ArrayBuffer[];
}

export interface FetchedRun {
  /** Handed back. */
  readonly memory: ArrayBuffer;
  /** Where the bodies lie in it, if any: room for what is decoded of each is left behind it. */
  readonly places: readonly { readonly start: number; readonly bytes: number }[];
}

/** What the main thread asks of the maintenance thread, and the answers. */
export interface MaintenanceRequests {
  open: { request: { path: string }; answer: null };
  checkpoint: { request: null; answer: { walBytes: number } };
  planRetention: { request: RetentionQuestion; answer: { earliest: Offset } };
  beginCompaction: { request: CompactionQuestion; answer: { keyCount: number } };
  /** The next rows to replace, a small step at a time. */
  nextCompaction: {
    request: null;
    answer: { isDone: boolean; rows: readonly RowReplacement[]; recordCount: number };
  };
  close: { request: null; answer: null };
}

export interface PersistedTopic {
  readonly name: string;
  readonly partitionCount: number;
  readonly cleanupPolicy: CleanupPolicy;
  readonly retentionMilliseconds: number;
  readonly retentionBytes: number | null;
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

/** What the log knows when it opens. */
export interface PersistedState {
  readonly topics: readonly (PersistedTopic & { readonly id: number })[];
  readonly partitions: readonly PersistedPartition[];
  readonly groupOffsets: readonly GroupOffset[];
  /** Partitions that are gone and whose rows are not: a deletion that was cut short. */
  readonly orphanedPartitionIds: readonly number[];
}

export interface NewRow {
  readonly partitionId: number;
  readonly baseOffset: Offset;
  readonly lastOffset: Offset;
  readonly count: number;
  readonly appendedAt: number;
  readonly body: ArrayBuffer;
}

export interface CommitRequest {
  readonly rows: readonly NewRow[];
  /** Writers whose transactions are among the rows: each must still have this epoch. */
  readonly writers: readonly { readonly writerId: string; readonly epoch: number }[];
}

export interface CommitAnswer {
  /** Writers that another one has fenced off. When there is any, nothing was committed. */
  readonly fencedWriterIds: readonly string[];
  /** The rows' bodies, handed back. */
  readonly bodies: readonly ArrayBuffer[];
}

export interface RetentionQuestion {
  readonly partitionId: number;
  readonly earliest: Offset;
  readonly latest: Offset;
  /** Batches appended before this may go. Milliseconds since the epoch; null keeps them whatever their age. */
  readonly appendedBefore: number | null;
  /** The oldest batches may go while the newer ones alone are at least this large; null means no limit. */
  readonly bytesMaximum: number | null;
}

export interface CompactionQuestion {
  readonly topic: string;
  readonly partition: number;
  readonly partitionId: number;
  /** Compacts what lies below this. */
  readonly latest: Offset;
  /** Tombstones appended before this go as well. Milliseconds since the epoch. */
  readonly tombstonesBefore: number;
}

/** A row's new content; a body of null deletes the row. */
export interface RowReplacement {
  readonly partitionId: number;
  readonly lastOffset: Offset;
  readonly count: number;
  readonly body: ArrayBuffer | null;
}

/** A failed request as it travels between threads. */
export interface ThreadFailure {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly details: Readonly<Record<string, unknown>>;
}
