import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { AccountsCopy } from '../../src/accounts/accounts-copy.ts';
import { systemClock } from '../../src/clock.ts';
import { LendstreamError, isLendstreamError } from '../../src/errors.ts';
import { HealthPart, unreachableMillisecondsMaximum } from '../../src/health.ts';
import { silentLogger } from '../../src/logger.ts';
import { openDatabase } from '../../src/sqlite.ts';
import type { EventLog } from '../../src/ports/event-log.ts';
import { openLogUnderTest } from '../support/backend-under-test.ts';
import { eventually } from '../support/eventually.ts';
import { recordsOf } from '../support/lending/lending-log.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { overriding } from '../support/stepping-log.ts';
import { failureOf } from '../support/thrown-errors.ts';
import { loanRecord, productRecord } from './stored-loans.ts';

const topic = 'lendstream.accounts';
const never = new AbortController().signal;

/** Calls a function whenever it has become ready. */
class WatchedPart extends HealthPart {
  onReady = (): void => {};

  constructor() {
    super('accounts-copy', systemClock, () => {});
  }

  override reportReady(): void {
    super.reportReady();
    this.onReady();
  }
}

describe('a copy of accounts that is being filled', () => {
  let folder: string;
  let log: EventLog;
  let clock: SimulatedClock;
  let part: WatchedPart;
  let accounts: AccountsCopy;
  /** What a read of the log waits for, or fails with. */
  let gate: () => Promise<void>;
  let letThrough: () => void;

  beforeEach(async () => {
    folder = await temporaryFolder();
    log = await openLogUnderTest(folder);
    await log.createTopic({ name: topic, partitionCount: 1, cleanupPolicy: 'compact', retentionMilliseconds: 0 });
    const loans = Array.from({ length: 9 }, (_, at) => loanRecord({ id: `loan-${at}` }));
    await log.append([{ topic, partition: 0, records: [productRecord(), ...loans] }]);
    await recordsOf(log, topic, 0);
    clock = new SimulatedClock();
    part = new WatchedPart();
    const passed = new Promise<void>((resolve) => (letThrough = resolve));
    gate = () => passed;
    const read: EventLog['read'] = async (from, options) => {
      await gate();
      return log.read(from, options);
    };
    accounts = await AccountsCopy.open({
      dataFolder: folder,
      log: overriding(log, { read }),
      partitionCount: 1,
      clock,
      logger: silentLogger,
      health: part,
    });
  });
  afterEach(async () => {
    letThrough();
    await accounts.close();
    await log.close();
    await removeFolder(folder);
  });

  const codeOf = (error: unknown): unknown => (isLendstreamError(error) ? error.code : error);

  it('serves no read, and shows how far it is, until it has all of the log', async () => {
    expect(codeOf(await failureOf(accounts.find('loan-1')))).to.equal('LOG_UNAVAILABLE');
    const filling = accounts.fill();
    await eventually(() => part.progress !== null);
    expect(part.progress).to.deep.include({ recordsRead: 0, percent: 0 });
    expect(part.progress?.records).to.be.at.least(10);
    for (const read of [
      () => accounts.find('loan-1'),
      () => accounts.search((searches) => searches.loans({ sorting: [], offset: 0, limit: 1 })),
      async () => accounts.outcomeOf('command', never),
    ]) {
      const failure = await failureOf(read());
      expect([codeOf(failure), failure.message]).to.deep.equal([
        'LOG_UNAVAILABLE',
        'The local copy of accounts is being read from the log. Try again later.',
      ]);
    }
    letThrough();
    await filling;
    expect([part.ready, part.progress]).to.deep.equal([true, null]);
    expect((await accounts.find('loan-8'))?.id).to.equal('loan-8');
  });

  it('is reported ready once, when it can be read, at the start and after a rebuild', async () => {
    const found: (string | undefined)[] = [];
    part.onReady = () => found.push(accounts.loanOf(accounts.accountText('loan-1') ?? '').id);
    letThrough();
    await accounts.fill();
    expect(found).to.deep.equal(['loan-1']);
    const database = openDatabase(`${folder}/accounts.db`);
    database.exec('DELETE FROM states');
    database.close();
    expect(() => accounts.accountText('loan-1')).to.throw(/is being rebuilt from the log/);
    expect(part.ready).to.equal(false);
    await eventually(() => part.ready);
    expect(found).to.deep.equal(['loan-1', 'loan-1']);
  });

  it('is not ready because the log can be read again', async () => {
    const outage = new LendstreamError('LOG_UNAVAILABLE', 'The log is away.');
    const passed = gate;
    gate = () => Promise.reject(outage);
    const filling = accounts.fill();
    await eventually(() => part.progress !== null);
    await eventually(async () => {
      await clock.turn(unreachableMillisecondsMaximum / 10);
      return part.progress === null;
    });
    expect(part.reason).to.equal('Topic lendstream.accounts cannot be read now: The log is away.');
    part.onReady = () => expect(accounts.accountText('loan-8')).to.be.a('string');
    gate = passed;
    letThrough();
    await clock.turn(100);
    await filling;
    expect(part.ready).to.equal(true);
  });

  it('ends when it is closed', async () => {
    const filling = failureOf(accounts.fill());
    await eventually(() => part.progress !== null);
    const closed = accounts.close();
    letThrough();
    await closed;
    expect(codeOf(await filling)).to.equal('LOG_CLOSED');
    expect(part.ready).to.equal(false);
  });
});
