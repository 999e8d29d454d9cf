import {
  type CleanupPolicy,
  type LogRecord,
  type PartitionRecords,
  recordBytesMaximum,
} from '../../ports/event-log.ts';
import { LendstreamError } from '../../errors.ts';
import { recordBytesBound } from '../protocol/record-batches/record-sizes.ts';

/** How a topic drops old records, see KafkaTopics.cleanupPolicyOf. */
export type CleanupPolicyOf = (topic: string) => Promise<CleanupPolicy>;

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
