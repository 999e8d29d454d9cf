import type { Browser } from 'playwright-core';
import { openStream, type Cursor, type OpenStream } from '../../test/support/http/client.ts';

/** What the pictures show: the demo data, with a consumer. */
export interface Subjects {
  readonly eventType: string;
  readonly loan: string;
  readonly product: string;
  readonly subscription: string;
  /** Of a transaction of a loan: its offset in partition 0, a time just before it, and its eid. */
  readonly offset: string;
  readonly time: string;
  readonly eventId: string;
  /** Publishes some events of the event type. */
  readonly publish: () => Promise<void>;
  /** Ends the commits of the consumer. Its stream stays open until the time for commits is over. */
  readonly stopConsumer: () => void;
}

const commitIntervalMilliseconds = 700;

/** API keys: name, application and role. */
const keys = [
  ['ledger-consumer', 'ledger', 'consumer'],
  ['payments-producer', 'payments', 'producer'],
  ['loan-desk', 'lending', 'officer'],
  ['on-call', 'operations', 'operator'],
] as const;

interface Found {
  readonly items: readonly {
    readonly offset: string;
    readonly timestamp: string;
    readonly event: { readonly metadata: { readonly eid: string } };
  }[];
}

/** Loads the demo data with the page's own button, and leaves an open stream of a consumer and an ended one. */
export async function makeSubjects(browser: Browser, url: string): Promise<Subjects> {
  const page = await browser.newPage();
  await page.goto(`${url}/admin/event-types`);
  await page.getByRole('button', { name: 'Load demo data' }).click();
  const link = page.getByRole('link', { name: /^demo\.greeting/ });
  await link.waitFor();
  const eventType = (await link.textContent()) ?? '';
  await page.goto(`${url}/admin/loans`);
  const loan = (await page.getByRole('link', { name: /^loan-.*-1$/ }).textContent()) ?? '';
  await page.close();
  const subscription = (await get<{ items: { id: string }[] }>('/subscriptions')).items[0]?.id ?? '';
  const product = (await get<{ id: string }[]>('/loanproducts'))[0]?.id ?? '';
  const publish = async (): Promise<void> => {
    const events = ['god kväll', 'buona sera', 'bonsoir'].map((greeting) => {
      return { metadata: { eid: crypto.randomUUID(), occurred_at: new Date().toISOString() }, greeting };
    });
    await send('POST', `/event-types/${eventType}/events`, events);
  };
  // A second version of the schema.
  const type = await get<{ schema: { schema: string } }>(`/event-types/${eventType}`);
  const schema = type.schema.schema.replace(
    '"properties": {',
    '"properties": {\n    "occasion": { "type": "string" },',
  );
  await send('PUT', `/event-types/${eventType}`, { ...type, schema: { type: 'json_schema', schema } });
  for (const [name, application, scope] of keys) {
    await send('POST', '/api-keys', { name, owning_application: application, scopes: [scope] });
  }
  const found = await get<Found>('/event-types/loan_transaction_posted/partitions/0/events?direction=forward');
  const [first] = found.items;
  const stopConsumer = await consume(url, subscription);
  return {
    eventType,
    loan,
    product,
    subscription,
    offset: first?.offset ?? '',
    time: first?.timestamp ?? '',
    eventId: first?.event.metadata.eid ?? '',
    publish,
    stopConsumer,
  };

  async function get<Body>(path: string): Promise<Body> {
    return (await (await fetch(`${url}${path}`)).json()) as Body;
  }

  async function send(method: string, path: string, body: unknown): Promise<void> {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  }
}

/** A consumer that was ended once, and now commits a part of what it is sent. @returns How to stop committing. */
async function consume(url: string, subscription: string): Promise<() => void> {
  const former = await openStream(url, subscription, '?stream_limit=1&batch_limit=1');
  await former.until((batches) => batches.some(({ events }) => events !== undefined));
  await former.commit(cursorsOf(former));
  await former.ended;
  const stream = await openStream(url, subscription, '?batch_limit=2&max_uncommitted_events=4');
  let committed = 0;
  const timer = setInterval(() => {
    const cursors = cursorsOf(stream).slice(committed, committed + 1);
    committed += cursors.length;
    if (cursors.length > 0) void stream.commit(cursors);
  }, commitIntervalMilliseconds);
  return () => clearInterval(timer);
}

function cursorsOf({ batches }: OpenStream): Cursor[] {
  return batches.filter(({ events }) => events !== undefined).map(({ cursor }) => cursor);
}
