/** A producer that loses answers and repeats its request: node dist/scripts/examples/repeating-producer.js */

const eventType = `${process.env['LENDSTREAM_URL'] ?? 'http://127.0.0.1:8080'}/event-types/shop.refund-booked`;

/** How often a request is sent before the producer gives up. */
const attemptsMaximum = 5;

const definition = {
  name: 'shop.refund-booked',
  owning_application: 'shop',
  category: 'business',
  enrichment_strategies: ['metadata_enrichment'],
  schema: { type: 'json_schema', schema: '{}' },
  annotations: { 'lendstream/deduplication-window-seconds': '3600' },
};
await fetch(new URL('/event-types', eventType), { method: 'POST', body: JSON.stringify(definition) });

/** Sends events until they are known to be stored. The ids stay the same. Returns how often they were sent. */
async function publish(events: readonly unknown[]): Promise<number> {
  for (let attempt = 1; attempt <= attemptsMaximum; attempt += 1) {
    const isStored = await send(events, attempt).catch(() => false);
    if (isStored) return attempt;
  }
  throw new Error('The events may be stored or not.');
}

async function send(events: readonly unknown[], attempt: number): Promise<boolean> {
  const response = await fetch(`${eventType}/events`, { method: 'POST', body: JSON.stringify(events) });
  if (attempt < 3) throw new Error('The answer was lost.');
  // A list of items says what is missing: 207. What is there already is not stored again.
  if (response.status !== 200 && response.status !== 207 && response.status !== 503) {
    throw new TypeError(await response.text());
  }
  return response.status === 200;
}

const metadata = { eid: crypto.randomUUID(), occurred_at: new Date().toISOString() };
console.log(`stored after ${await publish([{ metadata, refund: 7 }])} attempts`);
const partition = await fetch(`${eventType}/partitions/0?consumed_offset=BEGIN`);
const { unconsumed_events: count } = (await partition.json()) as { readonly unconsumed_events: number };
console.log(`events in the log: ${count}`);
