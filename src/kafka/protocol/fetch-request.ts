import type { Offset, TopicPartition } from '../../ports/event-log.ts';
import type { AbortedTransaction } from './record-batches/aborted-transactions.ts';
import type { KafkaRequest } from './request.ts';
import { ResponseMemory } from './response-memory.ts';
import { WireReader, WireWriter } from './wire.ts';

/** Where to read one partition from. */
export interface FetchPosition {
  readonly offset: Offset;
  /** How much the response may hold of this partition, in whole batches. Bytes. */
  readonly bytesMaximum: number;
}

/** A fetch from one broker: a position for each partition of each topic. */
export type FetchPositions = ReadonlyMap<string, ReadonlyMap<number, FetchPosition>>;

export interface FetchLimits {
  /** How long the broker waits for a first byte; with 0 it responds at once. Milliseconds. */
  readonly waitMilliseconds: number;
  /** How much the response may hold of all partitions together. Bytes. */
  readonly bytesMaximum: number;
}

/** A broker's response for one partition. The offsets are -1 when there is an error. */
export interface FetchedPartition extends TopicPartition {
  readonly errorCode: number;
  /** Below this offset every transaction is decided: committed readers read up to here. */
  readonly lastStableOffset: Offset;
  readonly abortedTransactions: readonly AbortedTransaction[];
  /** Where in the response its record batches are. */
  readonly start: number;
  readonly end: number;
}

export interface FetchResponse {
  /** Concerns the request as a whole. */
  readonly errorCode: number;
  readonly partitions: readonly FetchedPartition[];
  /** Whether there are record batches for any partition. */
  readonly hasRecords: boolean;
  readonly bytes: Buffer;
  /** Where the bytes are, if that memory is used again. The receiver releases it. */
  readonly memory: ResponseMemory | undefined;
}

const noReplica = -1;
const readCommitted = 1;
const noSessionId = 0;
const sessionlessEpoch = -1;
const noLeaderEpoch = -1;
const noLogStart = -1;

/** The broker responds as soon as it has this much. Bytes. */
const bytesMinimum = 1;

const expectedBytesPerPartition = 32;

/**
 * Fetch, version 10: record batches from positions, as committed readers see them, including aborted ones and control
 * batches. For the first partition that has something, the response holds at least one whole batch, however large. For
 * a later one it holds nothing when the next batch does not fit.
 *
 * With the next version, a broker that used to lead a partition continues to respond as its follower, and for a while
 * hides from readers what was appended and acknowledged. To this version it responds that it is not the leader.
 */
export function fetchRequest(positions: FetchPositions, limits: FetchLimits): KafkaRequest<FetchResponse> {
  return {
    name: 'Fetch',
    apiKey: 1,
    apiVersion: 10,
    brokerMilliseconds: limits.waitMilliseconds,
    encode: () => encodeFetch(positions, limits),
    decode: decodeFetch,
  };
}

function encodeFetch(positions: FetchPositions, { waitMilliseconds, bytesMaximum }: FetchLimits): Buffer {
  let expectedBytes = 64;
  for (const [topic, partitions] of positions) {
    expectedBytes += topic.length + expectedBytesPerPartition * (partitions.size + 1);
  }
  const writer = new WireWriter(expectedBytes);
  writer
    .int32(noReplica)
    .int32(waitMilliseconds)
    .int32(bytesMinimum)
    .int32(bytesMaximum)
    .int8(readCommitted)
    .int32(noSessionId)
    .int32(sessionlessEpoch)
    .int32(positions.size);
  for (const [topic, partitions] of positions) {
    writer.string(topic).int32(partitions.size);
    for (const [partition, position] of partitions) {
      writer
        .int32(partition)
        .int32(noLeaderEpoch)
        .int64(position.offset)
        .int64(noLogStart)
        .int32(position.bytesMaximum);
    }
  }
  // Partitions that a session forgets.
  return writer.array([], () => undefined).toBuffer();
}

function decodeFetch(bytes: Buffer): FetchResponse {
  const reader = new WireReader(bytes);
  reader.int32(); // throttle time
  const errorCode = reader.int16();
  reader.int32(); // session
  const partitions: FetchedPartition[] = [];
  for (let topics = reader.int32(); topics > 0; topics -= 1) {
    const topic = reader.string();
    for (let count = reader.int32(); count > 0; count -= 1) partitions.push(decodePartition(reader, topic));
  }
  const hasRecords = partitions.some(({ start, end }) => end > start);
  return { errorCode, partitions, hasRecords, bytes, memory: ResponseMemory.of(bytes) };
}

function decodePartition(reader: WireReader, topic: string): FetchedPartition {
  const partition = reader.int32();
  const errorCode = reader.int16();
  reader.int64(); // high watermark
  const lastStableOffset = reader.int64();
  reader.int64(); // log start
  const abortedTransactions = reader.array(() => ({ producerId: reader.bigInt64(), firstOffset: reader.int64() }));
  const size = Math.max(0, reader.int32());
  const start = reader.position;
  const end = start + size;
  if (end > reader.source.length) throw new RangeError('The response is shorter than its declared length');
  reader.position = end;
  return { topic, partition, errorCode, lastStableOffset, abortedTransactions, start, end };
}
