/**
 * The threads beside the main thread: one writes the SQLite file, one reads old batches, one does maintenance.
 * In: messages of `messages.ts`. Out: replies to them.
 * Start with how a thread is started and served below; `writer.ts`, `fetcher.ts` and `maintenance.ts` are the threads.
 */

import { Worker, parentPort } from 'node:worker_threads';
import type { TransferListItem } from 'node:worker_threads';
import { LendstreamError, describeError } from '../../errors.ts';
import { codeOfDatabaseError } from './database.ts';
import type { ThreadFailure } from './messages.ts';

/** The shape of a table of requests: the types of request and reply, by name. */
type RequestTable<Table> = { [Name in keyof Table]: { request: unknown; answer: unknown } };

interface Question {
  readonly id: number;
  readonly name: string;
  readonly request: unknown;
}

interface Reply {
  readonly id: number;
  readonly answer?: unknown;
  readonly failure?: ThreadFailure;
}

/**
 * Calls into a worker thread that serves requests one after another, in the order they were made. A request fails with
 * the error that the thread sent back, and with OUTCOME_UNKNOWN when the thread ended while it was waiting. After that,
 * requests fail with LOG_UNAVAILABLE.
 */
export interface LogThread<Table extends RequestTable<Table>> {
  ask<Name extends keyof Table & string>(
    name: Name,
    request: Table[Name]['request'],
    transfer?: readonly TransferListItem[],
  ): Promise<Table[Name]['answer']>;
  /** Ends the thread. It must have received `close` before, so that it has closed its database. */
  end(): Promise<void>;
}

/**
 * Starts a thread.
 * @param script The compiled module that it runs, which calls {@link answerRequests}.
 * @param onFailure Called once when the thread dies by itself.
 */
export function startLogThread<Table extends RequestTable<Table>>(
  script: URL,
  onFailure: (error: Error) => void,
): LogThread<Table> {
  const worker = new Worker(script);
  const waiting = new Map<number, { resolve: (answer: unknown) => void; reject: (error: Error) => void }>();
  let lastId = 0;
  let failure: Error | undefined;
  let isEnding = false;

  const fail = (cause: Error): void => {
    if (failure !== undefined) return;
    failure = new LendstreamError('OUTCOME_UNKNOWN', `A thread of the log ended: ${cause.message}`, {
      cause,
    });
    for (const { reject } of waiting.values()) reject(failure);
    waiting.clear();
    if (!isEnding) onFailure(cause);
  };
  worker.on('error', (error) => fail(error instanceof Error ? error : new Error(describeError(error))));
  worker.on('exit', (code) => fail(new Error(`exit code ${code}`)));
  worker.on('message', ({ id, answer, failure: refused }: Reply) => {
    const caller = waiting.get(id);
    waiting.delete(id);
    if (refused === undefined) caller?.resolve(answer);
    else caller?.reject(new LendstreamError(refused.code, refused.detail, { details: refused.details }));
  });

  return {
    ask: (name, request, transfer = []) =>
      new Promise((resolve, reject) => {
        if (failure !== undefined) {
          reject(new LendstreamError('LOG_UNAVAILABLE', failure.message, { cause: failure }));
          return;
        }
        lastId += 1;
        waiting.set(lastId, { resolve, reject });
        worker.postMessage({ id: lastId, name, request } satisfies Question, transfer);
      }),
    end: async () => {
      isEnding = true;
      await worker.terminate();
    },
  };
}

/** A reply whose memory is transferred instead of copied. */
export class Transferred<Answer> {
  readonly answer: Answer;
  readonly memory: readonly ArrayBuffer[];

  constructor(answer: Answer, memory: readonly ArrayBuffer[]) {
    this.answer = answer;
    this.memory = memory;
  }
}

/** One function per request of the table. An error that it throws fails the request. */
export type RequestHandlers<Table extends RequestTable<Table>> = {
  readonly [Name in keyof Table]: (
    request: Table[Name]['request'],
  ) => Table[Name]['answer'] | Transferred<Table[Name]['answer']>;
};

/** Serves requests in a worker thread. */
export function answerRequests<Table extends RequestTable<Table>>(handlers: RequestHandlers<Table>): void {
  const port = parentPort;
  if (port === null) throw new Error('This module runs as a worker thread.');
  port.on('message', ({ id, name, request }: Question) => {
    try {
      const answer: unknown = handlers[name as keyof Table](request);
      if (answer instanceof Transferred) port.postMessage({ id, answer: answer.answer } satisfies Reply, answer.memory);
      else port.postMessage({ id, answer } satisfies Reply);
    } catch (error) {
      const failure: ThreadFailure = {
        code: codeOfDatabaseError(error),
        detail: describeError(error),
        details: error instanceof LendstreamError ? error.details : {},
      };
      port.postMessage({ id, failure } satisfies Reply);
    }
  });
}
