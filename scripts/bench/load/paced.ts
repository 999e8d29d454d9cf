import { setTimeout as sleep } from 'node:timers/promises';
import { openConnection } from '../baselines/bare-http.ts';
import { publishBody } from '../events.ts';
import { cursorOf, openStream, type LineCursor } from './open-stream.ts';

/**
 * How long a modest client waits: it publishes one event and commits what its stream brought, then pauses. Prints the
 * times of all publishes and commits, and of all events from the request to the stream, milliseconds.
 */
interface Settings {
  readonly url: string;
  readonly eventType: string;
  /** Reads the event type from the end. */
  readonly subscription: string;
  readonly rounds: number;
  readonly everyMilliseconds: number;
  /** Whole lines, each ended by CR LF. */
  readonly headers: string;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
const publisher = await openConnection(settings.url);
const committer = await openConnection(settings.url);
const pending: LineCursor[] = [];
/** When events were sent, by their ids. */
const sentTimes = new Map<string, number>();
const deliveries: number[] = [];
const query = 'batch_limit=1&batch_flush_timeout=1&max_uncommitted_events=100000';
const { streamId } = await openStream(settings.url, settings.subscription, query, (line) => {
  const cursor = cursorOf(line);
  if (cursor === undefined) return;
  pending.push(cursor);
  const sentAt = sentTimes.get(eidOf(line));
  if (sentAt !== undefined) deliveries.push(performance.now() - sentAt);
});

function eidOf(text: string): string {
  return /"eid":"([^"]+)"/.exec(text)?.[1] ?? '';
}

async function timeOf(request: () => Promise<number>): Promise<number> {
  const sentAt = performance.now();
  await request();
  return performance.now() - sentAt;
}

const [publishes, commits]: [number[], number[]] = [[], []];
for (let round = 0; round < settings.rounds; round += 1) {
  const event = publishBody(round, undefined, undefined, 1).toString('latin1');
  sentTimes.set(eidOf(event), performance.now());
  publishes.push(
    await timeOf(() => publisher.post(`/event-types/${settings.eventType}/events`, event, settings.headers)),
  );
  await sleep(settings.everyMilliseconds);
  const items = pending.splice(0).slice(-1);
  if (items.length === 0) continue;
  const headers = `X-Nakadi-StreamId: ${streamId}\r\n${settings.headers}`;
  const path = `/subscriptions/${settings.subscription}/cursors`;
  commits.push(await timeOf(() => committer.post(path, JSON.stringify({ items }), headers)));
}
console.log(JSON.stringify({ publishes, commits, deliveries }));
process.exit(0);
