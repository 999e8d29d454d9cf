/* Made from schemas/ by `npm run generate`. Do not edit. */

/**
 * Id of a loan account or a product.
 */
export type AccountId = string;
/**
 * An encodedKey.
 */
export type Key = string;
export type Uuid = string;
/**
 * An encodedKey, or null where there is none.
 */
export type OptionalKey = string | null;
export type OptionalTransactionType =
  | 'DISBURSMENT'
  | 'REPAYMENT'
  | 'FEE_CHARGED'
  | 'PENALTY_APPLIED'
  | 'PRINCIPAL_OVERPAYMENT'
  | 'DISBURSMENT_ADJUSTMENT'
  | 'REPAYMENT_ADJUSTMENT'
  | 'FEE_ADJUSTMENT'
  | 'PENALTY_ADJUSTMENT'
  | 'PRINCIPAL_OVERPAYMENT_ADJUSTMENT'
  | null;
export type OptionalDate = string | null;
export type Instant = string;
export type TransactionType =
  | 'DISBURSMENT'
  | 'REPAYMENT'
  | 'FEE_CHARGED'
  | 'PENALTY_APPLIED'
  | 'PRINCIPAL_OVERPAYMENT'
  | 'DISBURSMENT_ADJUSTMENT'
  | 'REPAYMENT_ADJUSTMENT'
  | 'FEE_ADJUSTMENT'
  | 'PENALTY_ADJUSTMENT'
  | 'PRINCIPAL_OVERPAYMENT_ADJUSTMENT';
/**
 * Exact, with the digits of the loan's currency.
 */
export type Amount = number;
export type OptionalNumber = number | null;
export type FeeTrigger =
  'MANUAL' | 'DISBURSEMENT' | 'CAPITALIZED_DISBURSEMENT' | 'UPFRONT_DISBURSEMENT' | 'PAYMENT_DUE' | 'ARBITRARY';
export type Text = string;
export type Date = string;
export type OptionalInstant = string | null;
export type AccountState = 'PARTIAL_APPLICATION' | 'PENDING_APPROVAL' | 'APPROVED' | 'ACTIVE' | 'CLOSED';
export type OptionalAccountSubState = 'REPAID' | 'REJECTED' | 'WITHDRAWN' | null;
export type OptionalAccountState = 'PARTIAL_APPLICATION' | 'PENDING_APPROVAL' | 'APPROVED' | 'ACTIVE' | 'CLOSED' | null;

/**
 * Every message of lending by the name of its event type.
 */
export interface LendingMessages {
  'lendstream.loan-commands': LoanCommand;
  loan_transaction_posted: LoanTransactionPosted;
  loan_fee_event: LoanFeeEvent;
  loan_balance_changed: LoanBalanceChanged;
  loan_schedule_changed: LoanScheduleChanged;
  loan_state_changed: LoanStateChanged;
  command_rejected: CommandRejected;
}
/**
 * A command for a loan or, for CREATE_PRODUCT, for a product. The payload has the fields of the REST body of the same request. A number may have at most fifteen significant digits.
 */
export interface LoanCommand {
  /**
   * As every published event has it.
   */
  metadata?: {
    [k: string]: unknown;
  };
  /**
   * A command sent twice under one id changes the loan once. Absent: the event's eid.
   */
  commandId?: string;
  type:
    | 'CREATE_LOAN'
    | 'CHANGE_STATE'
    | 'DISBURSE'
    | 'REPAY'
    | 'APPLY_FEE'
    | 'APPLY_PENALTY'
    | 'ADJUST_TRANSACTION'
    | 'PRINCIPAL_OVERPAYMENT'
    | 'CREATE_PRODUCT';
  loanAccountId?: AccountId;
  loanProductId?: AccountId;
  payload?: {
    [k: string]: unknown;
  };
}
/**
 * A transaction was posted to the account.
 */
export interface LoanTransactionPosted {
  /**
   * As every published event has it.
   */
  metadata?: {
    [k: string]: unknown;
  };
  schemaVersion: 1;
  loanAccountId: AccountId;
  loanAccountEncodedKey: Key;
  /**
   * encodedKey of the product.
   */
  productTypeKey: string;
  /**
   * Counts the events of the loan over all types, from 1, without a gap.
   */
  sequence: number;
  causationCommandId: Uuid;
  transactionEncodedKey: OptionalKey;
  transactionType: OptionalTransactionType;
  valueDate: OptionalDate;
  bookingDate: OptionalDate;
  creationDate: Instant;
  toggles: Toggles;
  name:
    | 'loan_disbursed'
    | 'loan_repayment'
    | 'loan_fee_applied'
    | 'loan_penalty_applied'
    | 'loan_principal_overpaid'
    | 'loan_disbursement_reversed'
    | 'loan_repayment_reversed'
    | 'loan_fee_reversed'
    | 'loan_penalty_reversed'
    | 'loan_principal_overpayment_reversed';
  transaction: Transaction;
}
/**
 * The toggles under which the event was made.
 */
export interface Toggles {
  ALLOW_NON_SCHEDULED_FEES: boolean;
  PRINCIPAL_OVERPAYMENT: boolean;
  fixInstallmentTaxOnPenalty: boolean;
}
export interface Transaction {
  encodedKey: Key;
  id: string;
  parentAccountKey: Key;
  type: TransactionType;
  /**
   * Negative for an adjustment.
   */
  amount: number;
  valueDate: Instant;
  bookingDate: Instant;
  creationDate: Instant;
  currency: {
    code: string;
  };
  affectedAmounts: {
    principalAmount: Amount;
    interestAmount: Amount;
    feesAmount: Amount;
    penaltyAmount: Amount;
  };
  taxes: {
    /**
     * Percent.
     */
    taxRate: number;
    taxOnInterestAmount: Amount;
    taxOnFeesAmount: Amount;
    taxOnPenaltyAmount: Amount;
  };
  terms: {
    interestSettings: {
      /**
       * Percent.
       */
      interestRate: number;
    };
    periodicPayment: OptionalNumber;
  };
  accountBalances: {
    principalBalance: Amount;
    totalBalance: Amount;
  };
  fees: {
    predefinedFeeKey: string | null;
    name: string;
    trigger: FeeTrigger;
    amount: Amount;
    taxAmount: Amount;
  }[];
  customPaymentAmounts: {
    customPaymentAmountType:
      | 'PRINCIPAL'
      | 'INTEREST'
      | 'MANUAL_FEE'
      | 'UPFRONT_DISBURSEMENT_FEE'
      | 'PAYMENT_DUE_FEE'
      | 'PENALTY'
      | 'NON_SCHEDULED_FEE';
    amount: Amount;
    predefinedFeeKey?: Text;
  }[];
  prepaymentRecalculationMethod:
    | 'NO_RECALCULATION'
    | 'RESCHEDULE_REMAINING_REPAYMENTS'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT'
    | 'REDUCE_AMOUNT_PER_INSTALLMENT'
    | 'REDUCE_NUMBER_OF_INSTALLMENTS_NEW'
    | null;
  installmentEncodedKey: OptionalKey;
  externalId: string | null;
  notes: string | null;
  adjustmentTransactionKey: OptionalKey;
  originalTransactionKey: OptionalKey;
}
/**
 * One for each fee that was charged, paid, capitalised or taken back.
 */
export interface LoanFeeEvent {
  /**
   * As every published event has it.
   */
  metadata?: {
    [k: string]: unknown;
  };
  schemaVersion: 1;
  loanAccountId: AccountId;
  loanAccountEncodedKey: Key;
  /**
   * encodedKey of the product.
   */
  productTypeKey: string;
  /**
   * Counts the events of the loan over all types, from 1, without a gap.
   */
  sequence: number;
  causationCommandId: Uuid;
  transactionEncodedKey: OptionalKey;
  transactionType: OptionalTransactionType;
  valueDate: OptionalDate;
  bookingDate: OptionalDate;
  creationDate: Instant;
  toggles: Toggles;
  feeEvent: 'APPLIED' | 'PAID' | 'ADJUSTED' | 'CAPITALISED';
  /**
   * Of ADJUSTED: whether a charge or a payment is taken back.
   */
  adjusts?: 'APPLIED' | 'PAID';
  feeKey: Key;
  /**
   * Null for an arbitrary fee.
   */
  predefinedFeeKey: string | null;
  feeName: string;
  trigger: FeeTrigger;
  /**
   * Exact, with the digits of the loan's currency.
   */
  amount: number;
  tax: Amount;
  allocation: 'INSTALLMENT' | 'NO_ALLOCATION';
  installmentKey?: Key;
  installmentNumber?: number;
  balances: FeeBalances | FeeBalancesWithNonScheduled;
}
/**
 * With the toggle ALLOW_NON_SCHEDULED_FEES off.
 */
export interface FeeBalances {
  feesDue: Amount;
  feesPaid: Amount;
  feesBalance: Amount;
}
/**
 * With the toggle ALLOW_NON_SCHEDULED_FEES on.
 */
export interface FeeBalancesWithNonScheduled {
  scheduledFeesDue: Amount;
  scheduledFeesPaid: Amount;
  scheduledFeesBalance: Amount;
  nonScheduledFeeBalance: Amount;
  nonScheduledFeePaidBalance: Amount;
}
/**
 * One for each transaction that was posted: what it changed, and every balance after it. The fee balances have the names that the toggle ALLOW_NON_SCHEDULED_FEES asks for.
 */
export interface LoanBalanceChanged {
  /**
   * As every published event has it.
   */
  metadata?: {
    [k: string]: unknown;
  };
  schemaVersion: 1;
  loanAccountId: AccountId;
  loanAccountEncodedKey: Key;
  /**
   * encodedKey of the product.
   */
  productTypeKey: string;
  /**
   * Counts the events of the loan over all types, from 1, without a gap.
   */
  sequence: number;
  causationCommandId: Uuid;
  transactionEncodedKey: OptionalKey;
  transactionType: OptionalTransactionType;
  valueDate: OptionalDate;
  bookingDate: OptionalDate;
  creationDate: Instant;
  toggles: Toggles;
  changes: BalanceChange[];
  balances: Balances | BalancesWithNonScheduledFees;
}
export interface BalanceChange {
  type:
    | 'principalDue'
    | 'principalPaid'
    | 'principalBalance'
    | 'interestDue'
    | 'interestPaid'
    | 'interestBalance'
    | 'feesDue'
    | 'feesPaid'
    | 'feesBalance'
    | 'scheduledFeesDue'
    | 'scheduledFeesPaid'
    | 'scheduledFeesBalance'
    | 'nonScheduledFeeBalance'
    | 'nonScheduledFeePaidBalance'
    | 'penaltyDue'
    | 'penaltyPaid'
    | 'penaltyBalance';
  amount: Amount;
  balanceAfter: Amount;
  applicationDate: Date;
  creationDate: Instant;
  loanAccountEncodedKey: Key;
  loanTransactionEncodedKey: Key;
}
/**
 * With the toggle ALLOW_NON_SCHEDULED_FEES off.
 */
export interface Balances {
  principalDue: Amount;
  principalPaid: Amount;
  principalBalance: Amount;
  interestDue: Amount;
  interestPaid: Amount;
  interestBalance: Amount;
  feesDue: Amount;
  feesPaid: Amount;
  feesBalance: Amount;
  penaltyDue: Amount;
  penaltyPaid: Amount;
  penaltyBalance: Amount;
}
/**
 * With the toggle ALLOW_NON_SCHEDULED_FEES on.
 */
export interface BalancesWithNonScheduledFees {
  principalDue: Amount;
  principalPaid: Amount;
  principalBalance: Amount;
  interestDue: Amount;
  interestPaid: Amount;
  interestBalance: Amount;
  scheduledFeesDue: Amount;
  scheduledFeesPaid: Amount;
  scheduledFeesBalance: Amount;
  nonScheduledFeeBalance: Amount;
  nonScheduledFeePaidBalance: Amount;
  penaltyDue: Amount;
  penaltyPaid: Amount;
  penaltyBalance: Amount;
}
/**
 * The installments that changed, whole, and those that are gone: taking all events of a loan together gives its schedule.
 */
export interface LoanScheduleChanged {
  /**
   * As every published event has it.
   */
  metadata?: {
    [k: string]: unknown;
  };
  schemaVersion: 1;
  loanAccountId: AccountId;
  loanAccountEncodedKey: Key;
  /**
   * encodedKey of the product.
   */
  productTypeKey: string;
  /**
   * Counts the events of the loan over all types, from 1, without a gap.
   */
  sequence: number;
  causationCommandId: Uuid;
  transactionEncodedKey: OptionalKey;
  transactionType: OptionalTransactionType;
  valueDate: OptionalDate;
  bookingDate: OptionalDate;
  creationDate: Instant;
  toggles: Toggles;
  reason: 'DISBURSED' | 'REPAID' | 'PREPAYMENT_RECALCULATED' | 'FEE_APPLIED' | 'PENALTY_APPLIED' | 'ADJUSTED';
  /**
   * Counts the schedule events of the loan, from 1.
   */
  scheduleVersion: number;
  changedInstallments: Installment[];
  removedInstallmentKeys: Key[];
  summary: {
    count: number;
    nextDueDate: OptionalInstant;
    totalDue: Amount;
  };
}
export interface Installment {
  encodedKey: Key;
  parentAccountKey: Key;
  number: string;
  dueDate: Instant;
  state: 'PENDING' | 'LATE' | 'PARTIALLY_PAID' | 'PAID' | 'GRACE';
  isPaymentHoliday: boolean;
  lastPaidDate: OptionalInstant;
  repaidDate: OptionalInstant;
  lastPenaltyAppliedDate: OptionalInstant;
  principal: {
    amount: Portion;
  };
  interest: TaxedPortion;
  fee: {
    amount: {
      expected: Amount;
      paid: Amount;
      due: Amount;
      expectedUnapplied: Amount;
    };
    tax: Portion;
  };
  penalty: TaxedPortion;
  /**
   * Exact, with the digits of the loan's currency.
   */
  nonScheduledPrincipalBalanceOverpayment?: number;
}
/**
 * expected = paid + due
 */
export interface Portion {
  expected: Amount;
  paid: Amount;
  due: Amount;
}
/**
 * The amount contains the tax.
 */
export interface TaxedPortion {
  amount: Portion;
  tax: Portion;
}
/**
 * The account went from one state to another.
 */
export interface LoanStateChanged {
  /**
   * As every published event has it.
   */
  metadata?: {
    [k: string]: unknown;
  };
  schemaVersion: 1;
  loanAccountId: AccountId;
  loanAccountEncodedKey: Key;
  /**
   * encodedKey of the product.
   */
  productTypeKey: string;
  /**
   * Counts the events of the loan over all types, from 1, without a gap.
   */
  sequence: number;
  causationCommandId: Uuid;
  transactionEncodedKey: OptionalKey;
  transactionType: OptionalTransactionType;
  valueDate: OptionalDate;
  bookingDate: OptionalDate;
  creationDate: Instant;
  toggles: Toggles;
  name:
    | 'loan_created'
    | 'loan_approval_requested'
    | 'loan_set_incomplete'
    | 'loan_approved'
    | 'loan_approval_undone'
    | 'loan_rejected'
    | 'loan_rejection_undone'
    | 'loan_withdrawn'
    | 'loan_withdrawal_undone'
    | 'loan_activated'
    | 'loan_deactivated'
    | 'loan_closed'
    | 'loan_reopened';
  accountState: AccountState;
  accountSubState: OptionalAccountSubState;
  previousAccountState: OptionalAccountState;
  previousAccountSubState: OptionalAccountSubState;
}
/**
 * A command was refused by the rules of lending and changed nothing. It is about a loan or, for CREATE_PRODUCT, about a product.
 */
export interface CommandRejected {
  /**
   * As every published event has it.
   */
  metadata?: {
    [k: string]: unknown;
  };
  schemaVersion: 1;
  loanAccountId?: AccountId;
  loanProductId?: AccountId;
  causationCommandId: Uuid;
  commandType:
    | 'CREATE_LOAN'
    | 'CHANGE_STATE'
    | 'DISBURSE'
    | 'REPAY'
    | 'APPLY_FEE'
    | 'APPLY_PENALTY'
    | 'ADJUST_TRANSACTION'
    | 'PRINCIPAL_OVERPAYMENT'
    | 'CREATE_PRODUCT';
  creationDate: Instant;
  toggles: Toggles;
  /**
   * @minItems 1
   */
  errors: ApiError[];
}
export interface ApiError {
  errorCode: number;
  errorReason: string;
  errorSource: string | null;
  errorMessage?: string;
}
