import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventLog, LogRecord } from '../../src/ports/event-log.ts';
import { catchUpMillisecondsMaximum } from '../../src/broker/log/topic-tail.ts';
import { systemClock, type Clock } from '../../src/clock.ts';
import { isLendstreamError } from '../../src/errors.ts';
import { Health, type HealthPart } from '../../src/health.ts';
import { decodeTransactionSummary } from '../../src/lending/changelog/stored-transaction.ts';
import { silentLogger } from '../../src/logger.ts';
import { openDatabase } from '../../src/sqlite.ts';
import { isOneOf } from '../../src/accounts/queries/conditions.ts';
import type { SearchQuery } from '../../src/accounts/queries/search-query.ts';
import type { AccountsCopy } from '../../src/accounts/accounts-copy.ts';
import { openFilledCopy } from '../support/lending/filled-copy.ts';
import type { CommandOutcome } from '../../src/lending-format/checkpoint.ts';
import { idempotencyRecordKey, writeIdempotencyRecord } from '../../src/lending-format/idempotency-record.ts';
import { openLogUnderTest } from '../support/backend-under-test.ts';
import { recordsOf } from '../support/lending/lending-log.ts';
import { lateLog } from '../support/late-log.ts';
import { eventually } from '../support/eventually.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { overriding } from '../support/stepping-log.ts';
import { failureOf } from '../support/thrown-errors.ts';
import { countedLog } from './counted-log.ts';
import {
  accountText,
  checkpointRecord,
  keyOf,
  loanRecord,
  productRecord,
  storedLoan,
  transactionRecord,
} from './stored-loans.ts';
import { decodeSummary } from '../../src/lending/changelog/stored-loan.ts';

const topic = 'lendstream.accounts';
const partitionCount = 2;
const never = new AbortController().signal;
const firstCommand = '11111111-1111-4111-8111-111111111111';
const everything: SearchQuery = { sorting: [], offset: 0, limit: 100 };

function inState(state: string): Pick<SearchQuery, 'conditions'> {
  return { conditions: [isOneOf('accountState', state)] };
}

describe('the copy of accounts', () => {
  let folder: string;
  let log: EventLog;
  let views: AccountsCopy[];
  let health: Health;
  let part: HealthPart;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lendstream-accounts-'));
    log = await openLogUnderTest(folder);
    await createTopic();
    views = [];
    health = new Health(systemClock);
    part = health.part('loan-copy');
  });

  afterEach(async () => {
    for (const accounts of views) await accounts.close();
    await log.close();
    await rm(folder, { recursive: true, force: true });
  });

  function createTopic(): Promise<void> {
    return log.createTopic({ name: topic, partitionCount, cleanupPolicy: 'compact', retentionMilliseconds: 0 });
  }

  async function open(viewedLog = log, clock: Clock = systemClock): Promise<AccountsCopy> {
    const options = {
      dataFolder: folder,
      log: viewedLog,
      partitionCount,
      clock,
      logger: silentLogger,
      health: part,
    };
    const accounts = await openFilledCopy(options);
    views.push(accounts);
    return accounts;
  }

  /** Commits records like the worker, and returns when readers see them: on a cluster a moment after the commit. */
  async function commit(partition: number, ...records: LogRecord[]): Promise<void> {
    const topicPartition = { topic, partition };
    const writer = await log.openWriter(`test/${partition}`);
    await writer.append([{ ...topicPartition, records }]);
    await writer.commit();
    await writer.close();
    await recordsOf(log, topic, partition);
  }

  /** Commits and returns when the copy has the records. */
  async function apply(accounts: AccountsCopy, partition: number, ...records: LogRecord[]): Promise<void> {
    const applied = accounts.outcomeOf(firstCommand, never);
    await commit(
      partition,
      ...records,
      checkpointRecord(partition, 0, [{ commandId: firstCommand, outcome: 'committed' }]),
    );
    expect(await applied).to.not.equal(undefined);
  }

  const idsOf = async (accounts: AccountsCopy, query: Partial<SearchQuery> = {}): Promise<string[]> =>
    (await accounts.search((searches) => searches.loans({ ...everything, ...query }))).items.map(
      (text) => decodeSummary(text).id,
    );

  it('returns a loan by id and by encodedKey exactly as the changelog has it', async () => {
    const facts = { id: 'loan-1', loanAmount: '315.50' };
    await commit(0, productRecord(), loanRecord(facts));
    const accounts = await open();
    for (const idOrKey of ['loan-1', keyOf('loan-1')])
      expect(await accounts.find(idOrKey)).to.deep.equal(storedLoan(facts));
    expect((await accounts.search((searches) => searches.loans(everything))).items).to.deep.equal([accountText(facts)]);
    expect(await accounts.loanId(keyOf('loan-1'))).to.equal('loan-1');
    expect(await accounts.find('loan-2')).to.equal(undefined);
  });

  it('returns the newest state of a loan, also when one commit has several', async () => {
    await commit(0, loanRecord({ id: 'a' }), loanRecord({ id: 'a', accountState: 'APPROVED' }));
    const accounts = await open();
    expect(await idsOf(accounts, inState('APPROVED'))).to.deep.equal(['a']);
    await apply(accounts, 0, loanRecord({ id: 'a', accountState: 'ACTIVE' }));
    expect(await idsOf(accounts, inState('APPROVED'))).to.deep.equal([]);
    expect(await idsOf(accounts, inState('ACTIVE'))).to.deep.equal(['a']);
  });

  it('removes a loan and a transaction whose records were deleted', async () => {
    const [loan, transaction] = [loanRecord({ id: 'a', transactionCount: 1 }), transactionRecord('a', 1)];
    await commit(0, loan, transaction);
    const accounts = await open();
    expect(await accounts.loanIdOfTransaction('a-1')).to.equal('a');
    await apply(accounts, 0, { key: loan.key, value: null }, { key: transaction.key, value: null });
    expect(await accounts.find('a')).to.equal(undefined);
    expect(await accounts.loanIdOfTransaction('a-1')).to.equal(undefined);
  });

  describe('looks up unknown entries again after catching up:', () => {
    const facts = { id: 'late', transactionCount: 1 };
    const known = { digest: 'd', decidedAt: 7 };
    const outcome: CommandOutcome = { commandId: firstCommand, outcome: 'committed' };
    const lookups: [what: string, lookUp: (accounts: AccountsCopy) => Promise<unknown>, expected: unknown][] = [
      ['a loan by its id', (accounts) => accounts.find('late'), storedLoan(facts)],
      ['a loan by its encodedKey', (accounts) => accounts.find(keyOf('late')), storedLoan(facts)],
      ['the id of a loan', (accounts) => accounts.loanId(keyOf('late')), 'late'],
      ['the loan of a transaction', (accounts) => accounts.loanIdOfTransaction(keyOf('late-1')), 'late'],
      ['the record of a command', (accounts) => accounts.recordedCommand(firstCommand), known],
      ['the outcome of a command', (accounts) => accounts.recentOutcome(firstCommand), outcome],
    ];
    for (const [what, lookUp, expected] of lookups) {
      it(`${what}, which it then returns in the next microtask`, async () => {
        const late = lateLog(log, topic);
        const accounts = await open(late.log);
        const before = late.requests;
        expect(await lookUp(accounts)).to.equal(undefined);
        expect(late.requests - before).to.equal(1);
        late.holdBack();
        const command = { key: idempotencyRecordKey(firstCommand), value: Buffer.from(writeIdempotencyRecord(known)) };
        const [loan, transaction] = [loanRecord(facts), transactionRecord('late', 1)];
        await commit(0, productRecord(), loan, transaction, command, checkpointRecord(0, 0, [outcome]));
        expect(await lookUp(accounts)).to.deep.equal(expected);
        expect(late.requests - before).to.equal(2);
        let found: unknown;
        void lookUp(accounts).then((again) => (found = again));
        await Promise.resolve();
        expect(found).to.deep.equal(expected);
        expect(late.requests - before).to.equal(2);
      });
    }
  });

  it('fails when what others stored cannot be read in time, and does not report it as unknown', async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    let isHolding = false;
    const holding = overriding<EventLog>(log, {
      read: async (from, options) => {
        const result = await log.read(from, options);
        if (isHolding) await held;
        return result;
      },
    });
    const clock = new SimulatedClock();
    const accounts = await open(holding, clock);
    isHolding = true;
    await commit(0, loanRecord({ id: 'late' }));
    try {
      let failure: unknown;
      const finding = failureOf(accounts.find('late')).then((error) => (failure = error));
      // The pause between two catch-ups.
      await clock.turn(20);
      await eventually(() => clock.hasDeadline(catchUpMillisecondsMaximum));
      await clock.turn(catchUpMillisecondsMaximum - 21);
      expect(failure).to.equal(undefined);
      await clock.turn(1);
      await finding;
      expect(isLendstreamError(failure, 'LOG_UNAVAILABLE')).to.equal(true);
    } finally {
      release();
    }
  });

  it('returns the transactions of a loan in their order, page by page', async () => {
    const transactions = [2, 11, 1, 10, 3].map((number) => transactionRecord('a', number));
    await commit(1, loanRecord({ id: 'a', transactionCount: 11 }), ...transactions, transactionRecord('b', 4));
    const accounts = await open();
    const idsOfPage = (offset: number, limit: number): string[] =>
      accounts.transactions('a', { offset, limit }).map((text) => decodeTransactionSummary(text).id);
    expect(idsOfPage(0, 2)).to.deep.equal(['a-1', 'a-2']);
    expect(idsOfPage(2, 100)).to.deep.equal(['a-3', 'a-10', 'a-11']);
    expect(idsOfPage(11, 100)).to.deep.equal([]);
    expect(accounts.transactions('none', { offset: 0, limit: 100 })).to.deep.equal([]);
  });

  it('finds the loan of a transaction by its id and by its encodedKey, also of later ones', async () => {
    await commit(1, loanRecord({ id: 'a', transactionCount: 1 }), transactionRecord('a', 1));
    const accounts = await open();
    const later = [transactionRecord('a', 2), transactionRecord('a', 3)];
    await apply(accounts, 1, loanRecord({ id: 'a', transactionCount: 3 }), ...later);
    const found = ['a-1', 'a-3', keyOf('a-2'), 'a-4', 'a'].map((key) => accounts.loanIdOfTransaction(key));
    expect(await Promise.all(found)).to.deep.equal(['a', 'a', 'a', undefined, undefined]);
    expect(accounts.transactionCount('a')).to.equal(3);
    expect(accounts.transactionCount('b')).to.equal(0);
  });

  describe('listing', () => {
    const loans = [
      { id: 'c', loanAmount: '1000', createdAt: 3, accountHolderKey: 'ann', accountState: 'ACTIVE' as const },
      { id: 'a', loanAmount: '999.99', createdAt: 2, accountHolderKey: 'ann', productTypeKey: 'other-key' },
      { id: 'b', loanAmount: '10000', createdAt: 2, accountHolderKey: 'bob', accountState: 'ACTIVE' as const },
      { id: 'd', loanAmount: '0.5', createdAt: 1, loanName: 'Boat' },
    ];
    const rows: [string, Partial<SearchQuery>, string[]][] = [
      ['by id by default', {}, ['a', 'b', 'c', 'd']],
      [
        'by creation date, then by id',
        { sorting: [{ field: 'creationDate', descending: false }] },
        ['d', 'a', 'b', 'c'],
      ],
      ['newest first, then by id', { sorting: [{ field: 'creationDate', descending: true }] }, ['c', 'a', 'b', 'd']],
      [
        'by amount as a number, not as a text',
        { sorting: [{ field: 'loanAmount', descending: true }] },
        ['b', 'c', 'a', 'd'],
      ],
      [
        'by several fields in their order',
        {
          sorting: [
            { field: 'accountHolderKey', descending: true },
            { field: 'loanAmount', descending: false },
          ],
        },
        ['b', 'a', 'c', 'd'],
      ],
      ['of one state', inState('ACTIVE'), ['b', 'c']],
      ['of one holder', { conditions: [isOneOf('accountHolderKey', 'ann')] }, ['a', 'c']],
      ['of one product', { conditions: [isOneOf('productTypeKey', 'other-key')] }, ['a']],
      [
        'for all conditions together',
        { conditions: [isOneOf('accountState', 'ACTIVE'), isOneOf('accountHolderKey', 'ann')] },
        ['c'],
      ],
      ['for a value that contains a quote', { conditions: [isOneOf('accountHolderKey', "ann' OR '1'='1")] }, []],
      ['on one page', { offset: 1, limit: 2 }, ['b', 'c']],
      ['on an empty page beyond the end', { offset: 10, limit: 2 }, []],
    ];
    for (const [sentence, query, expected] of rows) {
      it(`returns loans ${sentence}`, async () => {
        await commit(0, ...loans.slice(0, 2).map(loanRecord));
        await commit(1, ...loans.slice(2).map(loanRecord));
        const accounts = await open();
        expect(await idsOf(accounts, query)).to.deep.equal(expected);
      });
    }

    it('counts over all pages', async () => {
      await commit(0, ...loans.map(loanRecord));
      const accounts = await open();
      expect(await accounts.search((searches) => searches.countLoans({ ...everything, limit: 1 }))).to.equal(4);
      expect(
        await accounts.search((searches) => searches.countLoans({ ...everything, ...inState('ACTIVE') })),
      ).to.equal(2);
    });
  });

  describe('outcomes', () => {
    it('are delivered when the changed loan is in the copy', async () => {
      const accounts = await open();
      accounts.beginCommand(firstCommand, 'digest');
      const waiting = accounts.outcomeOf(firstCommand, never);
      expect(accounts.pendingCommandDigest(firstCommand)).to.equal('digest');
      const outcome: CommandOutcome = { commandId: firstCommand, outcome: 'committed', loanAccountId: 'a' };
      await commit(1, loanRecord({ id: 'a' }), checkpointRecord(1, 0, [outcome]));
      expect(await waiting).to.deep.equal(outcome);
      expect(await accounts.loanId('a')).to.equal('a');
      expect(accounts.pendingCommandDigest(firstCommand)).to.equal(undefined);
      expect(await accounts.recentOutcome(firstCommand)).to.deep.equal(outcome);
    });

    it('of commands without an id are ignored', async () => {
      const accounts = await open();
      const waiting = accounts.outcomeOf(firstCommand, never);
      const outcomes: CommandOutcome[] = [
        { commandId: null, outcome: 'dead_letter', reason: 'no JSON' },
        { commandId: firstCommand, outcome: 'refused', errors: [] },
      ];
      await commit(0, checkpointRecord(0, 1, outcomes));
      expect((await waiting)?.outcome).to.equal('refused');
    });

    it('fail when the copy closes', async () => {
      const accounts = await open();
      const waiting = accounts.outcomeOf(firstCommand, never).catch((error: unknown) => error);
      await accounts.close();
      expect(isLendstreamError(await waiting, 'LOG_CLOSED')).to.equal(true);
      expect(() => accounts.outcomeOf(firstCommand, never)).to.throw(/closed/);
    });
  });

  describe('remembered commands', () => {
    const known = { digest: 'd', decidedAt: 7 };
    const record = { key: idempotencyRecordKey(firstCommand), value: Buffer.from(writeIdempotencyRecord(known)) };

    it('are found by their records until these are deleted, and are no loans', async () => {
      const accounts = await open();
      await apply(accounts, 1, record, loanRecord({ id: 'a' }));
      expect(await accounts.recordedCommand(firstCommand)).to.deep.equal(known);
      expect(await idsOf(accounts)).to.deep.equal(['a']);
      await apply(accounts, 1, { key: idempotencyRecordKey(firstCommand), value: null });
      expect(await accounts.recordedCommand(firstCommand)).to.equal(undefined);
    });

    it('are found after a restart', async () => {
      const before = await open();
      await apply(before, 0, record);
      await before.close();
      expect(await (await open()).recordedCommand(firstCommand)).to.deep.equal(known);
    });
  });

  describe('its file', () => {
    const file = () => join(folder, 'accounts.db');
    /** How many records a copy reads when it is opened. */
    async function recordsReadByOpening(): Promise<number> {
      const counted = countedLog(log);
      const accounts = await open(counted.log);
      expect(await accounts.loanId('a'), 'the loan is there').to.equal('a');
      await accounts.close();
      return counted.recordsRead();
    }

    beforeEach(async () => {
      await commit(0, loanRecord({ id: 'a' }), checkpointRecord(0, 0, []));
      await commit(1, loanRecord({ id: 'b' }));
      expect(await recordsReadByOpening()).to.equal(3);
    });

    it('lets a restart resume at its position', async () => {
      expect(await recordsReadByOpening()).to.equal(0);
      await commit(1, loanRecord({ id: 'c' }));
      expect(await recordsReadByOpening()).to.equal(1);
    });

    it('whose filling was interrupted before it had its indexes gets them, and reads nothing again', async () => {
      const indexes = (): unknown[] => {
        const database = openDatabase(file());
        const found = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'index' ORDER BY name`).all();
        database.close();
        return found;
      };
      const complete = indexes();
      const database = openDatabase(file());
      database.exec('DROP INDEX loans_by_key; DROP INDEX loans_by_state;');
      database.close();
      expect(await recordsReadByOpening()).to.equal(0);
      expect(indexes()).to.deep.equal(complete);
    });

    it('is rebuilt after it was deleted', async () => {
      for (const suffix of ['', '-wal', '-shm']) await rm(`${file()}${suffix}`, { force: true });
      expect(await recordsReadByOpening()).to.equal(3);
    });

    it('is rebuilt when another version wrote it', async () => {
      const database = openDatabase(file());
      database.exec('PRAGMA user_version = 99');
      database.close();
      expect(await recordsReadByOpening()).to.equal(3);
    });

    it('is rebuilt when it is damaged', async () => {
      for (const suffix of ['-wal', '-shm']) await rm(`${file()}${suffix}`, { force: true });
      await writeFile(file(), Buffer.alloc(8_192, 'no database'));
      expect(await recordsReadByOpening()).to.equal(3);
    });

    it('is rebuilt when the log is shorter than its position', async () => {
      await log.deleteTopic(topic);
      await createTopic();
      await commit(0, loanRecord({ id: 'a' }));
      expect(await recordsReadByOpening()).to.equal(1);
      expect((await stat(file())).size).to.be.greaterThan(0);
    });

    it('is never updated beyond a record that cannot be read', async () => {
      const accounts = await open();
      const waiting = accounts.outcomeOf(firstCommand, never).catch((error: unknown) => error);
      await commit(0, { key: 'loan/a', value: Buffer.from('{"format":99}') });
      expect(isLendstreamError(await waiting, 'LOG_UNAVAILABLE')).to.equal(true);
      expect(health.notReadyReasons().join()).to.match(/it is of format 99, and this version reads format 4/);
      expect((await failureOf(accounts.find('b'))).message).to.match(/no longer follows/);
    });
  });
});
