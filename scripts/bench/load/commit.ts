import { openCommitters } from './committers.ts';

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

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;

const { url, subscriptions, events } = settings;
const opening = subscriptions.map((subscription) => openCommitters(url, subscription, events));
const committers = (await Promise.all(opening)).flat();
console.log('delivered');
const begin = performance.now();
let commits = 0;
const counting = begin + settings.warmUpMilliseconds;
const end = counting + settings.milliseconds;
const latencies: number[] = [];
await Promise.all(
  committers.map(async (commit) => {
    while (performance.now() < end) {
      const sentAt = performance.now();
      await commit();
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
