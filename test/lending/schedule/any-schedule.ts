import { expect } from 'chai';
import * as fc from 'fast-check';
import { addDays } from '../../../src/lending/dates.ts';
import { sum } from '../../../src/lending/money.ts';
import type { Decimal } from '../../../src/lending/money.ts';
import type {
  InterestCalculationMethod,
  InterestChargeFrequency,
  ScheduleRow,
  ScheduleTerms,
} from '../../../src/lending/terms.ts';
import { everyDaysInYear, fixedDays, intervals, monthly, scheduleTerms } from './schedule-terms.ts';

/** Terms of every kind: all digits, roundings, periods and methods. */
export const anyTerms = fc
  .record({
    digits: fc.constantFrom(0, 2, 3, 8),
    repaymentInstallments: fc.integer({ min: 1, max: 40 }),
    principalRepaymentInterval: fc.integer({ min: 1, max: 5 }),
    amortizationMethod: fc.constantFrom('STANDARD_PAYMENTS' as const, 'OPTIMIZED_PAYMENTS' as const),
    gracePeriodType: fc.constantFrom('NONE' as const, 'PAY_INTEREST_ONLY' as const),
    grace: fc.double({ min: 0, max: 0.99, noNaN: true }),
    dueDates: fc.constantFrom(
      monthly,
      intervals('WEEKS', 2),
      intervals('DAYS', 5),
      intervals('YEARS'),
      fixedDays([31]),
      fixedDays([5, 20]),
    ),
    interestRate: fc.integer({ min: 0, max: 5000 }).map((hundredths) => String(hundredths / 100)),
    interestChargeFrequency: fc.constantFrom<InterestChargeFrequency>(
      'ANNUALIZED',
      'EVERY_MONTH',
      'EVERY_WEEK',
      'EVERY_X_DAYS',
    ),
    interestType: fc.constantFrom('SIMPLE_INTEREST' as const, 'COMPOUNDING_INTEREST' as const),
    interestCalculationMethod: fc.constantFrom<InterestCalculationMethod>(
      'FLAT',
      'DECLINING_BALANCE',
      'DECLINING_BALANCE_DISCOUNTED',
    ),
    daysInYear: fc.constantFrom(...everyDaysInYear),
    scheduleInterestDaysCountMethod: fc.constantFrom('REPAYMENT_PERIODICITY' as const, 'ACTUAL_DAYS_COUNT' as const),
    adjustTotalDueForFirstRepayment: fc.boolean(),
    rounding: fc.record({
      roundingMode: fc.constantFrom('HALF_UP' as const, 'HALF_EVEN' as const),
      repaymentCurrencyRounding: fc.constantFrom(
        'NO_ROUNDING' as const,
        'ROUND_TO_NEAREST_WHOLE_UNIT' as const,
        'ROUND_UP_TO_NEAREST_WHOLE_UNIT' as const,
      ),
      repaymentElementsRoundingMethod: fc.constantFrom(
        'NO_ROUNDING' as const,
        'ROUND_ALL' as const,
        'PAYMENT_DUE' as const,
      ),
      roundingRepaymentScheduleMethod: fc.constantFrom(
        'NO_ROUNDING' as const,
        'ROUND_REMAINDER_INTO_LAST_REPAYMENT' as const,
        'ROUND_PRINCIPAL_AND_INTEREST_REMAINDER_INTO_LAST_REPAYMENT' as const,
      ),
    }),
  })
  .map(
    ({
      digits,
      grace,
      interestRate,
      interestChargeFrequency,
      interestType,
      interestCalculationMethod,
      daysInYear,
      scheduleInterestDaysCountMethod,
      ...words
    }): ScheduleTerms =>
      scheduleTerms({
        ...words,
        currency: { code: 'TST', digits },
        gracePeriod: Math.floor(words.repaymentInstallments * grace),
        interest: {
          interestRate,
          interestChargeFrequency,
          interestType,
          interestCalculationMethod,
          daysInYear,
          scheduleInterestDaysCountMethod,
        },
      }),
  );
/** In minor units. */
export const anyPrincipal = fc.integer({ min: 1, max: 100_000_000 });
export const anyStart = fc.integer({ min: 0, max: 2000 }).map((days) => addDays('2019-01-01', days));

/** The properties of the rows of every schedule that repays a principal. */
export function expectSound(rows: readonly ScheduleRow[], principal: Decimal, digits: number): void {
  expect(sum(rows.map((row) => row.principal)).equals(principal), 'principal sums to what is owed').to.equal(true);
  for (const row of rows) {
    for (const amount of [row.principal, row.interest]) {
      expect(amount.greaterThanOrEqualTo(0), `${amount.toString()} is not below zero`).to.equal(true);
      expect(amount.decimalPlaces()).to.be.at.most(digits);
    }
  }
}
