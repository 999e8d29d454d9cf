/** A producer of customers, each under its own key: node dist/scripts/examples/producer.js */

const eventType = `${process.env['LENDSTREAM_URL'] ?? 'http://127.0.0.1:8080'}/event-types/shop.customer`;

interface Item {
  readonly publishing_status: string;
  readonly detail: string;
  readonly retryable: boolean;
}

/** Sends a list of events, or of keys to delete. Returns what became of those that were not stored. */
async function send(path: string, events: readonly unknown[]): Promise<readonly Item[]> {
  const response = await fetch(`${eventType}/${path}?item_details=retryable`, {
    method: 'POST',
    // A consumer finds it in metadata.span_ctx and continues the trace.
    headers: { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' },
    body: JSON.stringify(events),
  });
  if (response.status === 200) return [];
  if (response.status !== 207 && response.status !== 422) throw new Error(await response.text());
  const items = (await response.json()) as readonly Item[];
  return items.filter((item) => item.publishing_status !== 'submitted');
}

function metadataOf(customer: string) {
  return {
    eid: crypto.randomUUID(),
    occurred_at: new Date().toISOString(),
    partition_compaction_key: customer,
  };
}

function show(what: string, unsent: readonly Item[]): void {
  const texts = unsent.map(({ detail, retryable }) => `${retryable ? 'send again' : 'give up'} ${detail}`.trim());
  console.log(`${what}: ${texts.length === 0 ? 'all stored' : texts.join('; ')}`);
}

show('new', await send('events', [{ metadata: metadataOf('c-1'), name: 'Ada' }]));
const wrong = [
  { metadata: metadataOf('c-1'), name: 'Ada' },
  { metadata: metadataOf('c-2'), name: 7 },
];
show('wrong', await send('events', wrong));
// Everything that was stored about the customer is to be forgotten.
show('deleted', await send('deleted-events', [{ metadata: metadataOf('c-1') }]));
