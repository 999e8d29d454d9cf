/**
 * The threads beside the main thread: one writes the SQLite file, one reads old batches, one does maintenance.
 * In: messages of `messages.ts`. Out: replies to them.
 * Start with how a thread is started and served below; `writer.ts`, `fetcher.ts` and `removable-records.ts` are the
 * threads.
 */

import { Worker, parentPort, workerData } from 'node:worker_threads';
import type { TransferListItem } from 'node:worker_threads';
import { LendstreamError, describeError } from '../../errors.ts';
import { endWork, forgetTurn, inTurn, newTurn } from '../../thread-turns.ts';
import { codeOfDatabaseError } from './database-errors.ts';
import type { ThreadFailure } from './messages.ts';

/** The shape of a table of requests: the types of request and reply, by name. */
type RequestTable<Table> = { [Name in keyof Table]: { request: unknown; response: unknown } };

interface RequestMessage {
  readonly id: number;
  readonly name: string;
  readonly request: unknown;
}

interface ResponseMessage {
  readonly id: number;
  readonly response?: unknown;
  readonly failure?: ThreadFailure;
}

/**
 * Calls into a worker thread that serves requests one after another, in the order they were made. A request fails with
 * the error that the thread sent back, and with OUTCOME_UNKNOWN when the thread ended while it was waiting. After that,
 * requests fail with LOG_UNAVAILABLE.
 */
export interface LogThread<Table extends RequestTable<Table>> {
  call<Name extends keyof Table & string>(
    name: Name,
    request: Table[Name]['request'],
    transfer?: readonly TransferListItem[],
  ): Promise<Table[Name]['response']>;
  /** Ends the thread. It must have received `close` before, so that it has closed its database. */
  end(): Promise<void>;
}

/**
 * Starts a thread.
 * @param script The compiled module that it runs, which calls {@link serveRequests}.
 * @param onFailure Called once when the thread dies by itself.
 */
export function startLogThread<Table extends RequestTable<Table>>(
  script: URL,
  onFailure: (error: Error) => void,
): LogThread<Table> {
  const turn = newTurn();
  const worker = new Worker(script, { workerData: turn });
  const pending = new Map<number, { resolve: (response: unknown) => void; reject: (error: Error) => void }>();
  let lastId = 0;
  let failure: Error | undefined;
  let isEnding = false;

  const fail = (cause: Error): void => {
    if (failure !== undefined) return;
    failure = new LendstreamError('OUTCOME_UNKNOWN', `A thread of the log ended: ${cause.message}`, {
      cause,
    });
    for (const { reject } of pending.values()) reject(failure);
    pending.clear();
    if (!isEnding) onFailure(cause);
  };
  worker.on('error', (error) => fail(error instanceof Error ? error : new Error(describeError(error))));
  worker.on('exit', (code) => {
    forgetTurn(turn);
    fail(new Error(`exit code ${code}`));
  });
  worker.on('message', ({ id, response, failure: requestFailure }: ResponseMessage) => {
    const caller = pending.get(id);
    pending.delete(id);
    if (requestFailure === undefined) caller?.resolve(response);
    else
      caller?.reject(
        new LendstreamError(requestFailure.code, requestFailure.detail, { details: requestFailure.details }),
      );
  });

  return {
    call: (name, request, transfer = []) =>
      new Promise((resolve, reject) => {
        if (failure !== undefined) {
          reject(new LendstreamError('LOG_UNAVAILABLE', failure.message, { cause: failure }));
          return;
        }
        lastId += 1;
        pending.set(lastId, { resolve, reject });
        worker.postMessage({ id: lastId, name, request } satisfies RequestMessage, transfer);
      }),
    end: async () => {
      isEnding = true;
      await worker.terminate();
    },
  };
}

/** A reply whose memory is transferred instead of copied. */
export class TransferredResponse<Result> {
  readonly response: Result;
  readonly memory: readonly ArrayBuffer[];

  constructor(response: Result, memory: readonly ArrayBuffer[]) {
    this.response = response;
    this.memory = memory;
  }
}

/** One function per request of the table. An error that it throws fails the request. */
export type RequestHandlers<Table extends RequestTable<Table>> = {
  readonly [Name in keyof Table]: (
    request: Table[Name]['request'],
  ) => Table[Name]['response'] | TransferredResponse<Table[Name]['response']>;
};

/** Serves requests in a worker thread. */
export function serveRequests<Table extends RequestTable<Table>>(handlers: RequestHandlers<Table>): void {
  const port = parentPort;
  if (port === null) throw new Error('This module runs as a worker thread.');
  const respond = ({ id, name, request }: RequestMessage): void => {
    try {
      const response: unknown = handlers[name as keyof Table](request);
      if (response instanceof TransferredResponse)
        port.postMessage({ id, response: response.response } satisfies ResponseMessage, response.memory);
      else port.postMessage({ id, response } satisfies ResponseMessage);
    } catch (error) {
      const failure: ThreadFailure = {
        code: codeOfDatabaseError(error),
        detail: describeError(error),
        details: error instanceof LendstreamError ? error.details : {},
      };
      port.postMessage({ id, failure } satisfies ResponseMessage);
    }
  };
  const turn = workerData as Int32Array;
  port.on('message', (message: RequestMessage) => inTurn(turn, () => respond(message)));
  endWork(turn);
}
