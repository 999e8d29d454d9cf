import type { CreateLoan } from './commands.ts';
import type { LoanPosition } from './loan.ts';
import type { Bounded, LoanProduct } from './products/product.ts';
import { rateAfter } from './schedule/interest-rates.ts';
import type { AgreedTerms, DueDateTerms, LocalDate, RateSegment, ScheduleTerms, TransactionTerms } from './terms.ts';

/** The terms in force: those agreed, with the rates that a position has. */
export function termsInForce(
  { terms }: { readonly terms: AgreedTerms },
  { rateSegments }: { readonly rateSegments: readonly RateSegment[] },
): ScheduleTerms {
  return { ...terms, interest: { ...terms.interest, rateSegments } };
}

/** What an account may choose within the bounds of its product. */
export type OwnTerms = Partial<
  Pick<
    CreateLoan,
    | 'repaymentInstallments'
    | 'principalRepaymentInterval'
    | 'gracePeriod'
    | 'firstRepaymentDueDateOffset'
    | 'repaymentPeriodCount'
    | 'repaymentPeriodUnit'
    | 'fixedDaysOfMonth'
  >
>;

/** The terms of an account under a product. What the account does not choose comes from the product. */
export function termsOf(chosen: OwnTerms, product: LoanProduct): AgreedTerms {
  const { interestSettings, scheduleSettings, gracePeriodSettings, paymentSettings } = product;
  return {
    currency: product.currency,
    interest: {
      interestChargeFrequency: interestSettings.interestChargeFrequency,
      interestChargeFrequencyCount: interestSettings.interestChargeFrequencyCount,
      interestType: interestSettings.interestType,
      interestCalculationMethod: interestSettings.interestCalculationMethod,
      daysInYear: interestSettings.daysInYear,
      scheduleInterestDaysCountMethod: interestSettings.scheduleInterestDaysCountMethod,
    },
    dueDates: dueDatesOf(chosen, product),
    repaymentInstallments: chosen.repaymentInstallments ?? defaultOf(scheduleSettings.numInstallments) ?? 0,
    principalRepaymentInterval: chosen.principalRepaymentInterval ?? scheduleSettings.defaultPrincipalRepaymentInterval,
    amortizationMethod: paymentSettings.amortizationMethod,
    adjustTotalDueForFirstRepayment: product.adjustInterestForFirstInstallment,
    gracePeriodType: gracePeriodSettings.gracePeriodType,
    gracePeriod: chosen.gracePeriod ?? defaultOf(gracePeriodSettings.gracePeriod) ?? 0,
    rounding: scheduleSettings.roundingSettings,
  };
}

/** The value for an account that chooses none: the default, else the least allowed; undefined without both. */
export function defaultOf<Value>({ defaultValue, minValue }: Bounded<Value>): Value | undefined {
  return defaultValue ?? minValue;
}

function dueDatesOf(chosen: OwnTerms, { scheduleSettings }: LoanProduct): DueDateTerms {
  const firstRepaymentDueDateOffset =
    chosen.firstRepaymentDueDateOffset ?? defaultOf(scheduleSettings.firstRepaymentDueDateOffset) ?? 0;
  return scheduleSettings.scheduleDueDatesMethod === 'INTERVAL'
    ? {
        scheduleDueDatesMethod: 'INTERVAL',
        repaymentPeriodUnit: chosen.repaymentPeriodUnit ?? scheduleSettings.repaymentPeriodUnit,
        repaymentPeriodCount: chosen.repaymentPeriodCount ?? scheduleSettings.defaultRepaymentPeriodCount,
        firstRepaymentDueDateOffset,
      }
    : {
        scheduleDueDatesMethod: 'FIXED_DAYS_OF_MONTH',
        fixedDaysOfMonth: chosen.fixedDaysOfMonth ?? scheduleSettings.fixedDaysOfMonth,
        shortMonthHandlingMethod: scheduleSettings.shortMonthHandlingMethod ?? 'LAST_DAY_IN_MONTH',
        firstRepaymentDueDateOffset,
      };
}

/**
 * The terms of a transaction: the rate that is earned after its day, and the level payment of the position it leads to.
 */
export function transactionTerms(
  { rateSegments, periodicPayment }: Pick<LoanPosition, 'rateSegments' | 'periodicPayment'>,
  valueDate: LocalDate,
): TransactionTerms {
  return { interestRate: rateAfter(rateSegments, valueDate), periodicPayment };
}
