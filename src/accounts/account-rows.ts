import { decodeSummary } from '../lending/changelog/stored-loan.ts';
import { decodeTransactionSummary } from '../lending/changelog/stored-transaction.ts';
import { toInstant } from '../lending/instants.ts';
import { parseTransactionId } from '../lending/identifiers.ts';
import { sortableAmount } from './sortable-amount.ts';

/** An account in the tables: the fields that lists filter and sort by, and its text in the changelog. */
export interface LoanRow {
  readonly loanId: string;
  readonly encodedKey: string;
  /** That of the product where the account has none, as the API shows it. */
  readonly loanName: string;
  readonly accountHolderKey: string | null;
  readonly productTypeKey: string;
  readonly accountState: string;
  /** See {@link sortableAmount}. */
  readonly loanAmount: string;
  readonly creationDate: string;
  readonly approvedDate: string | null;
  readonly closedDate: string | null;
  readonly lastModifiedDate: string;
  readonly transactionCount: number;
  /** When time alone will change the account next. */
  readonly nextBusinessDate: string | null;
  readonly state: string;
}

/** A transaction in the tables, and its text in the changelog. */
export interface TransactionRow {
  readonly transactionKey: string;
  readonly loanId: string;
  /** Its number in the account, from 1. */
  readonly number: number;
  readonly type: string;
  /** RFC 3339, as the API shows it. */
  readonly creationDate: string;
  /** A day. */
  readonly valueDate: string;
  readonly externalId: string | null;
  /** Whether another transaction took it back. */
  readonly isAdjusted: boolean;
  readonly state: string;
}

/**
 * The row of an account, from its text in the changelog.
 * @throws Error when the text is no stored account
 */
export function loanRow(state: string): LoanRow {
  const loan = decodeSummary(state);
  const { approvedAt, closedAt } = loan;
  return {
    loanId: loan.id,
    encodedKey: loan.encodedKey,
    loanName: loan.loanName ?? loan.productName,
    accountHolderKey: loan.accountHolderKey,
    productTypeKey: loan.productKey,
    accountState: loan.accountState,
    loanAmount: sortableAmount(loan.loanAmount),
    creationDate: toInstant(loan.createdAt),
    approvedDate: approvedAt === null ? null : toInstant(approvedAt),
    closedDate: closedAt === null ? null : toInstant(closedAt),
    lastModifiedDate: toInstant(loan.modifiedAt),
    transactionCount: loan.transactionCount,
    nextBusinessDate: loan.nextBusinessDate,
    state,
  };
}

/**
 * The row of a transaction, from its text in the changelog.
 * @throws Error when the text is no stored transaction
 */
export function transactionRow(state: string): TransactionRow {
  const { encodedKey, id, type, createdAt, valueDate, externalId, isAdjusted } = decodeTransactionSummary(state);
  const { loanId, number } = parseTransactionId(id) ?? fail(id);
  return {
    transactionKey: encodedKey,
    loanId,
    number,
    type,
    creationDate: toInstant(createdAt),
    valueDate,
    externalId,
    isAdjusted,
    state,
  };
}

function fail(id: string): never {
  throw new Error(`${id} is no transaction id`);
}
