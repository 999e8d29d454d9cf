import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { serviceMemory } from '../../scripts/bench/measured-service.ts';
import { describeError } from '../../src/errors.ts';
import { readyAddress } from '../support/processes/ready-address.ts';
import { measuring, serviceProgram } from '../support/processes/service-program.ts';
import type { Measurement } from './measuring-preload.ts';

/** The real service in a separate process, started as in production, and measured from the inside. */
export interface FuzzedService {
  readonly port: number;
  /** Its log lines of level warn and above, and its other output there. */
  readonly logLines: readonly string[];
  /** How it exited, if it did. */
  ending(): string | undefined;
  measure(collectGarbage: boolean): Promise<Measurement>;
  /** Returns whether it exited cleanly. */
  stop(): Promise<boolean>;
}

const startMillisecondsMaximum = 60_000;
const stopMillisecondsMaximum = 20_000;
const measureMillisecondsMaximum = 30_000;

/** The heap of scripts/start. */
const engineOptions = ['--enable-source-maps', ...serviceMemory, measuring];

export async function startFuzzedService(
  dataFolder: string,
  environment: Readonly<Record<string, string>>,
): Promise<FuzzedService> {
  const child = spawn(process.execPath, [...engineOptions, serviceProgram], {
    env: {
      ...process.env,
      // Responses are compared with the description on the client side, so that the process stays as in production.
      NODE_OPTIONS: '',
      KAFKA_BROKERS: '',
      REDIS_URL: '',
      HOST: '127.0.0.1',
      PORT: '0',
      LOG_LEVEL: 'warn',
      DATA_DIR: dataFolder,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const { stderr } = child;
  if (stderr === null) throw new Error('The process has no output');
  const endWithFuzzer = (): void => void child.kill('SIGKILL');
  process.on('exit', endWithFuzzer);
  const exited = once(child, 'exit');
  const logLines: string[] = [];
  createInterface({ input: stderr }).on('line', (line) => logLines.push(line));
  const address = await readyAddress(child, { withinMilliseconds: startMillisecondsMaximum }).catch(
    (error: unknown) => {
      throw new Error(`${describeError(error)}: ${logLines.join('\n')}`, { cause: error });
    },
  );
  const port = Number(new URL(address ?? '').port);
  return {
    port,
    logLines,
    ending: () =>
      child.exitCode === null && child.signalCode === null ? undefined : `${child.exitCode ?? child.signalCode}`,
    async measure(collectGarbage) {
      const timer = setTimeout(() => child.emit('message', undefined), measureMillisecondsMaximum);
      const measured = once(child, 'message') as Promise<[Measurement | undefined]>;
      child.send(collectGarbage ? 'measure after collecting garbage' : 'measure');
      const [measurement] = await measured;
      clearTimeout(timer);
      if (measurement === undefined) throw new Error('The process does not answer, it stands still');
      return measurement;
    },
    async stop() {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), stopMillisecondsMaximum);
      await exited;
      clearTimeout(timer);
      process.off('exit', endWithFuzzer);
      return child.exitCode === 0;
    },
  };
}

/** What is in use, but for the cache of the log: two million requests fill it, and it has a limit. Bytes. */
export function memoryOf({ heapBytes, externalBytes, cacheBytes }: Measurement): number {
  return heapBytes + externalBytes - cacheBytes;
}
