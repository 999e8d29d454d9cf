import type {
  AppendResult,
  BoundsOptions,
  EventLog,
  FencedWriter,
  Offset,
  PartitionBounds,
  PartitionRecords,
  ReadOptions,
  ReadResult,
  TopicAlteration,
  TopicConfiguration,
  TopicPartition,
} from '../../src/ports/event-log.ts';

type Position = TopicPartition & { readonly offset: Offset };

/**
 * A part of a shared log that one test has for itself: what the test calls `orders` is called `<namespace>.orders`
 * there. Groups and writers are told apart the same way.
 */
export class NamespacedLog implements EventLog {
  readonly #log: EventLog;
  readonly #prefix: string;

  constructor(log: EventLog, namespace: string) {
    this.#log = log;
    this.#prefix = `${namespace}.`;
  }

  /** What the shared log calls a topic of this part. */
  outside(topic: string): string {
    return this.#prefix + topic;
  }

  createTopic(configuration: TopicConfiguration): Promise<void> {
    return this.#log.createTopic({ ...configuration, name: this.outside(configuration.name) });
  }

  alterTopic(name: string, alteration: TopicAlteration): Promise<void> {
    return this.#log.alterTopic(this.outside(name), alteration);
  }

  deleteTopic(name: string): Promise<void> {
    return this.#log.deleteTopic(this.outside(name));
  }

  async listTopics(): Promise<TopicConfiguration[]> {
    return (await this.#log.listTopics())
      .filter(({ name }) => name.startsWith(this.#prefix))
      .map((topic) => ({ ...topic, name: topic.name.slice(this.#prefix.length) }));
  }

  async bounds(partitions: readonly TopicPartition[], options?: BoundsOptions): Promise<PartitionBounds[]> {
    const moved = partitions.map((place) => this.#moved(place));
    return (await this.#log.bounds(moved, options)).map((place) => this.#back(place));
  }

  async append(partitions: readonly PartitionRecords[]): Promise<AppendResult[]> {
    return (await this.#log.append(this.#movedRecords(partitions))).map((place) => this.#back(place));
  }

  deleteRecords(before: Position, appendedBefore: number): Promise<void> {
    return this.#log.deleteRecords(this.#moved(before), appendedBefore);
  }

  async read(from: Position, options: ReadOptions): Promise<ReadResult> {
    const { batches, nextOffset } = await this.#log.read(this.#moved(from), options);
    return { batches: batches.map((batch) => this.#back(batch)), nextOffset };
  }

  async openWriter(writerId: string, partitions: readonly TopicPartition[] = []): Promise<FencedWriter> {
    const moved = partitions.map((place) => this.#moved(place));
    const writer = await this.#log.openWriter(this.#prefix + writerId, moved);
    return {
      writerId,
      append: (partitions) => writer.append(this.#movedRecords(partitions)),
      commit: () => writer.commit(),
      abort: () => writer.abort(),
      close: () => writer.close(),
    };
  }

  exportGroupOffsets(group: string, positions: readonly Position[]): Promise<void> {
    return this.#log.exportGroupOffsets(
      this.#prefix + group,
      positions.map((place) => this.#moved(place)),
    );
  }

  async groupOffsets(group: string): Promise<Position[]> {
    return (await this.#log.groupOffsets(this.#prefix + group)).map((place) => this.#back(place));
  }

  close(): Promise<void> {
    return this.#log.close();
  }

  #moved<Place extends TopicPartition>(place: Place): Place {
    return { ...place, topic: this.outside(place.topic) };
  }

  /** By name: whoever has records packed makes them when they are asked for. */
  #movedRecords(partitions: readonly PartitionRecords[]): PartitionRecords[] {
    return partitions.map(({ topic, partition, records }) => ({ topic: this.outside(topic), partition, records }));
  }

  #back<Place extends TopicPartition>(place: Place): Place {
    return { ...place, topic: place.topic.slice(this.#prefix.length) };
  }
}
