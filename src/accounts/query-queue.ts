import { Worker } from 'node:worker_threads';
import { LendstreamError, describeError } from '../errors.ts';
import { forgetTurn, newTurn } from '../thread-turns.ts';
import { joinedAccount } from '../lending-format/account-pages.ts';
import type { LoanQuery } from './filter-and-sort.ts';
import { DamagedText } from './checksummed-text.ts';

/** How many queries may wait for the thread. */
const waitingQueriesMaximum = 1_000;

/** What the thread is started with. */
export interface QueryThreadData {
  readonly file: string;
  readonly turn: Int32Array;
}

/** What the thread is asked. `close` ends it. */
export type QueryRequest =
  { readonly name: 'page' | 'count'; readonly id: number; readonly query: LoanQuery } | { readonly name: 'close' };

/**
 * What the thread replies: the texts of the loans of a page, each with those of its own pages; or how many there are;
 * or SQLite's error.
 */
export type QueryResponse =
  | { readonly id: number; readonly result: string[][] | number }
  | { readonly id: number; readonly failure: QueryFailure }
  /** Its first message: it has opened the file, or has failed to, which the first query then reports. */
  | { readonly started: true };

interface QueryFailure {
  readonly message: string;
  readonly isDamagedText: boolean;
  /** Of an error of SQLite, as the library names them. */
  readonly code: unknown;
  readonly errcode: unknown;
}

interface Waiting {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Queries of many loans, in a thread of their own. Of a million loans, most pages are found in less than a millisecond;
 * one that is sorted by a field without an index, or begins after many others, takes up to 0.3 s, which would hold up
 * everything else of the process. A query sees every change that was made before it.
 */
export class QueryQueue {
  readonly #file: string;
  readonly #waiting = new Map<number, Waiting>();
  #thread: Worker | undefined;
  #lastId = 0;

  /** @param file The file of the local copy. */
  constructor(file: string) {
    this.#file = file;
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
   * The states of one page of loans, in the order of the query.
   * @throws DamagedText, SQLite's errors, OVERLOADED, LOG_UNAVAILABLE
   */
  async page(query: LoanQuery): Promise<string[]> {
    const loans = await this.#ask<string[][]>('page', query);
    return loans.map(([text = '', ...pages]) => joinedAccount(text, pages));
  }

  /** How many loans match the query, over all pages. @throws as {@link page} */
  count(query: LoanQuery): Promise<number> {
    return this.#ask<number>('count', query);
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

  async #ask<Result>(name: 'page' | 'count', query: LoanQuery): Promise<Result> {
    if (this.#waiting.size >= waitingQueriesMaximum) {
      throw new LendstreamError('OVERLOADED', 'Too many lists of loans are waiting.');
    }
    this.#thread ??= this.#newThread();
    this.#lastId += 1;
    const id = this.#lastId;
    const response = new Promise<Result>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#thread.postMessage({ name, id, query } satisfies QueryRequest, []);
    return response;
  }

  #newThread(): Worker {
    const turn = newTurn();
    const workerData: QueryThreadData = { file: this.#file, turn };
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

function errorOf({ message, isDamagedText, code, errcode }: QueryFailure): Error {
  return isDamagedText ? new DamagedText(message) : Object.assign(new Error(message), { code, errcode });
}
