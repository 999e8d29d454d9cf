import { openConnection } from '../baselines/bare-http.ts';
import { eventsPerBatch, publishBody, type Shapes } from '../events.ts';

/** Publishes as fast as the responses allow over a number of connections and prints what was acknowledged. */
interface Settings {
  readonly url: string;
  readonly connections: number;
  readonly milliseconds: number;
  readonly warmUpMilliseconds: number;
  readonly eventBytes: number;
  /** 'alike' by default. */
  readonly shapes?: Shapes;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
const path = new URL(settings.url).pathname;
const bodies = Array.from({ length: 32 }, (_, seed) =>
  publishBody(seed, settings.eventBytes, settings.shapes).toString('latin1'),
);

const begin = performance.now();
const counting = begin + settings.warmUpMilliseconds;
const end = counting + settings.milliseconds;
const latencies: number[] = [];
let batches = 0;

await Promise.all(
  Array.from({ length: settings.connections }, async (_, sender) => {
    const connection = await openConnection(settings.url);
    for (let turn = sender; performance.now() < end; turn += 1) {
      const body = bodies[turn % bodies.length];
      if (body === undefined) throw new Error('There is no body to send');
      const sentAt = performance.now();
      const status = await connection.post(path, body);
      if (status !== 200) throw new Error(`${settings.url} answered ${status}`);
      const now = performance.now();
      if (now < counting || now > end) continue;
      batches += 1;
      latencies.push(now - sentAt);
    }
    connection.close();
  }),
);
latencies.sort((a, b) => a - b);
console.log(
  JSON.stringify({
    eventsPerSecond: (batches * eventsPerBatch * 1000) / settings.milliseconds,
    requestMillisecondsMedian: latencies[Math.floor(latencies.length / 2)],
  }),
);
