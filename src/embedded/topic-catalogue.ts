import { LendstreamError } from '../errors.ts';
import { partitionsPerTopicMaximum } from '../ports/event-log.ts';
import type { TopicAlteration, TopicConfiguration } from '../ports/event-log.ts';
import type { PersistedPartition, PersistedState, WriterRequests } from './thread/messages.ts';
import type { LogThread } from './thread/log-thread.ts';
import { newPartitionState } from './partition-state.ts';
import { toConfiguration, toPersistedTopic } from './topic-configuration.ts';
import { unknownTopic } from './unknown-partition.ts';
import type { PartitionState, TopicState, TopicTable } from './partition-state.ts';

/** Topic names that every backend accepts. */
const topicNamePattern = /^(?!\.\.?$)[A-Za-z0-9._-]{1,249}$/;

/** Creates, alters, deletes and lists topics. Changes go to the disk first, then to memory. */
export class TopicCatalogue {
  readonly topics: TopicTable = new Map();
  readonly #writer: LogThread<WriterRequests>;
  #lastChange: Promise<unknown> = Promise.resolve();

  constructor(writer: LogThread<WriterRequests>, state: PersistedState) {
    this.#writer = writer;
    const partitionsByTopic = new Map<number, PersistedPartition[]>();
    for (const partition of state.partitions) {
      const partitions = partitionsByTopic.get(partition.topicId);
      if (partitions === undefined) partitionsByTopic.set(partition.topicId, [partition]);
      else partitions.push(partition);
    }
    for (const persisted of state.topics) {
      const partitions = (partitionsByTopic.get(persisted.id) ?? []).map((partition) =>
        newPartitionState(persisted.name, partition),
      );
      this.topics.set(persisted.name, {
        id: persisted.id,
        configuration: toConfiguration(persisted),
        partitions,
        isDeleting: false,
      });
    }
  }

  /** The topics with these names, as far as they exist, or all topics. */
  list(names: Iterable<string> = this.topics.keys()): TopicConfiguration[] {
    return [...names].flatMap((name) => {
      const topic = this.topics.get(name);
      return topic === undefined || topic.isDeleting ? [] : [topic.configuration];
    });
  }

  create(configuration: TopicConfiguration): Promise<void> {
    return this.#runSerially(async () => {
      const { name, partitionCount } = configuration;
      checkName(name);
      checkPartitionCount(partitionCount);
      if (this.topics.has(name)) {
        throw new LendstreamError('TOPIC_ALREADY_EXISTS', `Topic ${name} already exists.`);
      }
      const topic = toPersistedTopic(configuration);
      const { topicId, partitionIds } = await this.#writer.call('createTopic', { topic });
      const partitions = partitionIds.map((id, number) => emptyPartition(name, topicId, number, id));
      this.topics.set(name, { id: topicId, configuration: toConfiguration(topic), partitions, isDeleting: false });
    });
  }

  alter(name: string, alteration: TopicAlteration): Promise<void> {
    return this.#runSerially(async () => {
      const state = this.#find(name);
      const configuration = { ...state.configuration, ...alteration, name };
      checkPartitionCount(configuration.partitionCount);
      if (configuration.partitionCount < state.configuration.partitionCount) {
        throw new LendstreamError(
          'UNPROCESSABLE',
          `Topic ${name} has ${state.configuration.partitionCount} partitions, and partitions can only be added.`,
        );
      }
      const topic = toPersistedTopic(configuration);
      const { addedPartitionIds } = await this.#writer.call('alterTopic', { topicId: state.id, topic });
      for (const id of addedPartitionIds) {
        state.partitions.push(emptyPartition(name, state.id, state.partitions.length, id));
      }
      state.configuration = toConfiguration(topic);
    });
  }

  /** Deletes a topic. Returns its former partitions, whose records are still to be removed. */
  delete(name: string): Promise<PartitionState[]> {
    return this.#runSerially(async () => {
      const state = this.#find(name);
      const mark = (isDeleting: boolean): void => {
        state.isDeleting = isDeleting;
        for (const partition of state.partitions) partition.isDeleted = isDeleting;
      };
      mark(true);
      try {
        await this.#writer.call('deleteTopic', { topicId: state.id });
      } catch (error) {
        mark(false);
        throw error;
      }
      this.topics.delete(name);
      return state.partitions;
    });
  }

  /** One change at a time, so that each one sees the result of the one before it. */
  #runSerially<Result>(change: () => Promise<Result>): Promise<Result> {
    const result = this.#lastChange.then(change);
    this.#lastChange = result.catch(() => undefined);
    return result;
  }

  #find(name: string): TopicState {
    const state = this.topics.get(name);
    if (state === undefined || state.isDeleting) throw unknownTopic(name);
    return state;
  }
}

function emptyPartition(topic: string, topicId: number, number: number, id: number): PartitionState {
  const persisted = { id, topicId, number, earliest: 0, latest: 0, compactedTo: 0, compactedRecordCount: 0 };
  return newPartitionState(topic, persisted);
}

function checkName(name: string): void {
  if (topicNamePattern.test(name)) return;
  throw new LendstreamError(
    'UNPROCESSABLE',
    `A topic's name has 1 to 249 letters, digits, dots, underscores or hyphens; "${name}" does not.`,
  );
}

function checkPartitionCount(count: number): void {
  if (Number.isInteger(count) && count >= 1 && count <= partitionsPerTopicMaximum) return;
  throw new LendstreamError('UNPROCESSABLE', `A topic has 1 to ${partitionsPerTopicMaximum} partitions, not ${count}.`);
}
