import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/package-root.ts';
import { type Tenant, fixture, startTenant } from './tenant.ts';

type Json = Record<string, unknown>;

/** What a body needs to be there before it is sent. */
type Stage = 'nothing' | 'product' | 'dynamic product' | 'card product' | 'approved' | 'active' | 'active dynamic';

interface Sent {
  readonly body: string;
  readonly on: Stage;
  /** PRODUCT and LOAN stand for the ids of the stage. */
  readonly request: string;
  readonly status: number;
  /** All fields that it is refused for: without them it has the status. */
  readonly refused?: readonly string[];
  /** JSON pointers and their values in the response, or in what is read at `at`. */
  readonly shows?: Readonly<Record<string, unknown>>;
  readonly at?: string;
}

const repayments = 'POST /loans/LOAN/repayment-transactions';
const disbursements = 'POST /loans/LOAN/disbursement-transactions';

const sent: readonly Sent[] = [
  {
    body: 'product-fixed-flat',
    on: 'nothing',
    request: 'POST /loanproducts/',
    status: 201,
    shows: {
      '/type': 'FIXED_TERM_LOAN',
      '/category': 'PERSONAL_LENDING',
      '/interestSettings/interestCalculationMethod': 'FLAT',
      '/interestSettings/daysInYear': 'E30_360',
      '/interestSettings/indexRateSettings/interestChargeFrequency': 'ANNUALIZED',
      '/scheduleSettings/repaymentScheduleMethod': 'FIXED',
      '/scheduleSettings/repaymentReschedulingMethod': 'NEXT_WORKING_DAY',
      '/arrearsSettings/nonWorkingDaysMethod': 'EXCLUDED',
      '/paymentSettings/latePaymentsRecalculationMethod': 'OVERDUE_INSTALLMENTS_INCREASE',
    },
  },
  {
    body: 'product-adjustable-rates',
    on: 'nothing',
    request: 'POST /loanproducts/',
    status: 201,
    refused: [
      'interestSettings.interestRateSettings',
      'interestSettings.interestBalanceCalculationMethod',
      'redrawSettings.allowRedraw',
    ],
    shows: { '/scheduleSettings/repaymentScheduleMethod': 'DYNAMIC' },
  },
  {
    body: 'product-patch-branches',
    on: 'product',
    request: 'PATCH /loanproducts/PRODUCT',
    status: 204,
    at: '/loanproducts/PRODUCT',
    shows: {
      '/availabilitySettings/branchSettings/forAllBranches': false,
      '/availabilitySettings/branchSettings/availableProductBranches/0': '8a8180c57f1d2e3401800a1b2c3d4e63',
    },
  },
  {
    body: 'loan-strings-plain',
    on: 'product',
    request: 'POST /loans',
    status: 201,
    shows: { '/loanAmount': 1500000, '/interestSettings/interestRate': 12.5 },
  },
  {
    body: 'loan-migration-group',
    on: 'dynamic product',
    request: 'POST /loans',
    status: 201,
    refused: ['interestSettings.interestBalanceCalculationMethod'],
    shows: {
      '/accountHolderType': 'GROUP',
      '/_additional_loan_details/loan_purpose': 'kitchen',
      '/_repayment_details/0/repayment_amount': '445',
    },
  },
  {
    body: 'loan-credit-card',
    on: 'card product',
    request: 'POST /loans',
    status: 201,
    refused: [
      'interestSettings.interestRateReviewCount',
      'interestSettings.interestRateReviewUnit',
      'interestSettings.interestRateSource',
    ],
    shows: { '/loanAmount': 30000, '/loanName': 'Everyday card' },
  },
  {
    body: 'loan-patch-fieldset',
    on: 'active',
    request: 'PATCH /loans/LOAN',
    status: 204,
    at: '/loans/LOAN?detailsLevel=FULL',
    shows: { '/_PaymentArrangement/LinkedLoanAccount': 'ARR-204' },
  },
  {
    body: 'preview',
    on: 'product',
    request: 'POST /loans:previewSchedule',
    status: 200,
    shows: {
      '/installments/0/interest/amount/expected': 39.92,
      '/installments/11/dueDate': '2027-01-01T00:00:00Z',
      '/installments/12': undefined,
    },
  },
  {
    body: 'disburse-channel',
    on: 'approved',
    request: disbursements,
    status: 201,
    shows: { '/type': 'DISBURSEMENT', '/transactionDetails/transactionChannelId': 'cash' },
  },
  {
    body: 'disburse-card',
    on: 'approved',
    request: disbursements,
    status: 201,
    shows: { '/amount': 1000, '/valueDate': '2024-08-01T00:00:00Z', '/_Card_Transaction/cardToken': '4929-7' },
  },
  {
    body: 'fee-installment',
    on: 'active',
    request: 'POST /loans/LOAN/fee-transactions',
    status: 201,
    shows: { '/type': 'FEE_CHARGED', '/amount': 11.46 },
  },
  {
    body: 'repay-string',
    on: 'active',
    request: repayments,
    status: 201,
    shows: { '/amount': 5.11, '/externalId': 'PAY-1' },
  },
  {
    body: 'repay-custom-fields',
    on: 'active',
    request: repayments,
    status: 201,
    shows: {
      '/valueDate': '2024-09-02T00:00:00Z',
      '/transactionDetails/transactionChannelId': 'counter & post',
      '/_some_day/with space': 'two',
    },
  },
  { body: 'change-rate', on: 'active dynamic', request: 'POST /loans/LOAN:changeInterestRate', status: 405 },
  {
    body: 'payoff',
    on: 'active',
    request: 'POST /loans/LOAN:payOff',
    status: 204,
    at: '/loans/LOAN',
    shows: { '/accountState': 'CLOSED', '/balances/principalBalance': 0 },
  },
  {
    body: 'search-holder-states',
    on: 'active',
    request: 'POST /loans:search?detailsLevel=FULL',
    status: 200,
    shows: { '/0/id': 'LOAN', '/0/accountState': 'ACTIVE', '/1': undefined },
  },
  {
    body: 'search-modified',
    on: 'active',
    request: 'POST /loans:search?offset=0&limit=220&detailsLevel=FULL&paginationDetails=OFF',
    status: 200,
    shows: { '/0/accountHolderType': 'CLIENT' },
  },
  {
    body: 'search-payments',
    on: 'active',
    request: 'POST /loans/transactions:search?limit=10',
    status: 200,
    shows: { '/0/type': 'REPAYMENT' },
  },
];

const fixedDays = {
  scheduleDueDatesMethod: 'FIXED_DAYS_OF_MONTH',
  fixedDaysOfMonth: [1],
  shortMonthHandlingMethod: 'LAST_DAY_IN_MONTH',
};

function productFor(stage: Stage, id: string): Json {
  const isCard = stage === 'card product';
  return {
    id,
    name: 'Term loan',
    type: isCard || stage.includes('dynamic') ? 'DYNAMIC_TERM_LOAN' : 'FIXED_TERM_LOAN',
    currency: { code: 'EUR' },
    interestSettings: {
      interestCalculationMethod: isCard ? 'DECLINING_BALANCE' : 'DECLINING_BALANCE_DISCOUNTED',
      indexRateSettings: { interestChargeFrequency: 'ANNUALIZED', interestRate: { defaultValue: 12 } },
    },
    scheduleSettings: {
      numInstallments: { defaultValue: 12 },
      ...(isCard ? fixedDays : { repaymentPeriodUnit: 'MONTHS' }),
    },
    feesSettings: {
      allowArbitraryFees: false,
      fees: [{ id: 'visit', name: 'Visit', trigger: 'MANUAL', amountCalculationMethod: 'FLAT' }],
    },
  };
}

describe('the bodies that tenants send', function () {
  this.timeout(60_000);
  let tenant: Tenant;
  let count = 0;

  before(async () => {
    tenant = await startTenant();
  });
  after(() => tenant.stop());

  /** Brings the stage about. Returns what the names in a body stand for. */
  async function prepare(stage: Stage): Promise<Record<string, string>> {
    if (stage === 'nothing') return {};
    count += 1;
    const made = (await tenant.must(201, 'POST', '/loanproducts', productFor(stage, `product-${count}`))).body;
    const names: Record<string, string> = {
      PRODUCT: String(made['id']),
      product: String(made['encodedKey']),
      productKey: String(made['encodedKey']),
      holder: `holder-${count}`,
      newId: `new-${count}`,
      manualFee: ((made['feesSettings'] as Json)['fees'] as Json[])[0]?.['encodedKey'] as string,
    };
    if (stage.endsWith('product')) return names;
    const loan = await tenant.must(201, 'POST', '/loans', {
      productTypeKey: made['encodedKey'],
      accountHolderKey: names['holder'],
      accountHolderType: 'CLIENT',
      loanAmount: 1000,
    });
    names['LOAN'] = String(loan.body['id']);
    await tenant.must(200, 'POST', `/loans/${names['LOAN']}:changeState`, { action: 'APPROVE' });
    if (stage === 'approved') return names;
    await tenant.must(201, 'POST', `/loans/${names['LOAN']}/disbursement-transactions`, { valueDate: '2024-08-01' });
    return names;
  }

  for (const { body, on, request, status, refused = [], shows = {}, at } of sent) {
    const outcome = refused.length === 0 ? `gets ${status}` : `is refused for ${refused.join(', ')} alone`;
    it(`${body}: ${request} ${outcome}`, async () => {
      const names = await prepare(on);
      const named = (text: string): string => text.replaceAll(/PRODUCT|LOAN/g, (name) => names[name] ?? name);
      const [method = '', path = ''] = named(request).split(' ');
      const content = JSON.parse(
        JSON.stringify(fixture(`bodies/${body}.json`)).replaceAll(/\$\{(\w+)\}/g, (_all, name: string) => {
          expect(names, name).to.have.property(name);
          return names[name] ?? '';
        }),
      ) as Json;

      const refusedFor: string[] = [];
      let response = await tenant.send(method, path, content);
      while (response.status === 400 && refusedFor.length < refused.length) {
        for (const { errorSource } of response.body['errors'] as { errorSource: string }[]) {
          refusedFor.push(errorSource);
          expect(remove(content, errorSource), `${errorSource} is no field of the body`).to.equal(true);
        }
        response = await tenant.send(method, path, content);
      }

      expect(refusedFor, response.text).to.have.members(refused);
      expect(response.status, response.text).to.equal(status);
      const shown = at === undefined ? response : await tenant.must(200, 'GET', named(at));
      for (const [pointer, value] of Object.entries(shows)) {
        expect(valueAt(shown.body, pointer), `${pointer} of ${shown.text.slice(-1500)}`).to.equal(
          typeof value === 'string' ? named(value) : value,
        );
      }
    });
  }

  it('are all in the table', () => {
    const files = readdirSync(join(packageRoot, 'test/acceptance/lending/bodies'));
    expect(sent.map(({ body }) => `${body}.json`)).to.have.members(files);
  });
});

/** Removes a field by its path, as errors name it. Returns whether it was there. */
function remove(body: Json, path: string): boolean {
  const names = path.split('.');
  const last = names.pop() ?? '';
  const parent = names.reduce<Json | undefined>((object, name) => object?.[name] as Json | undefined, body);
  return parent !== undefined && last in parent && delete parent[last];
}

function valueAt(body: unknown, pointer: string): unknown {
  const names = pointer.split('/').slice(1);
  return names.reduce<unknown>((value, name) => (value as Json | undefined)?.[name], body);
}
