import type { Offset, TopicPartition } from '../broker/event-log.ts';
import type { KafkaRequest } from './connections.ts';
import { WireReader, WireWriter } from './wire.ts';

/** One encoded record batch for one partition; a request has at most one for each. */
export interface ProducePart extends TopicPartition {
  readonly bytes: Buffer;
}

export interface ProduceResult extends TopicPartition {
  readonly errorCode: number;
  /** Offset of the batch's first record; -1 beside an error. */
  readonly baseOffset: Offset;
}

/** How long the leader waits for its replicas before it answers with an error. Milliseconds. */
const replicationMilliseconds = 2_000;

/** Answer when all in-sync replicas have the records. */
const allReplicas = -1;

/** What a request, a topic and a partition take besides their names and bytes, at most. */
const framingBytes = 24;

/**
 * Produce, version 7. All parts are led by the broker that is asked; each is stored or refused by itself.
 * @param transactionalId Null outside of transactions.
 */
export function produceRequest(
  parts: readonly ProducePart[],
  transactionalId: string | null,
): KafkaRequest<ProduceResult[]> {
  return {
    name: 'Produce',
    apiKey: 0,
    apiVersion: 7,
    brokerMilliseconds: replicationMilliseconds,
    encode: () => {
      const topics = byTopic(parts);
      let expectedBytes = framingBytes + 3 * (transactionalId?.length ?? 0);
      for (const topic of topics.keys()) expectedBytes += framingBytes + 3 * topic.length;
      for (const { bytes } of parts) expectedBytes += framingBytes + bytes.length;
      const writer = new WireWriter(expectedBytes);
      return writer
        .string(transactionalId)
        .int16(allReplicas)
        .int32(replicationMilliseconds)
        .array([...topics], ([topic, ofTopic]) => {
          writer.string(topic).array(ofTopic, ({ partition, bytes }) => writer.int32(partition).bytes(bytes));
        })
        .take();
    },
    decode: (answer) => {
      const reader = new WireReader(answer);
      return reader
        .array(() => {
          const topic = reader.string();
          return reader.array(() => readResult(reader, topic));
        })
        .flat();
    },
  };
}

function readResult(reader: WireReader, topic: string): ProduceResult {
  const partition = reader.int32();
  const errorCode = reader.int16();
  const baseOffset = reader.int64();
  reader.int64(); // log append time
  reader.int64(); // log start offset
  return { topic, partition, errorCode, baseOffset };
}

function byTopic(parts: readonly ProducePart[]): Map<string, ProducePart[]> {
  const topics = new Map<string, ProducePart[]>();
  for (const part of parts) {
    const ofTopic = topics.get(part.topic);
    if (ofTopic === undefined) topics.set(part.topic, [part]);
    else ofTopic.push(part);
  }
  return topics;
}
