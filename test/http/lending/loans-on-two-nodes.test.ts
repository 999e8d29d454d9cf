import { expect } from 'chai';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { mkdir } from 'node:fs/promises';
import { after, before, describe, it } from 'mocha';
import type { Coordination } from '../../../src/ports/coordination.ts';
import type { EventLog } from '../../../src/ports/event-log.ts';
import { EventTypes } from '../../../src/broker/event-types/event-types.ts';
import { hashPartition } from '../../../src/broker/publishing/partitioning.ts';
import { Publisher } from '../../../src/broker/publishing/publisher.ts';
import { Registry } from '../../../src/broker/definitions/registry.ts';
import { systemClock } from '../../../src/clock.ts';
import { createApplication } from '../../../src/http/edge/application.ts';
import type { AccountsCopy } from '../../../src/accounts/accounts-copy.ts';
import { openFilledCopy } from '../../support/lending/filled-copy.ts';
import { createLoanProductsRouter } from '../../../src/http/lending/loan-products.ts';
import { createLoansRouter } from '../../../src/http/lending/loans.ts';
import { createTogglesRouter } from '../../../src/http/lending/toggles.ts';
import { silentLogger } from '../../../src/logger.ts';
import { createMetrics } from '../../../src/metrics.ts';
import { ensureLendingTopics, lendingEventTypes } from '../../../src/lending-format/lending-topics.ts';
import { LendingWorker } from '../../../src/worker/lending-worker.ts';
import { idempotencyMilliseconds } from '../../../src/lending-format/idempotency-record.ts';
import { openCoordinationUnderTest, openLogUnderTest } from '../../support/backend-under-test.ts';
import { call } from '../../support/http/client.ts';
import { annuityProduct } from '../../../src/admin/example-product.ts';
import { eventually } from '../../support/eventually.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';
import { overriding } from '../../support/stepping-log.ts';

type Json = Record<string, unknown>;

const partitionCount = 2;

/** How much later than others a late node receives what it reads. Milliseconds. */
const latenessMilliseconds = 40;

interface Node {
  readonly url: string;
  readonly registry: Registry;
  readonly accounts: AccountsCopy;
  readonly close: () => Promise<void>;
}

/** One node makes a change, and another one, which receives everything later, gets a request immediately. */
describe('loans on two nodes', () => {
  let folder: string;
  let log: EventLog;
  let coordination: Coordination;
  let prompt: Node;
  let late: Node;
  let worker: LendingWorker;
  /** Resolves when the worker may read commands. */
  let workerMayRead: Promise<void> = Promise.resolve();

  const services = { clock: systemClock, logger: silentLogger };

  async function openNode(name: string, nodeLog: EventLog): Promise<Node> {
    const registry = new Registry(nodeLog, silentLogger);
    await registry.start();
    const eventTypes = new EventTypes({ ...services, registry, coordination, log: nodeLog });
    await eventTypes.registerSystemEventTypes(lendingEventTypes(partitionCount, 3_600_000));
    await ensureLendingTopics(nodeLog, partitionCount);
    const publisher = new Publisher({ ...services, eventTypes, log: nodeLog, metrics: createMetrics() });
    const dataFolder = join(folder, name);
    await mkdir(dataFolder);
    const accounts = await openFilledCopy({
      dataFolder,
      log: nodeLog,
      partitionCount,
      clock: systemClock,
      logger: silentLogger,
    });
    const lending = { ...services, accounts, publisher, registry, partitionCount, idempotencyMilliseconds };
    const routers = [createLoansRouter(lending), createLoanProductsRouter(lending), createTogglesRouter(lending)];
    const server = await new Promise<Server>((resolve) => {
      const listening = createApplication(routers, silentLogger).listen(0, '127.0.0.1', () => resolve(listening));
    });
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      registry,
      accounts,
      close: async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
        await accounts.close();
        await registry.stop();
      },
    };
  }

  before(async function () {
    this.timeout(60_000);
    folder = await temporaryFolder();
    log = await openLogUnderTest(folder);
    coordination = await openCoordinationUnderTest(folder, log);
    prompt = await openNode('prompt', log);
    const lateLog = overriding<EventLog>(log, {
      read: async (from, options) => {
        const result = await log.read(from, options);
        await new Promise((resolve) => setTimeout(resolve, latenessMilliseconds));
        return result;
      },
    });
    late = await openNode('late', lateLog);
    await coordination.renewLease('worker', 3_600_000);
    const workerLog = overriding<EventLog>(log, {
      read: async (from, options) => {
        const result = await log.read(from, options);
        await workerMayRead;
        return result;
      },
    });
    worker = new LendingWorker({
      ...services,
      log: workerLog,
      coordination,
      registry: late.registry,
      copy: late.accounts,
      nodeId: 'worker',
      metrics: createMetrics(),
      partitionCount,
    });
    await worker.start();
  });

  after(async () => {
    await worker.stop();
    await late.close();
    await prompt.close();
    await coordination.close();
    await log.close();
    await removeFolder(folder);
  });

  const post = (node: Node, path: string, body: unknown, headers?: Record<string, string>) =>
    call(`${node.url}${path}`, 'POST', body, headers);

  it('accept a product, a loan and a transaction that the other node just created', async () => {
    expect((await post(prompt, '/loanproducts', annuityProduct('two'))).status).to.equal(201);
    const product = await call(`${late.url}/loanproducts/two`, 'GET');
    expect(product.status, product.text).to.equal(200);
    const created = await post(prompt, '/loans', { id: 'two-1', productTypeKey: 'two', loanAmount: 1000 });
    expect(created.status, created.text).to.equal(201);
    const seen = await call(`${late.url}/loans/two-1`, 'GET');
    expect(seen.status, seen.text).to.equal(200);
    const approved = await post(late, `/loans/${String(created.body['encodedKey'])}:changeState`, {
      action: 'APPROVE',
    });
    expect(approved.status, approved.text).to.equal(200);
    const disbursed = await post(prompt, '/loans/two-1/disbursement-transactions', { valueDate: '2011-01-23' });
    expect(disbursed.status, disbursed.text).to.equal(201);
    const paid = await post(prompt, '/loans/two-1/repayment-transactions', { amount: 100 });
    expect(paid.status, paid.text).to.equal(201);
    const adjusted = await post(late, `/loans/transactions/${String(paid.body['encodedKey'])}:adjust`, { notes: 'no' });
    expect(adjusted.status, adjusted.text).to.equal(200);
  });

  it('are decided under a toggle that was switched before the command was sent, though the worker is notified late', async () => {
    for (const enabled of [true, false, true]) {
      const switched = await call(`${prompt.url}/toggles/ALLOW_NON_SCHEDULED_FEES`, 'PUT', { enabled });
      expect(switched.status, switched.text).to.equal(200);
      const paid = await post(prompt, '/loans/two-1/fee-transactions', { amount: 1, installmentNumber: 1 });
      expect(paid.status, paid.text).to.equal(201);
      const [balances] = (await lastBalances()) as [Record<string, unknown>];
      expect(balances['toggles']).to.include({ ALLOW_NON_SCHEDULED_FEES: enabled });
    }
  });

  it('process a request under its key once, whichever node receives it again, and refuse a different one', async () => {
    const opened = await post(prompt, '/loans', { id: 'keyed', productTypeKey: 'two', loanAmount: 1000 });
    expect(opened.status, opened.text).to.equal(201);
    const requests: [path: string, body: Json, others: Json[]][] = [
      ['/loans/keyed:changeState', { action: 'APPROVE' }, [{ action: 'REJECT' }]],
      ['/loans/keyed/disbursement-transactions', { valueDate: '2011-01-23' }, [{ valueDate: '2011-01-24' }]],
      ['/loans/keyed/repayment-transactions', { amount: 1_000_000 }, [{ amount: 1 }]],
      ['/loans', loanNamed('once'), ['once-a', 'once-b', 'once-c', 'once-d'].map(loanNamed)],
      [
        '/loanproducts',
        annuityProduct('once'),
        ['once-a', 'once-b', 'once-c', 'once-d'].map((id) => annuityProduct(id)),
      ],
    ];
    for (const [index, [path, body, others]] of requests.entries()) {
      const key = { 'Idempotency-Key': `two-nodes-${index}` };
      const first = await post(prompt, path, body, key);
      for (const other of others) {
        const refused = await post(late, path, other, key);
        expect(refused.status, `${path} ${refused.text}`).to.equal(422);
      }
      const again = await post(late, path, body, key);
      expect([again.status, again.text]).to.deep.equal([first.status, first.text]);
      expect(again.headers.get('idempotent-replayed'), path).to.equal('true');
    }
  });

  const loanNamed = (id: string): Json => ({ id, productTypeKey: 'two', loanAmount: 1000 });

  it('process the same request once when both nodes receive it at the same time', async () => {
    const key = { 'Idempotency-Key': 'at-once' };
    const path = '/loans/two-1/fee-transactions';
    // Nothing is decided until all four have arrived: two wait for the decision, and the other two need not.
    let letWorkerRead = (): void => {};
    workerMayRead = new Promise((resolve) => (letWorkerRead = resolve));
    let refused = 0;
    const sent = [prompt, late, prompt, late].map(async (node) => {
      const response = await post(node, path, { amount: 3, installmentNumber: 1 }, key);
      if (response.status === 409) refused += 1;
      return response;
    });
    await eventually(() => refused === 2).finally(letWorkerRead);
    const responses = await Promise.all(sent);
    const done = responses.filter(({ status }) => status === 201);
    expect(responses.filter(({ status }) => status !== 201).map(({ status }) => status)).to.deep.equal([409, 409]);
    expect(new Set(done.map(({ text }) => text)).size).to.equal(1);
  });

  describe('accept one of two requests with the same key that reach both nodes at the same time', () => {
    const kinds = ['the same request', 'another one'] as const;
    for (const kind of kinds) {
      it(`when it is ${kind}, whatever it requests, though it names no id`, async function () {
        this.timeout(60_000);
        let races = 0;
        /** Sends both, and returns the outcome of the one that was done. */
        const race = async (path: string, body: unknown, other: unknown, method = 'POST'): Promise<Json> => {
          races += 1;
          const key = { 'Idempotency-Key': `race-${kind}-${races}` };
          const bodies = kind === 'another one' ? [body, other] : [body, body];
          const nodes = races % 2 === 0 ? [prompt, late] : [late, prompt];
          const responses = await Promise.all(
            nodes.map((node, index) => call(`${node.url}${path}`, method, bodies[index], key)),
          );
          const done = responses.filter(({ status }) => status < 300);
          const texts = responses.map(({ text }) => `${path} ${text}`).join();
          if (kind === 'another one') {
            expect(done, texts).to.have.length(1);
            expect(responses.find((response) => !done.includes(response))?.status, texts).to.equal(422);
          } else {
            expect(done, texts).to.have.length(2);
            expect(done[1]?.text).to.equal(done[0]?.text);
            const replayed = done.filter(({ headers }) => headers.get('idempotent-replayed') === 'true');
            // A client that waits when the first one is decided gets that outcome.
            expect(replayed.length, texts).to.be.at.most(1);
          }
          return done[0]?.body ?? {};
        };
        const { id: _named, ...unnamed } = annuityProduct('any');
        const { id: product } = await race('/loanproducts', unnamed, { ...unnamed, name: 'Other' });
        const patch = (value: string): Json[] => [{ op: 'REPLACE', path: '/notes', value }];
        await race(`/loanproducts/${String(product)}`, patch('a'), patch('b'), 'PATCH');
        const loan = { productTypeKey: product, loanAmount: 1000 };
        const { id } = await race('/loans', loan, { ...loan, loanAmount: 1001 });
        const path = `/loans/${String(id)}`;
        await race(`${path}:changeState`, { action: 'APPROVE' }, { action: 'APPROVE', notes: 'other' });
        await race(`${path}/disbursement-transactions`, { valueDate: '2011-01-23' }, { valueDate: '2011-01-24' });
        const onRow = (amount: number): Json => ({ amount, installmentNumber: 1 });
        await race(`${path}/fee-transactions`, onRow(3), onRow(4));
        await race(`${path}/penalty-transactions`, onRow(3), onRow(4));
        await race(`${path}/repayment-transactions`, { amount: 10 }, { amount: 11 });
        const overpaid = await race(`${path}/principal-overpayment-transactions`, { amount: 5 }, { amount: 6 });
        await race(`/loans/transactions/${String(overpaid['id'])}:adjust`, { notes: 'a' }, { notes: 'b' });

        const transactions = JSON.parse((await call(`${prompt.url}${path}/transactions`, 'GET')).text) as Json[];
        expect(transactions.map(({ type }) => type)).to.deep.equal([
          'DISBURSEMENT',
          'FEE_CHARGED',
          'PENALTY_APPLIED',
          'REPAYMENT',
          'PRINCIPAL_OVERPAYMENT',
          'PRINCIPAL_OVERPAYMENT_ADJUSTMENT',
        ]);
        const loans = JSON.parse(
          (await call(`${prompt.url}/loans?productTypeKey=${String(product)}`, 'GET')).text,
        ) as Json[];
        expect(loans.map((found) => found['id'])).to.deep.equal([id]);
      });
    }

    it('when they name different loans of one partition', async () => {
      const ids = Array.from({ length: 9 }, (_, index) => `named-${index}`);
      const [first = '', second = ''] = ids.filter((id) => hashPartition([id], partitionCount) === 0);
      const key = { 'Idempotency-Key': 'named' };
      const responses = await Promise.all([
        post(prompt, '/loans', loanNamed(first), key),
        post(late, '/loans', loanNamed(second), key),
      ]);
      expect(responses.map(({ status }) => status)).to.have.members([201, 422]);
      const found = await Promise.all([first, second].map((id) => call(`${late.url}/loans/${id}`, 'GET')));
      expect(found.map(({ status }) => status)).to.have.members([200, 404]);
    });
  });

  /** The newest balance event of either partition. */
  async function lastBalances(): Promise<unknown[]> {
    const topic = 'loan_balance_changed';
    const found: Record<string, unknown>[] = [];
    for (const { partition, earliest, latest } of await log.bounds(
      Array.from({ length: partitionCount }, (_, number) => ({ topic, partition: number })),
    )) {
      for (let offset = earliest; offset < latest;) {
        const read = await log.read({ topic, partition, offset }, { bytesMaximum: 1_000_000, waitMilliseconds: 0 });
        for (const { bytes, count, valueStarts, valueEnds } of read.batches) {
          for (let index = 0; index < count; index += 1) {
            found.push(JSON.parse(bytes.toString('utf8', valueStarts[index], valueEnds[index])) as (typeof found)[0]);
          }
        }
        offset = read.nextOffset;
      }
    }
    return found.sort((left, right) => Number(right['sequence']) - Number(left['sequence'])).slice(0, 1);
  }

  it('return 404 with the texts of the API for unknown loans, products and transactions', async () => {
    for (const path of ['/loans/nobody', '/loans/nobody/schedule', '/loanproducts/nobody']) {
      expect((await call(`${late.url}${path}`, 'GET')).status).to.equal(404);
    }
    const { status, body } = await post(late, '/loans/transactions/nobody:adjust', { notes: 'no' });
    expect(status).to.equal(404);
    expect(body).to.deep.equal({
      errors: [{ errorCode: 1026, errorReason: 'INVALID_TRANSACTION_ID', errorSource: 'transactionId' }],
    });
  });
});
