import { expect } from 'chai';
import { describe, it } from 'mocha';
import { balancesOf } from '../../../src/lending/views/balances.ts';
import type { WorkingCalendar } from '../../../src/lending/organization.ts';
import { previewInstallments } from '../../../src/lending/schedule/preview.ts';
import { sum } from '../../../src/lending/money.ts';
import { allTogglesOff } from '../../../src/lending/toggle-names.ts';
import {
  type AskedCommand,
  type Story,
  approve,
  withCalendar,
  create,
  disburse,
  disbursed,
  dynamicProduct,
  fee,
  given,
  loanOf,
  money,
  product,
  reasons,
  repay,
  rowsOf,
  when,
} from '../loan-fixtures.ts';

const required = { feeApplication: 'REQUIRED' } as const;
const mixOfFees = [
  fee({
    id: 'deducted',
    trigger: 'DISBURSEMENT',
    amountCalculationMethod: 'LOAN_AMOUNT_PERCENTAGE',
    percentageAmount: money(2),
    ...required,
  }),
  fee({ id: 'capitalised', trigger: 'CAPITALIZED_DISBURSEMENT', amount: money(500), ...required }),
  fee({
    id: 'percent',
    trigger: 'UPFRONT_DISBURSEMENT',
    amountCalculationMethod: 'LOAN_AMOUNT_PERCENTAGE',
    percentageAmount: money(1),
    ...required,
  }),
  fee({ id: 'flat', trigger: 'UPFRONT_DISBURSEMENT', amount: money(150), ...required }),
  fee({ id: 'each', trigger: 'PAYMENT_DUE', amount: money(50), ...required }),
];
const mix = product({ scheduleSettings: { numInstallments: { defaultValue: 12 } }, feesSettings: { fees: mixOfFees } });

describe('a disbursement', () => {
  it('charges each kind of fee in its own way', () => {
    const story = disbursed(mix, 100_000);
    const { position } = loanOf(story);
    const { transactions } = story;
    expect(position.disbursements[0]?.paidOut.toFixed(2)).to.equal('98000.00');
    const balances = balancesOf(loanOf(story), allTogglesOff);
    expect(
      [balances.principalBalance, balances.feesBalance, balances.feesPaid].map((amount) => amount?.toFixed(2)),
    ).to.deep.equal(['100500.00', '1750.00', '2000.00']);
    const feesByRow = position.installments.map((row) => row.fee.amount.expected.toFixed(2));
    expect(feesByRow).to.deep.equal(['1200.00', ...Array.from({ length: 11 }, () => '50.00')]);
    const income = sum(transactions[0]?.fees.map(({ amount }) => amount) ?? []);
    expect(income.toFixed(2)).to.equal('4250.00');
    // The deducted fee and the capitalised one are paid by the disbursement itself.
    expect(transactions[0]?.affected.fees.toFixed(2)).to.equal('2500.00');
    const emitted = story.events.flatMap((event) =>
      event.eventType === 'loan_fee_event' ? [`${event.feeEvent} ${event.trigger}`] : [],
    );
    expect(emitted.slice(0, 4)).to.deep.equal([
      'APPLIED DISBURSEMENT',
      'PAID DISBURSEMENT',
      'CAPITALISED CAPITALIZED_DISBURSEMENT',
      'APPLIED UPFRONT_DISBURSEMENT',
    ]);
  });

  it('charges an optional fee on request, and not otherwise', () => {
    const optional = product({ feesSettings: { fees: [fee({ id: 'extra', trigger: 'UPFRONT_DISBURSEMENT' })] } });
    expect(loanOf(disbursed(optional)).position.charges).to.deep.equal([]);
    const asked = given(
      create(optional),
      approve,
      disburse('2011-01-23', [{ predefinedFeeKey: 'extra', amount: money(20) }]),
    );
    expect(
      loanOf(asked).position.charges.map(({ feeName, amount }) => `${feeName} ${amount.expected.toFixed(2)}`),
    ).to.deep.equal(['Fee extra 20.00']);
  });

  it('prefers the first repayment date of the command to that of the account', () => {
    const opened = given(
      { ...create(product()), firstRepaymentDate: '2011-02-20' } as ReturnType<typeof create>,
      approve,
    );
    const dates = (story: typeof opened): string[] => loanOf(story).position.installments.map(({ dueDate }) => dueDate);
    expect(dates(when(opened, disburse('2011-01-23')))[0]).to.equal('2011-02-20');
    const own = { ...disburse('2011-01-23'), firstRepaymentDate: '2011-02-25' } as ReturnType<typeof disburse>;
    expect(dates(when(opened, own))).to.deep.equal(['2011-02-25', '2011-03-25', '2011-04-25', '2011-05-25']);
  });

  it('never expects negative principal in a long first period', () => {
    const long = product({
      interestSettings: {
        interestRate: { defaultValue: money(36) },
        interestChargeFrequency: 'ANNUALIZED',
        scheduleInterestDaysCountMethod: 'ACTUAL_DAYS_COUNT',
      },
      scheduleSettings: { numInstallments: { defaultValue: 24 } },
    });
    const opened = given(create(long, 10_000), approve);
    const story = when(opened, { ...disburse('2023-01-01'), firstRepaymentDate: '2023-03-03' } as ReturnType<
      typeof disburse
    >);
    expect(rowsOf(loanOf(story))[0]).to.equal('0.00/0.00 601.64/0.00');
    expect(story.transactions[0]?.terms.periodicPayment?.toFixed(2)).to.equal('590.47');
  });

  describe('where the institution is closed', () => {
    const calendar = (holidays: readonly string[]): WorkingCalendar => ({
      nonWorkingDays: ['SATURDAY', 'SUNDAY'],
      holidays: holidays.map((date, index) => ({ id: index + 1, name: 'Closed', date, isAnnuallyRecurring: false })),
    });
    const moving = (repaymentReschedulingMethod: string): ReturnType<typeof product> =>
      product({ scheduleSettings: { repaymentReschedulingMethod } });
    const datesOf = (story: Story): string[] => loanOf(story).position.installments.map(({ dueDate }) => dueDate);
    const ready = (method: string): Story => when(when(withCalendar(calendar([])), create(moving(method))), approve);

    // In 2011, 23 April is a Saturday; 23 February, 23 March and 23 May are working days.
    const cases = [
      ['NEXT_WORKING_DAY', ['2011-02-23', '2011-03-23', '2011-04-25', '2011-05-23']],
      ['PREVIOUS_WORKING_DAY', ['2011-02-23', '2011-03-23', '2011-04-22', '2011-05-23']],
      ['EXTEND_SCHEDULE', ['2011-02-23', '2011-03-23', '2011-05-23', '2011-06-23']],
    ] as const;
    for (const [method, dates] of cases) {
      it(`moves due dates by ${method}, as its preview does`, () => {
        expect(datesOf(when(ready(method), disburse('2011-01-23')))).to.deep.equal(dates);
        const opened = { ...create(moving(method)), expectedDisbursementDate: '2011-01-23' } as AskedCommand;
        const previewed = previewInstallments(loanOf(given(opened)), calendar([]));
        expect(previewed.map(({ dueDate }) => dueDate)).to.deep.equal(dates);
      });
    }

    it('keeps the interest of a month for rows that moved, where periods count by their names', () => {
      const rows = rowsOf(loanOf(when(ready('NEXT_WORKING_DAY'), disburse('2011-01-23'))));
      expect(rows).to.deep.equal(rowsOf(loanOf(disbursed())));
    });

    it('moves a first repayment date that was named', () => {
      const named = { ...disburse('2011-01-23'), firstRepaymentDate: '2011-02-26' } as AskedCommand;
      expect(datesOf(when(ready('NEXT_WORKING_DAY'), named))[0]).to.equal('2011-02-28');
    });

    it('uses the days known when it is decided, and later ones change no row', () => {
      const known = withCalendar(calendar(['2011-02-23']), ready('NEXT_WORKING_DAY'));
      const paidOut = when(known, disburse('2011-01-23'));
      expect(datesOf(paidOut)[0]).to.equal('2011-02-24');
      const changed = withCalendar(calendar(['2011-03-23']), paidOut);
      expect(datesOf(when(changed, repay('100', '2011-02-20')))).to.deep.equal(datesOf(paidOut));
    });

    it('is not asked by products that leave due dates where they are', () => {
      const anyDay = when(when(withCalendar(calendar([])), create(product())), approve);
      expect(datesOf(when(anyDay, disburse('2011-01-23')))[2]).to.equal('2011-04-23');
    });
  });

  const longFirst = (adjustInterestForFirstInstallment: boolean): string => {
    const yearly = product({
      adjustInterestForFirstInstallment,
      interestSettings: {
        interestRate: { defaultValue: money(12) },
        interestChargeFrequency: 'ANNUALIZED',
        daysInYear: 'E30_360',
        scheduleInterestDaysCountMethod: 'ACTUAL_DAYS_COUNT',
      },
      scheduleSettings: { numInstallments: { defaultValue: 12 } },
    });
    const command = { ...disburse('2023-01-01'), firstRepaymentDate: '2023-02-16' } as ReturnType<typeof disburse>;
    return rowsOf(loanOf(when(given(create(yearly), approve), command)))[0] ?? '';
  };

  it('charges the interest of a long first period with the first payment, if the product adjusts it', () => {
    // 1000 at 12 % on thirty-day months, twelve payments of 88.85, the first after 45 days.
    expect(longFirst(true)).to.equal('78.85/0.00 15.00/0.00');
    expect(longFirst(false)).to.equal('73.85/0.00 15.00/0.00');
  });

  it('puts the remainder of whole-unit interest into the last installment, in minor units', () => {
    // 777 flat over two months at 1.5 %: 11.655 a month, rounded 12 in the first; 23.31 in all.
    const whole = product({
      interestSettings: { interestCalculationMethod: 'FLAT', interestRate: { defaultValue: money('1.5') } },
      scheduleSettings: {
        numInstallments: { defaultValue: 2 },
        roundingSettings: {
          repaymentCurrencyRounding: 'ROUND_TO_NEAREST_WHOLE_UNIT',
          repaymentElementsRoundingMethod: 'ROUND_ALL',
          roundingRepaymentScheduleMethod: 'ROUND_PRINCIPAL_AND_INTEREST_REMAINDER_INTO_LAST_REPAYMENT',
        },
      },
    });
    expect(rowsOf(loanOf(disbursed(whole, 777)))).to.deep.equal(['389.00/0.00 12.00/0.00', '388.00/0.00 11.31/0.00']);
  });

  it('begins its schedule one day after it at the earliest, and on the last day of the year 2999 at the latest', () => {
    const first = (firstRepaymentDate: string): ReturnType<typeof given> =>
      given(create(product()), approve, { ...disburse('2011-01-23'), firstRepaymentDate } as AskedCommand);
    const dates = (story: ReturnType<typeof given>): string[] =>
      loanOf(story).position.installments.map(({ dueDate }) => dueDate);
    expect(dates(first('2011-01-24'))).to.deep.equal(['2011-01-24', '2011-02-24', '2011-03-24', '2011-04-24']);
    expect(dates(first('2999-12-31'))).to.deep.equal(['2999-12-31', '3000-01-31', '3000-02-28', '3000-03-31']);
    for (const outside of ['2011-01-23', '2011-01-22', '3000-01-01']) {
      expect(reasons(first(outside))).to.deep.equal(['INVALID_FIRST_REPAYMENT_DUE_DATE firstRepaymentDate']);
    }
  });

  for (const make of [product, dynamicProduct]) {
    const longest = (interestRate: string) =>
      make({
        interestSettings: { interestRate: { defaultValue: money(interestRate) } },
        scheduleSettings: { numInstallments: { defaultValue: 3_660 }, repaymentPeriodUnit: 'DAYS' },
      });
    for (const interestRate of ['0', '0.1']) {
      it(`of 3660 daily installments of a ${longest(interestRate).type} at ${interestRate} % repays the amount lent`, () => {
        const rows = loanOf(disbursed(longest(interestRate), 100_000)).position.installments;
        expect(rows).to.have.length(3_660);
        expect(rows.at(-1)).to.include({ number: 3_660, dueDate: '2021-01-30' });
        expect(sum(rows.map(({ principal }) => principal.expected)).toFixed(2)).to.equal('100000.00');
        expect(rows.every(({ principal }) => !principal.expected.isNegative())).to.equal(true);
        const expectedInterest = rows.map(({ interest }) => interest.amount.expected);
        expect(expectedInterest.some((interest) => !interest.isZero())).to.equal(interestRate !== '0');
      });
    }
  }

  const tooDear = product({
    feesSettings: { fees: [fee({ id: 'dear', trigger: 'DISBURSEMENT', amount: money('1000.01'), ...required })] },
  });
  const choices = product({
    feesSettings: {
      fees: [
        fee({ id: 'manual', amount: money(1) }),
        fee({ id: 'old', trigger: 'DISBURSEMENT', amount: money(1), state: 'INACTIVE' }),
        fee({ id: 'open', trigger: 'DISBURSEMENT' }),
        fee({ id: 'set', trigger: 'DISBURSEMENT', amount: money(1) }),
      ],
    },
  });
  const withFees = (...fees: Parameters<typeof disburse>[1] & object[]): ReturnType<typeof given> =>
    given(create(choices), approve, disburse('2011-01-23', fees));
  const table: readonly (readonly [what: string, story: () => ReturnType<typeof given>, reason: string])[] = [
    [
      'for an account that is not approved',
      () => given(create(product()), disburse('2011-01-23')),
      'INVALID_ACCOUNT_STATE',
    ],
    ['a second time', () => when(disbursed(), disburse('2011-01-24')), 'ACCOUNT_ALREADY_DISBURSED'],
    [
      'on a day on which no schedule can start',
      () => given(create(product()), approve, disburse('9999-12-31')),
      'INVALID_DISBURSEMENT_DATE valueDate',
    ],
    [
      'with a first repayment on the same day',
      () =>
        given(create(product()), approve, { ...disburse('2011-01-23'), firstRepaymentDate: '2011-01-23' } as ReturnType<
          typeof disburse
        >),
      'INVALID_FIRST_REPAYMENT_DUE_DATE firstRepaymentDate',
    ],
    [
      'with fees above the amount lent',
      () => given(create(tooDear), approve, disburse('2011-01-23')),
      'DISBURSEMENT_FEES_EXCEED_LOAN_AMOUNT fees',
    ],
    ['with an unknown fee', () => withFees({ predefinedFeeKey: 'none' }), 'INVALID_FEE_KEY fees[0].predefinedFeeKey'],
    ['with an inactive fee', () => withFees({ predefinedFeeKey: 'old' }), 'FEE_NOT_ACTIVE fees[0].predefinedFeeKey'],
    ['with a manual fee', () => withFees({ predefinedFeeKey: 'manual' }), 'FEE_NOT_ALLOWED fees[0].predefinedFeeKey'],
    [
      'with a repeated fee',
      () => withFees({ predefinedFeeKey: 'set' }, { predefinedFeeKey: 'set-key' }),
      'DUPLICATE_DISBURSEMENT_FEE fees[1].predefinedFeeKey',
    ],
    [
      'with a fee without an amount',
      () => withFees({ predefinedFeeKey: 'open' }),
      'MANDATORY_FEE_AMOUNT fees[0].amount',
    ],
    [
      'with an amount that differs from the product',
      () => withFees({ predefinedFeeKey: 'set', amount: money(2) }),
      'FEE_AMOUNT_ALREADY_DEFINED_IN_PRODUCT fees[0].amount',
    ],
  ];
  for (const [what, story, reason] of table) {
    it(`is refused ${what}`, () => {
      expect(reasons(story())).to.deep.equal([reason]);
    });
  }

  it('takes the amount of the loan and no other, and only the currency of the account', () => {
    const approved = given(create(product()), approve);
    const ask = (more: object): string[] => reasons(when(approved, { ...disburse('2011-01-23'), ...more }));
    expect(ask({ amount: money('1000.00') })).to.deep.equal([]);
    for (const amount of ['999.99', '1000.01'])
      expect(ask({ amount: money(amount) })).to.deep.equal(['INVALID_AMOUNT amount']);
    expect(ask({ additionalFields: { originalCurrencyCode: 'EUR' } })).to.deep.equal([]);
    expect(ask({ additionalFields: { originalCurrencyCode: 'USD' } })).to.deep.equal([
      'INVALID_PARAMETERS originalCurrencyCode',
    ]);
  });

  it('charges a fee with the percentage of the command where the product leaves it open', () => {
    const open = fee({
      id: 'open',
      trigger: 'UPFRONT_DISBURSEMENT',
      amountCalculationMethod: 'LOAN_AMOUNT_PERCENTAGE',
    });
    const approved = given(create(product({ feesSettings: { fees: [open] } })), approve);
    const charged = when(approved, disburse('2011-01-23', [{ predefinedFeeKey: 'open', percentage: money('2.5') }]));
    expect(charged.transactions[0]?.fees[0]?.amount.toFixed(2)).to.equal('25.00');
  });
});
