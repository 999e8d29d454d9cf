import type { TopicPartition, Offset } from '../../ports/event-log.ts';
import type { KafkaRequest } from './request.ts';
import { groupByTopic } from './partitions-by-topic.ts';
import { WireReader, WireWriter } from './wire.ts';

/** DescribeProducers, version 0: which producers lately wrote to the partitions. */
export function describeProducersRequest(partitions: readonly TopicPartition[]): KafkaRequest<DescribedPartition[]> {
  return {
    name: 'DescribeProducers',
    apiKey: 61,
    apiVersion: 0,
    isFlexible: true,
    encode: () => {
      const writer = new WireWriter();
      return writer
        .compactArray([...groupByTopic(partitions)], ([topic, ofTopic]) => {
          writer.compactString(topic);
          writer.compactArray(ofTopic, ({ partition }) => writer.int32(partition)).noTags();
        })
        .noTags()
        .toBuffer();
    },
    decode: (response) => {
      const reader = new WireReader(response);
      reader.int32(); // throttle time
      const topics = reader.compactArray(() => {
        const topic = reader.compactString();
        const described = reader.compactArray(() => readPartition(reader, topic));
        reader.skipTags();
        return described;
      });
      return topics.flat();
    },
  };
}

function readPartition(reader: WireReader, topic: string): DescribedPartition {
  const partition = reader.int32();
  const errorCode = reader.int16();
  reader.compactNullableString(); // error message
  const producers = reader.compactArray(() => {
    const producerId = reader.bigInt64();
    reader.int32(); // epoch
    reader.int32(); // last sequence number
    reader.int64(); // time of the last record
    reader.int32(); // epoch of the coordinator
    const transactionStart = reader.int64();
    reader.skipTags();
    return { producerId, transactionStart };
  });
  reader.skipTags();
  return { topic, partition, errorCode, producers };
}

/** The record that a partition's leader keeps of one producer that lately wrote to it. */
interface ActiveProducer {
  readonly producerId: bigint;
  /** Where its open transaction begins in the partition; -1 when none is open. */
  readonly transactionStart: Offset;
}

export interface DescribedPartition extends TopicPartition {
  readonly errorCode: number;
  readonly producers: readonly ActiveProducer[];
}
