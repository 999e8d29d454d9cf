import { accountOf, productView } from '../lending/accounts.ts';
import { balancesOf } from '../lending/balances.ts';
import { scheduleOf } from '../lending/installments.ts';
import { decodeAccount, decodeLoan } from '../lending/loan-codec.ts';
import type { Loan } from '../lending/loan.ts';
import type { LoanProduct } from '../lending/product.ts';
import type { Toggles } from '../lending/toggles.ts';
import { transactionView, transactionsOf } from '../lending/transactions.ts';
import { writeView } from './exact-view.ts';

/**
 * Loans and products as the lending API shows them: JSON text with exact numbers. Events are written by the same means,
 * so an event's balances equal the answer's. A loan comes as the changelog has it.
 */

/** The body of GET /loans/{id}, and each item of a search. Its names do not follow the toggles. */
export function writeAccount(loanText: string): string {
  const loan = decodeAccount(loanText).account;
  return write(loan, accountOf(loan));
}

/** The body of GET /loans/{id}/schedule. */
export function writeSchedule(loanText: string, toggles: Toggles): string {
  const loan = decodeAccount(loanText).account;
  return write(loan, scheduleOf(loan, toggles));
}

/** The body of GET /loans/{id}/balances. */
export function writeBalances(loanText: string, toggles: Toggles): string {
  const loan = decodeAccount(loanText).account;
  return write(loan, balancesOf(loan, toggles));
}

/** The body of GET /loans/{id}/transactions: a list, oldest first; of it the page asked for. */
export function writeTransactions(loanText: string, { offset, limit } = { offset: 0, limit: Infinity }): string {
  const loan = decodeLoan(loanText);
  return write(loan, transactionsOf(loan).slice(offset, offset + limit));
}

/** One transaction by its encodedKey or its id; null when the loan has none such. */
export function writeTransaction(loanText: string, keyOrId: string): string | null {
  const loan = decodeLoan(loanText);
  const found = loan.transactions.find(({ encodedKey, id }) => encodedKey === keyOrId || id === keyOrId);
  return found === undefined ? null : write(loan, transactionView(loan, found));
}

/** The body of GET /loanproducts/{id}. */
export function writeProduct(product: LoanProduct): string {
  return writeView(productView(product), product.currency.digits);
}

function write(loan: Loan, view: object): string {
  return writeView(view, loan.product.currency.digits);
}
