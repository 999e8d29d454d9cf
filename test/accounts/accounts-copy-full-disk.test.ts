import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import type { EventLog } from '../../src/ports/event-log.ts';
import { systemClock } from '../../src/clock.ts';
import { Health } from '../../src/health.ts';
import type { Logger } from '../../src/logger.ts';
import type { AccountsCopy } from '../../src/accounts/accounts-copy.ts';
import { openFilledCopy } from '../support/lending/filled-copy.ts';
import { openLogUnderTest } from '../support/backend-under-test.ts';
import { eventually } from '../support/eventually.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { type SmallDisk, mountSmallDisk } from '../support/small-disk.ts';
import { checkpointRecord, loanRecord, productRecord } from './stored-loans.ts';
import { checkedLogger } from '../support/logs/secrets-in-logs.ts';

const topic = 'lendstream.accounts';
/** More pages than a full disk has space for. */
const loanCount = 300;
const anyLoan = { sorting: [], offset: 0, limit: 1 };

/** The log has space on a separate disk: only the copy cannot continue. */
describe('a copy of accounts whose disk is full', () => {
  let folder: string;
  let log: EventLog;
  let disk: SmallDisk | undefined;
  let accounts: AccountsCopy | undefined;
  let health: Health;
  let messages: string[];

  beforeEach(async function () {
    const mounted = await mountSmallDisk(16);
    if (typeof mounted === 'string') {
      process.stdout.write(`      skipped: ${mounted}\n`);
      this.skip();
    }
    disk = mounted;
    folder = await temporaryFolder();
    log = await openLogUnderTest(folder);
    await log.createTopic({ name: topic, partitionCount: 1, cleanupPolicy: 'compact', retentionMilliseconds: 0 });
    messages = [];
  });

  afterEach(async () => {
    if (disk === undefined) return;
    await accounts?.close();
    await log.close();
    await removeFolder(folder);
    await disk.remove();
    disk = undefined;
  });

  async function open(dataFolder: string): Promise<AccountsCopy> {
    health = new Health(systemClock);
    const logger: Logger = checkedLogger({ warn: (_, message) => void messages.push(message) });
    accounts = await openFilledCopy({
      dataFolder,
      log,
      partitionCount: 1,
      clock: systemClock,
      logger,
      health: health.part('accounts-copy'),
    });
    return accounts;
  }

  /** The commit of the worker for one command: the loans and the outcome. */
  async function commit(commandId: string, position: number, loanName: string): Promise<void> {
    const loans = Array.from({ length: loanCount }, (_, at) => loanRecord({ id: `loan-${at}`, loanName }));
    const records = [productRecord(), ...loans, checkpointRecord(0, position, [{ commandId, outcome: 'committed' }])];
    await log.append([{ topic, partition: 0, records }]);
  }

  it('serves what it has, retries, and is complete when there is space', async function () {
    this.timeout(60_000);
    if (disk === undefined) return;
    const opened = await open(disk.folder);
    await commit('before', 1, 'before');
    await eventually(async () => (await opened.find('loan-0'))?.loanName === 'before');

    disk.fill();
    let outcomes = 0;
    const waiting = opened.outcomeOf('after', new AbortController().signal).then((outcome) => {
      outcomes += 1;
      return outcome;
    });
    await commit('after', 2, 'after');
    // It has failed often enough to be retried, and reports that.
    await eventually(() => messages.filter((line) => line === 'Reading failed; retrying').length >= 5);
    expect((await opened.find(`loan-${loanCount - 1}`))?.loanName).to.equal('before');
    expect(await opened.search((searches) => searches.countLoans(anyLoan))).to.equal(loanCount);
    expect(outcomes).to.equal(0);
    await eventually(() => health.notReadyReasons().length > 0, 20_000);
    expect(health.notReadyReasons().join()).to.match(/cannot be read now.*full/);

    disk.empty();
    expect(await waiting).to.deep.equal({ commandId: 'after', outcome: 'committed' });
    await eventually(() => health.notReadyReasons().length === 0);
    for (let at = 0; at < loanCount; at += 1) expect((await opened.find(`loan-${at}`))?.loanName).to.equal('after');

    await opened.close();
    const again = await open(disk.folder);
    expect((await again.find('loan-0'))?.loanName).to.equal('after');
    expect(await again.search((searches) => searches.countLoans(anyLoan))).to.equal(loanCount);
  });
});
