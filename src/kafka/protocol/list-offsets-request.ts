import type { BoundsOptions, TopicPartition, Offset } from '../../ports/event-log.ts';
import type { KafkaRequest } from './request.ts';
import { groupByTopic, readByTopic } from './partitions-by-topic.ts';
import { WireReader, WireWriter } from './wire.ts';

/** Special values in place of a time: the first record that is still stored, and the end. */
export const timestamps = { earliest: -2, latest: -1 } as const;

const isolation = { readUncommitted: 0, readCommitted: 1 } as const;

const noReplica = -1;

/**
 * ListOffsets, version 3: requests one position per partition.
 * @param timestamp Requests the first record appended at that time or later; the offset is -1 where there is none.
 *   Milliseconds since the epoch, or one of {@link timestamps}.
 */
export function listOffsetsRequest(
  partitions: readonly TopicPartition[],
  timestamp: number,
  { includeUncommitted = false }: BoundsOptions,
): KafkaRequest<ListedOffset[]> {
  return {
    name: 'ListOffsets',
    apiKey: 2,
    apiVersion: 3,
    encode: () => {
      const writer = new WireWriter();
      return writer
        .int32(noReplica)
        .int8(includeUncommitted ? isolation.readUncommitted : isolation.readCommitted)
        .array([...groupByTopic(partitions)], ([topic, ofTopic]) =>
          writer.string(topic).array(ofTopic, ({ partition }) => writer.int32(partition).int64(timestamp)),
        )
        .toBuffer();
    },
    decode: (response) => {
      const reader = new WireReader(response);
      reader.int32(); // throttle time
      return readByTopic(reader, (topic) => {
        const partition = reader.int32();
        const errorCode = reader.int16();
        reader.int64(); // timestamp
        return { topic, partition, errorCode, offset: reader.int64() };
      });
    },
  };
}

export interface ListedOffset extends TopicPartition {
  readonly errorCode: number;
  readonly offset: Offset;
}
