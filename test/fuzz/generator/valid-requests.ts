import { resolved, type JsonObject, type Operation, type Parameter } from '../../support/http/api-description.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { Draft } from './drafts.ts';
import { hostileSchema } from './hostile-schemas.ts';
import type { LiveIds, Session } from '../live-ids.ts';
import { RawJson, isJsonObject } from './json-text.ts';
import { valueFor } from './schema-values.ts';

/** Valid requests, about few resources, so that they meet each other. */

/** Event types that a subscription protects from being deleted, and their definitions. */
export const keptEventTypes = ['fuzz.kept.business', 'fuzz.kept.plain', 'fuzz.kept.data'] as const;

export const changingEventTypes = Array.from({ length: 16 }, (_, number) => `fuzz.changing.${number}`);
const systemEventTypes = ['lendstream.loan-commands', 'loan_balance_changed', 'command_rejected'];
const owners = ['fuzz-shop', 'fuzz-bank', 'fuzz-ledger'];
/** The number of current loans, and after how many requests a new one replaces the oldest. */
const loansAtOnce = 16;
const requestsPerLoan = 300;

export function loanOf(number: number): string {
  return `fuzz-loan-${number}`;
}

/** Loans are closed, so a long run needs new ones. */
function loanName(index: number, random: SeededRandom): string {
  return loanOf(Math.floor(index / requestsPerLoan) + random.integer(loansAtOnce));
}

const products = ['annuity', 'dynamic', 'fuzz-product-1', 'fuzz-product-2', 'fuzz-product-3'];
const toggles = [
  'ALLOW_NON_SCHEDULED_FEES',
  'PRINCIPAL_OVERPAYMENT',
  'fixInstallmentTaxOnPenalty',
  'DYNAMIC_TERM_MORTGAGE',
];
/** Places in the events of a run, beside some that none has, and values that may be there. */
const filteredPointers = [
  '/order_number',
  '/total',
  '/data_op',
  '/data/total',
  '/metadata/event_type',
  '/a~1b~0c~2d',
  '',
];
const filteredValues = ['7', '"7"', '0.07', '7e-2', 'C', keptEventTypes[0], 'null', 'true', '', '"\\u0037"', '{}'];
const offsets = ['001-0001--1', '001-0001-000000000000000000', '001-0001-000000000000000005', 'BEGIN', '0', '99999999'];

/** How often a request is about each kind of resource. */
const weights: readonly (readonly [pattern: RegExp, weight: number])[] = [
  [/^(publishEvents)$/, 14],
  [/^(createEventType|updateEventType|addSchema|checkEventType|createSubscription|commitCursors)$/, 6],
  [/^(createLoan|changeLoanState|disburseLoan|applyFee|repayLoan|applyPenalty|overpayPrincipal)$/, 6],
  [/^openStream/, 5],
  [/^(readEvents|adjustTransaction|resetCursors|createLoanProduct)$/, 4],
  [/^(getDescription|getDocumentation|getDocumentationFile|getHealth|getVersion|getReadiness|getMetrics)$/, 0.5],
  [/^(getEventType|listSchemas|deleteEventType|updateSubscription|checkCompatibility)$/, 3],
  [/^deleteSubscription$/, 1.5],
  // The same subscriptions in another form.
  [/Mambu/, 1],
  [/./, 2],
];

export function weightOf({ operationId }: Operation): number {
  return weights.find(([pattern]) => pattern.test(operationId))?.[1] ?? 1;
}

export function validRequest(index: number, operation: Operation, random: SeededRandom, liveIds: LiveIds): Draft {
  const ids: Ids = {
    live: liveIds,
    session: liveIds.session(random.fraction()),
    eventType: isDefining(operation) ? random.pick(changingEventTypes) : eventTypeName(random),
    loan: loanName(index, random),
  };
  const parameterText = (parameter: Parameter): string => pathText(parameter, operation, random, ids);
  const path = operation.path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => {
    const parameter = operation.parameters.find((known) => known.name === name && known.in === 'path');
    return parameter === undefined ? 'x' : encodeURIComponent(parameterText(parameter));
  });
  const query = operation.parameters
    .filter(({ name, in: location }) => location === 'query' && !isStreamTime(operation, name))
    .filter(() => random.chance(operation.isStream ? 0.15 : 0.35))
    .map((parameter) => `${parameter.name}=${encodeURIComponent(queryText(parameter, random, ids))}`);
  if (operation.isStream) query.push(`stream_timeout=${1 + random.integer(2)}`, 'batch_flush_timeout=1');
  const headers: [string, string][] = [
    ['Host', '127.0.0.1'],
    ['Connection', 'close'],
  ];
  for (const parameter of operation.parameters) {
    if (parameter.in === 'header') headers.push(...headerOf(parameter, operation, random, ids));
  }
  const value = operation.requestBody === undefined ? undefined : bodyValue(operation, random, ids);
  if (value !== undefined) headers.push(['Content-Type', 'application/json']);
  const method = operation.method.toUpperCase();
  return {
    operation,
    method,
    path,
    query: query.join('&'),
    headers,
    value,
    body: undefined,
    mutations: [],
    delivery: 'whole',
  };
}

/** The ids of the service that one request uses. */
interface Ids {
  readonly live: LiveIds;
  readonly session: Session;
  /** The event type and the loan of the request, in all its parts. */
  readonly eventType: string;
  readonly loan: string;
}

/** Streams of a run end soon. */
function isStreamTime({ isStream }: Operation, name: string): boolean {
  return isStream && /timeout|timespan/.test(name);
}

/** Whether it changes an event type; protected ones would refuse the deletion every time. */
function isDefining({ operationId }: Operation): boolean {
  return /^(delete|update|add|create)/.test(operationId);
}

function eventTypeName(random: SeededRandom): string {
  return random.weighted([
    [6, () => random.pick(keptEventTypes)],
    [10, () => random.pick(changingEventTypes)],
    [1, () => random.pick(systemEventTypes)],
  ])();
}

function pathText({ name, schema }: Parameter, { operationId }: Operation, random: SeededRandom, ids: Ids): string {
  switch (name) {
    case 'name':
      return /Toggle/.test(operationId) ? random.pick(toggles) : ids.eventType;
    case 'id':
      return subscriptionId(operationId, random, ids);
    case 'loanAccountId':
      return loanId(random, ids);
    case 'loanProductId':
      return random.pick(products);
    case 'transactionId':
      return ids.live.pick('transaction', random.fraction());
    case 'commandId':
      return ids.live.pick('command', random.fraction());
    case 'version':
      return random.pick(['1.0.0', '1.1.0', '2.0.0', 'latest']);
    case 'partition':
      return random.pick(['0', '0', '1', '7', '8']);
    case 'file':
      return random.pick(['swagger-ui.css', 'swagger-ui-bundle.js', 'index.html', 'none.js']);
    default:
      return String(valueFor(schema, random));
  }
}

function subscriptionId(operationId: string, random: SeededRandom, { live, session }: Ids): string {
  const fraction = random.fraction();
  const isInSession = /[cC]ursors(V\d)?$/.test(operationId) && random.chance(0.7);
  return isInSession ? session.subscription : live.pick('subscription', fraction);
}

function loanId(random: SeededRandom, ids: Ids): string {
  const fraction = random.fraction();
  return random.chance(0.95) ? ids.loan : ids.live.pick('loan', fraction);
}

function queryText({ name, schema }: Parameter, random: SeededRandom, ids: Ids): string {
  switch (name) {
    case 'event_type':
      return eventTypeName(random);
    case 'owning_application':
      return random.pick(owners);
    case 'productTypeKey':
      return ids.live.pick('product', random.fraction());
    case 'consumed_offset':
      return random.pick(offsets);
    case 'sortBy':
      return random.pick(['id:ASC', 'creationDate:DESC', 'loanAmount', 'id:DESC,creationDate:ASC']);
    case 'limit':
      return String(1 + random.integer(20));
    case 'filter':
      return `${random.pick(filteredPointers)}=${random.pick(filteredValues)}`;
    default:
      return String(valueFor(schema, random));
  }
}

function headerOf({ name }: Parameter, { isStream }: Operation, random: SeededRandom, ids: Ids): [string, string][] {
  const fraction = random.fraction();
  const isGiven = random.chance(0.4);
  switch (name) {
    case 'Accept':
      return isGiven || fraction < 0.5 ? [[name, 'application/vnd.mambu.v2+json']] : [];
    case 'X-Mambu-StreamId':
    case 'X-Nakadi-StreamId':
      return [[name, ids.session.stream]];
    case 'Idempotency-Key':
      return isGiven ? [[name, `fuzz-key-${random.integer(200)}`]] : [];
    case 'Prefer':
      return isGiven && fraction < 0.3 ? [[name, `wait=${random.pick([0, 1, 120])}`]] : [];
    case 'X-Nakadi-Cursors':
      return isGiven ? [[name, JSON.stringify([{ partition: '0', offset: random.pick(offsets) }])]] : [];
    case 'Accept-Encoding':
      return isStream && isGiven ? [[name, random.pick(['gzip', 'identity', '*', 'gzip;q=0', 'br, gzip;q=0.5'])]] : [];
    default:
      return [];
  }
}

/** Mostly an example about resources of the run; sometimes any value that the schema allows. */
function bodyValue({ operationId, requestBody, parameters }: Operation, random: SeededRandom, ids: Ids): unknown {
  const [described] = Object.values(requestBody?.content ?? {});
  if (described === undefined) return undefined;
  if (operationId === 'publishEvents') return events(random, ids);
  const examples = Object.values(described.examples).filter((example) => example['x-status'] < 300);
  const isFromExample = examples.length > 0 && random.chance(0.75);
  const isAmongLoans = parameters.some(({ name }) => name === 'loanAccountId');
  const value = isFromExample ? random.pick(examples).value : valueFor(described.schema, random);
  const adapted = adapt(value, '', random, ids);
  if (operationId === 'changeLoanState' && random.chance(0.8)) {
    return {
      action: random.weighted([
        [4, 'APPROVE'],
        [1, 'REJECT'],
        [1, 'CLOSE'],
        [1, 'UNDO_APPROVE'],
        [1, 'REQUEST_APPROVAL'],
      ]),
    };
  }
  return isAmongLoans && isJsonObject(adapted) && random.chance(0.5) ? dated(adapted, random) : adapted;
}

/** The commands of a loan follow in the order of days; otherwise all of them would be refused. */
function dated(payload: JsonObject, random: SeededRandom): JsonObject {
  if (!('valueDate' in payload)) return payload;
  return { ...payload, valueDate: `2025-0${1 + random.integer(9)}-${10 + random.integer(19)}` };
}

/** Replaces names by those of the run. */
function adapt(value: unknown, key: string, random: SeededRandom, ids: Ids): unknown {
  if (Array.isArray(value)) return value.map((item) => adapt(item, key, random, ids));
  if (value instanceof RawJson) return value;
  if (isJsonObject(value)) {
    if ('cursor_token' in value) return cursor(random, ids);
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, adapt(member, name, random, ids)]));
  }
  switch (key) {
    case 'name':
      return random.chance(0.9) ? ids.eventType : random.pick(changingEventTypes);
    case 'event_type':
    case 'event_types':
      return random.pick([...keptEventTypes, ...changingEventTypes]);
    case 'owning_application':
      return random.pick(owners);
    case 'consumer_group':
      return random.pick(['', 'first', 'second']);
    case 'id':
      if (random.chance(0.05)) return ids.live.pick(random.pick(['loan', 'product'] as const), random.fraction());
      return random.chance(0.1) ? random.pick(products) : ids.loan;
    case 'encodedKey':
      return random.chance(0.5) ? ids.live.pick('product', random.fraction()) : random.pick(products);
    case 'productTypeKey':
      return random.chance(0.5) ? random.pick(products) : ids.live.pick('product', random.fraction());
    case 'offset':
      return random.pick(offsets);
    case 'schema':
      return typeof value === 'string' && random.chance(0.4) ? JSON.stringify(hostileSchema(random)) : value;
    default:
      return value;
  }
}

function cursor(random: SeededRandom, { session: { cursors } }: Ids): unknown {
  const fraction = random.fraction();
  const text = cursors[Math.floor(fraction * cursors.length)];
  return text === undefined ? {} : (JSON.parse(text) as unknown);
}

/** Events for the existing kinds of event types, and commands without the lending API. */
function events(random: SeededRandom, ids: Ids): unknown {
  const count = random.weighted([
    [10, 1],
    [5, 3],
    [1, 0],
    [1, 50],
  ]);
  return Array.from({ length: count }, () => {
    const metadata = { eid: random.uuid(), occurred_at: '2025-01-15T08:30:00Z' };
    const order = { order_number: String(random.integer(100)), total: random.integer(10_000) / 100 };
    return random.weighted<unknown>([
      [8, { metadata, ...order }],
      [3, order],
      [
        4,
        {
          metadata: { ...metadata, partition_compaction_key: 'k' },
          data_type: 'order',
          data_op: random.pick(['C', 'U']),
          data: order,
        },
      ],
      [2, { metadata, type: 'REPAY', loanAccountId: ids.loan, payload: { amount: random.integer(100) } }],
      [
        1,
        {
          metadata,
          type: 'CREATE_LOAN',
          loanAccountId: ids.loan,
          payload: { productTypeKey: 'annuity', loanAmount: 1000 },
        },
      ],
    ]);
  });
}

/** Resolves the shared description of a body; undefined when it is not JSON. */
export function bodySchema({ requestBody }: Operation): JsonObject | undefined {
  const [described] = Object.values(requestBody?.content ?? {});
  return described === undefined ? undefined : resolved<JsonObject>(described.schema);
}
