import { LendstreamError } from '../errors.ts';
import type { TopicPartition } from '../ports/event-log.ts';

/** The error for a partition that does not exist (UNKNOWN_TOPIC_OR_PARTITION). */
export function unknownPartition({ topic, partition }: TopicPartition): LendstreamError {
  return new LendstreamError('UNKNOWN_TOPIC_OR_PARTITION', `There is no partition ${partition} of topic ${topic}.`, {
    details: { topic, partition },
  });
}

/** The error for a topic that does not exist (UNKNOWN_TOPIC_OR_PARTITION). */
export function unknownTopic(topic: string): LendstreamError {
  return new LendstreamError('UNKNOWN_TOPIC_OR_PARTITION', `There is no topic ${topic}.`, { details: { topic } });
}
