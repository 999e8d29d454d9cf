import { Agent, request } from 'node:http';
import { eventsPerBatch, publishBody } from '../events.ts';

/** Publishes as fast as the responses allow over a number of connections and prints what was acknowledged. */
interface Settings {
  readonly url: string;
  readonly connections: number;
  readonly milliseconds: number;
  readonly warmUpMilliseconds: number;
  readonly eventBytes: number;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
const agent = new Agent({ keepAlive: true, maxSockets: settings.connections });
const bodies = Array.from({ length: 32 }, (_, seed) => publishBody(seed, settings.eventBytes));
const headers = { 'Content-Type': 'application/json' };

function publish(body: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(
      settings.url,
      { method: 'POST', agent, headers: { ...headers, 'Content-Length': body.length } },
      (response) => {
        response.resume();
        response.on('end', () => {
          if (response.statusCode === 200) resolve();
          else reject(new Error(`${settings.url} answered ${response.statusCode}`));
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

const begin = performance.now();
const counting = begin + settings.warmUpMilliseconds;
const end = counting + settings.milliseconds;
const latencies: number[] = [];
let batches = 0;

await Promise.all(
  Array.from({ length: settings.connections }, async (_, connection) => {
    for (let turn = connection; performance.now() < end; turn += 1) {
      const body = bodies[turn % bodies.length];
      if (body === undefined) throw new Error('There is no body to send');
      const sentAt = performance.now();
      await publish(body);
      const now = performance.now();
      if (now < counting || now > end) continue;
      batches += 1;
      latencies.push(now - sentAt);
    }
  }),
);
agent.destroy();
latencies.sort((a, b) => a - b);
console.log(
  JSON.stringify({
    eventsPerSecond: (batches * eventsPerBatch * 1000) / settings.milliseconds,
    requestMillisecondsMedian: latencies[Math.floor(latencies.length / 2)],
  }),
);
