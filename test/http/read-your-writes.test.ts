import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'mocha';
import { ApiKeys } from '../../src/access/api-keys.ts';
import { withoutLimits } from '../../src/access/limits/key-limits.ts';
import { annuityProduct } from '../../src/admin/example-product.ts';
import { Registry, registryTopic } from '../../src/broker/definitions/registry.ts';
import { DeadLetterQueue } from '../../src/broker/dead-letters/dead-letter-queue.ts';
import { EventTypes } from '../../src/broker/event-types/event-types.ts';
import { Publisher } from '../../src/broker/publishing/publisher.ts';
import { NodeLease } from '../../src/broker/streaming/node-lease.ts';
import { HistoryRecorder } from '../../src/broker/subscriptions/history-recorder.ts';
import { LagHistory } from '../../src/broker/subscriptions/lag-history.ts';
import { RecentLags } from '../../src/broker/subscriptions/recent-lags.ts';
import { systemClock } from '../../src/clock.ts';
import { createApplication, createApplicationServer } from '../../src/http/edge/application.ts';
import { createCommandsRouter } from '../../src/http/lending/command-status.ts';
import { createLoanEventsRouter } from '../../src/http/lending/loan-events.ts';
import { createLoanProductsRouter } from '../../src/http/lending/loan-products.ts';
import { createLoansRouter } from '../../src/http/lending/loans.ts';
import { createCustomFieldsRouter } from '../../src/http/lending/custom-fields/custom-fields.ts';
import { createDefinitionsRouter } from '../../src/http/lending/organization/branches-and-channels.ts';
import { createCommit, createCursorsRouter } from '../../src/http/streaming/cursors.ts';
import { createEventTypeChecksRouter } from '../../src/http/streaming/event-type-checks.ts';
import { createEventTypeEventsRouter } from '../../src/http/streaming/event-type-events.ts';
import { createEventTypesRouter } from '../../src/http/streaming/event-types.ts';
import { createLagHistoryRouter } from '../../src/http/streaming/finding/lag-history.ts';
import { createCursorMovesRouter } from '../../src/http/streaming/finding/cursor-moves.ts';
import { EventPages } from '../../src/http/streaming/finding/event-pages.ts';
import { createEventTypeHistoryRouter } from '../../src/http/streaming/finding/event-type-history.ts';
import { createRetainedEventsRouter } from '../../src/http/streaming/finding/retained-events.ts';
import { createMambuStreamingRouter } from '../../src/http/streaming/mambu/mambu-streaming.ts';
import { createPublishingRouter } from '../../src/http/streaming/publishing.ts';
import { createSubscriptionEventsRouter } from '../../src/http/streaming/subscription-events.ts';
import { createSubscriptionStreamsRouter } from '../../src/http/streaming/subscription-streams.ts';
import { createApiKeysRouter } from '../../src/http/access/api-keys.ts';
import { createSubscriptionsRouter } from '../../src/http/streaming/subscriptions.ts';
import { ensureLendingTopics, lendingEventTypes, accountsTopic } from '../../src/lending-format/lending-topics.ts';
import { silentLogger } from '../../src/logger.ts';
import { createMetrics } from '../../src/metrics.ts';
import type { Coordination } from '../../src/ports/coordination.ts';
import type { EventLog } from '../../src/ports/event-log.ts';
import type { AccountsCopy } from '../../src/accounts/accounts-copy.ts';
import { openFilledCopy } from '../support/lending/filled-copy.ts';
import { idempotencyMilliseconds } from '../../src/lending-format/idempotency-record.ts';
import { LendingWorker } from '../../src/worker/lending-worker.ts';
import { openCoordinationUnderTest, openLogUnderTest } from '../support/backend-under-test.ts';
import { eventTypeBody, exampleMetadata } from '../support/broker-on-embedded-log.ts';
import { eventually } from '../support/eventually.ts';
import { operations } from '../support/http/api-description.ts';
import { call, type HttpResponse } from '../support/http/client.ts';
import { lateLog, type LateLog } from '../support/late-log.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

type Values = Readonly<Record<string, string>>;

const partitionCount = 1;
const logger = silentLogger;
const clock = systemClock;

/** A resource that one process creates and another one is asked for: its values in the path of a route. */
interface Subject {
  readonly make: () => Promise<Values>;
  /** The values of one that does not exist. */
  readonly missing: Values;
  /** The topic through which another process receives it. */
  readonly topic: typeof registryTopic | typeof accountsTopic;
}

interface Route {
  /** The method, and the path as in the description of the API. */
  readonly operation: string;
  readonly subject: Subject;
  /** With its question mark. */
  readonly query?: string;
  readonly body?: (values: Values) => unknown;
  readonly headers?: Record<string, string>;
  /** The status for one that exists. */
  readonly found: number;
  /** The status for one that does not exist. Default: 404. */
  readonly missing?: number;
  /**
   * Whether it also waits for changes of other processes, so that it requests the end of the topic even for a known
   * one.
   */
  readonly changes?: true;
  /** Whether a response shows that the process knows it, where the status does not. */
  readonly isKnown?: (response: HttpResponse) => boolean;
}

describe('a resource that another process just created', () => {
  let folder: string;
  let log: EventLog;
  let coordination: Coordination;
  let worker: LendingWorker;
  let prompt: string;
  let late: string;
  /** The log of the late process, by the topic that it holds back. */
  let lateLogs: Record<Subject['topic'], LateLog>;
  const cleanups: (() => Promise<unknown> | void)[] = [];
  let made = 0;

  async function serve(
    name: string,
    nodeLog: EventLog,
  ): Promise<{ readonly url: string; readonly registry: Registry; readonly accounts: AccountsCopy }> {
    const registry = new Registry(nodeLog, logger);
    await registry.start();
    cleanups.push(() => registry.stop());
    const metrics = createMetrics();
    const eventTypes = new EventTypes({ registry, coordination, log: nodeLog, clock, logger });
    await eventTypes.registerSystemEventTypes(lendingEventTypes(partitionCount, 3_600_000));
    await ensureLendingTopics(nodeLog, partitionCount);
    const publisher = new Publisher({ eventTypes, log: nodeLog, clock, metrics, logger });
    const lease = new NodeLease({ coordination, nodeId: name, leaseMilliseconds: 60_000, clock, logger });
    await lease.start();
    cleanups.push(() => lease.stop());
    const dataFolder = join(folder, name);
    await mkdir(dataFolder);
    const accounts = await openFilledCopy({ dataFolder, log: nodeLog, partitionCount, clock, logger });
    cleanups.push(() => accounts.close());
    const activity = new HistoryRecorder({ coordination, clock, logger });
    cleanups.push(() => activity.close());
    const deadLetters = new DeadLetterQueue({ publisher, clock });
    const services = { registry, coordination, log: nodeLog, clock, logger, metrics, lease };
    const broker = { ...services, eventTypes, publisher, deadLetters };
    const lending = { accounts, publisher, registry, clock, logger, partitionCount, idempotencyMilliseconds };
    const streams = createSubscriptionEventsRouter({ ...broker, failingStreams: new Set() });
    const commit = createCommit(broker);
    const lags = new RecentLags(broker);
    const lagHistory = new LagHistory(clock, lags);
    const routers = [
      streams.router,
      createCursorsRouter(broker, commit),
      createMambuStreamingRouter({ ...broker, streams, commit }),
      createEventTypeEventsRouter(broker).router,
      createPublishingRouter(broker),
      createSubscriptionStreamsRouter({ ...broker, activity }),
      createSubscriptionsRouter({ ...broker, lags, lagHistory }),
      createLagHistoryRouter(broker, lagHistory),
      createEventTypesRouter({ ...broker, lags }),
      createRetainedEventsRouter({ ...broker, pages: new EventPages(broker), otherTopics: new Map() }),
      createEventTypeHistoryRouter({ ...broker, lags }),
      createCursorMovesRouter(broker),
      createEventTypeChecksRouter(broker),
      createLoanEventsRouter({ ...lending, log: nodeLog, partitionCount }),
      createLoansRouter(lending),
      createLoanProductsRouter(lending),
      createCommandsRouter(lending),
      createDefinitionsRouter(lending),
      createCustomFieldsRouter(lending),
      createApiKeysRouter({
        keys: new ApiKeys({ registry, clock, onError: () => {}, limitsOf: () => withoutLimits }),
        isOpen: true,
      }),
    ];
    const server = createApplicationServer(createApplication(routers, logger));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    });
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, registry, accounts };
  }

  before(async function () {
    this.timeout(60_000);
    folder = await temporaryFolder();
    log = await openLogUnderTest(folder);
    coordination = await openCoordinationUnderTest(folder, log);
    const lateRegistryLog = lateLog(log, registryTopic);
    const lateLoansLog = lateLog(lateRegistryLog.log, accountsTopic);
    lateLogs = { [registryTopic]: lateRegistryLog, [accountsTopic]: lateLoansLog };
    const { url, registry, accounts } = await serve('prompt', log);
    prompt = url;
    late = (await serve('late', lateLoansLog.log)).url;
    await coordination.renewLease('worker', 3_600_000);
    const metrics = createMetrics();
    worker = new LendingWorker({
      log,
      coordination,
      registry,
      copy: accounts,
      nodeId: 'worker',
      clock,
      logger,
      metrics,
      partitionCount,
    });
    await worker.start();
  });

  afterEach(() => {
    for (const held of Object.values(lateLogs)) held.release();
  });

  after(async () => {
    await worker.stop();
    for (const cleanup of cleanups.toReversed()) await cleanup();
    await coordination.close();
    await log.close();
    await removeFolder(folder);
  });

  function newName(): string {
    made += 1;
    return `made-${made}`;
  }

  async function onPrompt(path: string, body: unknown, method = 'POST'): Promise<HttpResponse> {
    const response = await call(`${prompt}${path}`, method, body);
    expect(response.status, response.text).to.be.below(300);
    return response;
  }

  async function newEventType(): Promise<Values> {
    const name = newName();
    await onPrompt('/event-types', eventTypeBody(name));
    return { name, version: '1.0.0', partition: '0' };
  }

  async function newSubscription(): Promise<Values> {
    const { name = '' } = await newEventType();
    const { body } = await onPrompt('/subscriptions', { owning_application: 'shop', event_types: [name] });
    return { id: String(body['id']), name };
  }

  async function newProduct(): Promise<Values> {
    const { body } = await onPrompt('/loanproducts', annuityProduct(newName()));
    return { loanProductId: String(body['encodedKey']), id: String(body['id']) };
  }

  async function newLoan(): Promise<Values> {
    const { id: product } = await newProduct();
    const { body } = await onPrompt('/loans', { id: newName(), productTypeKey: product, loanAmount: 1000 });
    return { loanAccountId: String(body['encodedKey']), id: String(body['id']), product: String(product) };
  }

  async function newTransaction(): Promise<Values> {
    const { id = '' } = await newLoan();
    await onPrompt(`/loans/${id}:changeState`, { action: 'APPROVE' });
    const { body } = await onPrompt(`/loans/${id}/disbursement-transactions`, { valueDate: '2011-01-23' });
    return { transactionId: String(body['encodedKey']) };
  }

  async function newCommand(): Promise<Values> {
    const { id = '' } = await newLoan();
    const { body } = await call(
      `${prompt}/loans/${id}:changeState`,
      'POST',
      { action: 'APPROVE' },
      { Prefer: 'wait=0' },
    );
    const commandId = String(body['commandId']);
    await eventually(async () =>
      (await onPrompt(`/commands/${commandId}`, undefined, 'GET')).text.includes('COMMITTED'),
    );
    return { commandId };
  }

  const onRegistry = { topic: registryTopic } as const;
  const onLoans = { topic: accountsTopic } as const;
  const anEventType: Subject = {
    ...onRegistry,
    make: newEventType,
    missing: { name: 'unknown', version: '1.0.0', partition: '0' },
  };
  const aSubscription: Subject = {
    ...onRegistry,
    make: newSubscription,
    missing: { id: randomUUID(), name: 'unknown' },
  };
  const aProduct: Subject = {
    ...onRegistry,
    make: newProduct,
    missing: { loanProductId: 'unknown', id: 'unknown' },
  };
  const aProductById: Subject = {
    ...aProduct,
    make: async () => {
      const { id = '' } = await newProduct();
      return { loanProductId: id };
    },
  };
  const aLoan: Subject = { ...onLoans, make: newLoan, missing: { loanAccountId: 'unknown' } };
  const aLoanById: Subject = {
    ...aLoan,
    make: async () => {
      const { id = '' } = await newLoan();
      return { loanAccountId: id };
    },
  };
  const aTransaction: Subject = { ...onLoans, make: newTransaction, missing: { transactionId: 'unknown' } };
  const aCommand: Subject = { ...onLoans, make: newCommand, missing: { commandId: randomUUID() } };
  const unconstrained = { usage: 'UNCONSTRAINED' };
  const definedAt = (path: string, parameter: string, fields: object = {}): Subject => ({
    ...onRegistry,
    make: async () => {
      const { body } = await onPrompt(path, { id: newName(), name: 'made', ...fields });
      return { [parameter]: String(body['encodedKey']) };
    },
    missing: { [parameter]: 'unknown' },
  });
  const aBranch = definedAt('/branches', 'branchId');
  const displaySettings = { displayName: 'made' };
  const newFieldSet = async (): Promise<string> => {
    const id = `_${newName()}`;
    await onPrompt('/customfieldsets', { id, availableFor: 'ASSET', displaySettings });
    return id;
  };
  const aFieldSet: Subject = {
    ...onRegistry,
    make: async () => ({ customFieldSetId: await newFieldSet() }),
    missing: { customFieldSetId: 'unknown' },
  };
  const aCustomField: Subject = {
    ...onRegistry,
    make: async () => {
      const [set, id] = [await newFieldSet(), newName()];
      await onPrompt(`/customfieldsets/${set}/customfields`, { id, type: 'DATE', displaySettings });
      return { customfieldId: id };
    },
    missing: { customfieldId: 'unknown' },
  };
  const anApiKey: Subject = {
    ...onRegistry,
    make: async () => {
      const name = newName();
      await onPrompt('/api-keys', { name, owning_application: 'shop', scopes: ['consumer'] });
      return { name };
    },
    missing: { name: 'unknown' },
  };
  const aCentre = definedAt('/centres', 'centreId');
  const aChannel = definedAt('/organization/transactionChannels', 'transactionChannelId', {
    loanConstraints: unconstrained,
    depositConstraints: unconstrained,
  });
  /** A version of a schema of an event type that the late process knows. */
  const aSchemaVersion: Subject = {
    ...onRegistry,
    make: async () => {
      const values = await newEventType();
      expect((await call(`${late}/event-types/${values['name']}`, 'GET')).status).to.equal(200);
      lateLogs[registryTopic].holdBack();
      const schema = '{"type":"object","properties":{"order":{"type":"string"},"more":{"type":"string"}}}';
      await onPrompt(`/event-types/${values['name']}/schemas`, { type: 'json_schema', schema });
      return { ...values, version: '1.1.0' };
    },
    missing: { name: 'loan_balance_changed', version: '99.0.0' },
  };

  /** The second partition of an event type that the late process knows with one. */
  const aPartition: Subject = {
    ...onRegistry,
    make: async () => {
      const name = newName();
      await onPrompt('/event-types', eventTypeBody(name, { partition_strategy: 'user_defined' }));
      const { body } = await onPrompt('/subscriptions', { owning_application: 'shop', event_types: [name] });
      const id = String(body['id']);
      expect((await call(`${late}/subscriptions/${id}`, 'GET')).status).to.equal(200);
      expect((await call(`${late}/event-types/${name}`, 'GET')).status).to.equal(200);
      lateLogs[registryTopic].holdBack();
      await onPrompt(`/event-types/${name}/partition-count`, { partition_count: 2 }, 'PUT');
      return { name, id, partition: '1' };
    },
    missing: { name: 'loan_balance_changed', partition: '1' },
  };
  const itsCursors = ({ name, partition }: Values) => ({
    items: [{ event_type: name, partition, offset: 'BEGIN', cursor_token: randomUUID() }],
  });
  /** The session is unknown, which is checked after the cursors. */
  const refusesSession = ({ text }: HttpResponse) => text.includes('Session with stream id');

  const definitionOf = ({ name = '' }: Values) => eventTypeBody(name);
  const schema = () => ({ type: 'json_schema', schema: '{"type":"object","properties":{"order":{"type":"string"}}}' });
  const noCursors = () => [];

  /** What both versions of Mambu's API have of a subscription. */
  const ofMambu = (path: string, headers: Record<string, string>): Route[] => [
    { operation: `DELETE ${path}/{id}`, subject: aSubscription, headers, found: 204, changes: true },
    { operation: `GET ${path}/{id}/events`, subject: aSubscription, headers, found: 200 },
    { operation: `GET ${path}/{id}/stats`, subject: aSubscription, headers, found: 200 },
    {
      // The session is unknown, which is checked after the subscription.
      operation: `POST ${path}/{id}/cursors`,
      subject: aSubscription,
      body: ({ name }) => ({
        items: [{ partition: '0', offset: 'BEGIN', event_type: name, cursor_token: randomUUID() }],
      }),
      headers: { ...headers, 'X-Mambu-StreamId': randomUUID() },
      found: 422,
    },
  ];

  const routes: readonly Route[] = [
    ...ofMambu('/api/v1/subscriptions', {}),
    ...ofMambu('/api/subscriptions', { Accept: 'application/vnd.mambu.v2+json' }),
    { operation: 'GET /event-types/{name}', subject: anEventType, found: 200 },
    { operation: 'PUT /event-types/{name}', subject: anEventType, body: definitionOf, found: 200, changes: true },
    { operation: 'DELETE /event-types/{name}', subject: anEventType, found: 200, changes: true },
    {
      operation: 'POST /event-types/{name}/cursor-distances',
      subject: anEventType,
      body: noCursors,
      found: 200,
    },
    { operation: 'POST /event-types/{name}/shifted-cursors', subject: anEventType, body: noCursors, found: 200 },
    { operation: 'POST /event-types/{name}/cursors-lag', subject: anEventType, body: noCursors, found: 200 },
    {
      operation: 'POST /event-types/{name}/cursors-at',
      subject: anEventType,
      body: () => ({ time: '2026-01-01T00:00:00Z' }),
      found: 200,
    },
    { operation: 'GET /event-types/{name}/events', subject: anEventType, found: 200 },
    {
      operation: 'POST /event-types/{name}/events',
      subject: anEventType,
      body: () => [{ metadata: exampleMetadata() }],
      found: 200,
    },
    // It is not compacted, which only a process that knows it can say.
    { operation: 'POST /event-types/{name}/deleted-events', subject: anEventType, body: noCursors, found: 422 },
    { operation: 'GET /event-types/{name}/retained-events', subject: anEventType, found: 200 },
    { operation: 'GET /event-types/{name}/partitions/{partition}/events', subject: anEventType, found: 200 },
    { operation: 'GET /event-types/{name}/partitions/{partition}/events', subject: aPartition, found: 200 },
    { operation: 'GET /event-types/{name}/schema-changes', query: '?from=1.0.0', subject: anEventType, found: 200 },
    { operation: 'GET /event-types/{name}/consumers', subject: anEventType, found: 200 },
    { operation: 'GET /event-types/{name}/publishers', subject: anEventType, found: 200 },
    { operation: 'GET /event-types/{name}/partitions', subject: anEventType, found: 200 },
    { operation: 'GET /event-types/{name}/partitions/{partition}', subject: anEventType, found: 200 },
    { operation: 'GET /event-types/{name}/partitions/{partition}', subject: aPartition, found: 200 },
    {
      operation: 'PUT /event-types/{name}/partition-count',
      subject: anEventType,
      body: () => ({ partition_count: 2 }),
      found: 204,
      changes: true,
    },
    { operation: 'GET /event-types/{name}/schemas', subject: anEventType, found: 200 },
    { operation: 'POST /event-types/{name}/schemas', subject: anEventType, body: schema, found: 200, changes: true },
    { operation: 'GET /event-types/{name}/schemas/{version}', subject: anEventType, found: 200 },
    { operation: 'GET /event-types/{name}/schemas/{version}', subject: aSchemaVersion, found: 200 },
    {
      operation: 'POST /event-types/{name}/schemas/{version}/compatibility-check',
      subject: anEventType,
      body: schema,
      found: 200,
    },
    {
      operation: 'POST /event-types/{name}/schemas/{version}/compatibility-check',
      subject: aSchemaVersion,
      body: schema,
      found: 200,
    },
    {
      operation: 'POST /registry/event-type-checks',
      subject: anEventType,
      body: ({ name }) => ({ event_type: name }),
      found: 200,
    },
    {
      operation: 'POST /registry/event-type-checks',
      subject: anEventType,
      body: (values) => ({ event_type: definitionOf(values) }),
      found: 200,
      missing: 200,
      isKnown: ({ body }) => body['current_version'] === '1.0.0',
    },
    {
      operation: 'POST /subscriptions',
      subject: anEventType,
      body: ({ name }) => ({ owning_application: 'shop', event_types: [name] }),
      found: 201,
      missing: 422,
      changes: true,
    },
    { operation: 'GET /subscriptions/{id}', subject: aSubscription, found: 200 },
    {
      operation: 'PUT /subscriptions/{id}',
      subject: aSubscription,
      body: ({ name }) => ({ owning_application: 'shop', event_types: [name] }),
      found: 204,
      changes: true,
    },
    { operation: 'DELETE /subscriptions/{id}', subject: aSubscription, found: 204, changes: true },
    { operation: 'GET /subscriptions/{id}/cursors', subject: aSubscription, found: 200 },
    {
      // The session is unknown, which is checked after the subscription.
      operation: 'POST /subscriptions/{id}/cursors',
      subject: aSubscription,
      body: ({ name }) => ({
        items: [{ partition: '0', offset: 'BEGIN', event_type: name, cursor_token: randomUUID() }],
      }),
      headers: { 'X-Nakadi-StreamId': randomUUID() },
      found: 422,
    },
    { operation: 'PATCH /subscriptions/{id}/cursors', subject: aSubscription, body: () => ({ items: [] }), found: 204 },
    { operation: 'GET /subscriptions/{id}/events', subject: aSubscription, found: 200 },
    { operation: 'POST /subscriptions/{id}/events', subject: aSubscription, body: () => ({}), found: 200 },
    { operation: 'GET /subscriptions/{id}/stats', subject: aSubscription, found: 200 },
    { operation: 'GET /subscriptions/{id}/streams', subject: aSubscription, found: 200 },
    { operation: 'GET /subscriptions/{id}/lag-history', subject: aSubscription, found: 200 },
    {
      operation: 'POST /subscriptions/{id}/cursor-moves',
      subject: aSubscription,
      body: () => ({ to: { position: 'end' }, dry_run: true }),
      found: 200,
    },
    { operation: 'GET /loanproducts/{loanProductId}', subject: aProductById, found: 200 },
    { operation: 'GET /loanproducts/{loanProductId}', subject: aProduct, found: 200 },
    {
      operation: 'PATCH /loanproducts/{loanProductId}',
      subject: aProduct,
      body: () => [{ op: 'REPLACE', path: '/notes', value: 'new' }],
      found: 204,
      changes: true,
    },
    {
      operation: 'PUT /loanproducts/{loanProductId}',
      subject: aProduct,
      body: () => ({ name: 'new', type: 'FIXED_TERM_LOAN', currency: { code: 'EUR' } }),
      found: 200,
      changes: true,
    },
    { operation: 'DELETE /loanproducts/{loanProductId}', subject: aProduct, found: 204, changes: true },
    { operation: 'GET /loans/{loanAccountId}', subject: aLoanById, found: 200 },
    { operation: 'GET /loans/{loanAccountId}', subject: aLoan, found: 200 },
    { operation: 'GET /loans/{loanAccountId}/schedule', subject: aLoan, found: 200 },
    { operation: 'GET /loans/{loanAccountId}/balances', subject: aLoan, found: 200 },
    { operation: 'GET /loans/{loanAccountId}/transactions', subject: aLoan, found: 200 },
    { operation: 'GET /loans/{loanAccountId}/events', subject: aLoan, found: 200 },
    {
      operation: 'PUT /loans/{loanAccountId}',
      subject: aLoan,
      body: ({ id, product = 'annuity' }) => ({ id, productTypeKey: product, loanAmount: 1000 }),
      found: 200,
      changes: true,
    },
    {
      operation: 'PATCH /loans/{loanAccountId}',
      subject: aLoan,
      body: () => [{ op: 'ADD', path: '/notes', value: 'x' }],
      found: 204,
      changes: true,
    },
    { operation: 'DELETE /loans/{loanAccountId}', subject: aLoan, found: 204, changes: true },
    {
      operation: 'POST /loans/{loanAccountId}:changeState',
      subject: aLoan,
      body: () => ({ action: 'APPROVE' }),
      found: 200,
      changes: true,
    },
    // The loan is not active yet, which is checked after the loan was found.
    ...[
      'disbursement',
      'repayment',
      'fee',
      'penalty',
      'principal-overpayment',
      'interest-reduction',
      'fee-reduction',
      'penalty-reduction',
      'refund',
      'lock',
      'unlock',
    ].map((kind): Route => ({
      operation: `POST /loans/{loanAccountId}/${kind}-transactions`,
      subject: aLoan,
      body: () => ({
        ...(['disbursement', 'lock', 'unlock'].includes(kind) ? {} : { amount: 1 }),
        ...(kind === 'refund' ? { linkedDisbursementKey: 'none' } : {}),
      }),
      found: 400,
    })),
    ...[':applyInterest', ':payOff', ':writeOff', ':undoWriteOff', ':previewPayOffAmounts'].map((action): Route => ({
      operation: `POST /loans/{loanAccountId}${action}`,
      subject: aLoan,
      body: () => (action === ':applyInterest' ? { interestApplicationDate: '2011-01-23' } : {}),
      found: 400,
    })),
    ...[':reschedule', ':refinance'].map((action): Route => ({
      operation: `POST /loans/{loanAccountId}${action}`,
      subject: aLoan,
      body: () => ({
        loanAccount: { productTypeKey: 'none', disbursementDetails: { firstRepaymentDate: '2030-01-23' } },
        ...(action === ':refinance' ? { topUpAmount: 1 } : {}),
      }),
      found: 400,
    })),
    ...[':undoReschedule', ':undoRefinance'].map((action): Route => ({
      operation: `POST /loans/{loanAccountId}${action}`,
      subject: aLoan,
      body: () => ({}),
      found: 400,
    })),
    {
      operation: 'POST /loans/{loanAccountId}:terminate',
      subject: aLoan,
      body: () => ({ valueDate: '2011-01-23' }),
      found: 400,
    },
    {
      operation: 'POST /loans/{loanAccountId}:recalculateDueDates',
      subject: aLoan,
      body: () => ({}),
      found: 400,
    },
    {
      operation: 'POST /loans/{loanAccountId}:erasePersonalData',
      subject: aLoan,
      body: () => ({}),
      found: 204,
    },
    {
      operation: 'POST /loans/transactions/{transactionId}:adjust',
      subject: aTransaction,
      body: () => ({ notes: 'wrong' }),
      found: 200,
      changes: true,
    },
    { operation: 'GET /loans/transactions/{transactionId}', subject: aTransaction, found: 200 },
    { operation: 'GET /commands/{commandId}', subject: aCommand, found: 200 },
    { operation: 'GET /branches/{branchId}', subject: aBranch, found: 200 },
    {
      operation: 'PUT /branches/{branchId}',
      subject: aBranch,
      body: () => ({ name: 'new' }),
      found: 200,
      changes: true,
    },
    { operation: 'GET /customfieldsets/{customFieldSetId}', subject: aFieldSet, found: 200 },
    {
      operation: 'PUT /customfieldsets/{customFieldSetId}',
      subject: aFieldSet,
      body: () => ({ availableFor: 'ASSET', displaySettings }),
      found: 200,
      changes: true,
    },
    {
      operation: 'PATCH /customfieldsets/{customFieldSetId}',
      subject: aFieldSet,
      body: () => [{ op: 'ADD', path: '/description', value: 'new' }],
      found: 204,
      changes: true,
    },
    { operation: 'DELETE /customfieldsets/{customFieldSetId}', subject: aFieldSet, found: 204, changes: true },
    { operation: 'GET /customfieldsets/{customFieldSetId}/customfields', subject: aFieldSet, found: 200 },
    {
      operation: 'POST /customfieldsets/{customFieldSetId}/customfields',
      subject: aFieldSet,
      body: () => ({ id: newName(), type: 'DATE', displaySettings }),
      found: 201,
      changes: true,
    },
    { operation: 'GET /customfields/{customfieldId}', subject: aCustomField, found: 200 },
    {
      operation: 'PUT /customfields/{customfieldId}',
      subject: aCustomField,
      body: () => ({ type: 'DATE', displaySettings }),
      found: 200,
      changes: true,
    },
    {
      operation: 'PATCH /customfields/{customfieldId}',
      subject: aCustomField,
      body: () => [{ op: 'REPLACE', path: '/state', value: 'INACTIVE' }],
      found: 204,
      changes: true,
    },
    { operation: 'DELETE /customfields/{customfieldId}', subject: aCustomField, found: 204, changes: true },
    { operation: 'GET /api-keys/{name}', subject: anApiKey, found: 200 },
    { operation: 'DELETE /api-keys/{name}', subject: anApiKey, found: 204, changes: true },
    { operation: 'GET /centres/{centreId}', subject: aCentre, found: 200 },
    {
      operation: 'PUT /centres/{centreId}',
      subject: aCentre,
      body: () => ({ name: 'new' }),
      found: 200,
      changes: true,
    },
    { operation: 'GET /organization/transactionChannels/{transactionChannelId}', subject: aChannel, found: 200 },
    {
      operation: 'PUT /organization/transactionChannels/{transactionChannelId}',
      subject: aChannel,
      body: () => ({ name: 'new', loanConstraints: unconstrained, depositConstraints: unconstrained }),
      found: 200,
      changes: true,
    },
    {
      operation: 'DELETE /organization/transactionChannels/{transactionChannelId}',
      subject: aChannel,
      found: 204,
      changes: true,
    },
  ];

  function isStream({ operation }: Route): boolean {
    return operations.some(
      ({ method, path, isStream: streams }) => streams && operation === `${method.toUpperCase()} ${path}`,
    );
  }

  async function ask(route: Route, values: Values): Promise<HttpResponse> {
    const { operation, query = '', body, headers } = route;
    const [method = '', template = ''] = operation.split(' ');
    const path = template.replaceAll(/\{([^}]+)\}/g, (_, name: string) => values[name] ?? '');
    const url = `${late}${path}${query}`;
    if (!isStream(route)) return call(url, method, body?.(values), headers);
    const stream = await fetch(url, { method, ...(method === 'GET' ? {} : { body: '{}' }) });
    const text = stream.status === 200 ? '' : await stream.text();
    if (stream.status === 200) await stream.body?.cancel();
    return { status: stream.status, headers: stream.headers, text, body: {} };
  }

  for (const route of routes) {
    const { operation, subject, found, missing = 404, changes, isKnown = () => true } = route;
    const kinds = new Map([
      [aSchemaVersion, ', a schema version'],
      [aPartition, ', a partition'],
      [aLoanById, ', by id'],
      [aProductById, ', by id'],
    ]);
    describe(`${operation}${kinds.get(subject) ?? ''}${route.isKnown === undefined ? '' : ', a definition'}`, () => {
      it('is found after one request to the log, and after none from then on', async () => {
        const lateOfTopic = lateLogs[subject.topic];
        lateOfTopic.holdBack();
        const values = await subject.make();
        const before = lateOfTopic.requests;
        const first = await ask(route, values);
        expect(first.status, first.text).to.equal(found);
        expect(isKnown(first), first.text).to.equal(true);
        if (changes === true) return;
        expect(lateOfTopic.requests - before).to.equal(1);
        const second = await ask(route, values);
        // The first stream may still have the only partition.
        expect(second.status, second.text).to.be.oneOf(isStream(route) ? [200, 409] : [found]);
        expect(lateOfTopic.requests - before, 'requests to the log for a known one').to.equal(1);
      });

      it('is not found, after one request to the log, if it does not exist', async () => {
        const lateOfTopic = lateLogs[subject.topic];
        const before = lateOfTopic.requests;
        const response = await ask(route, subject.missing);
        expect(response.status, response.text).to.equal(missing);
        expect(lateOfTopic.requests - before).to.equal(1);
      });
    });
  }

  const uses: readonly Route[] = [
    {
      operation: 'POST /event-types/{name}/events',
      subject: aPartition,
      body: ({ partition }) => [{ metadata: exampleMetadata({ partition: String(partition) }) }],
      found: 200,
    },
    {
      operation: 'POST /event-types/{name}/cursors-lag',
      subject: aPartition,
      body: ({ partition }) => [{ partition, offset: 'BEGIN' }],
      found: 200,
    },
    {
      operation: 'POST /subscriptions/{id}/events',
      subject: aPartition,
      body: ({ name, partition }) => ({ partitions: [{ event_type: name, partition }] }),
      found: 200,
    },
    { operation: 'PATCH /subscriptions/{id}/cursors', subject: aPartition, body: itsCursors, found: 204 },
    {
      operation: 'POST /subscriptions/{id}/cursors',
      subject: aPartition,
      body: itsCursors,
      headers: { 'X-Nakadi-StreamId': randomUUID() },
      found: 422,
      isKnown: refusesSession,
    },
  ];
  for (const route of uses) {
    it(`${route.operation} uses a partition that another process just added`, async () => {
      const values = await route.subject.make();
      const response = await ask(route, values);
      expect(response.status, response.text).to.equal(route.found);
      expect(route.isKnown?.(response) ?? true, response.text).to.equal(true);
    });
  }

  it('GET /loans finds loans by the id of their product', async () => {
    lateLogs[registryTopic].holdBack();
    const { id: product = '' } = await newProduct();
    const id = newName();
    await onPrompt('/loans', { id, productTypeKey: product, loanAmount: 1000 });
    expect((await call(`${late}/loans/${id}`, 'GET')).status).to.equal(200);
    const { status, text } = await call(`${late}/loans?productTypeKey=${product}`, 'GET');
    expect(status, text).to.equal(200);
    expect((JSON.parse(text) as { id: string }[]).map((loan) => loan.id)).to.deep.equal([id]);
  });

  it('is covered by this table for every operation with a resource in its path', () => {
    // The names of pages, toggles and queues are fixed; users and currencies are not defined; what is blocked need not
    // exist; a dead letter is a record of the log, which every process reads.
    const fixedNames = [
      '/docs/{file}',
      '/toggles/{name}',
      '/users/{userId}',
      '/currencies/{currencyCode}',
      '/settings/blacklist/{type}/{name}',
      '/dead-letters/{queue}',
      '/dead-letters/{queue}/{id}',
      '/dead-letters/{queue}/{id}/deliveries',
    ];
    const named = operations
      .filter(({ path }) => path.includes('{') && !fixedNames.includes(path))
      .map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(routes.map(({ operation }) => operation)).to.include.members(named);
  });
});
