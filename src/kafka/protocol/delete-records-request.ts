import type { Offset, TopicPartition } from '../../ports/event-log.ts';
import type { KafkaRequest } from './request.ts';
import { readByTopic } from './partitions-by-topic.ts';
import { WireReader, WireWriter } from './wire.ts';

/** How long the replicas may take to follow before the broker responds with a timeout. Milliseconds. */
const agreementMilliseconds = 10_000;

/** DeleteRecords, version 1: deletes the records of one partition below an offset. */
export function deleteRecordsRequest(
  { topic, partition }: TopicPartition,
  offset: Offset,
): KafkaRequest<{ readonly errorCode: number }[]> {
  return {
    name: 'DeleteRecords',
    apiKey: 21,
    apiVersion: 1,
    brokerMilliseconds: agreementMilliseconds,
    encode: () =>
      new WireWriter()
        .int32(1)
        .string(topic)
        .int32(1)
        .int32(partition)
        .int64(offset)
        .int32(agreementMilliseconds)
        .toBuffer(),
    decode: (response) => {
      const reader = new WireReader(response);
      reader.int32(); // throttle time
      return readByTopic(reader, () => {
        reader.int32(); // partition
        reader.int64(); // first remaining offset
        return { errorCode: reader.int16() };
      });
    },
  };
}
