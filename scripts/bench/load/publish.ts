import { jsonRequest, openConnection } from '../baselines/bare-http.ts';
import { eventsPerBatch, publishBody, type Shapes } from '../events.ts';

/** Publishes as fast as the responses allow over a number of connections. Prints what was accepted and its own time. */
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
const requests = Array.from({ length: 32 }, (_, seed) =>
  jsonRequest(settings.url, publishBody(seed, settings.eventBytes, settings.shapes).toString('latin1')),
);

const begin = performance.now();
const counting = begin + settings.warmUpMilliseconds;
const end = counting + settings.milliseconds;
const latencies: number[] = [];
let batches = 0;
let processorBefore = process.cpuUsage();
setTimeout(() => (processorBefore = process.cpuUsage()), settings.warmUpMilliseconds);

await Promise.all(
  Array.from({ length: settings.connections }, async (_, sender) => {
    const connection = await openConnection(settings.url);
    for (let turn = sender; performance.now() < end; turn += 1) {
      const request = requests[turn % requests.length];
      if (request === undefined) throw new Error('There is no request to send');
      const sentAt = performance.now();
      const status = await connection.send(request);
      if (status !== 200) throw new Error(`${settings.url} answered ${status}`);
      const now = performance.now();
      if (now < counting || now > end) continue;
      batches += 1;
      latencies.push(now - sentAt);
    }
    connection.close();
  }),
);
const { user, system } = process.cpuUsage(processorBefore);
latencies.sort((a, b) => a - b);
console.log(
  JSON.stringify({
    eventsPerSecond: (batches * eventsPerBatch * 1000) / settings.milliseconds,
    processorMicroseconds: (user + system) / (batches * eventsPerBatch),
    requestMillisecondsMedian: latencies[Math.floor(latencies.length / 2)],
  }),
);
