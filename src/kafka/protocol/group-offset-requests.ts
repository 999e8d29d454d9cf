import type { TopicPartition, Offset } from '../../ports/event-log.ts';
import type { KafkaRequest } from './request.ts';
import { protocolError } from './error-codes.ts';
import { groupByTopic, readByTopic } from './partitions-by-topic.ts';
import { WireReader, WireWriter } from './wire.ts';

/** A commit from outside the group names no member and no generation. */
const noGeneration = -1;

const noMember = '';

/** OffsetCommit, version 5. */
export function offsetCommitRequest(
  group: string,
  positions: readonly Position[],
): KafkaRequest<WithErrorCode<TopicPartition>[]> {
  return {
    name: 'OffsetCommit',
    apiKey: 8,
    apiVersion: 5,
    encode: () => {
      const writer = new WireWriter();
      return writer
        .string(group)
        .int32(noGeneration)
        .string(noMember)
        .array([...groupByTopic(positions)], ([topic, ofTopic]) =>
          writer
            .string(topic)
            .array(ofTopic, ({ partition, offset }) => writer.int32(partition).int64(offset).string(null)),
        )
        .toBuffer();
    },
    decode: (response) => {
      const reader = new WireReader(response);
      reader.int32(); // throttle time
      return readByTopic(reader, (topic) => ({ topic, partition: reader.int32(), errorCode: reader.int16() }));
    },
  };
}

/** OffsetFetch, version 3: every position of the group. */
export function offsetFetchRequest(group: string): KafkaRequest<WithErrorCode<Position>[]> {
  return {
    name: 'OffsetFetch',
    apiKey: 9,
    apiVersion: 3,
    encode: () =>
      new WireWriter()
        .string(group)
        .array(null, () => {})
        .toBuffer(),
    decode: (response) => {
      const reader = new WireReader(response);
      reader.int32(); // throttle time
      const positions = readByTopic(reader, (topic) => {
        const partition = reader.int32();
        const offset = reader.int64();
        reader.nullableString(); // metadata
        return { topic, partition, offset, errorCode: reader.int16() };
      });
      const errorCode = reader.int16();
      return errorCode === protocolError.none ? positions : [{ topic: '', partition: 0, offset: 0, errorCode }];
    },
  };
}

/** The position of a group in a partition. */
export type Position = TopicPartition & { readonly offset: Offset };

/** The outcome for one partition. */
export type WithErrorCode<Item> = Item & { readonly errorCode: number };
