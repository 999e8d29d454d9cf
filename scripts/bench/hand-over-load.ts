import { setTimeout as sleep } from 'node:timers/promises';
import { openConnection } from './bare-http.ts';
import { cursorOf, openStream, type LineCursor } from './open-stream.ts';

/**
 * How long a partition stands still when it goes to another stream: the first stream holds uncommitted events of every
 * partition, the second one, of another process of the service, is waiting. The first commits everything it was sent;
 * the time runs from sending this commit to the first events of each partition on the second stream. Prints every
 * sample, milliseconds.
 */
interface Settings {
  readonly url: string;
  readonly otherUrl: string;
  /** Fresh ones, over a backlog of much more than the window. */
  readonly subscriptions: readonly string[];
  readonly partitions: number;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
const window = 400;
/** Long enough for both to agree which partitions go over. */
const agreeMilliseconds = 300;
const lostAfterMilliseconds = 10_000;
const query = `batch_limit=10&batch_flush_timeout=1&max_uncommitted_events=${window}`;

async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + lostAfterMilliseconds;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`${what} did not happen`);
    await sleep(1);
  }
}

async function handOver(subscription: string): Promise<number[]> {
  const held = new Map<string, LineCursor>();
  const arrivedAt = new Map<string, number>();
  const offsetOf = ({ offset }: LineCursor): number => Number(offset.slice(9)) + 1;
  const heldEvents = (): number => [...held.values()].reduce((sum, cursor) => sum + offsetOf(cursor), 0);
  const first = await openStream(settings.url, subscription, query, (line) => {
    const cursor = cursorOf(line);
    if (cursor !== undefined) held.set(cursor.partition, cursor);
  });
  await until(() => held.size === settings.partitions && heldEvents() >= window, 'Filling the window');
  const second = await openStream(settings.otherUrl, subscription, query, (line) => {
    const cursor = cursorOf(line);
    if (cursor !== undefined && !arrivedAt.has(cursor.partition)) arrivedAt.set(cursor.partition, performance.now());
  });
  await sleep(agreeMilliseconds);
  if (arrivedAt.size > 0) throw new Error('A partition went over with events that were not committed');
  const connection = await openConnection(settings.url);
  const committedAt = performance.now();
  await connection.post(
    `/subscriptions/${subscription}/cursors`,
    JSON.stringify({ items: [...held.values()] }),
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
