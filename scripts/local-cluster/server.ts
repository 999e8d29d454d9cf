import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  conditionOf,
  identify,
  signalProcess,
  waitForEnd,
  type ProcessCondition,
  type ProcessIdentity,
} from './process-identity.ts';

/**
 * One server of a local cluster: a process that can be killed, suspended and started again on the same port and data.
 */
export interface Server {
  /** The name shown to people: `broker 1`, `redis`, `replica`. */
  readonly name: string;
  readonly port: number;
  /** Everything it ever printed. */
  readonly logFile: string;
  readonly process: ProcessIdentity | undefined;
  condition(): ProcessCondition;
  /** Starts it if it is not running, wakes it if suspended, and returns when it responds over its protocol. */
  start(): Promise<void>;
  /** Sends the signal (SIGKILL by default) and returns when it has taken effect. */
  kill(signal?: NodeJS.Signals): Promise<void>;
}

/** The properties of a server that are known before it runs. */
export interface ServerProgram {
  readonly name: string;
  readonly port: number;
  readonly logFile: string;
  readonly command: readonly string[];
  /** Creates folder and files. Called before each start; does not change what exists already. */
  readonly prepare: () => Promise<void>;
  /** Returns when the server responds over its protocol; otherwise throws the error it got. */
  readonly probe: () => Promise<void>;
}

/** Another program took the port between its choice and its use. */
export class PortTaken extends Error {}

const startMillisecondsMaximum = 60_000;
const pollMilliseconds = 25;
/** A Kafka broker hands its partitions over when asked to end. On an idle machine this took 1.6 to 2.3 s. */
const endMillisecondsMaximum = 30_000;
const tailLines = 25;
/** The condition of a process after these signals; all others end it. */
const conditionsAfter: Partial<Record<NodeJS.Signals, ProcessCondition>> = { SIGSTOP: 'suspended', SIGCONT: 'running' };

/**
 * A server with its process, if one is known.
 * @param known the process that runs already, for a cluster that another program started
 * @param started called with each process that is started, before anything waits for it
 */
export function createServer(
  program: ServerProgram,
  known: ProcessIdentity | undefined,
  started: (identity: ProcessIdentity) => void,
): Server {
  let current = known;

  function spawnProcess(): number {
    const logStart = existsSync(program.logFile) ? statSync(program.logFile).size : 0;
    const log = openSync(program.logFile, 'a');
    const [file = '', ...programArguments] = program.command;
    // A session of its own: a Ctrl-C at the terminal reaches only the starting program, which ends all in its order.
    const child = spawn(file, programArguments, { detached: true, stdio: ['ignore', log, log] });
    closeSync(log);
    child.unref();
    child.on('error', (error) => console.error(`lendstream: ${program.name}: ${error.message}`));
    if (child.pid === undefined) throw new Error(`${program.name}: ${file} cannot be started`);
    current = identify(child.pid);
    if (current !== undefined) started(current);
    return logStart;
  }

  function ended(logStart: number): Error {
    const printed = readFileSync(program.logFile).subarray(logStart).toString('utf8');
    return /Address already in use/i.test(printed)
      ? new PortTaken(`${program.name}: port ${program.port} was taken by another program`)
      : new Error(`${program.name} ended while it was starting. ${tail(program.logFile, printed)}`);
  }

  async function waitUntilResponding(logStart: number): Promise<void> {
    const deadline = performance.now() + startMillisecondsMaximum;
    for (;;) {
      let failure: unknown;
      try {
        await program.probe();
        // Another program's server may have responded on our port.
        if (conditionOf(current) !== 'gone') return;
      } catch (error) {
        failure = error;
      }
      if (conditionOf(current) === 'gone') throw ended(logStart);
      if (performance.now() > deadline) {
        throw new Error(
          `${program.name} did not answer on port ${program.port} within ${startMillisecondsMaximum / 1000} s. ` +
            tail(program.logFile, readFileSync(program.logFile, 'utf8')),
          { cause: failure },
        );
      }
      await sleep(pollMilliseconds);
    }
  }

  return {
    name: program.name,
    port: program.port,
    logFile: program.logFile,
    get process() {
      return current;
    },
    condition: () => conditionOf(current),
    async start() {
      let logStart = 0;
      if (conditionOf(current) === 'gone') {
        await program.prepare();
        logStart = spawnProcess();
      }
      signalProcess(current, 'SIGCONT');
      await waitUntilResponding(logStart);
    },
    async kill(signal = 'SIGKILL') {
      signalProcess(current, signal);
      const effect = conditionsAfter[signal];
      if (effect !== undefined) {
        while (![effect, 'gone'].includes(conditionOf(current))) await sleep(1);
        return;
      }
      if (!(await waitForEnd(current, endMillisecondsMaximum))) {
        throw new Error(`${program.name} did not end within ${endMillisecondsMaximum / 1000} s of ${signal}`);
      }
    },
  };
}

function tail(logFile: string, printed: string): string {
  const lines = printed.trimEnd().split('\n').slice(-tailLines);
  return `The last lines of ${logFile}:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}
