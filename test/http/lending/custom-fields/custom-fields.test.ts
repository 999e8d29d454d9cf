import { expect } from 'chai';
import { describe, it } from 'mocha';
import { type HttpResponse, call } from '../../../support/http/client.ts';
import { lendingServiceForSuite } from '../lending-service.ts';

describe('definitions of custom fields over HTTP', () => {
  const running = lendingServiceForSuite();
  const send = (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<HttpResponse> => call(`${running.service.url}${path}`, method, body, headers);
  const get = async (path: string): Promise<Record<string, unknown>> => (await running.service.get(path)).body;
  const errorsOf = ({ body }: HttpResponse): string[] =>
    (body['errors'] as { errorReason: string; errorSource: string }[]).map(
      ({ errorReason, errorSource }) => `${errorReason} ${errorSource}`,
    );
  const done = async (answer: Promise<HttpResponse>, status: number): Promise<Record<string, unknown>> => {
    const { status: given, text, body } = await answer;
    expect(given, text).to.equal(status);
    return body;
  };
  const define = (id: string, availableFor: string, fieldSetType = 'STANDARD') =>
    done(
      send('POST', '/customfieldsets', { id, availableFor, fieldSetType, displaySettings: { displayName: id } }),
      201,
    );
  const field = (set: string, id: string, more: object) =>
    send('POST', `/customfieldsets/${set}/customfields`, { id, displaySettings: { displayName: id }, ...more });
  const open = (id: string, more: object) =>
    send('POST', '/loans', { id, productTypeKey: 'annuity', loanAmount: 1000, ...more });

  it('takes every set until one is defined', async () => {
    await running.openActive('before');
    await done(send('PATCH', '/loans/before', [{ op: 'ADD', path: '/_any/thing', value: 'x' }]), 204);
  });

  it('defines sets and fields, shows and lists them', async () => {
    const set = await define('_loan', 'LOAN_ACCOUNT');
    expect(set).to.deep.include({
      id: '_loan',
      availableFor: 'LOAN_ACCOUNT',
      fieldSetType: 'STANDARD',
      customFields: [],
    });
    await define('_rows', 'LOAN_ACCOUNT', 'GROUPED');
    await define('_pay', 'TRANSACTION_TYPE');
    const purpose = await done(
      field('_loan', 'purpose', { type: 'SELECTION', selectionOptions: [{ availableOptions: [{ value: 'CAR' }] }] }),
      201,
    );
    await done(field('_loan', 'score', { type: 'NUMBER', usage: [{ objectKey: 'annuity' }] }), 201);
    await done(field('_rows', 'day', { type: 'DATE' }), 201);
    await done(
      field('_pay', 'reason', { type: 'FREE_TEXT', usage: [{ objectKey: 'REPAYMENT', required: true }] }),
      201,
    );
    expect(await get('/customfields/purpose')).to.deep.equal(purpose);
    expect(await get(`/customfields/${String(purpose['encodedKey'])}`)).to.deep.equal(purpose);
    expect((await get('/customfieldsets/_loan'))['customFields']).to.have.length(2);
    const ids = async (path: string) => ((await get(path)) as unknown as { id: string }[]).map(({ id }) => id);
    expect(await ids('/customfieldsets?availableFor=LOAN_ACCOUNT')).to.deep.equal(['_loan', '_rows']);
    expect(await ids('/customfieldsets?availableFor=CLIENT')).to.deep.equal([]);
    expect(await ids('/customfieldsets?builtIn=true')).to.deep.equal([]);
    expect(await ids('/customfieldsets?offset=1&limit=1')).to.deep.equal(['_pay']);
    expect(await ids('/customfieldsets/_loan/customfields')).to.deep.equal(['purpose', 'score']);
    const page = await running.service.get('/customfieldsets/_loan/customfields?limit=1&paginationDetails=ON');
    expect(page.headers.get('items-total')).to.equal('2');
    for (const path of ['/customfieldsets/_none', '/customfieldsets/_none/customfields', '/customfields/none']) {
      expect((await running.service.get(path)).status, path).to.equal(404);
    }
  });

  it('refuses an id that is in use, and makes a definition once under a key', async () => {
    expect(errorsOf(await field('_rows', 'purpose', { type: 'DATE' }))).to.deep.equal(['INVALID_PARAMETERS id']);
    const body = { id: '_once', availableFor: 'ASSET', displaySettings: { displayName: 'Once' } };
    const headers = { 'Idempotency-Key': '7c2a4c22-3e0e-4a3f-9b1e-0a6b6f7f1c11' };
    const first = await send('POST', '/customfieldsets', body, headers);
    const again = await send('POST', '/customfieldsets', body, headers);
    expect([first.status, again.status, again.headers.get('idempotent-replayed')]).to.deep.equal([201, 201, 'true']);
    expect((await send('POST', '/customfieldsets', { ...body, id: '_other' }, headers)).status).to.equal(422);
    expect((await send('POST', '/customfieldsets', body)).status).to.equal(400);
  });

  it('checks what loans and transactions have from then on, and leaves what they had', async () => {
    expect(
      errorsOf(await open('refused', { _any: { a: '1' }, _loan: { purpose: 'BOAT', score: 'x', none: '1' } })),
    ).to.have.members([
      'INVALID_CUSTOM_FIELD_SET_ID _any',
      'INCONSISTENT_VALUE_WITH_CUSTOM_FIELD_TYPE _loan.purpose',
      'INCONSISTENT_VALUE_WITH_CUSTOM_FIELD_TYPE _loan.score',
      'INVALID_CUSTOM_FIELD_ID _loan.none',
    ]);
    const opened = await done(
      open('taken', { _loan: { purpose: 'CAR', score: 7.25 }, _rows: [{ day: '2026-01-31' }] }),
      201,
    );
    expect(opened['_loan']).to.deep.equal({ purpose: 'CAR', score: '7.25' });
    const patch = (operations: unknown) => send('PATCH', '/loans/before', operations);
    await done(patch([{ op: 'ADD', path: '/_loan/score', value: 1 }]), 204);
    expect(errorsOf(await patch([{ op: 'ADD', path: '/_any/thing', value: 'y' }]))).to.deep.equal([
      'INVALID_CUSTOM_FIELD_SET_ID _any',
    ]);
    await done(patch([{ op: 'REMOVE', path: '/_any' }]), 204);
    const repay = (more: object) => send('POST', '/loans/before/repayment-transactions', { amount: 10, ...more });
    expect(errorsOf(await repay({}))).to.deep.equal(['REQUIRED_CUSTOM_FIELD_MISSING _pay.reason']);
    await done(repay({ _pay: { reason: 'salary' } }), 201);
  });

  it('refuses wrong indexes of groups, in bodies and in patches', async () => {
    const row = (_index: unknown) => ({ _index, day: '2026-01-31' });
    expect(errorsOf(await open('groups', { _rows: [row('x')] }))).to.deep.equal([
      'INVALID_CUSTOM_FIELD_GROUP_INDEX _rows[0]._index',
    ]);
    expect(errorsOf(await open('groups', { _rows: [row(0), row(2)] }))).to.deep.equal([
      'GROUPED_INDEXES_NOT_CONSECUTIVE _rows[1]._index',
    ]);
    expect(errorsOf(await open('groups', { _rows: [row(0), row(0)] }))).to.deep.equal([
      'TO_MANY_VALUES_FOR_SAME_GROUPED_CUSTOM_FIELD _rows[1]._index',
    ]);
    const patch = (path: string, value: unknown) => send('PATCH', '/loans/before', [{ op: 'ADD', path, value }]);
    await done(patch('/_rows', [row(0), row(1)]), 204);
    for (const [value, reason] of [
      [row('x'), 'INVALID_CUSTOM_FIELD_GROUP_INDEX'],
      [row(3), 'GROUPED_INDEXES_NOT_CONSECUTIVE'],
      [row(1), 'TO_MANY_VALUES_FOR_SAME_GROUPED_CUSTOM_FIELD'],
    ] as const) {
      expect(errorsOf(await patch('/_rows', [value]))).to.deep.equal([`${reason} /_rows`]);
    }
    await done(patch('/_rows', [row(2)]), 204);
    expect(errorsOf(await patch('/_rows/3/day', '2026-01-31'))).to.deep.equal([
      'INVALID_CUSTOM_FIELD_GROUP_INDEX /_rows/3/day',
    ]);
  });

  it('changes definitions whole and by a patch, but not the type of a field', async () => {
    const before = await get('/customfields/score');
    expect(
      await done(send('PUT', '/customfields/score', { ...before, valueValidationSettings: { maxValue: 5 } }), 200),
    ).to.deep.include({
      valueValidationSettings: { unique: false, maxValue: '5' },
    });
    expect(
      errorsOf(await send('PATCH', '/loans/before', [{ op: 'ADD', path: '/_loan/score', value: 6 }])),
    ).to.deep.equal(['INVALID_PARAMETERS _loan.score']);
    await done(send('PATCH', '/customfields/score', [{ op: 'REPLACE', path: '/state', value: 'INACTIVE' }]), 204);
    expect(
      errorsOf(await send('PATCH', '/loans/before', [{ op: 'ADD', path: '/_loan/score', value: 2 }])),
    ).to.deep.equal(['CUSTOM_FIELD_DEACTIVATED _loan.score']);
    expect(errorsOf(await send('PUT', '/customfields/score', { ...before, type: 'DATE' }))).to.deep.equal([
      'INVALID_PARAMETERS type',
    ]);
    const set = await get('/customfieldsets/_loan');
    expect(await done(send('PUT', '/customfieldsets/_loan', { ...set, description: 'x' }), 200)).to.deep.equal({
      ...set,
      description: 'x',
    });
    await done(send('PATCH', '/customfieldsets/_loan', [{ op: 'REMOVE', path: '/description' }]), 204);
    expect(await get('/customfieldsets/_loan')).to.deep.equal(set);
    expect(errorsOf(await send('PUT', '/customfieldsets/_loan', { ...set, fieldSetType: 'GROUPED' }))).to.deep.equal([
      'INVALID_PARAMETERS fieldSetType',
    ]);
  });

  it('keeps a selection on which another one depends, and lets none depend on itself', async () => {
    const options = [{ forValue: 'CAR', availableOptions: [{ value: 'BMW' }] }];
    await done(
      field('_loan', 'make', { type: 'SELECTION', dependentFieldKey: 'purpose', selectionOptions: options }),
      201,
    );
    expect(errorsOf(await send('DELETE', '/customfields/purpose'))).to.deep.equal(['INVALID_PARAMETERS customfieldId']);
    const purpose = await get('/customfields/purpose');
    const circle = {
      ...purpose,
      dependentFieldKey: 'make',
      selectionOptions: [{ forValue: 'BMW', availableOptions: [{ value: 'CAR' }] }],
    };
    expect(errorsOf(await send('PUT', '/customfields/purpose', circle))).to.deep.equal([
      'INVALID_PARAMETERS dependentFieldKey',
    ]);
    await done(open('dependent', { _loan: { purpose: 'CAR', make: 'BMW' } }), 201);
    expect(errorsOf(await open('dependent-2', { _loan: { make: 'BMW' } }))).to.deep.equal([
      'DEPENDENT_CUSTOM_FIELD_VALUE_REQUIRED _loan.make',
    ]);
  });

  it('has the same definitions after a restart', async () => {
    const before = await get('/customfieldsets');
    await running.restart();
    expect(await get('/customfieldsets')).to.deep.equal(before);
    expect(errorsOf(await open('later', { _any: { a: '1' } }))).to.deep.equal(['INVALID_CUSTOM_FIELD_SET_ID _any']);
  });

  it('deletes fields, and a set once it has none', async () => {
    expect(errorsOf(await send('DELETE', '/customfieldsets/_loan'))).to.deep.equal([
      'INVALID_PARAMETERS customFieldSetId',
    ]);
    for (const path of [
      '/customfields/make',
      '/customfields/purpose',
      '/customfields/score',
      '/customfieldsets/_loan',
    ]) {
      expect((await send('DELETE', path)).status, path).to.equal(204);
      expect((await send('DELETE', path)).status, path).to.equal(404);
    }
    expect((await get('/loans/taken?detailsLevel=FULL'))['_loan']).to.deep.equal({ purpose: 'CAR', score: '7.25' });
  });
});
