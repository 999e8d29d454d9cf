import type { CleanupPolicy, LogRecord, PartitionRecords } from '../../ports/event-log.ts';
import { recordBytesMaximum } from '../../ports/event-log.ts';
import { LendstreamError } from '../../errors.ts';

/** How a topic gives up old records, see KafkaTopics.cleanupPolicyOf. */
export type CleanupPolicyOf = (topic: string) => Promise<CleanupPolicy>;

/** A character of a key has at most three bytes. */
const bytesPerCharacterMaximum = 3;

/** Framing of one record in a batch, at most, and about what a record costs in memory besides its bytes. */
const recordFramingBytes = 32;

/**
 * What a record takes in a batch or in memory, at most; quickly told, for keys that may be counted three times too
 * long.
 */
export function recordBytesBound({ key, value }: LogRecord): number {
  return bytesPerCharacterMaximum * (key?.length ?? 0) + (value?.length ?? 0) + recordFramingBytes;
}

/**
 * Checks what no broker is to be asked for.
 * @throws RECORD_TOO_LARGE; UNPROCESSABLE for a record without a key on a compacted topic; what `cleanupPolicyOf`
 *   throws, which is asked only when there is a record without a key
 */
export async function checkRecords(
  { topic, partition, records }: PartitionRecords,
  cleanupPolicyOf: CleanupPolicyOf,
): Promise<void> {
  let isAnyWithoutKey = false;
  for (const record of records) {
    if (record.key === null) isAnyWithoutKey = true;
    if (recordBytesBound(record) > recordBytesMaximum && recordBytes(record) > recordBytesMaximum) {
      throw new LendstreamError(
        'RECORD_TOO_LARGE',
        `A record for topic ${topic} has ${recordBytes(record)} bytes; the largest allowed is ${recordBytesMaximum}.`,
        { details: { topic, partition } },
      );
    }
  }
  if (isAnyWithoutKey && (await cleanupPolicyOf(topic)) !== 'delete') {
    throw new LendstreamError('UNPROCESSABLE', `Records of the compacted topic ${topic} need a key.`, {
      details: { topic, partition },
    });
  }
}

/** Bytes of key and value. */
function recordBytes({ key, value }: LogRecord): number {
  return (key === null ? 0 : Buffer.byteLength(key)) + (value?.length ?? 0);
}
