/**
 * Administration of Kafka: topics and their settings, deletion of records, offsets of consumer groups.
 * In: names and settings. Out: topics as the log's port describes them.
 * Start with `KafkaTopics` below. `topic-creation.ts` makes topics, `delete-records.ts` deletes their oldest records,
 * and `consumer-group-offsets.ts` commits offsets for tools that show the lag.
 */

import type { CleanupPolicy, TopicAlteration, TopicConfiguration } from '../../ports/event-log.ts';
import { partitionsPerTopicMaximum } from '../../ports/event-log.ts';
import type { Clock } from '../../clock.ts';
import { LendstreamError, isLendstreamError } from '../../errors.ts';
import type { BrokerAddress, RequestSender } from '../connection/connections.ts';
import type { KafkaRequest } from '../protocol/request.ts';
import { topicMessageBytesMaximum } from '../protocol/limits.ts';
import { listBounds } from '../consume/partition-bounds.ts';
import { type TopicMetadata, metadataRequest } from '../protocol/metadata-request.ts';
import type { ClusterMetadata } from '../connection/cluster-metadata.ts';
import { unknownPartition } from '../connection/unknown-partition.ts';
import { errorOf, isLeadershipError, isMissingRight, isUnknownTopic, protocolError } from '../protocol/error-codes.ts';
import {
  type NamedResult,
  type RequestedTopic,
  type TopicSettings,
  alterTopicRequest,
  createPartitionsRequest,
  createTopicsRequest,
  deleteTopicRequest,
  describeTopicsRequest,
} from '../protocol/topic-requests.ts';
import { TopicCreation } from './topic-creation.ts';

export interface KafkaTopicsOptions {
  readonly connections: RequestSender;
  readonly metadata: ClusterMetadata;
  readonly clock: Clock;
  /** How often each record is stored; -1 leaves it to the brokers. */
  readonly replicationFactor: number;
  /** How many replicas must have a record before it is acknowledged; absent leaves it to the brokers. */
  readonly minimumInSyncReplicas?: number | undefined;
}

/** How long a change may take to reach every broker. Milliseconds. */
const propagationMillisecondsMaximum = 30_000;

const propagationPollMilliseconds = 20;

/** How long partitions that another request has added may take to be seen. Milliseconds. */
const addedElsewhereMillisecondsMaximum = 1_000;

/** How long the cleanup policy of a topic is used without asking again. Milliseconds. */
const policyCacheMilliseconds = 60_000;

const settingNames = ['cleanup.policy', 'retention.ms', 'retention.bytes', 'max.compaction.lag.ms'] as const;

/** Creates, changes, lists and deletes topics. */
export class KafkaTopics {
  readonly #options: KafkaTopicsOptions;
  readonly #policies = new Map<string, { readonly policy: Promise<CleanupPolicy>; readonly fetchedAt: number }>();
  readonly #creation: TopicCreation;

  constructor(options: KafkaTopicsOptions) {
    this.#options = options;
    const { metadata, replicationFactor } = options;
    this.#creation = new TopicCreation(
      (topics) => metadata.sendChange(createTopicsRequest(topics, replicationFactor)),
      (topics) => this.#waitUntilReady(topics.map((topic) => ({ ...topic, firstNew: 0 }))),
    );
  }

  /** @throws TOPIC_ALREADY_EXISTS, UNPROCESSABLE, LOG_UNAVAILABLE */
  async create(configuration: TopicConfiguration): Promise<void> {
    const { name, partitionCount } = configuration;
    assertPartitionCount(name, partitionCount);
    const { minimumInSyncReplicas } = this.#options;
    const settings = new Map<string, string | null>([
      ...settingsOf(configuration),
      ['max.message.bytes', String(topicMessageBytesMaximum)],
      // Retention follows the brokers' clocks: with a writer's wrong clock, records would stay too long or go too
      // early.
      ['message.timestamp.type', 'LogAppendTime'],
    ]);
    if (minimumInSyncReplicas !== undefined) settings.set('min.insync.replicas', String(minimumInSyncReplicas));
    const { result, untilReady } = await this.#creation.create({ name, partitionCount, settings });
    try {
      assertChanged(result, `Creating topic ${name}`);
    } catch (error) {
      if (isLendstreamError(error, 'UNPROCESSABLE')) await this.#assertNoNameClash(name);
      throw error;
    }
    await untilReady();
  }

  /** @throws UNPROCESSABLE when a topic exists whose name Kafka does not distinguish from this one */
  async #assertNoNameClash(name: string): Promise<void> {
    const spelling = name.replaceAll('.', '_');
    const topics = await this.#options.metadata.existingTopics();
    const other = topics.find((topic) => topic.name.replaceAll('.', '_') === spelling);
    if (other === undefined) return;
    throw new LendstreamError(
      'UNPROCESSABLE',
      `A topic named ${other.name} exists: names must differ in more than dots and underscores.`,
    );
  }

  /** @throws UNKNOWN_TOPIC_OR_PARTITION, UNPROCESSABLE (fewer partitions than now), LOG_UNAVAILABLE */
  async alter(name: string, alteration: TopicAlteration): Promise<void> {
    this.#options.metadata.forgetLeaders(name);
    const { partitions } = await this.#options.metadata.topic(name);
    const { partitionCount } = alteration;
    if (partitionCount !== undefined) assertPartitionCount(name, partitionCount);
    if (partitionCount !== undefined && partitionCount < partitions.length) {
      throw new LendstreamError(
        'UNPROCESSABLE',
        `Topic ${name} has ${partitions.length} partitions and cannot have ${partitionCount}: partitions only grow.`,
      );
    }
    const settings = settingsOf(alteration);
    if (settings.size > 0) await this.#alterSettings(name, settings);
    this.#policies.delete(name);
    if (partitionCount === undefined || partitionCount === partitions.length) return;
    await this.#addPartitions(name, partitionCount);
    await this.#waitUntilReady([{ name, firstNew: partitions.length, partitionCount }]);
  }

  /** Returns when every broker describes the topic with the new settings, or with others that came after them. */
  async #alterSettings(name: string, settings: TopicSettings): Promise<void> {
    const described = describeTopicsRequest([name], [...settings.keys()]);
    const [before] = await this.#options.metadata.sendToAny(described);
    await this.#change(alterTopicRequest(name, settings), `Changing topic ${name}`);
    await this.#waitForEveryBroker([name], async (broker) => {
      const [shown] = await this.#options.connections.send(broker, 'metadata', described);
      // A topic that was deleted meanwhile has no settings to wait for.
      if (shown === undefined || shown.errorCode !== protocolError.none) return true;
      return [...settings].every(([setting, value]) => {
        const found = shown.settings.get(setting);
        return found === value || found !== before?.settings.get(setting);
      });
    });
  }

  async #addPartitions(name: string, partitionCount: number): Promise<void> {
    try {
      await this.#change(createPartitionsRequest(name, partitionCount), `Adding partitions to topic ${name}`);
    } catch (error) {
      // Another process has added as many, or this one did with an earlier request whose response was lost.
      if (!(await this.#hasPartitions(name, partitionCount))) throw error;
    }
  }

  /** Whether the topic has so many partitions. The brokers may learn of them a moment later. */
  async #hasPartitions(name: string, partitionCount: number): Promise<boolean> {
    const { clock, metadata } = this.#options;
    const deadline = clock.monotonic() + addedElsewhereMillisecondsMaximum;
    for (;;) {
      metadata.forgetLeaders(name);
      if ((await metadata.topic(name)).partitions.length === partitionCount) return true;
      if (clock.monotonic() > deadline) return false;
      await clock.sleep(propagationPollMilliseconds);
    }
  }

  /** @throws UNKNOWN_TOPIC_OR_PARTITION, LOG_UNAVAILABLE */
  async delete(name: string): Promise<void> {
    await this.#change(deleteTopicRequest(name), `Deleting topic ${name}`);
    this.#policies.delete(name);
    await this.#waitForMetadata([name], ({ errorCode }) => errorCode === protocolError.unknownTopicOrPartition);
  }

  /**
   * Returns the topics with these names, as far as they exist, or every topic. Never the brokers' internal ones.
   * @throws LOG_UNAVAILABLE
   */
  async list(names?: readonly string[]): Promise<TopicConfiguration[]> {
    const { metadata } = this.#options;
    const topics = await metadata.existingTopics(names);
    if (topics.length === 0) return [];
    const described = await metadata.sendToAny(
      describeTopicsRequest(
        topics.map(({ name }) => name),
        settingNames,
      ),
    );
    const counts = new Map(topics.map(({ name, partitions }) => [name, partitions.length]));
    // A topic that is being deleted right now is described with an error: it no longer exists.
    return described
      .filter(({ errorCode }) => errorCode === protocolError.none)
      .map(({ name, settings }) => configurationOf(name, counts.get(name) ?? 0, settings));
  }

  /**
   * Returns how a topic drops old records, which decides whether its records need keys. Simultaneous callers share one
   * request.
   * @throws UNKNOWN_TOPIC_OR_PARTITION, LOG_UNAVAILABLE
   */
  cleanupPolicyOf(name: string): Promise<CleanupPolicy> {
    const now = this.#options.clock.monotonic();
    const known = this.#policies.get(name);
    if (known !== undefined && now - known.fetchedAt < policyCacheMilliseconds) return known.policy;
    const policy: Promise<CleanupPolicy> = this.#fetchCleanupPolicy(name).catch((error: unknown) => {
      if (this.#policies.get(name)?.policy === policy) this.#policies.delete(name);
      throw error;
    });
    this.#policies.set(name, { policy, fetchedAt: now });
    return policy;
  }

  async #fetchCleanupPolicy(name: string): Promise<CleanupPolicy> {
    const [described] = await this.#options.metadata.sendToAny(describeTopicsRequest([name], settingNames));
    if (described === undefined || isUnknownTopic(described.errorCode)) throw unknownPartition({ topic: name });
    if (described.errorCode !== protocolError.none) throw errorOf(described.errorCode, `Looking at topic ${name}`);
    return policyOf(described.settings.get('cleanup.policy'));
  }

  async #change(request: KafkaRequest<NamedResult[]>, what: string): Promise<void> {
    const [result] = await this.#options.metadata.sendChange(request);
    assertChanged(result, what);
  }

  /** New partitions have leaders before those leaders are ready for them: a thousand keep a broker busy for seconds. */
  async #waitUntilReady(
    topics: readonly (Pick<RequestedTopic, 'name' | 'partitionCount'> & { readonly firstNew: number })[],
  ): Promise<void> {
    if (topics.length === 0) return;
    const counts = new Map(topics.map(({ name, partitionCount }) => [name, partitionCount]));
    await this.#waitForMetadata([...counts.keys()], (topic) => isReady(topic, counts.get(topic.name) ?? 0));
    const added = topics.flatMap(({ name, firstNew, partitionCount }) =>
      Array.from({ length: partitionCount - firstNew }, (_, index) => ({ topic: name, partition: firstNew + index })),
    );
    await listBounds(this.#options, added, { forMilliseconds: propagationMillisecondsMaximum });
  }

  /** Returns when the metadata of every broker describes each of the topics in this way. */
  #waitForMetadata(names: readonly string[], predicate: (topic: TopicMetadata) => boolean): Promise<void> {
    return this.#waitForEveryBroker(names, async (broker) => {
      const { topics } = await this.#options.connections.send(broker, 'metadata', metadataRequest(names));
      return topics.every(predicate);
    });
  }

  /** A change is agreed on before every broker knows of it, and the next request may go to any broker. */
  async #waitForEveryBroker(
    names: readonly string[],
    isKnownTo: (broker: BrokerAddress) => Promise<boolean>,
  ): Promise<void> {
    const { clock, metadata } = this.#options;
    const deadline = clock.monotonic() + propagationMillisecondsMaximum;
    const refresh = (): Promise<unknown> => Promise.all(names.map((name) => metadata.refresh(name)));
    await refresh();
    for (const broker of metadata.brokers) {
      while (!(await isKnownOrDown(isKnownTo(broker)))) {
        if (clock.monotonic() > deadline) {
          const changed = names.join(', ');
          throw new LendstreamError('LOG_UNAVAILABLE', `Not every broker knows of the change of topic ${changed}.`);
        }
        await clock.sleep(propagationPollMilliseconds);
      }
    }
    await refresh();
  }
}

/** @throws what the response to a change of a topic says, unless that the topic was changed */
function assertChanged(result: NamedResult | undefined, what: string): void {
  if (result === undefined) throw new LendstreamError('LOG_UNAVAILABLE', `${what} got an empty response.`);
  if (result.errorCode === protocolError.none) return;
  const error = errorOf(result.errorCode, what, { topic: result.name });
  // A broker's own words about a right do not say whose it is.
  if (result.message === null || isMissingRight(result.errorCode)) throw error;
  throw new LendstreamError(error.code, `${what} failed: ${result.message}`, { details: error.details });
}

/** A broker that is down will have caught up before it responds again. */
async function isKnownOrDown(known: Promise<boolean>): Promise<boolean> {
  try {
    return await known;
  } catch (error) {
    if (isLendstreamError(error, 'LOG_CLOSED')) throw error;
    return true;
  }
}

function isReady({ errorCode, partitions }: TopicMetadata, partitionCount: number): boolean {
  return (
    errorCode === protocolError.none &&
    partitions.length >= partitionCount &&
    partitions.every((partition) => partition.leader >= 0 && !isLeadershipError(partition.errorCode))
  );
}

function assertPartitionCount(name: string, partitionCount: number): void {
  if (Number.isInteger(partitionCount) && partitionCount >= 1 && partitionCount <= partitionsPerTopicMaximum) return;
  throw new LendstreamError(
    'UNPROCESSABLE',
    `Topic ${name} may have from 1 to ${partitionsPerTopicMaximum} partitions, not ${partitionCount}.`,
  );
}

const unlimited = '-1';

/** The lag of a topic whose compaction waits for a share of replaced records, however old these get. */
const unlimitedLag = String(2n ** 63n - 1n);

const hourMilliseconds = 3_600_000;

/**
 * Retention and compaction act on whole closed segments. A segment is closed after a tenth of the retention, so that
 * records stay at most a tenth longer than promised. A compacted topic has no retention and closes its segments hourly.
 */
function segmentMilliseconds(retentionMilliseconds: number): number {
  if (retentionMilliseconds <= 0) return hourMilliseconds;
  return Math.min(Math.max(Math.ceil(retentionMilliseconds / 10), 60_000), 168 * hourMilliseconds);
}

function settingsOf(configuration: TopicAlteration): Map<string, string | null> {
  const settings = new Map<string, string | null>();
  const { cleanupPolicy, retentionMilliseconds, retentionBytes, compactionLagMilliseconds } = configuration;
  if (cleanupPolicy !== undefined) settings.set('cleanup.policy', policyNames[cleanupPolicy]);
  if (retentionMilliseconds !== undefined) {
    settings.set('retention.ms', retentionMilliseconds === Infinity ? unlimited : String(retentionMilliseconds));
    settings.set('segment.ms', String(segmentMilliseconds(retentionMilliseconds)));
  }
  if (retentionBytes !== undefined) settings.set('retention.bytes', String(retentionBytes));
  if (compactionLagMilliseconds !== undefined) {
    const lag = compactionLagMilliseconds === Infinity ? unlimitedLag : String(compactionLagMilliseconds);
    settings.set('max.compaction.lag.ms', lag);
  }
  return settings;
}

function configurationOf(name: string, partitionCount: number, settings: TopicSettings): TopicConfiguration {
  const retentionBytes = settings.get('retention.bytes') ?? unlimited;
  const retention = settings.get('retention.ms');
  const compactionLag = settings.get('max.compaction.lag.ms') ?? unlimitedLag;
  return {
    name,
    partitionCount,
    cleanupPolicy: policyOf(settings.get('cleanup.policy')),
    retentionMilliseconds: retention === unlimited ? Infinity : Number(retention ?? 0),
    ...(retentionBytes === unlimited ? {} : { retentionBytes: Number(retentionBytes) }),
    ...(compactionLag === unlimitedLag ? {} : { compactionLagMilliseconds: Number(compactionLag) }),
  };
}

const policyNames: Record<CleanupPolicy, string> = {
  delete: 'delete',
  compact: 'compact',
  compact_and_delete: 'compact,delete',
};

function policyOf(setting: string | null | undefined): CleanupPolicy {
  const names = new Set((setting ?? 'delete').split(',').map((name) => name.trim()));
  if (!names.has('compact')) return 'delete';
  return names.has('delete') ? 'compact_and_delete' : 'compact';
}
