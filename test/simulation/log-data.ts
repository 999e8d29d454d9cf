import { LendstreamError } from '../../src/errors.ts';
import {
  noValue,
  recordBytesMaximum,
  type LogRecord,
  type Offset,
  type PartitionBounds,
  type ReadResult,
  type RecordBatch,
  type TopicAlteration,
  type TopicConfiguration,
  type TopicPartition,
} from '../../src/ports/event-log.ts';
import { keyTexts, packRecords, valueStartOf } from '../../src/ports/packed-records.ts';

/** The content of a log: topics, their records, exported positions. It outlives the processes that use it. */

interface StoredPartition {
  /** Ascending. Offsets between two batches are gaps. */
  batches: RecordBatch[];
  earliest: Offset;
  latest: Offset;
  /** Called at the next change of the partition. */
  wakers: Set<() => void>;
}

interface StoredTopic {
  configuration: TopicConfiguration;
  readonly partitions: StoredPartition[];
}

/** The topics of a simulated log. Every method takes effect immediately. */
export class LogData {
  /** Called after each append. */
  onAppended: ((where: TopicPartition, records: readonly LogRecord[]) => void) | undefined;
  readonly #topics = new Map<string, StoredTopic>();
  readonly #groups = new Map<string, Map<string, TopicPartition & { readonly offset: Offset }>>();
  readonly #writerEpochs = new Map<string, number>();

  createTopic(configuration: TopicConfiguration): void {
    const { name, partitionCount } = configuration;
    if (this.#topics.has(name)) throw new LendstreamError('TOPIC_ALREADY_EXISTS', `${name} exists.`);
    this.#topics.set(name, { configuration, partitions: Array.from({ length: partitionCount }, newPartition) });
  }

  alterTopic(name: string, alteration: TopicAlteration): void {
    const topic = this.#topic(name);
    const { partitionCount = topic.partitions.length } = alteration;
    if (partitionCount < topic.partitions.length) throw new LendstreamError('UNPROCESSABLE', `${name} cannot shrink.`);
    while (topic.partitions.length < partitionCount) topic.partitions.push(newPartition());
    const { compactionLagMilliseconds = Infinity, ...configuration } = { ...topic.configuration, ...alteration };
    // Infinity removes the limit.
    const limit = compactionLagMilliseconds === Infinity ? {} : { compactionLagMilliseconds };
    topic.configuration = { ...configuration, ...limit };
  }

  deleteTopic(name: string): void {
    const { partitions } = this.#topic(name);
    this.#topics.delete(name);
    for (const partition of partitions) wake(partition);
  }

  listTopics(names?: readonly string[]): TopicConfiguration[] {
    const all = [...this.#topics.values()].map(({ configuration }) => configuration);
    return names === undefined ? all : all.filter(({ name }) => names.includes(name));
  }

  bounds({ topic, partition }: TopicPartition): PartitionBounds {
    const { earliest, latest } = this.#partition(topic, partition);
    return { topic, partition, earliest, latest };
  }

  /** The first offset whose record was appended at a time or later; the end when there is none. */
  offsetAt({ topic, partition }: TopicPartition, time: number): TopicPartition & { readonly offset: Offset } {
    const { batches, earliest, latest } = this.#partition(topic, partition);
    const first = batches.find((batch) => batch.appendedAt >= time)?.offsets[0] ?? latest;
    return { topic, partition, offset: Math.max(first, earliest) };
  }

  /** @param now The time of the append, in milliseconds since the epoch. @returns the offset of the first record */
  append({ topic, partition }: TopicPartition, records: readonly LogRecord[], now: number): Offset {
    const stored = this.checkAppend({ topic, partition }, records);
    const baseOffset = stored.latest;
    if (records.length > 0) stored.batches.push(batchOf({ topic, partition }, records, baseOffset, now));
    stored.latest += records.length;
    this.onAppended?.({ topic, partition }, records);
    wake(stored);
    return baseOffset;
  }

  /** @throws the error of an append of these records */
  checkAppend({ topic, partition }: TopicPartition, records: readonly LogRecord[]): StoredPartition {
    const stored = this.#partition(topic, partition);
    const isCompacted = this.#topic(topic).configuration.cleanupPolicy !== 'delete';
    for (const { key, value } of records) {
      if (Buffer.byteLength(key ?? '') + (value?.length ?? 0) > recordBytesMaximum) {
        throw new LendstreamError('RECORD_TOO_LARGE', 'The record is too large.');
      }
      if (isCompacted && key === null) throw new LendstreamError('UNPROCESSABLE', 'The record has no key.');
    }
    return stored;
  }

  /** Uses offsets without records, as the end of a transaction does. */
  addHole({ topic, partition }: TopicPartition, offsets: number): void {
    const stored = this.#partition(topic, partition);
    stored.latest += offsets;
    wake(stored);
  }

  /**
   * Removes records that were appended before a time, oldest first, up to an offset.
   * @param time Milliseconds since the epoch.
   */
  deleteRecords({ topic, partition }: TopicPartition, before: Offset, time: number): void {
    const stored = this.#partition(topic, partition);
    let earliest = stored.earliest;
    for (const batch of stored.batches) {
      if (batch.appendedAt >= time) break;
      earliest = (batch.offsets[batch.count - 1] ?? 0) + 1;
    }
    const last = stored.batches.at(-1);
    if (last === undefined || last.appendedAt < time) earliest = stored.latest;
    stored.earliest = Math.max(stored.earliest, Math.min(before, earliest));
    stored.batches = stored.batches.flatMap((batch) => sliceFrom(batch, stored.earliest));
    wake(stored);
  }

  /**
   * The records from an offset on; undefined when there are none yet.
   * @throws OFFSET_OUT_OF_RANGE, UNKNOWN_TOPIC_OR_PARTITION
   */
  read({ topic, partition }: TopicPartition, offset: Offset, bytesMaximum: number): ReadResult | undefined {
    const { batches, earliest, latest } = this.#partition(topic, partition);
    if (offset < earliest || offset > latest) {
      const details = { topic, partition, earliest, latest };
      throw new LendstreamError('OFFSET_OUT_OF_RANGE', `Held are ${earliest} to ${latest}.`, { details });
    }
    if (offset === latest) return undefined;
    const result: RecordBatch[] = [];
    let bytes = 0;
    for (const batch of batches) {
      const lastOffset = batch.offsets[batch.count - 1] ?? 0;
      if (lastOffset < offset) continue;
      if (bytes >= bytesMaximum) return { batches: result, nextOffset: batch.offsets[0] ?? offset };
      result.push(...sliceFrom(batch, offset));
      bytes += batch.bytes.length;
    }
    return { batches: result, nextOffset: latest };
  }

  /** Calls back once, at the next change of the partition, unless the returned function is called before. */
  onChange({ topic, partition }: TopicPartition, callback: () => void): () => void {
    const { wakers } = this.#partition(topic, partition);
    wakers.add(callback);
    return () => wakers.delete(callback);
  }

  /** Fences off all earlier writers of this id. */
  openWriter(writerId: string): number {
    const epoch = this.writerEpoch(writerId) + 1;
    this.#writerEpochs.set(writerId, epoch);
    return epoch;
  }

  writerEpoch(writerId: string): number {
    return this.#writerEpochs.get(writerId) ?? 0;
  }

  exportGroupOffsets(group: string, positions: readonly (TopicPartition & { readonly offset: Offset })[]): void {
    const stored = this.#groups.get(group) ?? new Map<string, TopicPartition & { readonly offset: Offset }>();
    this.#groups.set(group, stored);
    for (const position of positions) stored.set(`${position.topic}:${position.partition}`, position);
  }

  groupOffsets(group: string): (TopicPartition & { readonly offset: Offset })[] {
    return [...(this.#groups.get(group)?.values() ?? [])];
  }

  #topic(name: string): StoredTopic {
    const topic = this.#topics.get(name);
    if (topic === undefined) throw new LendstreamError('UNKNOWN_TOPIC_OR_PARTITION', `There is no topic ${name}.`);
    return topic;
  }

  #partition(name: string, number: number): StoredPartition {
    const partition = this.#topic(name).partitions[number];
    if (partition === undefined) {
      throw new LendstreamError('UNKNOWN_TOPIC_OR_PARTITION', `There is no partition ${number} of ${name}.`);
    }
    return partition;
  }
}

function newPartition(): StoredPartition {
  return { batches: [], earliest: 0, latest: 0, wakers: new Set() };
}

function wake(partition: StoredPartition): void {
  const { wakers } = partition;
  partition.wakers = new Set();
  for (const waker of wakers) waker();
}

function batchOf(
  { topic, partition }: TopicPartition,
  records: readonly LogRecord[],
  baseOffset: Offset,
  appendedAt: number,
): RecordBatch {
  const packed = packRecords(records);
  const keys = keyTexts(packed);
  const { values, valueEnds } = packed;
  return {
    topic,
    partition,
    count: records.length,
    appendedAt,
    bytes: values,
    offsets: Float64Array.from(keys, (_, index) => baseOffset + index),
    valueStarts: Uint32Array.from(valueEnds, (end, index) => (end === noValue ? noValue : valueStartOf(packed, index))),
    valueEnds,
    contiguous: !valueEnds.includes(noValue),
    key: (index) => keys[index] ?? null,
  };
}

/** The records of a batch at or above an offset: the batch itself, a part of it, or nothing. */
function sliceFrom(batch: RecordBatch, offset: Offset): RecordBatch[] {
  let first = 0;
  while (first < batch.count && (batch.offsets[first] ?? 0) < offset) first += 1;
  if (first === 0) return [batch];
  if (first === batch.count) return [];
  return [
    {
      ...batch,
      count: batch.count - first,
      offsets: batch.offsets.subarray(first),
      valueStarts: batch.valueStarts.subarray(first),
      valueEnds: batch.valueEnds.subarray(first),
      key: (index) => batch.key(first + index),
    },
  ];
}
