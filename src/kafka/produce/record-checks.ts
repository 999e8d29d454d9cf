import type { CleanupPolicy, LogRecord, PartitionRecords } from '../../ports/event-log.ts';
import { recordBytesMaximum } from '../../ports/event-log.ts';
import { LendstreamError } from '../../errors.ts';

/** How a topic drops old records, see KafkaTopics.cleanupPolicyOf. */
export type CleanupPolicyOf = (topic: string) => Promise<CleanupPolicy>;

/** A character of a key has at most three bytes. */
const bytesPerCharacterMaximum = 3;

/** Framing of one record in a batch, at most, and about the memory that a record needs on top of its bytes. Bytes. */
const recordFramingBytes = 32;

/**
 * The size of a record in a batch or in memory, at most. It is quick to compute, because the size of a key may be
 * counted three times too large. Bytes.
 */
export function recordBytesBound({ key, value }: LogRecord): number {
  return bytesPerCharacterMaximum * (key?.length ?? 0) + (value?.length ?? 0) + recordFramingBytes;
}

/**
 * Refuses records that need not be sent to any broker.
 * @throws RECORD_TOO_LARGE; UNPROCESSABLE for a record without a key on a compacted topic; the errors of
 *   `cleanupPolicyOf`, which is called only when there is a record without a key
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
