import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { addDays, daysBetween } from '../../../src/lending/dates.ts';
import { periodInterest, regularPeriodRate } from '../../../src/lending/schedule/interest.ts';
import { Decimal, sum } from '../../../src/lending/money.ts';
import { dueDates } from '../../../src/lending/schedule/due-dates.ts';
import type { DueDateTerms, InterestChargeFrequency, InterestTerms, LocalDate } from '../../../src/lending/terms.ts';
import { everyDaysInYear, fixedDays, interestTerms, intervals, monthly } from './schedule-terms.ts';
import { propertyRuns } from '../../support/values/property-runs.ts';

interface Stretch {
  readonly accruesAfter: LocalDate;
  readonly dueDate: LocalDate;
}

function interestOf(
  options: Parameters<typeof interestTerms>[0],
  period: Stretch,
  dueDateTerms: DueDateTerms = monthly,
  principal = '1000',
): string {
  const terms = { interest: interestTerms(options), dueDates: dueDateTerms };
  return periodInterest(new Decimal(principal), terms, period).toDecimalPlaces(6).toString();
}

const february: Stretch = { accruesAfter: '2023-02-01', dueDate: '2023-03-01' };
const january: Stretch = { accruesAfter: '2023-01-01', dueDate: '2023-02-01' };

const anyTerms = fc
  .record({
    interestRate: fc.integer({ min: 0, max: 4000 }).map((hundredths) => String(hundredths / 100)),
    interestChargeFrequency: fc.constantFrom<InterestChargeFrequency>(
      'ANNUALIZED',
      'EVERY_MONTH',
      'EVERY_FOUR_WEEKS',
      'EVERY_WEEK',
      'EVERY_DAY',
      'EVERY_X_DAYS',
    ),
    interestChargeFrequencyCount: fc.integer({ min: 1, max: 30 }),
    interestType: fc.constantFrom('SIMPLE_INTEREST' as const, 'COMPOUNDING_INTEREST' as const),
    daysInYear: fc.constantFrom(...everyDaysInYear),
    scheduleInterestDaysCountMethod: fc.constantFrom('REPAYMENT_PERIODICITY' as const, 'ACTUAL_DAYS_COUNT' as const),
  })
  .map((options): InterestTerms => interestTerms(options));

const anyDueDates = fc.constantFrom(
  monthly,
  intervals('MONTHS', 3),
  intervals('WEEKS', 2),
  intervals('DAYS', 10),
  intervals('YEARS'),
  fixedDays([31]),
  fixedDays([1, 15]),
);

describe('the interest of a period', () => {
  it('applies the rate in its quoted unit', () => {
    const weeks: Stretch = { accruesAfter: '2023-01-01', dueDate: '2023-01-29' };
    const actual = { scheduleInterestDaysCountMethod: 'ACTUAL_DAYS_COUNT' } as const;
    const cases: readonly [string, Parameters<typeof interestTerms>[0], Stretch, string][] = [
      ['a year', { interestRate: '12' }, january, '10'],
      ['a month', { interestRate: '1', interestChargeFrequency: 'EVERY_MONTH' }, january, '10'],
      [
        'four weeks',
        { interestRate: '1', interestChargeFrequency: 'EVERY_FOUR_WEEKS', daysInYear: 'ACTUAL_364' },
        weeks,
        '10',
      ],
      ['a week', { interestRate: '1', interestChargeFrequency: 'EVERY_WEEK', daysInYear: 'ACTUAL_364' }, weeks, '40'],
      ['a day', { interestRate: '0.1', interestChargeFrequency: 'EVERY_DAY', daysInYear: 'ACTUAL_360' }, weeks, '28'],
      [
        'a day of a leap year',
        { interestRate: '0.1', interestChargeFrequency: 'EVERY_DAY', daysInYear: 'ACTUAL_ACTUAL_ISDA' },
        { accruesAfter: '2024-02-01', dueDate: '2024-03-01' },
        '29',
      ],
      [
        'ten days',
        {
          interestRate: '1',
          interestChargeFrequency: 'EVERY_X_DAYS',
          interestChargeFrequencyCount: 10,
          daysInYear: 'ACTUAL_365_FIXED',
        },
        weeks,
        '28',
      ],
    ];
    for (const [unit, options, period, interest] of cases) {
      expect(interestOf({ ...actual, ...options }, period), `a rate per ${unit}`).to.equal(interest);
    }
  });

  it('follows the calendar under ACTUAL_DAYS_COUNT', () => {
    const options = { interestRate: '36.5', daysInYear: 'ACTUAL_365_FIXED' } as const;
    expect([interestOf(options, january), interestOf(options, february)]).to.deep.equal(['31', '28']);
  });

  it('ignores the length of a month under REPAYMENT_PERIODICITY', () => {
    const options = { interestRate: '12', scheduleInterestDaysCountMethod: 'REPAYMENT_PERIODICITY' } as const;
    for (const daysInYear of ['ACTUAL_365_FIXED', 'ACTUAL_360', 'ACTUAL_ACTUAL_ISDA', 'E30_360'] as const) {
      expect([january, february].map((month) => interestOf({ ...options, daysInYear }, month))).to.deep.equal([
        '10',
        '10',
      ]);
    }
    const week: Stretch = { accruesAfter: '2023-01-01', dueDate: '2023-01-08' };
    expect(interestOf({ ...options, interestRate: '52' }, week, intervals('WEEKS'))).to.equal('10');
  });

  it('charges the extra days of a long first period under REPAYMENT_PERIODICITY in addition to its whole month', () => {
    const options = { interestRate: '36', scheduleInterestDaysCountMethod: 'REPAYMENT_PERIODICITY' } as const;
    expect(interestOf(options, { accruesAfter: '2023-01-12', dueDate: '2023-02-22' })).to.equal('40');
  });

  it('compounds daily: 10 % effective a year is 0.797414 % in thirty days of 360', () => {
    const options = { interestRate: '10', interestType: 'COMPOUNDING_INTEREST' } as const;
    expect(interestOf(options, january)).to.equal('7.97414');
    const monthlyRate = {
      interestRate: '1',
      interestChargeFrequency: 'EVERY_MONTH',
      interestType: 'COMPOUNDING_INTEREST',
    } as const;
    expect(interestOf(monthlyRate, january), 'a month of a monthly rate is that rate').to.equal('10');
    expect(interestOf(monthlyRate, { accruesAfter: '2023-01-01', dueDate: '2023-03-01' })).to.equal('20.1');
  });

  it('is exact where the amount is: a tie between two cents is recognised', () => {
    expect(interestOf({ interestRate: '1.2' }, january, monthly, '5')).to.equal('0.005');
  });

  it('keeps at least twenty decimals', () => {
    const terms = {
      interest: interestTerms({ interestRate: '10', daysInYear: 'ACTUAL_365_FIXED' }),
      dueDates: monthly,
    };
    expect(periodInterest(new Decimal(1000), terms, january).toFixed(20)).to.equal('8.49315068493150684932');
  });

  it('of its days sums to the whole, and so do two parts wherever the period is split', () => {
    fc.assert(
      fc.property(
        anyTerms,
        anyDueDates,
        fc.integer({ min: 0, max: 1200 }),
        fc.integer({ min: 0, max: 4 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (interest, dueDateTerms, start, row, cut) => {
          const disbursed = addDays('2019-06-15', start);
          const dates = [disbursed, ...dueDates(dueDateTerms, 5, disbursed)];
          const period = { accruesAfter: dates[row] ?? disbursed, dueDate: dates[row + 1] ?? disbursed };
          const terms = { interest, dueDates: dueDateTerms };
          const principal = new Decimal('12345.67');
          const whole = periodInterest(principal, terms, period);
          const days = daysBetween(period.accruesAfter, period.dueDate);
          const middle = addDays(period.accruesAfter, Math.round(days * cut));
          const halves = periodInterest(principal, terms, period, period.accruesAfter, middle).plus(
            periodInterest(principal, terms, period, middle, period.dueDate),
          );
          expect(halves.minus(whole).abs().lessThan(whole.plus(1).times('1e-30'))).to.equal(true);
          if (days > 40 || interest.interestType === 'COMPOUNDING_INTEREST') return;
          const daily = sum(
            Array.from({ length: days }, (_, day) =>
              periodInterest(
                principal,
                terms,
                period,
                addDays(period.accruesAfter, day),
                addDays(period.accruesAfter, day + 1),
              ).toDecimalPlaces(20),
            ),
          );
          expect(daily.minus(whole).abs().lessThan('0.005')).to.equal(true);
        },
      ),
      propertyRuns(300),
    );
  });
});

describe('the rate of a regular period', () => {
  it('is the period rate of a schedule with equal periods', () => {
    fc.assert(
      fc.property(anyTerms, fc.integer({ min: 1, max: 6 }), (interest, months) => {
        fc.pre(
          interest.scheduleInterestDaysCountMethod === 'REPAYMENT_PERIODICITY' || interest.daysInYear.startsWith('E30'),
        );
        const terms = { interest, dueDates: intervals('MONTHS', months) };
        const [first = ''] = dueDates(terms.dueDates, 1, '2023-01-15');
        const charged = periodInterest(new Decimal(1), terms, { accruesAfter: '2023-01-15', dueDate: first });
        expect(regularPeriodRate(terms, '2023-01-15').minus(charged).abs().lessThan('1e-30')).to.equal(true);
      }),
    );
  });

  const rates: readonly [string, DueDateTerms, Partial<InterestTerms>, string][] = [
    ['a month of an actual count is a twelfth', monthly, { daysInYear: 'ACTUAL_360' }, '0.01'],
    ['a week of ACT/364 is a 52nd', intervals('WEEKS'), { daysInYear: 'ACTUAL_364' }, '0.002307692308'],
    ['a week of ACT/360 is seven of its days', intervals('WEEKS'), { daysInYear: 'ACTUAL_360' }, '0.002333333333'],
    ['a year is a year', intervals('YEARS'), {}, '0.12'],
    ['two days a month make half months', fixedDays([1, 15]), {}, '0.005'],
    ['ten days of ACT/365', intervals('DAYS', 10), { daysInYear: 'ACTUAL_365_FIXED' }, '0.003287671233'],
  ];
  for (const [name, dueDateTerms, options, rate] of rates) {
    it(`at 12 % a year: ${name}`, () => {
      const terms = { interest: { ...interestTerms({ interestRate: '12' }), ...options }, dueDates: dueDateTerms };
      expect(regularPeriodRate(terms, '2023-01-15').toDecimalPlaces(12).toString()).to.equal(rate);
    });
  }
});
