import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { findFreePorts } from '../../../scripts/local-cluster/free-ports.ts';
import { removeFolder, temporaryFolder } from './service.ts';

/** A separate Redis server for a test, on a free port, with its own folder. */
export interface RedisServer {
  readonly port: number;
  /** Where other nodes of a cluster reach it, when it has the setting --cluster-enabled. */
  readonly clusterPort: number;
  readonly url: string;
  /** Kills the process without notice, like a power failure. */
  kill(): Promise<void>;
  /** Lets it do nothing for a while; what it is sent then is done afterwards. */
  pause(milliseconds: number): Promise<void>;
  /** Starts it again on the same port with its stored data. */
  restart(): Promise<void>;
  /** Stops the process and removes its folder. */
  stop(): Promise<void>;
}

const startMillisecondsMaximum = 10_000;

/** How often a server gets other ports, because another program took one before it was used. */
const startsMaximum = 3;

/** @param settings Further settings in the form of the command line. */
export async function startRedisServer(...settings: string[]): Promise<RedisServer> {
  const folder = await temporaryFolder();
  for (let starts = 1; ; starts += 1) {
    try {
      return await startInFolder(folder, settings);
    } catch (error) {
      if (starts === startsMaximum) throw error;
    }
  }
}

async function startInFolder(folder: string, settings: readonly string[]): Promise<RedisServer> {
  const [port = 0, clusterPort = 0] = await findFreePorts(2);
  const common = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--daemonize', 'no'];
  // By default it is the port plus 10,000, which a client's own connection may have.
  if (settings.includes('--cluster-enabled')) common.push('--cluster-port', String(clusterPort));
  let child: ChildProcess | undefined;

  const start = async (): Promise<void> => {
    child = spawn('redis-server', [...common, ...settings], { stdio: 'ignore' });
    await waitUntilResponding(port, child);
  };
  const kill = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  try {
    await start();
  } catch (error) {
    await kill();
    throw error;
  }
  return {
    port,
    clusterPort,
    url: `redis://127.0.0.1:${port}`,
    kill,
    pause: async (milliseconds) => {
      child?.kill('SIGSTOP');
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
      child?.kill('SIGCONT');
    },
    restart: start,
    stop: async () => {
      await kill();
      await removeFolder(folder);
    },
  };
}

/** A plain client, for actions of a test without the product. */
export function redisClient(url: string): Redis {
  return new Redis(url);
}

async function waitUntilResponding(port: number, child: ChildProcess): Promise<void> {
  const client = new Redis(port, '127.0.0.1', { lazyConnect: true, retryStrategy: () => 20 });
  client.on('error', () => {});
  const deadline = performance.now() + startMillisecondsMaximum;
  try {
    for (;;) {
      try {
        if (client.status === 'wait') await client.connect();
        await client.ping();
        return;
      } catch (error) {
        if (performance.now() > deadline || child.exitCode !== null) throw error;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  } finally {
    client.disconnect();
  }
}
