import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readyAddress } from './ready-address.ts';
import { serviceProgram } from './service-program.ts';

/** The real service in a separate process, on a free port with its own folder. */
export interface Service {
  readonly url: string;
  readonly child: ChildProcess;
  readonly dataFolder: string;
  /** The lines that it has printed to standard output so far. */
  readonly output: readonly string[];
  /** Sends SIGTERM and waits for the end. Returns the exit code. */
  stop(): Promise<number | null>;
  /** Sends SIGKILL and waits for the end. */
  kill(): Promise<void>;
}

/** Generous, because a busy machine takes its time. A hook has a minute. */
const startMillisecondsMaximum = 50_000;

export function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'lendstream-test-'));
}

export function removeFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true });
}

/**
 * Starts the compiled program on the embedded store. Only tests that request the cluster of the test run use that one.
 * It is started without source maps, which would take a tenth of its start.
 * @param standardError Whether the test reads what it writes there.
 */
export function spawnService(
  dataFolder: string,
  environment: Record<string, string> = {},
  standardError: 'inherit' | 'pipe' = 'inherit',
  program = serviceProgram,
): ChildProcess {
  return spawn(process.execPath, [program], {
    env: {
      ...process.env,
      KAFKA_BROKERS: '',
      REDIS_URL: '',
      HOST: '127.0.0.1',
      PORT: '0',
      LOG_LEVEL: 'warn',
      // A day that ends while tests run must not change their loans.
      END_OF_DAY_SCHEDULE: 'off',
      DATA_DIR: dataFolder,
      ...environment,
    },
    stdio: ['ignore', 'pipe', standardError],
  });
}

/** Starts the compiled program and returns when it reports that it is ready. */
export async function startService(
  dataFolder: string,
  environment: Record<string, string> = {},
  program = serviceProgram,
): Promise<Service> {
  const child = spawnService(dataFolder, environment, 'inherit', program);
  const exited = once(child, 'exit');
  const output: string[] = [];
  const url = await readyAddress(child, {
    withinMilliseconds: startMillisecondsMaximum,
    onLine: (line) => output.push(line),
  });
  return {
    url: url ?? '',
    child,
    dataFolder,
    output,
    async stop() {
      child.kill('SIGTERM');
      await exited;
      return child.exitCode;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
