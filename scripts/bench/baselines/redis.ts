import { execFileSync } from 'node:child_process';
import { connect } from 'node:net';
import { findFreePorts } from '../../local-cluster/free-ports.ts';
import { eventBytes, eventsPerBatch, publishBody, type Shapes } from '../events.ts';
import { startCommand } from '../processes.ts';

/** A figure to compare with: Redis Streams with a sync before each reply, fed the same events over a raw connection. */
export interface RedisServer {
  readonly port: number;
  stop(): Promise<void>;
}

const milliseconds = 3_000;
const newline = 10;

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
    const pipeline = await openPipeline(port).catch(() => undefined);
    if (pipeline !== undefined) {
      pipeline.close();
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
      const pipeline = await openPipeline(port);
      for (let turn = connection; performance.now() - begin < milliseconds; turn += 1) {
        await pipeline.send(batches[turn % batches.length] ?? Buffer.alloc(0));
        events += eventsPerBatch;
      }
      pipeline.close();
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

/** A connection that sends one pipelined batch at a time. */
interface Pipeline {
  /** Resolves at the last reply: the reply to each XADD is a bulk string of two lines. */
  send(batch: Buffer): Promise<void>;
  close(): void;
}

/** More than the replies to a batch. Bytes. */
const readBytesMaximum = 16 * 1024;

function openPipeline(port: number): Promise<Pipeline> {
  let lines = 0;
  let complete: (() => void) | undefined;
  // As the load of the service does: without memory to read into, each read would get 64 KiB of its own.
  const onread = {
    buffer: Buffer.allocUnsafeSlow(readBytesMaximum),
    callback(bytes: number, buffer: Uint8Array) {
      for (let at = buffer.indexOf(newline); at >= 0 && at < bytes; at = buffer.indexOf(newline, at + 1)) lines += 1;
      if (lines >= eventsPerBatch * 2) complete?.();
      return true;
    },
  };
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', onread }, () => {
      resolve({
        send: (batch) =>
          new Promise((done) => {
            lines = 0;
            complete = done;
            socket.write(batch);
          }),
        close: () => void socket.destroy(),
      });
    });
    socket.once('error', reject);
  });
}
