import { OpenStreams } from '../../src/http/streaming/open-streams.ts';
import { SlotQueue } from '../../src/broker/subscriptions/slot-queue.ts';
import { partitionCounts } from '../../src/broker/subscriptions/subscription-partitions.ts';
import { commitCursors, type CommitOutcome } from '../../src/broker/subscriptions/commits.ts';
import { resetCursors } from '../../src/broker/subscriptions/cursor-reset.ts';
import { EndOffsetCache } from '../../src/broker/subscriptions/end-offsets.ts';
import { DeadLetterQueue } from '../../src/broker/dead-letters/dead-letter-queue.ts';
import { EventTypes } from '../../src/broker/event-types/event-types.ts';
import { Publisher } from '../../src/broker/publishing/publisher.ts';
import { NodeLease } from '../../src/broker/streaming/node-lease.ts';
import { readStreamParameters } from '../../src/broker/streaming/stream-parameters.ts';
import { SubscriptionStream, type StreamServices } from '../../src/broker/streaming/subscription-stream.ts';
import type { Registry } from '../../src/broker/definitions/registry.ts';
import type { EventTypeRecord } from '../../src/broker/definitions/event-type.ts';
import { knownSubscription } from '../../src/broker/definitions/subscription-lookup.ts';
import { LendstreamError, isLendstreamError } from '../../src/errors.ts';
import { silentLogger } from '../../src/logger.ts';
import { createMetrics } from '../../src/metrics.ts';
import type { EventLog } from '../../src/ports/event-log.ts';
import type { Connection } from './connection.ts';
import type { StreamRules } from './invariants/observed-subscriptions.ts';
import { leaseMilliseconds, type SimulatedProcess } from './simulated-process.ts';
import type { NodeCoordination } from './simulated-store.ts';

/** Counted and never read: one for all runs. */
const metrics = createMetrics();

export interface NodeOptions {
  readonly process: SimulatedProcess;
  readonly registry: Registry;
  readonly log: EventLog;
  readonly coordination: NodeCoordination;
  readonly newStreamId: () => string;
  /** A number from 0 up to 1. */
  readonly random: () => number;
  /** Called when the lease of the node was renewed. */
  readonly onRenewed: () => void;
  readonly onStreamOpened: (subscriptionId: string, streamId: string, rules: StreamRules) => void;
}

/** A node of the service: the real broker, from the requests of clients to the ports. */
export class SimulatedNode {
  readonly process: SimulatedProcess;
  readonly coordination: NodeCoordination;
  readonly #options: NodeOptions;
  readonly #services: StreamServices & { readonly ends: EndOffsetCache };
  readonly #slots: SlotQueue;
  readonly #openStreams = new OpenStreams(metrics);
  readonly #streamIds = new Set<string>();
  readonly #streams = new Map<string, SubscriptionStream>();

  constructor(options: NodeOptions) {
    const { process, registry, log, coordination, newStreamId, onRenewed } = options;
    const { clock } = process;
    const logger = silentLogger;
    this.process = process;
    this.coordination = coordination;
    this.#options = options;
    const health = { reportReady: onRenewed, reportNotReady: () => {} };
    const lease = new NodeLease({ coordination, nodeId: process.name, leaseMilliseconds, clock, logger, health });
    const ends = new EndOffsetCache({ log, registry });
    const broker = { registry, log, coordination, clock, logger, metrics };
    const publisher = new Publisher({ ...broker, eventTypes: new EventTypes(broker), random: this.#options.random });
    const deadLetters = new DeadLetterQueue({ publisher, clock });
    this.#services = { ...broker, lease, ends, newStreamId, deadLetters, failingStreams: new Set() };
    this.#slots = new SlotQueue({ coordination, clock });
    // Like the router: the clients of these streams open new ones, which see the new partitions.
    const stopListening = registry.onChange(({ kind, name, value }) => {
      if (kind !== 'event-type' || value === null) return;
      const { partitionCount } = value as EventTypeRecord;
      process.receive(() =>
        this.#openStreams.closeWhere(
          ({ eventTypes }) => (eventTypes.get(name) ?? partitionCount) !== partitionCount,
          'repartitioned',
        ),
      );
    });
    process.whenDead(stopListening);
    // The lease itself retries after a failure.
    lease.start().catch(() => {});
  }

  /** The streams whose session is open as far as this node knows. */
  get streamIds(): ReadonlySet<string> {
    return this.#streamIds;
  }

  /** Why a stream of this node ends or has ended, in words; undefined while nothing ends it. */
  closeReason(streamId: string): string | undefined {
    return this.#streams.get(streamId)?.closeReason;
  }

  /** Ends every stream, as a process does that is told to stop. */
  closeStreams(): void {
    this.process.receive(() => this.#openStreams.closeWhere(() => true, 'server_shutdown'));
  }

  /**
   * Opens a stream and writes its lines to the connection until one of the two ends.
   * @param source The parameters of the request.
   * @returns the id of the stream
   */
  async openStream(
    subscriptionId: string,
    source: Readonly<Record<string, unknown>>,
    connection: Connection,
  ): Promise<string> {
    const { registry } = this.#services;
    const subscription = knownSubscription(registry, subscriptionId);
    const eventTypes = partitionCounts(registry, subscription);
    const parameters = readStreamParameters(source, eventTypes, this.#options.random());
    const waiting = new AbortController();
    connection.onClosedByClient = () => waiting.abort(new LendstreamError('REQUEST_TIMEOUT', 'The client is gone.'));
    const stream = await SubscriptionStream.open(this.#services, subscription, eventTypes, parameters, undefined, {
      queue: this.#slots,
      signal: waiting.signal,
      eventTypes: () => partitionCounts(registry, subscription),
    });
    const { streamId } = stream;
    this.#streamIds.add(streamId);
    this.#streams.set(streamId, stream);
    stream.onEnded = () => this.#streamIds.delete(streamId);
    this.#options.onStreamOpened(subscriptionId, streamId, parameters);
    if (connection.isClosedByClient) {
      stream.clientClosed();
      throw new LendstreamError('REQUEST_TIMEOUT', 'The client is gone.');
    }
    this.#openStreams.add(stream);
    connection.onClosedByClient = () => {
      stream.clientClosed();
      this.#openStreams.delete(stream);
    };
    stream.start();
    void this.#deliver(stream, connection);
    return streamId;
  }

  commit(subscriptionId: string, streamId: string, items: unknown): Promise<CommitOutcome> {
    return commitCursors(this.#services, subscriptionId, streamId, items);
  }

  resetCursors(subscriptionId: string, items: unknown): Promise<void> {
    return resetCursors(this.#services, subscriptionId, items);
  }

  async #deliver(stream: SubscriptionStream, connection: Connection): Promise<void> {
    try {
      await stream.untilStored();
      for (;;) {
        const chunk = await stream.next();
        if (chunk === null) break;
        const text = chunk.toString();
        chunk.release();
        await connection.write(stream.streamId, text);
      }
    } catch (error) {
      // A stream with strict commits that ended before the store learned what it was about to send.
      if (!isLendstreamError(error, 'COORDINATION_UNAVAILABLE')) throw error;
    }
    this.#openStreams.delete(stream);
    connection.end();
  }
}
