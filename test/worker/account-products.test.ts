import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import type { EventLog } from '../../src/ports/event-log.ts';
import { systemClock } from '../../src/clock.ts';
import { LendstreamError } from '../../src/errors.ts';
import { silentLogger } from '../../src/logger.ts';
import { openFilledCopy } from '../support/lending/filled-copy.ts';
import { deleteDatabase } from '../../src/accounts/account-tables.ts';
import { accountProductReference } from '../../src/lending-format/account-products.ts';
import { accountsTopic, partitionOfAccount } from '../../src/lending-format/lending-topics.ts';
import {
  type TestCommand,
  commandRecord,
  decided,
  openLendingLog,
  recordsOf,
  send,
  startWorker,
  untilDone,
} from '../support/lending/lending-log.ts';
import { productPatch, richProduct } from '../support/lending/lending-script.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { overriding } from '../support/stepping-log.ts';

const partitionCount = 2;

/** Names that belong into a partition. */
function namesIn(partition: number, prefix: string, count: number): string[] {
  const names = Array.from({ length: 100 }, (_, number) => `${prefix}${number}`);
  return names.filter((name) => partitionOfAccount(name, partitionCount) === partition).slice(0, count);
}

const [P = ''] = namesIn(0, 'P', 1);
const [L1 = '', L2 = '', L3 = '', L4 = '', L5 = ''] = namesIn(0, 'L', 5);
const [elsewhere = ''] = namesIn(1, 'L', 1);

const open = (id: string, productTypeKey = P): TestCommand => ({
  type: 'CREATE_LOAN',
  id,
  payload: { productTypeKey, loanAmount: 1000 },
});
const rename = (name: string): TestCommand => ({ type: 'PATCH_PRODUCT', id: P, payload: productPatch({ name }) });

describe('the product of an account', () => {
  let folder: string;
  let log: EventLog;

  beforeEach(async () => {
    folder = await temporaryFolder();
    log = await openLendingLog(folder, partitionCount);
  });
  afterEach(async () => {
    await log.close();
    await removeFolder(folder);
  });

  /** The kinds of records of accounts and products in a partition, in their order. */
  async function recordKinds(partition = 0): Promise<string[]> {
    const keys = (await recordsOf(log, accountsTopic, partition)).map(({ key }) => key ?? '');
    const kept = keys.filter((key) => key.startsWith('loan/') || accountProductReference(key) !== undefined);
    return kept.map((key) => (key.startsWith('loan/') ? key : 'product'));
  }

  it('is stored once in each partition, before the first account in the same commit', async () => {
    const running = await startWorker(log, { partitionCount });
    await decided(log, [richProduct(P, 'FIXED_TERM_LOAN')]);
    await decided(log, [open(L1), open(L2)]);
    await decided(log, [open(L3)]);
    await untilDone(log, await send(log, [commandRecord(open(elsewhere))], 1), 1);
    await running.stop();
    expect(await recordKinds(0)).to.deep.equal(['product', `loan/${L1}`, `loan/${L2}`, `loan/${L3}`]);
    expect(await recordKinds(1)).to.deep.equal(['product', `loan/${elsewhere}`]);
  });

  it('is stored by no later owner again, but is stored as it is after an update', async () => {
    let running = await startWorker(log, { partitionCount });
    await decided(log, [richProduct(P, 'FIXED_TERM_LOAN'), open(L1)]);
    await decided(log, [open(L2)]);
    await running.stop();
    running = await startWorker(log, { partitionCount });
    await decided(log, [open(L3)]);
    await decided(log, [rename('Renamed')]);
    await decided(log, [open(L4), open(L5)]);
    await running.stop();
    const stored = ['product', `loan/${L2}`, `loan/${L3}`, 'product', `loan/${L4}`, `loan/${L5}`];
    expect((await recordKinds()).filter((kind) => kind !== `loan/${L1}`)).to.deep.equal(stored);

    const options = { dataFolder: folder, log, partitionCount, clock: systemClock, logger: silentLogger };
    for (const isRebuilt of [false, true]) {
      if (isRebuilt) deleteDatabase(`${folder}/accounts.db`);
      const accounts = await openFilledCopy(options);
      const names = await Promise.all([L2, L3, L4, L5].map(async (id) => (await accounts.find(id))?.product.name));
      expect(names[0]).to.equal(names[1]);
      expect(names.slice(2)).to.deep.equal(['Renamed', 'Renamed']);
      await accounts.close();
    }
  });

  it('is stored when the commit is tried again after one that failed', async () => {
    let failures = 0;
    const failing = overriding<EventLog>(log, {
      openWriter: async (writerId, partitions) => {
        const writer = await log.openWriter(writerId, partitions);
        return overriding(writer, {
          append: async (records) => {
            const isWithProduct = records.some(({ topic, records: written }) =>
              written.some(({ key }) => topic === accountsTopic && key?.startsWith('product/')),
            );
            if (isWithProduct && failures === 0) {
              failures += 1;
              throw new LendstreamError('LOG_UNAVAILABLE', 'Not now.');
            }
            return writer.append(records);
          },
        });
      },
    });
    const running = await startWorker(failing, { partitionCount });
    await decided(log, [richProduct(P, 'FIXED_TERM_LOAN')]);
    await decided(log, [open(L1)]);
    await decided(log, [open(L2)]);
    await running.stop();
    expect(failures).to.equal(1);
    expect(await recordKinds()).to.deep.equal(['product', `loan/${L1}`, `loan/${L2}`]);
  });
});
