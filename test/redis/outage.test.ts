import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import { DeadLetterQueue } from '../../src/broker/dead-letters/dead-letter-queue.ts';
import { EventTypes } from '../../src/broker/event-types/event-types.ts';
import { Publisher } from '../../src/broker/publishing/publisher.ts';
import { NodeLease } from '../../src/broker/streaming/node-lease.ts';
import { Registry } from '../../src/broker/definitions/registry.ts';
import { readStreamParameters } from '../../src/broker/streaming/stream-parameters.ts';
import { SubscriptionStream, type StreamServices } from '../../src/broker/streaming/subscription-stream.ts';
import type { Subscription } from '../../src/broker/definitions/subscription.ts';
import { systemClock } from '../../src/clock.ts';
import { silentLogger } from '../../src/logger.ts';
import { createMetrics } from '../../src/metrics.ts';
import { startRedisServer, type RedisServer } from '../support/processes/redis-server.ts';
import { openTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { openRedisHarness, type RedisHarness } from './harness.ts';

const eventType = 'outage.loans';
const leaseMilliseconds = 3_600;
const logger = silentLogger;
const clock = systemClock;

/** A process with its own connection to Redis and its own lease. */
interface Process {
  readonly proxy: TcpProxy;
  readonly services: StreamServices;
}

describe('processes that were all without Redis for longer than their leases', function () {
  this.timeout(40_000);
  let redis: RedisServer;
  let harness: RedisHarness;
  let registry: Registry;
  const closers: (() => Promise<void> | void)[] = [];

  before(async () => {
    redis = await startRedisServer();
    harness = await openRedisHarness(redis.url);
    registry = new Registry(harness.log, logger);
    await registry.start();
    await harness.log.createTopic({
      name: eventType,
      partitionCount: 2,
      cleanupPolicy: 'delete',
      retentionMilliseconds: 3_600_000,
    });
  });

  after(async () => {
    for (const close of closers.toReversed()) await close();
    await registry.stop();
    await harness.close();
    await redis.stop();
  });

  const startProcess = async (): Promise<Process> => {
    const proxy = await openTcpProxy({ host: '127.0.0.1', port: redis.port });
    closers.push(() => proxy.close());
    const coordination = await harness.open({ redisUrl: `redis://127.0.0.1:${proxy.port}` });
    const lease = new NodeLease({ coordination, nodeId: randomUUID(), leaseMilliseconds, clock, logger });
    await lease.start();
    closers.push(() => lease.stop());
    const { log } = harness;
    const broker = { registry, log, coordination, clock, logger, metrics: createMetrics() };
    const publisher = new Publisher({ ...broker, eventTypes: new EventTypes(broker) });
    const deadLetters = new DeadLetterQueue({ publisher, clock });
    return { proxy, services: { ...broker, lease, deadLetters, failingStreams: new Set() } };
  };

  const openStream = async ({ services }: Process, id: string, query: object): Promise<SubscriptionStream> => {
    const eventTypes = new Map([[eventType, 2]]);
    const parameters = readStreamParameters({ batch_flush_timeout: '1', ...query }, eventTypes, 0.5);
    const subscription = { id, event_types: [eventType], read_from: 'begin', initial_cursors: [] };
    const stream = await SubscriptionStream.open(
      services,
      subscription as unknown as Subscription,
      eventTypes,
      parameters,
    );
    closers.push(() => stream.clientClosed());
    stream.start();
    return stream;
  };

  /** Reads to the end and keeps the result. */
  const read = (stream: SubscriptionStream): string[] => {
    const lines: string[] = [];
    const readOn = async (): Promise<void> => {
      for (let chunk = await stream.next(); chunk !== null; chunk = await stream.next()) {
        lines.push(Buffer.concat(chunk.pieces).toString());
      }
    };
    void readOn();
    return lines;
  };

  const until = async (condition: () => boolean | Promise<boolean>, milliseconds: number): Promise<void> => {
    const deadline = performance.now() + milliseconds;
    while (!(await condition())) {
      if (performance.now() > deadline) throw new Error(`Waited in vain for ${String(condition)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };

  it('end no stream: the first process that is back leaves the others time to return', async () => {
    const processes = [await startProcess(), await startProcess()] as const;
    const id = randomUUID();
    const streams = [await openStream(processes[0], id, {}), await openStream(processes[1], id, {})] as const;
    const lines = streams.map(read);
    const { coordination } = processes[0].services;
    const streamIds = streams.map(({ streamId }) => streamId);
    await until(async () => {
      const { partitions } = await coordination.topology(id);
      return new Set(partitions.flatMap(({ state, streamId }) => (state === 'assigned' ? [streamId] : []))).size === 2;
    }, 20_000);

    for (const { proxy } of processes) proxy.setMode({ kind: 'cut' });
    await new Promise((resolve) => setTimeout(resolve, 1.5 * leaseMilliseconds));
    processes[0].proxy.setMode({ kind: 'pass' });
    await until(
      () =>
        coordination.topology(id).then(
          () => true,
          () => false,
        ),
      20_000,
    );
    // As a process does that opens a stream.
    await coordination.reapSessions(id);
    await new Promise((resolve) => setTimeout(resolve, 600));
    processes[1].proxy.setMode({ kind: 'pass' });
    await new Promise((resolve) => setTimeout(resolve, leaseMilliseconds));

    for (const stream of streams) expect(stream.closeReason).to.equal(undefined);
    const { sessions, partitions } = await coordination.topology(id);
    expect(sessions.map(({ streamId }) => streamId)).to.have.members(streamIds);
    expect(partitions.map(({ streamId }) => streamId)).to.have.members(streamIds);
    for (const partition of [0, 1]) {
      await harness.log.append([
        { topic: eventType, partition, records: [{ key: null, value: Buffer.from(`{"number":${partition}}`) }] },
      ]);
    }
    await until(() => lines.every((received) => received.some((line) => line.includes('"number"'))), 20_000);
  });
});
