import type { Offset, TopicPartition } from '../../ports/event-log.ts';
import type { KafkaRequest } from './request.ts';
import { groupByTopic, readByTopic } from './partitions-by-topic.ts';
import { WireReader, WireWriter } from './wire.ts';

/** One encoded record batch for one partition; a request has at most one for each. */
export interface ProducePart extends TopicPartition {
  readonly bytes: Buffer;
}

export interface ProduceResult extends TopicPartition {
  readonly errorCode: number;
  /** Offset of the batch's first record; -1 when there is an error. */
  readonly baseOffset: Offset;
}

/** How long the leader waits for its replicas before it responds with an error. Milliseconds. */
const replicationMilliseconds = 2_000;

/** The broker responds when all in-sync replicas have the records. */
const allReplicas = -1;

/**
 * Produce, version 7. The broker that receives it has to lead all parts. Each part is stored or refused separately.
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
    isThrottleLast: true,
    encode: () => {
      const topics = groupByTopic(parts);
      const pieces: Buffer[] = [];
      let writer = new WireWriter().string(transactionalId).int16(allReplicas).int32(replicationMilliseconds);
      writer.int32(topics.size);
      for (const [topic, ofTopic] of topics) {
        writer.string(topic).int32(ofTopic.length);
        for (const { partition, bytes } of ofTopic) {
          // The batch itself is not copied.
          pieces.push(writer.int32(partition).int32(bytes.length).toBuffer(), bytes);
          writer = new WireWriter();
        }
      }
      return pieces;
    },
    decode: (response) => {
      const reader = new WireReader(response);
      return readByTopic(reader, (topic) => readResult(reader, topic));
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
