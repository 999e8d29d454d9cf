/**
 * Searches of accounts, transactions and installments in the local copy, in a thread of their own.
 * In: queries as plain data. Out: pages of what was found, and counts.
 * Start with `Searches` below. `search.ts` finds and sorts with SQLite, `loan-fields.ts` and `transaction-fields.ts`
 * have what can be searched by, and `search-criteria.ts` reads what clients ask for.
 */

import type { LocalDate } from '../../lending/terms.ts';
import type { Connection } from '../../sqlite.ts';
import { AccountReader } from './account-reader.ts';
import { withoutCase } from './conditions.ts';
import {
  type FoundInstallments,
  type InstallmentQuery,
  countInstallments,
  searchInstallments,
} from './installment-search.ts';
import { type ExaminedLoan, loanFields } from './loan-fields.ts';
import { type SearchSource, countMatches, examinedItemsMaximum, searchPage } from './search.ts';
import type { SearchPage, SearchQuery } from './search-query.ts';
import { type ExaminedTransaction, transactionFields } from './transaction-fields.ts';

/** What can be searched for, with its query. */
export type Query =
  | { readonly name: 'loans' | 'countLoans' | 'transactions' | 'countTransactions'; readonly query: SearchQuery }
  | { readonly name: 'installments' | 'countInstallments'; readonly query: InstallmentQuery }
  | { readonly name: 'countDue'; readonly query: readonly DueQuery[] };

/** The accounts of a partition to which time alone does something by this date. */
export interface DueQuery {
  readonly partition: number;
  readonly date: string;
}

/** What is found, by the name of the query. */
export interface Results {
  /** The texts of each account: its own, and those of its pages. */
  readonly loans: SearchPage<readonly string[]>;
  readonly countLoans: number;
  readonly transactions: TransactionTexts;
  readonly countTransactions: number;
  readonly installments: readonly FoundInstallments[];
  readonly countInstallments: number;
  readonly countDue: readonly number[];
}

/** Transactions as the changelog has them, and the texts of their accounts by their ids. */
export interface TransactionTexts extends SearchPage<{ readonly loanId: string; readonly text: string }> {
  readonly accounts: ReadonlyMap<string, readonly string[]>;
}

/** Refers to no connection: each keeps its functions as long as anything refers to its statements. */
function textWithoutCase(text: string | null): string | null {
  return text === null ? null : withoutCase(text);
}

/** The searches of a connection to the local copy. */
export class Searches {
  readonly #database: Connection;
  readonly #reader: AccountReader;
  readonly #loans: SearchSource<ExaminedLoan>;
  readonly #transactions: SearchSource<ExaminedTransaction>;

  readonly #examinedMaximum: number;
  /** That of the query that is answered. */
  #reached: LocalDate | null = null;

  /** @param examinedMaximum How many items a search may look at one by one. */
  constructor(database: Connection, examinedMaximum: number = examinedItemsMaximum) {
    this.#examinedMaximum = examinedMaximum;
    // SQLite's own functions know the cases of ASCII alone.
    database.function('without_case', { deterministic: true }, textWithoutCase);
    const reader = new AccountReader(database);
    this.#database = database;
    this.#reader = reader;
    this.#loans = {
      tables: 'loans',
      identity: ['loans.loan_id'],
      fields: loanFields,
      read: ([loanId]) => reader.examinedLoan(String(loanId), this.#reached),
    };
    this.#transactions = {
      tables: 'transactions LEFT JOIN loans ON loans.loan_id = transactions.loan_id',
      identity: ['transactions.loan_id', 'transactions.number'],
      fields: transactionFields,
      read: ([loanId, number]) => reader.examinedTransaction(String(loanId), Number(number)),
    };
  }

  /** @throws DamagedText, SearchTooWide, SQLite's errors */
  resultOf(query: Query): Results[keyof Results] {
    this.#reached = query.name === 'loans' || query.name === 'countLoans' ? (query.query.reached ?? null) : null;
    switch (query.name) {
      case 'loans':
        return this.#pageOfLoans(query.query);
      case 'countLoans':
        return countMatches(this.#database, this.#loans, query.query, this.#examinedMaximum);
      case 'transactions':
        return this.#pageOfTransactions(query.query);
      case 'countTransactions':
        return countMatches(this.#database, this.#transactions, query.query, this.#examinedMaximum);
      case 'installments':
        return searchInstallments(this.#database, this.#reader, query.query, this.#examinedMaximum);
      case 'countInstallments':
        return countInstallments(this.#database, this.#reader, query.query, this.#examinedMaximum);
      case 'countDue':
        break;
    }
    return this.#countDue(query.query);
  }

  #countDue(queries: readonly DueQuery[]): number[] {
    const statement = this.#database.prepare(
      'SELECT count(*) AS count FROM loans WHERE partition = ? AND next_business_date <= ?',
    );
    return queries.map(({ partition, date }) => (statement.get(partition, date) as { count: number }).count);
  }

  #pageOfLoans(query: SearchQuery): SearchPage<readonly string[]> {
    const { items, last } = searchPage(this.#database, this.#loans, query, this.#examinedMaximum);
    return { items: items.map(([loanId]) => this.#reader.texts(String(loanId))), last };
  }

  #pageOfTransactions(query: SearchQuery): TransactionTexts {
    const { items, last } = searchPage(this.#database, this.#transactions, query, this.#examinedMaximum);
    const accounts = new Map<string, readonly string[]>();
    const texts = items.map(([id, number]) => {
      const loanId = String(id);
      if (!accounts.has(loanId)) accounts.set(loanId, this.#reader.texts(loanId));
      return { loanId, text: this.#reader.transactionText(loanId, Number(number)) };
    });
    return { items: texts, last, accounts };
  }
}
