import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import { annuityProduct } from '../../../src/admin/example-product.ts';
import { eventually } from '../../support/eventually.ts';
import type { HttpResponse } from '../../support/http/client.ts';
import { type Tenant, startTenant } from './tenant.ts';

type Json = Record<string, unknown>;

/** How a command reaches the service: over REST, or published as an event by a producer. */
type Door = 'REST' | 'command';

const manyFees = 300;

describe('the sentences of the specification about lending', function () {
  this.timeout(60_000);
  let tenant: Tenant;
  let count = 0;

  before(async () => {
    tenant = await startTenant();
    const settings = { allowCustomRepaymentAllocation: true };
    const fees = [
      {
        id: 'extra',
        name: 'Extra',
        trigger: 'MANUAL',
        feeApplication: 'OPTIONAL',
        scheduleAllocationMethod: 'NO_ALLOCATION',
      },
    ];
    const feesSettings = { allowArbitraryFees: true, fees };
    await tenant.must(201, 'POST', '/loanproducts', { ...annuityProduct('term'), ...settings, feesSettings });
  });
  after(() => tenant.stop());

  const get = async (path: string): Promise<Json> => (await tenant.must(200, 'GET', path)).body;
  const eventsOf = async (loan: string, type: string): Promise<Json[]> =>
    ((await get(`/loans/${loan}/events`))['items'] as Json[]).filter(
      ({ metadata }) => (metadata as Json)['event_type'] === type,
    );
  const errorOf = ({ body }: HttpResponse): unknown => (body['errors'] as Json[] | undefined)?.[0]?.['errorReason'];

  /** Publishes commands in one batch and returns the state of the last one once it is decided. */
  async function publish(commands: readonly (readonly [string, string, Json])[]): Promise<Json> {
    const events = commands.map(([type, loanAccountId, payload]) => {
      const eid = randomUUID();
      return { metadata: { eid, occurred_at: '2024-02-01T00:00:00Z' }, commandId: eid, type, loanAccountId, payload };
    });
    const published = await tenant.sendToRoot('POST', '/event-types/lendstream.loan-commands/events', events);
    expect(published.status, published.text).to.equal(200);
    const last = events.at(-1)?.commandId ?? '';
    let decided: Json = {};
    await eventually(async () => {
      decided = (await tenant.send('GET', `/commands/${last}`)).body;
      return !['undefined', 'PENDING'].includes(String(decided['status']));
    }, 30_000);
    return decided;
  }

  async function openLoan(productTypeKey = 'term', further: Json = {}): Promise<string> {
    count += 1;
    const id = `loan-${count}`;
    await tenant.must(201, 'POST', '/loans', { id, productTypeKey, loanAmount: 1000, ...further });
    return id;
  }

  async function activeLoan(productTypeKey = 'term', further: Json = {}): Promise<string> {
    const id = await openLoan(productTypeKey, further);
    await tenant.must(200, 'POST', `/loans/${id}:changeState`, { action: 'APPROVE' });
    await tenant.must(201, 'POST', `/loans/${id}/disbursement-transactions`, { valueDate: '2024-01-15' });
    return id;
  }

  it('§4: the search returns what the get endpoint returns, with the custom field of the disbursement details', async () => {
    const disbursementDetails = { expectedDisbursementDate: '2024-01-20', _pay_out: { counter: 'north' } };
    for (const loan of [
      await openLoan('term', { disbursementDetails }),
      await activeLoan('term', { disbursementDetails }),
    ]) {
      for (const level of ['BASIC', 'FULL']) {
        const criteria = { filterCriteria: [{ field: 'id', operator: 'EQUALS', value: loan }] };
        const found = await tenant.must(200, 'POST', `/loans:search?detailsLevel=${level}`, criteria);
        const got = await tenant.must(200, 'GET', `/loans/${loan}?detailsLevel=${level}`);
        expect(found.text).to.equal(`[${got.text}]`);
        if (level === 'FULL') {
          expect(got.body['disbursementDetails']).to.have.property('_pay_out').that.deep.equals({ counter: 'north' });
        }
      }
    }
  });

  it('§4: patching a loan product works when its payment interval method is fixed days of months', async () => {
    const fixedDays = { scheduleDueDatesMethod: 'FIXED_DAYS_OF_MONTH', fixedDaysOfMonth: [1, 15] };
    const { repaymentPeriodUnit: _, ...schedule } = annuityProduct('fixed-days').scheduleSettings;
    const product = { ...annuityProduct('fixed-days'), scheduleSettings: { ...schedule, ...fixedDays } };
    await tenant.must(201, 'POST', '/loanproducts', product);
    const patch = [{ op: 'REPLACE', path: '/scheduleSettings/fixedDaysOfMonth', value: [5] }];
    await tenant.must(204, 'PATCH', '/loanproducts/fixed-days', patch);
    const loan = await activeLoan('fixed-days');
    const { installments } = (await get(`/loans/${loan}/schedule`)) as { installments: { dueDate: string }[] };
    const dates = ['2024-02-05', '2024-03-05', '2024-04-05', '2024-05-05'];
    expect(installments.map(({ dueDate }) => dueDate.slice(0, 10))).to.deep.equal(dates);
    expect((await eventsOf(loan, 'loan_schedule_changed'))[0]).to.have.nested.property('changedInstallments.length', 4);
  });

  for (const door of ['REST', 'command'] satisfies Door[]) {
    it(`§4: a pay-off handles ${manyFees} applied fees, by ${door}, and events show it`, async () => {
      const loan = await activeLoan();
      const fee = { amount: 0.5, installmentNumber: 1, valueDate: '2024-01-16' };
      const fees = Array.from({ length: manyFees }, () => ['APPLY_FEE', loan, fee] as const);
      expect(await publish(fees)).to.have.property('status', 'COMMITTED');
      const owed = await tenant.must(200, 'POST', `/loans/${loan}:previewPayOffAmounts`, { valueDate: '2024-01-16' });
      expect(owed.body).to.include({ feeBalance: manyFees / 2, principalBalance: 1000 });
      if (door === 'REST') await tenant.must(204, 'POST', `/loans/${loan}:payOff`, { notes: 'All of it' });
      else expect(await publish([['PAY_OFF', loan, {}]])).to.have.property('status', 'COMMITTED');
      expect(await get(`/loans/${loan}`)).to.include({ accountState: 'CLOSED', accountSubState: 'REPAID' });
      const balances = await get(`/loans/${loan}/balances`);
      expect(balances).to.include({ feesBalance: 0, principalBalance: 0, interestBalance: 0, feesPaid: manyFees / 2 });
      expect((await eventsOf(loan, 'loan_balance_changed')).at(-1)?.['balances']).to.deep.equal(balances);
    });
  }

  it('§2: a product names its settings of prepayment, custom repayment, first repayment and fixed days', async () => {
    const settings = {
      ...annuityProduct('settings'),
      type: 'DYNAMIC_TERM_LOAN',
      allowCustomRepaymentAllocation: true,
      adjustInterestForFirstInstallment: true,
      paymentSettings: {
        prepaymentSettings: {
          prepaymentRecalculationMethod: 'REDUCE_AMOUNT_PER_INSTALLMENT',
          elementsRecalculationMethod: 'PRINCIPAL_EXPECTED_FIXED',
          principalPaidInstallmentStatus: 'PAID',
        },
        latePaymentsRecalculationMethod: 'LAST_INSTALLMENT_INCREASE',
        repaymentAllocationOrder: ['PENALTY', 'FEE', 'INTEREST', 'PRINCIPAL'],
      },
    };
    await tenant.must(201, 'POST', '/loanproducts', settings);
    const shown = await get('/loanproducts/settings');
    for (const [path, value] of Object.entries({
      allowCustomRepaymentAllocation: true,
      adjustInterestForFirstInstallment: true,
      'paymentSettings.prepaymentSettings.prepaymentRecalculationMethod': 'REDUCE_AMOUNT_PER_INSTALLMENT',
      'paymentSettings.prepaymentSettings.principalPaidInstallmentStatus': 'PAID',
      'paymentSettings.latePaymentsRecalculationMethod': 'LAST_INSTALLMENT_INCREASE',
      'paymentSettings.repaymentAllocationOrder[0]': 'PENALTY',
    })) {
      expect(shown, path).to.have.nested.property(path, value);
    }
  });

  it('§2: loan transactions carry the terms of the loan, in responses and in events', async () => {
    const loan = await activeLoan();
    await tenant.must(201, 'POST', `/loans/${loan}/fee-transactions`, {
      amount: 5,
      installmentNumber: 1,
      valueDate: '2024-01-20',
    });
    await tenant.must(201, 'POST', `/loans/${loan}/repayment-transactions`, { amount: 5, valueDate: '2024-01-21' });
    const terms = { interestSettings: { interestRate: 10 }, periodicPayment: 315.47 };
    const transactions = (await get(`/loans/${loan}/transactions`)) as unknown as Json[];
    expect(transactions.map((transaction) => transaction['terms'])).to.deep.equal([terms, terms, terms]);
    const posted = await eventsOf(loan, 'loan_transaction_posted');
    expect(posted.map(({ transaction }) => (transaction as Json)['terms'])).to.deep.equal([terms, terms, terms]);
  });

  it('§2: non-allocated fees paid are shown, in responses and in events', async () => {
    await tenant.must(200, 'PUT', '/toggles/ALLOW_NON_SCHEDULED_FEES', { enabled: true });
    try {
      const loan = await activeLoan();
      const fee = { amount: 15, predefinedFeeKey: 'extra', valueDate: '2024-01-20' };
      await tenant.must(201, 'POST', `/loans/${loan}/fee-transactions`, fee);
      await tenant.must(201, 'POST', `/loans/${loan}/repayment-transactions`, {
        amount: 6,
        valueDate: '2024-01-21',
        customPaymentAmounts: [{ amount: 6, customPaymentAmountType: 'NON_SCHEDULED_FEE' }],
      });
      const balances = await get(`/loans/${loan}/balances`);
      expect(balances).to.include({ nonScheduledFeeBalance: 9, nonScheduledFeePaidBalance: 6, scheduledFeesPaid: 0 });
      expect((await eventsOf(loan, 'loan_balance_changed')).at(-1)?.['balances']).to.deep.equal(balances);
    } finally {
      await tenant.must(200, 'PUT', '/toggles/ALLOW_NON_SCHEDULED_FEES', { enabled: false });
    }
  });

  it('§7: a repayment above the balance that it reduces is rejected, by REST, as a command and in events', async () => {
    const loan = await activeLoan();
    const before = await get(`/loans/${loan}/balances`);
    const repaid = await tenant.send('POST', `/loans/${loan}/repayment-transactions`, {
      amount: 1261.89,
      valueDate: '2024-01-16',
    });
    expect([repaid.status, errorOf(repaid)]).to.deep.equal([400, 'EXCESS_REPAYMENT_ERROR']);
    const decided = await publish([['REPAY', loan, { amount: 1261.89, valueDate: '2024-01-16' }]]);
    expect(decided).to.have.nested.property('errors[0].errorReason', 'EXCESS_REPAYMENT_ERROR');
    expect(await get(`/loans/${loan}/balances`)).to.deep.equal(before);
    const rejected = await eventsOf(loan, 'command_rejected');
    expect(rejected).to.have.length(2);
    for (const event of rejected) expect(JSON.stringify(event)).to.contain('EXCESS_REPAYMENT_ERROR');
  });

  it('§7: a product with fees outside the schedule and no custom repayment gets an explicit error', async () => {
    const fees = [
      { id: 'x', name: 'X', trigger: 'MANUAL', feeApplication: 'OPTIONAL', scheduleAllocationMethod: 'NO_ALLOCATION' },
    ];
    const product = { ...annuityProduct('no-custom'), allowCustomRepaymentAllocation: false, feesSettings: { fees } };
    const refused = await tenant.send('POST', '/loanproducts', product);
    expect(refused.status, refused.text).to.equal(400);
    expect(refused.text).to.contain('allowCustomRepaymentAllocation');
  });

  it('§7: adjusting a repayment does not fail, and restores every balance', async () => {
    const loan = await activeLoan();
    const before = await get(`/loans/${loan}/balances`);
    for (const door of ['REST', 'command'] satisfies Door[]) {
      const repayment = { amount: 500, valueDate: '2024-02-20' };
      const { body } = await tenant.must(201, 'POST', `/loans/${loan}/repayment-transactions`, repayment);
      const transactionId = String(body['encodedKey']);
      if (door === 'REST')
        await tenant.must(200, 'POST', `/loans/transactions/${transactionId}:adjust`, { notes: 'Wrong' });
      else {
        const adjusted = await publish([['ADJUST_TRANSACTION', loan, { transactionId, notes: 'Wrong' }]]);
        expect(adjusted).to.have.property('status', 'COMMITTED');
      }
      expect(await get(`/loans/${loan}/balances`)).to.deep.equal(before);
      expect((await eventsOf(loan, 'loan_balance_changed')).at(-1)?.['balances']).to.deep.equal(before);
    }
  });

  it('§7: the schedule of a fixed-term loan with a long first period has no negative principal', async () => {
    const product = {
      ...annuityProduct('long-first', 24),
      interestSettings: {
        interestRate: { defaultValue: 36 },
        interestChargeFrequency: 'ANNUALIZED',
        interestCalculationMethod: 'DECLINING_BALANCE_DISCOUNTED',
      },
    };
    await tenant.must(201, 'POST', '/loanproducts', product);
    const loan = await openLoan('long-first', { loanAmount: 10_000 });
    await tenant.must(200, 'POST', `/loans/${loan}:changeState`, { action: 'APPROVE' });
    const disbursed = { valueDate: '2024-01-01', firstRepaymentDate: '2024-03-02' };
    await tenant.must(201, 'POST', `/loans/${loan}/disbursement-transactions`, disbursed);
    const rows = (await get(`/loans/${loan}/schedule`))['installments'] as {
      principal: { amount: { expected: number } };
    }[];
    const principal = rows.map((row) => row.principal.amount.expected);
    expect(principal[0]).to.equal(0);
    expect(Math.min(...principal)).to.be.at.least(0);
    expect(Math.round(principal.reduce((sum, one) => sum + one * 100, 0))).to.equal(1_000_000);
  });

  it('§7: patching a group of custom fields with an invalid index is an error, and changes nothing', async () => {
    const loan = await activeLoan('term', { _cars: [{ brand: 'A' }, { brand: 'B' }] });
    const patch = [{ op: 'REPLACE', path: '/_cars/2/brand', value: 'C' }];
    const refused = await tenant.send('PATCH', `/loans/${loan}`, patch);
    expect([refused.status, errorOf(refused)]).to.deep.equal([400, 'INVALID_CUSTOM_FIELD_GROUP_INDEX']);
    const { _cars: cars } = await get(`/loans/${loan}?detailsLevel=FULL`);
    expect((cars as Json[]).map(({ brand }) => brand)).to.deep.equal(['A', 'B']);
    expect(await eventsOf(loan, 'loan_account_changed')).to.deep.equal([]);
  });

  it('§4: patching custom fields of an active loan succeeds, and its event shows them', async () => {
    const loan = await activeLoan();
    await tenant.must(204, 'PATCH', `/loans/${loan}`, [{ op: 'ADD', path: '/_risk/score', value: '7' }]);
    expect(await eventsOf(loan, 'loan_account_changed')).to.have.length(1);
    expect(await get(`/loans/${loan}?detailsLevel=FULL`)).to.have.nested.property('_risk.score', '7');
  });

  for (const [path, value] of [
    ['paymentSettings.prepaymentSettings.principalPaidInstallmentStatus', 'ORIGINAL_TOTAL_EXPECTED_PAID'],
    ['interestSettings.decoupleInterestFromArrears', true],
    ['flexibleTerms', { enabled: true }],
    ['type', 'DYNAMIC_TERM_MORTGAGE'],
    ['type', 'DYNAMIC_MORTGAGE'],
    ['type', 'TRANCHED_LOAN'],
    ['type', 'REVOLVING_CREDIT'],
    ['type', 'INTEREST_FREE_LOAN'],
    ['type', 'INTEREST_ONLY_EQUAL_INSTALLMENTS'],
  ] as const) {
    const shown = `${path} ${JSON.stringify(value)}`;
    it(`§2: what no rule reads is refused with its path, over REST and before it is a command: ${shown}`, async () => {
      const names = path.split('.');
      const setting = names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Json;
      const interestSettings = {
        ...annuityProduct('no-rule').interestSettings,
        ...(setting['interestSettings'] as Json),
      };
      const product = { ...annuityProduct('no-rule'), type: 'DYNAMIC_TERM_LOAN', ...setting, interestSettings };
      const refused = await tenant.send('POST', '/loanproducts', product);
      expect(refused.status, refused.text).to.equal(400);
      const reasons = (refused.body['errors'] as Json[]).map((error) => [error['errorReason'], error['errorSource']]);
      expect(reasons).to.deep.equal([['INVALID_PARAMETERS', path]]);
      const metadata = { eid: randomUUID(), occurred_at: '2024-02-01T00:00:00Z' };
      const command = { commandId: metadata.eid, type: 'CREATE_PRODUCT', loanProductId: product.id, payload: product };
      const commands = [{ metadata, ...command }];
      const published = await tenant.sendToRoot('POST', '/event-types/lendstream.loan-commands/events', commands);
      expect(published.status, published.text).to.equal(422);
      expect(published.text).to.contain(names.at(-1));
      expect((await tenant.send('GET', '/loanproducts/no-rule')).status).to.equal(404);
    });
  }

  it('§9: the release v9.173.2 is named, version 2 of the API is served, and the first version of pricing is gone', async () => {
    const { body } = await tenant.sendToRoot('GET', '/version');
    expect(body['release']).to.equal('v9.173.2');
    const statusOf = (path: string, version: number): Promise<number> =>
      tenant
        .send('GET', path, undefined, { Accept: `application/vnd.mambu.v${version}+json` })
        .then(({ status }) => status);
    expect([await statusOf('/loans', 2), await statusOf('/loans', 1)]).to.deep.equal([200, 406]);
    expect([await statusOf('/pricing/v1/loans', 2), await statusOf('/pricing/v1/loans', 1)]).to.deep.equal([410, 410]);
  });
});
