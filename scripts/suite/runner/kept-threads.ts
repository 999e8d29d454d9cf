import { EventEmitter } from 'node:events';
import { existsSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MessageChannel, type MessagePort, type TransferListItem } from 'node:worker_threads';
import type * as workerThreads from 'node:worker_threads';
import { atEndOfTestProcess } from '../../../test/support/end-of-file.ts';
import { serviceProgramVariable } from '../../../test/support/processes/service-program.ts';
import type { Ended, LentProgram } from './thread-host.ts';

type Worker = workerThreads.Worker;
type WorkerClass = typeof workerThreads.Worker;

/** The compiled service, whose threads this process starts. */
const compiledService = fileURLToPath(new URL('../../../src/', import.meta.url));

/** The program that runs one thread of the service after another. */
const host = new URL('./thread-host.js', import.meta.url);

/** Threads that wait for their next program. A file seldom has more at the same time. */
const waitingMaximum = 8;

/**
 * Lets this process run the threads of the service from the bundle of the test run, and each in one that an earlier
 * test has closed, where there is one. Tests start thousands of threads, and to start one takes longer than most of
 * them work. A thread that is ended without being closed before, as by a crash, ends. Does nothing without a bundle.
 */
export function keepThreadsOfBundle(): void {
  const program = process.env[serviceProgramVariable];
  if (program === undefined) return;
  const bundle = dirname(program);
  const threads = createRequire(import.meta.url)('node:worker_threads') as { Worker: WorkerClass };
  threads.Worker = keptThreads(threads.Worker, bundle);
  syncBuiltinESMExports();
}

/**
 * A class in the place of `Worker` whose instances borrow their threads when their programs are in a bundle.
 * @param bundle The folder that has the programs where the compiled service has them.
 */
export function keptThreads(Original: WorkerClass, bundle: string): WorkerClass {
  const waiting = new WaitingThreads(Original);
  const loans = new WeakMap<Worker, Loan>();
  class Kept extends Original {
    override postMessage(message: unknown, transfer?: readonly TransferListItem[]): void {
      const loan = loans.get(this);
      if (loan === undefined) super.postMessage(message, transfer);
      else loan.postMessage(message, transfer);
    }

    override terminate(): Promise<number> {
      return loans.get(this)?.terminate() ?? super.terminate();
    }
  }
  return new Proxy(Kept, {
    construct(_, parameters: ConstructorParameters<WorkerClass>, made) {
      const [script, options = {}] = parameters;
      const program = bundled(script, bundle);
      if (program === undefined) return Reflect.construct(Kept, parameters, made) as Worker;
      // What a class that extends this one expects to have made, without a thread of its own.
      const borrower = Reflect.construct(EventEmitter, [], made) as Worker;
      loans.set(borrower, new Loan(borrower, waiting, program, options));
      return borrower;
    },
  });
}

/** The program in the bundle; undefined when it has none. */
function bundled(script: string | URL, bundle: string): string | undefined {
  if (!(script instanceof URL) || script.protocol !== 'file:') return undefined;
  const path = relative(compiledService, fileURLToPath(script));
  const program = join(bundle, path);
  return !path.startsWith('..') && existsSync(program) ? program : undefined;
}

/** Whether a message tells a thread of the service to close what it has opened. */
function isClose(message: unknown): boolean {
  return message === 'close' || (message as { readonly name?: unknown } | null)?.name === 'close';
}

/** The threads of this process that run no program now. They do not keep it from ending. */
class WaitingThreads {
  readonly #Original: WorkerClass;
  readonly #waiting: Worker[] = [];

  constructor(Original: WorkerClass) {
    this.#Original = Original;
  }

  take(options: workerThreads.WorkerOptions): Worker {
    const thread = this.#waiting.pop();
    thread?.ref();
    return thread ?? new this.#Original(host, { ...options, workerData: undefined });
  }

  put(thread: Worker): void {
    if (this.#waiting.length >= waitingMaximum) {
      void thread.terminate();
      return;
    }
    if (this.#waiting.length === 0) atEndOfTestProcess(() => this.#end());
    thread.unref();
    this.#waiting.push(thread);
  }

  async #end(): Promise<void> {
    await Promise.all(this.#waiting.splice(0).map((thread) => thread.terminate()));
  }
}

/** The run of one program in a thread that is borrowed for it. */
class Loan {
  readonly #borrower: Worker;
  readonly #waiting: WaitingThreads;
  readonly #thread: Worker;
  readonly #port: MessagePort;
  readonly #exited: Promise<number>;
  /** Whether the program was told to close, has done that, and has had no request since. */
  #closing: 'no' | 'asked' | 'done' = 'no';

  constructor(borrower: Worker, waiting: WaitingThreads, program: string, options: workerThreads.WorkerOptions) {
    const { port1, port2 } = new MessageChannel();
    this.#borrower = borrower;
    this.#waiting = waiting;
    this.#port = port1;
    this.#thread = waiting.take(options);
    this.#exited = this.#exit();
    port1.on('message', (message: unknown) => this.#receive(message));
    const lent: LentProgram = { program, workerData: options.workerData as unknown, port: port2 };
    this.#thread.postMessage(lent, [port2]);
  }

  postMessage(message: unknown, transfer: readonly TransferListItem[] = []): void {
    this.#closing = isClose(message) ? 'asked' : 'no';
    this.#port.postMessage(message, transfer);
  }

  async terminate(): Promise<number> {
    if (this.#closing === 'done') this.#port.close();
    else await this.#thread.terminate();
    return this.#exited;
  }

  #receive(message: unknown): void {
    const isFailure = (message as { readonly failure?: unknown }).failure !== undefined;
    if (this.#closing === 'asked' && !isFailure) this.#closing = 'done';
    this.#borrower.emit('message', message);
  }

  /** Waits until the program ends, or the thread. @returns the exit code */
  async #exit(): Promise<number> {
    const thread = this.#thread;
    const fail = (error: unknown): void => void this.#borrower.emit('error', error);
    let settle: (outcome: number | Ended) => void = () => {};
    const settled = new Promise<number | Ended>((resolve) => (settle = resolve));
    thread.on('error', fail).on('exit', settle).on('message', settle);
    const outcome = await settled;
    // Not all of them: the thread has listeners of its own, by which its messages arrive.
    thread.off('error', fail).off('exit', settle).off('message', settle);
    this.#port.close();
    const isEnded = typeof outcome === 'number';
    if (!isEnded && outcome.isGone) this.#waiting.put(thread);
    else if (!isEnded) await thread.terminate();
    const exitCode = isEnded ? outcome : 0;
    this.#borrower.emit('exit', exitCode);
    return exitCode;
  }
}
