import { FieldViolations, LendstreamError } from '../../errors.ts';
import type { DefaultStatistic } from '../definitions/event-type.ts';

/** Most partitions of an admin's event type, whatever parallelism it asks for. The service's own may have more. */
export const partitionsPerEventTypeMaximum = 8;

/** How many partitions an admin's event type is created with. */
export function partitionCountFor(statistic: DefaultStatistic | null): number {
  if (statistic === null) return 1;
  return Math.min(partitionsPerEventTypeMaximum, Math.max(statistic.read_parallelism, statistic.write_parallelism));
}

/**
 * Checks whether an event type may get a number of partitions. None is ever removed: its events would be lost.
 * @throws UNPROCESSABLE for fewer partitions than now, or more than {@link partitionsPerEventTypeMaximum}
 */
export function checkPartitionCount(current: number, wanted: number): void {
  if (wanted < current) throw new LendstreamError('UNPROCESSABLE', 'Number of partitions can not decrease');
  // A type that has more already, from a time with a higher maximum, keeps them.
  const maximum = Math.max(current, partitionsPerEventTypeMaximum);
  if (wanted > maximum) {
    throw new LendstreamError('UNPROCESSABLE', `Number of partitions should not be more than ${maximum}`);
  }
}

/**
 * The number of partitions that a request asks for.
 * @param value The field `partition_count` as it was sent.
 * @throws FieldViolations when it is absent, MALFORMED_REQUEST when it is no whole number
 */
export function readPartitionCount(value: unknown): number {
  if (value === undefined || value === null) {
    throw new FieldViolations([{ field: 'partition_count', message: 'must not be null' }]);
  }
  if (Number.isSafeInteger(value)) return value as number;
  throw new LendstreamError('MALFORMED_REQUEST', 'Field "partition_count" must be a whole number');
}
