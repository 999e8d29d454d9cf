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
  /** As a person reads it: `broker 1`, `redis`, `replica`. */
  readonly name: string;
  readonly port: number;
  /** Everything it ever printed. */
  readonly logFile: string;
  readonly process: ProcessIdentity | undefined;
  condition(): ProcessCondition;
  /** Starts it when it does not run, wakes it when it is suspended, and returns when it answers over its protocol. */
  start(): Promise<void>;
  /** Sends the signal (SIGKILL unless said otherwise) and returns when it has had its effect. */
  kill(signal?: NodeJS.Signals): Promise<void>;
}

/** What is known of a server before it runs. */
export interface ServerProgram {
  readonly name: string;
  readonly port: number;
  readonly logFile: string;
  readonly command: readonly string[];
  /** Makes folder and files; called before each start, and leaves what is there already as it is. */
  readonly prepare: () => Promise<void>;
  /** Returns when the server answers over its protocol, and throws what it met otherwise. */
  readonly answers: () => Promise<void>;
}

/** The port was taken by somebody else between its choice and its use. */
export class PortTaken extends Error {}

const startMillisecondsMaximum = 60_000;
const pollMilliseconds = 25;
/** A Kafka broker hands its partitions over when it is asked to end; it took 1.6 to 2.3 s where nothing else ran. */
const endMillisecondsMaximum = 30_000;
const tailLines = 25;
/** What these signals do to a process; the others end it. */
const conditionsAfter: Partial<Record<NodeJS.Signals, ProcessCondition>> = { SIGSTOP: 'suspended', SIGCONT: 'running' };

/**
 * @param known the process that runs already, for a cluster that another program started
 * @param started told of each process that is started, before anything is waited for
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
    // A session of its own: a Ctrl-C at the terminal is answered by whoever started the cluster, in its order.
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
      ? new PortTaken(`${program.name}: port ${program.port} was taken by somebody else`)
      : new Error(`${program.name} ended while it was starting. ${tail(program.logFile, printed)}`);
  }

  async function waitUntilItAnswers(logStart: number): Promise<void> {
    const deadline = performance.now() + startMillisecondsMaximum;
    for (;;) {
      let failure: unknown;
      try {
        await program.answers();
        // Somebody else's server may have answered on our port.
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
      await waitUntilItAnswers(logStart);
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
