import { expect } from 'chai';
import { describe, it } from 'mocha';
import { alwaysOpen } from '../../src/lending/schedule/calendar.ts';
import type { LogRecord } from '../../src/ports/event-log.ts';
import { toTimestamp } from '../../src/clock.ts';
import { writeEndOfDay } from '../../src/lending-format/command-format.ts';
import { allTogglesOff } from '../../src/lending/toggle-names.ts';
import { changeOrganization } from '../../src/lending-format/stored-organization.ts';
import { closedDayOf, followedCalendarOf } from '../../src/lending-format/stored-business-dates.ts';
import type { AccountsForWorker } from '../../src/accounts/accounts-for-worker.ts';
import { silentLogger } from '../../src/logger.ts';
import { CommandBatch } from '../../src/worker/command-batch.ts';
import { EndOfDayRun } from '../../src/worker/end-of-day.ts';
import { readEndOfDay } from '../../src/worker/pending-commands.ts';
import { LoanStore } from '../../src/worker/loan-store.ts';
import { accountRecordKey } from '../../src/lending-format/account-record-keys.ts';
import { accountsTopic } from '../../src/lending-format/lending-topics.ts';
import { writeBalances, writeSchedule } from '../../src/lending-format/response-bodies.ts';
import {
  type Json,
  type TestCommand,
  allEvents,
  commandTime,
  decided,
  deadLetters,
  eventsOfType,
  loanText,
  storedLoan,
  workerForEachTest,
} from '../support/lending/lending-log.ts';
import { acceptingFuturePayments, richProduct } from '../support/lending/lending-script.ts';

/** The command that closes a day for partition 0, as it is published at noon of the day after the last one. */
function endOfDay(businessDate: string, receivedAt = Date.UTC(2026, 0, 31, 12)): LogRecord {
  const { eid, occurredAt, fieldsText } = writeEndOfDay(0, businessDate, receivedAt);
  const metadata = { eid, occurred_at: occurredAt, received_at: toTimestamp(receivedAt), flow_id: eid };
  return { key: '0', value: Buffer.from(`{"metadata":${JSON.stringify(metadata)},${fieldsText}}`) };
}

/** A loan of four months from 12 September 2025: due on the twelfth of each month up to January. */
function activeLoan(id: string): TestCommand[] {
  return [
    { type: 'CREATE_LOAN', id, payload: { productTypeKey: 'P', loanAmount: 1000 } },
    { type: 'CHANGE_STATE', id, payload: { action: 'APPROVE' } },
    { type: 'DISBURSE', id, payload: { valueDate: '2025-09-12' } },
  ];
}

const product = richProduct('P', 'DYNAMIC_TERM_LOAN');

describe('the end of a day', () => {
  const fixture = workerForEachTest();

  const eventNames = async (): Promise<unknown[]> =>
    (await eventsOfType(fixture.log, 'loan_state_changed')).map(({ name }) => name);
  const balances = async (id: string): Promise<Json> =>
    JSON.parse(writeBalances((await storedLoan(fixture.log, id)) ?? expect.fail(), allTogglesOff)) as Json;

  it('makes installments due, then late, and puts the account into arrears', async () => {
    await decided(fixture.log, [product, ...activeLoan('L1')]);
    expect((await balances('L1'))['principalDue']).to.equal(0);
    await decided(fixture.log, [endOfDay('2025-10-10')]);
    expect((await balances('L1'))['principalDue']).to.equal(0);
    await decided(fixture.log, [endOfDay('2025-10-11')]);
    expect((await balances('L1'))['principalDue']).to.be.greaterThan(0);
    expect((await storedLoan(fixture.log, 'L1'))?.position.accountState).to.equal('ACTIVE');
    await decided(fixture.log, [endOfDay('2025-10-12')]);
    expect((await storedLoan(fixture.log, 'L1'))?.position.accountState).to.equal('ACTIVE_IN_ARREARS');
    expect(await eventNames()).to.include('loan_in_arrears');
  });

  it('shows in events what GET shows, after each of four months', async () => {
    await decided(fixture.log, [product, ...activeLoan('L1')]);
    for (const businessDate of ['2025-10-12', '2025-11-12', '2025-12-12', '2026-01-12']) {
      await decided(fixture.log, [endOfDay(businessDate)]);
      const folded: Json = {};
      for (const event of await eventsOfType(fixture.log, 'loan_balance_changed')) {
        for (const { type, balanceAfter } of event.changes) folded[type] = balanceAfter;
      }
      for (const [name, value] of Object.entries(await balances('L1'))) expect(folded[name] ?? 0).to.equal(value);
      const rows = new Map<string, unknown>();
      for (const event of await eventsOfType(fixture.log, 'loan_schedule_changed')) {
        for (const row of event.changedInstallments) rows.set(row.number, row);
      }
      const loan = (await storedLoan(fixture.log, 'L1')) ?? expect.fail();
      const text = writeSchedule(loan, allTogglesOff, alwaysOpen);
      if (typeof text !== 'string') expect.fail();
      const schedule = JSON.parse(text) as { installments: Json[] };
      expect([...rows.values()]).to.deep.equal(schedule.installments);
    }
  });

  it('closes missed days in their order, and a day once', async () => {
    await decided(fixture.log, [product, ...activeLoan('L1')]);
    await decided(fixture.log, [endOfDay('2025-10-01'), endOfDay('2025-10-05'), endOfDay('2025-10-03')]);
    const closed = await eventsOfType(fixture.log, 'business_day_closed');
    expect(closed.map(({ businessDate }) => businessDate)).to.deep.equal([
      '2025-10-01',
      '2025-10-02',
      '2025-10-03',
      '2025-10-04',
      '2025-10-05',
    ]);
    expect(new Set(closed.map(({ metadata }) => (metadata as Json)['eid']))).to.have.property('size', 5);
    await fixture.running.registry.catchUp();
    expect(closedDayOf(fixture.running.registry, 0)).to.equal('2025-10-05');
  });

  it('writes nothing for an account on a day on which nothing happens to it', async () => {
    await decided(fixture.log, [product, ...activeLoan('L1')]);
    const before = (await allEvents(fixture.log)).length;
    const loan = await storedLoan(fixture.log, 'L1');
    await decided(fixture.log, [endOfDay('2025-10-01'), endOfDay('2025-10-09')]);
    expect((await allEvents(fixture.log)).length - before).to.equal(9);
    expect(await storedLoan(fixture.log, 'L1')).to.deep.equal(loan);
  });

  it('is cut into commits, and a worker that starts in between does the rest', async () => {
    await fixture.restart({ commandsPerCommitMaximum: 2 });
    const ids = Array.from({ length: 9 }, (_, number) => `L${number}`);
    await decided(fixture.log, [product, ...ids.flatMap(activeLoan)]);
    const closing = decided(fixture.log, [endOfDay('2025-12-12')]);
    await fixture.restart({ commandsPerCommitMaximum: 2 });
    await closing;
    for (const id of ids) {
      expect((await storedLoan(fixture.log, id))?.businessDate).to.equal('2025-12-13');
    }
    const events = await allEvents(fixture.log);
    const identities = events.map(({ metadata }) => (metadata as Json)['eid']);
    expect(new Set(identities).size).to.equal(identities.length);
    expect(await deadLetters(fixture.log)).to.deep.equal([]);
  });

  it('gives other work its turn between the missed days of one account', async () => {
    let copy: AccountsForWorker | undefined;
    await fixture.restart({ copyWith: (used) => (copy = used) });
    await decided(fixture.log, [product, ...activeLoan('L1')]);
    const store = await LoanStore.open(copy ?? expect.fail(), 0, new AbortController().signal);
    const { registry } = fixture.running;
    const now = Date.UTC(2026, 0, 31, 12);
    const times = { idempotencyMilliseconds: 0, retentionMilliseconds: 0 };
    const options = { partition: 0, partitionCount: 1, logger: silentLogger, ...times };
    const batch = new CommandBatch({ ...options, store, registry, now });
    const command = { partition: 0, offset: 0, appendedAt: now, value: endOfDay('2026-01-30').value };
    const run = new EndOfDayRun(store, readEndOfDay(command) ?? expect.fail(), command);
    const daysAtEachTurn: string[] = [];
    const giveWay = async (): Promise<void> => {
      daysAtEachTurn.push(batch.loanOf('L1')?.businessDate ?? '');
    };
    const followed = followedCalendarOf(registry, 0);
    expect(await run.decideDue(batch, undefined, followed, allTogglesOff, () => false, giveWay)).to.equal(true);
    // Four rows fall due, each is late the day after, and interest is applied on the way.
    expect(new Set(daysAtEachTurn).size).to.be.at.least(8);
  });

  it('is refused for a day that is not over', async () => {
    const [outcome] = await decided(fixture.log, [endOfDay('2026-01-31')]);
    expect(outcome?.errors).to.deep.include({
      errorCode: 102,
      errorReason: 'INVALID_DATE',
      errorSource: 'businessDate',
    });
  });

  it('applies penalties for late days, the first for all of them, and none twice', async () => {
    const penaltySettings = {
      loanPenaltyCalculationMethod: 'OVERDUE_BALANCE',
      loanPenaltyGracePeriod: 2,
      penaltyRate: { defaultValue: 1 },
    };
    const strict: TestCommand = { ...product, payload: { ...product.payload, penaltySettings } };
    await decided(fixture.log, [strict, ...activeLoan('L1')]);
    await decided(fixture.log, [endOfDay('2025-10-13'), endOfDay('2025-10-14'), endOfDay('2025-10-16')]);
    const penalties = (await eventsOfType(fixture.log, 'loan_transaction_posted')).filter(
      ({ transactionType }) => transactionType === 'PENALTY_APPLIED',
    );
    expect(penalties.map(({ valueDate }) => valueDate)).to.deep.equal(['2025-10-15', '2025-10-16', '2025-10-17']);
    const [first = 0, second = 0, third = 0] = penalties.map(({ transaction }) => transaction.amount);
    expect(first).to.be.closeTo(3 * second, 0.02);
    expect(third).to.equal(second);
  });

  it('counts days where the organization is', async () => {
    const [opened, approved] = activeLoan('L1');
    const disbursement: TestCommand = { type: 'DISBURSE', id: 'L1', payload: { valueDate: '2026-01-13' } };
    if (opened === undefined || approved === undefined) expect.fail();
    // It is ten o'clock on the twelfth in UTC, and midnight of the thirteenth on Kiritimati.
    const [refused] = (await decided(fixture.log, [product, opened, approved, disbursement])).slice(-1);
    expect(refused?.errors?.map(({ errorReason }) => errorReason)).to.deep.equal(['INVALID_DISBURSEMENT_DATE']);
    await changeOrganization(fixture.running.registry, () => ({ timeZoneID: 'Pacific/Kiritimati' }), commandTime);
    const [accepted] = await decided(fixture.log, [disbursement]);
    expect(accepted?.outcome).to.equal('committed');
    const early = endOfDay('2026-01-12', commandTime - 1);
    const [tooEarly] = await decided(fixture.log, [early]);
    expect(tooEarly?.outcome).to.equal('refused');
    const [closed] = await decided(fixture.log, [endOfDay('2026-01-11', commandTime - 1)]);
    expect(closed?.outcome).to.equal('committed');
  });

  it('leaves room for a payment of an earlier day, as long as no transaction followed', async () => {
    await decided(fixture.log, [product, ...activeLoan('L1'), endOfDay('2025-10-12')]);
    const [repaid] = await decided(fixture.log, [
      { type: 'REPAY', id: 'L1', payload: { amount: 400, valueDate: '2025-10-12' } },
    ]);
    expect(repaid?.outcome).to.equal('committed');
    expect((await storedLoan(fixture.log, 'L1'))?.position.accountState).to.equal('ACTIVE');
    expect((await eventNames()).at(-1)).to.equal('loan_out_of_arrears');
  });

  it('posts the repayments that waited for the day, once, and says which one the loan refused', async () => {
    const repay = (amount: number, valueDate: string, receivedAt = commandTime): TestCommand => ({
      type: 'REPAY',
      id: 'L1',
      payload: { amount, valueDate },
      receivedAt,
    });
    await decided(fixture.log, [acceptingFuturePayments(product), ...activeLoan('L1')]);
    const asked = [
      repay(50, '2026-01-20'),
      repay(9_000, '2026-01-20'),
      repay(60, '2026-01-20'),
      repay(9, '2026-01-25'),
    ];
    const outcomes = await decided(fixture.log, asked);
    expect(outcomes.map(({ outcome }) => outcome)).to.deep.equal(Array(4).fill('committed'));
    const postedAmounts = async (): Promise<unknown[]> =>
      (await eventsOfType(fixture.log, 'loan_transaction_posted'))
        .filter(({ transactionType }) => transactionType === 'REPAYMENT')
        .map(({ transaction }) => transaction.amount);
    await decided(fixture.log, [endOfDay('2026-01-19')]);
    expect(await postedAmounts()).to.deep.equal([]);
    await fixture.restart();
    await decided(fixture.log, [endOfDay('2026-01-20')]);
    expect(await postedAmounts()).to.deep.equal([50, 60]);
    await decided(fixture.log, [endOfDay('2026-01-20'), endOfDay('2026-01-21')]);
    expect(await postedAmounts()).to.deep.equal([50, 60]);

    const rejected = await eventsOfType(fixture.log, 'command_rejected');
    expect(rejected.map(({ commandType, errors }) => [commandType, errors[0]?.errorReason])).to.deep.equal([
      ['REPAY', 'EXCESS_REPAYMENT_ERROR'],
    ]);
    const identities = (await allEvents(fixture.log)).map(({ metadata }) => (metadata as Json)['eid']);
    expect(new Set(identities).size).to.equal(identities.length);
    expect(await deadLetters(fixture.log)).to.deep.equal([]);
    const changed = await eventsOfType(fixture.log, 'loan_account_changed');
    expect(changed.map(({ account }) => (account['futurePayments'] as Json[] | undefined)?.length ?? 0)).to.deep.equal([
      1, 2, 3, 4, 3, 2, 1,
    ]);
    const loan = await storedLoan(fixture.log, 'L1');
    expect(loan?.futurePayments?.map(({ valueDate }) => valueDate)).to.deep.equal(['2026-01-25']);
  });

  it('is closed for the others when a stored account cannot be read, and reaches that one once it can be', async () => {
    const ids = ['L1', 'L2', 'L3'];
    await decided(fixture.log, [product, ...ids.flatMap(activeLoan)]);
    const text = (await loanText(fixture.log, 'L2')) ?? expect.fail();
    /** Stores the account while no worker runs, which knows those that it decided. */
    const store = async (changed: string): Promise<void> => {
      await fixture.stop();
      const record = { key: accountRecordKey('L2'), value: Buffer.from(changed) };
      await fixture.log.append([{ topic: accountsTopic, partition: 0, records: [record] }]);
      await fixture.start();
    };
    const datesOf = (some: readonly string[]): Promise<unknown[]> =>
      Promise.all(some.map(async (id) => (await storedLoan(fixture.log, id))?.businessDate));
    await store(text.replace(/"product":"[0-9a-f]+"/, '"product":"not stored"'));
    await decided(fixture.log, [endOfDay('2025-10-11'), endOfDay('2025-10-12')]);
    expect(await datesOf(['L1', 'L3'])).to.deep.equal(['2025-10-13', '2025-10-13']);
    const reasons = (await deadLetters(fixture.log)).map(({ reason }) => String(reason));
    expect(reasons).to.have.length(2);
    for (const reason of reasons) expect(reason).to.match(/The end of the day failed on L2: .*not stored/);
    expect(await loanText(fixture.log, 'L2')).to.contain('"product":"not stored"');

    await store(text);
    await decided(fixture.log, [endOfDay('2025-10-12')]);
    expect(await datesOf(ids)).to.deep.equal(['2025-10-13', '2025-10-13', '2025-10-13']);
    expect(await deadLetters(fixture.log)).to.have.length(2);
  });

  it('posts the repayments of each account though another one has one that is refused', async () => {
    const ids = ['L1', 'L2', 'L3'];
    await decided(fixture.log, [acceptingFuturePayments(product), ...ids.flatMap(activeLoan)]);
    const amounts = [50, 9_000, 60];
    const payments = ids.map((id, index): TestCommand => {
      return { type: 'REPAY', id, payload: { amount: amounts[index], valueDate: '2026-01-20' } };
    });
    await decided(fixture.log, [...payments, endOfDay('2026-01-20')]);
    for (const id of ids) {
      const loan = await storedLoan(fixture.log, id);
      expect(loan?.businessDate).to.equal('2026-01-21');
      expect(loan?.futurePayments).to.equal(undefined);
    }
    const posted = (await eventsOfType(fixture.log, 'loan_transaction_posted')).filter(
      ({ transactionType }) => transactionType === 'REPAYMENT',
    );
    expect(posted.map(({ loanAccountId, transaction }) => [loanAccountId, transaction.amount])).to.have.deep.members([
      ['L1', 50],
      ['L3', 60],
    ]);
  });
});
