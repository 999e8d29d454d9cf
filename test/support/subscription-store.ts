import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RequestHandler } from 'express';
import { randomUUID } from 'node:crypto';
import { applyRebalance } from '../../src/broker/subscriptions/ownership-changes.ts';
import { openSession } from '../../src/broker/subscriptions/stream-slots.ts';
import { initialisePartitions } from '../../src/broker/subscriptions/starting-offsets.ts';
import { partitionCounts } from '../../src/broker/subscriptions/subscription-partitions.ts';
import type { Coordination } from '../../src/ports/coordination.ts';
import type { EventLog } from '../../src/ports/event-log.ts';
import type { EventTypeRecord } from '../../src/broker/definitions/event-type.ts';
import { EndOffsetCache } from '../../src/broker/subscriptions/end-offsets.ts';
import { Registry } from '../../src/broker/definitions/registry.ts';
import type { Subscription } from '../../src/broker/definitions/subscription.ts';
import { systemClock, type Clock } from '../../src/clock.ts';
import { createApplication, createApplicationServer } from '../../src/http/edge/application.ts';
import { silentLogger, type Logger } from '../../src/logger.ts';
import { createMetrics, type Metrics } from '../../src/metrics.ts';
import { openCoordinationUnderTest, openLogUnderTest } from './backend-under-test.ts';

/** The services that subscriptions need, on the backend under test with separate data. */
export interface SubscriptionStore {
  readonly log: EventLog;
  readonly registry: Registry;
  readonly ends: EndOffsetCache;
  readonly coordination: Coordination;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Defines an event type with its topic. */
  define(name: string, partitionCount?: number): Promise<void>;
  /** Appends events with any content. */
  publish(name: string, partition: number, count: number): Promise<void>;
  /** Opens the session of a stream and assigns its partitions; returns the stream id. */
  join(subscription: Subscription, requestedPartitions?: readonly number[]): Promise<string>;
  close(): Promise<void>;
}

const nodeId = 'test';

export async function openSubscriptionStore(): Promise<SubscriptionStore> {
  const dataFolder = await mkdtemp(join(tmpdir(), 'lendstream-subscriptions-'));
  const log = await openLogUnderTest(dataFolder);
  const registry = new Registry(log, silentLogger);
  await registry.start();
  const coordination = await openCoordinationUnderTest(dataFolder, log);
  await coordination.renewLease(nodeId, 600_000);
  return {
    log,
    registry,
    ends: new EndOffsetCache({ log, registry }),
    coordination,
    clock: systemClock,
    logger: silentLogger,
    metrics: createMetrics(),
    define: async (name, partitionCount = 1) => {
      const topic = { name, partitionCount, cleanupPolicy: 'delete', retentionMilliseconds: 86_400_000 } as const;
      await log.createTopic(topic);
      await registry.put('event-type', name, { partitionCount } satisfies Pick<EventTypeRecord, 'partitionCount'>);
    },
    publish: async (topic, partition, count) => {
      const record = { key: null, value: Buffer.from('{"a":1}') };
      const [result] = await log.append([{ topic, partition, records: Array.from({ length: count }, () => record) }]);
      if (result?.outcome !== 'appended') throw result?.error ?? new Error('No result');
    },
    join: async (subscription, requestedPartitions = []) => {
      const streamId = randomUUID();
      const counts = partitionCounts(registry, subscription);
      await initialisePartitions(log, coordination, subscription, counts);
      const eventType = subscription.event_types[0] ?? '';
      await openSession(coordination, subscription.id, {
        streamId,
        nodeId,
        requestedPartitions: requestedPartitions.map((partition) => ({ eventType, partition })),
        openedAt: Date.now(),
        commitTimeoutMilliseconds: 0,
      });
      await applyRebalance(coordination, subscription.id);
      return streamId;
    },
    close: async () => {
      await coordination.close();
      await registry.stop();
      await log.close();
      await rm(dataFolder, { recursive: true, force: true });
    },
  };
}

export interface Served {
  readonly url: string;
  close(): Promise<void>;
}

/** These routers behind a real server on a free port. */
export async function serve(routers: readonly RequestHandler[]): Promise<Served> {
  const server = createApplicationServer(createApplication(routers, silentLogger));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
