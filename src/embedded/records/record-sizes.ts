import { noValue, recordBytesMaximum } from '../../ports/event-log.ts';
import type { PackedRecords } from '../../ports/packed-records.ts';

/** The size of the keys and values of records, with what separates them. Bytes. */
export function contentBytes({ keys, values }: PackedRecords): number {
  return keys.length + values.length;
}

/**
 * The size of the first record that is larger than allowed, in bytes of key plus value. Undefined when there is none.
 */
export function oversizedRecordBytes(records: PackedRecords): number | undefined {
  // Most requests have fewer bytes in all.
  if (contentBytes(records) <= recordBytesMaximum) return undefined;
  let valueStart = 0;
  let keyStart = 0;
  for (const [index, valueEnd] of records.valueEnds.entries()) {
    const keyEnd = records.keyEnds[index] as number;
    const valueBytes = valueEnd === noValue ? 0 : valueEnd - valueStart;
    const keyBytes = keyEnd === noValue ? 0 : keyEnd - keyStart;
    if (valueEnd !== noValue) valueStart = valueEnd + 1;
    if (keyEnd !== noValue) keyStart = keyEnd;
    if (valueBytes + keyBytes > recordBytesMaximum) return valueBytes + keyBytes;
  }
  return undefined;
}
