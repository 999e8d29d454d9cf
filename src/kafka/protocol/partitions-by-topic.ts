import type { TopicPartition } from '../../ports/event-log.ts';
import type { WireReader } from './wire.ts';

/** A partition as the key of a map; topic names have no slash. */
export function keyOf({ topic, partition }: TopicPartition): string {
  return `${topic}/${partition}`;
}

/** Groups items by topic, because a request names each topic once, with its partitions. */
export function groupByTopic<Item extends { readonly topic: string }>(items: readonly Item[]): Map<string, Item[]> {
  const topics = new Map<string, Item[]>();
  for (const item of items) {
    const ofTopic = topics.get(item.topic);
    if (ofTopic === undefined) topics.set(item.topic, [item]);
    else ofTopic.push(item);
  }
  return topics;
}

/** Reads the items of every partition, in their order. A response names each topic once too. */
export function readByTopic<Item>(reader: WireReader, readPartition: (topic: string) => Item): Item[] {
  return reader
    .array(() => {
      const topic = reader.string();
      return reader.array(() => readPartition(topic));
    })
    .flat();
}
