/** Continues the traces of the requests that published customers: node dist/scripts/examples/traced-consumer.js */
import { Lendstream } from 'lendstream/client';

const lendstream = new Lendstream({ url: process.env['LENDSTREAM_URL'] ?? 'http://127.0.0.1:8080' });

for await (const { events } of lendstream.tail('shop.customer', { from: 'begin', quietSeconds: 1 })) {
  for (const { name, metadata } of events) {
    // Without it, the consumer begins a trace of its own.
    const [, trace, span] = metadata?.span_ctx?.['traceparent']?.split('-') ?? [];
    console.log(`${String(name)}: trace ${trace ?? 'none'}, caused by span ${span ?? 'none'}`);
  }
}
