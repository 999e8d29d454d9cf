import { RecentLags } from '../../src/broker/subscriptions/recent-lags.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Coordination } from '../../src/ports/coordination.ts';
import type { EventLog } from '../../src/ports/event-log.ts';
import { EventTypes } from '../../src/broker/event-types/event-types.ts';
import { Publisher } from '../../src/broker/publishing/publisher.ts';
import { Registry } from '../../src/broker/definitions/registry.ts';
import { systemClock, type Clock } from '../../src/clock.ts';
import { createApplication, createApplicationServer } from '../../src/http/edge/application.ts';
import { createEventTypesRouter } from '../../src/http/streaming/event-types.ts';
import { createPublishingRouter } from '../../src/http/streaming/publishing.ts';
import { silentLogger, type Logger } from '../../src/logger.ts';
import { createMetrics } from '../../src/metrics.ts';
import { openCoordinationUnderTest, openLogUnderTest } from './backend-under-test.ts';
import { readAll } from './log-reading.ts';

/** Event types and publishing on the backend under test, with separate data. */
export interface Broker {
  readonly log: EventLog;
  readonly registry: Registry;
  readonly coordination: Coordination;
  readonly eventTypes: EventTypes;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly logger: Logger;
  close(): Promise<void>;
}

/** @param changed Wraps the log that events are published to. */
export async function openBroker(changed: (log: EventLog) => EventLog = (same) => same): Promise<Broker> {
  const dataFolder = await mkdtemp(join(tmpdir(), 'lendstream-broker-'));
  const log = await openLogUnderTest(dataFolder);
  const registry = new Registry(log, silentLogger);
  await registry.start();
  const coordination = await openCoordinationUnderTest(dataFolder, log);
  const eventTypes = new EventTypes({
    registry,
    coordination,
    log,
    clock: systemClock,
    logger: silentLogger,
    // Nothing else creates anything here, so there is nothing to wait for.
    creationMillisecondsMaximum: 100,
  });
  const publisher = new Publisher({
    eventTypes,
    log: changed(log),
    clock: systemClock,
    metrics: createMetrics(),
    logger: silentLogger,
  });
  return {
    log,
    registry,
    coordination,
    eventTypes,
    publisher,
    clock: systemClock,
    logger: silentLogger,
    close: async () => {
      await coordination.close();
      await registry.stop();
      await log.close();
      await rm(dataFolder, { recursive: true, force: true });
    },
  };
}

/** The same behind a real server. */
export async function serveBroker(changed?: (log: EventLog) => EventLog): Promise<Broker & { readonly url: string }> {
  const broker = await openBroker(changed);
  const routers = [createEventTypesRouter({ ...broker, lags: new RecentLags(broker) }), createPublishingRouter(broker)];
  const server = createApplicationServer(createApplication(routers, silentLogger));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    ...broker,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await broker.close();
    },
  };
}

/** The records of a partition, from the first one, as text. */
export async function storedTexts(log: EventLog, topic: string, partition = 0): Promise<string[]> {
  const stored = await readAll(log, { topic, partition }, undefined, 8 * 1024 * 1024);
  return stored.map(({ value }) => value ?? '');
}

/** An event type as an admin would post it: category business and any properties by default. */
export function eventTypeBody(name: string, changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    name,
    owning_application: 'core',
    category: 'business',
    enrichment_strategies: ['metadata_enrichment'],
    schema: { type: 'json_schema', schema: '{"type":"object","properties":{"order":{"type":"string"}}}' },
    ...changes,
  };
}

export const exampleEid = '4ae5011e-eb01-11e5-8b4a-1c6f65464fc6';

export function exampleMetadata(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { eid: exampleEid, occurred_at: '2026-03-15T23:47:15+01:00', ...changes };
}
