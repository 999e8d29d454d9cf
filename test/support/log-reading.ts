import { noValue } from '../../src/ports/event-log.ts';
import type {
  EventLog,
  LogRecord,
  Offset,
  ReadOptions,
  RecordBatch,
  TopicPartition,
} from '../../src/ports/event-log.ts';

/** A record in the form that tests compare. */
export interface ReadRecord {
  readonly offset: Offset;
  readonly key: string | null;
  readonly value: string | null;
}

/** Records without keys, one for each text. */
export function records(...values: readonly string[]): LogRecord[] {
  return values.map((value) => ({ key: null, value: Buffer.from(value) }));
}

/** A record with a key; a null value is a tombstone. */
export function keyed(key: string, value: string | null): LogRecord {
  return { key, value: value === null ? null : Buffer.from(value) };
}

/** Unpacks a batch with an object for each record. */
export function recordsOf(batch: RecordBatch): ReadRecord[] {
  return Array.from({ length: batch.count }, (_, index) => {
    const start = batch.valueStarts[index] as number;
    return {
      offset: batch.offsets[index] as number,
      key: batch.key(index),
      value: start === noValue ? null : batch.bytes.toString('utf8', start, batch.valueEnds[index]),
    };
  });
}

/** All records from a position (default: the earliest) to the end at the time of the call. */
export async function readAll(
  log: EventLog,
  { topic, partition }: TopicPartition,
  from?: Offset,
  bytesMaximum = 64 * 1024,
): Promise<ReadRecord[]> {
  const [bounds] = await log.bounds([{ topic, partition }]);
  const options = { bytesMaximum, waitMilliseconds: 0 };
  return readUpTo(log, { topic, partition, offset: from ?? bounds?.earliest ?? 0 }, bounds?.latest ?? 0, options);
}

/** All records that were acknowledged before the call: it waits for those that readers do not see yet. */
export async function readAllWritten(log: EventLog, { topic, partition }: TopicPartition): Promise<ReadRecord[]> {
  const [bounds] = await log.bounds([{ topic, partition }], { includeUncommitted: true });
  const options = { bytesMaximum: 64 * 1024, waitMilliseconds: 5_000 };
  return readUpTo(log, { topic, partition, offset: bounds?.earliest ?? 0 }, bounds?.latest ?? 0, options);
}

async function readUpTo(
  log: EventLog,
  { topic, partition, offset: from }: TopicPartition & { readonly offset: Offset },
  end: Offset,
  options: ReadOptions,
): Promise<ReadRecord[]> {
  const found: ReadRecord[] = [];
  let offset = from;
  while (offset < end) {
    const result = await log.read({ topic, partition, offset }, options);
    for (const batch of result.batches) for (const record of recordsOf(batch)) found.push(record);
    if (result.nextOffset <= offset) throw new Error(`The read from ${offset} did not move on`);
    offset = result.nextOffset;
  }
  return found;
}

/** The first `count` records from a position, waiting for them if necessary. */
export async function readCount(
  log: EventLog,
  { topic, partition }: TopicPartition,
  count: number,
  from: Offset = 0,
): Promise<ReadRecord[]> {
  const found: ReadRecord[] = [];
  let offset = from;
  while (found.length < count) {
    const { batches, nextOffset } = await log.read(
      { topic, partition, offset },
      { bytesMaximum: 64 * 1024, waitMilliseconds: Infinity },
    );
    for (const batch of batches) for (const record of recordsOf(batch)) found.push(record);
    offset = nextOffset;
  }
  return found;
}

/** Appends to one partition and returns the base offset, or throws the error of the log. */
export async function appendTo(
  log: EventLog,
  { topic, partition }: TopicPartition,
  appended: readonly LogRecord[],
): Promise<Offset> {
  const [result] = await log.append([{ topic, partition, records: appended }]);
  if (result?.outcome !== 'appended') throw result?.error ?? new Error('The log answered nothing');
  return result.baseOffset;
}

/** The code of the error with which a promise fails; null when it succeeds. */
export async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
    return null;
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error;
  }
}
