import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import { hostname } from 'node:os';
import { openBackend, type Backend } from './backend.ts';
import type { Coordination } from './ports/coordination.ts';
import type { PublishedIds } from './ports/published-ids.ts';
import type { EventLog } from './ports/event-log.ts';
import { LettersOfDeletedKeys } from './broker/dead-letters/letters-of-deleted-keys.ts';
import { DeadLetterQueue, deadLetterEventType } from './broker/dead-letters/dead-letter-queue.ts';
import { deadLetterQueue } from './broker/definitions/unprocessable-events.ts';
import { EventTypes } from './broker/event-types/event-types.ts';
import { LaterCompaction } from './broker/event-types/later-compaction.ts';
import { HistoryRecorder } from './broker/subscriptions/history-recorder.ts';
import { LogHealthCheck } from './broker/log/log-health-check.ts';
import { NodeLease } from './broker/streaming/node-lease.ts';
import { diskOf } from './broker/overview/disk.ts';
import { ActivityHistory } from './broker/overview/activity-history.ts';
import { NodeReporter } from './broker/overview/node-reporter.ts';
import { Publisher } from './broker/publishing/publisher.ts';
import type { StreamingLimits } from './broker/definitions/streaming-limits.ts';
import { Registry, registryTopic } from './broker/definitions/registry.ts';
import { LagHistory } from './broker/subscriptions/lag-history.ts';
import { RecentLags } from './broker/subscriptions/recent-lags.ts';
import { after, systemClock, type Clock } from './clock.ts';
import type { Config } from './config.ts';
import { LendstreamError, describeError, isLendstreamError } from './errors.ts';
import { createApplication, createApplicationServer } from './http/edge/application.ts';
import { createAdminRouter } from './http/edge/admin-page.ts';
import { createApiDescriptionRouter } from './http/edge/api-description.ts';
import { auditEventTypeOf } from './audit/audit-entry.ts';
import { openAccess, type AccessServices } from './access-services.ts';
import { createApiKeysRouter } from './http/access/api-keys.ts';
import { createLoadShedding } from './http/access/limits/load-shedding.ts';
import { bodiesInFlight } from './http/edge/bodies-in-flight.ts';
import { createCompressionRouter } from './http/edge/compression/response-compression.ts';
import { createCommit, createCursorsRouter } from './http/streaming/cursors.ts';
import { createMambuStreamingRouter } from './http/streaming/mambu/mambu-streaming.ts';
import { createEventTypeChecksRouter } from './http/streaming/event-type-checks.ts';
import { createEventTypeEventsRouter } from './http/streaming/event-type-events.ts';
import { createEventTypesRouter } from './http/streaming/event-types.ts';
import { EndOfDaySchedule, requireCronExpression } from './worker/end-of-day-schedule.ts';
import { closeBusinessDay } from './http/lending/business-days.ts';
import type { LendingServices } from './http/lending/services.ts';
import { createLendingApi } from './http/lending/lending-api.ts';
import { behaviourRelease } from './http/lending/api-versions.ts';
import { createOperationsRouter, type OperationsServices } from './http/edge/health-and-metrics.ts';
import { createCrossOriginAccess } from './http/edge/browsers/cross-origin-access.ts';
import { createOriginPolicy } from './http/edge/origin-policy.ts';
import { measureEventLoopDelay, type EventLoopDelay } from './http/edge/overload/event-loop-delay.ts';
import { Overload, overloadWindowMilliseconds } from './http/edge/overload/overload.ts';
import { createNotSupportedRouter } from './http/streaming/not-supported.ts';
import { createCursorMovesRouter } from './http/streaming/finding/cursor-moves.ts';
import { createLagHistoryRouter } from './http/streaming/finding/lag-history.ts';
import { createOverviewRouter, type OverviewServices } from './http/streaming/finding/overview.ts';
import { createDeadLettersRouter } from './http/streaming/dead-letters.ts';
import { createEventTypeHistoryRouter } from './http/streaming/finding/event-type-history.ts';
import { EventPages } from './http/streaming/finding/event-pages.ts';
import { createRetainedEventsRouter } from './http/streaming/finding/retained-events.ts';
import { createPublishingRouter } from './http/streaming/publishing.ts';
import { createSettingsRouter } from './http/streaming/settings.ts';
import { reportRefusedBodies } from './http/edge/refused-bodies.ts';
import type { ClientCertificatesOptions } from './http/edge/tls/client-certificates.ts';
import { checkTls, readTlsFiles, type TlsMaterial } from './http/edge/tls/tls-files.ts';
import { renewTls } from './http/edge/tls/tls-renewal.ts';
import { createProxyCheck } from './http/edge/tls/trusted-proxies.ts';
import { createStartGate } from './http/edge/start-gate.ts';
import { createStreamTokensRouter } from './http/streaming/stream-tokens.ts';
import { createSubscriptionEventsRouter } from './http/streaming/subscription-events.ts';
import { createSubscriptionStreamsRouter } from './http/streaming/subscription-streams.ts';
import { createSubscriptionsRouter } from './http/streaming/subscriptions.ts';
import { Health } from './health.ts';
import type { Logger } from './logger.ts';
import {
  createMetrics,
  removeStaleSeries,
  removeStaleSeriesRegularly,
  setLags,
  type ExistingLabels,
  type Metrics,
} from './metrics.ts';
import { packageVersion } from './package-root.ts';
import {
  deadLettersTopic,
  ensureLendingTopics,
  lendingEventTypes,
  loanCommandsTopic,
} from './lending-format/lending-topics.ts';
import { maskedLog } from './lending-format/personal-data/masked-log.ts';
import { refuseEarlierFormat } from './lending-format/earlier-log-format.ts';
import { AccountsCopy } from './accounts/accounts-copy.ts';
import { ErasedDataRemoval } from './worker/personal-data/erased-data-removal.ts';
import { LendingWorker } from './worker/lending-worker.ts';

export interface StartOptions {
  /**
   * Called with the address as soon as the process listens. Until the start has ended, it serves only what operators
   * and browsers look at; every other request gets 503.
   */
  readonly onListening?: (address: string) => void;
}

export interface App {
  /**
   * Listens, fills the local copy of accounts from the log, and begins to work. Returns the address when everything is
   * served.
   * @throws ADDRESS_UNAVAILABLE, LOG_CLOSED when it is stopped before, and the errors of the log and the coordination
   */
  start(options?: StartOptions): Promise<string>;
  /**
   * Closes all parts in reverse order: open streams get their last line, work under way is finished. It happens once,
   * however often this is called.
   */
  stop(): Promise<void>;
  /** Resolves, with the reason, when something has failed that the process cannot continue without: stop it then. */
  readonly ended: Promise<string>;
}

/** Dead letters have whole commands and events, and lie in the log for months. */
export const overwrittenTopics: readonly string[] = [deadLettersTopic, deadLetterQueue];

/** How long this process may be silent before its streams count as gone. Milliseconds. */
const leaseMilliseconds = 10_000;

/**
 * Assembles the service, which then has to be started. Each part that is opened registers how to close it, so that a
 * start that fails half-way leaves nothing behind.
 * @param eventLoopDelay What tells whether the process is overloaded. Default: how late its event loop is.
 * @throws DATA_FOLDER_IN_USE, DATA_FOLDER_UNUSABLE, CONFIGURATION_INVALID
 */
export async function createApp(
  config: Config,
  logger: Logger,
  clock: Clock = systemClock,
  eventLoopDelay?: EventLoopDelay,
): Promise<App> {
  const cleanups: (() => Promise<void> | void)[] = [];
  const health = new Health(clock);
  const processHealth = health.part('process');
  processHealth.reportNotReady('The process is starting.');
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    processHealth.reportNotReady('The process is stopping.');
    stopping ??= closeAll(cleanups, logger);
    return stopping;
  };

  const registerCleanup = (close: () => Promise<void> | void): void => void cleanups.push(close);

  try {
    const tls = config.tls === undefined ? undefined : checkTls(await readTlsFiles(config.tls), clock.now());
    const backend = await openBackend({ config, logger, clock, health, overwrittenTopics, registerCleanup });
    const { log, coordination, publishedIds, viewFolder } = backend;
    await refuseEarlierFormat(log);
    const registry = new Registry(log, logger, health.part('definitions'), clock);
    await registry.start();
    registerCleanup(() => registry.stop());
    const registryPartition = { topic: registryTopic, partition: 0 };
    const healthCheck = new LogHealthCheck({ log, partition: registryPartition, clock, health: health.part('log') });
    registerCleanup(() => healthCheck.close());
    const { streaming: limits } = config;
    const eventTypes = new EventTypes({ registry, coordination, log, clock, logger, limits });
    const { lendingPartitions: partitionCount, retentionMilliseconds, idempotencyMilliseconds } = config;
    await eventTypes.registerSystemEventTypes([
      ...lendingEventTypes(partitionCount, retentionMilliseconds),
      deadLetterEventType(),
      auditEventTypeOf(config.auditRetentionMilliseconds),
    ]);
    await ensureLendingTopics(log, partitionCount);
    const laterCompaction = new LaterCompaction({ eventTypes, clock, logger });
    registerCleanup(() => laterCompaction.stop());

    const nodeId = randomUUID();
    const leaseHealth = health.part('coordination');
    const lease = new NodeLease({ coordination, nodeId, leaseMilliseconds, clock, logger, health: leaseHealth });
    registerCleanup(() => lease.stop());
    await lease.start();

    const metrics = createMetrics();
    registerCleanup(reportRefusedBodies(bodiesInFlight, { metrics, logger, clock }));
    const overload = new Overload({
      delay: eventLoopDelay ?? measureEventLoopDelay(overloadWindowMilliseconds),
      bodies: bodiesInFlight,
      clock,
      metrics,
      logger,
    });
    registerCleanup(() => overload.close());
    const shared: SharedServices = {
      registry,
      log: maskedLog(log, registry),
      coordination,
      publishedIds,
      eventTypes,
      clock,
      logger,
      metrics,
      lease,
      limits,
    };
    const accountsHealth = health.part('accounts-copy');
    const accounts = await AccountsCopy.open({
      dataFolder: viewFolder,
      log,
      partitionCount,
      // The worker looks up one account after another.
      isSearched: config.roles.serve,
      clock,
      logger,
      health: accountsHealth,
    });
    registerCleanup(() => accounts.close());
    const workerOptions = { nodeId, partitionCount, idempotencyMilliseconds, retentionMilliseconds, copy: accounts };
    const { erasureMilliseconds } = config;
    const removalOptions = { log, registry, copy: accounts, clock, logger, erasureMilliseconds, retentionMilliseconds };
    const removal = new ErasedDataRemoval(removalOptions);
    registerCleanup(() => removal.stop());
    const worker = config.roles.work ? new LendingWorker({ ...shared, ...workerOptions, log }) : undefined;
    if (worker !== undefined) registerCleanup(() => worker.stop());
    const who = await openAccess({ config, log, registry, coordination, clock, logger, metrics, registerCleanup });
    const operations: OperationsServices = {
      metrics,
      version: packageVersion,
      release: behaviourRelease,
      refreshMetrics: async () => {
        reportIntegrity(metrics, [...backend.checkedFiles, accounts]);
        await worker?.measure();
      },
      health,
    };
    const facts = {
      nodeId,
      host: hostname(),
      version: packageVersion,
      roles: (['serve', 'work'] as const).filter((role) => config.roles[role]),
      startedAt: clock.now(),
    };
    const { routers, openStreams, endStreams, startSchedule } = config.roles.serve
      ? openApi(shared, {
          accounts,
          ...config,
          partitionCount,
          operations,
          ...who,
          registerCleanup,
          process: { ...facts, dataFolder: viewFolder, leaseMilliseconds },
        })
      : {
          routers: [createOperationsRouter(operations)],
          openStreams: () => noStreams,
          endStreams: () => Promise.resolve(),
          startSchedule: () => {},
        };
    const reporter = new NodeReporter({
      coordination,
      facts,
      state: () => ({
        isReady: health.notReadyReasons().length === 0,
        loanPartitions: worker?.partitions.length ?? 0,
        ...openStreams(),
      }),
      leaseMilliseconds,
      clock,
      logger,
    });
    registerCleanup(() => reporter.stop());
    const originPolicy = createOriginPolicy({
      isOpen: config.isOpen,
      allowedHosts: config.allowedHosts,
      allowedOrigins: config.corsOrigins,
    });
    const gate = createStartGate(() => health.notReadyReasons());
    const shedding = createLoadShedding(overload);
    const application = createApplication(
      [shedding, who.authentication, gate.router, ...who.guards, ...routers, ...who.afterErrors],
      logger,
      {
        clock,
        refuseCrossOrigin: originPolicy,
        onError: who.reportRefusal,
        crossOriginAccess: config.corsOrigins.length === 0 ? undefined : createCrossOriginAccess(config.corsOrigins),
        isTls: tls !== undefined,
        clientCertificates: clientCertificatesOf(config, clock),
      },
    );
    const server = openServer(application, tls, { config, clock, logger, metrics, registerCleanup });
    registerCleanup(() => closeServer(server, clock));
    // Runs before the server closes, which cuts off the streams that are still open.
    registerCleanup(endStreams);
    const refuseWhenStopping = (): void => {
      if (stopping !== undefined) throw new LendstreamError('LOG_CLOSED', 'The process was stopped during its start.');
    };
    const start = async ({ onListening = () => {} }: StartOptions = {}): Promise<string> => {
      try {
        const address = await listen(server, config);
        onListening(address);
        reporter.start(address);
        await accounts.fill();
        refuseWhenStopping();
        await worker?.start();
        refuseWhenStopping();
        processHealth.reportReady();
        reporter.reportChange();
        gate.open();
        startSchedule();
        return address;
      } catch (error) {
        await stop();
        throw error;
      }
    };
    return { start, stop, ended: health.ended };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What a process without an API has open. */
const noStreams = { subscriptionStreams: 0, streamPartitions: 0, eventTypeStreams: 0 };

/** The services that both roles use. */
interface SharedServices {
  readonly registry: Registry;
  readonly log: EventLog;
  readonly coordination: Coordination;
  readonly publishedIds: PublishedIds;
  readonly eventTypes: EventTypes;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly lease: NodeLease;
  readonly limits: StreamingLimits;
}

interface ApiOptions extends Pick<AccessServices, 'streamTokens' | 'keys' | 'access'> {
  readonly accounts: AccountsCopy;
  readonly partitionCount: number;
  readonly idempotencyMilliseconds: number;
  readonly endOfDaySchedule: string | null;
  /** The most lags that have a series in the metrics. */
  readonly lagSeriesMaximum: number;
  readonly operations: OperationsServices;
  /** Whether requests without credentials pass. */
  readonly isOpen: boolean;
  readonly registerCleanup: (close: () => Promise<void> | void) => void;
  readonly process: OverviewServices['process'];
}

interface Api {
  /** All routers, in the order in which they see a request. */
  readonly routers: Parameters<typeof createApplication>[0];
  /** How many streams and partitions consumers have open. */
  readonly openStreams: () => typeof noStreams;
  /** Gives every open stream its last line. */
  readonly endStreams: () => Promise<void>;
  /** Begins to close business days at their times. */
  readonly startSchedule: () => void;
}

function openApi(shared: SharedServices, options: ApiOptions): Api {
  const { registry, log, publishedIds, eventTypes, clock, logger, metrics } = shared;
  const { accounts, partitionCount, idempotencyMilliseconds, endOfDaySchedule, operations, registerCleanup } = options;
  if (endOfDaySchedule !== null) requireCronExpression(endOfDaySchedule);
  const publisher = new Publisher({ eventTypes, log, publishedIds, clock, metrics, logger });
  // Without this series an alert could not see that the very first command is not decided.
  metrics.publishedEvents.inc({ event_type: loanCommandsTopic }, 0);
  const staleSeries = removeStaleSeriesRegularly(metrics, existingIn(registry), clock);
  registerCleanup(() => staleSeries.cancel());
  const broker = { ...shared, publisher };
  const accountServices = { accounts, publisher, registry, clock, logger, partitionCount };
  const lending: LendingServices = { ...accountServices, idempotencyMilliseconds };
  const closeDay = (businessDate: string): Promise<boolean> => closeBusinessDay(lending, businessDate);
  const schedule =
    endOfDaySchedule === null ? undefined : new EndOfDaySchedule({ ...lending, closeDay }, endOfDaySchedule);
  if (schedule !== undefined) registerCleanup(() => schedule.stop());
  const activity = new HistoryRecorder(shared);
  registerCleanup(() => activity.close());
  const lags = new RecentLags(shared);
  const lagHistory = new LagHistory(clock, lags);
  const history = new ActivityHistory(clock, metrics, async () => {
    const [unconsumedEvents, disk] = await Promise.all([
      lagHistory.look(),
      diskOf(options.process.dataFolder),
      operations.refreshMetrics(),
    ]);
    // The metric has a series for each subscription: adding up thousands would cost more than all the rest.
    const openStreams = streams.openStreams.size;
    return { openStreams, unconsumedEvents, diskUsedBytes: disk === null ? null : disk.totalBytes - disk.freeBytes };
  });
  registerCleanup(() => history.stop());
  const reportFailedLook = (error: unknown): void =>
    logger.warn({ error: describeError(error) }, 'The overview lacks an interval');
  history.start(reportFailedLook).catch(reportFailedLook);
  const deadLetterTopics = {
    commands: { name: deadLettersTopic, partitionCount },
    subscriptions: { name: deadLetterQueue, partitionCount: deadLetterEventType().partitionCount },
  };
  const pages = new EventPages(broker);
  const deadLetters = new DeadLetterQueue(broker);
  const lettersOfDeletedKeys = new LettersOfDeletedKeys({
    ...broker,
    partitionCount: deadLetterTopics.subscriptions.partitionCount,
  });
  const streams = createSubscriptionEventsRouter({ ...broker, deadLetters, failingStreams: new Set() }, activity);
  const eventTypeStreams = createEventTypeEventsRouter(broker);
  const committing = {
    ...broker,
    activity,
    endedStreamReason: (streamId: string) => streams.endedStreamReason(streamId),
  };
  const commit = createCommit(committing);
  const routers = [
    // Commits come most often.
    createCursorsRouter(committing, commit),
    streams.router,
    eventTypeStreams.router,
    createPublishingRouter({ ...broker, lettersOfDeletedKeys }),
    createMambuStreamingRouter({ ...broker, streams, commit }),
    createCompressionRouter(),
    createStreamTokensRouter({ ...broker, tokens: options.streamTokens, access: options.access }),
    createApiKeysRouter(options),
    createSubscriptionStreamsRouter({ ...broker, activity }),
    createSubscriptionsRouter({ ...broker, lags, lagHistory }),
    createLagHistoryRouter(broker, lagHistory),
    createCursorMovesRouter(broker),
    createEventTypesRouter({ ...broker, lags }),
    createRetainedEventsRouter({ ...broker, pages, otherTopics: new Map([[deadLettersTopic, partitionCount]]) }),
    createDeadLettersRouter({ ...broker, topics: deadLetterTopics, commandsTopic: loanCommandsTopic, pages }),
    createEventTypeHistoryRouter({ ...broker, lags }),
    createEventTypeChecksRouter(broker),
    createSettingsRouter(broker),
    createNotSupportedRouter(),
    createLendingApi({ ...lending, log, endOfDaySchedule }),
    createApiDescriptionRouter(),
    createAdminRouter(),
    createOverviewRouter({
      ...broker,
      health: operations.health,
      lags,
      history,
      process: options.process,
      deadLetterTopics,
    }),
    createOperationsRouter({
      ...operations,
      refreshMetrics: async () => {
        await Promise.all([operations.refreshMetrics(), measureLag(metrics, broker, lags, options.lagSeriesMaximum)]);
      },
    }),
  ];
  const endStreams = async (): Promise<void> => {
    await Promise.all([eventTypeStreams.closeAll(), streams.closeAll('server_shutdown')]);
  };
  const openStreams = (): typeof noStreams => ({
    subscriptionStreams: streams.openStreams.size,
    streamPartitions: streams.openStreams.partitionCount,
    eventTypeStreams: eventTypeStreams.openStreams(),
  });
  return { routers, openStreams, endStreams, startSchedule: () => schedule?.start() };
}

async function closeAll(cleanups: (() => Promise<void> | void)[], logger: Logger): Promise<void> {
  for (const close of cleanups.toReversed()) {
    try {
      await close();
    } catch (error) {
      logger.error({ error: describeError(error) }, 'Part of the shutdown failed');
    }
  }
}

/** What clients prove, directly or through proxies; undefined where neither is set up. */
function clientCertificatesOf(config: Config, clock: Clock): ClientCertificatesOptions | undefined {
  const { tls, trustedProxies, clientCertificateHeader: header } = config;
  const areAsked = tls?.clientCa !== undefined;
  if (!areAsked && trustedProxies.length === 0) return undefined;
  const isRequired = tls?.isClientCertificateRequired ?? false;
  return { areAsked, isRequired, header, isTrustedProxy: createProxyCheck(trustedProxies), clock };
}

/** A server for plain HTTP, or for TLS alone, whose certificates follow their files. */
function openServer(
  application: Application,
  material: TlsMaterial | undefined,
  { config, clock, logger, metrics, registerCleanup }: ServerServices,
): Server | TlsServer {
  if (material === undefined || config.tls === undefined) return createApplicationServer(application);
  const server = createApplicationServer(application, material);
  registerCleanup(renewTls(server, { files: config.tls, material, clock, logger, metrics }));
  return server;
}

type Application = ReturnType<typeof createApplication>;

interface ServerServices {
  readonly config: Config;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly registerCleanup: (close: () => void) => void;
}

async function listen(server: Server | TlsServer, { host, port, tls }: Config): Promise<string> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const isInUse = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    const detail = isInUse
      ? `Port ${port} on ${host} is in use: stop what listens there, or choose another with PORT=<number>.`
      : `Cannot listen on ${host}, port ${port}: ${describeError(error)}`;
    throw new LendstreamError('ADDRESS_UNAVAILABLE', detail, { cause: error });
  }
  const address = server.address();
  const boundPort = typeof address === 'object' && address !== null ? address.port : port;
  return `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${boundPort}`;
}

/** Accepts no new connection, and ends the idle ones, which would otherwise keep the process alive. */
async function closeServer(server: Server | TlsServer, clock: Clock): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const forceCloseTimer = after(clock, connectionGraceMilliseconds, () => server.closeAllConnections());
  await closed;
  forceCloseTimer.cancel();
}

/** How long responses under way may take when the process is asked to stop. Milliseconds. */
const connectionGraceMilliseconds = 2_000;

/**
 * Works out the lag on request, not all the time, and drops the series of what has been deleted. The lag is left out
 * while the log or the coordination store is unavailable: that is when the other metrics are needed most.
 */
async function measureLag(
  metrics: Metrics,
  broker: SharedServices,
  recentLags: RecentLags,
  lagsMaximum: number,
): Promise<void> {
  const lags = await recentLags.get().catch((error: unknown) => {
    if (!isLendstreamError(error) || !error.retriable) throw error;
    broker.logger.warn(
      { error: describeError(error) },
      'Cannot compute the lag of subscriptions; the metrics leave it out',
    );
    return [];
  });
  setLags(metrics, lags, lagsMaximum);
  await removeStaleSeries(metrics, existingIn(broker.registry));
}

function existingIn(registry: Registry): ExistingLabels {
  return {
    subscriptionExists: (id) => registry.get('subscription', id) !== undefined,
    eventTypeExists: (name) => registry.get('event-type', name) !== undefined,
  };
}

function reportIntegrity(metrics: Metrics, files: Backend['checkedFiles']): void {
  for (const { integrity } of files) {
    const { file, checkedShare, finishedAt, damageCount } = integrity;
    metrics.integrityCheckedShare.set({ file }, checkedShare);
    metrics.integrityDamages.set({ file }, damageCount);
    if (finishedAt !== null) metrics.integrityFinishedAt.set({ file }, finishedAt / 1_000);
  }
}
