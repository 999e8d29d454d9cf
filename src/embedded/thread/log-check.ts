import { LendstreamError, describeError } from '../../errors.ts';
import { type CheckStep, type FileCheck, inSnapshot, isDamage, serveCheck } from '../../integrity/check-thread.ts';
import type { Offset, TopicPartition } from '../../ports/event-log.ts';
import type { Connection } from '../../sqlite.ts';
import { checkRow } from '../records/batch-format.ts';
import { batchColumns, rowOf, type BatchColumns } from './batch-columns.ts';
import { openForReading, pageBytesOf, pragmaNumber } from './database.ts';

/**
 * The check of the log: reads each row that a reader could ask for, in the way a reader finds it, and compares its
 * checksum. It also finds rows that are missing. Each step is a transaction of its own, so that the write-ahead log
 * never waits for the check.
 */

/** The most rows and bytes of rows of one step. */
const rowsPerStep = 64;
const bytesPerStep = 1024 * 1024;

type IndexEntry = [id: number, lastOffset: Offset];

/** How far the rows of one partition were read. */
interface PartitionWalk extends TopicPartition {
  readonly partitionId: number;
  /** The last offset when the check began. Later rows were written a moment ago. */
  end: Offset;
  /** The first offset that is not checked yet. */
  position: Offset;
  /** The id of the row at this position: rows were written in the order of their ids. */
  nextId: number;
}

function prepareStatements(connection: Connection) {
  return {
    entries: connection.prepare(
      `SELECT id, last_offset FROM batch WHERE partition_id = ? AND last_offset >= ? AND last_offset <= ?
       ORDER BY last_offset LIMIT ${rowsPerStep}`,
    ),
    last: connection.prepare('SELECT last_offset FROM batch WHERE partition_id = ? ORDER BY last_offset DESC LIMIT 1'),
    row: connection.prepare(`SELECT ${batchColumns} FROM batch WHERE id = ?`),
    /** From this offset on there is no hole: neither retention nor compaction has removed a row above it. */
    firstWithoutHole: connection.prepare(
      `SELECT max(earliest_offset, compacted_to_offset) FROM partition
       WHERE id = ? AND (SELECT cleanup_policy FROM topic WHERE id = topic_id) = 'delete'`,
    ),
  };
}

class LogCheck implements FileCheck {
  readonly #connection: Connection;
  readonly #statements;
  readonly #walks: PartitionWalk[];
  readonly #usedBytes: number;
  #readBytes = 0;
  readonly #damages: string[] = [];

  constructor(path: string) {
    this.#connection = openForReading(path);
    this.#connection.exec('PRAGMA cell_size_check = ON');
    this.#statements = prepareStatements(this.#connection);
    this.#usedBytes =
      pageBytesOf(this.#connection) *
      (pragmaNumber(this.#connection, 'page_count') - pragmaNumber(this.#connection, 'freelist_count'));
    const partitions = this.#connection
      .prepare('SELECT name, number, partition.id FROM partition JOIN topic ON topic.id = topic_id')
      .all() as [string, number, number][];
    this.#walks = partitions.flatMap(([topic, partition, partitionId]) => {
      const walk = { topic, partition, partitionId, end: -1, position: 0, nextId: 0 };
      return this.#reads(walk, () => (walk.end = this.#endOf(partitionId))) && walk.end >= 0 ? [walk] : [];
    });
  }

  step(): CheckStep {
    const walk = this.#nextWalk();
    if (walk === undefined) return { isDone: true, checkedShare: 1, damages: this.#damages.splice(0) };
    inSnapshot(this.#connection, () => this.#readRows(walk));
    const checkedShare = Math.min(0.99, this.#readBytes / this.#usedBytes);
    return { isDone: false, checkedShare, damages: this.#damages.splice(0) };
  }

  close(): void {
    this.#connection.close();
  }

  /**
   * The partition whose next row was written first. Rows of different partitions share pages, so all partitions advance
   * through the file together, and each page is read from the disk once.
   */
  #nextWalk(): PartitionWalk | undefined {
    let next = this.#walks[0];
    for (const walk of this.#walks) if (next === undefined || walk.nextId < next.nextId) next = walk;
    return next;
  }

  #readRows(walk: PartitionWalk): void {
    const entries = this.#entriesOf(walk);
    let bytes = 0;
    for (const [index, [id, lastOffset]] of entries.entries()) {
      walk.nextId = id;
      if (bytes >= bytesPerStep) return;
      const rowBytes = this.#readRow(walk, id, lastOffset);
      bytes += rowBytes;
      this.#readBytes += rowBytes;
      walk.position = lastOffset + 1;
      walk.nextId = entries[index + 1]?.[0] ?? id + 1;
    }
    if (entries.length < rowsPerStep) this.#walks.splice(this.#walks.indexOf(walk), 1);
  }

  #entriesOf(walk: PartitionWalk): IndexEntry[] {
    const { partitionId, position, end } = walk;
    let entries: IndexEntry[] = [];
    this.#reads(walk, () => (entries = this.#statements.entries.all(partitionId, position, end) as IndexEntry[]));
    return entries;
  }

  /** Whether the index could be read. If not, the rest of the partition is out of reach, for readers as well. */
  #reads({ topic, partition, position }: PartitionWalk, readIndex: () => unknown): boolean {
    try {
      readIndex();
      return true;
    } catch (error) {
      if (!isDamage(error)) throw error;
      const place = `Topic ${topic}, partition ${partition}`;
      this.#damages.push(`${place}: the index cannot be read from offset ${position} on (${describeError(error)}).`);
      return false;
    }
  }

  /** The last offset of the last row; -1 when there is none. */
  #endOf(partitionId: number): Offset {
    const found = this.#statements.last.get(partitionId) as [Offset] | undefined;
    return found?.[0] ?? -1;
  }

  /** Returns the bytes of the row. */
  #readRow(walk: PartitionWalk, id: number, lastOffset: Offset): number {
    const { topic, partition, partitionId } = walk;
    const where = `Topic ${topic}, partition ${partition}`;
    try {
      const columns = this.#statements.row.get(id) as BatchColumns | undefined;
      if (columns === undefined) {
        this.#damages.push(`${where}: the row that ends at offset ${lastOffset} is missing.`);
        return 0;
      }
      const row = rowOf(partitionId, columns);
      this.#findHole(walk, row.baseOffset);
      // A reader finds the row by the offset in the index.
      checkRow(walk, { ...row, lastOffset });
      return row.body.length;
    } catch (error) {
      if (error instanceof LendstreamError) this.#damages.push(error.message);
      else if (!isDamage(error)) throw error;
      else this.#damages.push(`${where}: the row that ends at offset ${lastOffset} cannot be read.`);
      return 0;
    }
  }

  /** Appends leave no hole, so one where nothing was removed is damage. A compaction may be under way at any time. */
  #findHole({ topic, partition, partitionId, position }: PartitionWalk, baseOffset: Offset): void {
    if (baseOffset <= position) return;
    const found = this.#statements.firstWithoutHole.get(partitionId) as [Offset] | undefined;
    const from = Math.max(position, found?.[0] ?? Infinity);
    if (baseOffset <= from) return;
    this.#damages.push(`Topic ${topic}, partition ${partition}: the offsets ${from} to ${baseOffset - 1} are missing.`);
  }
}

serveCheck((path) => new LogCheck(path));
