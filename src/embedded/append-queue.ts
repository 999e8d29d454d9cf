import type { Clock } from '../clock.ts';
import { LendstreamError, isLendstreamError } from '../errors.ts';
import type { Offset } from '../ports/event-log.ts';
import type { PackedRecords } from '../ports/packed-records.ts';
import type { StoredBatch } from './records/decoded-batch.ts';
import { decodeStoredRow, type EncodedRow, type RowMemory } from './records/row-memory.ts';
import type { NewRow, WriterRequests } from './thread/messages.ts';
import type { LogThread } from './thread/log-thread.ts';
import type { PartitionState } from './partition-state.ts';
import { unknownPartition } from './unknown-partition.ts';
import { contentBytes } from './records/record-sizes.ts';
import { splitIntoRows } from './records/row-splitting.ts';

/** One commit takes no more than this many bytes, or one larger member. */
const groupBytesMaximum = 8 * 1024 * 1024;

/** Records for one partition. */
export interface AppendPart {
  readonly partition: PartitionState;
  readonly records: PackedRecords;
}

/** The unit that is committed or fails as a whole: the parts of an append call, or the transaction of a writer. */
interface Member {
  readonly parts: readonly AppendPart[];
  readonly bytes: number;
  /** For a transaction: the epoch its writer must still have. */
  readonly writer?: { readonly writerId: string; readonly epoch: number };
  complete(baseOffsets: readonly Offset[]): void;
  fail(error: Error): void;
}

interface Group {
  readonly members: readonly Member[];
  readonly baseOffsets: readonly (readonly Offset[])[];
  readonly rows: readonly NewRow[];
  readonly rowPartitions: readonly PartitionState[];
  readonly encodedRows: readonly EncodedRow[];
  readonly nextLatest: ReadonlyMap<PartitionState, Offset>;
}

/**
 * Group commit, clocked by the disk: one commit is in flight, and appends that arrive during it form the next one.
 * Within a group all records of one partition are merged into one row, where the records of each member stay together.
 */
export class AppendQueue {
  readonly #writer: LogThread<WriterRequests>;
  readonly #clock: Clock;
  readonly #rowMemory: RowMemory;
  readonly #queuedBytesMaximum: number;
  readonly #onGrowth: (partition: PartitionState, batches: readonly StoredBatch[]) => void;
  readonly #onFailure: () => void;
  #queue: Member[] = [];
  #queuedBytes = 0;
  #working: Promise<void> | undefined;

  /**
   * @param options.queuedBytesMaximum Bytes of records that may wait for or be in a commit. Beyond it, appends fail
   *   with OVERLOADED.
   * @param options.onGrowth Called for each partition that grew, after its `latest` has moved and before the append
   *   returns.
   * @param options.onFailure Called when a commit failed.
   */
  constructor(options: {
    readonly writer: LogThread<WriterRequests>;
    readonly clock: Clock;
    readonly rowMemory: RowMemory;
    readonly queuedBytesMaximum: number;
    readonly onGrowth: (partition: PartitionState, batches: readonly StoredBatch[]) => void;
    readonly onFailure: () => void;
  }) {
    this.#writer = options.writer;
    this.#clock = options.clock;
    this.#rowMemory = options.rowMemory;
    this.#queuedBytesMaximum = options.queuedBytesMaximum;
    this.#onGrowth = options.onGrowth;
    this.#onFailure = options.onFailure;
  }

  /**
   * Commits the parts together and returns the base offset of each.
   * @throws OVERLOADED, LOG_FULL, LOG_UNAVAILABLE, UNKNOWN_TOPIC_OR_PARTITION, WRITER_FENCED (nothing was stored);
   *   OUTCOME_UNKNOWN
   */
  add(parts: readonly AppendPart[], writer?: { writerId: string; epoch: number }): Promise<readonly Offset[]> {
    let bytes = 0;
    for (const { records } of parts) bytes += contentBytes(records) + bytesPerRecord * records.valueEnds.length;
    if (this.#queuedBytes > 0 && this.#queuedBytes + bytes > this.#queuedBytesMaximum) {
      return Promise.reject(
        new LendstreamError(
          'OVERLOADED',
          `More than ${this.#queuedBytesMaximum} bytes wait to be written. Nothing was stored; try again later.`,
        ),
      );
    }
    return new Promise((resolve, reject) => {
      this.#queuedBytes += bytes;
      const releaseBytes = (): void => {
        this.#queuedBytes -= bytes;
      };
      this.#queue.push({
        parts,
        bytes,
        ...(writer === undefined ? {} : { writer }),
        complete: (baseOffsets) => {
          releaseBytes();
          resolve(baseOffsets);
        },
        fail: (error) => {
          releaseBytes();
          reject(error);
        },
      });
      this.#working ??= this.#work();
    });
  }

  /** Resolves when nothing is queued and nothing is in flight. */
  async drained(): Promise<void> {
    while (this.#working !== undefined) await this.#working;
  }

  async #work(): Promise<void> {
    // Appends of one turn of the event loop belong to the same commit.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      await this.#commit(this.#dequeueMembers());
      this.#rowMemory.releaseFull();
    }
    this.#working = undefined;
  }

  #dequeueMembers(): Member[] {
    let bytes = 0;
    let count = 0;
    for (const member of this.#queue) {
      if (count > 0 && bytes + member.bytes > groupBytesMaximum) break;
      bytes += member.bytes;
      count += 1;
    }
    const members = this.#queue.slice(0, count);
    this.#queue = this.#queue.slice(count);
    return members;
  }

  async #commit(members: readonly Member[]): Promise<void> {
    const committable = members.filter((member) => {
      const deletedPart = member.parts.find(({ partition }) => partition.isDeleted);
      if (deletedPart !== undefined) member.fail(unknownPartition(deletedPart.partition));
      return deletedPart === undefined;
    });
    if (committable.length === 0) return;
    const group = buildGroup(committable, this.#clock.now(), this.#rowMemory);
    try {
      const writers = committable.flatMap(({ writer }) => (writer === undefined ? [] : [writer]));
      const { fencedWriterIds, bodies } = await this.#writer.call(
        'commit',
        { rows: group.rows, writers },
        group.encodedRows.flatMap(({ own }) => own ?? []),
      );
      if (fencedWriterIds.length > 0) await this.#commit(withoutFenced(committable, fencedWriterIds));
      else this.#publish(group, bodies);
    } catch (error) {
      const failure = isLendstreamError(error)
        ? error
        : new LendstreamError('OUTCOME_UNKNOWN', 'The commit failed unexpectedly.', { cause: error });
      for (const member of committable) member.fail(failure);
      this.#onFailure();
    }
  }

  #publish(group: Group, bodies: readonly ArrayBuffer[]): void {
    const batches = new Map<PartitionState, StoredBatch[]>();
    for (const [partition, latest] of group.nextLatest) {
      partition.latest = latest;
      batches.set(partition, []);
    }
    const ownBodies = bodies.values();
    group.encodedRows.forEach((row, index) => {
      const partition = group.rowPartitions[index] as PartitionState;
      const own = row.own === undefined ? undefined : ownBodies.next().value;
      batches.get(partition)?.push(decodeStoredRow(partition, row, own));
    });
    for (const [partition, added] of batches) this.#onGrowth(partition, added);
    group.members.forEach((member, index) => member.complete(group.baseOffsets[index] ?? []));
  }
}

/** The memory that a record takes apart from its key and value. Bytes. */
const bytesPerRecord = 32;

function withoutFenced(members: readonly Member[], fencedWriterIds: readonly string[]): Member[] {
  return members.filter((member) => {
    const isFenced = member.writer !== undefined && fencedWriterIds.includes(member.writer.writerId);
    if (isFenced) member.fail(writerFenced(member.writer.writerId));
    return !isFenced;
  });
}

/**
 * Arranges the records of the members by partition and encodes the rows. The offsets become valid only when the commit
 * succeeds.
 */
function buildGroup(members: readonly Member[], appendedAt: number, rowMemory: RowMemory): Group {
  const runsByPartition = new Map<PartitionState, PackedRecords[]>();
  const nextLatest = new Map<PartitionState, Offset>();
  const baseOffsets = members.map(({ parts }) =>
    parts.map(({ partition, records }) => {
      const runs = runsByPartition.get(partition);
      if (runs === undefined) runsByPartition.set(partition, [records]);
      else runs.push(records);
      const baseOffset = nextLatest.get(partition) ?? partition.latest;
      nextLatest.set(partition, baseOffset + records.valueEnds.length);
      return baseOffset;
    }),
  );
  const rows: NewRow[] = [];
  const rowPartitions: PartitionState[] = [];
  const encodedRows: EncodedRow[] = [];
  for (const [partition, runs] of runsByPartition) {
    const partitionId = partition.id;
    let baseOffset = partition.latest;
    for (const rowRuns of splitIntoRows(runs)) {
      const count = rowRuns.reduce((sum, { valueEnds }) => sum + valueEnds.length, 0);
      const lastOffset = baseOffset + count - 1;
      const row = rowMemory.encode({ partitionId, baseOffset, lastOffset, appendedAt }, rowRuns);
      rows.push({ partitionId, baseOffset, lastOffset, count, appendedAt, body: bodyForThread(row) });
      rowPartitions.push(partition);
      encodedRows.push(row);
      baseOffset += count;
    }
  }
  return { members, baseOffsets, rows, rowPartitions, encodedRows, nextLatest };
}

function bodyForThread(row: EncodedRow): NewRow['body'] {
  return row.own ?? { memory: row.piece.memory, start: row.start, bytes: row.bytes };
}

/** The error of a writer that a later one of the same name replaced (WRITER_FENCED). */
export function writerFenced(writerId: string): LendstreamError {
  return new LendstreamError('WRITER_FENCED', `Another writer named ${writerId} was opened after this one.`, {
    details: { writerId },
  });
}
