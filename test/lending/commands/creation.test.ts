import { expect } from 'chai';
import { describe, it } from 'mocha';
import { createProduct } from '../../../src/lending/products/product-rules.ts';
import { type AskedCommand, create, given, loanOf, money, product, reasons, when } from '../loan-fixtures.ts';
import { rateAfter } from '../../../src/lending/schedule/interest-rates.ts';

const bounded = product({
  loanAmountSettings: { loanAmount: { minValue: money(100), maxValue: money(5000) } },
  interestSettings: { interestRate: { defaultValue: money(10), minValue: money(5), maxValue: money(20) } },
  scheduleSettings: { numInstallments: { defaultValue: 4, minValue: 2, maxValue: 12 } },
  gracePeriodSettings: {
    gracePeriodType: 'PAY_INTEREST_ONLY',
    gracePeriod: { defaultValue: 1, minValue: 0, maxValue: 6 },
  },
});

const ask = (more: object): ReturnType<typeof given> => given({ ...create(bounded), ...more });

describe('opening an account', () => {
  it('uses the product settings that the command leaves out', () => {
    const { terms, position } = loanOf(ask({}));
    expect(position.rateSegments).to.deep.equal([{ from: null, interestRate: money(10) }]);
    expect(terms.repaymentInstallments).to.equal(4);
    expect(terms.gracePeriod).to.equal(1);
    expect(terms.dueDates).to.deep.equal({
      scheduleDueDatesMethod: 'INTERVAL',
      repaymentPeriodUnit: 'MONTHS',
      repaymentPeriodCount: 1,
      firstRepaymentDueDateOffset: 0,
    });
    expect(position.accountState).to.equal('PENDING_APPROVAL');
  });

  it('uses the minimum of the product where it has no default', () => {
    const least = product({
      interestSettings: { interestRate: { defaultValue: undefined, minValue: money(5) } },
      scheduleSettings: {
        numInstallments: { defaultValue: undefined, minValue: 3 },
        firstRepaymentDueDateOffset: { minValue: 2 },
      },
      gracePeriodSettings: { gracePeriodType: 'PAY_INTEREST_ONLY', gracePeriod: { minValue: 1 } },
    });
    const { terms, position } = loanOf(given(create(least)));
    expect(rateAfter(position.rateSegments, '2011-01-23').toFixed()).to.equal('5');
    expect([terms.repaymentInstallments, terms.gracePeriod, terms.dueDates.firstRepaymentDueDateOffset]).to.deep.equal([
      3, 1, 2,
    ]);
  });

  it('uses the values of the command within the bounds of the product', () => {
    const { terms, position } = loanOf(ask({ interestRate: money(20), repaymentInstallments: 12, gracePeriod: 6 }));
    expect([
      rateAfter(position.rateSegments, '2011-01-23').toFixed(),
      terms.repaymentInstallments,
      terms.gracePeriod,
    ]).to.deep.equal(['20', 12, 6]);
  });

  it('accepts the maximum number of installments, length of schedule and grace period, and not one more', () => {
    const open = (unit: string, repaymentInstallments: number, more: object = {}): ReturnType<typeof given> =>
      given({
        ...create(product({ scheduleSettings: { repaymentPeriodUnit: unit } })),
        repaymentInstallments,
        ...more,
      } as AskedCommand);
    const installments = ['INVALID_INSTALLMENTS scheduleSettings.repaymentInstallments'];
    for (const [unit, most] of [
      ['DAYS', 3_660],
      ['WEEKS', 3_660],
      // 73000 days, counting each month as 31 days and each year as 366.
      ['MONTHS', 2_354],
      ['YEARS', 199],
    ] as const) {
      expect(open(unit, most).outcome, unit).to.equal('committed');
      expect(reasons(open(unit, most + 1)), unit).to.deep.equal(installments);
    }
    const grace = product({ gracePeriodSettings: { gracePeriodType: 'PAY_INTEREST_ONLY' } });
    expect(open('MONTHS', 12, { product: grace, gracePeriod: 11 }).outcome).to.equal('committed');
    expect(reasons(open('MONTHS', 12, { product: grace, gracePeriod: 12 }))).to.deep.equal([
      'INVALID_GRACE_PERIOD scheduleSettings.gracePeriod',
    ]);
  });

  const table: readonly (readonly [what: string, more: object, reason: string])[] = [
    ['an amount below the bounds', { loanAmount: money('99.99') }, 'INVALID_AMOUNT loanAmount'],
    ['an amount above the bounds', { loanAmount: money('5000.01') }, 'INVALID_AMOUNT loanAmount'],
    ['more digits than the currency has', { loanAmount: money('1000.001') }, 'INVALID_AMOUNT loanAmount'],
    [
      'more digits than a double can represent',
      { product: product(), loanAmount: money('10000000000000') },
      'INVALID_AMOUNT loanAmount',
    ],
    [
      'a rate above the bounds',
      { interestRate: money('20.01') },
      'INVALID_INTEREST_RATE interestSettings.interestRate',
    ],
    [
      'too few installments',
      { repaymentInstallments: 1, gracePeriod: 0 },
      'INVALID_INSTALLMENTS scheduleSettings.repaymentInstallments',
    ],
    [
      'a grace period as long as the loan',
      { repaymentInstallments: 4, gracePeriod: 4 },
      'INVALID_GRACE_PERIOD scheduleSettings.gracePeriod',
    ],
    [
      'a period count of zero',
      { repaymentPeriodCount: 0 },
      'INVALID_REPAYMENT_FREQUENCY scheduleSettings.repaymentPeriodCount',
    ],
    [
      'periods beyond the calendar',
      { repaymentPeriodCount: 1000 },
      'INVALID_INSTALLMENTS scheduleSettings.repaymentInstallments',
    ],
    [
      'principal only after the last installment',
      { principalRepaymentInterval: 5 },
      'INVALID_PRINCIPAL_REPAYMENT_INTERVAL scheduleSettings.principalRepaymentInterval',
    ],
    [
      'principal after no installment',
      { principalRepaymentInterval: 0 },
      'INVALID_PRINCIPAL_REPAYMENT_INTERVAL scheduleSettings.principalRepaymentInterval',
    ],
    [
      'fixed days with an interval',
      { fixedDaysOfMonth: [1] },
      'INCONSISTENT_WITH_FIXED_DAYS_OF_MONTH scheduleSettings.fixedDaysOfMonth',
    ],
    [
      'a first repayment before the disbursement',
      { expectedDisbursementDate: '2011-02-01', firstRepaymentDate: '2011-02-01' },
      'FIRST_REPAYMENT_DATE_BEFORE_EXPECTED_DISBURSEMENT_DATE disbursementDetails.firstRepaymentDate',
    ],
    ['a negative penalty rate', { penaltyRate: money(-1) }, 'INVALID_PENALTY_RATE penaltySettings.penaltyRate'],
    ['an unknown product', { product: null }, 'LOAN_PRODUCT_MISMATCH productTypeKey'],
    ['an inactive product', { product: product({ state: 'INACTIVE' }) }, 'LOAN_PRODUCT_NOT_ACTIVE productTypeKey'],
  ];
  for (const [what, more, reason] of table) {
    it(`refuses ${what}`, () => {
      expect(reasons(ask(more))).to.deep.equal([reason]);
    });
  }

  it('names all faults, in the order of the fields', () => {
    expect(reasons(ask({ loanAmount: money(1), interestRate: money(1), gracePeriod: 9 }))).to.deep.equal([
      'INVALID_AMOUNT loanAmount',
      'INVALID_INTEREST_RATE interestSettings.interestRate',
      'INVALID_GRACE_PERIOD scheduleSettings.gracePeriod',
    ]);
  });

  it('takes settings that repeat its product, and refuses others by their paths', () => {
    const repeatedSettings = [
      { path: 'interestSettings.interestType', text: 'SIMPLE_INTEREST' },
      { path: 'paymentMethod', text: 'HORIZONTAL' },
    ];
    expect(ask({ repeatedSettings }).outcome).to.equal('committed');
    const others = [...repeatedSettings, { path: 'scheduleSettings.gracePeriodType', text: 'NONE' }];
    expect(reasons(ask({ repeatedSettings: others }))).to.deep.equal([
      'LOAN_PRODUCT_MISMATCH scheduleSettings.gracePeriodType',
    ]);
    expect(reasons(ask({ additionalFields: { assets: [{ amount: 1 }] } }))).to.deep.equal([
      'LOAN_PRODUCT_MISMATCH assets',
    ]);
  });

  it('chooses the unit of its periods, which fixed days of the month only give back', () => {
    const weekly = loanOf(ask({ repaymentPeriodUnit: 'WEEKS' }));
    expect(weekly.terms.dueDates).to.include({ repaymentPeriodUnit: 'WEEKS' });
    const days = { scheduleDueDatesMethod: 'FIXED_DAYS_OF_MONTH', fixedDaysOfMonth: [5] } as const;
    const fixed = given({
      ...create(product({ scheduleSettings: days })),
      repaymentPeriodUnit: 'DAYS',
      repaymentPeriodCount: 2,
    } as AskedCommand);
    expect(loanOf(fixed).additionalFields).to.deep.equal({
      scheduleSettings: { repaymentPeriodUnit: 'DAYS', repaymentPeriodCount: 2 },
    });
  });
});

describe('the bounds of what is owed late', () => {
  const late = product({
    penaltySettings: {
      loanPenaltyCalculationMethod: 'OVERDUE_BALANCE',
      penaltyRate: { defaultValue: money(2), minValue: money(1), maxValue: money(5) },
    },
    arrearsSettings: {
      toleranceCalculationMethod: 'ARREARS_TOLERANCE_PERIOD',
      tolerancePeriod: { defaultValue: 5, minValue: 3, maxValue: 10 },
    },
  });
  const rate = ['INVALID_PENALTY_RATE penaltySettings.penaltyRate'];
  const days = ['ARREARS_TOLERANCE_PERIOD_OUTSIDE_CONSTRAINTS arrearsTolerancePeriod'];
  for (const [chosen, expected] of [
    [{}, []],
    [{ penaltyRate: money(1), arrearsTolerancePeriod: 3 }, []],
    [{ penaltyRate: money(5), arrearsTolerancePeriod: 10 }, []],
    [{ penaltyRate: money('0.99') }, rate],
    [{ penaltyRate: money('5.01') }, rate],
    [{ arrearsTolerancePeriod: 2 }, days],
    [{ arrearsTolerancePeriod: 11 }, days],
    [{ penaltyRate: money(-1), arrearsTolerancePeriod: 0 }, [...rate, ...days]],
  ] as const) {
    it(`${JSON.stringify(chosen)}: ${expected.join(', ') || 'accepted'}, when it is opened and when it is changed`, () => {
      expect(reasons(given({ ...create(late), ...chosen }))).to.deep.equal(expected);
      const changed = when(given(create(late)), {
        type: 'UPDATE_LOAN',
        requested: { loanAmount: money(1000), ...chosen },
      });
      expect(reasons(changed)).to.deep.equal(expected);
    });
  }

  it('are none where the product has none', () => {
    const chosen = { penaltyRate: money(99), arrearsTolerancePeriod: 365 };
    expect(reasons(given({ ...create(product()), ...chosen }))).to.deep.equal([]);
  });

  for (const [settings, expected] of [
    [
      { penaltySettings: { loanPenaltyCalculationMethod: 'NONE', penaltyRate: { minValue: money(-1) } } },
      'INVALID_PENALTY_RATE penaltySettings.penaltyRate',
    ],
    [
      {
        arrearsSettings: {
          toleranceCalculationMethod: 'ARREARS_TOLERANCE_PERIOD',
          tolerancePeriod: { minValue: 5, maxValue: 4 },
        },
      },
      'ARREARS_TOLERANCE_PERIOD_OUTSIDE_CONSTRAINTS arrearsSettings.tolerancePeriod',
    ],
    [
      {
        arrearsSettings: {
          toleranceCalculationMethod: 'ARREARS_TOLERANCE_PERIOD',
          tolerancePercentageOfOutstandingPrincipal: { minValue: money(2), defaultValue: money(1) },
        },
      },
      'INVALID_PARAMETERS arrearsSettings.tolerancePercentageOfOutstandingPrincipal',
    ],
  ] as const) {
    it(`may not contradict each other in a product: ${expected}`, () => {
      const created = createProduct(product(settings));
      if (!Array.isArray(created)) expect.fail('it was accepted');
      expect(created.map(({ errorReason, errorSource }) => `${errorReason} ${errorSource ?? ''}`)).to.deep.equal([
        expected,
      ]);
    });
  }
});
