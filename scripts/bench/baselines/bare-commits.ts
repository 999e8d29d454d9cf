import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Redis } from 'ioredis';

/**
 * The least that a cursor commit can cost: a server on bare Node that reads a commit and its JSON, has one script in
 * Redis compare and store the offset, and responds with the bytes of the service. All commits that arrive during a call
 * make the next one. There are no routers, no registry, no access, no streams, no recovery, and no copy in the log.
 * A stream gets one line for each partition, which names its last event. Prints its address.
 */
interface Settings {
  readonly redisUrl: string;
  readonly partitions: number;
  /** How many events each subscription has. */
  readonly events: number;
}

/** Everything about a subscription is in one hash: `owner/partition` is a stream, `offset/partition` an offset. */
const keyOf = (subscription: string): string => `bare:${subscription}`;

/**
 * KEYS: dirty, then for each commit the hash of its subscription. ARGV for each commit: stream, partition, offset.
 * Returns for each commit 1 when it moved the offset on, 0 when it did not, -1 when the stream is not the owner.
 */
const script = `
local replies = {}
for index = 2, #KEYS do
  local key, at = KEYS[index], 3 * index - 5
  local partition, offset = ARGV[at + 1], ARGV[at + 2]
  local found = redis.call('HMGET', key, 'owner/' .. partition, 'offset/' .. partition)
  local reply = 0
  if found[1] ~= ARGV[at] then
    reply = -1
  elseif tonumber(offset) > tonumber(found[2]) then
    redis.call('HSET', key, 'offset/' .. partition, offset)
    redis.call('HSET', KEYS[1], key .. '/' .. partition, offset)
    reply = 1
  end
  replies[index - 1] = reply
end
return replies`;
const scriptSha = createHash('sha1').update(script).digest('hex');

const { redisUrl, partitions, events } = JSON.parse(process.argv[2] ?? '{}') as Settings;
const redis = new Redis(redisUrl);
await redis.script('LOAD', script);

const offsetPrefix = '001-0001-';
const offsetDigits = 18;
const eventsPerPartition = events / partitions;

function textOf(offset: number): string {
  return offsetPrefix + String(offset).padStart(offsetDigits, '0');
}

/** A commit on its way to Redis. */
interface WaitingCommit {
  readonly subscription: string;
  readonly stream: string;
  readonly cursor: { readonly partition: string; readonly offset: string };
  readonly response: ServerResponse;
}

let waiting: WaitingCommit[] = [];
let isCalling = false;

async function callWhileAnyWait(): Promise<void> {
  isCalling = true;
  // Requests that arrived in the same turn of the event loop are read first, as in the service.
  await nextTurn();
  while (waiting.length > 0) {
    const commits = waiting;
    waiting = [];
    const keys = ['bare-dirty'];
    const values: (string | number)[] = [];
    for (const { subscription, stream, cursor } of commits) {
      keys.push(keyOf(subscription));
      values.push(stream, cursor.partition, Number(cursor.offset.slice(offsetPrefix.length)));
    }
    const replies = (await redis.evalsha(scriptSha, keys.length, ...keys, ...values)) as number[];
    for (const [index, { response }] of commits.entries()) response.writeHead(replies[index] === 1 ? 204 : 422).end();
    await nextTurn();
  }
  isCalling = false;
}

/** The headers of every response of the service. */
function setHeaders(response: ServerResponse): void {
  response.setHeader('X-Flow-Id', randomUUID().replaceAll('-', '').slice(0, 24));
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('X-Content-Type-Options', 'nosniff');
}

function takeCommit(request: IncomingMessage, response: ServerResponse, subscription: string): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { items } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { items: WaitingCommit['cursor'][] };
    const [cursor] = items;
    if (cursor === undefined || items.length > 1) throw new Error('The load commits one cursor at a time');
    const stream = String(request.headers['x-nakadi-streamid']);
    setHeaders(response);
    waiting.push({ subscription, stream, cursor, response });
    if (!isCalling) void callWhileAnyWait();
  });
}

/** Makes a new stream the owner of all partitions. */
async function openStream(response: ServerResponse, subscription: string): Promise<void> {
  const stream = randomUUID();
  const all = Array.from({ length: partitions }, (_, partition) => String(partition));
  const owners = all.flatMap((partition) => [`owner/${partition}`, stream, `offset/${partition}`, '-1']);
  await redis.hset(keyOf(subscription), ...owners);
  response.setHeader('X-Nakadi-StreamId', stream);
  for (const partition of all) {
    const cursor = {
      partition,
      offset: textOf(eventsPerPartition - 1),
      event_type: 'bare',
      cursor_token: randomUUID(),
    };
    response.write(`${JSON.stringify({ cursor, events: [] })}\n`);
  }
}

const path = /^\/subscriptions\/([^/?]+)\/(cursors|events)/;
const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
  const [, subscription = '', kind] = path.exec(request.url ?? '') ?? [];
  if (kind === 'events') void openStream(response, subscription);
  else takeCommit(request, response, subscription);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no address');
  console.log(`http://127.0.0.1:${address.port}`);
});
process.on('SIGTERM', () => process.exit(0));
