import type { AdditionalFields } from '../additional-fields.ts';
import type {
  CustomPaymentAmountType,
  ElementsRecalculationMethod,
  InterestOnPrepaymentMethod,
  LatePaymentsRecalculationMethod,
  PaymentMethod,
  PrepaymentRecalculationMethod,
  PrincipalPaidStatus,
} from '../payment-options.ts';
import type { Currency, Decimal } from '../money.ts';
import type { LoanProductType } from './product-behaviour.ts';
import type {
  AmortizationMethod,
  DaysInYear,
  GracePeriodType,
  InterestCalculationMethod,
  InterestChargeFrequency,
  InterestType,
  RepaymentPeriodUnit,
  RepaymentReschedulingMethod,
  RoundingTerms,
  ScheduleInterestDaysCountMethod,
  ShortMonthHandlingMethod,
} from '../terms.ts';

/** A value that an account may choose within the product's bounds. */
export interface Bounded<Value> {
  readonly defaultValue?: Value;
  readonly minValue?: Value;
  readonly maxValue?: Value;
}

export type FeeTrigger =
  | 'MANUAL'
  | 'DISBURSEMENT'
  | 'CAPITALIZED_DISBURSEMENT'
  | 'UPFRONT_DISBURSEMENT'
  | 'PAYMENT_DUE'
  | 'PAYMENT_DUE_APPLIED_ON_DUE_DATES'
  | 'LATE_REPAYMENT'
  | 'ARBITRARY';
export type FeeAmountCalculationMethod =
  | 'FLAT'
  | 'LOAN_AMOUNT_PERCENTAGE'
  | 'REPAYMENT_PRINCIPAL_AMOUNT_PERCENTAGE'
  | 'LOAN_AMOUNT_PERCENTAGE_NUMBER_OF_INSTALLMENTS'
  | 'FLAT_NUMBER_OF_INSTALLMENTS';
/** Whether a fee joins an installment, or the non-scheduled balance that only a custom repayment can pay. */
export type FeeAllocation = 'INSTALLMENT' | 'NO_ALLOCATION';

export interface ProductFee {
  readonly encodedKey: string;
  readonly id: string;
  readonly name: string;
  readonly trigger: FeeTrigger;
  readonly amountCalculationMethod: FeeAmountCalculationMethod;
  readonly amount?: Decimal;
  readonly percentageAmount?: Decimal;
  readonly feeApplication: 'REQUIRED' | 'OPTIONAL';
  readonly state: 'ACTIVE' | 'INACTIVE';
  readonly allocation: FeeAllocation;
}

export type AllocationElement = 'PRINCIPAL' | 'INTEREST' | 'FEE' | 'PENALTY';

/** When late rows put an account into arrears. Without a setting, being late is being in arrears. */
export interface ArrearsSettings {
  /** Whether rows are tolerated for a number of days, or up to a day of the month. */
  readonly toleranceCalculationMethod: 'ARREARS_TOLERANCE_PERIOD' | 'MONTHLY_ARREARS_TOLERANCE_DAY';
  /** Days. */
  readonly tolerancePeriod?: Bounded<number>;
  /** 1..31. */
  readonly monthlyToleranceDay?: number;
  /** Percent. */
  readonly tolerancePercentageOfOutstandingPrincipal?: Bounded<Decimal>;
  readonly toleranceFloorAmount?: Decimal;
  /** EXCLUDED: days on which the institution is closed count neither as tolerated nor as in arrears. */
  readonly nonWorkingDaysMethod?: 'INCLUDED' | 'EXCLUDED';
  /**
   * From when the days in arrears count: since its oldest row was late for longer than is tolerated when the account
   * went into arrears, which is the default; since the oldest row that is late now was; or since what was late reached
   * the tolerated amount.
   */
  readonly dateCalculationMethod?:
    | 'ACCOUNT_FIRST_WENT_TO_ARREARS'
    | 'LAST_LATE_REPAYMENT'
    | 'ACCOUNT_FIRST_BREACHED_MATERIALITY_THRESHOLD';
}

/** What a penalty for late days is a share of. Each includes the one before; the last is all that is lent. */
export type PenaltyCalculationMethod =
  | 'NONE'
  | 'OVERDUE_BALANCE'
  | 'OVERDUE_BALANCE_AND_INTEREST'
  | 'OVERDUE_BALANCE_INTEREST_AND_FEE'
  | 'OUTSTANDING_PRINCIPAL';

/** Penalties that the end of a day applies to late rows. */
export interface PenaltySettings {
  readonly loanPenaltyCalculationMethod: PenaltyCalculationMethod;
  /** Days for which a late row has no penalty. After them, it has one for all its late days. */
  readonly loanPenaltyGracePeriod?: number;
  /** Percent: of what is overdue for each day; of the outstanding principal for each charge unit of the interest. */
  readonly penaltyRate?: Bounded<Decimal>;
}

/** What becomes of accounts by themselves as time passes. */
export interface InternalControls {
  /** Days for which an account stays active once it is paid in full. Absent or 0: it is closed at once. */
  readonly dormancyPeriodDays?: number;
  readonly lockSettings?: LockSettings;
}

/** When the end of a day locks an account in arrears. The three settings of the cap come together. */
export interface LockSettings extends Partial<ChargeCap> {
  /** The account is locked once it was in arrears for so many days. Absent: never for its days. */
  readonly lockPeriodDays?: number;
}

/** How much interest, fees and penalties an account in arrears may owe. */
export interface ChargeCap {
  /** HARD_CAP: a charge above the cap is cut. SOFT_CAP: it is applied, and is the last one. */
  readonly cappingConstraintType: 'SOFT_CAP' | 'HARD_CAP';
  /** The principal that was lent, or what of it is outstanding. */
  readonly cappingMethod: 'OUTSTANDING_PRINCIPAL_PERCENTAGE' | 'ORIGINAL_PRINCIPAL_PERCENTAGE';
  /** Percent of that principal. */
  readonly cappingPercentage: Decimal;
}

/** A loan product: the rules and bounds of the accounts opened under it, in the lending API's terms. */
export interface LoanProduct {
  readonly encodedKey: string;
  readonly id: string;
  readonly name: string;
  readonly type: LoanProductType;
  readonly state: 'ACTIVE' | 'INACTIVE';
  readonly notes?: string;
  readonly currency: Currency;
  readonly loanAmountSettings: { readonly loanAmount: Bounded<Decimal> };
  readonly interestSettings: {
    readonly interestRate: Bounded<Decimal>;
    readonly interestChargeFrequency: InterestChargeFrequency;
    readonly interestChargeFrequencyCount: number;
    readonly interestType: InterestType;
    readonly interestCalculationMethod: InterestCalculationMethod;
    readonly daysInYear: DaysInYear;
    readonly scheduleInterestDaysCountMethod: ScheduleInterestDaysCountMethod;
    /** Dynamic loans: whether overdue principal continues to earn interest, until the last due date. */
    readonly accrueLateInterest: boolean;
    /** Dynamic loans: whether outstanding principal earns interest after the last due date. Absent: it does not. */
    readonly accrueInterestAfterMaturity?: boolean;
    /** Level payments: those of rows due within these days are not computed again. Absent: of none. */
    readonly pmtAdjustmentThreshold?: { readonly method: 'CALENDAR_DAYS'; readonly numberOfDays: number };
  };
  /** Level payments: whether the first one carries the extra or missing interest of an irregular first period. */
  readonly adjustInterestForFirstInstallment: boolean;
  readonly scheduleSettings: {
    readonly scheduleDueDatesMethod: 'INTERVAL' | 'FIXED_DAYS_OF_MONTH';
    readonly repaymentPeriodUnit: RepaymentPeriodUnit;
    readonly defaultRepaymentPeriodCount: number;
    readonly fixedDaysOfMonth: readonly number[];
    readonly shortMonthHandlingMethod?: ShortMonthHandlingMethod;
    /** Absent: due dates stay where they are, also on days on which the institution is closed. */
    readonly repaymentReschedulingMethod?: RepaymentReschedulingMethod;
    readonly numInstallments: Bounded<number>;
    readonly firstRepaymentDueDateOffset: Bounded<number>;
    readonly defaultPrincipalRepaymentInterval: number;
    readonly roundingSettings: RoundingTerms;
  };
  readonly gracePeriodSettings: { readonly gracePeriodType: GracePeriodType; readonly gracePeriod: Bounded<number> };
  readonly paymentSettings: {
    readonly amortizationMethod: AmortizationMethod;
    readonly paymentMethod: PaymentMethod;
    readonly repaymentAllocationOrder: readonly AllocationElement[];
    /** Dynamic loans: the row that asks for the interest of late principal. Absent: OVERDUE_INSTALLMENTS_INCREASE. */
    readonly latePaymentsRecalculationMethod?: LatePaymentsRecalculationMethod;
    readonly prepaymentSettings: {
      readonly prepaymentAcceptance: 'ACCEPT_PREPAYMENTS' | 'NO_PREPAYMENTS';
      readonly prepaymentRecalculationMethod: PrepaymentRecalculationMethod;
      /** Absent: PRINCIPAL_EXPECTED_FIXED. */
      readonly elementsRecalculationMethod?: ElementsRecalculationMethod;
      /** Absent: AUTOMATIC. */
      readonly applyInterestOnPrepaymentMethod?: InterestOnPrepaymentMethod;
      /** Absent: PARTIALLY_PAID. */
      readonly principalPaidInstallmentStatus?: PrincipalPaidStatus;
    };
  };
  readonly feesSettings: { readonly allowArbitraryFees: boolean; readonly fees: readonly ProductFee[] };
  readonly taxSettings: {
    readonly taxRate: Decimal;
    readonly taxCalculationMethod: 'INCLUSIVE' | 'EXCLUSIVE';
    readonly taxesOnInterestEnabled: boolean;
    readonly taxesOnFeesEnabled: boolean;
    readonly taxesOnPenaltyEnabled: boolean;
  };
  readonly newAccountSettings: {
    readonly accountInitialState: 'PARTIAL_APPLICATION' | 'PENDING_APPROVAL';
    readonly idGeneratorType: 'INCREMENTAL_NUMBER' | 'RANDOM_PATTERN';
    /** RANDOM_PATTERN: the form of the ids of accounts that are opened without one. */
    readonly idPattern: string;
  };
  readonly allowCustomRepaymentAllocation: boolean;
  readonly arrearsSettings?: ArrearsSettings;
  readonly penaltySettings?: PenaltySettings;
  readonly internalControls?: InternalControls;
  /** What was sent with the product and no rule reads. Absent when there is nothing. */
  readonly additionalFields?: AdditionalFields;
}

/** Days for which accounts of the product stay active once they are paid in full; 0 when they are closed at once. */
export function dormancyPeriodDays({ internalControls }: LoanProduct): number {
  return internalControls?.dormancyPeriodDays ?? 0;
}

/** The custom amount type that pays a fee with this trigger. */
export const customAmountTypeOfFee: Readonly<Partial<Record<FeeTrigger, CustomPaymentAmountType>>> = {
  MANUAL: 'MANUAL_FEE',
  ARBITRARY: 'MANUAL_FEE',
  UPFRONT_DISBURSEMENT: 'UPFRONT_DISBURSEMENT_FEE',
  PAYMENT_DUE: 'PAYMENT_DUE_FEE',
  PAYMENT_DUE_APPLIED_ON_DUE_DATES: 'PAYMENT_DUE_FEE',
  LATE_REPAYMENT: 'LATE_REPAYMENT_FEE',
};

/** The fee of a product with this id or encodedKey; undefined when there is none. */
export function findFee({ feesSettings }: LoanProduct, idOrKey: string): ProductFee | undefined {
  return feesSettings.fees.find(({ id, encodedKey }) => id === idOrKey || encodedKey === idOrKey);
}

/** Whether the fee is charged for each due date. */
export function isForDueDates({ trigger }: { readonly trigger: FeeTrigger }): boolean {
  return trigger === 'PAYMENT_DUE' || trigger === 'PAYMENT_DUE_APPLIED_ON_DUE_DATES';
}

/** Whether a command of its own charges the fee. Others are charged with the disbursement, or when a row is late. */
export function isChargedByHand({ trigger }: ProductFee): boolean {
  return trigger === 'MANUAL' || trigger === 'ARBITRARY';
}
