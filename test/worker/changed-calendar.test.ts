import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Registry } from '../../src/broker/definitions/registry.ts';
import type { LogRecord } from '../../src/ports/event-log.ts';
import { toTimestamp } from '../../src/clock.ts';
import { silentLogger } from '../../src/logger.ts';
import { accountRecordKey } from '../../src/lending-format/account-record-keys.ts';
import { writeEndOfDay } from '../../src/lending-format/command-format.ts';
import { accountsTopic } from '../../src/lending-format/lending-topics.ts';
import { followedCalendarOf } from '../../src/lending-format/stored-business-dates.ts';
import { changeOrganization } from '../../src/lending-format/stored-organization.ts';
import type { Weekday } from '../../src/lending/organization.ts';
import {
  type Json,
  type TestCommand,
  allEvents,
  commandTime,
  decided,
  deadLetters,
  eventsOfType,
  recordsOf,
  storedLoan,
  workerForEachTest,
} from '../support/lending/lending-log.ts';
import { richProduct } from '../support/lending/lending-script.ts';
import { withSteps } from '../support/stepping-log.ts';

/** The command that closes a day for partition 0, as it is published at noon of the day after the last one. */
function endOfDay(businessDate: string): LogRecord {
  const receivedAt = Date.UTC(2026, 0, 31, 12);
  const { eid, occurredAt, fieldsText } = writeEndOfDay(0, businessDate, receivedAt);
  const metadata = { eid, occurred_at: occurredAt, received_at: toTimestamp(receivedAt), flow_id: eid };
  return { key: '0', value: Buffer.from(`{"metadata":${JSON.stringify(metadata)},${fieldsText}}`) };
}

/** A loan of four months. */
function activeLoan(id: string, productTypeKey = 'P', valueDate = '2025-09-12'): TestCommand[] {
  return [
    { type: 'CREATE_LOAN', id, payload: { productTypeKey, loanAmount: 1000 } },
    { type: 'CHANGE_STATE', id, payload: { action: 'APPROVE' } },
    { type: 'DISBURSE', id, payload: { valueDate } },
  ];
}

function movingProduct(id: string, repaymentReschedulingMethod: string): TestCommand {
  const base = richProduct(id, 'DYNAMIC_TERM_LOAN');
  const scheduleSettings = { ...(base.payload?.['scheduleSettings'] as Json), repaymentReschedulingMethod };
  return { ...base, payload: { ...base.payload, scheduleSettings } };
}

describe('the end of a day after a change of the calendar', () => {
  const fixture = workerForEachTest();

  const setDays = (dates: readonly string[], nonWorkingDays: readonly Weekday[] = []): Promise<void> =>
    changeOrganization(
      fixture.running.registry,
      () => ({
        nonWorkingDays,
        holidays: dates.map((date, index) => ({ id: index + 1, name: 'Closed', date, isAnnuallyRecurring: false })),
      }),
      commandTime,
    );
  const dueDates = async (id: string): Promise<string[]> =>
    ((await storedLoan(fixture.log, id)) ?? expect.fail()).position.installments.map(({ dueDate }) => dueDate);
  const scheduleEvents = async (): Promise<string[]> =>
    (await eventsOfType(fixture.log, 'loan_schedule_changed')).flatMap(({ reason, loanAccountId }) =>
      reason === 'HOLIDAY_CHANGED' ? [loanAccountId] : [],
    );

  /** Stores the account so that it can be read, and its rows cannot be moved. @returns what stores it as it was */
  const damaged = async (id: string): Promise<() => Promise<void>> => {
    const key = accountRecordKey(id);
    const stored = (await recordsOf(fixture.log, accountsTopic)).findLast((record) => record.key === key)?.text;
    const text = stored ?? expect.fail(`no account ${id}`);
    const store = async (value: string): Promise<void> => {
      await fixture.stop();
      const records = [{ key, value: Buffer.from(value) }];
      await fixture.log.append([{ topic: accountsTopic, partition: 0, records }]);
      await fixture.start();
    };
    await store(text.replace(/"disbursements":\[[^\]]*\]/, '"disbursements":[]'));
    return () => store(text);
  };

  it('moves the installments of the accounts that have one on the day, with one schedule event each', async () => {
    await setDays([]);
    const products = [movingProduct('P', 'NEXT_WORKING_DAY'), movingProduct('N', 'NONE')];
    await decided(fixture.log, [
      ...products,
      ...activeLoan('L1'),
      ...activeLoan('L2', 'P', '2025-09-10'),
      ...activeLoan('L3', 'N'),
      endOfDay('2025-09-30'),
    ]);
    expect(await dueDates('L1')).to.deep.equal(['2025-10-12', '2025-11-12', '2025-12-12', '2026-01-12']);
    const [others, without] = [await storedLoan(fixture.log, 'L2'), await storedLoan(fixture.log, 'L3')];
    await setDays(['2025-11-12', '2025-11-13']);
    await decided(fixture.log, [endOfDay('2025-10-01')]);
    expect(await dueDates('L1')).to.deep.equal(['2025-10-12', '2025-11-14', '2025-12-12', '2026-01-12']);
    expect(await storedLoan(fixture.log, 'L2')).to.deep.equal(others);
    expect(await storedLoan(fixture.log, 'L3')).to.deep.equal(without);
    expect(await scheduleEvents()).to.deep.equal(['L1']);
    const events = (await allEvents(fixture.log)).length;
    await decided(fixture.log, [endOfDay('2025-10-02')]);
    expect((await allEvents(fixture.log)).length).to.equal(events + 1);
    await setDays([]);
    await decided(fixture.log, [endOfDay('2025-10-03')]);
    expect(await dueDates('L1')).to.deep.equal(['2025-10-12', '2025-11-12', '2025-12-12', '2026-01-12']);
    expect(await deadLetters(fixture.log)).to.deep.equal([]);
  });

  it('moves what is due after the day that ends, not what is due on it or on a missed day', async () => {
    await setDays([]);
    await decided(fixture.log, [movingProduct('P', 'NEXT_WORKING_DAY'), ...activeLoan('L1'), endOfDay('2025-10-10')]);
    await setDays(['2025-10-12', '2025-11-12']);
    await decided(fixture.log, [endOfDay('2025-10-12')]);
    expect(await dueDates('L1')).to.deep.equal(['2025-10-12', '2025-11-13', '2025-12-12', '2026-01-12']);
    await setDays(['2025-12-12']);
    await decided(fixture.log, [endOfDay('2025-12-11')]);
    // That of November was due in the meantime.
    expect(await dueDates('L1')).to.deep.equal(['2025-10-12', '2025-11-13', '2025-12-13', '2026-01-12']);
  });

  it('follows a change and its opposite that come between two ends of the same day', async () => {
    await setDays([]);
    await decided(fixture.log, [movingProduct('P', 'NEXT_WORKING_DAY'), ...activeLoan('L1')]);
    for (const holidays of [['2025-11-12'], [], ['2025-11-12'], []]) {
      await setDays(holidays);
      await decided(fixture.log, [{ ...endOfDay('2025-10-01') }]);
      const second = holidays.length === 0 ? '2025-11-12' : '2025-11-13';
      expect(await dueDates('L1')).to.deep.equal(['2025-10-12', second, '2025-12-12', '2026-01-12']);
    }
  });

  it('looks at every account when a weekday becomes a working day', async () => {
    await setDays([], ['SATURDAY', 'SUNDAY']);
    await decided(fixture.log, [movingProduct('P', 'PREVIOUS_WORKING_DAY'), ...activeLoan('L1')]);
    expect(await dueDates('L1')).to.deep.equal(['2025-10-10', '2025-11-12', '2025-12-12', '2026-01-12']);
    await setDays([], ['SUNDAY']);
    await decided(fixture.log, [endOfDay('2025-10-01')]);
    expect((await dueDates('L1'))[0]).to.equal('2025-10-11');
    await setDays([], ['SUNDAY', 'WEDNESDAY', 'FRIDAY']);
    await decided(fixture.log, [endOfDay('2025-10-01')]);
    expect(await dueDates('L1')).to.deep.equal(['2025-10-11', '2025-11-11', '2025-12-11', '2026-01-12']);
  });

  it('comes to every account, also when they do not fit into one page of ids', async () => {
    await setDays([]);
    const ids = Array.from({ length: 203 }, (_, number) => `L${number}`);
    const product = movingProduct('P', 'NEXT_WORKING_DAY');
    await decided(fixture.log, [product, ...ids.flatMap((id) => activeLoan(id))]);
    await setDays(['2025-12-12', '2025-11-12']);
    await decided(fixture.log, [endOfDay('2025-10-01')]);
    expect((await scheduleEvents()).sort()).to.deep.equal(ids.sort());
  });

  it('is cut into commits, and a worker that starts in between does the rest, once for each account', async () => {
    await fixture.restart({ commandsPerCommitMaximum: 2 });
    await setDays([]);
    const ids = Array.from({ length: 9 }, (_, number) => `L${number}`);
    const product = movingProduct('P', 'NEXT_WORKING_DAY');
    await decided(fixture.log, [product, ...ids.flatMap((id) => activeLoan(id)), endOfDay('2025-09-30')]);
    await setDays(['2025-12-12']);
    const closing = decided(fixture.log, [endOfDay('2025-10-01')]);
    await fixture.restart({ commandsPerCommitMaximum: 2 });
    await closing;
    for (const id of ids) expect((await dueDates(id))[2]).to.equal('2025-12-13');
    expect((await scheduleEvents()).sort()).to.deep.equal(ids);
    const identities = (await allEvents(fixture.log)).map(({ metadata }) => (metadata as Json)['eid']);
    expect(new Set(identities).size).to.equal(identities.length);
    await fixture.running.registry.catchUp();
    const { holidays } = followedCalendarOf(fixture.running.registry, 0);
    expect(holidays.map(({ date }) => date)).to.deep.equal(['2025-12-12']);
  });

  it('is tried again with each end of a day while it fails on an account, and moves nothing else twice', async () => {
    await setDays([]);
    const product = movingProduct('P', 'NEXT_WORKING_DAY');
    await decided(fixture.log, [
      product,
      ...['L0', 'L1', 'L2'].flatMap((id) => activeLoan(id)),
      endOfDay('2025-09-30'),
    ]);
    const mend = await damaged('L1');
    await setDays(['2025-12-12']);
    await decided(fixture.log, [endOfDay('2025-10-01'), endOfDay('2025-10-02')]);
    const third = async (id: string): Promise<unknown> => (await dueDates(id))[2];
    expect([await third('L0'), await third('L1'), await third('L2')]).to.deep.equal([
      '2025-12-13',
      '2025-12-12',
      '2025-12-13',
    ]);
    expect(await scheduleEvents()).to.deep.equal(['L0', 'L2']);
    const reasons = (await deadLetters(fixture.log)).map(({ reason }) => reason);
    expect(reasons).to.have.length(2);
    for (const reason of reasons) expect(reason).to.match(/^The end of the day failed on L1: /);
    await mend();
    await decided(fixture.log, [endOfDay('2025-10-03'), endOfDay('2025-10-04')]);
    expect(await third('L1')).to.equal('2025-12-13');
    expect(await scheduleEvents()).to.deep.equal(['L0', 'L2', 'L1']);
    expect(await deadLetters(fixture.log)).to.have.length(2);
    await fixture.running.registry.catchUp();
    expect(followedCalendarOf(fixture.running.registry, 0).holidays).to.have.length(1);
  });

  it('brings all accounts back when it is taken back after it failed on one of them', async () => {
    await setDays([]);
    const product = movingProduct('P', 'NEXT_WORKING_DAY');
    await decided(fixture.log, [product, ...activeLoan('L1'), ...activeLoan('L2'), endOfDay('2025-09-30')]);
    const mend = await damaged('L1');
    await setDays(['2025-12-12']);
    await decided(fixture.log, [endOfDay('2025-10-01')]);
    expect((await dueDates('L2'))[2]).to.equal('2025-12-13');
    await mend();
    await setDays([]);
    await decided(fixture.log, [endOfDay('2025-10-02')]);
    expect((await dueDates('L2'))[2]).to.equal('2025-12-12');
    expect((await dueDates('L1'))[2]).to.equal('2025-12-12');
    const events = (await allEvents(fixture.log)).length;
    await decided(fixture.log, [endOfDay('2025-10-03')]);
    expect((await allEvents(fixture.log)).length, 'it is followed, and nothing is moved').to.equal(events + 1);
  });

  it('brings all accounts back when it is taken back in the middle of an end of a day', async () => {
    let onCommit = (): Promise<void> | void => {};
    const stepping = withSteps(fixture.log, (step) => (step === 'committed' ? onCommit() : undefined));
    await fixture.restart({ commandsPerCommitMaximum: 2 }, stepping);
    await setDays([]);
    const ids = Array.from({ length: 9 }, (_, number) => `L${number}`);
    const product = movingProduct('P', 'NEXT_WORKING_DAY');
    await decided(fixture.log, [product, ...ids.flatMap((id) => activeLoan(id)), endOfDay('2025-09-30')]);
    await setDays(['2025-12-12']);
    let goOn = (): void => {};
    const middle = new Promise<void>((reached) => {
      onCommit = async () => {
        if ((await scheduleEvents()).length === 0) return;
        reached();
        await new Promise<void>((resolve) => (goOn = resolve));
      };
    });
    const closing = decided(fixture.log, [endOfDay('2025-10-01')]);
    await middle;
    const stopped = fixture.stop();
    goOn();
    await stopped;
    const moved = (await scheduleEvents()).length;
    expect(moved).to.be.within(1, ids.length - 1);
    const admin = new Registry(fixture.log, silentLogger);
    await admin.start();
    await changeOrganization(admin, () => ({ holidays: [] }), commandTime);
    await admin.stop();
    await fixture.start({ commandsPerCommitMaximum: 2 });
    await closing;
    for (const id of ids) expect((await dueDates(id))[2], id).to.equal('2025-12-12');
    expect(await scheduleEvents()).to.have.length(2 * moved);
    await fixture.running.registry.catchUp();
    expect(followedCalendarOf(fixture.running.registry, 0)).to.deep.include({ holidays: [], isIncomplete: false });
  });

  for (const last of [[], ['2025-12-20']]) {
    it(`moves an account that was paid out under a calendar in between, before ${last.length} other days closed`, async () => {
      await setDays([]);
      await decided(fixture.log, [movingProduct('P', 'NEXT_WORKING_DAY'), endOfDay('2025-09-30')]);
      await setDays(['2025-11-12']);
      await decided(fixture.log, activeLoan('L1'));
      expect((await dueDates('L1'))[1]).to.equal('2025-11-13');
      await setDays(last);
      await decided(fixture.log, [endOfDay('2025-10-01')]);
      expect((await dueDates('L1'))[1]).to.equal('2025-11-12');
    });
  }
});
