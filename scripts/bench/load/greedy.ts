import { setTimeout as sleep } from 'node:timers/promises';
import { jsonRequest, openConnection } from '../baselines/bare-http.ts';
import { publishBody } from '../events.ts';

/**
 * Publishes as fast as the responses allow or as planned, and goes on when it is refused. Prints a line when it has
 * begun, and how many requests were accepted and refused when it is told to end.
 */
interface Settings {
  readonly url: string;
  readonly eventType: string;
  readonly connections: number;
  /** What all connections together send at most; absent for as fast as the responses allow. */
  readonly requestsPerSecond?: number;
  /** Whole lines, each ended by CR LF. */
  readonly headers: string;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
const publishUrl = `${settings.url}/event-types/${settings.eventType}/events`;
const requests = Array.from({ length: 32 }, (_, seed) =>
  jsonRequest(publishUrl, publishBody(seed).toString('latin1'), settings.headers),
);
const over = new AbortController();
let [accepted, refused] = [0, 0];
const stopping = new Promise<void>((resolve) => process.once('SIGTERM', resolve)).then(() => over.abort());

const begun = performance.now();

/** Waits until a request of the plan is due. What a slow response has delayed follows at once. */
async function untilDue(request: number): Promise<void> {
  const { requestsPerSecond } = settings;
  if (requestsPerSecond === undefined) return;
  const left = begun + (request * 1_000) / requestsPerSecond - performance.now();
  if (left > 0) await sleep(left);
}

async function publish(sender: number): Promise<void> {
  let connection = await openConnection(settings.url);
  for (let turn = sender; !over.signal.aborted; turn += 1) {
    await untilDue((turn - sender) * settings.connections + sender);
    const request = requests[turn % requests.length];
    if (request === undefined) throw new Error('There is no request to send');
    try {
      await connection.send(request);
      accepted += 1;
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('HTTP/1.1 429')) throw error;
      refused += 1;
      if (!/\r\nconnection: close/i.test(error.message)) continue;
      connection.close();
      connection = await openConnection(settings.url);
    }
  }
  connection.close();
}

const publishing = Promise.all(Array.from({ length: settings.connections }, (_, sender) => publish(sender)));
console.log('begun');
await Promise.all([publishing, stopping]);
console.log(JSON.stringify({ accepted, refused }));
