import { expect } from 'chai';
import { after, afterEach, before, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import { toggleNames, type ToggleName } from '../../src/lending/toggle-names.ts';
import { lendingEventTypeNames } from '../../src/lending-format/lending-topics.ts';
import { call, eventsOf, lastCursors, openStream, type HttpResponse, type OpenStream } from '../support/http/client.ts';
import { describeOnCluster, describeOnPreviousKafka } from '../support/cluster.ts';
import { annuityProduct } from '../../src/admin/example-product.ts';
import { insist } from '../support/insist.ts';
import { foldSchedule } from '../support/lending/event-folds.ts';
import { startOneMachine, startSystemOnCluster, type System } from '../support/system.ts';
import { describeConsumers } from './consumers.ts';

type Json = Record<string, unknown>;

/** All eight settings of the three toggles. */
const combinations = Array.from({ length: 8 }, (_, bits) =>
  Object.fromEntries(toggleNames.map((name, index) => [name, ((bits >> index) & 1) === 1])),
) as Record<ToggleName, boolean>[];

function describeCombination(toggles: Record<ToggleName, boolean>): string {
  const on = toggleNames.filter((name) => toggles[name]);
  return on.length === 0 ? 'every toggle off' : `${on.join(', ')} on`;
}

/** Retries while the system reports that it cannot respond now, as a client with the same Idempotency-Key may. */
function responseOf(sendRequest: () => Promise<HttpResponse>): Promise<HttpResponse> {
  return insist(async () => {
    const response = await sendRequest();
    if ([202, 409, 503].includes(response.status)) throw new Error(response.text);
    return response;
  });
}

// One system for all of it: what its processes did before must not matter.
describe('one process', () => {
  const system = runningSystem(startOneMachine);
  describe('with consumers that share a subscription', () => describeConsumers(system, 'forgets sessions'));
  describe('with a loan from command to consumer, killed in the middle', () => {
    // Every fourth one, each kill a few milliseconds later in the repayment.
    describeLendingFlow(system, combinations, { isKilled: (index) => index % 4 === 0 });
  });
});

describeOnCluster('several processes', () => {
  // On a Kafka that no other test uses meanwhile: its workers would decide the same commands.
  const system = runningSystem(() => startSystemOnCluster({ roles: ['serve', 'serve', 'work'] }));
  describe('with consumers that share a subscription, each on another one', () => {
    describeConsumers(system, 'keeps sessions');
  });
  describe('with a loan from command to consumer, and a part of the cluster killed in the middle', () => {
    // One that serves, the one that works, and Redis. test/faults kills the broker under load, and the others of the
    // settings are proven on one machine.
    const turns = [0, 2, 3];
    describeLendingFlow(system, combinations.slice(0, turns.length), { turnOf: (index) => turns[index] ?? 0 });
  });
});

describeOnPreviousKafka('a loan from command to consumer, with a process killed in the middle', (cluster) => {
  const system = runningSystem(() => {
    return startSystemOnCluster({ kafkaBrokers: cluster().kafkaBrokers, roles: ['serve', 'work'] });
  });
  describeLendingFlow(system, combinations.slice(0, 1));
});

/** A system that runs for the tests of a suite. */
function runningSystem(start: () => Promise<System>): () => System {
  let system: System;
  before(async function () {
    this.timeout(120_000);
    system = await start();
  });
  after(() => system.stop());
  return () => system;
}

/**
 * @param tried A test for each of these settings.
 * @param kills Whether a part is killed in the test of that index, and whose turn it is then.
 */
function describeLendingFlow(
  system: () => System,
  tried: readonly Record<ToggleName, boolean>[],
  kills: { isKilled?: (index: number) => boolean; turnOf?: (index: number) => number } = {},
): void {
  const { isKilled = () => true, turnOf = (index: number) => index } = kills;

  /** The cluster may have loans of a run before this one. */
  const run = `flow-${randomUUID().slice(0, 8)}`;
  let subscription: string;
  let opened: OpenStream | undefined;

  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    call(`${system().url()}${path}`, 'POST', body, headers);
  const get = (path: string) => call(`${system().url()}${path}`, 'GET');

  before(async function () {
    this.timeout(120_000);
    expect((await post('/loanproducts', annuityProduct(run))).status).to.equal(201);
    const created = await post('/subscriptions', {
      owning_application: `ledger-${run}`,
      event_types: lendingEventTypeNames,
      read_from: 'begin',
    });
    expect(created.status).to.equal(201);
    subscription = String(created.body['id']);
  });

  // Streams left open by a failure would hold the partitions of the next test.
  afterEach(() => opened?.close());

  for (const [index, toggles] of tried.entries()) {
    it(`delivers to the consumer what REST shows, with ${describeCombination(toggles)}`, async function () {
      this.timeout(120_000);
      const loan = `${run}-${index}`;
      for (const name of toggleNames) {
        const switched = await call(`${system().url()}/toggles/${name}`, 'PUT', { enabled: toggles[name] });
        expect(switched.status).to.equal(200);
      }
      const created = await post('/loans', { id: loan, productTypeKey: run, loanAmount: 1000 });
      expect(created.status, created.text).to.equal(201);
      expect((await post(`/loans/${loan}:changeState`, { action: 'APPROVE' })).status).to.equal(200);
      const disbursed = await post(`/loans/${loan}/disbursement-transactions`, { valueDate: '2011-01-23' });
      expect(disbursed.status, disbursed.text).to.equal(201);
      const fee = await post(`/loans/${loan}/fee-transactions`, { amount: 50, installmentNumber: 1 });
      expect(fee.status, fee.text).to.equal(201);

      // The repayment is in progress when a part dies; its sender retries with the same key.
      const repay = () =>
        post(
          `/loans/${loan}/repayment-transactions`,
          { amount: 315.47 },
          { 'Idempotency-Key': `${run}-repay-${index}` },
        );
      const cutOff = repay().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, index * 2));
      if (isKilled(index)) await system().killAndRestart(turnOf(index));
      await cutOff;
      const repaid = await responseOf(repay);
      expect(repaid.status, repaid.text).to.equal(201);

      // Another process may detect the kill a moment later.
      const command = (path: string, body: unknown) => {
        const headers = { 'Idempotency-Key': randomUUID() };
        return responseOf(() => post(path, body, headers));
      };
      const adjusted = await command(`/loans/transactions/${String(repaid.body['encodedKey'])}:adjust`, {
        notes: 'again',
      });
      expect(adjusted.status, adjusted.text).to.equal(200);
      const again = await command(`/loans/${loan}/repayment-transactions`, { amount: 315.47 });
      expect(again.status, again.text).to.equal(201);
      const refused = await command(`/loans/${loan}/repayment-transactions`, { amount: 100_000 });
      expect(refused.status).to.equal(400);
      expect(refused.body).to.deep.equal({
        errors: [{ errorCode: 110, errorReason: 'EXCESS_REPAYMENT_ERROR', errorSource: 'amount' }],
      });

      const balances = await responseOf(() => get(`/loans/${loan}/balances`));
      const schedule = await responseOf(() => get(`/loans/${loan}/schedule`));
      const stream = await insist(() =>
        openStream(system().url(), subscription, '?batch_limit=1&max_uncommitted_events=10000'),
      );
      opened = stream;
      const ofLoan = () => eventsOf(stream.batches).filter((event) => event['loanAccountId'] === loan);
      const named = (type: string) => ofLoan().filter((event) => (event['metadata'] as Json)['event_type'] === type);
      const sequences = () =>
        ofLoan()
          .filter((event) => event['sequence'] !== undefined)
          .map((event) => event['sequence'] as number)
          .sort((a, b) => a - b);
      // Every transaction of this loan changes balances and schedule, so all of its events have arrived by then.
      const transactions = JSON.parse((await responseOf(() => get(`/loans/${loan}/transactions`))).text) as Json[];
      await stream.until(() =>
        ['loan_transaction_posted', 'loan_balance_changed', 'loan_schedule_changed'].every(
          (type) => named(type).length >= transactions.length,
        ),
      );
      await stream.until(() => named('command_rejected').length > 0 && sequences().length >= (sequences().at(-1) ?? 0));

      expect(sequences(), 'no gap and no double').to.deep.equal(sequences().map((_, position) => position + 1));
      const identities = ofLoan().map((event) => (event['metadata'] as Json)['eid']);
      expect(new Set(identities).size, 'each event once').to.equal(identities.length);
      const bySequence = (a: Json, b: Json) => Number(a['sequence']) - Number(b['sequence']);
      const lastBalance = named('loan_balance_changed').sort(bySequence).at(-1);
      expect(lastBalance?.['balances']).to.deep.equal(balances.body);
      expect(foldSchedule(named('loan_schedule_changed').sort(bySequence))).to.deep.equal(
        schedule.body['installments'],
      );
      expect(lastBalance?.['toggles']).to.deep.equal(toggles);
      expect(Object.keys(balances.body)).to.include(toggles.ALLOW_NON_SCHEDULED_FEES ? 'scheduledFeesDue' : 'feesDue');
      expect('nonScheduledPrincipalBalanceOverpayment' in (schedule.body['installments'] as Json[])[0]!).to.equal(
        toggles.PRINCIPAL_OVERPAYMENT,
      );

      expect((await stream.commit(lastCursors(stream.batches))).status).to.be.oneOf([200, 204]);
      stream.close();
      await stream.ended;
    });
  }

  it('shows the published schedule of the annuity loan', async () => {
    const loan = `${run}-published`;
    await post('/loans', { id: loan, productTypeKey: run, loanAmount: 1000 });
    await post(`/loans/${loan}:changeState`, { action: 'APPROVE' });
    await post(`/loans/${loan}/disbursement-transactions`, { valueDate: '2011-01-23' });
    const { installments } = (await get(`/loans/${loan}/schedule`)).body as {
      installments: { principal: { amount: Json }; interest: { amount: Json } }[];
    };
    expect(installments.map(({ principal }) => principal.amount['expected'])).to.deep.equal([
      215.47, 237.02, 260.72, 286.79,
    ]);
    expect(installments.map(({ interest }) => interest.amount['expected'])).to.deep.equal([100, 78.45, 54.75, 28.68]);
  });

  it('decides a command published by a producer in the same way', async () => {
    const loan = `${run}-producer`;
    const published = await post('/event-types/lendstream.loan-commands/events', [
      {
        metadata: { eid: randomUUID(), occurred_at: '2026-01-12T10:00:00Z' },
        type: 'CREATE_LOAN',
        loanAccountId: loan,
        payload: { productTypeKey: run, loanAmount: 1000 },
      },
    ]);
    expect(published.status, published.text).to.equal(200);
    let response = await get(`/loans/${loan}`);
    for (let tries = 0; response.status === 404 && tries < 100; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      response = await get(`/loans/${loan}`);
    }
    expect(response.body['accountState']).to.equal('PENDING_APPROVAL');
  });
}
