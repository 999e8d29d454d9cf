/** What belongs to one type of transaction. A type is a row of the table below. */
interface TransactionRow {
  /** The type of the transaction that takes one of this type back. */
  readonly adjustment: string;
  /** The name of its event, and of the event of its adjustment. */
  readonly eventName: string;
  readonly reversedEventName: string;
  /** Why the schedule changed with it. */
  readonly scheduleReason: string;
}

/** The types of transactions, with the names that the lending API gives them. */
const rows = {
  DISBURSEMENT: {
    adjustment: 'DISBURSEMENT_ADJUSTMENT',
    eventName: 'loan_disbursed',
    reversedEventName: 'loan_disbursement_reversed',
    scheduleReason: 'DISBURSED',
  },
  REPAYMENT: {
    adjustment: 'REPAYMENT_ADJUSTMENT',
    eventName: 'loan_repayment',
    reversedEventName: 'loan_repayment_reversed',
    scheduleReason: 'REPAID',
  },
  FEE_CHARGED: {
    adjustment: 'FEE_ADJUSTMENT',
    eventName: 'loan_fee_applied',
    reversedEventName: 'loan_fee_reversed',
    scheduleReason: 'FEE_APPLIED',
  },
  PENALTY_APPLIED: {
    adjustment: 'PENALTY_ADJUSTMENT',
    eventName: 'loan_penalty_applied',
    reversedEventName: 'loan_penalty_reversed',
    scheduleReason: 'PENALTY_APPLIED',
  },
  PRINCIPAL_OVERPAYMENT: {
    adjustment: 'PRINCIPAL_OVERPAYMENT_ADJUSTMENT',
    eventName: 'loan_principal_overpaid',
    reversedEventName: 'loan_principal_overpayment_reversed',
    scheduleReason: 'PREPAYMENT_RECALCULATED',
  },
  INTEREST_APPLIED: {
    adjustment: 'INTEREST_APPLIED_ADJUSTMENT',
    eventName: 'loan_interest_applied',
    reversedEventName: 'loan_interest_application_reversed',
    scheduleReason: 'INTEREST_APPLIED',
  },
  INTEREST_DUE_REDUCED: {
    adjustment: 'INTEREST_REDUCTION_ADJUSTMENT',
    eventName: 'loan_interest_reduced',
    reversedEventName: 'loan_interest_reduction_reversed',
    scheduleReason: 'REDUCED',
  },
  FEES_DUE_REDUCED: {
    adjustment: 'FEE_REDUCTION_ADJUSTMENT',
    eventName: 'loan_fees_reduced',
    reversedEventName: 'loan_fee_reduction_reversed',
    scheduleReason: 'REDUCED',
  },
  PENALTIES_DUE_REDUCED: {
    adjustment: 'PENALTY_REDUCTION_ADJUSTMENT',
    eventName: 'loan_penalties_reduced',
    reversedEventName: 'loan_penalty_reduction_reversed',
    scheduleReason: 'REDUCED',
  },
  WRITE_OFF: {
    adjustment: 'WRITE_OFF_ADJUSTMENT',
    eventName: 'loan_write_off',
    reversedEventName: 'loan_write_off_reversed',
    scheduleReason: 'WRITTEN_OFF',
  },
  REFUND: {
    adjustment: 'REFUND_ADJUSTMENT',
    eventName: 'loan_refund',
    reversedEventName: 'loan_refund_reversed',
    scheduleReason: 'REFUNDED',
  },
  ACCOUNT_TERMINATED: {
    adjustment: 'ACCOUNT_TERMINATED_ADJUSTMENT',
    eventName: 'loan_termination',
    reversedEventName: 'loan_termination_reversed',
    scheduleReason: 'TERMINATED',
  },
  DUE_DATE_CHANGED: {
    adjustment: 'DUE_DATE_CHANGED_ADJUSTMENT',
    eventName: 'loan_due_dates_changed',
    reversedEventName: 'loan_due_date_change_reversed',
    scheduleReason: 'HOLIDAY_CHANGED',
  },
  TRANSFER: {
    adjustment: 'TRANSFER_ADJUSTMENT',
    eventName: 'loan_transfer',
    reversedEventName: 'loan_transfer_reversed',
    scheduleReason: 'TRANSFERRED',
  },
  // Taking back a lock ends it, and taking back its end locks again.
  INTEREST_LOCKED: {
    adjustment: 'INTEREST_UNLOCKED',
    eventName: 'loan_interest_locked',
    reversedEventName: 'loan_interest_unlocked',
    scheduleReason: 'LOCKED',
  },
  INTEREST_UNLOCKED: {
    adjustment: 'INTEREST_LOCKED',
    eventName: 'loan_interest_unlocked',
    reversedEventName: 'loan_interest_locked',
    scheduleReason: 'UNLOCKED',
  },
  FEE_LOCKED: {
    adjustment: 'FEE_UNLOCKED',
    eventName: 'loan_fees_locked',
    reversedEventName: 'loan_fees_unlocked',
    scheduleReason: 'LOCKED',
  },
  FEE_UNLOCKED: {
    adjustment: 'FEE_LOCKED',
    eventName: 'loan_fees_unlocked',
    reversedEventName: 'loan_fees_locked',
    scheduleReason: 'UNLOCKED',
  },
  PENALTY_LOCKED: {
    adjustment: 'PENALTY_UNLOCKED',
    eventName: 'loan_penalties_locked',
    reversedEventName: 'loan_penalties_unlocked',
    scheduleReason: 'LOCKED',
  },
  PENALTY_UNLOCKED: {
    adjustment: 'PENALTY_LOCKED',
    eventName: 'loan_penalties_unlocked',
    reversedEventName: 'loan_penalties_locked',
    scheduleReason: 'UNLOCKED',
  },
} as const satisfies Readonly<Record<string, TransactionRow>>;

export type AdjustableTransactionType = keyof typeof rows;
type Row = (typeof rows)[AdjustableTransactionType];
export type AdjustmentTransactionType = Row['adjustment'];
export type LoanTransactionType = AdjustableTransactionType | AdjustmentTransactionType;
export type TransactionEventName = Row['eventName'] | Row['reversedEventName'];
export type ScheduleChangeReason = Row['scheduleReason'] | 'ADJUSTED' | 'LATE' | 'INTEREST_ACCRUED' | 'TOGGLE_SWITCHED';

interface EventNames {
  readonly eventName: TransactionEventName;
  readonly scheduleReason: ScheduleChangeReason;
}

/** A type that has a row of its own has its own names, also where it takes another one back. */
const namesByType: ReadonlyMap<LoanTransactionType, EventNames> = new Map<LoanTransactionType, EventNames>([
  ...Object.values(rows).map(({ adjustment, reversedEventName }): [LoanTransactionType, EventNames] => [
    adjustment,
    { eventName: reversedEventName, scheduleReason: 'ADJUSTED' },
  ]),
  ...Object.entries(rows).map(([type, row]): [LoanTransactionType, EventNames] => [
    type as AdjustableTransactionType,
    row,
  ]),
]);

/** The name of a transaction's event, and why the schedule changed with it. */
export function eventNamesOf(type: LoanTransactionType): EventNames {
  const names = namesByType.get(type);
  if (names === undefined) throw new Error(`${type} is no type of transaction`);
  return names;
}

/** The type of the transaction that takes this one back; null for one that cannot be taken back. */
export function adjustmentOf(type: LoanTransactionType): AdjustmentTransactionType | null {
  return isAdjustable(type) ? rows[type].adjustment : null;
}

function isAdjustable(type: LoanTransactionType): type is AdjustableTransactionType {
  return Object.hasOwn(rows, type);
}
