import type { EventLog, PartitionBounds, TopicPartition } from '../../ports/event-log.ts';
import { LendstreamError } from '../../errors.ts';

/**
 * Where the records of one partition begin and end.
 * @throws INTERNAL when the response of the log lacks the partition, and the errors of the log
 */
export async function boundsOfPartition(log: EventLog, topicPartition: TopicPartition): Promise<PartitionBounds> {
  const [bounds] = await log.bounds([topicPartition]);
  if (bounds === undefined)
    throw new LendstreamError('INTERNAL', 'The response of the log lacks the requested partition.');
  return bounds;
}
