import { FieldViolations, LendstreamError } from '../../errors.ts';
import type { DefaultStatistic } from '../definitions/event-type.ts';

/**
 * How many partitions an admin's event type is created with.
 * @param most The most that it may have.
 */
export function partitionCountFor(statistic: DefaultStatistic | null, most: number): number {
  if (statistic === null) return 1;
  return Math.min(most, Math.max(statistic.read_parallelism, statistic.write_parallelism));
}

/** The statistic of an event type that has been given a number of partitions: it says this number. */
export function statisticOf(partitionCount: number, statistic: DefaultStatistic | null): DefaultStatistic {
  const { messages_per_minute, message_size } = statistic ?? { messages_per_minute: 1, message_size: 1 };
  return { messages_per_minute, message_size, read_parallelism: partitionCount, write_parallelism: partitionCount };
}

/**
 * Checks whether an event type may get a number of partitions. None is ever removed: its events would be lost.
 * @param most The most that an event type may have.
 * @throws UNPROCESSABLE for fewer partitions than now, or more than the most
 */
export function checkPartitionCount(current: number, wanted: number, most: number): void {
  if (wanted < current) throw new LendstreamError('UNPROCESSABLE', 'Number of partitions can not decrease');
  // A type that has more already, from a time with a higher maximum, keeps them.
  const maximum = Math.max(current, most);
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
