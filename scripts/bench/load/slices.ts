import { openConnection } from '../baselines/bare-http.ts';
import { publishBody } from '../events.ts';
import { processorMilliseconds } from '../service-figures.ts';
import { cursorOf, openStream } from './open-stream.ts';

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

/** Sends one request. */
type Send = (headers: string) => Promise<number>;

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
const publishingConnections = 8;
const offsetPrefix = '001-0001-';

async function publishers(): Promise<Send[]> {
  const path = `/event-types/${settings.eventType}/events`;
  const bodies = Array.from({ length: 32 }, (_, seed) => publishBody(seed, undefined, undefined, 1).toString('latin1'));
  return Promise.all(
    Array.from({ length: publishingConnections }, async (_, sender): Promise<Send> => {
      const connection = await openConnection(settings.url);
      let turn = sender;
      return (headers) => connection.post(path, bodies[(turn += 1) % bodies.length] ?? '', headers);
    }),
  );
}

/** One for each partition, after all events were delivered. */
async function committers(subscription: string): Promise<Send[]> {
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
  const path = `/subscriptions/${subscription}/cursors`;
  const opening = [...ends].map(async ([partition, { eventType, token, last }]): Promise<Send> => {
    const connection = await openConnection(settings.url);
    const before = `{"items":[{"partition":"${partition}","offset":"${offsetPrefix}`;
    const after = `","event_type":"${eventType}","cursor_token":"${token}"}]}`;
    let offset = -1;
    return (headers) => {
      offset += 1;
      if (offset > last) throw new Error('All events are committed before the time is over');
      const body = before + String(offset).padStart(18, '0') + after;
      return connection.post(path, body, `X-Nakadi-StreamId: ${streamId}\r\n${headers}`);
    };
  });
  return Promise.all(opening);
}

const senders = await (settings.subscription === undefined ? publishers() : committers(settings.subscription));
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
