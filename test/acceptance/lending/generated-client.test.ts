import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { definitionsOf, readContract, schemaOf } from '../../../scripts/client/contract.ts';
import { createClient } from './client.generated.ts';
import { type Tenant, startTenant } from './tenant.ts';

const contract = readContract();

/** Members of responses that the contract does not have. */
const ours: readonly string[] = [
  // Settings of products for which the contract has no name.
  'LoanProduct.currency.digits',
  'LoanProduct.scheduleSettings.roundingSettings.roundingMode',
  'LoanProduct.taxSettings.taxRate',
  // Counts the changes of a product.
  'LoanProduct.version',
  // The contract has one object in between, without naming its members.
  ...['principal', 'interest', 'fees', 'penalty'].flatMap((part) =>
    ['Due', 'Paid', 'Balance'].map((kind) => `LoanAccountBalances.${part}${kind}`),
  ),
];

const ajv = new Ajv2020({ allErrors: true, meta: false, validateSchema: false });
formats.default(ajv);
ajv.addSchema({ $id: 'contract', $defs: definitionsOf(contract) });
const validators = new Map<string, ValidateFunction>();

function faultsOf(type: string, value: unknown): readonly ErrorObject[] {
  const validate =
    validators.get(type) ??
    ajv.compile(JSON.parse(JSON.stringify(schemaOf(type)).replaceAll('"#/$defs', '"contract#/$defs')) as object);
  validators.set(type, validate);
  return validate(value) ? [] : (validate.errors ?? []);
}

/** The path of a member that the contract does not describe, without places in lists. */
function memberOf(type: string, { instancePath, params }: ErrorObject): string {
  const { additionalProperty } = params as { additionalProperty: string };
  const path = instancePath.replaceAll(/\/\d+(?=\/|$)/g, '').replaceAll('/', '.');
  return `${type.replace('[]', '')}${path}.${additionalProperty}`;
}

describe('a client generated from the contract', function () {
  this.timeout(60_000);
  let tenant: Tenant;
  const called = new Set<string>();
  const undescribed = new Set<string>();

  before(async () => {
    tenant = await startTenant();
  });
  after(() => tenant.stop());

  function requireResponse(type: string, body: unknown, text: string): void {
    const faults = faultsOf(type, body).filter((fault) => {
      if (fault.keyword !== 'additionalProperties') return true;
      const member = memberOf(type, fault);
      // A custom field set.
      if (!member.includes('._')) undescribed.add(member);
      return false;
    });
    expect(
      faults.map(({ instancePath, message }) => `${type}${instancePath} ${message}`),
      text,
    ).to.deep.equal([]);
  }

  const client = createClient(async (name, path, body, query = {}) => {
    const operation = contract.operations.find((one) => one.name === name);
    if (operation === undefined) throw new Error(`The contract has no operation ${name}`);
    const { method, request, response, status } = operation;
    if (request !== undefined) expect(faultsOf(request, body), `request of ${name}`).to.deep.equal([]);
    const parameters = new URLSearchParams(query).toString();
    const answer = await tenant.must(status, method, parameters === '' ? path : `${path}?${parameters}`, body);
    if (response === undefined) expect(answer.text, name).to.equal('');
    else requireResponse(response, answer.body, answer.text);
    called.add(name);
    return answer.body;
  });

  for (const type of ['FIXED_TERM_LOAN', 'DYNAMIC_TERM_LOAN'] as const) {
    it(`takes a ${type} from its product to its pay-off`, async () => {
      const isFixed = type === 'FIXED_TERM_LOAN';
      const id = isFixed ? 'fixed' : 'dynamic';
      const product = await client.createProduct({
        id,
        name: 'Term loan',
        type,
        category: 'PERSONAL_LENDING',
        currency: { code: 'EUR' },
        creditArrangementSettings: { creditArrangementRequirement: 'OPTIONAL' },
        interestSettings: {
          interestCalculationMethod: 'DECLINING_BALANCE_DISCOUNTED',
          scheduleInterestDaysCountMethod: 'REPAYMENT_PERIODICITY',
          daysInYear: 'E30_360',
          indexRateSettings: {
            interestChargeFrequency: 'EVERY_MONTH',
            interestRateSource: 'FIXED_INTEREST_RATE',
            interestRate: { defaultValue: 10 },
          },
        },
        scheduleSettings: {
          numInstallments: { defaultValue: 4 },
          repaymentPeriodUnit: 'MONTHS',
          repaymentReschedulingMethod: 'NONE',
          repaymentScheduleMethod: isFixed ? 'FIXED' : 'DYNAMIC',
          scheduleDueDatesMethod: 'INTERVAL',
        },
        feesSettings: {
          allowArbitraryFees: true,
          fees: [{ id: 'visit', name: 'Visit', trigger: 'MANUAL', feeApplication: 'OPTIONAL', state: 'ACTIVE' }],
        },
      });
      const feeKey = product.feesSettings?.fees?.[0]?.encodedKey ?? '';
      await client.patchProduct(id, [{ op: 'REPLACE', path: '/notes', value: 'Sold by branches' }]);
      expect((await client.getProduct(id, { detailsLevel: 'FULL' })).notes).to.equal('Sold by branches');

      const loanBody = {
        id: `${id}-loan`,
        loanName: 'Kitchen',
        accountHolderKey: 'holder-1',
        accountHolderType: 'CLIENT' as const,
        productTypeKey: product.encodedKey ?? '',
        loanAmount: 1000,
        interestSettings: { interestRate: 10 },
        scheduleSettings: { gracePeriod: 0, repaymentInstallments: 4 },
      };
      const preview = await client.previewSchedule({
        loanAmount: loanBody.loanAmount,
        productTypeKey: loanBody.productTypeKey,
        interestSettings: loanBody.interestSettings,
        scheduleSettings: loanBody.scheduleSettings,
        disbursementDetails: { expectedDisbursementDate: '2024-01-15T00:00:00Z' },
      });
      const loan = await client.createLoan(loanBody);
      const loanId = loan.id ?? '';
      expect((await client.changeLoanState(loanId, { action: 'APPROVE', notes: '' })).accountState).to.equal(
        'APPROVED',
      );
      await client.patchLoan(loanId, [{ op: 'REPLACE', path: '/notes', value: 'Called the holder' }]);
      const paidOut = await client.disburse(loanId, {
        valueDate: '2024-01-15T00:00:00+01:00',
        transactionDetails: { transactionChannelId: 'cash' },
      });
      expect([paidOut.type, paidOut.amount]).to.deep.equal(['DISBURSEMENT', 1000]);

      const dueDates = ({ installments = [] }: { installments?: readonly { dueDate?: string }[] }): unknown =>
        installments.map(({ dueDate }) => dueDate);
      expect(dueDates(preview)).to.deep.equal(dueDates(await client.getSchedule(loanId)));

      const fee = await client.applyFee(loanId, {
        amount: 50,
        predefinedFeeKey: feeKey,
        ...(isFixed ? { installmentNumber: 1 } : {}),
        valueDate: '2024-01-20T00:00:00+01:00',
      });
      expect(fee.affectedAmounts?.feesAmount).to.equal(50);
      const repaid = await client.repay(loanId, {
        amount: 200,
        externalId: `${id}-1`,
        valueDate: '2024-02-15T00:00:00Z',
      });
      const wrong = await client.repay(loanId, { amount: 10, notes: 'Twice', valueDate: '2024-02-16T00:00:00Z' });
      const adjusted = await client.adjustTransaction(wrong.encodedKey ?? '', { notes: 'Booked twice' });
      expect([adjusted.type, adjusted.originalTransactionKey]).to.deep.equal([
        'REPAYMENT_ADJUSTMENT',
        wrong.encodedKey,
      ]);
      expect((await client.getTransaction(repaid.encodedKey ?? '')).amount).to.equal(200);

      const found = await client.searchLoans(
        { filterCriteria: [{ field: 'id', operator: 'EQUALS', value: loanId }] },
        { detailsLevel: 'FULL' },
      );
      expect(found).to.deep.equal([await client.getLoan(loanId, { detailsLevel: 'FULL' })]);
      expect(
        (await client.listLoans({ accountHolderId: 'holder-1', sortBy: 'id:ASC' })).map((one) => one.id),
      ).to.include(loanId);
      const rows = (await client.getSchedule(loanId)).installments ?? [];
      expect(rows.map(({ number }) => number)).to.deep.equal(['1', '2', '3', '4']);
      const late = await client.listInstallments({ dueFrom: '2024-01-01', dueTo: '2024-12-31' });
      expect(late.map(({ parentAccountKey }) => parentAccountKey)).to.include(loan.encodedKey);
      expect(await client.getBalances(loanId)).to.have.property('principalBalance');

      const owed = await client.previewPayOffAmounts(loanId, { valueDate: '2024-06-01T00:00:00Z' });
      expect(owed.principalBalance).to.be.greaterThan(0);
      await client.payOff(loanId, { notes: 'Sold the car' });
      expect((await client.getLoan(loanId)).accountState).to.equal('CLOSED');
      const payments = await client.searchTransactions({
        filterCriteria: [
          { field: 'parentAccountKey', operator: 'EQUALS', value: loan.encodedKey ?? '' },
          { field: 'type', operator: 'IN', values: ['REPAYMENT'] },
        ],
        sortingCriteria: { field: 'creationDate', order: 'ASC' },
      });
      const all = await client.listTransactions(loanId, { detailsLevel: 'FULL' });
      expect(payments.map(({ id: number }) => number)).to.deep.equal(
        all.filter((one) => one.type === 'REPAYMENT').map(({ id: number }) => number),
      );
    });
  }

  it('shows late loans and penalties, which only our API brings about, in the words of the contract', async () => {
    const product = await client.createProduct({
      id: 'late',
      name: 'Late',
      type: 'DYNAMIC_TERM_LOAN',
      currency: { code: 'EUR' },
      creditArrangementSettings: { creditArrangementRequirement: 'OPTIONAL' },
      scheduleSettings: {
        numInstallments: { defaultValue: 4 },
        repaymentPeriodUnit: 'MONTHS',
        repaymentReschedulingMethod: 'NONE',
        repaymentScheduleMethod: 'DYNAMIC',
        scheduleDueDatesMethod: 'INTERVAL',
      },
    });
    const { id = '' } = await client.createLoan({
      accountHolderKey: 'holder-2',
      accountHolderType: 'GROUP',
      productTypeKey: product.encodedKey ?? '',
      loanAmount: 400,
      scheduleSettings: { gracePeriod: 0 },
    });
    await client.changeLoanState(id, { action: 'APPROVE' });
    await client.disburse(id, { valueDate: '2024-01-15T00:00:00Z' });
    await tenant.must(200, 'POST', '/organization:endOfDay', { businessDate: '2024-03-01' });
    const penalty = await tenant.must(201, 'POST', `/loans/${id}/penalty-transactions`, {
      amount: 5,
      valueDate: '2024-02-20',
    });
    requireResponse('LoanTransaction', penalty.body, penalty.text);

    const late = await client.getLoan(id, { detailsLevel: 'FULL' });
    expect([late.accountState, late.balances?.principalDue, late.balances?.penaltyDue]).to.deep.equal([
      'ACTIVE_IN_ARREARS',
      100,
      5,
    ]);
    const rows = (await client.getSchedule(id)).installments ?? [];
    expect(rows.map(({ state }) => state)).to.deep.equal(['LATE', 'PENDING', 'PENDING', 'PENDING']);
  });

  it('finds the organization and its branches', async () => {
    expect((await client.getOrganization()).timeZoneID).to.equal('UTC');
    expect(await client.listBranches()).to.deep.equal([]);
  });

  it('receives no member that the contract does not have, but for ours', () => {
    expect([...undescribed].sort()).to.deep.equal([...ours].sort());
  });

  it('has called every operation of the contract that is there', () => {
    const missing = contract.operations.map(({ name }) => name).filter((name) => !called.has(name));
    expect(missing).to.deep.equal([]);
  });
});
