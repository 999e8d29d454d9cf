/**
 * The event log on a cluster of Apache Kafka.
 * In: the calls of the port. Out: requests to brokers, and records as positions in the bytes of their responses.
 * Start with `KafkaLog` below, which passes each call to consume/, produce/ or admin/. These send their requests
 * through connection/; protocol/ writes requests and reads responses.
 */

import type { ISocketFactory, SASLOptions } from 'kafkajs';
import type { ConnectionOptions as TlsOptions } from 'node:tls';
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
  TopicAlteration,
  TopicConfiguration,
  TopicPartition,
} from '../ports/event-log.ts';
import type { Clock } from '../clock.ts';
import { LendstreamError, isUntrustedCertificate } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { type BrokerAddress, KafkaConnections } from './connection/connections.ts';
import { Coordinators } from './connection/coordinator.ts';
import { KafkaReader } from './consume/reader.ts';
import { KafkaGroupOffsets } from './admin/consumer-group-offsets.ts';
import { deleteRecords } from './admin/delete-records.ts';
import { listBounds, listEndOffsets } from './consume/partition-bounds.ts';
import { listOffsetsAt } from './consume/offsets-at-time.ts';
import { ClusterMetadata } from './connection/cluster-metadata.ts';
import { KafkaProducer } from './produce/producer.ts';
import { KafkaTopics } from './admin/topics.ts';
import { openKafkaWriter } from './produce/transactions/fenced-writer.ts';

/** What {@link KafkaLog.open} needs to reach a cluster. */
export interface KafkaLogOptions {
  /** `host:port` of some of the brokers; the others are found through them. */
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly tls?: TlsOptions | undefined;
  readonly sasl?: SASLOptions | undefined;
  /** How often each record of a new topic is stored; absent or -1 leaves it to the brokers. */
  readonly replicationFactor?: number | undefined;
  /** How many replicas must have a record of a new topic before it is acknowledged; absent leaves it to the brokers. */
  readonly minimumInSyncReplicas?: number | undefined;
  /** Bytes of records that may wait to be sent. Beyond it appends fail with OVERLOADED. Default 64 MiB. */
  readonly queuedBytesMaximum?: number | undefined;
  readonly socketFactory?: ISocketFactory | undefined;
}

/** How long the brokers may take to give their first response. Milliseconds. */
const startMillisecondsMaximum = 30_000;

const startPauseMilliseconds = 200;

/** The event log that is kept by a cluster of Apache Kafka. */
export class KafkaLog implements EventLog {
  readonly #connections: KafkaConnections;
  readonly #metadata: ClusterMetadata;
  readonly #topics: KafkaTopics;
  readonly #producer: KafkaProducer;
  readonly #reader: KafkaReader;
  readonly #coordinators: Coordinators;
  readonly #groupOffsets: KafkaGroupOffsets;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #writers = new Set<FencedWriter>();
  #closing: Promise<void> | undefined;

  /**
   * Returns when a broker has responded.
   * @throws LOG_UNAVAILABLE when none does for half a minute, or at once when one refuses the user or has a certificate
   *   that is not trusted
   */
  static async open(options: KafkaLogOptions): Promise<KafkaLog> {
    const log = new KafkaLog(options);
    const { clock, logger } = options;
    const deadline = clock.monotonic() + startMillisecondsMaximum;
    for (;;) {
      try {
        // Also stores what names the cluster.
        await log.#metadata.existingTopics([]);
        return log;
      } catch (error) {
        if (isRefusal(error) || clock.monotonic() > deadline) {
          await log.close();
          throw error;
        }
        logger.info({ brokers: options.brokers }, 'Waiting for Kafka');
        await clock.sleep(startPauseMilliseconds);
      }
    }
  }

  private constructor(options: KafkaLogOptions) {
    const { clientId, logger, clock, tls, sasl, socketFactory } = options;
    this.#clock = clock;
    this.#logger = logger;
    const connections = new KafkaConnections({ clientId, logger, tls, sasl, socketFactory });
    const metadata = new ClusterMetadata(connections, options.brokers.map(addressOf), clock);
    const topics = new KafkaTopics({
      connections,
      metadata,
      clock,
      replicationFactor: options.replicationFactor ?? -1,
      minimumInSyncReplicas: options.minimumInSyncReplicas,
    });
    this.#connections = connections;
    this.#metadata = metadata;
    this.#topics = topics;
    this.#coordinators = new Coordinators(metadata, clock);
    this.#groupOffsets = new KafkaGroupOffsets({ connections, coordinators: this.#coordinators, clock });
    const bounds = (partitions: readonly TopicPartition[]): Promise<PartitionBounds[]> =>
      listBounds({ connections, metadata, clock }, partitions);
    this.#reader = new KafkaReader({ connections, metadata, bounds, clock, logger });
    this.#producer = new KafkaProducer({
      connections,
      metadata,
      clock,
      logger,
      cleanupPolicyOf: (topic) => topics.cleanupPolicyOf(topic),
      queuedBytesMaximum: options.queuedBytesMaximum,
    });
  }

  /** Names the cluster permanently: what is kept locally of its log belongs to this cluster alone. */
  get clusterId(): string {
    return this.#metadata.clusterId ?? 'unknown';
  }

  async createTopic(configuration: TopicConfiguration): Promise<void> {
    this.#assertOpen();
    await this.#topics.create(configuration);
  }

  async alterTopic(name: string, alteration: TopicAlteration): Promise<void> {
    this.#assertOpen();
    await this.#topics.alter(name, alteration);
  }

  async deleteTopic(name: string): Promise<void> {
    this.#assertOpen();
    await this.#topics.delete(name);
    this.#reader.forget(name);
  }

  async listTopics(names?: readonly string[]): Promise<TopicConfiguration[]> {
    this.#assertOpen();
    return this.#topics.list(names);
  }

  async bounds(partitions: readonly TopicPartition[], options?: BoundsOptions): Promise<PartitionBounds[]> {
    this.#assertOpen();
    const services = { connections: this.#connections, metadata: this.#metadata, clock: this.#clock };
    return listBounds(services, partitions, options);
  }

  async endOffsets(partitions: readonly TopicPartition[], options?: BoundsOptions): Promise<PartitionEnd[]> {
    this.#assertOpen();
    const services = { connections: this.#connections, metadata: this.#metadata, clock: this.#clock };
    return listEndOffsets(services, partitions, options);
  }

  async offsetsAt(
    partitions: readonly TopicPartition[],
    time: number,
  ): Promise<(TopicPartition & { readonly offset: Offset })[]> {
    this.#assertOpen();
    const services = { connections: this.#connections, metadata: this.#metadata, clock: this.#clock };
    return listOffsetsAt(services, partitions, time);
  }

  async append(partitions: readonly PartitionRecords[]): Promise<AppendResult[]> {
    this.#assertOpen();
    return this.#producer.append(partitions);
  }

  async deleteRecords(before: TopicPartition & { readonly offset: Offset }, appendedBefore: number): Promise<void> {
    this.#assertOpen();
    await deleteRecords({ connections: this.#connections, metadata: this.#metadata }, before, appendedBefore);
  }

  /** Not an async function: its frame would be kept as long as the read waits. */
  read(from: TopicPartition & { readonly offset: Offset }, options: ReadOptions): Promise<ReadResult> {
    if (this.#closing !== undefined) return Promise.reject(logClosed());
    return this.#reader.read(from, options);
  }

  async openWriter(writerId: string, partitions: readonly TopicPartition[] = []): Promise<FencedWriter> {
    this.#assertOpen();
    const writer = await openKafkaWriter(
      {
        connections: this.#connections,
        metadata: this.#metadata,
        coordinators: this.#coordinators,
        clock: this.#clock,
        logger: this.#logger,
        cleanupPolicyOf: (topic) => this.#topics.cleanupPolicyOf(topic),
        onClosed: (closed) => this.#writers.delete(closed),
      },
      writerId,
      partitions,
    );
    this.#writers.add(writer);
    return writer;
  }

  async exportGroupOffsets(
    group: string,
    positions: readonly (TopicPartition & { readonly offset: Offset })[],
  ): Promise<void> {
    this.#assertOpen();
    await this.#groupOffsets.export(group, positions);
  }

  async groupOffsets(group: string): Promise<(TopicPartition & { readonly offset: Offset })[]> {
    this.#assertOpen();
    return this.#groupOffsets.of(group);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#reader.close();
    await this.#producer.close();
    // An open transaction would hold up readers everywhere until it times out.
    await Promise.all([...this.#writers].map((writer) => writer.close()));
    await this.#connections.close();
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw logClosed();
  }
}

/** @param broker `host:port`. A host with colons is in brackets. */
function addressOf(broker: string): BrokerAddress {
  const colon = broker.lastIndexOf(':');
  const host = broker.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  return { host, port: Number(broker.slice(colon + 1)) };
}

function logClosed(): LendstreamError {
  return new LendstreamError('LOG_CLOSED', 'The log is closed.');
}

/** Whether another attempt gets the same response: the settings are wrong, or those of the broker. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'KafkaJSSASLAuthenticationError' || isUntrustedCertificate(error) || isRefusal(error.cause);
}
