import { type Clock, after, giveWay } from '../../clock.ts';
import { LendstreamError, describeError, isLendstreamError } from '../../errors.ts';
import type { TopicPartition } from '../../ports/event-log.ts';
import type { BrokerAddress, RequestSender } from './connections.ts';
import type { KafkaRequest } from '../protocol/request.ts';
import {
  type BrokerNode,
  type MetadataResponse,
  type PartitionMetadata,
  type TopicMetadata,
  metadataRequest,
} from '../protocol/metadata-request.ts';
import { errorOf, isUnknownTopic, protocolError } from '../protocol/error-codes.ts';
import { unknownPartition } from './unknown-partition.ts';

/** How long the metadata of a topic is used without asking again. Milliseconds. */
const ageMillisecondsMaximum = 60_000;

/**
 * The least time between two requests about the same topic, so that a partition without a leader causes no storm.
 * Milliseconds.
 */
const pauseMilliseconds = 25;

/** How long a broker may take before the next one is asked as well. Milliseconds. */
const hedgeAfterMilliseconds = 1_000;

interface CachedTopic {
  readonly topic: TopicMetadata;
  readonly fetchedAt: number;
  isStale: boolean;
}

/**
 * Which broker leads which partition. Each topic has its own result, so that a deleted one spoils nothing for the
 * others. Lookups that come at the same time share one request.
 */
export class ClusterMetadata {
  readonly #connections: RequestSender;
  readonly #seeds: readonly BrokerAddress[];
  readonly #clock: Clock;
  readonly #topics = new Map<string, CachedTopic>();
  #brokers: readonly BrokerNode[] = [];
  #clusterId: string | null = null;
  /** Topics of the request that is about to be sent; the promise ends with its response. */
  #nextRequest: { readonly names: Set<string>; readonly response: Promise<void> } | undefined;
  /** The seed or broker that responded last. */
  #preferred: BrokerAddress | undefined;

  constructor(connections: RequestSender, seeds: readonly BrokerAddress[], clock: Clock) {
    this.#connections = connections;
    this.#seeds = seeds;
    this.#clock = clock;
  }

  /** The brokers in the last metadata response. */
  get brokers(): readonly BrokerNode[] {
    return this.#brokers;
  }

  /** Names this cluster permanently; null before the first response. */
  get clusterId(): string | null {
    return this.#clusterId;
  }

  /**
   * Returns the broker that leads a partition now.
   * @throws UNKNOWN_TOPIC_OR_PARTITION; LOG_UNAVAILABLE while it has no leader or no broker responds
   */
  async leaderOf({ topic, partition }: TopicPartition): Promise<BrokerNode> {
    const known = this.knownLeader({ topic, partition });
    if (known !== undefined) return known;
    const found = (await this.#partition(topic, partition)) ?? (await this.#addedPartition(topic, partition));
    if (found === undefined) throw unknownPartition({ topic, partition });
    const leader = this.#brokers.find(({ nodeId }) => nodeId === found.leader);
    if (leader !== undefined) return leader;
    this.forgetLeaders(topic);
    throw new LendstreamError('LOG_UNAVAILABLE', `Topic ${topic}, partition ${partition}, has no leader now.`, {
      details: { topic, partition },
    });
  }

  async #partition(topic: string, partition: number): Promise<PartitionMetadata | undefined> {
    return (await this.topic(topic)).partitions.find((candidate) => candidate.partition === partition);
  }

  /** Asks again: another process may have added partitions since the last response about the topic. */
  #addedPartition(topic: string, partition: number): Promise<PartitionMetadata | undefined> {
    this.forgetLeaders(topic);
    return this.#partition(topic, partition);
  }

  /** Returns the leader if it is known without asking. */
  knownLeader({ topic, partition }: TopicPartition): BrokerNode | undefined {
    const known = this.#cachedTopic(topic);
    // Partitions may be listed in any order, but most brokers list them by number.
    const partitions = known?.partitions;
    const found =
      partitions?.[partition]?.partition === partition
        ? partitions[partition]
        : partitions?.find((candidate) => candidate.partition === partition);
    return found === undefined ? undefined : this.#brokers.find(({ nodeId }) => nodeId === found.leader);
  }

  /**
   * Returns the cluster's metadata of a topic.
   * @throws UNKNOWN_TOPIC_OR_PARTITION; LOG_UNAVAILABLE, also when the cluster refuses to say anything about the topic
   */
  async topic(name: string): Promise<TopicMetadata> {
    const known = this.#cachedTopic(name);
    if (known !== undefined) return known;
    await this.#fetchTopic(name);
    const topic = this.#topics.get(name)?.topic;
    if (topic === undefined) throw unknownPartition({ topic: name });
    if (topic.errorCode !== protocolError.none)
      throw errorOf(topic.errorCode, `Looking up topic ${name}`, { topic: name });
    return topic;
  }

  /** Asks about a topic now, even if its metadata is known. A topic that does not exist is no error here. */
  async refresh(name: string): Promise<void> {
    await this.#fetchTopic(name);
  }

  /** Returns the topics with these names, as far as they exist, or every topic. Never the brokers' internal ones. */
  async existingTopics(names: readonly string[] | null = null): Promise<readonly TopicMetadata[]> {
    const response = await this.sendToAny(metadataRequest(names));
    this.#storeBrokers(response);
    return response.topics.filter(({ isInternal, errorCode }) => !isInternal && errorCode === protocolError.none);
  }

  /** Leadership moved, or partitions were added: the next lookup of this topic asks the cluster again. */
  forgetLeaders(topic: string): void {
    const known = this.#topics.get(topic);
    if (known !== undefined) known.isStale = true;
  }

  /**
   * Sends a request that may be sent twice to any broker. Does not wait for a hung one: the next is asked as well.
   * @throws LOG_UNAVAILABLE when none responds
   */
  sendToAny<Response>(request: KafkaRequest<Response>): Promise<Response> {
    return this.#tryBrokers(request, hedgeAfterMilliseconds);
  }

  /**
   * Sends a change to some broker, which passes it on to the controller. Tries the known brokers one after another
   * until one responds.
   * @throws LOG_UNAVAILABLE when none responds, even if one may have made the change
   */
  sendChange<Response>(request: KafkaRequest<Response>): Promise<Response> {
    return this.#tryBrokers(request, Infinity);
  }

  #tryBrokers<Response>(request: KafkaRequest<Response>, hedgeMilliseconds: number): Promise<Response> {
    const candidates = this.#candidates();
    let triedCount = 0;
    let pendingCount = 0;
    return new Promise((resolve, reject) => {
      const tryNext = (): void => {
        const broker = candidates[triedCount];
        if (broker === undefined) return;
        triedCount += 1;
        pendingCount += 1;
        const timer = hedgeMilliseconds === Infinity ? undefined : after(this.#clock, hedgeMilliseconds, tryNext);
        this.#connections.send(broker, 'metadata', request).then(
          (response) => {
            timer?.cancel();
            triedCount = candidates.length;
            // A broker that is slower than another is not asked first the next time.
            this.#preferred = broker;
            resolve(response);
          },
          (failure: unknown) => {
            timer?.cancel();
            pendingCount -= 1;
            if (isLendstreamError(failure, 'LOG_CLOSED')) return reject(failure);
            tryNext();
            if (pendingCount === 0) reject(noBrokerResponds(candidates, failure));
          },
        );
      };
      tryNext();
    });
  }

  /** Returns every known broker, the one that responded last before the others. */
  #candidates(): BrokerAddress[] {
    const known = [this.#preferred, ...this.#brokers, ...this.#seeds].filter((address) => address !== undefined);
    return [...new Map(known.map(({ host, port }) => [`${host}:${port}`, { host, port }])).values()];
  }

  #cachedTopic(name: string): TopicMetadata | undefined {
    const known = this.#topics.get(name);
    if (known === undefined || known.isStale) return undefined;
    return this.#clock.monotonic() - known.fetchedAt < ageMillisecondsMaximum ? known.topic : undefined;
  }

  #fetchTopic(name: string): Promise<void> {
    const known = this.#topics.get(name);
    const delayMilliseconds = known === undefined ? 0 : known.fetchedAt + pauseMilliseconds - this.#clock.monotonic();
    const next = (this.#nextRequest ??= this.#scheduleRequest(Math.max(0, delayMilliseconds)));
    next.names.add(name);
    return next.response;
  }

  #scheduleRequest(waitMilliseconds: number): { names: Set<string>; response: Promise<void> } {
    const names = new Set<string>();
    // Lookups of the same turn of the event loop belong in the same request.
    const response = (waitMilliseconds > 0 ? this.#clock.sleep(waitMilliseconds) : giveWay()).then(async () => {
      this.#nextRequest = undefined;
      this.#store(await this.sendToAny(metadataRequest([...names])));
    });
    return { names, response };
  }

  #store(response: MetadataResponse): void {
    this.#storeBrokers(response);
    const fetchedAt = this.#clock.monotonic();
    for (const topic of response.topics) {
      if (isUnknownTopic(topic.errorCode)) this.#topics.delete(topic.name);
      else this.#topics.set(topic.name, { topic, fetchedAt, isStale: topic.errorCode !== protocolError.none });
    }
  }

  #storeBrokers({ brokers, clusterId }: MetadataResponse): void {
    if (brokers.length > 0) this.#brokers = brokers;
    this.#clusterId = clusterId;
  }
}

function noBrokerResponds(brokers: readonly BrokerAddress[], cause: unknown): LendstreamError {
  const names = brokers.map(({ host, port }) => `${host}:${port}`).join(', ');
  const detail = `No Kafka broker responds (asked ${names}; the last failure: ${describeError(cause)}).`;
  return new LendstreamError('LOG_UNAVAILABLE', detail, { cause });
}
