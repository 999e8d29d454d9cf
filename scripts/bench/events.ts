import { randomUUID } from 'node:crypto';

export const eventBytes = 200;
export const eventsPerBatch = 100;

/** The schema of the benchmark's event type: what a producer would define for such an event. */
export const eventSchema = {
  type: 'object',
  properties: {
    account: { type: 'string' },
    amount: { type: 'number' },
    text: { type: 'string' },
  },
  required: ['account', 'amount', 'text'],
};

/** One publish body: 100 events of exactly 200 bytes each. */
export function publishBody(seed: number): Buffer {
  const events = Array.from({ length: eventsPerBatch }, (_, index) => {
    const event = {
      metadata: { eid: randomUUID(), occurred_at: '2026-01-12T10:00:00.000Z' },
      account: `A-${(seed * eventsPerBatch + index) % 10_000}`,
      amount: 315.47,
      text: '',
    };
    event.text = 'x'.repeat(eventBytes - JSON.stringify(event).length);
    return JSON.stringify(event);
  });
  return Buffer.from(`[${events.join(',')}]`);
}
