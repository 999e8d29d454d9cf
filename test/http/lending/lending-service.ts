import { expect } from 'chai';
import { after, before } from 'mocha';
import type { AddressInfo } from 'node:net';
import { annuityProduct } from '../../../src/admin/example-product.ts';
import type { EventLog } from '../../../src/ports/event-log.ts';
import { EventTypes } from '../../../src/broker/event-types/event-types.ts';
import { Publisher } from '../../../src/broker/publishing/publisher.ts';
import { Registry } from '../../../src/broker/definitions/registry.ts';
import { type Clock, systemClock } from '../../../src/clock.ts';
import { createApplication, createApplicationServer } from '../../../src/http/edge/application.ts';
import { createLendingApi } from '../../../src/http/lending/lending-api.ts';
import type { BusinessDayServices } from '../../../src/http/lending/business-days.ts';
import type { OutcomeWait } from '../../../src/http/lending/services.ts';
import { silentLogger } from '../../../src/logger.ts';
import type { AccountsCopy } from '../../../src/accounts/accounts-copy.ts';
import { EmbeddedCoordination } from '../../../src/embedded/coordination.ts';
import { openFilledCopy } from '../../support/lending/filled-copy.ts';
import type { CommandOutcomesLimits } from '../../../src/accounts/command-outcomes.ts';
import { createMetrics } from '../../../src/metrics.ts';
import { maskedLog } from '../../../src/lending-format/personal-data/masked-log.ts';
import { ensureLendingTopics, lendingEventTypes } from '../../../src/lending-format/lending-topics.ts';
import { LendingWorker } from '../../../src/worker/lending-worker.ts';
import { idempotencyMilliseconds } from '../../../src/lending-format/idempotency-record.ts';
import { openCoordinationUnderTest, openLogUnderTest } from '../../support/backend-under-test.ts';
import { type HttpResponse, call } from '../../support/http/client.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';
import { overriding } from '../../support/stepping-log.ts';

export const partitionCount = 2;

/** The lending API as a process serves it: log, registry, publisher, copy and worker, over a real socket. */
export interface LendingService {
  readonly url: string;
  readonly log: EventLog;
  readonly registry: Registry;
  readonly accounts: AccountsCopy;
  /** What closes business days. */
  readonly businessDays: BusinessDayServices;
  get(path: string, headers?: Record<string, string>): Promise<HttpResponse>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<HttpResponse>;
  put(path: string, body?: unknown): Promise<HttpResponse>;
  startWorker(): Promise<void>;
  stopWorker(): Promise<void>;
  /** Stops everything and keeps the data. */
  stop(): Promise<void>;
}

export interface LendingServiceLimits {
  readonly scannedBytesMaximum?: number;
  readonly examinedItemsMaximum?: number;
  readonly outcomes?: CommandOutcomesLimits;
  readonly outcomeWait?: OutcomeWait;
  /** Runs after the command of a request is durable and before the request knows it. */
  readonly beforeAcknowledgement?: () => Promise<void>;
  readonly clock?: Clock;
  readonly idempotencyMilliseconds?: number;
  readonly endOfDaySchedule?: string | null;
  /** The log to use instead of the one under test. It is closed with the service. */
  readonly log?: EventLog;
}

/**
 * Starts the service on a data folder, by default with the worker running.
 * @param limits Limits that differ from those of the service.
 */
export async function startLendingService(
  dataFolder: string,
  withWorker = true,
  {
    outcomes,
    outcomeWait,
    beforeAcknowledgement,
    clock = systemClock,
    endOfDaySchedule = null,
    examinedItemsMaximum,
    log: givenLog,
    ...limits
  }: LendingServiceLimits = {},
): Promise<LendingService> {
  const logger = silentLogger;
  const metrics = createMetrics();
  const log = givenLog ?? (await openLogUnderTest(dataFolder));
  const registry = new Registry(log, logger);
  await registry.start();
  const coordination =
    givenLog === undefined
      ? await openCoordinationUnderTest(dataFolder, log)
      : await EmbeddedCoordination.open({ log, clock: systemClock, logger });
  const nodeId = 'service';
  await coordination.renewLease(nodeId, 3_600_000);
  const eventTypes = new EventTypes({ registry, coordination, log, clock, logger });
  await eventTypes.registerSystemEventTypes(lendingEventTypes(partitionCount, 3_600_000));
  await ensureLendingTopics(log, partitionCount);
  const append: EventLog['append'] = async (requests) => {
    const results = await log.append(requests);
    await beforeAcknowledgement?.();
    return results;
  };
  const publisher = new Publisher({ eventTypes, log: overriding(log, { append }), clock, metrics, logger });
  const accounts = await openFilledCopy({
    dataFolder,
    log,
    partitionCount,
    clock,
    logger,
    outcomes,
    examinedItemsMaximum,
  });
  const services = { accounts, publisher, registry, clock, logger, idempotencyMilliseconds, outcomeWait, ...limits };
  const api = createLendingApi({ ...services, log: maskedLog(log, registry), partitionCount, endOfDaySchedule });
  const server = createApplicationServer(createApplication([api], logger));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  let worker: LendingWorker | undefined;
  const startWorker = async (): Promise<void> => {
    worker = new LendingWorker({
      log,
      registry,
      copy: accounts,
      coordination,
      nodeId,
      clock,
      logger,
      metrics,
      partitionCount,
    });
    await worker.start();
  };
  const stopWorker = async (): Promise<void> => {
    await worker?.stop();
    worker = undefined;
  };
  if (withWorker) await startWorker();

  return {
    url,
    log,
    registry,
    accounts,
    businessDays: { ...services, partitionCount },
    get: (path, headers) => call(`${url}${path}`, 'GET', undefined, headers),
    post: (path, body, headers) => call(`${url}${path}`, 'POST', body, headers),
    put: (path, body) => call(`${url}${path}`, 'PUT', body),
    startWorker,
    stopWorker,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await stopWorker();
      await accounts.close();
      await coordination.close();
      await registry.stop();
      await log.close();
    },
  };
}

/** One service on a separate folder for all tests of a suite, with the product `annuity`. */
export interface LendingServiceForSuite {
  /** The service that runs now. */
  readonly service: LendingService;
  /** Stops it and starts another one on the same data. */
  restart(withWorker?: boolean, limits?: LendingServiceLimits): Promise<void>;
  /** Opens, approves and disburses a loan of 1000 over four months. */
  readonly openActive: (id: string) => Promise<void>;
}

/** Call this in the suite whose tests need it. */
export function lendingServiceForSuite(): LendingServiceForSuite {
  let folder: string;
  let service: LendingService;

  before(async () => {
    folder = await temporaryFolder();
    service = await startLendingService(folder);
    expect((await service.post('/loanproducts', annuityProduct('annuity'))).status).to.equal(201);
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  return {
    get service() {
      return service;
    },
    restart: async (withWorker, limits) => {
      await service.stop();
      service = await startLendingService(folder, withWorker, limits);
    },
    openActive: async (id) => {
      const opened = await service.post('/loans', { id, productTypeKey: 'annuity', loanAmount: 1000 });
      expect(opened.status, opened.text).to.equal(201);
      const approved = await service.post(`/loans/${id}:changeState`, { action: 'APPROVE' });
      expect(approved.status, approved.text).to.equal(200);
      const disbursed = await service.post(`/loans/${id}/disbursement-transactions`, { valueDate: '2011-01-23' });
      expect(disbursed.status, disbursed.text).to.equal(201);
    },
  };
}
