import { resolved, type JsonObject, type Operation, type Parameter } from '../../support/http/api-description.ts';
import type { Dice } from './dice.ts';
import type { Draft } from './drafts.ts';
import { hostileSchema } from './hostile-schemas.ts';
import type { LiveIds, Session } from '../live-ids.ts';
import { RawJson, isJsonObject } from './json-text.ts';
import { valueFor } from './schema-values.ts';

/** Requests as the description wants them, about things of which there are few, so that they meet each other. */

/** Event types that a subscription keeps from being deleted, and what they are. */
export const keptEventTypes = ['fuzz.kept.business', 'fuzz.kept.plain', 'fuzz.kept.data'] as const;

export const changingEventTypes = Array.from({ length: 16 }, (_, number) => `fuzz.changing.${number}`);
const systemEventTypes = ['lendstream.loan-commands', 'loan_balance_changed', 'command_rejected'];
const owners = ['fuzz-shop', 'fuzz-bank', 'fuzz-ledger'];
/** How many loans are dealt with at a time, and after how many requests a new one takes the place of the oldest. */
const loansAtOnce = 16;
const requestsPerLoan = 300;

export function loanOf(number: number): string {
  return `fuzz-loan-${number}`;
}

/** Loans end, so that in a long run there have to be new ones. */
function loanName(index: number, dice: Dice): string {
  return loanOf(Math.floor(index / requestsPerLoan) + dice.whole(loansAtOnce));
}

const products = ['annuity', 'dynamic', 'fuzz-product-1', 'fuzz-product-2', 'fuzz-product-3'];
const toggles = [
  'ALLOW_NON_SCHEDULED_FEES',
  'PRINCIPAL_OVERPAYMENT',
  'fixInstallmentTaxOnPenalty',
  'DYNAMIC_TERM_MORTGAGE',
];
const offsets = ['001-0001--1', '001-0001-000000000000000000', '001-0001-000000000000000005', 'BEGIN', '0', '99999999'];

/** How often a request is about each kind of thing. */
const weights: readonly (readonly [pattern: RegExp, weight: number])[] = [
  [/^(publishEvents)$/, 14],
  [/^(createEventType|updateEventType|addSchema|checkEventType|createSubscription|commitCursors)$/, 6],
  [/^(createLoan|changeLoanState|disburseLoan|applyFee|repayLoan|applyPenalty|overpayPrincipal)$/, 6],
  [/^openStream/, 5],
  [/^(readEvents|adjustTransaction|resetCursors|createLoanProduct)$/, 4],
  [/^(getDescription|getDocumentation|getDocumentationFile|getHealth|getVersion|getReadiness|getMetrics)$/, 0.5],
  [/^(getEventType|listSchemas|deleteEventType|updateSubscription|checkCompatibility)$/, 3],
  [/^deleteSubscription$/, 1.5],
  [/./, 2],
];

export function weightOf({ operationId }: Operation): number {
  return weights.find(([pattern]) => pattern.test(operationId))?.[1] ?? 1;
}

export function validRequest(index: number, operation: Operation, dice: Dice, liveIds: LiveIds): Draft {
  const ids: Ids = {
    live: liveIds,
    session: liveIds.session(dice.fraction()),
    eventType: isDefining(operation) ? dice.pick(changingEventTypes) : eventTypeName(dice),
    loan: loanName(index, dice),
  };
  const parameterText = (parameter: Parameter): string => pathText(parameter, operation, dice, ids);
  const path = operation.path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => {
    const parameter = operation.parameters.find((known) => known.name === name && known.in === 'path');
    return parameter === undefined ? 'x' : encodeURIComponent(parameterText(parameter));
  });
  const query = operation.parameters
    .filter(({ name, in: place }) => place === 'query' && !isStreamTime(operation, name))
    .filter(() => dice.chance(operation.isStream ? 0.15 : 0.35))
    .map((parameter) => `${parameter.name}=${encodeURIComponent(queryText(parameter, dice, ids))}`);
  if (operation.isStream) query.push(`stream_timeout=${1 + dice.whole(2)}`, 'batch_flush_timeout=1');
  const headers: [string, string][] = [
    ['Host', '127.0.0.1'],
    ['Connection', 'close'],
  ];
  for (const parameter of operation.parameters) {
    if (parameter.in === 'header') headers.push(...headerOf(parameter, operation, dice, ids));
  }
  const value = operation.requestBody === undefined ? undefined : bodyValue(operation, dice, ids);
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

/** What of the service's own ids one request is about. */
interface Ids {
  readonly live: LiveIds;
  readonly session: Session;
  /** The event type and the loan that the request is about, in whatever of its parts. */
  readonly eventType: string;
  readonly loan: string;
}

/** Streams of a run end soon. */
function isStreamTime({ isStream }: Operation, name: string): boolean {
  return isStream && /timeout|timespan/.test(name);
}

/** Whether it changes an event type; what is kept would refuse to go every time. */
function isDefining({ operationId }: Operation): boolean {
  return /^(delete|update|add|create)/.test(operationId);
}

function eventTypeName(dice: Dice): string {
  return dice.weighted([
    [6, () => dice.pick(keptEventTypes)],
    [10, () => dice.pick(changingEventTypes)],
    [1, () => dice.pick(systemEventTypes)],
  ])();
}

function pathText({ name, schema }: Parameter, { operationId }: Operation, dice: Dice, ids: Ids): string {
  switch (name) {
    case 'name':
      return /Toggle/.test(operationId) ? dice.pick(toggles) : ids.eventType;
    case 'id':
      return subscriptionId(operationId, dice, ids);
    case 'loanAccountId':
      return loanId(dice, ids);
    case 'loanProductId':
      return dice.pick(products);
    case 'transactionId':
      return ids.live.pick('transaction', dice.fraction());
    case 'commandId':
      return ids.live.pick('command', dice.fraction());
    case 'version':
      return dice.pick(['1.0.0', '1.1.0', '2.0.0', 'latest']);
    case 'partition':
      return dice.pick(['0', '0', '1', '7', '8']);
    case 'file':
      return dice.pick(['swagger-ui.css', 'swagger-ui-bundle.js', 'index.html', 'none.js']);
    default:
      return String(valueFor(schema, dice));
  }
}

function subscriptionId(operationId: string, dice: Dice, { live, session }: Ids): string {
  const fraction = dice.fraction();
  const isInSession = /[cC]ursors$/.test(operationId) && dice.chance(0.7);
  return isInSession ? session.subscription : live.pick('subscription', fraction);
}

function loanId(dice: Dice, ids: Ids): string {
  const fraction = dice.fraction();
  return dice.chance(0.95) ? ids.loan : ids.live.pick('loan', fraction);
}

function queryText({ name, schema }: Parameter, dice: Dice, ids: Ids): string {
  switch (name) {
    case 'event_type':
      return eventTypeName(dice);
    case 'owning_application':
      return dice.pick(owners);
    case 'productTypeKey':
      return ids.live.pick('product', dice.fraction());
    case 'consumed_offset':
      return dice.pick(offsets);
    case 'sortBy':
      return dice.pick(['id:ASC', 'creationDate:DESC', 'loanAmount', 'id:DESC,creationDate:ASC']);
    case 'limit':
      return String(1 + dice.whole(20));
    default:
      return String(valueFor(schema, dice));
  }
}

function headerOf({ name }: Parameter, { isStream }: Operation, dice: Dice, ids: Ids): [string, string][] {
  const fraction = dice.fraction();
  const isGiven = dice.chance(0.4);
  switch (name) {
    case 'X-Nakadi-StreamId':
      return [[name, ids.session.stream]];
    case 'Idempotency-Key':
      return isGiven ? [[name, `fuzz-key-${dice.whole(200)}`]] : [];
    case 'Prefer':
      return isGiven && fraction < 0.3 ? [[name, `wait=${dice.pick([0, 1, 120])}`]] : [];
    case 'X-Nakadi-Cursors':
      return isGiven ? [[name, JSON.stringify([{ partition: '0', offset: dice.pick(offsets) }])]] : [];
    case 'Accept-Encoding':
      return isStream && isGiven ? [[name, dice.pick(['gzip', 'identity', '*', 'gzip;q=0', 'br, gzip;q=0.5'])]] : [];
    default:
      return [];
  }
}

/** Mostly an example, about things of the run; sometimes whatever the schema allows. */
function bodyValue({ operationId, requestBody, parameters }: Operation, dice: Dice, ids: Ids): unknown {
  const [described] = Object.values(requestBody?.content ?? {});
  if (described === undefined) return undefined;
  if (operationId === 'publishEvents') return events(dice, ids);
  const examples = Object.values(described.examples).filter((example) => example['x-status'] < 300);
  const isFromExample = examples.length > 0 && dice.chance(0.75);
  const isAmongLoans = parameters.some(({ name }) => name === 'loanAccountId');
  const value = isFromExample ? dice.pick(examples).value : valueFor(described.schema, dice);
  const adapted = adapt(value, '', dice, ids);
  if (operationId === 'changeLoanState' && dice.chance(0.8)) {
    return {
      action: dice.weighted([
        [4, 'APPROVE'],
        [1, 'REJECT'],
        [1, 'CLOSE'],
        [1, 'UNDO_APPROVE'],
        [1, 'REQUEST_APPROVAL'],
      ]),
    };
  }
  return isAmongLoans && isJsonObject(adapted) && dice.chance(0.5) ? dated(adapted, dice) : adapted;
}

/** Loans are dealt with in the order of days, or nothing but refusals comes of it. */
function dated(payload: JsonObject, dice: Dice): JsonObject {
  if (!('valueDate' in payload)) return payload;
  return { ...payload, valueDate: `2025-0${1 + dice.whole(9)}-${10 + dice.whole(19)}` };
}

/** Puts names of the run in the place of names. */
function adapt(value: unknown, key: string, dice: Dice, ids: Ids): unknown {
  if (Array.isArray(value)) return value.map((item) => adapt(item, key, dice, ids));
  if (value instanceof RawJson) return value;
  if (isJsonObject(value)) {
    if ('cursor_token' in value) return cursor(dice, ids);
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, adapt(member, name, dice, ids)]));
  }
  switch (key) {
    case 'name':
      return dice.chance(0.9) ? ids.eventType : dice.pick(changingEventTypes);
    case 'event_type':
    case 'event_types':
      return dice.pick([...keptEventTypes, ...changingEventTypes]);
    case 'owning_application':
      return dice.pick(owners);
    case 'consumer_group':
      return dice.pick(['', 'first', 'second']);
    case 'id':
      if (dice.chance(0.05)) return ids.live.pick(dice.pick(['loan', 'product'] as const), dice.fraction());
      return dice.chance(0.1) ? dice.pick(products) : ids.loan;
    case 'encodedKey':
      return dice.chance(0.5) ? ids.live.pick('product', dice.fraction()) : dice.pick(products);
    case 'productTypeKey':
      return dice.chance(0.5) ? dice.pick(products) : ids.live.pick('product', dice.fraction());
    case 'offset':
      return dice.pick(offsets);
    case 'schema':
      return typeof value === 'string' && dice.chance(0.4) ? JSON.stringify(hostileSchema(dice)) : value;
    default:
      return value;
  }
}

function cursor(dice: Dice, { session: { cursors } }: Ids): unknown {
  const fraction = dice.fraction();
  const text = cursors[Math.floor(fraction * cursors.length)];
  return text === undefined ? {} : (JSON.parse(text) as unknown);
}

/** Events for the kinds of event types that there are, and commands past the lending API. */
function events(dice: Dice, ids: Ids): unknown {
  const count = dice.weighted([
    [10, 1],
    [5, 3],
    [1, 0],
    [1, 50],
  ]);
  return Array.from({ length: count }, () => {
    const metadata = { eid: dice.uuid(), occurred_at: '2025-01-15T08:30:00Z' };
    const order = { order_number: String(dice.whole(100)), total: dice.whole(10_000) / 100 };
    return dice.weighted<unknown>([
      [8, { metadata, ...order }],
      [3, order],
      [
        4,
        {
          metadata: { ...metadata, partition_compaction_key: 'k' },
          data_type: 'order',
          data_op: dice.pick(['C', 'U']),
          data: order,
        },
      ],
      [2, { metadata, type: 'REPAY', loanAccountId: ids.loan, payload: { amount: dice.whole(100) } }],
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

/** Resolves what is described once for a body; undefined when it is not JSON. */
export function bodySchema({ requestBody }: Operation): JsonObject | undefined {
  const [described] = Object.values(requestBody?.content ?? {});
  return described === undefined ? undefined : resolved<JsonObject>(described.schema);
}
