import { request } from 'node:http';

/** The time from requesting a stream of a new subscription to its first event. Prints every sample, milliseconds. */
interface Settings {
  readonly url: string;
  readonly subscriptions: readonly string[];
}

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;

function firstEvent(subscription: string): Promise<number> {
  const askedAt = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request(`${settings.url}/subscriptions/${subscription}/events?batch_limit=10`, (response) => {
      response.on('data', (chunk: Buffer) => {
        if (!chunk.includes('"events":[')) return;
        resolve(performance.now() - askedAt);
        response.destroy();
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

const milliseconds: number[] = [];
for (const subscription of settings.subscriptions) milliseconds.push(await firstEvent(subscription));
console.log(JSON.stringify({ milliseconds }));
process.exit(0);
