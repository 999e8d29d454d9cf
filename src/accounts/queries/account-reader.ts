import { joinedAccount } from '../../lending-format/account-pages.ts';
import { AccountProducts } from '../../lending-format/account-products.ts';
import { accountView } from '../../lending-format/response-bodies.ts';
import { decodeLoan } from '../../lending/changelog/stored-loan.ts';
import { decodeTransaction } from '../../lending/changelog/stored-transaction.ts';
import { transactionId } from '../../lending/identifiers.ts';
import type { Loan } from '../../lending/loan.ts';
import type { LocalDate } from '../../lending/terms.ts';
import type { Decimal } from '../../lending/money.ts';
import { transactionView } from '../../lending/views/transactions.ts';
import type { Connection } from '../../sqlite.ts';
import { DamagedText, unsealed } from '../checksummed-text.ts';
import { type FoundPage, pagesOfAccount, unsealedPages } from '../page-rows.ts';
import type { ExaminedLoan } from './loan-fields.ts';
import type { ExaminedTransaction } from './transaction-fields.ts';

/** Reads accounts and transactions of the local copy for searches. */
export class AccountReader {
  readonly #state;
  readonly #pages;
  readonly #transaction;
  readonly #transactionByKey;
  readonly #repayments;
  readonly #products: AccountProducts;

  constructor(database: Connection) {
    this.#state = database.prepare(
      'SELECT state FROM states WHERE loan_number = (SELECT loan_number FROM loans WHERE loan_id = ?)',
    );
    this.#pages = database.prepare(pagesOfAccount);
    this.#transaction = database.prepare(
      'SELECT transaction_key, state FROM transactions WHERE loan_id = ? AND number = ?',
    );
    this.#transactionByKey = database.prepare('SELECT loan_id, number FROM transactions WHERE transaction_key = ?');
    this.#repayments = database.prepare(
      `SELECT number FROM transactions WHERE loan_id = ? AND type = 'REPAYMENT' ORDER BY number DESC`,
    );
    const product = database.prepare('SELECT state FROM products WHERE reference = ? LIMIT 1');
    this.#products = new AccountProducts((reference) => {
      const found = product.get(reference) as { state: string } | undefined;
      return found === undefined ? undefined : unsealed(reference, found.state);
    });
  }

  /** The text of an account and those of its pages. @throws DamagedText */
  texts(loanId: string): string[] {
    return [this.#text(loanId), ...unsealedPages(loanId, this.#pages.all(loanId) as FoundPage[])];
  }

  /**
   * An account as stored, and as clients see it when this business date is reached.
   * @throws DamagedText, LOG_UNAVAILABLE while it is being changed
   */
  examinedLoan(loanId: string, reached: LocalDate | null = null): ExaminedLoan {
    const [text = '', ...pages] = this.texts(loanId);
    const loan = this.#loanOf(joinedAccount(text, pages));
    return { loan, view: accountView(loan, reached), lastPaymentAmount: () => this.#lastPaymentAmount(loanId) };
  }

  /** The text of a transaction. @throws DamagedText */
  transactionText(loanId: string, number: number): string {
    const found = this.#transaction.get(loanId, number) as { transaction_key: string; state: string } | undefined;
    if (found === undefined) throw new DamagedText(`The transaction ${loanId}-${number} has no text`);
    return unsealed(found.transaction_key, found.state);
  }

  /** A transaction as stored, and as clients see it. @throws DamagedText */
  examinedTransaction(loanId: string, number: number): ExaminedTransaction {
    const transaction = decodeTransaction(this.transactionText(loanId, number));
    // What a transaction shows of its account is in none of its pages.
    const loan = this.#loanOf(`${this.#text(loanId).slice(0, -1)},"pages":[]}`);
    const view = transactionView(loan, transaction);
    return { loan, transaction, view, idOf: (encodedKey) => this.#idOf(encodedKey) };
  }

  #lastPaymentAmount(loanId: string): Decimal | undefined {
    for (const { number } of this.#repayments.all(loanId) as { number: number }[]) {
      const { amount, adjustmentTransactionKey } = decodeTransaction(this.transactionText(loanId, number));
      if (adjustmentTransactionKey === null) return amount;
    }
    return undefined;
  }

  #idOf(encodedKey: string): string | undefined {
    const found = this.#transactionByKey.get(encodedKey) as { loan_id: string; number: number } | undefined;
    return found === undefined ? undefined : transactionId(found.loan_id, found.number);
  }

  #loanOf(text: string): Loan {
    return decodeLoan(text, (reference) => this.#products.get(reference));
  }

  #text(loanId: string): string {
    const found = this.#state.get(loanId) as { state: string } | undefined;
    if (found === undefined) throw new DamagedText(`The account ${loanId} has no text`);
    return unsealed(loanId, found.state);
  }
}
