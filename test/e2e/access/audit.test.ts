import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { createKey } from '../../support/access/created-key.ts';
import { clusterUnderTest } from '../../support/backend-under-test.ts';
import { eventTypeBody, exampleMetadata } from '../../support/broker-on-embedded-log.ts';
import { eventually } from '../../support/eventually.ts';
import { call, type HttpResponse } from '../../support/http/client.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../../support/processes/service.ts';

const administrator = 'the-key-of-an-administrator';

const visibleMillisecondsMaximum = 45_000;

/**
 * How long a loan command may wait: where another test has killed a process that decides, Kafka gives its partitions to
 * the others after some time.
 */
const decisionSecondsMaximum = 45;

interface AuditRecord {
  readonly metadata: { readonly flow_id: string };
  readonly stage: string;
  readonly request_id: string;
  readonly who: { readonly name: string; readonly application: string | null; readonly credential: string } | null;
  readonly from: string | null;
  readonly operation: string | null;
  readonly subject: { readonly kind: string; readonly name: string | null } | null;
  readonly status?: number;
  readonly outcome?: string;
  readonly command_id?: string;
  readonly command_types?: Readonly<Record<string, number>>;
  readonly count?: number;
  readonly before?: Readonly<Record<string, unknown>> | null;
  readonly after?: Readonly<Record<string, unknown>> | null;
}

describe('the audit of a service', function () {
  this.timeout(60_000);
  let folder: string;
  let service: Service;
  let startedAt: Date;
  let requests = 0;

  before(async () => {
    folder = await temporaryFolder();
    startedAt = new Date();
    service = await startService(folder, { API_KEYS: administrator, ...clusterUnderTest() });
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  interface Sent extends HttpResponse {
    readonly flowId: string;
  }

  async function send(key: string, method: string, path: string, body?: unknown): Promise<Sent> {
    requests += 1;
    const flowId = `audit-${process.pid}-${requests}`;
    const headers = { apikey: key, 'X-Flow-Id': flowId, Prefer: `wait=${decisionSecondsMaximum}` };
    return { ...(await call(`${service.url}${path}`, method, body, headers)), flowId };
  }

  /**
   * The records of a request, when its last one is there: on a cluster that others use, a process that was killed in
   * the middle of a record keeps what came later from readers until its transaction ends.
   */
  async function recordsOf(flowId: string): Promise<AuditRecord[]> {
    let records: AuditRecord[] = [];
    await eventually(async () => {
      records = await recordsWhere(`&flow_id=${flowId}`);
      return ['finished', 'refused'].includes(records.at(-1)?.stage ?? '');
    }, visibleMillisecondsMaximum);
    return records;
  }

  /** Those since this test began: its cluster has those of others as well. */
  const allRecords = (): Promise<AuditRecord[]> => recordsWhere('');

  async function recordsWhere(condition: string): Promise<AuditRecord[]> {
    const records: AuditRecord[] = [];
    let position = `from=${startedAt.toISOString()}`;
    // A page searches for two seconds at most, which are over soon on a busy machine.
    for (;;) {
      const path = `/event-types/lendstream.audit/retained-events?limit=1000${condition}&${position}`;
      const { status, body, text } = await send(administrator, 'GET', path);
      expect(status, text).to.equal(200);
      records.push(...(body['items'] as { readonly event: AuditRecord }[]).map(({ event }) => event));
      if (body['ended_by'] === 'end') return records;
      position = `token=${String(body['next'])}`;
    }
  }

  async function keyWith(scopes: readonly string[]): Promise<{ readonly name: string; readonly key: string }> {
    requests += 1;
    const name = `audited-${process.pid}-${requests}`;
    const { key } = await createKey(service.url, administrator, { name, owning_application: 'shop', scopes });
    return { name, key };
  }

  it('says who changed a definition, from where, and what it was before and after', async () => {
    const { name, key } = await keyWith(['producer']);
    const type = `audited-${process.pid}`;
    const definition = { ...eventTypeBody(type), owning_application: 'shop' };
    const created = await send(key, 'POST', '/event-types', definition);
    expect(created.status, created.text).to.equal(201);
    const [started, finished] = await recordsOf(created.flowId);
    const who = { name, application: 'shop', credential: 'api-key' };
    expect([started?.stage, started?.who, started?.from, started?.operation]).to.deep.equal([
      'started',
      who,
      '127.0.0.1',
      'createEventType',
    ]);
    expect([finished?.stage, finished?.who, finished?.request_id]).to.deep.equal([
      'finished',
      who,
      started?.request_id,
    ]);
    expect(finished?.subject).to.deep.equal({ kind: 'event-type', name: type });
    expect([finished?.status, finished?.outcome, finished?.before]).to.deep.equal([201, 'done', null]);
    expect(finished?.after?.['name']).to.equal(type);
    const changed = await send(key, 'PUT', `/event-types/${type}`, { ...definition, audience: 'company-internal' });
    expect(changed.status, changed.text).to.equal(200);
    const [, change] = await recordsOf(changed.flowId);
    expect([change?.before?.['audience'], change?.after?.['audience']]).to.deep.equal([null, 'company-internal']);
    const removed = await send(key, 'DELETE', `/event-types/${type}`);
    const [, removal] = await recordsOf(removed.flowId);
    expect([removal?.before?.['name'], removal?.after]).to.deep.equal([type, null]);
  });

  it('tells of a refused change, which changed nothing', async () => {
    const { flowId, status } = await send(administrator, 'DELETE', '/event-types/unknown-to-all');
    const records = await recordsOf(flowId);
    expect(status).to.equal(404);
    expect(records.map((each) => [each.stage, each.status, each.outcome])).to.deep.equal([
      ['started', undefined, undefined],
      ['finished', 404, 'refused'],
    ]);
  });

  it('shows neither keys nor their digests', async () => {
    const { name, key } = await keyWith(['consumer']);
    const revoked = await send(administrator, 'DELETE', `/api-keys/${name}`);
    const records = await recordsOf(revoked.flowId);
    const text = JSON.stringify(await allRecords());
    expect(records.at(-1)?.before).to.include({ name, owning_application: 'shop' });
    expect(JSON.stringify(records)).to.not.contain('digest');
    expect(text).to.not.contain(key.slice(12));
  });

  it('has the cursors before and after they were reset', async () => {
    const type = `reset-${process.pid}`;
    await send(administrator, 'POST', '/event-types', eventTypeBody(type));
    await send(administrator, 'POST', `/event-types/${type}/events`, [{ metadata: exampleMetadata() }]);
    const subscribed = await send(administrator, 'POST', '/subscriptions', {
      owning_application: 'shop',
      event_types: [type],
      read_from: 'end',
    });
    const id = String(subscribed.body['id']);
    const [, creation] = await recordsOf(subscribed.flowId);
    expect([creation?.subject, creation?.before]).to.deep.equal([{ kind: 'subscription', name: id }, null]);
    const cursors = [{ event_type: type, partition: '0', offset: 'BEGIN' }];
    const reset = await send(administrator, 'PATCH', `/subscriptions/${id}/cursors`, { items: cursors });
    expect(reset.status, reset.text).to.equal(204);
    const [, record] = await recordsOf(reset.flowId);
    expect(record?.subject).to.deep.equal({ kind: 'cursors', name: id });
    expect(JSON.stringify(record?.after)).to.contain(`"eventType":"${type}"`);
    expect(JSON.stringify(record?.after)).to.contain('"offset":-1');
  });

  it('has each loan command once, without what its body says', async () => {
    const body = { amount: 12.34, notes: 'a secret note' };
    const { flowId, status } = await send(administrator, 'POST', '/loans/no-such-loan/repayment-transactions', body);
    const records = await recordsOf(flowId);
    expect(status).to.equal(404);
    expect(records.map((each) => [each.stage, each.operation, each.subject, each.status])).to.deep.equal([
      ['finished', 'repayLoan', { kind: 'loan', name: 'no-such-loan' }, 404],
    ]);
    expect(records[0]?.command_id).to.match(/^[0-9a-f-]{36}$/);
    expect(JSON.stringify(records)).to.not.contain('secret').and.not.contain('12.34');
    const command = { metadata: exampleMetadata(), type: 'LOCK', loanAccountId: 'no-such-loan', payload: {} };
    const published = await send(administrator, 'POST', '/event-types/lendstream.loan-commands/events', [command]);
    const [batch] = await recordsOf(published.flowId);
    expect([batch?.operation, batch?.subject?.name, batch?.status]).to.deep.equal([
      'publishEvents',
      'lendstream.loan-commands',
      published.status,
    ]);
  });

  it('names what is to be created before it is, and when it is refused', async () => {
    const id = `created-${process.pid}`;
    const product = {
      id,
      name: 'Annuity',
      type: 'FIXED_TERM_LOAN',
      currency: { code: 'EUR' },
      scheduleSettings: { numInstallments: { defaultValue: 4 } },
    };
    const key = { name: id, owning_application: 'shop', scopes: ['consumer'] };
    const identity = { owning_application: 'shop', event_types: [id], id: 'chosen-by-nobody' };
    const creations: [path: string, body: unknown, name: string, status: number][] = [
      ['/event-types', eventTypeBody(id), id, 201],
      ['/event-types', eventTypeBody(id), id, 409],
      ['/event-types', { ...eventTypeBody(id), name: '' }, '', 422],
      ['/api-keys', key, id, 201],
      ['/api-keys', { ...key, scopes: ['unknown'] }, id, 422],
      ['/loanproducts', product, id, 201],
      ['/branches', { id, name: 'Branch' }, id, 201],
      [
        '/settings/features',
        { feature: 'disable_subscription_creation', enabled: false },
        'disable_subscription_creation',
        204,
      ],
    ];
    for (const [path, body, name, status] of creations) {
      const sent = await send(administrator, 'POST', path, body);
      expect(sent.status, `${path} ${sent.text}`).to.equal(status);
      const records = await recordsOf(sent.flowId);
      expect(
        records.map((each) => [each.stage, each.subject?.name]),
        path,
      ).to.deep.equal([
        ['started', name],
        ['finished', name],
      ]);
      if (status === 201) expect([records[0]?.before, records[1]?.before], path).to.deep.equal([null, null]);
    }
    // Its id follows from its identity, and is known before.
    const subscribed = await send(administrator, 'POST', '/subscriptions', identity);
    const again = await send(administrator, 'POST', '/api/v1/subscriptions', identity);
    const names = [...(await recordsOf(subscribed.flowId)), ...(await recordsOf(again.flowId))].map(
      ({ subject }) => subject?.name,
    );
    expect([subscribed.status, again.status, ...new Set(names)]).to.deep.equal([201, 200, subscribed.body['id']]);
  });

  it('has no name of a creation whose body says none or cannot be read, which its handler refuses', async () => {
    for (const [body, status] of [
      ['{', 400],
      ['[]', 400],
      [`{"name":${'['.repeat(300)}`, 400],
      [`{"name":"${'x'.repeat(8 * 1024 * 1024)}"}`, 413],
    ] as const) {
      const sent = await send(administrator, 'POST', '/event-types', body);
      expect(sent.status, sent.text).to.equal(status);
      const records = await recordsOf(sent.flowId);
      expect(records.map((each) => [each.stage, each.subject?.name, each.status])).to.deep.equal([
        ['started', null, undefined],
        ['finished', null, status],
      ]);
    }
  });

  it('counts the types of commands that were published together, without those that were refused', async () => {
    const command = (type: string, payload: unknown = {}): unknown => ({
      metadata: exampleMetadata(),
      type,
      loanAccountId: 'no-such-loan',
      payload,
    });
    const path = '/event-types/lendstream.loan-commands/events';
    const commands = [command('LOCK'), command('UNLOCK'), command('LOCK'), command('REPAY', { amount: 12.34 })];
    const stored = await send(administrator, 'POST', path, commands);
    expect(stored.status, stored.text).to.equal(200);
    const [record] = await recordsOf(stored.flowId);
    expect(record?.command_types).to.deep.equal({ LOCK: 2, UNLOCK: 1, REPAY: 1 });
    const refused = await send(administrator, 'POST', path, [command('LOCK'), command('NO_COMMAND')]);
    expect(refused.status, refused.text).to.equal(422);
    const [refusal] = await recordsOf(refused.flowId);
    expect([refusal?.status, refusal?.command_types]).to.deep.equal([422, {}]);
  });

  it('has no record of what changes nothing', async () => {
    const looked = [
      await send(administrator, 'GET', '/event-types'),
      await send(administrator, 'POST', '/loans:search', { filterCriteria: [] }),
      await send(administrator, 'POST', '/event-types/reset/cursors-lag', []),
    ];
    for (const { flowId } of looked) expect(await recordsWhere(`&flow_id=${flowId}`)).to.deep.equal([]);
  });

  it('counts refusals of access, of one sender in a record', async () => {
    const { name, key } = await keyWith(['consumer']);
    const refusals = 30;
    const sent = Array.from({ length: refusals }, async (_, at) =>
      at % 2 === 0 ? send(key, 'GET', '/api-keys') : send('a-key-that-nobody-has', 'GET', '/api-keys'),
    );
    expect((await Promise.all(sent)).map(({ status }) => status)).to.include.members([401, 403]);
    let refused: AuditRecord[] = [];
    await eventually(async () => {
      refused = (await allRecords()).filter(
        ({ stage, operation }) => stage === 'refused' && operation === 'listApiKeys',
      );
      return refused.reduce((total, { count = 0 }) => total + count, 0) >= refusals;
    });
    expect(refused.length).to.be.lessThan(8);
    const forbidden = refused.find(({ status }) => status === 403);
    expect([forbidden?.who?.name, forbidden?.operation]).to.deep.equal([name, 'listApiKeys']);
    expect(refused.find(({ status }) => status === 401)?.who).to.equal(null);
  });

  it('is read with a permission of its own, and written by no client', async () => {
    const [auditor, consumer] = [await keyWith(['auditor']), await keyWith(['consumer'])];
    const path = '/event-types/lendstream.audit';
    const identity = {
      owning_application: 'shop',
      event_types: ['lendstream.audit'],
      consumer_group: `auditor-${process.pid}`,
      read_from: 'begin',
    };
    const stream = `${path}/events?stream_limit=1&batch_limit=1`;
    for (const each of [`${path}/retained-events`, `${path}/partitions/0/events`, stream]) {
      expect((await send(auditor.key, 'GET', each)).status, each).to.equal(200);
      expect((await send(consumer.key, 'GET', each)).status, each).to.equal(403);
    }
    expect((await send(auditor.key, 'POST', '/subscriptions', identity)).status).to.equal(201);
    expect(
      (await send(consumer.key, 'POST', '/subscriptions', { ...identity, consumer_group: 'other' })).status,
    ).to.equal(403);
    expect((await send(auditor.key, 'GET', '/event-types/loan_state_changed/retained-events')).status).to.equal(403);
    const definition = { ...eventTypeBody('lendstream.audit'), owning_application: 'lendstream' };
    const attempts: [method: string, path: string, body?: unknown][] = [
      ['POST', `${path}/events`, [{ metadata: exampleMetadata() }]],
      ['POST', `${path}/deleted-events`, [{ metadata: exampleMetadata() }]],
      ['PUT', path, definition],
      ['PUT', `${path}/partition-count`, { partition_count: 20 }],
      ['POST', `${path}/schemas`, { type: 'json_schema', schema: '{}' }],
      ['DELETE', path],
    ];
    for (const [method, target, body] of attempts) {
      const { status, text } = await send(administrator, method, target, body);
      expect(status, `${method} ${target} ${text}`).to.be.within(400, 499);
    }
  });
});
