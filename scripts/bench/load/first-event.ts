import { request } from 'node:http';

/**
 * The time from requesting a stream of a new subscription to its first event, of one or more servers in turns: each
 * gets a few requests, one after another, before the next. Prints every sample of each, milliseconds.
 */
interface Settings {
  readonly urls: readonly string[];
  readonly subscriptions: readonly string[];
}

const { urls, subscriptions } = JSON.parse(process.argv[2] ?? '{}') as Settings;

const requestsInTurn = 10;

function firstEvent(url: string, subscription: string): Promise<number> {
  const askedAt = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/subscriptions/${subscription}/events?batch_limit=10`, (response) => {
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

const milliseconds: number[][] = urls.map(() => []);
for (let begin = 0; begin < subscriptions.length; begin += requestsInTurn) {
  for (const [index, url] of urls.entries()) {
    for (const subscription of subscriptions.slice(begin, begin + requestsInTurn)) {
      milliseconds[index]?.push(await firstEvent(url, subscription));
    }
  }
}
console.log(JSON.stringify({ milliseconds }));
process.exit(0);
