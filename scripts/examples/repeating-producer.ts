/** A producer that loses answers and repeats its request: node dist/scripts/examples/repeating-producer.js */
import { Lendstream, newEvent } from 'lendstream/client';

let requests = 0;
const lendstream = new Lendstream({
  url: process.env['LENDSTREAM_URL'] ?? 'http://127.0.0.1:8080',
  fetch: async (url, init) => {
    const response = await fetch(url, init);
    if (!url.includes('/events')) return response;
    requests += 1;
    if (requests < 3) throw new Error('The response was lost.');
    return response;
  },
});

const name = 'shop.refund-booked';
await lendstream.createEventType({
  name,
  owning_application: 'shop',
  category: 'business',
  enrichment_strategies: ['metadata_enrichment'],
  schema: { type: 'json_schema', schema: '{}' },
  annotations: { 'lendstream/deduplication-window-seconds': '3600' },
});

// The ids of the events stay the same, so what is there already is not stored again.
await lendstream.publish(name, [newEvent({ refund: 7 })]);
console.log(`stored after ${requests} attempts`);

let count = 0;
for await (const { events } of lendstream.tail(name, { from: 'begin', quietSeconds: 1 })) count += events.length;
console.log(`events in the log: ${count}`);
