import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { annuityProduct } from '../../../src/admin/example-product.ts';
import { systemClock } from '../../../src/clock.ts';
import { writeEndOfDay } from '../../../src/lending-format/command-format.ts';
import { accountRecordKey } from '../../../src/lending-format/account-record-keys.ts';
import {
  accountsTopic,
  deadLettersTopic,
  loanCommandsTopic,
  partitionOfAccount,
} from '../../../src/lending-format/lending-topics.ts';
import { closedDayOf } from '../../../src/lending-format/stored-business-dates.ts';
import { recordsOf } from '../../support/lending/lending-log.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';
import { settled } from '../../support/simulated-clock.ts';
import { type LendingService, partitionCount, startLendingService } from './lending-service.ts';

interface Progress {
  readonly businessDate: string;
  readonly partitions: readonly {
    readonly partition: number;
    readonly closedDay?: string;
    readonly accountsDue: number;
    readonly accountsBehind: number;
  }[];
  readonly schedule?: unknown;
}

describe('the progress of the end of a day', () => {
  let folder: string;
  let service: LendingService;
  /** Noon of 24 February 2011, so that 23 February is the last day that is over. */
  let now: number;

  const start = async (endOfDaySchedule: string | null): Promise<void> => {
    service = await startLendingService(folder, true, { clock: { ...systemClock, now: () => now }, endOfDaySchedule });
  };
  beforeEach(async () => {
    folder = await temporaryFolder();
    now = Date.UTC(2011, 1, 24, 12);
    await start(null);
    expect((await service.post('/loanproducts', annuityProduct('annuity'))).status).to.equal(201);
  });
  afterEach(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  /** The installments of such a loan fall due each month after its disbursement. */
  const openLoans = async (count: number, name: string, valueDate: string): Promise<void> => {
    for (let number = 1; number <= count; number += 1) {
      const id = `${name}-${number}`;
      await service.post('/loans', { id, productTypeKey: 'annuity', loanAmount: 1000 });
      await service.post(`/loans/${id}:changeState`, { action: 'APPROVE' });
      const disbursed = await service.post(`/loans/${id}/disbursement-transactions`, { valueDate });
      expect(disbursed.status, disbursed.text).to.equal(201);
    }
  };
  const close = async (businessDate: string): Promise<void> => {
    const { status, text } = await service.post('/organization:endOfDay', { businessDate });
    expect(status, text).to.equal(200);
  };
  const progress = async (): Promise<Progress> => {
    const { status, text } = await service.get('/organization/endOfDay');
    expect(status, text).to.equal(200);
    return JSON.parse(text) as Progress;
  };
  const totals = ({ businessDate, partitions }: Progress): readonly [string, number, number] => [
    businessDate,
    partitions.reduce((sum, { accountsDue }) => sum + accountsDue, 0),
    partitions.reduce((sum, { accountsBehind }) => sum + accountsBehind, 0),
  ];

  it('counts the accounts that the next end of a day visits, and no others', async () => {
    // Due on 24 February, when the business date after the closed day is reached, and on the day after it.
    await openLoans(3, 'due', '2011-01-24');
    await openLoans(2, 'later', '2011-01-25');
    const before = await progress();
    expect(totals(before)).to.deep.equal(['2011-02-23', 3, 0]);
    expect(before.partitions.map(({ partition, closedDay }) => [partition, closedDay])).to.deep.equal([
      [0, undefined],
      [1, undefined],
    ]);
    await close('2011-02-23');
    const after = await progress();
    expect(after.partitions.map(({ closedDay }) => closedDay)).to.deep.equal(['2011-02-23', '2011-02-23']);
    // What is due on the 24th becomes late on the 25th, and the others fall due.
    expect(totals(after)).to.deep.equal(['2011-02-24', 5, 0]);
  });

  it('names the last day that is over, however many days were missed', async () => {
    await openLoans(2, 'due', '2011-01-24');
    await close('2011-02-23');
    now = Date.UTC(2011, 2, 3, 0, 1);
    expect(totals(await progress())).to.deep.equal(['2011-03-02', 2, 0]);
    await close('2011-03-02');
    expect((await progress()).businessDate).to.equal('2011-03-03');
  });

  it('shows a partition that is done beside one that is not', async () => {
    await openLoans(8, 'due', '2011-01-24');
    const { partitions: before } = await progress();
    expect(Math.min(...before.map(({ accountsDue }) => accountsDue))).to.be.at.least(1);
    const { publisher, registry } = service.businessDays;
    const event = writeEndOfDay(0, '2011-02-23', now);
    await publisher.publishPrepared(loanCommandsTopic, event, { flowId: event.eid, publishedBy: 'test' });
    while (closedDayOf(registry, 0) === undefined) await settled();
    const { businessDate, partitions } = await progress();
    expect(businessDate).to.equal('2011-02-23');
    expect(partitions).to.deep.equal([
      { partition: 0, closedDay: '2011-02-23', accountsDue: 0, accountsBehind: 0 },
      before[1],
    ]);
  });

  it('counts an account as behind that was dated back past a closed day, until a day is closed again', async () => {
    await close('2011-02-22');
    await openLoans(1, 'dated-back', '2011-01-23');
    expect(totals(await progress())).to.deep.equal(['2011-02-23', 1, 1]);
    // The same day as before.
    await close('2011-02-22');
    expect(totals(await progress())).to.deep.equal(['2011-02-23', 1, 0]);
    await openLoans(1, 'again', '2011-01-23');
    expect(totals(await progress())).to.deep.equal(['2011-02-23', 2, 1]);
    await close('2011-02-23');
    expect(totals(await progress())[2]).to.equal(0);
  });

  it('counts the accounts on which the end of a day failed as behind, until it succeeds on them', async () => {
    await close('2011-02-22');
    await openLoans(8, 'due', '2011-01-24');
    const damaged = ['due-2', 'due-5'];
    const partitionOf = (id: string): number => partitionOfAccount(id, partitionCount);
    const texts = new Map<string, string>();
    for (const id of damaged) {
      const records = await recordsOf(service.log, accountsTopic, partitionOf(id));
      texts.set(id, records.findLast(({ key }) => key === accountRecordKey(id))?.text ?? expect.fail(id));
    }
    /** Stores accounts while no worker runs, which knows those that it decided. */
    const store = async (change: (text: string) => string): Promise<void> => {
      await service.stopWorker();
      for (const [id, text] of texts) {
        const record = { key: accountRecordKey(id), value: Buffer.from(change(text)) };
        await service.log.append([{ topic: accountsTopic, partition: partitionOf(id), records: [record] }]);
      }
      await service.startWorker();
    };
    // An account as no version of this program writes it: it can be read, and every decision on it throws.
    await store((text) => text.replace('"lockedOperations":[]', '"lockedOperations":null'));
    const behind = (): Promise<readonly number[]> =>
      progress().then(({ partitions }) => partitions.map(({ accountsBehind }) => accountsBehind));
    const each = Array.from({ length: partitionCount }, (_, partition) => partition);
    const failed = each.map((partition) => damaged.filter((id) => partitionOf(id) === partition).length);

    await close('2011-02-23');
    const after = await progress();
    expect(after.partitions.map(({ closedDay }) => closedDay)).to.deep.equal(each.map(() => '2011-02-23'));
    expect(await behind()).to.deep.equal(failed);
    const lettersOf = async (): Promise<string[]> => {
      const records = await Promise.all(each.map((partition) => recordsOf(service.log, deadLettersTopic, partition)));
      return records.flat().map(({ text }) => (JSON.parse(text ?? '') as { readonly reason: string }).reason);
    };
    const letters = await lettersOf();
    expect(letters).to.have.length(damaged.length);
    for (const id of damaged) expect(letters.join()).to.contain(`The end of the day failed on ${id}:`);

    // The accounts beside them are done, and only they are tried again.
    const dueOf = async (id: string): Promise<unknown> =>
      (await service.get(`/loans/${id}/balances`)).body['principalDue'];
    expect(await dueOf('due-1')).to.equal(215.47);
    await close('2011-02-23');
    expect(await behind()).to.deep.equal(failed);
    expect(await lettersOf()).to.have.length(2 * damaged.length);

    await store((text) => text);
    expect(await behind()).to.deep.equal(failed);
    await close('2011-02-23');
    expect(await behind()).to.deep.equal(each.map(() => 0));
    expect(await lettersOf()).to.have.length(2 * damaged.length);
    for (const id of damaged) expect(await dueOf(id), id).to.equal(215.47);
  });

  it('says when the schedule runs next, where the organization is, and nothing without one', async () => {
    expect(await progress()).not.to.have.property('schedule');
    await service.stop();
    await start('5 0 * * *');
    expect((await progress()).schedule).to.deep.equal({ expression: '5 0 * * *', nextRun: '2011-02-25T00:05:00.000Z' });
    const organization = await service.get('/setup/organization');
    const moved = await service.put('/setup/organization', { ...organization.body, timeZoneID: 'Asia/Tokyo' });
    expect(moved.status, moved.text).to.equal(200);
    expect((await progress()).schedule).to.include({ nextRun: '2011-02-24T15:05:00.000Z' });
    await service.stop();
    // There is no 30 February.
    await start('5 0 30 2 *');
    expect((await progress()).schedule).to.deep.equal({ expression: '5 0 30 2 *' });
  });

  it('has no parameters and cannot be changed', async () => {
    const refused = await service.get('/organization/endOfDay?partition=0');
    expect([refused.status, refused.body['errors']]).to.deep.equal([
      400,
      [{ errorCode: 4, errorReason: 'INVALID_PARAMETERS', errorSource: 'partition' }],
    ]);
    expect((await service.post('/organization/endOfDay', {})).status).to.equal(405);
  });
});
