import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { annuityProduct } from '../../../src/admin/example-product.ts';
import { addDays } from '../../../src/lending/dates.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';
import { type LendingService, startLendingService } from './lending-service.ts';

type Json = Record<string, unknown>;

describe('loans of an institution that is closed on some days', () => {
  let folder: string;
  let service: LendingService;

  before(async () => {
    folder = await temporaryFolder();
    service = await startLendingService(folder);
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  async function closeOn(...dates: string[]): Promise<void> {
    const holidays = dates.map((date) => ({ name: 'Closed', date, isAnnuallyRecurring: false }));
    const set = await service.put('/organization/holidays', { holidays });
    expect(set.status, set.text).to.equal(200);
  }

  async function datesOf(id: string): Promise<unknown> {
    const { body } = await service.get(`/loans/${id}/schedule`);
    return (body['installments'] as Json[]).map(({ dueDate }) => String(dueDate).slice(0, 10));
  }

  async function paidOut(id: string, productTypeKey: string): Promise<void> {
    const disbursementDetails = { expectedDisbursementDate: '2026-01-15T00:00:00Z' };
    const opened = await service.post('/loans', { id, productTypeKey, loanAmount: 1000, disbursementDetails });
    expect(opened.status, opened.text).to.equal(201);
    const previewed = await datesOf(id);
    expect((await service.post(`/loans/${id}:changeState`, { action: 'APPROVE' })).status).to.equal(200);
    const paid = await service.post(`/loans/${id}/disbursement-transactions`, { valueDate: '2026-01-15' });
    expect(paid.status, paid.text).to.equal(201);
    expect(await datesOf(id), 'the preview').to.deep.equal(previewed);
  }

  // 15 February and 15 March 2026 are Sundays.
  const cases = [
    ['NONE', ['2026-02-15', '2026-03-15', '2026-04-15', '2026-05-15']],
    ['NEXT_WORKING_DAY', ['2026-02-17', '2026-03-16', '2026-04-15', '2026-05-15']],
    ['PREVIOUS_WORKING_DAY', ['2026-02-13', '2026-03-13', '2026-04-15', '2026-05-15']],
    ['EXTEND_SCHEDULE', ['2026-04-15', '2026-05-15', '2026-06-15', '2026-07-15']],
  ] as const;
  for (const [method, dates] of cases) {
    it(`have their due dates by ${method}, in the preview and when they are paid out`, async () => {
      await closeOn('2026-02-16');
      const settings = annuityProduct(method);
      const scheduleSettings = { ...settings.scheduleSettings, repaymentReschedulingMethod: method };
      const made = await service.post('/loanproducts', { ...settings, scheduleSettings });
      expect(made.status, made.text).to.equal(201);
      const shown = (await service.get(`/loanproducts/${method}`)).body['scheduleSettings'] as Json;
      expect(shown['repaymentReschedulingMethod']).to.equal(method);
      await paidOut(`L-${method}`, method);
      expect(await datesOf(`L-${method}`)).to.deep.equal(dates);
    });
  }

  it('keep rows that are over when holidays change, and new loans follow the new ones', async () => {
    await closeOn('2026-04-15');
    expect(await datesOf('L-NEXT_WORKING_DAY')).to.deep.equal(cases[1][1]);
    await paidOut('later', 'NEXT_WORKING_DAY');
    expect(await datesOf('later')).to.deep.equal(['2026-02-16', '2026-03-16', '2026-04-16', '2026-05-15']);
  });

  it('go into arrears on working days only, where other days do not count', async () => {
    for (const nonWorkingDaysMethod of ['INCLUDED', 'EXCLUDED']) {
      const arrearsSettings = { tolerancePeriod: { defaultValue: 3 }, nonWorkingDaysMethod };
      const made = await service.post('/loanproducts', { ...annuityProduct(nonWorkingDaysMethod), arrearsSettings });
      expect(made.status, made.text).to.equal(201);
      const shown = (await service.get(`/loanproducts/${nonWorkingDaysMethod}`)).body['arrearsSettings'] as Json;
      expect(shown['nonWorkingDaysMethod']).to.equal(nonWorkingDaysMethod);
      const id = `L-${nonWorkingDaysMethod}`;
      await service.post('/loans', { id, productTypeKey: nonWorkingDaysMethod, loanAmount: 1000 });
      await service.post(`/loans/${id}:changeState`, { action: 'APPROVE' });
      const paid = await service.post(`/loans/${id}/disbursement-transactions`, { valueDate: '2011-01-23' });
      expect(paid.status, paid.text).to.equal(201);
    }
    // Due on Wednesday 23 February 2011. After the end of Sunday 27 February it is Monday, the third working day.
    const states: unknown[] = [];
    for (const businessDate of ['2011-02-27', '2011-02-28']) {
      const closed = await service.post('/organization:endOfDay', { businessDate });
      expect(closed.status, closed.text).to.equal(200);
      for (const id of ['L-INCLUDED', 'L-EXCLUDED']) {
        states.push(`${id} ${String((await service.get(`/loans/${id}`)).body['accountState'])}`);
      }
    }
    expect(states).to.deep.equal([
      'L-INCLUDED ACTIVE_IN_ARREARS',
      'L-EXCLUDED ACTIVE',
      'L-INCLUDED ACTIVE_IN_ARREARS',
      'L-EXCLUDED ACTIVE_IN_ARREARS',
    ]);
    const daysInArrears = async (id: string): Promise<unknown> => {
      const repayment = { amount: 1, valueDate: '2011-03-07' };
      expect((await service.post(`/loans/${id}/repayment-transactions`, repayment)).status).to.equal(201);
      return (await service.get(`/loans/${id}`)).body['daysInArrears'];
    };
    // Since 27 February, and since 1 March without a weekend.
    expect(await daysInArrears('L-INCLUDED')).to.equal(9);
    expect(await daysInArrears('L-EXCLUDED')).to.equal(5);
  });

  it('follow a change of the holidays when they are asked to, and with the next end of a day', async () => {
    const last = ['2090-05-15', '2090-06-15'];
    for (const id of ['asked', 'waiting']) {
      await service.post('/loans', { id, productTypeKey: 'NEXT_WORKING_DAY', loanAmount: 1000 });
      await service.post(`/loans/${id}:changeState`, { action: 'APPROVE' });
      const disbursement = { valueDate: '2026-01-15', firstRepaymentDate: '2090-03-15' };
      const paid = await service.post(`/loans/${id}/disbursement-transactions`, disbursement);
      expect(paid.status, paid.text).to.equal(201);
      expect(await datesOf(id)).to.deep.equal(['2090-03-15', '2090-04-17', ...last]);
    }
    await closeOn('2090-04-17', '2090-03-15');
    for (const attempt of [1, 2]) {
      const moved = await service.post('/loans/asked:recalculateDueDates', { notes: `Holiday ${attempt}` });
      expect(moved.status, moved.text).to.equal(204);
      expect(await datesOf('asked')).to.deep.equal(['2090-03-16', '2090-04-18', ...last]);
    }
    const transactions = await service.get('/loans/asked/transactions?detailsLevel=FULL');
    const types = (JSON.parse(transactions.text) as Json[]).map(({ type, amount, notes }) => [type, amount, notes]);
    expect(types.slice(1)).to.deep.equal([['DUE_DATE_CHANGED', 0, 'Holiday 1']]);
    const refused = await service.post('/loans/transactions/asked-2:adjust', {});
    expect(refused.status).to.equal(400);
    expect(refused.text).to.contain('TRANSACTION_TYPE_DOES_NOT_ALLOW_ADJUSTMENT');

    expect(await datesOf('waiting')).to.deep.equal(['2090-03-15', '2090-04-17', ...last]);
    const closed = await service.post('/organization:endOfDay', { businessDate: '2011-03-01' });
    expect(closed.status, closed.text).to.equal(200);
    expect(await datesOf('waiting')).to.deep.equal(['2090-03-16', '2090-04-18', ...last]);
  });

  it('follow 100 closed days, which are looked for one by one, and 101, for which all loans are', async () => {
    const close = async (): Promise<void> => {
      const closed = await service.post('/organization:endOfDay', { businessDate: '2011-03-01' });
      expect(closed.status, closed.text).to.equal(200);
    };
    await closeOn();
    await close();
    // The last row of the second loan is due after all days that are closed.
    const due = { near: '2091-01-10', far: '2091-07-10' };
    for (const [id, firstRepaymentDate] of Object.entries(due)) {
      await service.post('/loans', { id, productTypeKey: 'NEXT_WORKING_DAY', loanAmount: 1000 });
      await service.post(`/loans/${id}:changeState`, { action: 'APPROVE' });
      const disbursement = { valueDate: '2026-01-15', firstRepaymentDate };
      const paid = await service.post(`/loans/${id}/disbursement-transactions`, disbursement);
      expect(paid.status, paid.text).to.equal(201);
    }
    const before = [await datesOf('near'), await datesOf('far')];
    const weekdays: string[] = [];
    for (let day = '2091-01-01'; weekdays.length < 110; day = addDays(day, 1)) {
      if (![0, 6].includes(new Date(day).getUTCDay())) weekdays.push(day);
    }
    for (const count of [100, 101]) {
      await closeOn(...weekdays.slice(0, count));
      await close();
      // Rows that a closure would move to one day take one working day after the other.
      expect(await datesOf('near'), String(count)).to.deep.equal(weekdays.slice(count, count + 4));
      expect(await datesOf('far'), String(count)).to.deep.equal(before[1]);
      await closeOn();
      await close();
      expect([await datesOf('near'), await datesOf('far')]).to.deep.equal(before);
    }
  });

  it('have no other way to move due dates', async () => {
    const settings = annuityProduct('other');
    const scheduleSettings = { ...settings.scheduleSettings, repaymentReschedulingMethod: 'SHORT_WORKING_DAYS' };
    const refused = await service.post('/loanproducts', { ...settings, scheduleSettings });
    expect(refused.status).to.equal(400);
    expect((refused.body['errors'] as Json[])[0]?.['errorSource']).to.equal(
      'scheduleSettings.repaymentReschedulingMethod',
    );
  });
});
