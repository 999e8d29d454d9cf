import { randomUUID } from 'node:crypto';
import { eventBytes, eventsPerBatch } from '../../bench/events.ts';
import { post } from './client.ts';
import type { Counts } from './counts.ts';

/** The events of a request have one account, so that they are in one partition and fill one batch of a stream. */
const accounts = 1_000;

/** Publishes one request of 100 events. The time at which each is sent is the beginning of its text. */
export async function publish(url: string, eventType: string, number: number, counts: Counts): Promise<void> {
  try {
    const milliseconds = await post(`${url}/event-types/${eventType}/events`, requestBody(number));
    counts.add('events', eventsPerBatch);
    counts.time('publish', milliseconds);
  } catch (error) {
    counts.fail(error);
  }
}

function requestBody(number: number): string {
  const event = {
    text: `${performance.now().toFixed(3)} `,
    metadata: { eid: randomUUID(), occurred_at: new Date().toISOString() },
    account: `A-${number % accounts}`,
    amount: 315.47,
  };
  event.text += 'x'.repeat(Math.max(0, eventBytes - JSON.stringify(event).length));
  const events = Array.from({ length: eventsPerBatch }, () => {
    return JSON.stringify({ ...event, metadata: { ...event.metadata, eid: randomUUID() } });
  });
  return `[${events.join(',')}]`;
}

const sentForm = /"text":"(\d+\.\d+) /;

/** When the first event of a line was sent; undefined when the line has none of {@link publish}. */
export function sentAt(head: string): number | undefined {
  const found = sentForm.exec(head)?.[1];
  return found === undefined ? undefined : Number(found);
}
