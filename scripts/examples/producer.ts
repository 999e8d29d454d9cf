/** A producer of customers, each under its own key: node dist/scripts/examples/producer.js */
import { Lendstream, newEvent, PublishError } from 'lendstream/client';

const lendstream = new Lendstream({ url: process.env['LENDSTREAM_URL'] ?? 'http://127.0.0.1:8080' });
const eventType = 'shop.customer';

function customer(key: string, name: unknown) {
  return newEvent({ name }, { partition_compaction_key: key });
}

// A consumer finds it in metadata.span_ctx and continues the trace.
const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
await lendstream.publish(eventType, [customer('c-1', 'Ada')], { traceparent });
console.log('new: all stored');

try {
  await lendstream.publish(eventType, [customer('c-1', 'Ada'), customer('c-2', 7)]);
} catch (error) {
  if (!(error instanceof PublishError)) throw error;
  // The valid ones of the list are stored.
  for (const { index, outcome, detail } of error.events) console.log(`event ${index}: ${outcome}, ${detail}`);
}

// Everything that was stored about the customer is to be forgotten.
await lendstream.deleteKeys(eventType, ['c-1']);
console.log('deleted: all stored');
