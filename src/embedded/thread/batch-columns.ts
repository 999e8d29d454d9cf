import type { Offset } from '../../ports/event-log.ts';
import type { BatchRow } from '../records/batch-format.ts';

/** The columns of a batch in the table `batch`, in the order of {@link BatchColumns}. */
export const batchColumns = 'base_offset, last_offset, appended_at, record_count, checksum, body';

export type BatchColumns = [
  baseOffset: Offset,
  lastOffset: Offset,
  appendedAt: number,
  count: number,
  checksum: number,
  body: Uint8Array,
];

/** The row of a partition that has these columns. Its body shares their memory. */
export function rowOf(
  partitionId: number,
  [baseOffset, lastOffset, appendedAt, count, checksum, bytes]: BatchColumns,
): BatchRow {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return { partitionId, baseOffset, lastOffset, appendedAt, count, checksum, body };
}
