import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventLog, LogRecord } from '../../src/ports/event-log.ts';
import { systemClock, type Clock } from '../../src/clock.ts';
import { isLendstreamError } from '../../src/errors.ts';
import { Health } from '../../src/health.ts';
import { silentLogger } from '../../src/logger.ts';
import { accountProductReference } from '../../src/lending-format/account-products.ts';
import { idempotencyRecordKey, writeIdempotencyRecord } from '../../src/lending-format/idempotency-record.ts';
import { openDatabase } from '../../src/sqlite.ts';
import type { AccountsCopy } from '../../src/accounts/accounts-copy.ts';
import { openFilledCopy } from '../support/lending/filled-copy.ts';
import { isClusterUnderTest, openLogUnderTest } from '../support/backend-under-test.ts';
import { eventually } from '../support/eventually.ts';
import { checkedLogger } from '../support/logs/secrets-in-logs.ts';
import { recordsOf } from '../support/lending/lending-log.ts';
import { failureOf } from '../support/thrown-errors.ts';
import { countedLog } from './counted-log.ts';
import { accountText, keyOf, loanRecord, productRecord, storedLoan, transactionRecord } from './stored-loans.ts';

const topic = 'lendstream.accounts';
/** More than one page of the file holds. The thread of queries reads pages that another connection has in memory. */
const loanCount = 1_000;
/** Enough where only a record is changed. */
const fewLoans = 10;
/** All loans and their product. */
const recordCount = loanCount + 1;

/** A second passes in a millisecond: the check in the background begins at once. */
const fastClock: Clock = {
  ...systemClock,
  sleep: (milliseconds, signal) => systemClock.sleep(milliseconds / 1_000, signal),
};

/** The position at which bytes of the file are overwritten. */
const places = [
  ['the header', 'SELECT 1'],
  ['an inner page of the states', `SELECT max(pageno) FROM dbstat WHERE name = 'states' AND pagetype = 'internal'`],
  ['a leaf of the states', `SELECT max(pageno) FROM dbstat WHERE name = 'states' AND pagetype = 'leaf'`],
  ['a leaf of the loans', `SELECT max(pageno) FROM dbstat WHERE name = 'loans' AND pagetype = 'leaf'`],
  ['a leaf of an index', `SELECT max(pageno) FROM dbstat WHERE name = 'loans_by_key' AND pagetype = 'leaf'`],
] as const;
/** The file is the same whatever log it is made from: the second run shows that it is rebuilt from Kafka, too. */
const triedPlaces = isClusterUnderTest() ? places.slice(0, 2) : places;
const never = new AbortController().signal;

const commandId = '6f9619ff-8b86-4011-b42d-00cf4fc964ff';

function commandRecord(): LogRecord {
  const text = writeIdempotencyRecord({ digest: 'digest', decidedAt: 1000 });
  return { key: idempotencyRecordKey(commandId), value: Buffer.from(text) };
}

function numberOf(loanId: string): string {
  return `(SELECT loan_number FROM loans WHERE loan_id = '${loanId}')`;
}

/** Changes after which the file is as whole as before, and what the check in the background says of each. */
const changes: readonly [what: string, statement: string, damage: string][] = [
  [
    'another digit in an account',
    `UPDATE states SET state = replace(state, '1000', '9000') WHERE loan_number = ${numberOf('loan-1')}`,
    'Table states: the stored text of loan-1 was changed.',
  ],
  [
    'the text of another account',
    `UPDATE states SET state = (SELECT state FROM states WHERE loan_number = ${numberOf('loan-2')}) WHERE loan_number = ${numberOf('loan-1')}`,
    'Table states: the stored text of loan-1 was changed.',
  ],
  [
    'no text of an account',
    `DELETE FROM states WHERE loan_number = ${numberOf('loan-1')}`,
    'Table loans: the text of loan-1 is missing.',
  ],
  [
    'another digit in a transaction',
    `UPDATE transactions SET state = replace(state, '315', '915') WHERE transaction_key = '${keyOf('loan-1-1')}'`,
    `Table transactions: the stored text of ${keyOf('loan-1-1')} was changed.`,
  ],
  [
    'another letter in a product',
    `UPDATE products SET state = replace(state, 'annuity', 'annuitx')`,
    `Table products: the stored text of ${accountProductReference(String(productRecord().key))} was changed.`,
  ],
  [
    'another digit in the record of a command',
    `UPDATE commands SET state = replace(state, '1000', '9000')`,
    `Table commands: the stored text of ${commandId} was changed.`,
  ],
];

/** Every text of the copy, in one order. */
const everyState = ['states', 'products', 'transactions', 'commands']
  .map((table) => `SELECT state FROM ${table}`)
  .join(' UNION ALL ')
  .concat(' ORDER BY state');

describe('a damaged copy of accounts', () => {
  const loans = Array.from({ length: loanCount }, (_, at) => loanRecord({ id: `loan-${at}` }));
  let folder: string;
  let log: EventLog;
  let health: Health;
  let accounts: AccountsCopy | undefined;
  let counted: ReturnType<typeof countedLog>;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'lendstream-accounts-'));
    log = await openLogUnderTest(folder);
    await log.createTopic({ name: topic, partitionCount: 1, cleanupPolicy: 'compact', retentionMilliseconds: 0 });
  });
  afterEach(async () => {
    await accounts?.close();
    await log.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function commit(...records: LogRecord[]): Promise<void> {
    const writer = await log.openWriter('test');
    await writer.append([{ topic, partition: 0, records }]);
    await writer.commit();
    await writer.close();
    await recordsOf(log, topic, 0);
  }

  const fill = (count = loanCount): Promise<void> => commit(productRecord(), ...loans.slice(0, count));

  async function open(dataFolder = folder, clock = systemClock, logger = silentLogger): Promise<AccountsCopy> {
    health = new Health(clock);
    counted = countedLog(log);
    accounts = await openFilledCopy({
      dataFolder,
      log: counted.log,
      partitionCount: 1,
      clock,
      logger,
      health: health.part('accounts-copy'),
    });
    return accounts;
  }

  /** Overwrites the middle of one page, after everything was written to the main file. */
  function damage(file: string, find: string): void {
    const database = openDatabase(file, { returnArrays: true });
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    const [page] = database.prepare(find).get() as [number];
    const [pageBytes] = database.prepare('PRAGMA page_size').get() as [number];
    database.close();
    const descriptor = openSync(file, 'r+');
    writeSync(descriptor, Buffer.alloc(pageBytes, 0xff), 0, pageBytes, (page - 1) * pageBytes);
    closeSync(descriptor);
  }

  /** Requests every loan by id, by key and in a list; returns how many requests could not be served yet. */
  async function askForAll(asked: AccountsCopy): Promise<number> {
    let unanswered = 0;
    const ask = async (question: () => unknown): Promise<void> => {
      try {
        await question();
      } catch (error) {
        if (!isLendstreamError(error, 'LOG_UNAVAILABLE')) throw error;
        unanswered += 1;
      }
    };
    for (let at = 0; at < loanCount; at += 1) {
      await ask(async () => expect((await asked.find(`loan-${at}`))?.id).to.equal(`loan-${at}`));
      await ask(async () => expect(await asked.loanId(keyOf(`loan-${at}`))).to.equal(`loan-${at}`));
    }
    const sorting = [{ field: 'loanAmount', descending: true }] as const;
    const lastPage = { sorting, offset: loanCount - 10, limit: 100 };
    await ask(async () =>
      expect((await asked.search((searches) => searches.loans(lastPage))).items).to.have.length(10),
    );
    await ask(async () => expect(await asked.search((searches) => searches.countLoans(lastPage))).to.equal(loanCount));
    return unanswered;
  }

  for (const [name, find] of triedPlaces) {
    it(`is rebuilt while it is used, is not ready until then, and never returns wrong data or 500: ${name}`, async () => {
      await fill();
      const opened = await open();
      damage(join(folder, 'accounts.db'), find);
      // The header is read when the file is opened, and hardly ever afterwards.
      if ((await askForAll(opened)) > 0) {
        expect(health.notReadyReasons().join()).to.include('is being rebuilt from the log');
        await eventually(() => health.notReadyReasons().length === 0, 20_000);
        expect(counted.recordsRead()).to.equal(2 * recordCount);
      } else {
        expect(name).to.equal('the header');
      }
      expect(await askForAll(opened)).to.equal(0);
    });

    it(`is rebuilt without a request, after a process that did not close it: ${name}`, async () => {
      await fill();
      await open();
      const crashed = join(folder, 'crashed');
      mkdirSync(crashed);
      for (const suffix of ['', '-wal'])
        cpSync(join(folder, `accounts.db${suffix}`), join(crashed, `accounts.db${suffix}`));
      await accounts?.close();
      damage(join(crashed, 'accounts.db'), find);
      const opened = await open(crashed, fastClock);
      // The check may have found the damage before the thread of the searches had started.
      expect(counted.recordsRead()).to.be.oneOf(name === 'the header' ? [recordCount] : [0, recordCount]);
      await eventually(() => counted.recordsRead() === recordCount && health.notReadyReasons().length === 0, 20_000);
      expect(await askForAll(opened)).to.equal(0);
    });

    it(`is rebuilt by the first query that finds the damage, after it was closed cleanly: ${name}`, async () => {
      await fill();
      await (await open()).close();
      damage(join(folder, 'accounts.db'), find);
      const opened = await open();
      await askForAll(opened);
      await eventually(() => health.notReadyReasons().length === 0, 20_000);
      expect(counted.recordsRead()).to.equal(recordCount);
      expect(await askForAll(opened)).to.equal(0);
    });
  }

  for (const [what, change] of changes) {
    it(`is rebuilt by the read that finds ${what}`, async () => {
      await fill(fewLoans);
      await commit(transactionRecord('loan-1', 1), transactionRecord('loan-1', 2), commandRecord());
      await (await open()).close();
      const database = openDatabase(join(folder, 'accounts.db'));
      expect(database.prepare(change).run().changes).to.equal(1);
      database.close();
      const opened = await open();
      const read = async (): Promise<unknown[]> => {
        const page = { sorting: [], offset: 0, limit: loanCount };
        const [byKey, byId] = [keyOf('loan-1-1'), 'loan-1-1'].map((name) => opened.transactionText('loan-1', name));
        const listed = opened.transactions('loan-1', { offset: 0, limit: 10 });
        const command = opened.commandText(0, commandId);
        const [text, second] = [
          opened.accountText('loan-1') ?? '',
          (await opened.search((searches) => searches.loans(page))).items[1],
        ];
        return [text, opened.loanOf(text).product.name, second, byKey, byId, listed[0], command];
      };
      expect((await failureOf(read())).message).to.include('is being rebuilt from the log');
      await eventually(() => health.notReadyReasons().length === 0, 20_000);
      const account = accountText({ id: 'loan-1' });
      const posted = String(transactionRecord('loan-1', 1).value);
      const decided = String(commandRecord().value);
      expect(await read()).to.deep.equal([
        account,
        storedLoan({ id: 'loan-1' }).product.name,
        account,
        posted,
        posted,
        posted,
        decided,
      ]);
    });
  }

  for (const [what, change, damage] of changes) {
    it(`is rebuilt by the check in the background that finds ${what}, which no request reads`, async () => {
      await fill(fewLoans);
      await commit(transactionRecord('loan-1', 1), transactionRecord('loan-1', 2), commandRecord());
      await (await open()).close();
      const database = openDatabase(join(folder, 'accounts.db'));
      const states = database.prepare(everyState).all();
      expect(database.prepare(change).run().changes).to.equal(1);
      database.close();
      await expectRebuildByCheck(damage, fewLoans + 4);
      const rebuilt = openDatabase(join(folder, 'accounts.db'));
      expect(rebuilt.prepare(everyState).all()).to.deep.equal(states);
      rebuilt.close();
    });
  }

  it('is rebuilt by the check in the background that finds one digit of the file changed', async () => {
    await fill(fewLoans);
    await commit(transactionRecord('loan-1', 1));
    await (await open()).close();
    const file = join(folder, 'accounts.db');
    const at = readFileSync(file).indexOf('315.5');
    const descriptor = openSync(file, 'r+');
    writeSync(descriptor, '4', at + 2);
    closeSync(descriptor);
    const changed = `Table transactions: the stored text of ${keyOf('loan-1-1')} was changed.`;
    await expectRebuildByCheck(changed, fewLoans + 2);
    const again = accounts?.transactions('loan-1', { offset: 0, limit: 10 });
    expect(again).to.deep.equal([String(transactionRecord('loan-1', 1).value)]);
  });

  /** Opens the copy, whose check must find this damage, and returns when the copy was rebuilt from so many records. */
  async function expectRebuildByCheck(damage: string, records: number): Promise<void> {
    const found: unknown[] = [];
    const reasons = new Set<string>();
    const logger = checkedLogger({
      error: (facts, message) => {
        found.push({ ...facts, message });
        for (const reason of health.notReadyReasons()) reasons.add(reason);
      },
    });
    const opened = await open(folder, fastClock, logger);
    await eventually(() => counted.recordsRead() === records && health.notReadyReasons().length === 0, 20_000);
    expect(found).to.deep.equal([
      { message: 'A file is damaged', file: 'accounts.db', damage },
      { message: 'The copy of accounts is damaged; rebuilding it from the log', error: damage },
    ]);
    expect([...reasons].join()).to.include('is being rebuilt from the log');
    await eventually(() => opened.integrity.finishedAt !== null, 20_000);
    expect(opened.integrity.damageCount, 'the new file is sound').to.equal(0);
    expect(counted.recordsRead()).to.equal(records);
  }

  it('takes no commit of an owner while it is rebuilt, and then has the commit from the log', async () => {
    await fill();
    const opened = await open();
    const from = await opened.catchUpPartition(0, never);
    const record = loanRecord({ id: 'loan-0', loanName: 'changed' });
    const release = opened.holdBack(0);
    const writer = await log.openWriter('test');
    await writer.append([{ topic, partition: 0, records: [record] }]);
    const [committed] = await writer.commit();
    const checkpoint = { position: 7, outcomes: [] };
    const records = new Map([[String(record.key), String(record.value)]]);
    const commit = { partition: 0, from, nextOffset: committed?.nextOffset ?? 0, records, checkpoint };
    damage(join(folder, 'accounts.db'), places[2][1]);
    await askForAll(opened);
    let code: unknown;
    try {
      opened.applyOwnCommit(commit);
    } catch (error) {
      code = isLendstreamError(error) ? error.code : error;
    }
    expect(code).to.equal('LOG_UNAVAILABLE');
    release();
    expect(await opened.catchUpPartition(0, never)).to.be.at.least(commit.nextOffset);
    expect((await opened.find('loan-0'))?.loanName).to.equal('changed');
    expect(opened.applyOwnCommit(commit), 'it has the commit').to.equal(true);
    expect(opened.checkpointPosition(0)).to.equal(null);
    await writer.close();
  });

  it('is not rebuilt when it is intact after a process that did not close it', async function () {
    requireBootId(this);
    await fill();
    await open();
    const crashed = join(folder, 'crashed');
    mkdirSync(crashed);
    for (const suffix of ['', '-wal'])
      cpSync(join(folder, `accounts.db${suffix}`), join(crashed, `accounts.db${suffix}`));
    await accounts?.close();
    const opened = await open(crashed);
    expect(counted.recordsRead()).to.equal(0);
    expect(await askForAll(opened)).to.equal(0);
  });

  it('is rebuilt when the machine crashed while it was used, however intact it looks', async function () {
    const bootId = requireBootId(this);
    await fill();
    await open();
    const crashed = join(folder, 'crashed');
    mkdirSync(crashed);
    for (const suffix of ['', '-wal'])
      cpSync(join(folder, `accounts.db${suffix}`), join(crashed, `accounts.db${suffix}`));
    await accounts?.close();
    const database = openDatabase(join(crashed, 'accounts.db'));
    expect(database.prepare('SELECT boot_id FROM in_use').get()).to.deep.include({ boot_id: bootId });
    database.exec(`UPDATE in_use SET boot_id = 'another'`);
    database.close();
    await open(crashed);
    expect(counted.recordsRead()).to.equal(recordCount);
  });
});

/**
 * The id that Linux gives the current boot of the machine. Elsewhere it is unknown whether the machine restarted in
 * between.
 */
function requireBootId(test: Mocha.Context): string {
  const file = '/proc/sys/kernel/random/boot_id';
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  process.stdout.write(
    `      skipped: there is no ${file}, so every copy that was not closed in order is built again\n`,
  );
  return test.skip();
}
