import type { CommandHeader, TransactionDetails } from './commands.ts';
import type { LoanFact, PostedTransaction } from './facts.ts';
import type { Loan, LoanPosition, LoanTransactionType } from './loan.ts';
import type { LocalDate } from './terms.ts';
import { type Refusal, type RefusalReason, refusal } from './refusals.ts';
import type { Toggles } from './toggles.ts';

/** What a decision needs besides the loan and the command. */
export interface DecisionContext {
  /** As they are when the command is decided. */
  readonly toggles: Toggles;
  /** A fresh key of 32 hex characters; the same for the same command and purpose, whenever it is asked for. */
  readonly newKey: (purpose: string) => string;
}

/** What a command comes to: one fact, or the rules that say no. */
export type Decision = { readonly fact: LoanFact } | { readonly refusals: readonly Refusal[] };

export function refuse(errorReason: RefusalReason, errorSource: string | null = null): Decision {
  return { refusals: [refusal(errorReason, errorSource)] };
}

type OwnFields = Pick<PostedTransaction, 'amount' | 'valueDate' | 'affected' | 'taxes'> &
  Partial<
    Pick<
      PostedTransaction,
      | 'encodedKey'
      | 'bookingDate'
      | 'fees'
      | 'customPaymentAmounts'
      | 'prepaymentRecalculationMethod'
      | 'installmentNumber'
      | 'originalTransactionKey'
    >
  >;

/**
 * A transaction from its command: what is its own, and what all have. Its terms are those in force when it is posted:
 * the rate, and the level payment of the position it leads to.
 */
export function transactionOf(
  loan: Loan,
  command: CommandHeader & Pick<TransactionDetails, 'bookingDate' | 'externalId' | 'notes'>,
  { newKey }: Pick<DecisionContext, 'newKey'>,
  type: LoanTransactionType,
  own: OwnFields,
  position: LoanPosition = loan.position,
): PostedTransaction {
  return {
    encodedKey: newKey('transaction'),
    bookingDate: command.bookingDate ?? own.valueDate,
    fees: [],
    customPaymentAmounts: [],
    prepaymentRecalculationMethod: null,
    installmentNumber: null,
    originalTransactionKey: null,
    ...own,
    type,
    createdAt: command.receivedAt,
    externalId: command.externalId ?? null,
    notes: command.notes ?? null,
    terms: { interestRate: loan.terms.interest.interestRate, periodicPayment: position.periodicPayment },
  };
}

/** The first and the last day that a transaction may have: beyond them no schedule could be counted. */
const firstValueDate: LocalDate = '1900-01-01';
const lastValueDate: LocalDate = '2999-12-31';

export function isUsableDate(date: LocalDate): boolean {
  return date >= firstValueDate && date <= lastValueDate;
}
