import type { AdditionalFields } from './additional-fields.ts';
import type { LoanProduct } from './products/product.ts';
import type { RepeatedSetting } from './products/repeated-settings.ts';
import type { Decimal } from './money.ts';
import type { CustomPaymentAmountType, PrepaymentRecalculationMethod } from './payment-options.ts';
import type { LocalDate, RepaymentPeriodUnit } from './terms.ts';

/**
 * The commands on a loan, in the lending API's field names. The wire format has been checked and numbers are exact
 * decimals. The rules of lending have not been applied yet.
 */
export type LoanCommand =
  | CreateLoan
  | ChangeState
  | Disburse
  | Repay
  | ApplyFee
  | ApplyPenalty
  | AdjustTransaction
  | PrincipalOverpayment
  | ApplyInterest
  | StartBusinessDay
  | PayOff
  | ReduceInterest
  | ReduceFees
  | ReducePenalties
  | WriteOff
  | UndoWriteOff
  | Lock
  | Unlock
  | UpdateLoan
  | DeleteLoan
  | Refund
  | Terminate
  | RecalculateDueDates
  | ErasePersonalData
  | RestructuringCommand
  | UndoRestructuringCommand;

export interface CommandHeader {
  /** UUID. A command sent twice under the same id changes the loan once. */
  readonly commandId: string;
  /** Digest of the command's content: distinguishes it from a different command sent under the same id. */
  readonly digest: string;
  /** When the command entered the log. Milliseconds since the epoch: the `now` of every decision. */
  readonly receivedAt: number;
  /** The day of `receivedAt` where the organization is; absent in UTC. */
  readonly receivedOn?: LocalDate;
  /** Whether no person posted it, but the end of a day. */
  readonly isSystemPosted?: boolean;
}

interface LoanCommandHeader extends CommandHeader {
  readonly loanAccountId: string;
}

/** When a transaction takes effect, and the details that its sender wants stored with it. */
export interface TransactionDetails {
  /** The day it takes effect; absent means the day of `receivedAt`. */
  readonly valueDate?: LocalDate;
  readonly bookingDate?: LocalDate;
  readonly externalId?: string;
  readonly notes?: string;
  readonly transactionDetails?: TransactionChannel;
  readonly additionalFields?: AdditionalFields;
}

/** The channel through which the money came or went. Stored for readers of the transaction; no rule depends on it. */
export interface TransactionChannel {
  readonly transactionChannelId?: string;
  readonly transactionChannelKey?: string;
}

/** A request to open a loan account. Absent fields take the product's defaults. */
export interface CreateLoan extends LoanCommandHeader {
  readonly type: 'CREATE_LOAN';
  /** A copy of the product the account is opened under; null when no product has the given key. */
  readonly product: LoanProduct | null;
  readonly loanName?: string;
  readonly accountHolderKey?: string;
  readonly accountHolderType?: 'CLIENT' | 'GROUP';
  readonly loanAmount: Decimal;
  readonly interestRate?: Decimal;
  readonly repaymentInstallments?: number;
  readonly repaymentPeriodCount?: number;
  readonly repaymentPeriodUnit?: RepaymentPeriodUnit;
  readonly gracePeriod?: number;
  readonly principalRepaymentInterval?: number;
  readonly firstRepaymentDueDateOffset?: number;
  readonly fixedDaysOfMonth?: readonly number[];
  readonly expectedDisbursementDate?: LocalDate;
  readonly firstRepaymentDate?: LocalDate;
  readonly penaltyRate?: Decimal;
  /** Optional fees of the product that the disbursement is to charge. */
  readonly disbursementFees?: readonly RequestedFee[];
  /** Days. */
  readonly arrearsTolerancePeriod?: number;
  readonly notes?: string;
  /** Settings of the product that were sent with the account. They must be the product's. */
  readonly repeatedSettings?: readonly RepeatedSetting[];
  readonly additionalFields?: AdditionalFields;
  /** The account that the new one replaces. No payload has it. */
  readonly originalAccount?: LinkedAccount;
}

/** An account that another one names. */
export interface LinkedAccount {
  readonly id: string;
  readonly encodedKey: string;
}

/** What an account is to be: all that may be asked of a new one. */
export type RequestedLoan = Omit<CreateLoan, 'type' | 'product' | keyof LoanCommandHeader>;

/** Changes an account to what is requested. */
export interface UpdateLoan extends LoanCommandHeader {
  readonly type: 'UPDATE_LOAN';
  readonly requested: RequestedLoan;
}

/** Removes an account before its approval. */
export interface DeleteLoan extends LoanCommandHeader {
  readonly type: 'DELETE_LOAN';
}

export const stateActions = [
  'REQUEST_APPROVAL',
  'SET_INCOMPLETE',
  'APPROVE',
  'UNDO_APPROVE',
  'REJECT',
  'UNDO_REJECT',
  'WITHDRAW',
  'UNDO_WITHDRAW',
  'CLOSE',
  'UNDO_CLOSE',
] as const;
export type StateAction = (typeof stateActions)[number];

export interface ChangeState extends LoanCommandHeader {
  readonly type: 'CHANGE_STATE';
  readonly action: StateAction;
  readonly notes?: string;
}

export interface Disburse extends LoanCommandHeader, TransactionDetails {
  readonly type: 'DISBURSE';
  readonly firstRepaymentDate?: LocalDate;
  /** The amount of the loan, if given: no loan is paid out in parts. */
  readonly amount?: Decimal;
  /** Optional fees of the product to charge. Required ones are always charged. */
  readonly fees: readonly RequestedFee[];
  /** Whether the money is owed already, by the account that this one replaces. No payload has it. */
  readonly isTransfer?: boolean;
}

/** A fee of the product to charge, and what it costs where the product leaves that open. */
export interface RequestedFee {
  readonly predefinedFeeKey: string;
  readonly amount?: Decimal;
  /** Percent, of a fee that is a percentage. */
  readonly percentage?: Decimal;
}

export interface CustomPaymentAmount {
  readonly customPaymentAmountType: CustomPaymentAmountType;
  readonly amount: Decimal;
  readonly predefinedFeeKey?: string;
}

export interface Repay extends LoanCommandHeader, TransactionDetails {
  /** The transaction that waited for its day and is posted now. No payload has it. */
  readonly futurePaymentKey?: string;
  readonly type: 'REPAY';
  readonly amount: Decimal;
  /** Empty: the product's allocation order decides. */
  readonly customPaymentAmounts: readonly CustomPaymentAmount[];
  /** The encodedKey of the only installment to pay. */
  readonly installmentEncodedKey?: string;
  readonly prepaymentRecalculationMethod?: PrepaymentRecalculationMethod;
}

export interface ApplyFee extends LoanCommandHeader, TransactionDetails {
  readonly type: 'APPLY_FEE';
  /** The encodedKey or id of one of the product's fees; absent means an arbitrary fee. */
  readonly predefinedFeeKey?: string;
  readonly amount?: Decimal;
  /** Mandatory for fixed-term loans, refused for dynamic ones. */
  readonly installmentNumber?: number;
}

export interface ApplyPenalty extends LoanCommandHeader, TransactionDetails {
  readonly type: 'APPLY_PENALTY';
  readonly amount: Decimal;
  readonly installmentNumber?: number;
}

export interface AdjustTransaction extends LoanCommandHeader {
  readonly type: 'ADJUST_TRANSACTION';
  /** The encodedKey or id of the transaction to undo. */
  readonly transactionId: string;
  readonly bookingDate?: LocalDate;
  readonly notes?: string;
}

export interface PrincipalOverpayment extends LoanCommandHeader, TransactionDetails {
  readonly type: 'PRINCIPAL_OVERPAYMENT';
  readonly amount: Decimal;
  readonly prepaymentRecalculationMethod?: PrepaymentRecalculationMethod;
}

/** Applies the interest that rows have earned, or that fell due with them, up to the value date. */
export interface ApplyInterest extends LoanCommandHeader, TransactionDetails {
  readonly type: 'APPLY_INTEREST';
}

/** Brings an account to the start of a business day: what has fallen due, is late or in arrears by then shows. */
export interface StartBusinessDay extends LoanCommandHeader {
  readonly type: 'START_BUSINESS_DAY';
  readonly businessDate: LocalDate;
}

/** Closes a business day for all accounts of a partition. */
export interface EndOfDay extends CommandHeader {
  readonly type: 'END_OF_DAY';
  readonly partition: number;
  /** The day to close. The next day is the business date after that. */
  readonly businessDate: LocalDate;
}

/** Pays all that is owed and closes the loan. */
export interface PayOff extends LoanCommandHeader, TransactionDetails {
  readonly type: 'PAY_OFF';
  readonly payOffAdjustableAmounts: PayOffAdjustableAmounts;
}

/** How much is paid of what is owed; the rest of it is forgiven. An absent amount is paid in full. */
export interface PayOffAdjustableAmounts {
  readonly interestPaid?: Decimal;
  readonly feesPaid?: Decimal;
  readonly penaltyPaid?: Decimal;
  /** Of the fees outside the schedule. */
  readonly nonScheduledFeeAmount?: Decimal;
}

interface Reduction extends LoanCommandHeader, TransactionDetails {
  readonly amount: Decimal;
  /** Absent: of all installments, those due first first. */
  readonly installmentNumber?: number;
}

export interface ReduceInterest extends Reduction {
  readonly type: 'REDUCE_INTEREST';
}

export interface ReduceFees extends Reduction {
  readonly type: 'REDUCE_FEES';
}

export interface ReducePenalties extends Reduction {
  readonly type: 'REDUCE_PENALTIES';
}

/** Gives up all that is owed. */
export interface WriteOff extends LoanCommandHeader, TransactionDetails {
  readonly type: 'WRITE_OFF';
}

export interface UndoWriteOff extends LoanCommandHeader {
  readonly type: 'UNDO_WRITE_OFF';
  readonly bookingDate?: LocalDate;
  readonly notes?: string;
}

/** What a lock can keep from happening: no interest is earned, no fees or no penalties are charged. */
export const lockedOperations = ['APPLY_INTEREST', 'APPLY_FEES', 'APPLY_PENALTIES'] as const;
export type LockedOperation = (typeof lockedOperations)[number];

/** Keeps interest, fees or penalties from growing. Repayments stay possible. */
export interface Lock extends LoanCommandHeader, TransactionDetails {
  readonly type: 'LOCK';
  readonly lockedOperations: readonly LockedOperation[];
}

/** Ends every lock of the account. */
export interface Unlock extends LoanCommandHeader, TransactionDetails {
  readonly type: 'UNLOCK';
}

/** Takes back a part or all of what a disbursement paid out. */
export interface Refund extends LoanCommandHeader, TransactionDetails {
  readonly type: 'REFUND';
  readonly amount: Decimal;
  /** The encodedKey of the disbursement. */
  readonly linkedDisbursementKey: string;
}

/** Makes all that is outstanding due on the value date. */
export interface Terminate extends LoanCommandHeader, TransactionDetails {
  readonly type: 'TERMINATE';
}

/** Lays the rows that are still to come on the working days of the calendar in force. */
export interface RecalculateDueDates extends LoanCommandHeader, TransactionDetails {
  readonly type: 'RECALCULATE_DUE_DATES';
  /** The day up to which no row moves. Absent: the last day that the account has reached. No payload has it. */
  readonly valueDate?: LocalDate;
}

/** Erases what the account and its transactions keep of persons. */
export interface ErasePersonalData extends LoanCommandHeader {
  readonly type: 'ERASE_PERSONAL_DATA';
}

/** How much of each element is given up when an account is replaced; absent is nothing. */
export interface WriteOffAmounts {
  readonly principal?: Decimal;
  readonly interest?: Decimal;
  readonly fee?: Decimal;
  readonly penalty?: Decimal;
}

/** What the account that replaces another one may be asked to be. The rest is as of the other, or of the product. */
export type ReplacingLoan = Pick<
  RequestedLoan,
  | 'loanName'
  | 'interestRate'
  | 'repaymentInstallments'
  | 'repaymentPeriodCount'
  | 'repaymentPeriodUnit'
  | 'gracePeriod'
  | 'fixedDaysOfMonth'
  | 'firstRepaymentDate'
  | 'penaltyRate'
  | 'arrearsTolerancePeriod'
  | 'notes'
>;

/**
 * Closes the account, and opens another one with what it owes: under other terms (RESCHEDULE), or with more money too
 * (REFINANCE).
 */
export interface RestructuringCommand extends LoanCommandHeader {
  readonly type: 'RESCHEDULE' | 'REFINANCE';
  /** The product of the new account; null when no product has the given key. */
  readonly product: LoanProduct | null;
  readonly newAccountId: string;
  readonly account: ReplacingLoan;
  readonly writeOffAmounts: WriteOffAmounts;
  /** What is paid out in addition; zero of RESCHEDULE. */
  readonly topUpAmount: Decimal;
  /** The day of it; absent means the day of `receivedAt`. */
  readonly valueDate?: LocalDate;
}

/** Takes back what RESCHEDULE or REFINANCE did. It may name either of the two accounts. */
export interface UndoRestructuringCommand extends LoanCommandHeader {
  readonly type: 'UNDO_RESCHEDULE' | 'UNDO_REFINANCE';
  readonly notes?: string;
}
