import type {
  AppendResult,
  BoundsOptions,
  EventLog,
  FencedWriter,
  Offset,
  PartitionBounds,
  PartitionEnd,
  PartitionRecords,
  ReadOptions,
  ReadResult,
  RecordBatch,
  TopicAlteration,
  TopicConfiguration,
  TopicPartition,
} from '../../src/ports/event-log.ts';

type Position = TopicPartition & { readonly offset: Offset };

/**
 * A part of a shared log for one test: the topic `orders` of the test is `<namespace>.orders` in the log. Groups and
 * writers are distinguished in the same way.
 */
export class NamespacedLog implements EventLog {
  readonly #log: EventLog;
  readonly #prefix: string;
  readonly #createdTopics: Set<string>;

  /** @param createdTopics Gets the shared names of the topics that are created here, as long as they exist. */
  constructor(log: EventLog, namespace: string, createdTopics = new Set<string>()) {
    this.#log = log;
    this.#prefix = `${namespace}.`;
    this.#createdTopics = createdTopics;
  }

  /** The name in the shared log of a topic of this part. */
  sharedName(topic: string): string {
    return this.#prefix + topic;
  }

  async createTopic(configuration: TopicConfiguration): Promise<void> {
    const name = this.sharedName(configuration.name);
    await this.#log.createTopic({ ...configuration, name });
    this.#createdTopics.add(name);
  }

  alterTopic(name: string, alteration: TopicAlteration): Promise<void> {
    return this.#log.alterTopic(this.sharedName(name), alteration);
  }

  async deleteTopic(name: string): Promise<void> {
    await this.#log.deleteTopic(this.sharedName(name));
    this.#createdTopics.delete(this.sharedName(name));
  }

  async listTopics(names?: readonly string[]): Promise<TopicConfiguration[]> {
    return (await this.#log.listTopics(names?.map((name) => this.sharedName(name))))
      .filter(({ name }) => name.startsWith(this.#prefix))
      .map((topic) => ({ ...topic, name: topic.name.slice(this.#prefix.length) }));
  }

  async bounds(partitions: readonly TopicPartition[], options?: BoundsOptions): Promise<PartitionBounds[]> {
    const prefixed = partitions.map((partition) => this.#prefixed(partition));
    return (await this.#log.bounds(prefixed, options)).map((partition) => this.#unprefixed(partition));
  }

  async endOffsets(partitions: readonly TopicPartition[], options?: BoundsOptions): Promise<PartitionEnd[]> {
    const prefixed = partitions.map((partition) => this.#prefixed(partition));
    return (await this.#log.endOffsets(prefixed, options)).map((partition) => this.#unprefixed(partition));
  }

  async offsetsAt(partitions: readonly TopicPartition[], time: number): Promise<Position[]> {
    const prefixed = partitions.map((partition) => this.#prefixed(partition));
    return (await this.#log.offsetsAt(prefixed, time)).map((position) => this.#unprefixed(position));
  }

  async append(partitions: readonly PartitionRecords[]): Promise<AppendResult[]> {
    return (await this.#log.append(this.#prefixedRecords(partitions))).map((result) => this.#unprefixed(result));
  }

  deleteRecords(before: Position, appendedBefore: number): Promise<void> {
    return this.#log.deleteRecords(this.#prefixed(before), appendedBefore);
  }

  async read(from: Position, options: ReadOptions): Promise<ReadResult> {
    const { batches, nextOffset } = await this.#log.read(this.#prefixed(from), options);
    return { batches: batches.map((batch) => this.#unprefixedBatch(batch)), nextOffset };
  }

  async openWriter(writerId: string, partitions: readonly TopicPartition[] = []): Promise<FencedWriter> {
    const prefixed = partitions.map((partition) => this.#prefixed(partition));
    const writer = await this.#log.openWriter(this.#prefix + writerId, prefixed);
    return {
      writerId,
      append: (partitions) => writer.append(this.#prefixedRecords(partitions)),
      commit: async () => (await writer.commit()).map((committed) => this.#unprefixed(committed)),
      abort: () => writer.abort(),
      close: () => writer.close(),
    };
  }

  exportGroupOffsets(group: string, positions: readonly Position[]): Promise<void> {
    return this.#log.exportGroupOffsets(
      this.#prefix + group,
      positions.map((position) => this.#prefixed(position)),
    );
  }

  async groupOffsets(group: string): Promise<Position[]> {
    return (await this.#log.groupOffsets(this.#prefix + group)).map((position) => this.#unprefixed(position));
  }

  close(): Promise<void> {
    return this.#log.close();
  }

  #prefixed<Partition extends TopicPartition>(partition: Partition): Partition {
    return { ...partition, topic: this.sharedName(partition.topic) };
  }

  /** By name, because packed records are made only when they are requested. */
  #prefixedRecords(partitions: readonly PartitionRecords[]): PartitionRecords[] {
    return partitions.map(({ topic, partition, records }) => ({ topic: this.sharedName(topic), partition, records }));
  }

  /** By name, because the lists of a batch may be made only when they are read. */
  #unprefixedBatch(batch: RecordBatch): RecordBatch {
    const { topic, partition, count, appendedAt, bytes, positions, contiguous, external, release } = batch;
    return {
      topic: topic.slice(this.#prefix.length),
      partition,
      count,
      appendedAt,
      bytes,
      get offsets() {
        return batch.offsets;
      },
      get valueStarts() {
        return batch.valueStarts;
      },
      get valueEnds() {
        return batch.valueEnds;
      },
      ...(positions === undefined ? {} : { positions }),
      contiguous,
      ...(external === undefined ? {} : { external }),
      key: (index) => batch.key(index),
      release,
    };
  }

  #unprefixed<Partition extends TopicPartition>(partition: Partition): Partition {
    return { ...partition, topic: partition.topic.slice(this.#prefix.length) };
  }
}
