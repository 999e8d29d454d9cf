import type { Currency } from '../../../src/lending/money.ts';
import { Decimal } from '../../../src/lending/money.ts';
import type { OpenRow } from '../../../src/lending/schedule/open-rows.ts';
import type {
  DaysInYear,
  DueDateTerms,
  InterestTerms,
  RepaymentPeriodUnit,
  RoundingTerms,
  ScheduleRow,
  ScheduleTerms,
  ShortMonthHandlingMethod,
} from '../../../src/lending/terms.ts';

export const euro: Currency = { code: 'EUR', digits: 2 };

/** The terms that a test sets; the rest is a plain monthly loan without interest in euros. */
export interface TermOptions extends Partial<Omit<ScheduleTerms, 'interest' | 'rounding'>> {
  readonly interest?: Partial<Omit<InterestTerms, 'rateSegments'>> & { readonly interestRate?: string };
  readonly rounding?: Partial<RoundingTerms>;
}

export function intervals(
  repaymentPeriodUnit: RepaymentPeriodUnit,
  repaymentPeriodCount = 1,
  firstRepaymentDueDateOffset = 0,
): DueDateTerms {
  return { scheduleDueDatesMethod: 'INTERVAL', repaymentPeriodUnit, repaymentPeriodCount, firstRepaymentDueDateOffset };
}

export const monthly = intervals('MONTHS');

export function fixedDays(
  fixedDaysOfMonth: readonly number[],
  shortMonthHandlingMethod: ShortMonthHandlingMethod = 'LAST_DAY_IN_MONTH',
  firstRepaymentDueDateOffset = 0,
): DueDateTerms {
  return {
    scheduleDueDatesMethod: 'FIXED_DAYS_OF_MONTH',
    fixedDaysOfMonth,
    shortMonthHandlingMethod,
    firstRepaymentDueDateOffset,
  };
}

export function interestTerms({ interestRate = '0', ...words }: NonNullable<TermOptions['interest']>): InterestTerms {
  return {
    interestChargeFrequency: 'ANNUALIZED',
    interestChargeFrequencyCount: 1,
    interestType: 'SIMPLE_INTEREST',
    interestCalculationMethod: 'DECLINING_BALANCE_DISCOUNTED',
    daysInYear: 'E30_360',
    scheduleInterestDaysCountMethod: 'ACTUAL_DAYS_COUNT',
    ...words,
    rateSegments: [{ from: null, interestRate: new Decimal(interestRate) }],
  };
}

export function scheduleTerms({ interest = {}, rounding = {}, ...words }: TermOptions = {}): ScheduleTerms {
  return {
    currency: euro,
    dueDates: monthly,
    repaymentInstallments: 4,
    principalRepaymentInterval: 1,
    amortizationMethod: 'STANDARD_PAYMENTS',
    adjustTotalDueForFirstRepayment: false,
    gracePeriodType: 'NONE',
    gracePeriod: 0,
    ...words,
    interest: interestTerms(interest),
    rounding: {
      roundingMode: 'HALF_UP',
      repaymentCurrencyRounding: 'NO_ROUNDING',
      repaymentElementsRoundingMethod: 'NO_ROUNDING',
      roundingRepaymentScheduleMethod: 'ROUND_REMAINDER_INTO_LAST_REPAYMENT',
      ...rounding,
    },
  };
}

export const everyDaysInYear: readonly DaysInYear[] = [
  'ACTUAL_365_FIXED',
  'ACTUAL_364',
  'ACTUAL_360',
  'ACTUAL_ACTUAL_ISDA',
  'E30_360',
  'E30_42_365',
];

/** Rows of whole months of 2023. Row `from` is the first and begins with the month of its number. */
export function monthlyRows(count: number, from = 1): OpenRow[] {
  const first = (month: number): string => `2023-${String(month).padStart(2, '0')}-01`;
  return Array.from({ length: count }, (_, index) => ({
    number: from + index,
    accruesAfter: first(from + index),
    dueDate: first(from + index + 1),
  }));
}

/** Rows as `principal interest` in the currency's digits, to read and to compare. */
export function amountsOf(rows: readonly ScheduleRow[], digits = 2): string[] {
  return rows.map((row) => `${row.principal.toFixed(digits)} ${row.interest.toFixed(digits)}`);
}

export function totalsOf(rows: readonly ScheduleRow[], digits = 2): string[] {
  return rows.map((row) => row.principal.plus(row.interest).toFixed(digits));
}
