import { createHash } from 'node:crypto';
import type { BoundsOptions, EventLog, FencedWriter, Offset, TopicPartition } from '../ports/event-log.ts';
import { boundsOfPartition } from '../ports/partition-bounds.ts';
import { auditEventType } from '../access/system-event-types.ts';
import { readStoredRecords } from '../broker/log/stored-records.ts';
import { auditRecordText, type AuditEntry } from './audit-entry.ts';

/** In place of a hash, in the first record of a chain. */
export const noPreviousHash = '0'.repeat(64);

/** An entry and the id of its event. */
export interface IdentifiedEntry {
  readonly eid: string;
  readonly entry: AuditEntry;
}

/** The last record of a chain. */
export interface ChainHead {
  /** 0 before the first record. */
  readonly sequence: number;
  /** The SHA-256 of its text, in hexadecimal digits. */
  readonly hash: string;
  /** When it was appended. Milliseconds since the epoch; 0 before the first record. */
  readonly appendedAt: number;
}

const emptyHead: ChainHead = { sequence: 0, hash: noPreviousHash, appendedAt: 0 };

/**
 * The chain of one partition, which this process alone continues: each record has the next number and the hash of the
 * record before it. The log's fenced writer makes sure of it. A process that opens the same partition ends this writer.
 */
export class ChainWriter {
  readonly partition: number;
  readonly #writer: FencedWriter;
  #head: ChainHead;
  /** Everything below this offset was read, or written by this writer. */
  #position: Offset;

  private constructor(partition: number, writer: FencedWriter, tail: ChainTail) {
    this.partition = partition;
    this.#writer = writer;
    this.#head = tail.head;
    this.#position = tail.position;
  }

  /** Continues a chain where the log says that it ends. Fences off every other writer of the partition. */
  static async open(log: EventLog, partition: number): Promise<ChainWriter> {
    const place = placeOf(partition);
    const writer = await log.openWriter(`${auditEventType}/${partition}`, [place]);
    try {
      return new ChainWriter(partition, writer, await readTail(log, partition, { includeUncommitted: true }));
    } catch (error) {
      await writer.close().catch(() => undefined);
      throw error;
    }
  }

  /** From where records have to be read to find out whether the last append was stored. */
  get position(): Offset {
    return this.#position;
  }

  get head(): ChainHead {
    return this.#head;
  }

  /**
   * Stores records together, in this order. After any error this writer is unusable.
   * @throws as a fenced writer; WRITER_FENCED says that nothing was stored, others leave that open
   */
  async append(entries: readonly IdentifiedEntry[], now: number): Promise<void> {
    let head = this.#head;
    const records = entries.map(({ eid, entry }) => {
      const place = { partition: this.partition, sequence: head.sequence + 1, previousHash: head.hash };
      const value = Buffer.from(auditRecordText(eid, entry, place, now));
      head = { sequence: place.sequence, hash: hashOf(value), appendedAt: now };
      return { key: null, value };
    });
    await this.#writer.append([{ ...placeOf(this.partition), records }]);
    const [committed] = await this.#writer.commit();
    this.#head = head;
    if (committed !== undefined) this.#position = committed.nextOffset;
  }

  close(): Promise<void> {
    return this.#writer.close();
  }
}

/** Whether a record with this id is at or after an offset. Call it when no earlier writer can write any more. */
export async function isStored(log: EventLog, partition: number, from: Offset, eid: string): Promise<boolean> {
  const { earliest, latest } = await boundsOfPartition(log, placeOf(partition), { includeUncommitted: true });
  let found = false;
  await readRecords(log, partition, Math.max(from, earliest), latest, (record) => {
    found ||= record.eid === eid;
  });
  return found;
}

/** The end of a chain as the log has it. */
interface ChainTail {
  readonly head: ChainHead;
  readonly position: Offset;
}

/**
 * Reads the last record of a partition. Before it there may be offsets without records, so this looks further back.
 * @param options With `includeUncommitted` no acknowledged record is missed. An open transaction holds this up, so only
 *   the writer of the partition asks for it: no other transaction is open there.
 */
export async function readTail(log: EventLog, partition: number, options: BoundsOptions): Promise<ChainTail> {
  const { earliest, latest } = await boundsOfPartition(log, placeOf(partition), options);
  for (let back = 1; ; back *= 2) {
    const from = Math.max(earliest, latest - back);
    let last: StoredRecord | undefined;
    await readRecords(log, partition, from, latest, (record) => {
      last = record;
    });
    if (last !== undefined) return { head: headOf(last), position: latest };
    if (from === earliest) return { head: emptyHead, position: latest };
  }
}

interface StoredRecord {
  readonly sequence: number;
  readonly eid: string;
  readonly value: Buffer;
  readonly appendedAt: number;
}

async function readRecords(
  log: EventLog,
  partition: number,
  from: Offset,
  end: Offset,
  take: (record: StoredRecord) => void,
): Promise<void> {
  for await (const batch of readStoredRecords(log, { ...placeOf(partition), offset: from }, end)) {
    for (let index = 0; index < batch.count; index += 1) {
      const value = Buffer.from(batch.bytes.subarray(batch.valueStarts[index], batch.valueEnds[index]));
      const record = readRecord(value, batch.appendedAt);
      if (record !== undefined) take(record);
    }
    batch.release?.();
  }
}

/**
 * Undefined for what is no record: others may have written to the topic, past this service. The chain continues without
 * it, and the verification names it.
 */
function readRecord(value: Buffer, appendedAt: number): StoredRecord | undefined {
  try {
    const { sequence, metadata } = JSON.parse(value.toString()) as {
      readonly sequence?: unknown;
      readonly metadata?: { readonly eid?: unknown } | null;
    };
    const eid = metadata?.eid;
    const isRecord = typeof sequence === 'number' && Number.isSafeInteger(sequence) && typeof eid === 'string';
    return isRecord ? { sequence, eid, value, appendedAt } : undefined;
  } catch {
    return undefined;
  }
}

function headOf({ sequence, value, appendedAt }: StoredRecord): ChainHead {
  return { sequence, hash: hashOf(value), appendedAt };
}

function hashOf(value: Buffer): string {
  return createHash('sha256').update(value).digest('hex');
}

function placeOf(partition: number): TopicPartition {
  return { topic: auditEventType, partition };
}
