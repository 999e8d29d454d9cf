/** A consumer of a subscription: node dist/scripts/examples/consumer.js <subscription id> */
import { Lendstream, stringifyExact } from 'lendstream/client';

const lendstream = new Lendstream({ url: process.env['LENDSTREAM_URL'] ?? 'http://127.0.0.1:8080' });

const consumer = lendstream.consume(process.argv[2] ?? '', {
  // Delivery is at least once: what this process has handled before is not handed out again.
  skipRepeated: true,
  onNotice: (notice) => console.error(JSON.stringify(notice)),
});

// Finishes and commits the batch in hand, and then ends the loop.
process.once('SIGINT', () => consumer.stop());
process.once('SIGTERM', () => consumer.stop());

// The next batch is asked for when this one is done: that commits it. Streams that end are followed by others.
for await (const { events } of consumer) {
  for (const event of events) console.log(stringifyExact(event));
}
