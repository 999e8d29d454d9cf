/* Made from schemas/ by `npm run generate`. Do not edit. */

/**
 * Id of a loan account or a product.
 */
type AccountId = string;
type OptionalText = string | null;
type Number = number;
type OptionalNumber = number | null;
type OptionalCount = number | null;
/**
 * @maxItems 200
 */
type Days = Count[] | null;
type Count = number;
/**
 * A calendar day; of an instant, the day as its sender wrote it.
 */
type OptionalDay = string | null;
type OptionalNotes = string | null;
type Text = string;
/**
 * What an account gets when it asks for nothing, and what it may ask for.
 */
type BoundedNumber = {
  defaultValue?: OptionalNumber;
  minValue?: OptionalNumber;
  maxValue?: OptionalNumber;
} | null;
/**
 * What an account gets when it asks for nothing, and what it may ask for.
 */
type BoundedCount = {
  defaultValue?: OptionalCount;
  minValue?: OptionalCount;
  maxValue?: OptionalCount;
} | null;
/**
 * An encodedKey.
 */
type Key = string;
type Uuid = string;
/**
 * An encodedKey, or null where there is none.
 */
type OptionalKey = string | null;
type OptionalTransactionType =
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
type OptionalDate = string | null;
type Instant = string;
type TransactionType =
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
type Amount = number;
type FeeTrigger =
  'MANUAL' | 'DISBURSEMENT' | 'CAPITALIZED_DISBURSEMENT' | 'UPFRONT_DISBURSEMENT' | 'PAYMENT_DUE' | 'ARBITRARY';
type Date = string;
type OptionalInstant = string | null;
type AccountState = 'PARTIAL_APPLICATION' | 'PENDING_APPROVAL' | 'APPROVED' | 'ACTIVE' | 'CLOSED';
type OptionalAccountSubState = 'REPAID' | 'REJECTED' | 'WITHDRAWN' | null;
type OptionalAccountState = 'PARTIAL_APPLICATION' | 'PENDING_APPROVAL' | 'APPROVED' | 'ACTIVE' | 'CLOSED' | null;

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
interface LoanCommand {
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
  payload?:
    | CreateLoanPayload
    | ChangeStatePayload
    | DisbursePayload
    | RepayPayload
    | ApplyFeePayload
    | ApplyPenaltyPayload
    | AdjustTransactionPayload
    | PrincipalOverpaymentPayload
    | CreateProductPayload;
}
interface CreateLoanPayload {
  id?: OptionalText;
  loanName?: OptionalText;
  accountHolderKey?: OptionalText;
  accountHolderType?: 'CLIENT' | 'GROUP' | null;
  /**
   * encodedKey or id of the product.
   */
  productTypeKey: string;
  loanAmount: Number;
  interestSettings?: {
    interestRate?: OptionalNumber;
  } | null;
  scheduleSettings?: {
    repaymentInstallments?: OptionalCount;
    repaymentPeriodCount?: OptionalCount;
    gracePeriod?: OptionalCount;
    principalRepaymentInterval?: OptionalCount;
    defaultFirstRepaymentDueDateOffset?: OptionalCount;
    fixedDaysOfMonth?: Days;
  } | null;
  disbursementDetails?: {
    expectedDisbursementDate?: OptionalDay;
    firstRepaymentDate?: OptionalDay;
  } | null;
  penaltySettings?: {
    penaltyRate?: OptionalNumber;
  } | null;
  notes?: OptionalNotes;
}
interface ChangeStatePayload {
  action:
    | 'REQUEST_APPROVAL'
    | 'SET_INCOMPLETE'
    | 'APPROVE'
    | 'UNDO_APPROVE'
    | 'REJECT'
    | 'UNDO_REJECT'
    | 'WITHDRAW'
    | 'UNDO_WITHDRAW';
  notes?: OptionalNotes;
}
interface DisbursePayload {
  valueDate?: OptionalDay;
  bookingDate?: OptionalDay;
  externalId?: OptionalText;
  notes?: OptionalNotes;
  /**
   * Accepted, not kept.
   */
  transactionDetails?: {
    [k: string]: unknown;
  } | null;
  firstRepaymentDate?: OptionalDay;
  /**
   * @maxItems 200
   */
  fees?:
    | {
        predefinedFeeKey: Text;
        amount?: OptionalNumber;
      }[]
    | null;
}
interface RepayPayload {
  valueDate?: OptionalDay;
  bookingDate?: OptionalDay;
  externalId?: OptionalText;
  notes?: OptionalNotes;
  /**
   * Accepted, not kept.
   */
  transactionDetails?: {
    [k: string]: unknown;
  } | null;
  amount: Number;
  /**
   * @maxItems 200
   */
  customPaymentAmounts?:
    | {
        customPaymentAmountType:
          | 'PRINCIPAL'
          | 'INTEREST'
          | 'MANUAL_FEE'
          | 'UPFRONT_DISBURSEMENT_FEE'
          | 'PAYMENT_DUE_FEE'
          | 'PENALTY'
          | 'NON_SCHEDULED_FEE';
        amount: Number;
        predefinedFeeKey?: OptionalText;
      }[]
    | null;
  prepaymentRecalculationMethod?:
    | 'NO_RECALCULATION'
    | 'RESCHEDULE_REMAINING_REPAYMENTS'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT'
    | 'REDUCE_AMOUNT_PER_INSTALLMENT'
    | 'REDUCE_NUMBER_OF_INSTALLMENTS_NEW'
    | null;
}
interface ApplyFeePayload {
  valueDate?: OptionalDay;
  bookingDate?: OptionalDay;
  externalId?: OptionalText;
  notes?: OptionalNotes;
  /**
   * Accepted, not kept.
   */
  transactionDetails?: {
    [k: string]: unknown;
  } | null;
  predefinedFeeKey?: OptionalText;
  amount?: OptionalNumber;
  installmentNumber?: OptionalCount;
}
interface ApplyPenaltyPayload {
  valueDate?: OptionalDay;
  bookingDate?: OptionalDay;
  externalId?: OptionalText;
  notes?: OptionalNotes;
  /**
   * Accepted, not kept.
   */
  transactionDetails?: {
    [k: string]: unknown;
  } | null;
  amount: Number;
  installmentNumber?: OptionalCount;
}
interface AdjustTransactionPayload {
  /**
   * encodedKey or id of the transaction to undo.
   */
  transactionId: string;
  bookingDate?: OptionalDay;
  notes?: OptionalNotes;
}
interface PrincipalOverpaymentPayload {
  valueDate?: OptionalDay;
  bookingDate?: OptionalDay;
  externalId?: OptionalText;
  notes?: OptionalNotes;
  /**
   * Accepted, not kept.
   */
  transactionDetails?: {
    [k: string]: unknown;
  } | null;
  amount: Number;
  prepaymentRecalculationMethod?:
    | 'NO_RECALCULATION'
    | 'RESCHEDULE_REMAINING_REPAYMENTS'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT'
    | 'REDUCE_AMOUNT_PER_INSTALLMENT'
    | 'REDUCE_NUMBER_OF_INSTALLMENTS_NEW'
    | null;
}
interface CreateProductPayload {
  encodedKey?: OptionalText;
  id?: OptionalText;
  name: Text;
  type: 'FIXED_TERM_LOAN' | 'DYNAMIC_TERM_LOAN';
  state?: 'ACTIVE' | 'INACTIVE' | null;
  notes?: OptionalNotes;
  /**
   * Accepted, not kept.
   */
  creationDate?: {
    [k: string]: unknown;
  };
  /**
   * Accepted, not kept.
   */
  lastModifiedDate?: {
    [k: string]: unknown;
  };
  currency: {
    code: string;
    /**
     * Accepted, not kept.
     */
    currencyCode?: {
      [k: string]: unknown;
    };
    /**
     * Accepted, not kept: the code says it.
     */
    digits?: {
      [k: string]: unknown;
    };
  };
  loanAmountSettings?: {
    loanAmount?: BoundedNumber;
  } | null;
  interestSettings?: {
    interestRate?: BoundedNumber;
    interestChargeFrequency?:
      'ANNUALIZED' | 'EVERY_MONTH' | 'EVERY_FOUR_WEEKS' | 'EVERY_WEEK' | 'EVERY_DAY' | 'EVERY_X_DAYS' | null;
    interestChargeFrequencyCount?: OptionalCount;
    interestType?: 'SIMPLE_INTEREST' | 'COMPOUNDING_INTEREST' | null;
    interestCalculationMethod?: 'FLAT' | 'DECLINING_BALANCE' | 'DECLINING_BALANCE_DISCOUNTED' | null;
    daysInYear?:
      'ACTUAL_365_FIXED' | 'ACTUAL_364' | 'ACTUAL_360' | 'ACTUAL_ACTUAL_ISDA' | 'E30_360' | 'E30_42_365' | null;
    scheduleInterestDaysCountMethod?: 'REPAYMENT_PERIODICITY' | 'ACTUAL_DAYS_COUNT' | null;
    accrueLateInterest?: boolean | null;
  } | null;
  scheduleSettings?: {
    scheduleDueDatesMethod?: 'INTERVAL' | 'FIXED_DAYS_OF_MONTH' | null;
    repaymentPeriodUnit?: 'DAYS' | 'WEEKS' | 'MONTHS' | 'YEARS' | null;
    defaultRepaymentPeriodCount?: OptionalCount;
    fixedDaysOfMonth?: Days;
    shortMonthHandlingMethod?: 'LAST_DAY_IN_MONTH' | 'FIRST_DAY_OF_NEXT_MONTH' | null;
    numInstallments?: BoundedCount;
    firstRepaymentDueDateOffset?: BoundedCount;
    defaultPrincipalRepaymentInterval?: OptionalCount;
    roundingSettings?: {
      roundingMode?: 'HALF_UP' | 'HALF_EVEN' | null;
      repaymentCurrencyRounding?:
        'NO_ROUNDING' | 'ROUND_TO_NEAREST_WHOLE_UNIT' | 'ROUND_UP_TO_NEAREST_WHOLE_UNIT' | null;
      repaymentElementsRoundingMethod?: 'NO_ROUNDING' | 'ROUND_ALL' | 'PAYMENT_DUE' | null;
      roundingRepaymentScheduleMethod?:
        | 'NO_ROUNDING'
        | 'ROUND_REMAINDER_INTO_LAST_REPAYMENT'
        | 'ROUND_PRINCIPAL_AND_INTEREST_REMAINDER_INTO_LAST_REPAYMENT'
        | null;
    } | null;
  } | null;
  gracePeriodSettings?: {
    gracePeriodType?: 'NONE' | 'PAY_INTEREST_ONLY' | null;
    gracePeriod?: BoundedCount;
  } | null;
  paymentSettings?: {
    amortizationMethod?: 'STANDARD_PAYMENTS' | 'OPTIMIZED_PAYMENTS' | null;
    paymentMethod?: 'HORIZONTAL' | null;
    /**
     * @minItems 4
     * @maxItems 4
     */
    repaymentAllocationOrder?: ('PRINCIPAL' | 'INTEREST' | 'FEE' | 'PENALTY')[] | null;
    prepaymentSettings?: {
      prepaymentAcceptance?: 'ACCEPT_PREPAYMENTS' | 'NO_PREPAYMENTS' | null;
      prepaymentRecalculationMethod?:
        | 'NO_RECALCULATION'
        | 'RESCHEDULE_REMAINING_REPAYMENTS'
        | 'RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS'
        | 'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT'
        | 'REDUCE_AMOUNT_PER_INSTALLMENT'
        | 'REDUCE_NUMBER_OF_INSTALLMENTS_NEW'
        | null;
    } | null;
  } | null;
  feesSettings?: {
    allowArbitraryFees?: boolean | null;
    /**
     * @maxItems 200
     */
    fees?:
      | {
          encodedKey?: OptionalText;
          id?: OptionalText;
          name: Text;
          trigger:
            | 'MANUAL'
            | 'DISBURSEMENT'
            | 'CAPITALIZED_DISBURSEMENT'
            | 'UPFRONT_DISBURSEMENT'
            | 'PAYMENT_DUE'
            | 'ARBITRARY';
          amountCalculationMethod?:
            | 'FLAT'
            | 'LOAN_AMOUNT_PERCENTAGE'
            | 'REPAYMENT_PRINCIPAL_AMOUNT_PERCENTAGE'
            | 'LOAN_AMOUNT_PERCENTAGE_NUMBER_OF_INSTALLMENTS'
            | 'FLAT_NUMBER_OF_INSTALLMENTS'
            | null;
          amount?: OptionalNumber;
          percentageAmount?: OptionalNumber;
          feeApplication?: 'REQUIRED' | 'OPTIONAL' | null;
          state?: 'ACTIVE' | 'INACTIVE' | null;
          allocation?: 'INSTALLMENT' | 'NO_ALLOCATION' | null;
        }[]
      | null;
  } | null;
  taxSettings?: {
    taxRate?: OptionalNumber;
    taxCalculationMethod?: 'INCLUSIVE' | 'EXCLUSIVE' | null;
    taxesOnInterestEnabled?: boolean | null;
    taxesOnFeesEnabled?: boolean | null;
    taxesOnPenaltyEnabled?: boolean | null;
  } | null;
  newAccountSettings?: {
    accountInitialState?: 'PARTIAL_APPLICATION' | 'PENDING_APPROVAL' | null;
  } | null;
  /**
   * Whether the first level payment carries what a first period of irregular length earns more or less.
   */
  adjustInterestForFirstInstallment?: boolean | null;
  allowCustomRepaymentAllocation?: boolean | null;
}
/**
 * A transaction was posted to the account.
 */
interface LoanTransactionPosted {
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
interface Toggles {
  ALLOW_NON_SCHEDULED_FEES: boolean;
  PRINCIPAL_OVERPAYMENT: boolean;
  fixInstallmentTaxOnPenalty: boolean;
}
interface Transaction {
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
interface LoanFeeEvent {
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
interface FeeBalances {
  feesDue: Amount;
  feesPaid: Amount;
  feesBalance: Amount;
}
/**
 * With the toggle ALLOW_NON_SCHEDULED_FEES on.
 */
interface FeeBalancesWithNonScheduled {
  scheduledFeesDue: Amount;
  scheduledFeesPaid: Amount;
  scheduledFeesBalance: Amount;
  nonScheduledFeeBalance: Amount;
  nonScheduledFeePaidBalance: Amount;
}
/**
 * One for each transaction that was posted: what it changed, and every balance after it. The fee balances have the names that the toggle ALLOW_NON_SCHEDULED_FEES asks for.
 */
interface LoanBalanceChanged {
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
interface BalanceChange {
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
interface Balances {
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
interface BalancesWithNonScheduledFees {
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
interface LoanScheduleChanged {
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
interface Installment {
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
interface Portion {
  expected: Amount;
  paid: Amount;
  due: Amount;
}
/**
 * The amount contains the tax.
 */
interface TaxedPortion {
  amount: Portion;
  tax: Portion;
}
/**
 * The account went from one state to another.
 */
interface LoanStateChanged {
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
interface CommandRejected {
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
interface ApiError {
  errorCode: number;
  errorReason: string;
  errorSource: string | null;
  errorMessage?: string;
}
