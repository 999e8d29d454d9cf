/** Publishes two events, consumes them, and opens a loan, with types made by openapi-typescript. */
import createClient from 'openapi-fetch';
import type { components, paths } from './lendstream-api.js';

type StreamBatch = components['schemas']['StreamBatch'];

const baseUrl = process.env['LENDSTREAM_URL'] ?? 'http://127.0.0.1:8080';
const client = createClient<paths>({ baseUrl });
const eventType = 'typescript.order-placed';

const schema = JSON.stringify({ properties: { order: { type: 'string' } }, required: ['order'] });
const definition = {
  name: eventType,
  owning_application: 'typescript',
  category: 'business',
  enrichment_strategies: ['metadata_enrichment'],
  schema: { type: 'json_schema', schema },
} satisfies components['schemas']['EventTypeDefinition'];
const created = await client.POST('/event-types', { body: definition });
console.log('event type:', created.response.status);
const again = await client.POST('/event-types', { body: definition });
console.log('again:', again.error?.status, again.error?.code);

const newEvent = (fields: object) => ({
  metadata: { eid: crypto.randomUUID(), occurred_at: new Date().toISOString() },
  ...fields,
});
const path = { name: eventType };
const events = [newEvent({ order: 'A-1' }), newEvent({ order: 'A-2' })];
const published = await client.POST('/event-types/{name}/events', { params: { path }, body: events });
console.log('published:', published.response.status);
const refused = await client.POST('/event-types/{name}/events', {
  params: { path },
  body: [newEvent({ other: 'A-3' })],
});
if (Array.isArray(refused.error))
  console.log('refused:', refused.error[0]?.publishing_status, refused.error[0]?.detail);

const { data: subscription } = await client.POST('/subscriptions', {
  body: { owning_application: 'typescript', event_types: [eventType], read_from: 'begin' },
});
if (subscription === undefined) throw new Error('There is no subscription');
const { id } = subscription;

const { data: lines, response } = await client.GET('/subscriptions/{id}/events', {
  params: { path: { id }, query: { batch_limit: 2, batch_flush_timeout: 1, stream_timeout: 30 } },
  parseAs: 'stream',
});
const streamId = response.headers.get('X-Nakadi-StreamId') ?? '';
for await (const batch of batches(lines as ReadableStream<Uint8Array>)) {
  if (batch.events === undefined) continue;
  console.log('received:', ...batch.events.map((event) => event['order']));
  const committed = await client.POST('/subscriptions/{id}/cursors', {
    params: { path: { id }, header: { 'X-Nakadi-StreamId': streamId } },
    body: { items: [batch.cursor] },
  });
  console.log('committed:', committed.response.status);
  break;
}

/** The lines of a stream, each of which is a batch. */
async function* batches(bytes: ReadableStream<Uint8Array>): AsyncGenerator<StreamBatch> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of bytes) {
    const texts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = texts.pop() ?? '';
    for (const text of texts) yield JSON.parse(text) as StreamBatch;
  }
}

const statistics = await client.GET('/subscriptions/{id}/stats', {
  params: { path: { id }, query: { show_time_lag: true } },
});
console.log('lag:', statistics.data?.items[0]?.partitions[0]?.unconsumed_events);

const product = await client.POST('/loanproducts', {
  body: { id: 'typescript', name: 'Four months', type: 'FIXED_TERM_LOAN', currency: { code: 'EUR' } },
});
console.log('product:', product.response.status);
const scheduleSettings = { repaymentInstallments: 4, repaymentPeriodCount: 1, repaymentPeriodUnit: 'MONTHS' } as const;
const opened = await client.POST('/loans', {
  params: { header: { 'Idempotency-Key': 'open-typescript-1' } },
  body: { id: 'typescript-1', productTypeKey: 'typescript', loanAmount: 1000.5, scheduleSettings },
});
console.log('opened:', opened.response.status);
const loan = await client.GET('/loans/{loanAccountId}', { params: { path: { loanAccountId: 'typescript-1' } } });
console.log('loan:', loan.data?.accountState, loan.data?.loanAmount);
