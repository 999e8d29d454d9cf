import type { LogRecord, PartitionRecords } from './event-log.ts';
import { PackedPartitionRecords } from './packed-records.ts';

/** The most that any log stores for a record in addition to its key and value. Bytes. */
const framingBytesMaximum = 48;

/** A character of a key has at most three bytes. */
const bytesPerCharacterMaximum = 3;

/** The size that a record counts for in an append: quick to compute, and never less than its stored size. Bytes. */
export function appendBytes({ key, value }: LogRecord): number {
  return bytesPerCharacterMaximum * (key?.length ?? 0) + (value?.length ?? 0) + framingBytesMaximum;
}

/** The same for all records of a request. Packed ones are not unpacked for it. */
export function appendBytesOfAll(request: PartitionRecords): number {
  if (request instanceof PackedPartitionRecords) {
    const { keys, values, valueEnds } = request.packed;
    return keys.length + values.length + framingBytesMaximum * valueEnds.length;
  }
  return request.records.reduce((bytes, record) => bytes + appendBytes(record), 0);
}
