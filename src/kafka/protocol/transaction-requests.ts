import type { TopicPartition } from '../../ports/event-log.ts';
import type { KafkaRequest } from './request.ts';
import { protocolError } from './error-codes.ts';
import { groupByTopic, readByTopic } from './partitions-by-topic.ts';
import { WireReader, WireWriter } from './wire.ts';

/** A producer, as the brokers know it. An epoch fences off the earlier ones of the same producer id. */
export interface ProducerIdentity {
  readonly producerId: bigint;
  readonly producerEpoch: number;
}

export interface InitProducerIdResponse extends ProducerIdentity {
  readonly errorCode: number;
}

/**
 * InitProducerId, version 1. With a transactional id it fences off the id's earlier producers and aborts their open
 * transaction. Without one it just gives out a new producer id.
 */
export function initProducerIdRequest(
  transactionalId: string | null,
  transactionMilliseconds: number,
): KafkaRequest<InitProducerIdResponse> {
  return {
    name: 'InitProducerId',
    apiKey: 22,
    apiVersion: 1,
    encode: () => new WireWriter().string(transactionalId).int32(transactionMilliseconds).toBuffer(),
    decode: (response) => {
      const reader = new WireReader(response);
      reader.int32(); // throttle time
      return { errorCode: reader.int16(), producerId: reader.bigInt64(), producerEpoch: reader.int16() };
    },
  };
}

/**
 * AddPartitionsToTxn, version 1: the next records of these partitions belong to the transaction, which begins if none
 * is open.
 */
export function addPartitionsRequest(
  transactionalId: string,
  { producerId, producerEpoch }: ProducerIdentity,
  partitions: readonly TopicPartition[],
): KafkaRequest<(TopicPartition & { readonly errorCode: number })[]> {
  return {
    name: 'AddPartitionsToTxn',
    apiKey: 24,
    apiVersion: 1,
    encode: () => {
      const writer = new WireWriter();
      return writer
        .string(transactionalId)
        .bigInt64(producerId)
        .int16(producerEpoch)
        .array([...groupByTopic(partitions)], ([topic, ofTopic]) => {
          writer.string(topic).array(ofTopic, ({ partition }) => writer.int32(partition));
        })
        .toBuffer();
    },
    decode: (response) => {
      const reader = new WireReader(response);
      reader.int32(); // throttle time
      return readByTopic(reader, (topic) => ({ topic, partition: reader.int32(), errorCode: reader.int16() }));
    },
  };
}

/** EndTxn, version 1: commits or aborts the open transaction. The response is the error code. */
export function endTransactionRequest(
  transactionalId: string,
  { producerId, producerEpoch }: ProducerIdentity,
  isCommit: boolean,
): KafkaRequest<number> {
  return {
    name: 'EndTxn',
    apiKey: 26,
    apiVersion: 1,
    encode: () =>
      new WireWriter().string(transactionalId).bigInt64(producerId).int16(producerEpoch).boolean(isCommit).toBuffer(),
    decode: (response) => {
      const reader = new WireReader(response);
      reader.int32(); // throttle time
      return reader.int16();
    },
  };
}

/** The state of the last transaction of a transactional id, as its coordinator knows it. */
export interface DescribedTransaction {
  readonly errorCode: number;
  /** `Empty`: none since the id was opened, `Ongoing`, `PrepareCommit`, `CompleteAbort` and so on. */
  readonly state: string;
}

/** DescribeTransactions, version 0, of one transactional id. */
export function describeTransactionRequest(transactionalId: string): KafkaRequest<DescribedTransaction> {
  return {
    name: 'DescribeTransactions',
    apiKey: 65,
    apiVersion: 0,
    isFlexible: true,
    encode: () => {
      const writer = new WireWriter();
      return writer
        .compactArray([transactionalId], (id) => writer.compactString(id))
        .noTags()
        .toBuffer();
    },
    decode: (response) => {
      const reader = new WireReader(response);
      reader.int32(); // throttle time
      const [described] = reader.compactArray(() => {
        const errorCode = reader.int16();
        reader.compactString(); // transactional id
        const state = reader.compactString();
        reader.int32(); // timeout
        reader.int64(); // when it began
        reader.bigInt64(); // producer id
        reader.int16(); // its epoch
        reader.compactArray(() => {
          reader.compactString(); // topic
          reader.compactArray(() => reader.int32());
          reader.skipTags();
        });
        reader.skipTags();
        return { errorCode, state };
      });
      return described ?? { errorCode: protocolError.unknownServerError, state: '' };
    },
  };
}
