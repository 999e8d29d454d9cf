/** A consumer of a subscription: node dist/scripts/examples/consumer.js <subscription id> */
interface Batch {
  readonly cursor: { readonly event_type: string; readonly partition: string; readonly offset: string };
  readonly events?: readonly Record<string, unknown>[];
  readonly info?: { readonly debug?: string; readonly code?: string };
}

const url = process.env['LENDSTREAM_URL'] ?? 'http://127.0.0.1:8080';
const subscription = `${url}/subscriptions/${process.argv[2] ?? ''}`;

/** A batch has a hundred events, or those that arrived within a second. A thousand events may be uncommitted. */
const parameters = 'batch_limit=100&batch_flush_timeout=1&max_uncommitted_events=1000';

/** Delivery is at least once: skip an event whose `metadata.eid` was handled already. */
function handle(event: Record<string, unknown>): void {
  console.log(JSON.stringify(event));
}

async function commit(streamId: string, cursor: Batch['cursor']): Promise<void> {
  const response = await fetch(`${subscription}/cursors`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Nakadi-StreamId': streamId },
    body: JSON.stringify({ items: [cursor] }),
  });
  if (!response.ok) throw new Error(`The commit was refused: ${await response.text()}`);
}

/** Reads one stream to its end. Each line is a batch of one partition; a line without events is a keep-alive. */
async function stream(): Promise<void> {
  const response = await fetch(`${subscription}/events?${parameters}`);
  if (!response.ok || response.body === null) throw new Error(`No stream: ${await response.text()}`);
  const streamId = response.headers.get('X-Nakadi-StreamId') ?? '';
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body) {
    const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const { cursor, events = [], info } = JSON.parse(line) as Batch;
      for (const event of events) handle(event);
      if (events.length > 0) await commit(streamId, cursor);
      if (info?.code !== undefined) console.error(`The stream ended: ${info.code}`);
    }
  }
}

// A stream ends after an hour or so, and whenever the service has to end it. Uncommitted events are sent again.
for (;;) {
  await stream().catch((error: unknown) => console.error(error instanceof Error ? error.message : error));
  await new Promise((resolve) => setTimeout(resolve, 1_000));
}
