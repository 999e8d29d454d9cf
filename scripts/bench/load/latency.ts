import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { openConnection, type BareConnection } from '../baselines/bare-http.ts';
import { eventBytes } from '../events.ts';
import { cursorOf, openStream } from './open-stream.ts';

/**
 * The time from sending a publish request of one event to its arrival on an open stream. An open loop: it sends one
 * event every few milliseconds without waiting for the previous one. Prints every sample, milliseconds.
 */
interface Settings {
  readonly url: string;
  readonly eventType: string;
  /** Reads from the end. */
  readonly subscription: string;
  readonly events: number;
  readonly warmUpEvents: number;
  readonly everyMilliseconds: number;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as Settings;
const lostAfterMilliseconds = 10_000;

const sentAt = new Map<number, number>();
const milliseconds: number[] = [];
const numberForm = /"account":"A-(\d+)"/;

const query = `batch_limit=1&batch_flush_timeout=1&max_uncommitted_events=${2 * (settings.events + settings.warmUpEvents)}`;
const stream = await openStream(settings.url, settings.subscription, query, (line) => {
  const now = performance.now();
  if (cursorOf(line) === undefined) return;
  const number = Number(numberForm.exec(line)?.[1]);
  const sent = sentAt.get(number);
  if (sent === undefined) return;
  sentAt.delete(number);
  if (number >= settings.warmUpEvents) milliseconds.push(now - sent);
});

/** Connections without a request under way. */
const free: BareConnection[] = [];

async function publish(number: number): Promise<void> {
  const connection = free.pop() ?? (await openConnection(settings.url));
  const event = {
    metadata: { eid: randomUUID(), occurred_at: new Date().toISOString() },
    account: `A-${number}`,
    amount: 315.47,
    text: '',
  };
  event.text = 'x'.repeat(eventBytes - JSON.stringify(event).length);
  const body = `[${JSON.stringify(event)}]`;
  sentAt.set(number, performance.now());
  await connection.post(`/event-types/${settings.eventType}/events`, body);
  free.push(connection);
}

const total = settings.events + settings.warmUpEvents;
const begin = performance.now();
const publishing: Promise<void>[] = [];
for (let number = 0; number < total; number += 1) {
  publishing.push(publish(number));
  await sleep(Math.max(0, begin + (number + 1) * settings.everyMilliseconds - performance.now()));
}
await Promise.all(publishing);
const deadline = performance.now() + lostAfterMilliseconds;
while (sentAt.size > 0) {
  if (performance.now() > deadline) throw new Error(`${sentAt.size} of ${total} events did not arrive`);
  await sleep(5);
}
stream.close();
console.log(JSON.stringify({ milliseconds }));
process.exit(0);
