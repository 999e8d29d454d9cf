import type { StateEventName } from './commands/facts.ts';
import type { AccountState, AccountSubState } from './loan.ts';
import type { AccountView } from './views/accounts.ts';
import type { Decimal } from './money.ts';
import type { BalanceName, Balances } from './views/balances.ts';
import type { InstallmentView } from './views/schedules.ts';
import type { TransactionView } from './views/transactions.ts';
import type { FeeAllocation, FeeTrigger } from './products/product.ts';
import type { LocalDate } from './terms.ts';
import type { LoanTransactionType, ScheduleChangeReason, TransactionEventName } from './transaction-types.ts';
import type { Toggles } from './toggle-names.ts';

/** What happened to a loan, in the order transaction, fees, balances, schedule, account, state. Amounts are exact. */
export type LoanEvent =
  | LoanTransactionPosted
  | LoanFeeEvent
  | LoanBalanceChanged
  | LoanScheduleChanged
  | LoanAccountChanged
  | LoanStateChanged;

export interface LoanEventHeader {
  readonly schemaVersion: 1;
  readonly loanAccountId: string;
  readonly loanAccountEncodedKey: string;
  readonly productTypeKey: string;
  /** Numbers the loan's events of all types, from 1, without a gap. */
  readonly sequence: number;
  readonly causationCommandId: string;
  /** Null for an event that no transaction caused. */
  readonly transactionEncodedKey: string | null;
  readonly transactionType: LoanTransactionType | null;
  readonly valueDate: LocalDate | null;
  readonly bookingDate: LocalDate | null;
  /** RFC 3339, UTC. */
  readonly creationDate: string;
  /** The toggles in force when the event was made. */
  readonly toggles: Toggles;
}

export interface LoanTransactionPosted extends LoanEventHeader {
  readonly eventType: 'loan_transaction_posted';
  readonly name: TransactionEventName;
  readonly transaction: TransactionView;
}

export interface LoanFeeEvent extends LoanEventHeader {
  readonly eventType: 'loan_fee_event';
  readonly feeEvent: 'APPLIED' | 'PAID' | 'ADJUSTED' | 'CAPITALISED';
  /** Only on an ADJUSTED event: whether it takes back a charge or a payment. */
  readonly adjusts?: 'APPLIED' | 'PAID';
  readonly feeKey: string;
  readonly predefinedFeeKey: string | null;
  readonly feeName: string;
  readonly trigger: FeeTrigger;
  /** Tax included; negative when the event takes a charge or payment back. */
  readonly amount: Decimal;
  readonly tax: Decimal;
  readonly allocation: FeeAllocation;
  readonly installmentKey?: string;
  readonly installmentNumber?: number;
  /** The fee balances after the whole command, under the names that the toggles require. */
  readonly balances: Partial<Readonly<Record<BalanceName, Decimal>>>;
}

export interface BalanceChange {
  readonly type: BalanceName;
  readonly amount: Decimal;
  readonly balanceAfter: Decimal;
  readonly applicationDate: LocalDate;
  /** RFC 3339, UTC. */
  readonly creationDate: string;
  readonly loanAccountEncodedKey: string;
  /** Null where no transaction changed it, but the day. */
  readonly loanTransactionEncodedKey: string | null;
}

export interface LoanBalanceChanged extends LoanEventHeader {
  readonly eventType: 'loan_balance_changed';
  /** Balances that did not change are left out, so it may be empty. */
  readonly changes: readonly BalanceChange[];
  readonly balances: Balances;
}

export interface LoanScheduleChanged extends LoanEventHeader {
  readonly eventType: 'loan_schedule_changed';
  readonly reason: ScheduleChangeReason;
  /** Starts at 1 and grows by one with each schedule event of the loan. */
  readonly scheduleVersion: number;
  readonly changedInstallments: readonly InstallmentView[];
  readonly removedInstallmentKeys: readonly string[];
  readonly summary: { readonly count: number; readonly nextDueDate: string | null; readonly totalDue: Decimal };
}

/** What an account says of itself changed. */
export interface LoanAccountChanged extends LoanEventHeader {
  readonly eventType: 'loan_account_changed';
  /** With all details, as GET /loans/{id} shows it afterwards. */
  readonly account: AccountView;
  /**
   * Whether the personal data of the account was erased, that of its transactions too: what a consumer keeps of both
   * must go. Absent in all other events.
   */
  readonly personalDataErased?: true;
}

export interface LoanStateChanged extends LoanEventHeader {
  readonly eventType: 'loan_state_changed';
  readonly name: StateEventName;
  readonly accountState: AccountState;
  readonly accountSubState: AccountSubState | null;
  /** Null for a loan that was just created. */
  readonly previousAccountState: AccountState | null;
  readonly previousAccountSubState: AccountSubState | null;
}
