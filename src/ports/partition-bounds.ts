import type { BoundsOptions, EventLog, PartitionBounds, TopicPartition } from './event-log.ts';
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
  if (bounds === undefined)
    throw new LendstreamError('INTERNAL', 'The response of the log lacks the requested partition.');
  return bounds;
}

/** The bounds of each partition under its key. */
export function boundsByPartition(bounds: readonly PartitionBounds[]): Map<string, PartitionBounds> {
  return new Map(bounds.map((bound) => [partitionKey({ eventType: bound.topic, partition: bound.partition }), bound]));
}
