import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import { annuityProduct } from '../../../src/admin/example-product.ts';
import { allTogglesOff, toggleNames } from '../../../src/lending/toggle-names.ts';
import { eventually } from '../../support/eventually.ts';
import { type Example, type Json, examples } from './examples.ts';
import { moneyExamples } from './money-examples.ts';
import { type Tenant, startTenant } from './tenant.ts';

/** How a command reaches the service: as a request, or published by a producer. */
const ways = ['REST', 'command'] as const;
type Way = (typeof ways)[number];

/** What became of a command: nothing when it was done, the reasons when it was refused. */
type Refusals = readonly unknown[];

/** The last part of the path of each command that is posted to a loan. */
const postingPaths: Readonly<Record<string, string>> = {
  CHANGE_STATE: ':changeState',
  DISBURSE: '/disbursement-transactions',
  REPAY: '/repayment-transactions',
  APPLY_FEE: '/fee-transactions',
  APPLY_PENALTY: '/penalty-transactions',
  PRINCIPAL_OVERPAYMENT: '/principal-overpayment-transactions',
  APPLY_INTEREST: ':applyInterest',
  PAY_OFF: ':payOff',
  WRITE_OFF: ':writeOff',
  UNDO_WRITE_OFF: ':undoWriteOff',
  LOCK: '/lock-transactions',
  UNLOCK: '/unlock-transactions',
  REDUCE_INTEREST: '/interest-reduction-transactions',
  REDUCE_FEES: '/fee-reduction-transactions',
  REDUCE_PENALTIES: '/penalty-reduction-transactions',
  REFUND: '/refund-transactions',
  RESCHEDULE: ':reschedule',
  UNDO_RESCHEDULE: ':undoReschedule',
  REFINANCE: ':refinance',
  UNDO_REFINANCE: ':undoRefinance',
  TERMINATE: ':terminate',
};

/** The request that stands for a command: its method, path and body. */
function requestOf(type: string, loan: string, product: string, payload: Json): readonly [string, string, unknown] {
  const posting = postingPaths[type];
  if (posting !== undefined) return ['POST', `/loans/${loan}${posting}`, payload];
  const { transactionId, ...rest } = payload;
  switch (type) {
    case 'CREATE_PRODUCT':
      return ['POST', '/loanproducts', { id: product, ...payload }];
    case 'PATCH_PRODUCT':
      return ['PATCH', `/loanproducts/${product}`, payload['operations']];
    case 'CREATE_LOAN':
      return ['POST', '/loans', { id: loan, ...payload }];
    case 'UPDATE_LOAN':
      return ['PATCH', `/loans/${loan}`, payload['operations']];
    case 'ADJUST_TRANSACTION':
      return ['POST', `/loans/transactions/${String(transactionId)}:adjust`, rest];
    default:
      throw new Error(`No request does ${type}`);
  }
}

/** A text without what differs between two loans with one story: their names, keys, ids and moments. */
function withoutNames(text: string, way: Way): string {
  const keys = new Map<string, string>();
  const nameOf = (key: string): string => {
    const name = keys.get(key) ?? `key ${keys.size + 1}`;
    keys.set(key, name);
    return name;
  };
  return text
    .replaceAll(new RegExp(`(example-\\d+)-${way}`, 'g'), '$1')
    .replaceAll(/"(flow_id|partition|published_by)":"[^"]*"/g, '"$1":"any"')
    .replaceAll(/\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z/g, 'moment')
    .replaceAll(/[\da-f]{32}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, nameOf);
}

describe('the sentences of the specification, over REST and as commands', function () {
  this.timeout(120_000);
  let tenant: Tenant;
  /** As the last example left them. */
  let toggles = allTogglesOff;
  before(async () => {
    tenant = await startTenant();
  });
  after(() => tenant.stop());

  const get = (path: string): Promise<Json> => tenant.must(200, 'GET', path).then(({ body }) => body);

  async function published(type: string, loan: string, product: string, payload: Json, id: string): Promise<Refusals> {
    const isOfProduct = type.endsWith('_PRODUCT');
    const subject = isOfProduct ? { loanProductId: product } : { loanAccountId: loan };
    const metadata = { eid: id, occurred_at: '2024-01-01T00:00:00Z' };
    const event = { metadata, commandId: id, type, ...subject, payload };
    const sent = await tenant.sendToRoot('POST', '/event-types/lendstream.loan-commands/events', [event]);
    expect(sent.status, sent.text).to.equal(200);
    let decided: Json = {};
    await eventually(async () => {
      decided = (await tenant.send('GET', `/commands/${id}`)).body;
      return !['undefined', 'PENDING'].includes(String(decided['status']));
    }, 30_000);
    return reasonsIn(decided);
  }

  function reasonsIn(body: Json): Refusals {
    return ((body['errors'] as Json[] | undefined) ?? []).map(({ errorReason, errorSource }) => [
      errorReason,
      errorSource,
    ]);
  }

  /** Does one step in one way; the same id, or Idempotency-Key, does it once. */
  async function step(way: Way, type: string, loan: string, product: string, asked: Json, id: string) {
    const payload = JSON.parse(JSON.stringify(asked).replaceAll('"the product"', `"${product}"`)) as Json;
    if (payload['transactionId'] === 'the last') {
      const transactions = (await get(`/loans/${loan}/transactions`)) as unknown as Json[];
      payload['transactionId'] = transactions.at(-1)?.['encodedKey'];
    }
    if (payload['linkedDisbursementKey'] === 'the first') {
      const [disbursement] = (await get(`/loans/${loan}/transactions`)) as unknown as Json[];
      payload['linkedDisbursementKey'] = disbursement?.['encodedKey'];
    }
    if (payload['installmentEncodedKey'] === 'row 3') {
      const { installments } = await get(`/loans/${loan}/schedule`);
      payload['installmentEncodedKey'] = (installments as Json[])[2]?.['encodedKey'];
    }
    if (way === 'command') return published(type, loan, product, payload, id);
    const [method, path, body] = requestOf(type, loan, product, payload);
    const response = await tenant.send(method, path, body, { 'Idempotency-Key': id });
    const refusals = reasonsIn(response.body);
    expect(response.status < 300, response.text).to.equal(refusals.length === 0);
    return refusals;
  }

  /** All that a reader of the API and a consumer of the events see of a loan, and the refusal of the last step. */
  async function told(example: Example, number: number, way: Way) {
    const [loan, product] = [`example-${number}-${way}`, `example-${number}-${way}-product`];
    let refusals: Refusals = [];
    const all: readonly (readonly [string, Json])[] = [
      ['CREATE_PRODUCT', { ...annuityProduct(product), id: product, ...example.product }],
      ...(example.steps ?? []),
    ];
    for (const [index, [type, payload]] of all.entries()) {
      expect(refusals, `before step ${index}, ${type}`).to.deep.equal([]);
      const id = randomUUID();
      refusals = await step(way, type, loan, product, payload, id);
      if (example.sentTwice === true) expect(await step(way, type, loan, product, payload, id)).to.deep.equal(refusals);
    }
    const asked = ['?detailsLevel=FULL', '/schedule', '/balances', '/transactions', '/events'];
    const answers = await Promise.all(asked.map((path) => tenant.send('GET', `/loans/${loan}${path}`)));
    const criteria = { filterCriteria: [{ field: 'id', operator: 'EQUALS', value: loan }] };
    const found = await tenant.must(200, 'POST', '/loans:search?detailsLevel=FULL', criteria);
    const [account, schedule, balances, transactions, events] = answers;
    if (account?.status === 200) expect(found.text, 'search').to.equal(`[${account.text}]`);
    return {
      refusals,
      texts: answers.map(({ text }) => withoutNames(text, way)),
      loan: account?.body,
      schedule: schedule?.body['installments'],
      balances: balances?.body,
      transactions: transactions?.body,
      events: (events?.body['items'] as Json[] | undefined) ?? [],
    };
  }

  for (const [number, example] of [...examples, ...moneyExamples].entries()) {
    it(example.sentence, async () => {
      if (example.holidays !== undefined) {
        await tenant.must(200, 'PUT', '/organization/holidays', { holidays: example.holidays });
      }
      const wanted = { ...allTogglesOff, ...example.toggles };
      for (const name of toggleNames.filter((each) => wanted[each] !== toggles[each])) {
        await tenant.must(200, 'PUT', `/toggles/${name}`, { enabled: wanted[name] });
      }
      toggles = wanted;
      const [overRest, asCommands] = await Promise.all([
        told(example, number, 'REST'),
        told(example, number, 'command'),
      ]);
      expect(asCommands.refusals, 'refused').to.deep.equal(overRest.refusals);
      expect(overRest.refusals, 'refused').to.deep.equal(example.refused === undefined ? [] : [example.refused]);
      for (const [index, text] of overRest.texts.entries()) {
        expect(JSON.parse(asCommands.texts[index] ?? '')).to.deep.equal(JSON.parse(text));
      }
      for (const [path, value] of Object.entries(example.shows ?? {})) {
        expect(overRest, path).to.have.nested.property(path).that.deep.equals(value);
      }
      for (const [type, expected] of Object.entries(example.tells ?? {})) {
        const last = overRest.events.findLast(({ metadata }) => (metadata as Json)['event_type'] === type);
        for (const [path, value] of Object.entries(expected)) {
          expect(last, `${type} ${path}`).to.have.nested.property(path).that.deep.equals(value);
        }
      }
      for (const name of example.hasNo ?? []) expect(JSON.stringify(overRest.balances)).not.to.contain(`"${name}"`);
    });
  }
});
