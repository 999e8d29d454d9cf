import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { EventTypes } from './broker/event-types.ts';
import { NodeLease } from './broker/node-lease.ts';
import { Publisher } from './broker/publishing.ts';
import { Registry } from './broker/registry.ts';
import { subscriptionLag } from './broker/subscription-statistics.ts';
import { systemClock, type Clock } from './clock.ts';
import type { Config } from './config.ts';
import { EmbeddedCoordination } from './embedded/coordination.ts';
import { EmbeddedLog } from './embedded/log.ts';
import { LendstreamError, describeError } from './errors.ts';
import { createApplication, createApplicationServer } from './http/application.ts';
import { createAuthentication } from './http/authentication.ts';
import { createCommandsRouter } from './http/commands.ts';
import { createCursorsRouter } from './http/cursors.ts';
import { createEventTypesRouter } from './http/event-types.ts';
import { openLoanView, type LendingServices } from './http/lending-services.ts';
import { createLoanProductsRouter } from './http/loan-products.ts';
import { createLoansRouter } from './http/loans.ts';
import { createOperationsRouter } from './http/operations.ts';
import { createPublishingRouter } from './http/publishing.ts';
import { createStreamsRouter } from './http/streams.ts';
import { createSubscriptionsRouter } from './http/subscriptions.ts';
import { createTogglesRouter } from './http/toggles.ts';
import type { Logger } from './logger.ts';
import { createMetrics, removeStaleSeries, type Metrics } from './metrics.ts';
import { packageRoot } from './schemas.ts';
import { ensureLendingTopics, lendingEventTypes, loanCommandsTopic } from './worker/lending-topics.ts';
import { LendingWorker } from './worker/lending-worker.ts';

export interface App {
  /** Begins to answer HTTP and returns the address. */
  start(): Promise<string>;
  /** Ends in reverse order: open streams get their last line, what is under way is finished. Once, however often called. */
  stop(): Promise<void>;
}

/** How long this process may go unheard before its streams count as gone. */
const leaseMilliseconds = 10_000;

/**
 * Puts the service together: whoever opens something pushes how it is closed, so that a start that fails half-way
 * leaves nothing behind.
 * @throws DATA_FOLDER_IN_USE, DATA_FOLDER_UNUSABLE, CONFIGURATION_INVALID
 */
export async function createApp(config: Config, logger: Logger, clock: Clock = systemClock): Promise<App> {
  const closers: (() => Promise<void> | void)[] = [];
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= closeAll(closers, logger);
    return stopping;
  };

  try {
    const metrics = createMetrics();
    const nodeId = randomUUID();
    const log = await EmbeddedLog.open({ dataFolder: config.dataFolder, logger, clock });
    closers.push(() => log.close());
    const registry = new Registry(log, logger);
    await registry.start();
    closers.push(() => registry.stop());
    const coordination = await EmbeddedCoordination.open({ log, clock, logger });
    closers.push(() => coordination.close());
    const eventTypes = new EventTypes({ registry, coordination, log, clock, logger });
    await eventTypes.registerSystemEventTypes(
      lendingEventTypes(config.lendingPartitions, config.retentionMilliseconds),
    );
    await ensureLendingTopics(log, config.lendingPartitions);

    const lease = new NodeLease({ coordination, nodeId, leaseMilliseconds, clock, logger });
    closers.push(() => lease.stop());
    await lease.start();

    if (config.roles.work) {
      const worker = new LendingWorker({
        log,
        registry,
        coordination,
        nodeId,
        clock,
        logger,
        metrics,
        partitionCount: config.lendingPartitions,
      });
      closers.push(() => worker.stop());
      await worker.start();
    }
    if (!config.roles.serve) return { start: () => Promise.resolve('no address: this process only works'), stop };

    const view = await openLoanView({
      dataFolder: config.dataFolder,
      log,
      partitionCount: config.lendingPartitions,
      logger,
    });
    closers.push(() => view.close());
    const publisher = new Publisher({ eventTypes, log, clock, metrics, logger });
    // The largest schema there is; the first request would wait for it.
    publisher.prepare(loanCommandsTopic);
    const broker = { registry, log, coordination, eventTypes, publisher, clock, logger, metrics, lease };
    const lending: LendingServices = { view, publisher, registry, clock, logger };
    const streams = createStreamsRouter(broker);
    const routers = [
      createAuthentication(config.apiKeys),
      streams.router,
      createCursorsRouter({ ...broker, endedStreamReason: (streamId) => streams.endedStreamReason(streamId) }),
      createPublishingRouter(broker),
      createSubscriptionsRouter(broker),
      createEventTypesRouter(broker),
      createLoansRouter(lending),
      createLoanProductsRouter(lending),
      createTogglesRouter(lending),
      createCommandsRouter(lending),
      createOperationsRouter({
        metrics,
        refreshMetrics: () => measureLag(metrics, broker),
        version: packageVersion(),
        notReadyReasons: () =>
          [stopping === undefined ? undefined : 'The process is stopping.', view.notReadyReason()].filter(
            (reason) => reason !== undefined,
          ),
      }),
    ];
    const server = createApplicationServer(createApplication(routers, logger));
    closers.push(() => closeServer(server));
    closers.push(() => streams.closeAll('server_shutdown'));
    return { start: () => listen(server, config), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function closeAll(closers: (() => Promise<void> | void)[], logger: Logger): Promise<void> {
  for (const close of closers.toReversed()) {
    try {
      await close();
    } catch (error) {
      logger.error({ error: describeError(error) }, 'Something could not be closed in order');
    }
  }
}

async function listen(server: Server, { host, port }: Config): Promise<string> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const inUse = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    const detail = inUse
      ? `Port ${port} on ${host} is in use: stop what listens there, or choose another with PORT=<number>.`
      : `Cannot listen on ${host}, port ${port}: ${describeError(error)}`;
    throw new LendstreamError('ADDRESS_UNAVAILABLE', detail, { cause: error });
  }
  const address = server.address();
  const boundPort = typeof address === 'object' && address !== null ? address.port : port;
  return `http://${host.includes(':') ? `[${host}]` : host}:${boundPort}`;
}

/** Takes no new connection, and ends the idle ones, which would otherwise keep the process alive. */
async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), connectionGraceMilliseconds);
  await closed;
  clearTimeout(cut);
}

/** How long answers under way may take when the process is asked to stop. */
const connectionGraceMilliseconds = 2_000;

/** Lag is worked out when somebody asks for it, not all the time, and what is gone is forgotten then. */
async function measureLag(metrics: Metrics, broker: Parameters<typeof subscriptionLag>[0]): Promise<void> {
  const lags = await subscriptionLag(broker);
  metrics.subscriptionLag.reset();
  for (const { subscriptionId, eventType, unconsumedEvents } of lags) {
    metrics.subscriptionLag.set({ subscription_id: subscriptionId, event_type: eventType }, unconsumedEvents);
  }
  await removeStaleSeries(metrics, {
    isSubscription: (id) => broker.registry.get('subscription', id) !== undefined,
    isEventType: (name) => broker.registry.get('event-type', name) !== undefined,
  });
}

function packageVersion(): string {
  return (JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string }).version;
}
