import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { regularPeriodRate } from '../../../src/lending/schedule/interest.ts';
import { Decimal, sum } from '../../../src/lending/money.ts';
import { buildSchedule } from '../../../src/lending/schedule/build-schedule.ts';
import { periodicPayment } from '../../../src/lending/schedule/level-payment.ts';
import type { ScheduleRow } from '../../../src/lending/terms.ts';
import { anyPrincipal, anyStart, anyTerms, expectSound } from './any-schedule.ts';
import { amountsOf, fixedDays, scheduleTerms, totalsOf } from './schedule-terms.ts';
import type { TermOptions } from './schedule-terms.ts';
import { propertyRuns } from '../../support/values/property-runs.ts';

function build(options: TermOptions, principal: string, disbursementDate = '2023-01-15'): ScheduleRow[] {
  return buildSchedule({ terms: scheduleTerms(options), principal: new Decimal(principal), disbursementDate });
}

const declining = { interestRate: '12', interestCalculationMethod: 'DECLINING_BALANCE' } as const;
const onePercent = { interestRate: '12' } as const;

describe('a schedule', () => {
  it('numbers its rows, and each begins where the previous one ended', () => {
    const rows = build({ repaymentInstallments: 3 }, '300');
    expect(rows.map(({ number, accruesAfter, dueDate }) => `${number} ${accruesAfter} ${dueDate}`)).to.deep.equal([
      '1 2023-01-15 2023-02-15',
      '2 2023-02-15 2023-03-15',
      '3 2023-03-15 2023-04-15',
    ]);
  });

  it('repays principal on every third row and the last', () => {
    const rows = build({ repaymentInstallments: 7, principalRepaymentInterval: 3, interest: declining }, '900');
    expect(amountsOf(rows)).to.deep.equal([
      '0.00 9.00',
      '0.00 9.00',
      '300.00 9.00',
      '0.00 6.00',
      '0.00 6.00',
      '300.00 6.00',
      '300.00 3.00',
    ]);
  });

  it('computes equal installments for the rows after the grace period', () => {
    const options = { gracePeriodType: 'PAY_INTEREST_ONLY', gracePeriod: 2, interest: onePercent } as const;
    expect(amountsOf(build({ ...options, repaymentInstallments: 6 }, '1000'))).to.deep.equal([
      '0.00 10.00',
      '0.00 10.00',
      ...amountsOf(build({ repaymentInstallments: 4, interest: onePercent }, '1000')),
    ]);
  });

  it('without interest divides the principal', () => {
    expect(amountsOf(build({ repaymentInstallments: 3 }, '100'))).to.deep.equal([
      '33.33 0.00',
      '33.33 0.00',
      '33.34 0.00',
    ]);
  });

  it('of one installment repays everything', () => {
    expect(amountsOf(build({ repaymentInstallments: 1, interest: onePercent }, '100'))).to.deep.equal(['100.00 1.00']);
  });

  const edges: readonly (readonly [what: string, words: TermOptions, principal: string, rows: readonly string[]])[] = [
    ['a cent', {}, '0.01', ['0.00 0.00', '0.00 0.00', '0.00 0.00', '0.01 0.00']],
    ['a cent at one percent', { interest: onePercent }, '0.01', ['0.00 0.00', '0.00 0.00', '0.00 0.00', '0.01 0.00']],
    [
      'grace of all rows but the last',
      { interest: onePercent, gracePeriodType: 'PAY_INTEREST_ONLY', gracePeriod: 3 },
      '100',
      ['0.00 1.00', '0.00 1.00', '0.00 1.00', '100.00 1.00'],
    ],
    [
      'grace of all rows but the last, without interest',
      { gracePeriodType: 'PAY_INTEREST_ONLY', gracePeriod: 3 },
      '100',
      ['0.00 0.00', '0.00 0.00', '0.00 0.00', '100.00 0.00'],
    ],
    [
      'principal on the last row alone',
      { interest: declining, principalRepaymentInterval: 4 },
      '100',
      ['0.00 1.00', '0.00 1.00', '0.00 1.00', '100.00 1.00'],
    ],
    [
      'a remainder of interest that rounding up has used up before',
      {
        interest: { interestRate: '1.2', interestCalculationMethod: 'FLAT' },
        rounding: {
          repaymentCurrencyRounding: 'ROUND_UP_TO_NEAREST_WHOLE_UNIT',
          repaymentElementsRoundingMethod: 'ROUND_ALL',
          roundingRepaymentScheduleMethod: 'ROUND_PRINCIPAL_AND_INTEREST_REMAINDER_INTO_LAST_REPAYMENT',
        },
      },
      '100',
      ['25.00 1.00', '25.00 1.00', '25.00 1.00', '25.00 0.00'],
    ],
  ];
  for (const [what, options, principal, rows] of edges) {
    it(`of ${principal}: ${what}`, () => {
      expect(amountsOf(build(options, principal))).to.deep.equal(rows);
    });
  }

  for (const interestCalculationMethod of ['FLAT', 'DECLINING_BALANCE', 'DECLINING_BALANCE_DISCOUNTED'] as const) {
    for (const amortizationMethod of ['STANDARD_PAYMENTS', 'OPTIMIZED_PAYMENTS'] as const) {
      for (const interestType of ['SIMPLE_INTEREST', 'COMPOUNDING_INTEREST'] as const) {
        it(`at a rate of zero is the principal alone: ${interestCalculationMethod}, ${amortizationMethod}, ${interestType}`, () => {
          const interest = { interestRate: '0', interestCalculationMethod, interestType };
          expect(amountsOf(build({ repaymentInstallments: 3, amortizationMethod, interest }, '100'))).to.deep.equal([
            '33.33 0.00',
            '33.33 0.00',
            '33.34 0.00',
          ]);
        });
      }
    }
  }

  it('puts the drift of actual days into the last row of standard payments, and has none with optimized ones', () => {
    const interest = { ...onePercent, daysInYear: 'ACTUAL_365_FIXED' } as const;
    const standard = totalsOf(build({ repaymentInstallments: 6, interest }, '1000'));
    expect(standard).to.deep.equal(['172.55', '172.55', '172.55', '172.55', '172.55', '172.15']);
    const optimized = totalsOf(
      build({ repaymentInstallments: 6, interest, amortizationMethod: 'OPTIMIZED_PAYMENTS' }, '1000'),
    );
    expect(optimized).to.deep.equal(['172.49', '172.49', '172.49', '172.49', '172.49', '172.45']);
  });

  describe('in the currency of', () => {
    const currencies: readonly [string, number, string, readonly string[]][] = [
      ['JPY', 0, '100000', ['33002 1000', '33332 670', '33666 337']],
      ['JOD', 3, '100', ['33.002 1.000', '33.332 0.670', '33.666 0.337']],
      ['BTC', 8, '1', ['0.33002211 0.01000000', '0.33332233 0.00669978', '0.33665556 0.00336656']],
    ];
    for (const [code, digits, principal, rows] of currencies) {
      it(`${code} has ${digits} digits`, () => {
        const options = { currency: { code, digits }, repaymentInstallments: 3, interest: onePercent };
        expect(amountsOf(build(options, principal), digits)).to.deep.equal(rows);
      });
    }
  });

  describe('whose first period is 45 days of 30', () => {
    const options = { repaymentInstallments: 12, interest: onePercent };
    const first = (adjustTotalDueForFirstRepayment: boolean): ScheduleRow[] =>
      buildSchedule({
        terms: scheduleTerms({ ...options, adjustTotalDueForFirstRepayment }),
        principal: new Decimal(1000),
        disbursementDate: '2023-01-01',
        firstRepaymentDate: '2023-02-16',
      });

    it('keeps the first total and repays less principal', () => {
      const rows = first(false);
      expect([amountsOf(rows)[0], totalsOf(rows)[0], totalsOf(rows)[11]]).to.deep.equal([
        '73.85 15.00',
        '88.85',
        '94.42',
      ]);
    });

    it('or adds the days to the first total and repays the principal of a regular row', () => {
      const rows = first(true);
      expect([amountsOf(rows)[0], totalsOf(rows)[0], totalsOf(rows)[11]]).to.deep.equal([
        '78.85 15.00',
        '93.85',
        '88.84',
      ]);
    });

    it('or, with optimized payments, charges those days once, so that the last row is like the others', () => {
      const even = scheduleTerms({
        ...options,
        amortizationMethod: 'OPTIMIZED_PAYMENTS',
        adjustTotalDueForFirstRepayment: true,
      });
      const rows = buildSchedule({
        terms: even,
        principal: new Decimal(1000),
        disbursementDate: '2023-01-01',
        firstRepaymentDate: '2023-02-16',
      });
      expect([totalsOf(rows)[0], totalsOf(rows)[1], totalsOf(rows)[11]]).to.deep.equal(['93.85', '88.85', '88.84']);
    });
  });

  describe('with rounding', () => {
    const whole = { repaymentCurrencyRounding: 'ROUND_TO_NEAREST_WHOLE_UNIT' } as const;
    const cases: readonly [string, TermOptions, readonly string[]][] = [
      [
        'to whole payments',
        { interest: onePercent, rounding: whole },
        ['246.00 10.00', '248.46 7.54', '250.94 5.06', '254.60 2.55'],
      ],
      [
        'in every element',
        { interest: onePercent, rounding: { ...whole, repaymentElementsRoundingMethod: 'ROUND_ALL' } },
        ['246.00 10.00', '248.00 8.00', '251.00 5.00', '255.00 3.00'],
      ],
      [
        'up',
        { interest: onePercent, rounding: { repaymentCurrencyRounding: 'ROUND_UP_TO_NEAREST_WHOLE_UNIT' } },
        ['247.00 10.00', '249.47 7.53', '251.96 5.04', '251.57 2.52'],
      ],
      [
        'in the total of equal principal',
        {
          interest: { ...declining, interestRate: '10' },
          rounding: { ...whole, repaymentElementsRoundingMethod: 'PAYMENT_DUE' },
        },
        ['249.67 8.33', '249.75 6.25', '249.83 4.17', '250.75 2.09'],
      ],
    ];
    for (const [name, options, rows] of cases) {
      it(name, () => {
        expect(amountsOf(build(options, '1000'))).to.deep.equal(rows);
      });
    }
  });

  it('by listed days charges the actual days', () => {
    const options = {
      dueDates: fixedDays([1, 15]),
      interest: { interestRate: '36', interestCalculationMethod: 'FLAT' },
    } as const;
    expect(amountsOf(build(options, '1000', '2026-01-12'))).to.deep.equal([
      '250.00 3.00',
      '250.00 16.00',
      '250.00 14.00',
      '250.00 16.00',
    ]);
  });
});

describe('every schedule', () => {
  it('repays the amount lent, in non-negative amounts of the currency, in consecutive rows', () => {
    fc.assert(
      fc.property(anyTerms, anyPrincipal, anyStart, (terms, units, disbursementDate) => {
        const principal = new Decimal(units).dividedBy(10 ** terms.currency.digits);
        const rows = buildSchedule({ terms, principal, disbursementDate });
        expectSound(rows, principal, terms.currency.digits);
        expect(rows.map((row) => row.number)).to.deep.equal(rows.map((_, index) => index + 1));
        rows.reduce((reached, row) => {
          expect(row.accruesAfter).to.equal(reached);
          expect(row.dueDate > reached).to.equal(true);
          return row.dueDate;
        }, disbursementDate);
      }),
      propertyRuns(100),
    );
  });

  it('of equal installments pays the same in every row except the last, which differs only by rounding', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 3000 }),
        fc.integer({ min: 2, max: 120 }),
        fc.integer({ min: 100_000, max: 100_000_000 }),
        anyStart,
        fc.boolean(),
        (rate, repaymentInstallments, cents, disbursementDate, optimized) => {
          const terms = scheduleTerms({
            repaymentInstallments,
            amortizationMethod: optimized ? 'OPTIMIZED_PAYMENTS' : 'STANDARD_PAYMENTS',
            interest: {
              interestRate: String(rate / 100),
              daysInYear: 'ACTUAL_365_FIXED',
              scheduleInterestDaysCountMethod: optimized ? 'ACTUAL_DAYS_COUNT' : 'REPAYMENT_PERIODICITY',
            },
          });
          const request = { terms, principal: new Decimal(cents).dividedBy(100), disbursementDate };
          const totals = buildSchedule(request).map((row) => row.principal.plus(row.interest));
          const payment = periodicPayment(request);
          fc.pre(payment.times(12 * repaymentInstallments).greaterThan(1));
          expect(new Set(totals.slice(0, -1).map(String)).size).to.equal(1);
          expect(totals[0]?.equals(payment)).to.equal(true);
          // Half a minor unit of the payment and half of one of each interest, grown with interest to the last row.
          const growth = regularPeriodRate(terms, disbursementDate).times('1.05').plus(1);
          const bound = sum(totals.map((_, row) => growth.pow(row).times('0.01')));
          expect(totals.at(-1)?.minus(payment).abs().lessThanOrEqualTo(bound)).to.equal(true);
        },
      ),
      propertyRuns(60),
    );
  });

  it('under REPAYMENT_PERIODICITY is the same for any start date', () => {
    fc.assert(
      fc.property(anyTerms, anyPrincipal, anyStart, anyStart, (terms, units, start, otherStart) => {
        fc.pre(terms.dueDates.scheduleDueDatesMethod === 'INTERVAL');
        const interest = { ...terms.interest, scheduleInterestDaysCountMethod: 'REPAYMENT_PERIODICITY' } as const;
        const [one, other] = [start, otherStart].map((disbursementDate) =>
          amountsOf(
            buildSchedule({ terms: { ...terms, interest }, principal: new Decimal(units), disbursementDate }),
            8,
          ),
        );
        expect(one).to.deep.equal(other);
      }),
      propertyRuns(60),
    );
  });
});
