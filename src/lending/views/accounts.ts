import { withAdditionalFields } from '../additional-fields.ts';
import { withGroupIndexes } from '../custom-fields/field-sets.ts';
import { isEarning, payableInterest } from '../accrual.ts';
import { figuresOf } from '../balances.ts';
import type { LockedOperation } from '../commands.ts';
import { daysLate } from '../business-days/arrears.ts';
import { futurePaymentsOf } from '../business-days/future-payments.ts';
import { accruedPenalty } from '../business-days/penalties.ts';
import { dayOf, startOfDay, startOfDayOrNull, toInstant } from '../instants.ts';
import { disbursementFeeEncodedKey } from '../identifiers.ts';
import { type AccountState, type AccountSubState, type Loan, type LoanPosition, isActive } from '../loan.ts';
import { type Decimal, sum, zero } from '../money.ts';
import type { PaymentMethod, PrepaymentRecalculationMethod } from '../payment-options.ts';
import type {
  DueDateTerms,
  GracePeriodType,
  InterestCalculationMethod,
  InterestChargeFrequency,
  InterestType,
  LocalDate,
  RepaymentPeriodUnit,
  ShortMonthHandlingMethod,
} from '../terms.ts';
import { daysBetween } from '../dates.ts';
import { shownSettings } from '../products/repeated-settings.ts';
import { rateAfter } from '../schedule/interest-rates.ts';
import { shown } from './shown-fields.ts';

/** A loan account as GET /loans/{id} and the loan search show it: one serialiser for both. */
export interface AccountView {
  readonly encodedKey: string;
  readonly id: string;
  /** The name of the product where the account has none. */
  readonly loanName: string;
  readonly accountHolderKey?: string;
  readonly accountHolderType?: 'CLIENT' | 'GROUP';
  readonly productTypeKey: string;
  readonly accountState: AccountState;
  readonly accountSubState?: AccountSubState;
  readonly loanAmount: Decimal;
  readonly currency: { readonly code: string };
  readonly creationDate: string;
  readonly lastModifiedDate: string;
  /** When the account was last looked at: with its last change. */
  readonly lastAccountAppraisalDate: string;
  readonly approvedDate?: string;
  readonly closedDate?: string;
  readonly activationTransactionKey?: string;
  /** The encodedKey of the account that this one replaces, and of the one that replaced it. */
  readonly originalAccountKey?: string;
  readonly rescheduledAccountKey?: string;
  readonly paymentMethod: PaymentMethod;
  readonly notes?: string;
  /** Percent. */
  readonly taxRate: Decimal;
  /** Dynamic loans: interest earned and not yet due. */
  readonly accruedInterest: Decimal;
  /** Penalties of late rows that are not applied yet. */
  readonly accruedPenalty: Decimal;
  readonly interestFromArrearsAccrued: Decimal;
  /** Repayments dated ahead that wait for their day, the next one first; absent when none waits. */
  readonly futurePayments?: readonly {
    readonly encodedKey: string;
    readonly amount: Decimal;
    readonly valueDate: string;
  }[];
  /** Days since the oldest row that is late fell due. */
  readonly daysLate: number;
  readonly daysInArrears: number;
  readonly lastSetToArrearsDate?: string;
  /** What is locked now; absent of an account that is not locked. */
  readonly lockedOperations?: readonly LockedOperation[];
  /** The day of the last lock, also when it has ended. */
  readonly lastLockedDate?: string;
  readonly balances: Readonly<Record<AccountBalanceName, Decimal>>;
  readonly interestSettings: {
    readonly interestRate: Decimal;
    readonly interestChargeFrequency: InterestChargeFrequency;
    readonly interestType: InterestType;
    readonly interestCalculationMethod: InterestCalculationMethod;
    readonly accrueLateInterest: boolean;
  };
  readonly modifyInterestForFirstInstallment: boolean;
  readonly scheduleSettings: {
    readonly repaymentInstallments: number;
    readonly repaymentPeriodCount?: number;
    readonly repaymentPeriodUnit?: RepaymentPeriodUnit;
    readonly gracePeriod: number;
    readonly gracePeriodType: GracePeriodType;
    readonly principalRepaymentInterval: number;
    readonly scheduleDueDatesMethod: DueDateTerms['scheduleDueDatesMethod'];
    readonly fixedDaysOfMonth: readonly number[];
    readonly shortMonthHandlingMethod?: ShortMonthHandlingMethod;
    readonly defaultFirstRepaymentDueDateOffset: number;
    readonly hasCustomSchedule: boolean;
  };
  readonly prepaymentSettings: { readonly prepaymentRecalculationMethod: PrepaymentRecalculationMethod };
  readonly penaltySettings: { readonly penaltyRate?: Decimal };
  readonly disbursementDetails: {
    readonly expectedDisbursementDate?: string;
    readonly disbursementDate?: string;
    readonly firstRepaymentDate?: string;
    /** Optional fees of the product that the disbursement charges. */
    readonly fees?: readonly {
      readonly encodedKey: string;
      readonly predefinedFeeEncodedKey: string;
      readonly amount?: Decimal;
      readonly percentage?: Decimal;
    }[];
  };
}

type AccountBalanceName =
  | `${'principal' | 'interest' | 'fees' | 'penalty'}${'Due' | 'Paid' | 'Balance'}`
  | 'interestFromArrearsBalance'
  | 'interestFromArrearsDue'
  | 'interestFromArrearsPaid'
  | 'holdBalance'
  | 'redrawBalance';

/**
 * The body of GET /loans/{id} with all details. Its fee balances keep their names whatever the toggles say.
 * @param reached A business date after that of the account, when there is one. Nothing has happened to the account
 *   since its own, but it has been late and in arrears for that much longer.
 */
export function accountOf(loan: Loan, reached: LocalDate | null = null): AccountView {
  const { position, product, terms } = loan;
  const countedTo = lastCountedDay(loan, reached);
  const [firstDisbursement] = position.disbursements;
  const view = shown({
    encodedKey: loan.encodedKey,
    id: loan.id,
    loanName: loan.loanName ?? product.name,
    accountHolderKey: loan.accountHolderKey,
    accountHolderType: loan.accountHolderType,
    productTypeKey: product.encodedKey,
    accountState: position.accountState,
    accountSubState: position.accountSubState,
    loanAmount: loan.loanAmount,
    currency: { code: product.currency.code },
    creationDate: toInstant(loan.createdAt),
    lastModifiedDate: toInstant(loan.modifiedAt),
    lastAccountAppraisalDate: toInstant(loan.modifiedAt),
    approvedDate: instantOrNull(position.approvedAt),
    closedDate: instantOrNull(position.closedAt),
    activationTransactionKey: firstDisbursement?.transactionKey ?? null,
    originalAccountKey: loan.originalAccount?.encodedKey ?? null,
    rescheduledAccountKey: position.rescheduledTo?.encodedKey ?? null,
    paymentMethod: product.paymentSettings.paymentMethod,
    notes: loan.notes,
    taxRate: product.taxSettings.taxRate,
    accruedInterest: accruedInterest(loan),
    accruedPenalty: isActive(position) ? accruedPenalty(loan, countedTo) : zero,
    interestFromArrearsAccrued: zero,
    futurePayments: futurePayments(loan),
    daysLate: countedTo === null ? 0 : daysLate(position.installments, countedTo),
    daysInArrears: daysInArrears(position, countedTo),
    lastSetToArrearsDate: startOfDayOrNull(position.arrearsSince),
    lockedOperations: position.lockedOperations.length === 0 ? null : position.lockedOperations,
    lastLockedDate: startOfDayOrNull(position.lastLockedOn ?? null),
    balances: accountBalances(loan),
    interestSettings: {
      interestRate: rateAfter(position.rateSegments, position.asOf ?? dayOf(loan.createdAt)),
      interestChargeFrequency: terms.interest.interestChargeFrequency,
      interestType: terms.interest.interestType,
      interestCalculationMethod: terms.interest.interestCalculationMethod,
      accrueLateInterest: product.interestSettings.accrueLateInterest,
    },
    modifyInterestForFirstInstallment: terms.adjustTotalDueForFirstRepayment,
    scheduleSettings: scheduleSettings(loan),
    prepaymentSettings: {
      prepaymentRecalculationMethod: product.paymentSettings.prepaymentSettings.prepaymentRecalculationMethod,
    },
    penaltySettings: shown({ penaltyRate: loan.penaltyRate }),
    disbursementDetails: shown({
      expectedDisbursementDate: startOfDayOrNull(loan.expectedDisbursementDate),
      disbursementDate: startOfDayOrNull(firstDisbursement?.date ?? null),
      firstRepaymentDate: startOfDayOrNull(firstDisbursement?.firstRepaymentDate ?? loan.firstRepaymentDate),
      fees: feesOf(loan),
    }),
  });
  const own = withAdditionalFields<AccountView>(view, withGroupIndexes(loan.additionalFields));
  return withAdditionalFields(own, shownSettings(product));
}

function futurePayments(loan: Loan): NonNullable<AccountView['futurePayments']> | null {
  const waiting = futurePaymentsOf(loan);
  if (waiting.length === 0) return null;
  return waiting.map(({ transactionKey, amount, valueDate }) => ({
    encodedKey: transactionKey,
    amount,
    valueDate: startOfDay(valueDate),
  }));
}

function feesOf(loan: Loan): NonNullable<AccountView['disbursementDetails']['fees']> | null {
  const { disbursementFees } = loan;
  if (disbursementFees === undefined) return null;
  return disbursementFees.map(({ predefinedFeeKey, ...price }, index) => ({
    encodedKey: disbursementFeeEncodedKey(loan, index),
    predefinedFeeEncodedKey: predefinedFeeKey,
    ...price,
  }));
}

/**
 * The day up to which days are counted. Where non-working days do not count, it is that of the account: it knows them
 * up to there, and the end of a day brings it to each day of its arrears.
 */
function lastCountedDay({ position, product }: Loan, reached: LocalDate | null): LocalDate | null {
  const { asOf } = position;
  if (asOf === null || reached === null || reached <= asOf || !isActive(position)) return asOf;
  return product.arrearsSettings?.nonWorkingDaysMethod === 'EXCLUDED' ? asOf : reached;
}

/** The days in arrears up to a day, the first one included, of those that count; a closed account has none. */
function daysInArrears(position: LoanPosition, countedTo: LocalDate | null): number {
  const { arrearsSince, nonWorkingDaysInArrears = 0 } = position;
  const isInArrears = arrearsSince !== null && isActive(position);
  if (!isInArrears || countedTo === null || countedTo < arrearsSince) return 0;
  return daysBetween(arrearsSince, countedTo) + 1 - nonWorkingDaysInArrears;
}

function accountBalances(loan: Loan): AccountView['balances'] {
  const { principal, interest, fees, penalty } = figuresOf(loan);
  return {
    principalDue: principal.due,
    principalPaid: principal.paid,
    principalBalance: principal.balance,
    interestDue: interest.due,
    interestPaid: interest.paid,
    interestBalance: interest.balance,
    feesDue: fees.due,
    feesPaid: fees.paid,
    feesBalance: fees.balance,
    penaltyDue: penalty.due,
    penaltyPaid: penalty.paid,
    penaltyBalance: penalty.balance,
    interestFromArrearsBalance: zero,
    interestFromArrearsDue: zero,
    interestFromArrearsPaid: zero,
    holdBalance: zero,
    redrawBalance: zero,
  };
}

function scheduleSettings({ terms }: Loan): AccountView['scheduleSettings'] {
  const { dueDates } = terms;
  const isInterval = dueDates.scheduleDueDatesMethod === 'INTERVAL';
  return shown({
    repaymentInstallments: terms.repaymentInstallments,
    repaymentPeriodCount: isInterval ? dueDates.repaymentPeriodCount : null,
    repaymentPeriodUnit: isInterval ? dueDates.repaymentPeriodUnit : null,
    gracePeriod: terms.gracePeriod,
    gracePeriodType: terms.gracePeriodType,
    principalRepaymentInterval: terms.principalRepaymentInterval,
    scheduleDueDatesMethod: dueDates.scheduleDueDatesMethod,
    fixedDaysOfMonth: isInterval ? [] : dueDates.fixedDaysOfMonth,
    shortMonthHandlingMethod: isInterval ? null : dueDates.shortMonthHandlingMethod,
    defaultFirstRepaymentDueDateOffset: dueDates.firstRepaymentDueDateOffset,
    hasCustomSchedule: false,
  });
}

/** The interest that rows not yet due have earned and that is unpaid. Zero where interest is as scheduled. */
function accruedInterest(loan: Loan): Decimal {
  const { position } = loan;
  const earning = position.installments.filter((row) => isEarning(loan, position, row));
  return sum(earning.map((row) => payableInterest(loan, position, row)));
}

function instantOrNull(instant: number | null): string | null {
  return instant === null ? null : toInstant(instant);
}
