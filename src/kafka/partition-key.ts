import type { TopicPartition } from '../broker/event-log.ts';

/** A partition as the key of a map; topic names have no slash. */
export function keyOf({ topic, partition }: TopicPartition): string {
  return `${topic}/${partition}`;
}
