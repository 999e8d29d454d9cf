import { expect } from 'chai';
import { describe, it } from 'mocha';
import { annuityProduct } from '../../../src/admin/example-product.ts';
import { SimulatedClock, settled } from '../../support/simulated-clock.ts';
import { lendingServiceForSuite } from './lending-service.ts';

type Json = Record<string, unknown>;

describe('business days over HTTP', () => {
  const suite = lendingServiceForSuite();

  const close = async (businessDate: string): Promise<void> => {
    const { status, text } = await suite.service.post('/organization:endOfDay', { businessDate });
    expect(status, text).to.equal(200);
  };

  it('charge the fees for late repayments that the product has', async () => {
    const late = { id: 'late', name: 'Late', trigger: 'LATE_REPAYMENT', amount: 12, feeApplication: 'REQUIRED' };
    const product = {
      ...annuityProduct('strict'),
      allowCustomRepaymentAllocation: true,
      feesSettings: { allowArbitraryFees: true, fees: [late] },
    };
    const created = await suite.service.post('/loanproducts', product);
    expect(created.status, created.text).to.equal(201);
    await suite.service.post('/loans', { id: 'late', productTypeKey: 'strict', loanAmount: 1000 });
    await suite.service.post('/loans/late:changeState', { action: 'APPROVE' });
    await suite.service.post('/loans/late/disbursement-transactions', { valueDate: '2011-01-23' });
    await close('2011-02-22');
    await close('2011-02-23');
    const transactions = await suite.service.get('/loans/late/transactions?detailsLevel=FULL');
    const [charged = expect.fail()] = (JSON.parse(transactions.text) as Json[]).filter(
      ({ type }) => type === 'FEE_CHARGED',
    );
    expect(charged).to.deep.include({ amount: 12, valueDate: '2011-02-24T00:00:00Z' });
    expect((charged['fees'] as Json[])[0]).to.include({ trigger: 'LATE_REPAYMENT', name: 'Late', amount: 12 });
    const { body } = await suite.service.get('/loans/late/balances');
    expect(body['feesDue']).to.equal(12);
    const paid = await suite.service.post('/loans/late/repayment-transactions', {
      amount: 12,
      valueDate: '2011-02-24',
      customPaymentAmounts: [{ amount: 12, customPaymentAmountType: 'LATE_REPAYMENT_FEE' }],
    });
    expect(paid.status, paid.text).to.equal(201);
  });

  it('show the penalty that a late installment has accrued', async () => {
    const penaltySettings = {
      loanPenaltyCalculationMethod: 'OVERDUE_BALANCE',
      loanPenaltyGracePeriod: 9,
      penaltyRate: { defaultValue: 1 },
    };
    await suite.service.post('/loanproducts', { ...annuityProduct('penalized'), penaltySettings });
    await suite.service.post('/loans', { id: 'accrues', productTypeKey: 'penalized', loanAmount: 1000 });
    await suite.service.post('/loans/accrues:changeState', { action: 'APPROVE' });
    await suite.service.post('/loans/accrues/disbursement-transactions', { valueDate: '2011-01-24' });
    await close('2011-02-24');
    const { body } = await suite.service.get('/loans/accrues');
    // One percent of 215.47 for the first late day.
    expect([body['daysLate'], body['accruedPenalty']]).to.deep.equal([1, 2.15]);
  });

  it('close a paid account after the days that its product keeps it open', async () => {
    const internalControls = { dormancyPeriodDays: 2 };
    const created = await suite.service.post('/loanproducts', { ...annuityProduct('patient'), internalControls });
    expect(created.status, created.text).to.equal(201);
    expect(created.body['internalControls']).to.deep.equal(internalControls);
    await suite.service.post('/loans', { id: 'patient', productTypeKey: 'patient', loanAmount: 1000 });
    await suite.service.post('/loans/patient:changeState', { action: 'APPROVE' });
    await suite.service.post('/loans/patient/disbursement-transactions', { valueDate: '2011-02-24' });
    const { body: owed } = await suite.service.get('/loans/patient/balances');
    const amount = Number(owed['principalBalance']) + Number(owed['interestBalance']);
    const paid = await suite.service.post('/loans/patient/repayment-transactions', { amount, valueDate: '2011-02-25' });
    expect(paid.status, paid.text).to.equal(201);
    const state = async (): Promise<unknown[]> => {
      const { body } = await suite.service.get('/loans/patient');
      return [body['accountState'], body['accountSubState']];
    };
    expect(await state()).to.deep.equal(['ACTIVE', undefined]);
    await close('2011-02-25');
    expect(await state()).to.deep.equal(['ACTIVE', undefined]);
    await close('2011-02-26');
    expect(await state()).to.deep.equal(['CLOSED', 'REPAID']);
    const opened = await suite.service.post('/loans/patient:changeState', { action: 'UNDO_CLOSE' });
    expect(opened.status, opened.text).to.equal(200);
    expect(await state()).to.deep.equal(['ACTIVE', undefined]);
  });

  it('lock an account after the days in arrears that its product allows, and free it once it has paid', async () => {
    const cap = {
      cappingConstraintType: 'HARD_CAP',
      cappingMethod: 'ORIGINAL_PRINCIPAL_PERCENTAGE',
      cappingPercentage: 99.5,
    };
    const internalControls = { lockSettings: { ...cap, lockPeriodDays: 1 } };
    const created = await suite.service.post('/loanproducts', { ...annuityProduct('locking'), internalControls });
    expect(created.status, created.text).to.equal(201);
    expect(created.body['internalControls']).to.deep.equal(internalControls);
    const { body: shown } = await suite.service.get('/loanproducts/locking');
    expect(shown['internalControls']).to.deep.equal(internalControls);
    await suite.service.post('/loans', { id: 'locking', productTypeKey: 'locking', loanAmount: 1000 });
    await suite.service.post('/loans/locking:changeState', { action: 'APPROVE' });
    await suite.service.post('/loans/locking/disbursement-transactions', { valueDate: '2011-01-24' });
    const state = async (): Promise<unknown[]> => {
      const { body } = await suite.service.get('/loans/locking');
      return [body['accountState'], body['accountSubState']];
    };
    await close('2011-02-24');
    expect(await state()).to.deep.equal(['ACTIVE_IN_ARREARS', undefined]);
    await close('2011-02-25');
    expect(await state()).to.deep.equal(['ACTIVE_IN_ARREARS', 'LOCKED']);
    const { body: transactions } = await suite.service.get('/loans/locking/transactions');
    const types = (transactions as unknown as readonly { readonly type: string }[]).map(({ type }) => type);
    expect(types).to.include.members(['INTEREST_LOCKED', 'FEE_LOCKED', 'PENALTY_LOCKED']);
    const paid = await suite.service.post('/loans/locking/repayment-transactions', {
      amount: 315.47,
      valueDate: '2011-02-26',
    });
    expect(paid.status, paid.text).to.equal(201);
    expect(await state()).to.deep.equal(['ACTIVE', 'LOCKED']);
    const locked = (await suite.service.get('/loans/locking')).body;
    expect(locked).to.deep.include({
      lockedOperations: ['APPLY_INTEREST', 'APPLY_FEES', 'APPLY_PENALTIES'],
      lastLockedDate: '2011-02-26T00:00:00Z',
    });
    await close('2011-02-26');
    expect(await state()).to.deep.equal(['ACTIVE', undefined]);
    const lastLocked = { field: 'lastLockedDate', operator: 'ON', value: '2011-02-26' };
    const { body: found } = await suite.service.post('/loans:search', { filterCriteria: [lastLocked] });
    const [account] = found as unknown as readonly Readonly<Record<string, unknown>>[];
    expect(account).to.include({ id: 'locking', lastLockedDate: '2011-02-26T00:00:00Z' });
    expect(account).not.to.have.property('lockedOperations');
  });

  it('are refused for what is no day that is over', async () => {
    const refused = async (body: unknown): Promise<unknown[]> => {
      const answer = await suite.service.post('/organization:endOfDay', body);
      const [error] = answer.body['errors'] as Json[];
      return [answer.status, error?.['errorSource']];
    };
    expect(await refused({ businessDate: '2999-01-01' })).to.deep.equal([400, 'businessDate']);
    expect(await refused({ businessDate: '2011-02-30' })).to.deep.equal([400, 'businessDate']);
    expect(await refused({ day: '2011-02-20' })).to.deep.equal([400, 'day']);
  });

  it('are answered with 202 after half a minute, and go on', async () => {
    const { body: before } = await suite.service.get('/organization/businessDate');
    const clock = new SimulatedClock(Date.UTC(2011, 1, 27, 12));
    await suite.restart(false, { clock });
    const closing = suite.service.post('/organization:endOfDay', {});
    while (!clock.hasDeadline(clock.monotonic() + 30_000)) await settled();
    let isAnswered = false;
    void closing.then(() => (isAnswered = true));
    await clock.turn(29_999);
    expect(isAnswered).to.equal(false);
    await clock.turn(1);
    const { status, body } = await closing;
    expect([status, body]).to.deep.equal([202, { businessDate: '2011-02-26', status: 'PENDING' }]);
    expect((await suite.service.get('/organization/businessDate')).body).to.deep.equal(before);
    await suite.restart(true);
    await close('2011-02-26');
    const { body: after } = await suite.service.get('/organization/businessDate');
    expect(after).to.deep.equal({ businessDate: '2011-02-27' });
  });
});

describe('an account that is late, over HTTP', () => {
  const suite = lendingServiceForSuite();
  const post = async (path: string, body: unknown): Promise<void> => {
    const { status, text } = await suite.service.post(path, body);
    expect(status, text).to.be.lessThan(300);
  };

  it('counts its days up to the business date, also while nothing happens to it', async () => {
    const penaltySettings = {
      loanPenaltyCalculationMethod: 'OVERDUE_BALANCE',
      loanPenaltyGracePeriod: 9,
      penaltyRate: { defaultValue: 1 },
    };
    const arrearsSettings = { tolerancePeriod: { defaultValue: 3 } };
    await post('/loanproducts', { ...annuityProduct('counted'), penaltySettings, arrearsSettings });
    await post('/loans', { id: 'late', productTypeKey: 'counted', loanAmount: 1000 });
    await post('/loans/late:changeState', { action: 'APPROVE' });
    await post('/loans/late/disbursement-transactions', { valueDate: '2011-01-24' });

    /** What the account shows after the end of a day, wherever it is shown. */
    const after = async (businessDate: string): Promise<unknown[]> => {
      await post('/organization:endOfDay', { businessDate });
      const { text, body } = await suite.service.get('/loans/late');
      expect((await suite.service.get('/loans')).text).to.equal(`[${text}]`);
      const fields = ['daysLate', 'daysInArrears', 'accruedPenalty'];
      for (const field of fields) {
        const criteria = { filterCriteria: [{ field, operator: 'EQUALS', value: body[field] }] };
        expect((await suite.service.post('/loans:search', criteria)).text, field).to.equal(`[${text}]`);
        expect(
          (await suite.service.post('/loans:search?paginationDetails=ON', criteria)).headers.get('items-total'),
          field,
        ).to.equal('1');
      }
      return [body['accountState'], ...fields.map((field) => body[field])];
    };
    const modified = async (): Promise<unknown> => (await suite.service.get('/loans/late')).body['lastModifiedDate'];

    expect(await after('2011-02-23')).to.deep.equal(['ACTIVE', 0, 0, 0]);
    // One percent of 215.47 for each late day.
    expect(await after('2011-02-24')).to.deep.equal(['ACTIVE', 1, 0, 2.15]);
    const late = await modified();
    expect(await after('2011-02-26')).to.deep.equal(['ACTIVE', 3, 0, 6.46]);
    expect(await modified()).to.equal(late);
    expect(await after('2011-02-27')).to.deep.equal(['ACTIVE_IN_ARREARS', 4, 1, 8.62]);
    const inArrears = await modified();
    expect(await after('2011-03-04')).to.deep.equal(['ACTIVE_IN_ARREARS', 9, 6, 19.39]);
    expect(await modified()).to.equal(inArrears);
    expect(await after('2011-03-05')).to.deep.equal(['ACTIVE_IN_ARREARS', 10, 7, 0]);
    await suite.restart();
    expect((await suite.service.get('/loans/late')).body).to.include({ daysLate: 10, daysInArrears: 7 });
  });

  it('that is paid is late no more', async () => {
    const { body } = await suite.service.get('/loans/late/balances');
    const amount = ['principalBalance', 'interestBalance', 'penaltyBalance']
      .map((name) => Math.round(Number(body[name]) * 100))
      .reduce((sum, cents) => sum + cents, 0);
    await post('/loans/late/repayment-transactions', { amount: amount / 100, valueDate: '2011-03-06' });
    await post('/organization:endOfDay', { businessDate: '2011-03-20' });
    const shown = { accountState: 'CLOSED', daysLate: 0, daysInArrears: 0, accruedPenalty: 0 };
    expect((await suite.service.get('/loans/late')).body).to.include(shown);
  });
});
