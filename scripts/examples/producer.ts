/** A producer of customers, each under its own key: node dist/scripts/examples/producer.js */

const eventType = `${process.env['LENDSTREAM_URL'] ?? 'http://127.0.0.1:8080'}/event-types/shop.customer`;

/** Sends a list of events, or of keys to delete. Returns what became of each when some were not stored. */
async function send(path: string, events: readonly unknown[], headers: Record<string, string> = {}): Promise<unknown> {
  const response = await fetch(`${eventType}/${path}`, { method: 'POST', headers, body: JSON.stringify(events) });
  if (response.status === 200) return 'stored';
  if (response.status !== 207 && response.status !== 422) throw new Error(await response.text());
  return response.json();
}

function metadataOf(customer: string) {
  return {
    eid: crypto.randomUUID(),
    occurred_at: new Date().toISOString(),
    partition_compaction_key: customer,
  };
}

console.log(await send('events', [{ metadata: metadataOf('c-1'), name: 'Ada' }]));
// Everything that was stored about the customer is to be forgotten.
console.log(await send('deleted-events', [{ metadata: metadataOf('c-1') }]));
