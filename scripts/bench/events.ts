import { randomUUID } from 'node:crypto';

/** Size of a small event, as it is published. */
export const eventBytes = 200;
export const eventsPerBatch = 100;

/** The schema of the benchmark's event type, as a producer would define it for such an event. */
export const eventSchema = {
  type: 'object',
  properties: {
    account: { type: 'string' },
    amount: { type: 'number' },
    text: { type: 'string' },
  },
  required: ['account', 'amount', 'text'],
};

/**
 * 100 events of exactly the given size, as JSON.
 * @param bytes At least 200.
 */
export function eventBatch(seed: number, bytes = eventBytes): { readonly account: string; readonly json: string }[] {
  return Array.from({ length: eventsPerBatch }, (_, index) => {
    const event = {
      metadata: { eid: randomUUID(), occurred_at: '2026-01-12T10:00:00.000Z' },
      account: `A-${(seed * eventsPerBatch + index) % 10_000}`,
      amount: 315.47,
      text: '',
    };
    event.text = 'x'.repeat(bytes - JSON.stringify(event).length);
    return { account: event.account, json: JSON.stringify(event) };
  });
}

/** One publish body with the events of {@link eventBatch}. */
export function publishBody(seed: number, bytes = eventBytes): Buffer {
  return Buffer.from(
    `[${eventBatch(seed, bytes)
      .map(({ json }) => json)
      .join(',')}]`,
  );
}
