import { setTimeout as sleep } from 'node:timers/promises';
import { openConnection } from '../baselines/bare-http.ts';
import { publishBody } from '../events.ts';
import { cursorOf, openStream, type LineCursor } from './open-stream.ts';

/**
 * How long a partition is idle when it moves to another stream. The first stream holds uncommitted events of every
 * partition. The second stream, of another process of the service, is waiting, and more events are available. The first
 * commits everything it was sent. The time runs from sending this commit to the first events of each partition on the
 * second stream. Prints every sample, milliseconds.
 */
interface Settings {
  readonly url: string;
  readonly otherUrl: string;
  readonly eventType: string;
  /** New subscriptions that read from the end. */
  readonly subscriptions: readonly string[];
  readonly partitions: number;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
/** Long enough for both to agree which partitions move, and for events that must not arrive to have arrived. */
const agreeMilliseconds = 300;
const lostAfterMilliseconds = 10_000;
/** Batches of one event are sent at once. */
const query = 'batch_limit=1&batch_flush_timeout=1&max_uncommitted_events=100000';

const publisher = await openConnection(settings.url);
let publications = 0;

/** Publishes some events to every partition. */
async function publish(): Promise<void> {
  publications += 1;
  await publisher.post(`/event-types/${settings.eventType}/events`, publishBody(publications).toString('latin1'));
}

async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + lostAfterMilliseconds;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`${what} did not happen`);
    await sleep(1);
  }
}

async function handOver(subscription: string): Promise<number[]> {
  const cursorByPartition = new Map<string, LineCursor>();
  const arrivedAt = new Map<string, number>();
  const first = await openStream(settings.url, subscription, query, (line) => {
    const cursor = cursorOf(line);
    if (cursor !== undefined) cursorByPartition.set(cursor.partition, cursor);
  });
  await publish();
  await until(() => cursorByPartition.size === settings.partitions, 'Delivering events of every partition');
  const second = await openStream(settings.otherUrl, subscription, query, (line) => {
    const cursor = cursorOf(line);
    if (cursor !== undefined && !arrivedAt.has(cursor.partition)) arrivedAt.set(cursor.partition, performance.now());
  });
  await sleep(agreeMilliseconds);
  await publish();
  await sleep(agreeMilliseconds);
  if (arrivedAt.size > 0) throw new Error('A partition went over with events that were not committed');
  const connection = await openConnection(settings.url);
  const committedAt = performance.now();
  await connection.post(
    `/subscriptions/${subscription}/cursors`,
    JSON.stringify({ items: [...cursorByPartition.values()] }),
    `X-Nakadi-StreamId: ${first.streamId}\r\n`,
  );
  await until(() => arrivedAt.size >= Math.floor(settings.partitions / 2), 'The hand-over');
  connection.close();
  first.close();
  second.close();
  return [...arrivedAt.values()].map((at) => at - committedAt);
}

const milliseconds: number[] = [];
for (const subscription of settings.subscriptions) milliseconds.push(...(await handOver(subscription)));
console.log(JSON.stringify({ milliseconds }));
process.exit(0);
