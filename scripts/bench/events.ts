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

/** Whether the events of a batch have the same fields in the same order, or each others. */
export type Shapes = 'alike' | 'differing';

/**
 * 100 events of exactly the given size, as JSON.
 * @param bytes At least 200.
 */
export function eventBatch(
  seed: number,
  bytes = eventBytes,
  shapes: Shapes = 'alike',
): { readonly account: string; readonly json: string }[] {
  return Array.from({ length: eventsPerBatch }, (_, index) => {
    const number = seed * eventsPerBatch + index;
    const plain = {
      metadata: { eid: randomUUID(), occurred_at: '2026-01-12T10:00:00.000Z' },
      account: `A-${number % 10_000}`,
      amount: 315.47,
      text: '',
    };
    const event = shapes === 'alike' ? plain : reshaped(plain, number);
    event.text = 'x'.repeat(bytes - JSON.stringify(event).length);
    return { account: event.account, json: JSON.stringify(event) };
  });
}

/** Fields that the schema does not name, with short values of every kind. */
const furtherFields = [
  ['channel', 'app'],
  ['code', 17],
  ['open', true],
  ['fee', 0.5],
  ['note', null],
  ['tags', ['a', 'b']],
  ['by', { id: 7 }],
  ['rate', -1.25],
  ['unit', 'EUR'],
  ['parts', [1, 2]],
] as const;

const furtherPairs = furtherFields.flatMap((first, index) =>
  furtherFields.slice(index + 1).map((second) => [first, second] as const),
);

/** An event with two of {@link furtherFields} and an order of all its fields: no other of 32,400 numbers has both. */
function reshaped<Event extends object>(event: Event, number: number): Event {
  const left: (readonly [string, unknown])[] = [
    ...Object.entries(event),
    ...(furtherPairs[number % furtherPairs.length] ?? []),
  ];
  const ordered: (readonly [string, unknown])[] = [];
  let rest = Math.floor(number / furtherPairs.length);
  while (left.length > 0) {
    const choices = left.length;
    ordered.push(...left.splice(rest % choices, 1));
    rest = Math.floor(rest / choices);
  }
  return Object.fromEntries(ordered) as Event;
}

/** One publish body with the events of {@link eventBatch}, or the first of them. */
export function publishBody(
  seed: number,
  bytes = eventBytes,
  shapes: Shapes = 'alike',
  events = eventsPerBatch,
): Buffer {
  return Buffer.from(
    `[${eventBatch(seed, bytes, shapes)
      .slice(0, events)
      .map(({ json }) => json)
      .join(',')}]`,
  );
}
