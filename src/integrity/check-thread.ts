/**
 * The thread that checks one database file, in steps that the main thread asks for.
 * In: a message for each step. Out: what the step found. A message `close` ends the thread.
 */

import { Worker, parentPort, workerData } from 'node:worker_threads';
import { LendstreamError, describeError } from '../errors.ts';
import { endWork, forgetTurn, inTurn, newTurn } from '../thread-turns.ts';
import { type Connection, databaseErrorKind } from '../sqlite.ts';

/** What one step of a check found. */
export interface CheckStep {
  /** Whether the file has been read to its end. */
  readonly isDone: boolean;
  /** How much of the file was read so far, from 0 to 1. */
  readonly checkedShare: number;
  /** A sentence for each damage that this step found. */
  readonly damages: readonly string[];
}

/** One check of a file, from its beginning to its end. */
export interface FileCheck {
  /** Reads the next part of the file, within a few milliseconds when the disk is fast. */
  step(): CheckStep;
  close(): void;
}

/** What the thread is started with. */
interface ThreadData {
  readonly path: string;
  readonly turn: Int32Array;
}

type Reply = CheckStep | { readonly failure: string };

/** Serves the check of the file that the thread was started with. The thread ends when it is told to close. */
export function serveCheck(open: (path: string) => FileCheck): void {
  const port = parentPort;
  if (port === null) throw new Error('This module runs as a worker thread.');
  let check: FileCheck | undefined;
  const { path, turn } = workerData as ThreadData;
  const serve = (name: 'step' | 'close'): void => {
    if (name === 'close') {
      check?.close();
      port.close();
      return;
    }
    try {
      check ??= open(path);
      port.postMessage(check.step() satisfies Reply);
    } catch (error) {
      port.postMessage({ failure: describeError(error) } satisfies Reply);
    }
  };
  port.on('message', (name: 'step' | 'close') => inTurn(turn, () => serve(name)));
  endWork(turn);
}

/**
 * Starts a thread that checks a file.
 * @param script The compiled module that it runs, which calls {@link serveCheck}.
 */
export function startCheckThread(script: URL, path: string): CheckThread {
  const turn = newTurn();
  return new CheckThread(new Worker(script, { workerData: { path, turn } satisfies ThreadData }), turn);
}

/** Calls into the thread, one step at a time. */
export class CheckThread {
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  #settle: { resolve: (step: CheckStep) => void; reject: (error: Error) => void } | undefined;
  #hasExited = false;

  constructor(worker: Worker, turn: Int32Array) {
    this.#worker = worker;
    worker.on('message', (reply: Reply) => {
      if ('failure' in reply) this.#settle?.reject(new LendstreamError('LOG_UNAVAILABLE', reply.failure));
      else this.#settle?.resolve(reply);
    });
    worker.on('error', (error) => this.#settle?.reject(new LendstreamError('LOG_UNAVAILABLE', describeError(error))));
    this.#exited = new Promise((resolve) => {
      worker.on('exit', () => {
        forgetTurn(turn);
        this.#hasExited = true;
        this.#settle?.reject(threadEnded());
        resolve();
      });
    });
  }

  /** @throws LOG_UNAVAILABLE when the file cannot be read for another reason than damage, or the thread has ended */
  step(): Promise<CheckStep> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      if (this.#hasExited) reject(threadEnded());
      else this.#worker.postMessage('step', []);
    });
  }

  /** Closes the file and ends the thread. No step may be under way. */
  async close(): Promise<void> {
    if (!this.#hasExited) this.#worker.postMessage('close', []);
    await this.#exited;
  }
}

function threadEnded(): LendstreamError {
  return new LendstreamError('LOG_UNAVAILABLE', 'The thread that checks the file ended.');
}

/** Whether a statement failed because of damage: bytes that are no database, or that the disk does not return. */
export function isDamage(error: unknown): boolean {
  return ['damaged', 'failed'].includes(databaseErrorKind(error));
}

/** Reads one snapshot of the file: nothing that `read` sees is changed in between. */
export function inSnapshot<Result>(connection: Connection, read: () => Result): Result {
  connection.exec('BEGIN');
  try {
    return read();
  } finally {
    // Unlike COMMIT, it does not fail after a damaged page.
    connection.exec('ROLLBACK');
  }
}
