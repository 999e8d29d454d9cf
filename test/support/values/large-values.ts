import { createHash } from 'node:crypto';
import { noValue } from '../../../src/ports/event-log.ts';
import type { EventLog, LogRecord, TopicPartition } from '../../../src/ports/event-log.ts';

/** JSON that compresses well, as the schedule of a long loan does. */
export function schedule(bytes: number): Buffer {
  const rows: string[] = [];
  for (let length = 1; length < bytes; length += (rows.at(-1)?.length ?? 0) + 1) {
    const number = rows.length + 1;
    rows.push(
      `{"number":${number},"state":"PENDING","principal":"${(number * 7_919) % 99_991}.00","interest":"83.33"}`,
    );
  }
  return Buffer.from(`[${rows.join(',')}]`.slice(0, bytes).padEnd(bytes, ']'));
}

/** Key and value of a record, the value by its digest, so that a difference can be shown in a line. */
export interface DigestedRecord {
  readonly key: string | null;
  readonly value: string | null;
}

export function digested({ key, value }: LogRecord): DigestedRecord {
  return { key, value: value === null ? null : digestOf(value) };
}

/** All records of a partition by the digests of their bytes. */
export async function readDigests(log: EventLog, where: TopicPartition, bytesMaximum: number) {
  const [bounds] = await log.bounds([where]);
  const found: DigestedRecord[] = [];
  for (let offset = bounds?.earliest ?? 0; offset < (bounds?.latest ?? 0);) {
    const { batches, nextOffset } = await log.read({ ...where, offset }, { bytesMaximum, waitMilliseconds: 0 });
    for (const batch of batches) {
      const { bytes, valueStarts, valueEnds } = batch;
      for (let index = 0; index < batch.count; index += 1) {
        const start = valueStarts[index] ?? noValue;
        const value = start === noValue ? null : digestOf(bytes.subarray(start, valueEnds[index]));
        found.push({ key: batch.key(index), value });
      }
    }
    offset = nextOffset;
  }
  return found;
}

function digestOf(bytes: Uint8Array): string {
  return `${bytes.length}:${createHash('sha256').update(bytes).digest('base64')}`;
}
