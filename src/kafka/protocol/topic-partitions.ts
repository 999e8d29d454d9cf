import type { TopicPartition } from '../../ports/event-log.ts';
import type { WireReader } from './wire.ts';

/** A partition as the key of a map; topic names have no slash. */
export function keyOf({ topic, partition }: TopicPartition): string {
  return `${topic}/${partition}`;
}

/** Requests name each topic once, with what they say of its partitions. */
export function byTopic<Item extends { readonly topic: string }>(items: readonly Item[]): Map<string, Item[]> {
  const topics = new Map<string, Item[]>();
  for (const item of items) {
    const ofTopic = topics.get(item.topic);
    if (ofTopic === undefined) topics.set(item.topic, [item]);
    else ofTopic.push(item);
  }
  return topics;
}

/** Answers name each topic once too: reads what they say of every partition, in their order. */
export function readByTopic<Item>(reader: WireReader, readPartition: (topic: string) => Item): Item[] {
  return reader
    .array(() => {
      const topic = reader.string();
      return reader.array(() => readPartition(topic));
    })
    .flat();
}
