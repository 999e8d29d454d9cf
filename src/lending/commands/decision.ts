import { type AdditionalFields, noAdditionalFields } from '../additional-fields.ts';
import type { FieldDefinitions } from '../custom-fields/definitions.ts';
import type { CommandHeader, TransactionDetails } from '../commands.ts';
import type { LoanFact, PostedTransaction, TransactionAdjusted, TransactionPosted } from './facts.ts';
import type { Loan, LoanPosition, PostedTransactions } from '../loan.ts';
import type { WorkingCalendar } from '../organization.ts';
import { transactionTerms } from '../agreed-terms.ts';
import { type Refusal, type RefusalReason, refusal } from '../refusals.ts';
import type { LoanTransactionType } from '../transaction-types.ts';
import type { Toggles } from '../toggle-names.ts';

/** The inputs of a decision other than the loan and the command. */
export interface DecisionContext {
  /** The values in force when the command is decided. */
  readonly toggles: Toggles;
  /** The days on which the institution is closed, as they are known when the command is decided. */
  readonly calendar: WorkingCalendar;
  /** A fresh key of 32 hex characters. The same command and purpose always give the same key. */
  readonly newKey: (purpose: string) => string;
  /** The transactions of the account that the command is about. */
  readonly transactions: PostedTransactions;
  /** The definitions of custom fields; absent where fields that were taken before are posted again. */
  readonly customFields?: FieldDefinitions;
}

/**
 * The result of a command: one fact, several that follow each other, or the refusals of the rules it breaks. Each of
 * several facts is about the loan that the one before led to.
 */
export type Decision =
  | { readonly fact: LoanFact }
  | { readonly facts: readonly (TransactionPosted | TransactionAdjusted)[] }
  | { readonly refusals: readonly Refusal[] };

/** A decision with this one refusal. */
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
      | 'installmentKey'
      | 'isInstallmentNamed'
      | 'isSystemPosted'
      | 'originalTransactionKey'
    >
  >;

/** The decision that a command posts a transaction, which leads to a position. */
export function post(
  loan: Loan,
  command: TransactionCommand,
  context: DecisionContext,
  type: LoanTransactionType,
  position: LoanPosition,
  own: OwnFields,
): { readonly fact: TransactionPosted } {
  const transaction = transactionOf(loan, command, context, type, own, position);
  return { fact: { type: 'TRANSACTION_POSTED', position, transaction } };
}

/** A command that can post a transaction: what its transactions keep of it. */
export type TransactionCommand = CommandHeader &
  Pick<TransactionDetails, 'bookingDate' | 'externalId' | 'notes' | 'transactionDetails' | 'additionalFields'>;

/**
 * A transaction of a command: the fields of its own type, and those that all transactions have. Its terms are those in
 * force when it is posted: the rate, and the level payment of the position it leads to.
 */
export function transactionOf(
  loan: Loan,
  command: TransactionCommand,
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
    installmentKey: null,
    isInstallmentNamed: false,
    isSystemPosted: command.isSystemPosted ?? false,
    originalTransactionKey: null,
    ...own,
    type,
    commandId: command.commandId,
    commandDigest: command.digest,
    createdAt: command.receivedAt,
    externalId: command.externalId ?? null,
    notes: command.notes ?? null,
    transactionDetails: command.transactionDetails ?? null,
    additionalFields: { ...branchOf(loan), ...command.additionalFields },
    terms: transactionTerms(position, own.valueDate),
  };
}

/** The branch and centre that the account has when a transaction is posted; both may change later. */
function branchOf({ additionalFields: { assignedBranchKey, assignedCentreKey } }: Loan): AdditionalFields {
  if (assignedBranchKey === undefined && assignedCentreKey === undefined) return noAdditionalFields;
  return {
    ...(assignedBranchKey === undefined ? {} : { branchKey: assignedBranchKey }),
    ...(assignedCentreKey === undefined ? {} : { centreKey: assignedCentreKey }),
  };
}
