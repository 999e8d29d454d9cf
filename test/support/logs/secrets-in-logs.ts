import { existsSync, readFileSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import type * as workerThreads from 'node:worker_threads';
import type { Logger } from '../../../src/logger.ts';
import { secretsIn } from './lines-with-secrets.ts';

/**
 * Checks what the parts that tests start in this process log. root-hooks.ts enables it. lines-with-secrets.ts says what
 * a line must not have, and checks what processes and threads write.
 */

/** The findings of this process. */
const findings: string[] = [];

function check(facts: object, message: string): void {
  const line = `${textOf(facts)} ${message}`;
  for (const what of secretsIn(line)) findings.push(`${what}: ${line}`);
}

/**
 * Checks what the parts that tests start in this process would log.
 * @param silentLogger The one that most tests give them.
 */
export function watchSilentLogger(silentLogger: Logger): void {
  Object.assign(silentLogger, { error: check, warn: check, info: check, debug: check });
}

type LogMethods = Omit<Logger, 'child'>;

/** A logger that does what a test wants of a line, and whose lines are checked like all others. */
export function checkedLogger(wanted: Partial<LogMethods>): Logger {
  const checked =
    (level: keyof LogMethods) =>
    (facts: object, message: string): void => {
      check(facts, message);
      wanted[level]?.(facts, message);
    };
  const logger: Logger = {
    error: checked('error'),
    warn: checked('warn'),
    info: checked('info'),
    debug: checked('debug'),
    child: () => logger,
  };
  return logger;
}

/** The options of this process that a thread takes: it refuses the limit of memory that a trial of mutants sets. */
function optionsForThreads(): string[] {
  return process.execArgv.filter((option) => !option.startsWith('--max-old-space-size='));
}

/** Whether threads that this process starts check what they write. */
let areThreadsWatched = false;

/** Checks what threads of this process write to standard error past its main thread. */
export function watchThreadsOfTests(): void {
  if (areThreadsWatched) return;
  areThreadsWatched = true;
  const preload = new URL('./thread-preload.js', import.meta.url).href;
  const threads = createRequire(import.meta.url)('node:worker_threads') as { Worker: typeof workerThreads.Worker };
  threads.Worker = class extends threads.Worker {
    constructor(script: string | URL, options: workerThreads.WorkerOptions = {}) {
      super(script, { ...options, execArgv: [...(options.execArgv ?? optionsForThreads()), `--import=${preload}`] });
    }
  };
  syncBuiltinESMExports();
}

/** The findings since the last call, of this process and of those that tests have started. */
export class LogFindings {
  readonly #file: string;
  #read = 0;

  constructor(file: string) {
    this.#file = file;
  }

  take(): string[] {
    const own = findings.splice(0);
    if (!existsSync(this.#file)) return own;
    const lines = readFileSync(this.#file, 'utf8').split('\n').slice(0, -1);
    const others = lines.slice(this.#read);
    this.#read = lines.length;
    return [...own, ...others];
  }
}

function textOf(facts: object): string {
  try {
    return JSON.stringify(facts);
  } catch {
    // A fact that is no JSON is shown by its name.
    return Object.keys(facts).join(' ');
  }
}
