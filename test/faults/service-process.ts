import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describeError } from '../../src/errors.ts';
import { readyAddress } from '../support/processes/ready-address.ts';
import { serviceProgram } from '../support/processes/service-program.ts';
import { openTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { findFreePorts } from '../../scripts/local-cluster/free-ports.ts';
import type { ServiceNode } from './load-process.ts';

/**
 * A process of the service that can be killed, suspended and restarted, behind a proxy. The addresses stay the same.
 */
export interface ServiceProcess {
  readonly name: string;
  /** The proxy in front of the process; nothing connects to a process that only works. */
  readonly proxy: TcpProxy;
  /** Its addresses, which stay when it is restarted. */
  readonly node: ServiceNode;
  /** The folder of its data. */
  readonly dataFolder: string;
  /** The file of its output, and of that of the processes it replaced. */
  readonly logFile: string;
  /** Starts it, and returns when it reports that it is ready. */
  start(): Promise<void>;
  /** Sends SIGKILL, and waits for the end. */
  kill(): Promise<void>;
  pause(): void;
  resume(): void;
  /**
   * Sends SIGTERM, or SIGKILL when that has no effect in time. Returns whether it exited cleanly. It can be started
   * again.
   */
  end(): Promise<boolean>;
  /** The same for the last time: its address goes too. */
  stop(): Promise<boolean>;
}

export interface ServiceProcessOptions {
  readonly name: string;
  /** The folder of its data and its output. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

const startMillisecondsMaximum = 60_000;
const stopMillisecondsMaximum = 20_000;

/** Creates a process, which is not started yet. */
export async function createServiceProcess({
  name,
  folder,
  environment,
}: ServiceProcessOptions): Promise<ServiceProcess> {
  mkdirSync(folder, { recursive: true });
  const logFile = join(folder, `${name}.log`);
  const dataFolder = join(folder, `${name}-data`);
  const [port = 0] = await findFreePorts(1);
  const proxy = await openTcpProxy({ host: '127.0.0.1', port });
  let child: ChildProcess | undefined;
  let exited: Promise<unknown> = Promise.resolve();

  const endWithHarness = (): void => {
    child?.kill('SIGKILL');
  };
  process.on('exit', endWithHarness);

  const end = async (): Promise<boolean> => {
    child?.kill('SIGCONT');
    child?.kill('SIGTERM');
    const timer = setTimeout(() => child?.kill('SIGKILL'), stopMillisecondsMaximum);
    await exited;
    clearTimeout(timer);
    return child === undefined || child.exitCode === 0;
  };

  return {
    name,
    proxy,
    dataFolder,
    logFile,
    node: { name, url: `http://${proxy.host}:${proxy.port}`, directUrl: `http://127.0.0.1:${port}` },
    async start() {
      const log = openSync(logFile, 'a');
      const started = spawn(process.execPath, [serviceProgram], {
        env: {
          ...process.env,
          HOST: '127.0.0.1',
          PORT: String(port),
          LOG_LEVEL: 'info',
          DATA_DIR: dataFolder,
          ...environment,
        },
        stdio: ['ignore', 'pipe', log],
      });
      child = started;
      exited = once(started, 'exit');
      started.once('exit', () => closeSync(log));
      await readyAddress(started, {
        withinMilliseconds: startMillisecondsMaximum,
        onLine: (line) => {
          // The file is closed with the process; a line may still arrive.
          if (started.exitCode === null && started.signalCode === null) writeSync(log, `${line}\n`);
        },
      }).catch((error: unknown) => {
        throw new Error(`${name}: ${describeError(error)}`, { cause: error });
      });
    },
    async kill() {
      child?.kill('SIGKILL');
      await exited;
    },
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    end,
    async stop() {
      const inOrder = await end();
      process.off('exit', endWithHarness);
      await proxy.close();
      return inOrder;
    },
  };
}
