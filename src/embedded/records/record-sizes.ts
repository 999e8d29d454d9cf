import { noValue, recordBytesMaximum } from '../../ports/event-log.ts';
import type { PackedRecords } from '../../ports/packed-records.ts';

/** The approximate size of records in bytes, for queues and rows: each character of a key counts as one byte. */
export function approximateBytes({ keys, values }: PackedRecords): number {
  let bytes = values.length;
  for (const key of keys) if (key !== null) bytes += key.length;
  return bytes;
}

/**
 * The size of the first record that is larger than allowed, in bytes of key plus value. Undefined when there is none.
 */
export function oversizedRecordBytes(records: PackedRecords): number | undefined {
  // A character of a key takes at most three bytes, so most requests need no exact count.
  if (3 * approximateBytes(records) <= recordBytesMaximum) return undefined;
  let valueStart = 0;
  for (const [index, key] of records.keys.entries()) {
    const valueEnd = records.valueEnds[index] as number;
    const valueBytes = valueEnd === noValue ? 0 : valueEnd - valueStart;
    if (valueEnd !== noValue) valueStart = valueEnd + 1;
    const bytes = valueBytes + (key === null ? 0 : Buffer.byteLength(key));
    if (bytes > recordBytesMaximum) return bytes;
  }
  return undefined;
}
