import { Worker } from 'node:worker_threads';
import { LendstreamError, describeError } from '../errors.ts';
import { forgetTurn, newTurn } from '../thread-turns.ts';
import { joinedAccount } from '../lending-format/account-pages.ts';
import { DamagedText } from './checksummed-text.ts';
import type { InstallmentQuery } from './queries/installment-search.ts';
import type { SearchPage, SearchQuery } from './queries/search-query.ts';
import type { DueQuery, Query, Results } from './queries/searches.ts';

/** How many queries may wait for the thread. */
const waitingQueriesMaximum = 1_000;

/** What the thread is started with. */
export interface QueryThreadData {
  readonly file: string;
  readonly turn: Int32Array;
  /** How many items a search may look at one by one; the default when undefined. */
  readonly examinedItemsMaximum: number | undefined;
}

/** What the thread is asked. `close` ends it. */
export type QueryRequest =
  | { readonly name: 'query'; readonly id: number; readonly query: Query }
  | { readonly name: 'close' };

/** What the thread replies: what it has found, or SQLite's error. */
export type QueryResponse =
  | { readonly id: number; readonly result: Results[keyof Results] }
  | { readonly id: number; readonly failure: QueryFailure }
  /** Its first message: it has opened the file, or has failed to, which the first query then reports. */
  | { readonly started: true };

interface QueryFailure {
  readonly message: string;
  readonly isDamagedText: boolean;
  readonly isTooWide: boolean;
  /** Of an error of SQLite, as the library names them. */
  readonly code: unknown;
  readonly errcode: unknown;
}

interface Waiting {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/** A transaction as the changelog has it, and its account as one text. */
export interface FoundTransaction {
  readonly account: string;
  readonly text: string;
}

/** Installments of an account, by their numbers from 1, and the account as one text. */
export interface AccountInstallments {
  readonly account: string;
  readonly numbers: readonly number[];
}

/**
 * Queries of many loans, in a thread of their own. Of a million loans, most pages are found in less than a millisecond;
 * one that is sorted by a field without an index, or begins after many others, takes up to 0.3 s, which would hold up
 * everything else of the process. A query sees every change that was made before it.
 */
export class QueryQueue {
  readonly #file: string;
  readonly #examinedItemsMaximum: number | undefined;
  readonly #waiting = new Map<number, Waiting>();
  #thread: Worker | undefined;
  #lastId = 0;

  /**
   * @param file The file of the local copy.
   * @param examinedItemsMaximum How many items a search may look at one by one, to replace the default.
   */
  constructor(file: string, examinedItemsMaximum?: number) {
    this.#file = file;
    this.#examinedItemsMaximum = examinedItemsMaximum;
  }

  /** Starts the thread, and returns when it has opened the file: queries then work although the file is removed. */
  async start(): Promise<void> {
    if (this.#thread !== undefined) return;
    const thread = this.#newThread();
    this.#thread = thread;
    await new Promise<void>((resolve) => {
      thread.once('message', () => resolve());
      thread.once('exit', () => resolve());
    });
  }

  /**
   * A page of accounts in the order of the query, each as one text.
   * @throws DamagedText, SQLite's errors, OVERLOADED, LOG_UNAVAILABLE; UNPROCESSABLE when it would read too much
   */
  async loans(query: SearchQuery): Promise<SearchPage<string>> {
    const { items, last } = await this.#ask({ name: 'loans', query });
    return { items: items.map(joined), last };
  }

  /** How many accounts the query finds, over all pages. @throws as {@link loans} */
  countLoans(query: SearchQuery): Promise<number> {
    return this.#ask({ name: 'countLoans', query });
  }

  /** A page of transactions of all accounts, each with the text of its account. @throws as {@link loans} */
  async transactions(query: SearchQuery): Promise<SearchPage<FoundTransaction>> {
    const { items, last, accounts } = await this.#ask({ name: 'transactions', query });
    const texts = new Map([...accounts].map(([loanId, account]) => [loanId, joined(account)]));
    return { items: items.map(({ loanId, text }) => ({ account: texts.get(loanId) ?? '', text })), last };
  }

  /** How many transactions the query finds, over all pages. @throws as {@link loans} */
  countTransactions(query: SearchQuery): Promise<number> {
    return this.#ask({ name: 'countTransactions', query });
  }

  /** A page of installments of all accounts. @throws as {@link loans} */
  async installments(query: InstallmentQuery): Promise<readonly AccountInstallments[]> {
    const found = await this.#ask({ name: 'installments', query });
    return found.map(({ texts, numbers }) => ({ account: joined(texts), numbers }));
  }

  /** How many installments the query finds, over all pages. @throws as {@link loans} */
  countInstallments(query: InstallmentQuery): Promise<number> {
    return this.#ask({ name: 'countInstallments', query });
  }

  /** How many accounts are due, for each of the queries. @throws as {@link loans} */
  countDue(queries: readonly DueQuery[]): Promise<readonly number[]> {
    return this.#ask({ name: 'countDue', query: queries });
  }

  /** Ends the thread, after the queries that wait for it. A later query starts another one. */
  async stop(): Promise<void> {
    const thread = this.#thread;
    if (thread === undefined) return;
    this.#thread = undefined;
    const ended = new Promise((resolve) => thread.once('exit', resolve));
    thread.postMessage({ name: 'close' } satisfies QueryRequest, []);
    await ended;
  }

  async #ask<Name extends keyof Results>(query: Query & { readonly name: Name }): Promise<Results[Name]> {
    if (this.#waiting.size >= waitingQueriesMaximum) {
      throw new LendstreamError('OVERLOADED', 'Too many lists of loans are waiting.');
    }
    this.#thread ??= this.#newThread();
    this.#lastId += 1;
    const id = this.#lastId;
    const response = new Promise<Results[Name]>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#thread.postMessage({ name: 'query', id, query } satisfies QueryRequest, []);
    return response;
  }

  #newThread(): Worker {
    const turn = newTurn();
    const workerData: QueryThreadData = {
      file: this.#file,
      turn,
      examinedItemsMaximum: this.#examinedItemsMaximum,
    };
    const thread = new Worker(new URL('./query-thread.js', import.meta.url), { workerData });
    thread.once('exit', () => forgetTurn(turn));
    thread.on('message', (response: QueryResponse) => {
      if ('started' in response) return;
      const waiting = this.#waiting.get(response.id);
      this.#waiting.delete(response.id);
      if ('result' in response) waiting?.resolve(response.result as never);
      else waiting?.reject(errorOf(response.failure));
    });
    const fail = (reason: string, cause?: unknown): void => {
      if (this.#thread !== thread) return;
      this.#thread = undefined;
      const message = `The thread that lists loans ended: ${reason}. Try again.`;
      const error = new LendstreamError('LOG_UNAVAILABLE', message, { cause });
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
    };
    thread.on('error', (error) => fail(describeError(error), error));
    thread.on('exit', (code) => fail(`its exit code is ${code}`));
    return thread;
  }
}

function joined([text = '', ...pages]: readonly string[]): string {
  return joinedAccount(text, pages);
}

function errorOf({ message, isDamagedText, isTooWide, code, errcode }: QueryFailure): Error {
  if (isTooWide) return new LendstreamError('UNPROCESSABLE', message);
  return isDamagedText ? new DamagedText(message) : Object.assign(new Error(message), { code, errcode });
}
