import type { Currency, Decimal, RoundingMode } from './money.ts';

/** A calendar day without time or zone, `YYYY-MM-DD`. Compares as text. */
export type LocalDate = string;

export type InterestCalculationMethod = 'FLAT' | 'DECLINING_BALANCE' | 'DECLINING_BALANCE_DISCOUNTED';
export type InterestChargeFrequency =
  | 'ANNUALIZED'
  | 'EVERY_MONTH'
  | 'EVERY_FOUR_WEEKS'
  | 'EVERY_WEEK'
  | 'EVERY_DAY'
  | 'EVERY_X_DAYS';
export type InterestType = 'SIMPLE_INTEREST' | 'COMPOUNDING_INTEREST';
export type DaysInYear =
  | 'ACTUAL_365_FIXED'
  | 'ACTUAL_364'
  | 'ACTUAL_360'
  | 'ACTUAL_ACTUAL_ISDA'
  | 'E30_360'
  | 'E30_42_365';
export type ScheduleInterestDaysCountMethod = 'REPAYMENT_PERIODICITY' | 'ACTUAL_DAYS_COUNT';
export type RepaymentPeriodUnit = 'DAYS' | 'WEEKS' | 'MONTHS' | 'YEARS';
export type AmortizationMethod = 'STANDARD_PAYMENTS' | 'OPTIMIZED_PAYMENTS';
export type GracePeriodType = 'NONE' | 'PAY_INTEREST_ONLY';
export type ShortMonthHandlingMethod = 'LAST_DAY_IN_MONTH' | 'FIRST_DAY_OF_NEXT_MONTH';
/** Where a due date goes that would fall on a day on which the institution is closed. */
export type RepaymentReschedulingMethod = 'NEXT_WORKING_DAY' | 'PREVIOUS_WORKING_DAY' | 'EXTEND_SCHEDULE';
export type RepaymentCurrencyRounding =
  | 'NO_ROUNDING'
  | 'ROUND_TO_NEAREST_WHOLE_UNIT'
  | 'ROUND_UP_TO_NEAREST_WHOLE_UNIT';
export type RepaymentElementsRoundingMethod = 'NO_ROUNDING' | 'ROUND_ALL' | 'PAYMENT_DUE';
export type RoundingRepaymentScheduleMethod =
  | 'NO_ROUNDING'
  | 'ROUND_REMAINDER_INTO_LAST_REPAYMENT'
  | 'ROUND_PRINCIPAL_AND_INTEREST_REMAINDER_INTO_LAST_REPAYMENT';

/** The interest rate from one day on, until the next segment begins. */
export interface RateSegment {
  /** The interest of the days after this one is earned at the rate; null in the first segment, which has no start. */
  readonly from: LocalDate | null;
  /** Percent per charge-frequency unit, e.g. 10 for ten percent. */
  readonly interestRate: Decimal;
}

export interface InterestTerms {
  /** At least one, in the order of their days. */
  readonly rateSegments: readonly RateSegment[];
  readonly interestChargeFrequency: InterestChargeFrequency;
  /** The X of EVERY_X_DAYS; 1 otherwise. */
  readonly interestChargeFrequencyCount: number;
  readonly interestType: InterestType;
  readonly interestCalculationMethod: InterestCalculationMethod;
  readonly daysInYear: DaysInYear;
  readonly scheduleInterestDaysCountMethod: ScheduleInterestDaysCountMethod;
}

export type DueDateTerms =
  | {
      readonly scheduleDueDatesMethod: 'INTERVAL';
      readonly repaymentPeriodUnit: RepaymentPeriodUnit;
      readonly repaymentPeriodCount: number;
      /** Days added to the first due date. */
      readonly firstRepaymentDueDateOffset: number;
    }
  | {
      readonly scheduleDueDatesMethod: 'FIXED_DAYS_OF_MONTH';
      /** 1..31, ascending, without repeats. */
      readonly fixedDaysOfMonth: readonly number[];
      readonly shortMonthHandlingMethod: ShortMonthHandlingMethod;
      readonly firstRepaymentDueDateOffset: number;
    };

export interface RoundingTerms {
  readonly roundingMode: RoundingMode;
  readonly repaymentCurrencyRounding: RepaymentCurrencyRounding;
  readonly repaymentElementsRoundingMethod: RepaymentElementsRoundingMethod;
  readonly roundingRepaymentScheduleMethod: RoundingRepaymentScheduleMethod;
}

/** Everything that decides a repayment schedule except the amount and the dates, as in force. */
export interface ScheduleTerms {
  readonly currency: Currency;
  readonly interest: InterestTerms;
  readonly dueDates: DueDateTerms;
  readonly repaymentInstallments: number;
  /** Every n-th installment repays principal; 1 unless the method is DECLINING_BALANCE or FLAT. */
  readonly principalRepaymentInterval: number;
  readonly amortizationMethod: AmortizationMethod;
  /**
   * DECLINING_BALANCE_DISCOUNTED: whether the first payment carries the extra or missing interest of a longer or
   * shorter first period. Otherwise it equals the level payment, and the difference shifts principal to the last
   * installment.
   */
  readonly adjustTotalDueForFirstRepayment: boolean;
  readonly gracePeriodType: GracePeriodType;
  /** Installments, counted inside `repaymentInstallments`. */
  readonly gracePeriod: number;
  readonly rounding: RoundingTerms;
}

/** The days of a row before it was moved to a working day. */
export interface UnmovedPeriod {
  readonly accruesAfter: LocalDate;
  readonly dueDate: LocalDate;
}

/** One row of a schedule as first computed: the expected amounts, nothing paid. */
export interface ScheduleRow {
  /** From 1. */
  readonly number: number;
  /** Interest of this row starts to accrue after this day: the previous due date, or the disbursement. */
  readonly accruesAfter: LocalDate;
  readonly dueDate: LocalDate;
  /** Its days before it, or the row before it, was moved to a working day; absent when neither was. */
  readonly unmoved?: UnmovedPeriod | null;
  readonly principal: Decimal;
  readonly interest: Decimal;
}

/** What an account agreed with its product when it was opened: the terms without those that change over time. */
export interface AgreedTerms extends Omit<ScheduleTerms, 'interest'> {
  readonly interest: Omit<InterestTerms, 'rateSegments'>;
}

/** The terms in force when a transaction was posted. Every transaction keeps them. */
export interface TransactionTerms {
  /** Percent. */
  readonly interestRate: Decimal;
  /** The level payment of an equal-installment loan; null for other methods. */
  readonly periodicPayment: Decimal | null;
}
