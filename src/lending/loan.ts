import type { CustomPaymentAmount, TransactionChannel } from './commands.ts';
import type { PrepaymentRecalculationMethod } from './payment-options.ts';
import { type Decimal, add, zero } from './money.ts';
import type { FeeAllocation, FeeTrigger, LoanProduct } from './product.ts';
import type { AgreedTerms, LocalDate, RateSegment } from './terms.ts';
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
  /** Percent. Stored for readers of the account; no penalty accrues by itself. */
  readonly penaltyRate: Decimal | null;
  readonly expectedDisbursementDate: LocalDate | null;
  readonly firstRepaymentDate: LocalDate | null;
  readonly notes: string | null;
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
}

export type AccountState = 'PARTIAL_APPLICATION' | 'PENDING_APPROVAL' | 'APPROVED' | 'ACTIVE' | 'CLOSED';
export type AccountSubState = 'REPAID' | 'REJECTED' | 'WITHDRAWN';

/** The part of a loan that transactions change and adjustments restore. */
export interface LoanPosition {
  readonly accountState: AccountState;
  readonly accountSubState: AccountSubState | null;
  /** The state that undoing a rejection or a withdrawal returns to. */
  readonly stateBeforeClosure: AccountState | null;
  /** Milliseconds since the epoch. */
  readonly approvedAt: number | null;
  readonly closedAt: number | null;
  /** In the order they were made. */
  readonly disbursements: readonly Disbursement[];
  /** The interest rate over time: at least one, in the order of their days. */
  readonly rateSegments: readonly RateSegment[];
  /** Disbursed plus capitalised fees. Zero before the disbursement. */
  readonly principalLent: Decimal;
  /**
   * The value date of the last disbursement, repayment or overpayment. Balances show the dues and accrued interest of
   * this day, and the interest of a dynamic loan is known up to it.
   */
  readonly asOf: LocalDate | null;
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
}

/** What is expected of one element and how much of it has been paid. The difference is due. */
export interface Portion {
  readonly expected: Decimal;
  readonly paid: Decimal;
}

/** An element that may carry tax. `tax` is part of `amount`. */
export interface TaxedPortion {
  readonly amount: Portion;
  readonly tax: Portion;
}

export interface Installment {
  /**
   * Identifies the row in its account, from 1, and its encodedKey is made of it. It stays when rows before this one are
   * inserted or removed. Only a row that takes the place of one that an adjustment removed has the same key.
   */
  readonly key: number;
  /** The place of the row in the schedule, from 1. */
  readonly number: number;
  /** Interest of this installment accrues from the day after this one. */
  readonly accruesAfter: LocalDate;
  readonly dueDate: LocalDate;
  readonly principal: Portion;
  readonly interest: TaxedPortion;
  readonly fee: TaxedPortion;
  readonly penalty: TaxedPortion;
  /** Dynamic loans: interest of this row earned up to the position's `asOf`, without tax and unrounded. */
  readonly interestAccrued: Decimal;
  /** Principal overpaid in this installment's period, outside every installment. */
  readonly principalOverpaid: Decimal;
  readonly lastPaidDate: LocalDate | null;
  readonly repaidDate: LocalDate | null;
  readonly lastPenaltyAppliedDate: LocalDate | null;
}

/** What a row is made with. Nothing of it is paid yet, and nothing but principal and interest is asked for. */
export type NewInstallment = Pick<
  Installment,
  'key' | 'number' | 'accruesAfter' | 'dueDate' | 'principal' | 'interest'
>;

/**
 * A row as it is made. It names each field: rows made with a spread are larger, and sums over them take twice as long.
 */
export function newInstallment({
  key,
  number,
  accruesAfter,
  dueDate,
  principal,
  interest,
}: NewInstallment): Installment {
  return {
    key,
    number,
    accruesAfter,
    dueDate,
    principal,
    interest,
    fee: nothingTaxed,
    penalty: nothingTaxed,
    interestAccrued: zero,
    principalOverpaid: zero,
    lastPaidDate: null,
    repaidDate: null,
    lastPenaltyAppliedDate: null,
  };
}

/** A portion that asks for nothing. */
export const nothing: Portion = { expected: zero, paid: zero };
/** An element that asks for nothing. */
export const nothingTaxed: TaxedPortion = { amount: nothing, tax: nothing };

/** One fee charged to the account. */
export interface FeeCharge {
  /** Counts the fees of the account in the order they were charged, from 1. */
  readonly number: number;
  readonly encodedKey: string;
  /** Null for an arbitrary fee. */
  readonly predefinedFeeKey: string | null;
  readonly feeName: string;
  readonly trigger: FeeTrigger;
  readonly allocation: FeeAllocation;
  /** The key of the installment it joined; null for a deducted, capitalised or non-scheduled fee. */
  readonly installmentKey: number | null;
  readonly amount: Portion;
  readonly tax: Portion;
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
  readonly affected: ElementAmounts;
  /** The tax inside `affected`; its principal is always zero. */
  readonly taxes: ElementAmounts;
  readonly fees: readonly TransactionFee[];
  readonly customPaymentAmounts: readonly CustomPaymentAmount[];
  readonly prepaymentRecalculationMethod: PrepaymentRecalculationMethod | null;
  /** The key of the installment it is about. */
  readonly installmentKey: number | null;
  readonly terms: TransactionTerms;
  readonly principalBalanceAfter: Decimal;
  readonly totalBalanceAfter: Decimal;
  readonly adjustmentTransactionKey: string | null;
  readonly originalTransactionKey: string | null;
  /** What to restore when it is adjusted. Null once it has been adjusted, and for adjustments. */
  readonly undo: PositionUndo | null;
  /** The transaction that can be adjusted as soon as this one is; null when there is none, and for adjustments. */
  readonly previousAdjustableKey: string | null;
}

/** The transactions that were posted to one account. An account does not contain them: it would grow with each. */
export interface PostedTransactions {
  /** The transaction with this encodedKey or id. */
  find(keyOrId: string): LoanTransaction | undefined;
  /** The transaction that the command with this id posted. */
  postedBy(commandId: string): LoanTransaction | undefined;
}

/** The terms in force when a transaction was posted. */
export interface TransactionTerms {
  /** Percent. */
  readonly interestRate: Decimal;
  /** The level payment of an equal-installment loan; null for other methods. */
  readonly periodicPayment: Decimal | null;
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

/** The unpaid part of an element. */
export function dueOf(portion: Portion): Decimal {
  // Most rows are unpaid and every balance reads all of them, so it pays to skip subtracting zero.
  return portion.paid.isZero() ? portion.expected : portion.expected.minus(portion.paid);
}

/** Whether nothing of a row has been paid. It then owes all that it asks for, so no sum is needed. */
export function isWhollyUnpaid({ principal, interest, fee, penalty }: Installment): boolean {
  return (
    principal.paid.isZero() && interest.amount.paid.isZero() && fee.amount.paid.isZero() && penalty.amount.paid.isZero()
  );
}

/** The total that a row still owes. */
export function rowDue(row: Installment): Decimal {
  const { principal, interest, fee, penalty } = row;
  return add(add(add(dueOf(principal), dueOf(interest.amount)), dueOf(fee.amount)), dueOf(penalty.amount));
}

/** The total that a row asks for, paid or not. */
export function rowExpected(row: Installment): Decimal {
  const { principal, interest, fee, penalty } = row;
  return add(add(add(principal.expected, interest.amount.expected), fee.amount.expected), penalty.amount.expected);
}

/** Whether a row asked for something and all of it has been paid. */
export function isPaid(row: Installment): boolean {
  return rowDue(row).isZero() && !rowExpected(row).isZero();
}

/** The index of the row with this key, from 0; -1 when there is none. */
export function indexOfInstallment(rows: readonly Installment[], key: number): number {
  // Until rows are inserted or removed, a row lies where its key says.
  return rows[key - 1]?.key === key ? key - 1 : rows.findIndex((row) => row.key === key);
}

/** The row with this key; undefined when there is none. */
export function findInstallment(rows: readonly Installment[], key: number): Installment | undefined {
  return rows[indexOfInstallment(rows, key)];
}

/** The row at an index, counted from 0. @throws Error when there is no such row: a bug */
export function rowAt(rows: readonly Installment[], index: number): Installment {
  const row = rows[index];
  if (row === undefined) throw new Error(`no installment ${index + 1}`);
  return row;
}

/** The first unpaid row due on the day or later; else the last unpaid row; the last row when all are paid. */
export function nextDueRow(loan: Loan, day: string): Installment {
  const { installments } = loan.position;
  const unpaid = installments.filter((row) => !isPaid(row));
  return unpaid.find(({ dueDate }) => dueDate >= day) ?? unpaid.at(-1) ?? rowAt(installments, installments.length - 1);
}
