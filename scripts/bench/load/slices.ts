import { openConnection } from '../baselines/bare-http.ts';
import { publishBody } from '../events.ts';
import { processorMilliseconds } from '../service-figures.ts';
import { openCommitters } from './committers.ts';

/**
 * Sends the same requests with one set of headers and with another, in short slices that follow each other, so that
 * what else the machine does meets both alike. One event is published at a time, or a cursor is committed that moves
 * on by one event. Prints how many requests each set had, and the processor time that the service took for them.
 */
interface Settings {
  readonly url: string;
  readonly processId: number;
  readonly eventType: string;
  /** Whose cursors are committed; without one, events are published. It has many events to read. */
  readonly subscription?: string;
  /** How many events the subscription is to be sent. */
  readonly events: number;
  /** Each is whole lines, ended by CR LF. */
  readonly headers: readonly string[];
  readonly slices: number;
  readonly sliceMilliseconds: number;
  /** Slices that do not count, at the beginning. */
  readonly warmUpSlices: number;
}

/** What one set of headers had. */
export interface SliceTotals {
  requests: number;
  milliseconds: number;
  processorMilliseconds: number;
}

/** Sends one request. @throws Error when it is refused */
type Send = (headers: string) => Promise<void>;

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
const publishingConnections = 8;

async function publishers(): Promise<Send[]> {
  const path = `/event-types/${settings.eventType}/events`;
  const bodies = Array.from({ length: 32 }, (_, seed) => publishBody(seed, undefined, undefined, 1).toString('latin1'));
  return Promise.all(
    Array.from({ length: publishingConnections }, async (_, sender): Promise<Send> => {
      const connection = await openConnection(settings.url);
      let turn = sender;
      return async (headers) => {
        const status = await connection.post(path, bodies[(turn += 1) % bodies.length] ?? '', headers);
        if (status !== 200) throw new Error(`A batch was answered ${status}`);
      };
    }),
  );
}

const { url, subscription, events } = settings;
const senders = await (subscription === undefined ? publishers() : openCommitters(url, subscription, events));
const totals: SliceTotals[] = settings.headers.map(() => ({ requests: 0, milliseconds: 0, processorMilliseconds: 0 }));
for (let slice = 0; slice < settings.warmUpSlices + settings.slices; slice += 1) {
  const set = slice % settings.headers.length;
  const headers = settings.headers[set] ?? '';
  const processorBefore = processorMilliseconds(settings.processId);
  const begin = performance.now();
  let requests = 0;
  await Promise.all(
    senders.map(async (send) => {
      while (performance.now() < begin + settings.sliceMilliseconds) {
        await send(headers);
        requests += 1;
      }
    }),
  );
  const total = totals[set];
  if (total === undefined || slice < settings.warmUpSlices) continue;
  total.requests += requests;
  total.milliseconds += performance.now() - begin;
  total.processorMilliseconds += processorMilliseconds(settings.processId) - processorBefore;
}
console.log(JSON.stringify(totals));
process.exit(0);
