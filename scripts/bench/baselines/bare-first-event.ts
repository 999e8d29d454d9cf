import { createHash, randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { Redis } from 'ioredis';
import { systemClock } from '../../../src/clock.ts';
import { KafkaLog } from '../../../src/kafka/log.ts';
import { silentLogger } from '../../../src/logger.ts';
import type { RecordBatch } from '../../../src/ports/event-log.ts';
import { ReadStop } from '../../../src/ports/read-signal.ts';

/**
 * The least that the first event of a fresh subscription can take, on the connections of the service: look up where the
 * partitions begin; create the offsets and the session, and give it all partitions, in one script; store the offsets in
 * the log and read the events meanwhile; write a line. There are no routers, no definitions, no other streams, no
 * lease, no lines after the first, and no pause between headers and line. Prints its address.
 */
interface Settings {
  readonly brokers: readonly string[];
  readonly redisUrl: string;
  readonly eventType: string;
  readonly partitions: number;
  /** A compacted topic for the starting offsets. */
  readonly offsetsTopic: string;
}

/** KEYS: owners, offsets, sessions. ARGV: stream, session, then for each partition its number and its offset. */
const script = `
redis.call('HSET', KEYS[3], ARGV[1], ARGV[2])
for index = 3, #ARGV, 2 do
  redis.call('HSETNX', KEYS[2], ARGV[index], ARGV[index + 1])
  redis.call('HSET', KEYS[1], ARGV[index], ARGV[1])
end
return redis.call('HGETALL', KEYS[2])`;
const scriptSha = createHash('sha1').update(script).digest('hex');

/** Events in a line, as the load asks for. */
const batchLimit = 10;
const readOptions = { bytesMaximum: 32 * 1024, waitMilliseconds: Infinity };

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
const { brokers, eventType: topic, offsetsTopic } = settings;
const all = Array.from({ length: settings.partitions }, (_, partition) => ({ topic, partition }));
const log = await KafkaLog.open({ brokers, clientId: 'bare', logger: silentLogger, clock: systemClock });
const redis = new Redis(settings.redisUrl);
await redis.script('LOAD', script);

async function serveFirstEvent(subscription: string, response: ServerResponse): Promise<void> {
  const stream = randomUUID();
  const keys = ['owners', 'offsets', 'sessions'].map((kind) => `bare:${subscription}:${kind}`);
  const stopping = new ReadStop();
  response.on('close', () => {
    stopping.abort();
    void redis.hdel(keys[2] ?? '', stream);
  });
  const bounds = await log.bounds(all);
  const starts = bounds.flatMap(({ partition, earliest }) => [partition, earliest - 1]);
  const storing = redis
    .evalsha(scriptSha, keys.length, ...keys, stream, JSON.stringify({ openedAt: Date.now() }), ...starts)
    .then(async () => {
      const records = bounds.map(({ partition, earliest }) => ({
        key: `${subscription}/${topic}/${partition}`,
        value: Buffer.from(`{"offset":${earliest - 1}}`),
      }));
      await log.append([{ topic: offsetsTopic, partition: 0, records }]);
    });
  const reads = bounds.map(async ({ partition, earliest }) => {
    const options = { ...readOptions, signal: stopping };
    const { batches } = await log.read({ topic, partition, offset: earliest }, options);
    const [batch] = batches;
    if (batch === undefined) throw new Error('The partition is empty');
    return batch;
  });
  const [batch] = await Promise.all([Promise.any(reads), storing]);
  response.setHeader('X-Nakadi-StreamId', stream);
  response.write(lineOf(batch));
  for (const read of reads)
    void read.then(
      ({ release }) => release?.(),
      () => undefined,
    );
}

function lineOf({ topic: eventType, partition, bytes, offsets, valueStarts, valueEnds, count }: RecordBatch): string {
  const last = Math.min(batchLimit, count) - 1;
  const events: string[] = [];
  for (let index = 0; index <= last; index += 1) {
    events.push(bytes.toString('utf8', valueStarts[index], valueEnds[index]));
  }
  const offset = `001-0001-${String(offsets[last]).padStart(18, '0')}`;
  const cursor = { partition: String(partition), offset, event_type: eventType, cursor_token: randomUUID() };
  return `{"cursor":${JSON.stringify(cursor)},"events":[${events.join(',')}]}\n`;
}

const path = /^\/subscriptions\/([^/?]+)\/events/;
const server = createServer((request, response) => {
  void serveFirstEvent(path.exec(request.url ?? '')?.[1] ?? '', response);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no address');
  console.log(`http://127.0.0.1:${address.port}`);
});
process.on('SIGTERM', () => process.exit(0));
