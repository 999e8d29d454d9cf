import { openConnection, type BareConnection } from '../baselines/bare-http.ts';
import { cursorOf, openStream } from './open-stream.ts';

/**
 * Commits cursors as fast as the responses allow. Each lane is a connection with one request in flight. A request moves
 * the cursor of one partition of one subscription forward by one event, so that every commit has something to store.
 * All events are delivered before the first commit. Prints a line then, and another with the commits per second. Ends
 * when it is told to.
 */
interface Settings {
  readonly url: string;
  readonly subscriptions: readonly string[];
  /** How many events each subscription is to be sent. */
  readonly events: number;
  readonly milliseconds: number;
  readonly warmUpMilliseconds: number;
}

interface PartitionCommitter {
  readonly connection: BareConnection;
  readonly subscription: string;
  readonly streamId: string;
  readonly partition: string;
  readonly eventType: string;
  readonly token: string;
  /** The last offset that may be committed. */
  readonly last: number;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
const offsetPrefix = '001-0001-';

/** Opens a stream, waits until it has sent everything, and returns a committer for each of its partitions. */
async function openCommitters(subscription: string): Promise<PartitionCommitter[]> {
  const ends = new Map<string, { eventType: string; token: string; last: number }>();
  let delivered = 0;
  let complete = (): void => undefined;
  const completed = new Promise<void>((resolve) => (complete = resolve));
  const query = `batch_limit=100&batch_flush_timeout=1&max_uncommitted_events=${settings.events * 2}`;
  const { streamId } = await openStream(settings.url, subscription, query, (line) => {
    const cursor = cursorOf(line);
    if (cursor === undefined) return;
    const last = Number(cursor.offset.slice(offsetPrefix.length));
    delivered += last - (ends.get(cursor.partition)?.last ?? -1);
    ends.set(cursor.partition, { eventType: cursor.event_type, token: cursor.cursor_token, last });
    if (delivered >= settings.events) complete();
  });
  await completed;
  const opening = [...ends].map(async ([partition, end]) => {
    const connection = await openConnection(settings.url);
    return { connection, subscription, streamId, partition, ...end };
  });
  return Promise.all(opening);
}

const committers = (await Promise.all(settings.subscriptions.map(openCommitters))).flat();
console.log('delivered');
const begin = performance.now();
let commits = 0;
const counting = begin + settings.warmUpMilliseconds;
const end = counting + settings.milliseconds;
const latencies: number[] = [];
await Promise.all(
  committers.map(async ({ connection, subscription, streamId, partition, eventType, token, last }) => {
    const path = `/subscriptions/${subscription}/cursors`;
    const headers = `X-Nakadi-StreamId: ${streamId}\r\n`;
    const before = `{"items":[{"partition":"${partition}","offset":"${offsetPrefix}`;
    const after = `","event_type":"${eventType}","cursor_token":"${token}"}]}`;
    for (let offset = 0; performance.now() < end; offset += 1) {
      if (offset > last) throw new Error('All events are committed before the time is over');
      const sentAt = performance.now();
      const status = await connection.post(path, before + String(offset).padStart(18, '0') + after, headers);
      if (status !== 204) throw new Error(`A commit that moves its cursor on was answered ${status}`);
      commits += 1;
      const now = performance.now();
      if (now >= counting && now <= end) latencies.push(now - sentAt);
    }
  }),
);
latencies.sort((a, b) => a - b);
console.log(
  JSON.stringify({
    inFlight: committers.length,
    commits,
    commitsPerSecond: (latencies.length * 1000) / settings.milliseconds,
    milliseconds: latencies[Math.floor(latencies.length / 2)],
  }),
);
process.on('SIGTERM', () => process.exit(0));
