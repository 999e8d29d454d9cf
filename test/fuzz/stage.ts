import { operations, type Operation } from '../support/http/api-description.ts';
import { call } from '../support/http/client.ts';
import { pausedEventType } from './canary.ts';
import type { LiveIds } from './live-ids.ts';
import { changingEventTypes, keptEventTypes, loanOf } from './generator/valid-requests.ts';

/** The resources before the first request: one of each kind, so that requests meet them. */

const orderSchema = '{"properties": {"order_number": {"type": "string"}, "total": {"type": "number"}}}';

const categories = {
  'fuzz.kept.business': 'business',
  'fuzz.kept.plain': 'undefined',
  'fuzz.kept.data': 'data',
} as const;

export async function setStage(url: string, ids: LiveIds): Promise<void> {
  for (const name of keptEventTypes) {
    const category = categories[name];
    await made(`${url}/event-types`, {
      name,
      owning_application: 'fuzz-shop',
      category,
      enrichment_strategies: category === 'undefined' ? [] : ['metadata_enrichment'],
      schema: { type: 'json_schema', schema: orderSchema },
      default_statistic: { messages_per_minute: 1, message_size: 1, read_parallelism: 2, write_parallelism: 2 },
    });
    // Subscribed event types are not deleted, and no request deletes a subscription whose id is not among the known
    // ones.
    await made(`${url}/subscriptions`, { owning_application: 'fuzz-keeper', event_types: [name], read_from: 'end' });
    const { body } = await made(`${url}/subscriptions`, {
      owning_application: 'fuzz-shop',
      event_types: [name],
      read_from: 'begin',
    });
    ids.add('subscription', String(body['id']));
  }
  for (const name of changingEventTypes) {
    await made(`${url}/event-types`, {
      name,
      owning_application: 'fuzz-bank',
      category: 'undefined',
      compatibility_mode: 'none',
      schema: { type: 'json_schema', schema: orderSchema },
    });
  }
  for (const name of ['annuity', 'dynamic']) await made(`${url}/loanproducts`, example('createLoanProduct', name));
  for (let number = 0; number < loansStaged; number += 1) {
    const id = loanOf(number);
    await made(`${url}/loans`, { id, productTypeKey: number % 2 === 0 ? 'annuity' : 'dynamic', loanAmount: 1_000 });
    await call(`${url}/loans/${id}:changeState`, 'POST', { action: 'APPROVE' });
    const disbursed = await made(`${url}/loans/${id}/disbursement-transactions`, { valueDate: '2025-01-15' });
    ids.add('transaction', String(disbursed.body['encodedKey']));
  }
}

/** Loans that are disbursed before the first request; requests open the others. */
const loansStaged = 16;

async function made(url: string, body: unknown): Promise<{ readonly body: Readonly<Record<string, unknown>> }> {
  const response = await call(url, 'POST', body);
  if (response.status !== 201) throw new Error(`POST ${url} was answered ${response.status} ${response.text}`);
  return response;
}

function example(operationId: string, name: string): unknown {
  const operation = operations.find((known): known is Operation => known.operationId === operationId);
  return operation?.requestBody?.content['application/json']?.examples[name]?.value;
}

/** More than the embedded log caches of recent appends. */
const fillerEvents = 160;
const fillerEventBytes = 900_000;
const fillerEventType = 'filler.written';

/** Fills the cache that the service has of the log, so that it does not grow from then on. */
export async function fillMemory(url: string): Promise<void> {
  await made(`${url}/event-types`, {
    name: fillerEventType,
    owning_application: 'filler',
    category: 'undefined',
    schema: { type: 'json_schema', schema: '{}' },
  });
  const events = `[{"filler":"${'x'.repeat(fillerEventBytes)}"}]`;
  for (let number = 0; number < fillerEvents; number += 1) {
    const { status, text } = await call(`${url}/event-types/${fillerEventType}/events`, 'POST', events);
    if (status !== 200) throw new Error(`Filling was answered ${status} ${text}`);
  }
}

/**
 * The resources that stay to the end: those of the ordinary client and of the filler, and what a subscription protects.
 */
const stayingEventTypes = new Set<string>(['canary.sung', pausedEventType, fillerEventType, ...keptEventTypes]);

/**
 * Deletes everything deletable, so that memory used afterwards is a leak or belongs to what stays.
 * Returns how many resources stay that cannot be deleted: loans, products and schema versions of what is kept.
 */
export async function clearStage(url: string): Promise<number> {
  const response = await call(`${url}/subscriptions?limit=1000`, 'GET');
  for (const { id, owning_application: owner } of response.body['items'] as {
    id: string;
    owning_application: string;
  }[]) {
    if (owner !== 'fuzz-keeper' && owner !== 'canary') await call(`${url}/subscriptions/${id}`, 'DELETE');
  }
  const eventTypes = JSON.parse((await call(`${url}/event-types`, 'GET')).text) as { name: string }[];
  for (const { name } of eventTypes) {
    if (!stayingEventTypes.has(name)) await call(`${url}/event-types/${encodeURIComponent(name)}`, 'DELETE');
  }
  let staying = 0;
  for (const path of ['/loans', '/loanproducts']) {
    const { headers } = await call(`${url}${path}?limit=1&paginationDetails=ON`, 'GET');
    staying += Number(headers.get('items-total') ?? 0);
  }
  return staying;
}
