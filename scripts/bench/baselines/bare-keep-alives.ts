import { createServer, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { fetchRequest, type FetchPositions } from '../../../src/kafka/protocol/fetch-request.ts';
import { WireWriter } from '../../../src/kafka/protocol/wire.ts';

/**
 * The least that a process with many idle streams can do: it keeps responses open and writes the keep-alives of each,
 * it waits for Kafka in one request for all partitions, and it asks Redis as often as the service renews its lease and
 * looks for changes. There are no subscriptions, no sessions, no clock but the timers, and nothing is measured. Prints
 * its address; each request gets a response that stays open.
 */
interface Settings {
  /** host:port of the broker that leads all partitions. */
  readonly broker: string;
  /** The offset of the next record of each partition, by topic. */
  readonly ends: Readonly<Record<string, readonly number[]>>;
  readonly redisUrl: string;
}

/** As the service's defaults. Milliseconds. */
const keepAliveMilliseconds = 30_000;
const pollMilliseconds = 500;
/** How often Redis is asked: by changes, by the mirror, by the lease and by the report of the process. Milliseconds. */
const redisMilliseconds = [1_500, 2_000, 3_333, 3_333];
/** Keep-alives may be late by so much, so that many are written together. Milliseconds. */
const stepMilliseconds = 256;

const streamsOfRound = Math.ceil(keepAliveMilliseconds / stepMilliseconds);
const fetchApiKey = 1;
const fetchVersion = 10;
const int32Bytes = 4;

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
const topics = Object.entries(settings.ends);

/** The lines of all partitions of a stream. A token takes the place of one that the service draws for each line. */
function keepAliveOf(): Buffer {
  const [topic = '', partitions = []] = topics[0] ?? [];
  const token = 'f3a1c5e0-7f0b-4c3e-9d8a-2b6f1e0d9c47';
  const lines = partitions.map((_, partition) =>
    JSON.stringify({ cursor: { partition: `${partition}`, offset: '-1', event_type: topic, cursor_token: token } }),
  );
  return Buffer.from(`${lines.join('\n')}\n`);
}

/** The streams whose keep-alives are due together, round and round. */
const rounds = Array.from({ length: streamsOfRound }, (): ServerResponse[] => []);
let round = 0;
let opened = 0;
const keepAlive = keepAliveOf();
setInterval(() => {
  round = (round + 1) % streamsOfRound;
  for (const response of rounds[round] ?? []) response.write(keepAlive);
}, stepMilliseconds);

/** Sends the same request again as soon as it is answered. */
function poll(): void {
  const positions: FetchPositions = new Map(
    topics.map(([topic, ends]) => [
      topic,
      new Map(ends.map((offset, partition) => [partition, { offset, bytesMaximum: 1024 * 1024 }])),
    ]),
  );
  const limits = { waitMilliseconds: pollMilliseconds, bytesMaximum: 1024 * 1024 };
  const body = fetchRequest(positions, limits).encode() as Buffer;
  const head = new WireWriter().int32(0).int16(fetchApiKey).int16(fetchVersion).int32(1).string('bare').toBuffer();
  head.writeInt32BE(head.length - int32Bytes + body.length);
  const request = Buffer.concat([head, body]);
  const [host = '', port = ''] = settings.broker.split(':');
  const socket = connect(Number(port), host, () => socket.write(request));
  let received = Buffer.alloc(0);
  socket.on('data', (bytes) => {
    received = Buffer.concat([received, bytes]);
    if (received.length < int32Bytes || received.length < int32Bytes + received.readInt32BE(0)) return;
    received = Buffer.alloc(0);
    socket.write(request);
  });
}

function askRedis(): void {
  const { hostname, port } = new URL(settings.redisUrl);
  const socket = connect(Number(port), hostname);
  socket.resume();
  for (const milliseconds of redisMilliseconds) setInterval(() => socket.write('PING\r\n'), milliseconds);
}

poll();
askRedis();
const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { 'Content-Type': 'application/x-json-stream', 'X-Nakadi-StreamId': 'bare' });
  response.write(keepAlive);
  // As evenly as streams that were opened one by one.
  rounds[opened % streamsOfRound]?.push(response);
  opened += 1;
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no address');
  console.log(`http://127.0.0.1:${address.port}`);
});
process.on('SIGTERM', () => process.exit(0));
