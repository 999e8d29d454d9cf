import type { BoundsOptions, EventLog, Offset, PartitionBounds, TopicPartition } from './event-log.ts';
import { LendstreamError } from '../errors.ts';
import { partitionKey } from './event-type-partition.ts';

/**
 * Where the records of one partition begin and end.
 * @throws INTERNAL when the response of the log lacks the partition, and the errors of the log
 */
export async function boundsOfPartition(
  log: EventLog,
  topicPartition: TopicPartition,
  options?: BoundsOptions,
): Promise<PartitionBounds> {
  const [bounds] = await log.bounds([topicPartition], options);
  return bounds ?? lacking();
}

/** Where the records of one partition end. @throws as {@link boundsOfPartition} */
export async function endOfPartition(
  log: EventLog,
  topicPartition: TopicPartition,
  options?: BoundsOptions,
): Promise<Offset> {
  const [end] = await log.endOffsets([topicPartition], options);
  return end?.latest ?? lacking();
}

function lacking(): never {
  throw new LendstreamError('INTERNAL', 'The response of the log lacks the requested partition.');
}

/** The bounds of each partition under its key. */
export function boundsByPartition(bounds: readonly PartitionBounds[]): Map<string, PartitionBounds> {
  return new Map(bounds.map((bound) => [partitionKey({ eventType: bound.topic, partition: bound.partition }), bound]));
}
