import type { KafkaRequest } from './request.ts';
import { WireReader, WireWriter } from './wire.ts';

export interface BrokerNode {
  readonly nodeId: number;
  readonly host: string;
  readonly port: number;
}

export interface PartitionMetadata {
  readonly errorCode: number;
  readonly partition: number;
  /** -1 while there is none. */
  readonly leader: number;
}

export interface TopicMetadata {
  readonly errorCode: number;
  readonly name: string;
  readonly isInternal: boolean;
  readonly partitions: readonly PartitionMetadata[];
}

export interface MetadataResponse {
  readonly clusterId: string | null;
  readonly brokers: readonly BrokerNode[];
  readonly topics: readonly TopicMetadata[];
}

/** Metadata, version 5: the brokers, and the leaders of the named topics, or of all topics when null. */
export function metadataRequest(topics: readonly string[] | null): KafkaRequest<MetadataResponse> {
  return {
    name: 'Metadata',
    apiKey: 3,
    apiVersion: 5,
    encode: () => {
      const writer = new WireWriter();
      return writer
        .array(topics, (topic) => writer.string(topic))
        .boolean(false)
        .toBuffer();
    },
    decode: (response) => {
      const reader = new WireReader(response);
      reader.int32(); // throttle time
      const brokers = reader.array(() => {
        const broker = { nodeId: reader.int32(), host: reader.string(), port: reader.int32() };
        reader.nullableString(); // rack
        return broker;
      });
      const clusterId = reader.nullableString();
      reader.int32(); // controller
      const topicList = reader.array(() => ({
        errorCode: reader.int16(),
        name: reader.string(),
        isInternal: reader.boolean(),
        partitions: reader.array(() => readPartition(reader)),
      }));
      return { clusterId, brokers, topics: topicList };
    },
  };
}

function readPartition(reader: WireReader): PartitionMetadata {
  const partition = { errorCode: reader.int16(), partition: reader.int32(), leader: reader.int32() };
  // Replicas, in-sync replicas, offline replicas: no decision here depends on them.
  for (let list = 0; list < 3; list += 1) reader.array(() => reader.int32());
  return partition;
}
