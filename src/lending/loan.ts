/**
 * Lending: what a loan is, and how commands and days change it. Pure functions of a loan, an input and the time.
 * In: a loan and a command. Out: the loan after it with its transactions and events, or refusals.
 * Start with `Loan` below and `commands.ts`. Then `commands/` decides and applies, `schedule/` has the installments,
 * `views/` what the API shows, and `changelog/` how a loan is stored.
 */

import type { AdditionalFields } from './additional-fields.ts';
import type {
  CustomPaymentAmount,
  LinkedAccount,
  LockedOperation,
  RequestedFee,
  TransactionChannel,
} from './commands.ts';
import type { PrepaymentRecalculationMethod } from './payment-options.ts';
import type { FeeCharge } from './fees/charges.ts';
import type { Installment } from './installments.ts';
import type { Decimal } from './money.ts';
import type { FeeTrigger, LoanProduct } from './products/product.ts';
import type { AgreedTerms, LocalDate, RateSegment, TransactionTerms } from './terms.ts';
import type { LoanTransactionType } from './transaction-types.ts';
import type { Toggles } from './toggle-names.ts';

/**
 * A loan account as the worker keeps it: plain data, amounts as exact decimals, replaced and never changed in place.
 *
 * Amounts owed are gross: an amount contains its tax, whether the product adds tax on top or takes it out of the price.
 * So rows, balances and repayments all use the same numbers.
 */
export interface Loan {
  readonly id: string;
  /** 32 hex characters. */
  readonly encodedKey: string;
  /** The product as it was when the account was opened: later edits apply to later accounts. */
  readonly product: LoanProduct;
  readonly terms: AgreedTerms;
  readonly loanName: string | null;
  readonly accountHolderKey: string | null;
  readonly accountHolderType: 'CLIENT' | 'GROUP' | null;
  readonly loanAmount: Decimal;
  /** Percent, of penalties for late days; null for the product's. */
  readonly penaltyRate: Decimal | null;
  readonly expectedDisbursementDate: LocalDate | null;
  readonly firstRepaymentDate: LocalDate | null;
  readonly notes: string | null;
  /** Optional fees of the product that the disbursement will charge. Absent when there are none. */
  readonly disbursementFees?: readonly RequestedFee[];
  /** Days for which late rows are tolerated, chosen by the account; null for the product's default. */
  readonly arrearsTolerancePeriod: number | null;
  /**
   * The last business date on which something happened to the account by the passing of time; null before the first.
   * It shows itself as at the start of this day.
   */
  readonly businessDate: LocalDate | null;
  /** What was sent with the account and no rule reads, such as its branch, and its custom field sets. */
  readonly additionalFields: AdditionalFields;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly modifiedAt: number;
  readonly position: LoanPosition;
  /** How many transactions were posted, adjustments included. The next one gets this number plus one. */
  readonly transactionCount: number;
  /**
   * The encodedKey of the last transaction that was not adjusted: only this one can be. Null when there is none. It
   * names the one before it, so that an account needs none of its transactions to know which can be adjusted.
   */
  readonly adjustableTransactionKey: string | null;
  /** Number of events published of this loan so far; the next event has this number plus one. */
  readonly eventSequence: number;
  /** Number of schedule events published of this loan so far. */
  readonly scheduleVersion: number;
  /** The toggles under which the last events were made; null before the first. */
  readonly publishedUnder: Toggles | null;
  /** The account that this one replaces; absent when it replaces none. */
  readonly originalAccount?: LinkedAccount;
  /** Repayments dated ahead that wait for their day: by day, and of one day as they came. Absent when none waits. */
  readonly futurePayments?: readonly FuturePayment[];
}

/** A repayment that waits for its day. Its transaction has all that its sender asked for. */
export interface FuturePayment {
  readonly transactionKey: string;
  readonly valueDate: LocalDate;
  readonly amount: Decimal;
}

export type AccountState =
  | 'PARTIAL_APPLICATION'
  | 'PENDING_APPROVAL'
  | 'APPROVED'
  | 'ACTIVE'
  | 'ACTIVE_IN_ARREARS'
  | 'CLOSED';
export type AccountSubState =
  | 'LOCKED'
  | 'LOCKED_CAPPING'
  | 'REPAID'
  | 'REJECTED'
  | 'WITHDRAWN'
  | 'WRITTEN_OFF'
  | 'RESCHEDULED'
  | 'REFINANCED'
  | 'TERMINATED';

/** Why the end of a day locked an account: it was in arrears for too long, or its charges reached their cap. */
export type ArrearsLockReason = 'PERIOD' | 'CAPPING';

/** The lock that the end of a day began, see `arrears-locks.ts`. */
export interface ArrearsLock {
  readonly reason: ArrearsLockReason;
  /** The first day of the arrears that it belongs to. */
  readonly since: LocalDate;
  /** What it locked; empty when a person ended it, so that it does not come back in the same arrears. */
  readonly operations: readonly LockedOperation[];
}

/** Whether a person ended the lock that the end of a day began in the arrears since this day. */
export function isLockEndedByPerson({ arrearsLock }: Pick<LoanPosition, 'arrearsLock'>, since: LocalDate): boolean {
  return arrearsLock !== null && arrearsLock.operations.length === 0 && arrearsLock.since === since;
}

/** Whether the loan is paid out and not closed, in arrears or not. */
export function isActive({ accountState }: Pick<LoanPosition, 'accountState'>): boolean {
  return accountState === 'ACTIVE' || accountState === 'ACTIVE_IN_ARREARS';
}

/** The part of a loan that transactions change and adjustments restore. */
export interface LoanPosition {
  readonly accountState: AccountState;
  readonly accountSubState: AccountSubState | null;
  /** The state that undoing a rejection or a withdrawal returns to. */
  readonly stateBeforeClosure: AccountState | null;
  /** What does not happen to the account while it is locked; empty when it is not. In the order of the words. */
  readonly lockedOperations: readonly LockedOperation[];
  /** Which of it the end of a day locked; null when it locked nothing. */
  readonly arrearsLock: ArrearsLock | null;
  /** The value date of the last lock, also when it has ended since. Absent, and null in an undo: there was none. */
  readonly lastLockedOn?: LocalDate | null;
  /** Milliseconds since the epoch. */
  readonly approvedAt: number | null;
  readonly closedAt: number | null;
  /** The first day in arrears of an account that is; null of one that is not. */
  readonly arrearsSince: LocalDate | null;
  /** How many of the days in arrears do not count, because the institution was closed. Absent: all count. */
  readonly nonWorkingDaysInArrears?: number;
  /** The day since which an active account owes nothing, see `dormancy.ts`. Absent in others. */
  readonly paidSince?: LocalDate;
  /** In the order they were made. */
  readonly disbursements: readonly Disbursement[];
  /** The interest rate over time: at least one, in the order of their days. */
  readonly rateSegments: readonly RateSegment[];
  /** Disbursed plus capitalised fees. Zero before the disbursement. */
  readonly principalLent: Decimal;
  /**
   * The value date of the last disbursement, repayment, overpayment or application of interest. Balances show the dues
   * and accrued interest of this day, and the interest of a dynamic loan is known up to it.
   */
  readonly asOf: LocalDate | null;
  /**
   * The latest value date of the transactions that stand. An entry with an earlier one re-decides those after it. Null
   * when there are none.
   */
  readonly lastValueDate: LocalDate | null;
  /**
   * The level payment of an equal-installment loan, without tax; null for other methods and before the disbursement.
   */
  readonly periodicPayment: Decimal | null;
  /** In due-date order, numbered from 1 without a gap; empty before the disbursement. */
  readonly installments: readonly Installment[];
  /**
   * The fees that are not paid in full, in the order they were charged. A fee that is leaves the list with the command
   * that pays it; its amounts are then part of `settledFees`.
   */
  readonly charges: readonly FeeCharge[];
  /** How many fees were charged so far. The next one has this number plus one. */
  readonly chargeCount: number;
  readonly settledFees: SettledFees;
  /** The account that replaced this one; null while none did. */
  readonly rescheduledTo: LinkedAccount | null;
}

/** Sums over the fees that are paid in full. */
export interface SettledFees {
  /** Paid in the ordinary way or deducted at the disbursement, in the schedule. */
  readonly paid: Decimal;
  /** Paid outside the schedule. */
  readonly nonScheduledPaid: Decimal;
  /** Asked for outside the rows, without capitalised fees. */
  readonly expectedOutsideRows: Decimal;
}

export interface Disbursement {
  readonly date: LocalDate;
  readonly firstRepaymentDate: LocalDate | null;
  readonly transactionKey: string;
  /** What the borrower received: the loan amount less deducted fees. */
  readonly paidOut: Decimal;
  /** What of it was taken back by refunds; absent when there were none. */
  readonly refunded?: Decimal;
}

/** Amounts by element: what a repayment paid, or what a charge added. Negative in an adjustment. */
export interface ElementAmounts {
  readonly principal: Decimal;
  readonly interest: Decimal;
  readonly fees: Decimal;
  readonly penalty: Decimal;
}

export interface TransactionFee {
  readonly predefinedFeeKey: string | null;
  readonly feeName: string;
  readonly trigger: FeeTrigger;
  readonly amount: Decimal;
  readonly tax: Decimal;
}

export interface LoanTransaction {
  readonly encodedKey: string;
  /** Id of the command that posted it. The command is recognised by it for ever. */
  readonly commandId: string;
  readonly commandDigest: string;
  /** Loan id, a hyphen and the number of the transaction in the account, from 1. */
  readonly id: string;
  readonly type: LoanTransactionType;
  readonly amount: Decimal;
  readonly valueDate: LocalDate;
  readonly bookingDate: LocalDate;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly externalId: string | null;
  readonly notes: string | null;
  readonly transactionDetails: TransactionChannel | null;
  /** What was sent with the transaction and no rule reads, and its custom field sets. */
  readonly additionalFields: AdditionalFields;
  readonly affected: ElementAmounts;
  /** The tax inside `affected`; its principal is always zero. */
  readonly taxes: ElementAmounts;
  readonly fees: readonly TransactionFee[];
  readonly customPaymentAmounts: readonly CustomPaymentAmount[];
  readonly prepaymentRecalculationMethod: PrepaymentRecalculationMethod | null;
  /** The key of the installment it is about. */
  readonly installmentKey: number | null;
  /** Whether its sender named the installment. Posted again, it is about the same one, or else about the next due. */
  readonly isInstallmentNamed: boolean;
  /** Whether no person posted it. When an earlier transaction is adjusted, it is taken back and posted again. */
  readonly isSystemPosted: boolean;
  readonly terms: TransactionTerms;
  readonly principalBalanceAfter: Decimal;
  readonly totalBalanceAfter: Decimal;
  /** What was paid of installments that were not due yet; null for nothing. */
  readonly advancePositionAfter: Decimal | null;
  /** What late installments still owed; null for nothing. */
  readonly arrearsPositionAfter: Decimal | null;
  readonly adjustmentTransactionKey: string | null;
  readonly originalTransactionKey: string | null;
  /** What to restore when it is adjusted. Null once it has been adjusted, and for adjustments. */
  readonly undo: PositionUndo | null;
  /** The transaction that can be adjusted as soon as this one is; null when there is none, and for adjustments. */
  readonly previousAdjustableKey: string | null;
  /** Whether it waits for its day and has changed nothing yet; absent when it does not. */
  readonly isWaiting?: true;
}

/** The transactions that were posted to one account. An account does not contain them: it would grow with each. */
export interface PostedTransactions {
  /** The transaction with this encodedKey or id. */
  find(keyOrId: string): LoanTransaction | undefined;
  /** The transaction that the command with this id posted. */
  postedBy(commandId: string): LoanTransaction | undefined;
  /** Whether a transaction of any account has this externalId. One that was adjusted does not count. */
  hasExternalId(externalId: string): boolean;
}

/**
 * An earlier position, stored as its difference from the one that followed. Fields, rows and charges not listed are
 * unchanged.
 */
export interface PositionUndo {
  readonly fields: Partial<Omit<LoanPosition, 'installments' | 'charges'>>;
  /** The keys of the rows that the transaction added. */
  readonly addedInstallments: readonly number[];
  /** The rows that it changed or removed. */
  readonly installments: readonly InstallmentUndo[];
  readonly charges: readonly ChargeUndo[];
}

/** An earlier state of a charge. */
export interface ChargeUndo {
  readonly number: number;
  /** Null when it was not charged yet. */
  readonly before: FeeCharge | null;
  /** The charge as the transaction left it, when it was then paid in full, so that the account has it no longer. */
  readonly settled: FeeCharge | null;
}

/** An earlier state of a row: the fields that were different; all of them when the row exists no longer. */
export interface InstallmentUndo {
  readonly key: number;
  readonly fields: Partial<Omit<Installment, 'key'>>;
}
