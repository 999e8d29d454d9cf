import { execFileSync } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { findFreePorts } from '../../local-cluster/free-ports.ts';
import { eventBytes, eventsPerBatch, publishBody, type Shapes } from '../events.ts';
import { startCommand } from '../processes.ts';

/** A figure to compare with: Redis Streams with a sync before each reply, fed the same events over a raw connection. */
export interface RedisServer {
  readonly port: number;
  stop(): Promise<void>;
}

const milliseconds = 3_000;

/** Starts a redis-server for the benchmark alone; undefined where none is installed. */
export async function redisServer(folder: string): Promise<RedisServer | undefined> {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  const [port = 0] = await findFreePorts(1);
  const server = startCommand('redis-server', [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--dir',
    folder,
    '--save',
    '',
    '--appendonly',
    'yes',
    '--appendfsync',
    'always',
  ]);
  server.child.stdout?.resume();
  for (let tries = 0; tries < 100; tries += 1) {
    const socket = await open(port).catch(() => undefined);
    if (socket !== undefined) {
      socket.destroy();
      return { port, stop: () => server.stop() };
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('redis-server did not get ready');
}

/** Events per second over a number of connections. Each connection sends one pipelined batch at a time. */
export async function redisRound({ port }: RedisServer, connections: number, shapes: Shapes): Promise<number> {
  const batches = Array.from({ length: 8 }, (_, seed) => pipelined(publishBody(seed, eventBytes, shapes)));
  const begin = performance.now();
  let events = 0;
  await Promise.all(
    Array.from({ length: connections }, async (_, connection) => {
      const socket = await open(port);
      for (let turn = connection; performance.now() - begin < milliseconds; turn += 1) {
        await repliesReceived(socket, batches[turn % batches.length] ?? Buffer.alloc(0));
        events += eventsPerBatch;
      }
      socket.destroy();
    }),
  );
  return (events * 1000) / (performance.now() - begin);
}

function pipelined(body: Buffer): Buffer {
  const events = JSON.parse(body.toString('utf8')) as object[];
  const commands = events.map((event) => {
    const parts = ['XADD', 'bench', '*', 'e', JSON.stringify(event)];
    return `*${parts.length}\r\n${parts.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`).join('')}`;
  });
  return Buffer.from(commands.join(''));
}

/** Sends one pipeline and resolves at its last reply: the reply to each XADD is a bulk string of two lines. */
function repliesReceived(socket: Socket, batch: Buffer): Promise<void> {
  return new Promise((resolve) => {
    let lines = 0;
    const onData = (chunk: Buffer): void => {
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1;
      if (lines < eventsPerBatch * 2) return;
      socket.off('data', onData);
      resolve();
    };
    socket.on('data', onData);
    socket.write(batch);
  });
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.once('error', reject);
  });
}
