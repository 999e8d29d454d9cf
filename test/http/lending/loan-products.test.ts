import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { annuityProduct } from '../../../src/admin/example-product.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';
import { tenantProduct } from '../../lending-format/tenant-product.ts';
import { startLendingService, type LendingService } from './lending-service.ts';

type Json = Record<string, unknown>;

const replace = (path: string, value: unknown): Json => ({ op: 'REPLACE', path, value });

describe('the loan products of the API', () => {
  let folder: string;
  let service: LendingService;

  before(async () => {
    folder = await temporaryFolder();
    service = await startLendingService(folder);
    expect((await service.post('/loanproducts', annuityProduct('p'))).status).to.equal(201);
    expect((await service.post('/loans', { id: 'before', productTypeKey: 'p', loanAmount: 1000 })).status).to.equal(
      201,
    );
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  const send = (method: string, body: unknown, product = 'p', key?: string): Promise<Response> =>
    fetch(`${service.url}/loanproducts/${product}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      headers: { 'Content-Type': 'application/json', ...(key === undefined ? {} : { 'Idempotency-Key': key }) },
    });
  const patch = (operations: unknown, key?: string, product = 'p'): Promise<Response> =>
    send('PATCH', operations, product, key);
  const shown = async (product = 'p'): Promise<Json> => (await service.get(`/loanproducts/${product}`)).body;
  const firstError = async (response: Response): Promise<Json> =>
    ((await response.json()) as { errors: Json[] }).errors[0] ?? {};
  const open = async (id: string): Promise<unknown> => {
    const response = await service.post('/loans', { id, productTypeKey: 'p', loanAmount: 1000 });
    return response.status === 201 ? 201 : (response.body['errors'] as Json[])[0]?.['errorReason'];
  };

  it('allow no new account when they are inactive, and leave existing accounts unchanged', async () => {
    const response = await patch([replace('/state', 'INACTIVE')]);
    expect([response.status, await response.text()]).to.deep.equal([204, '']);
    expect((await shown())['state']).to.equal('INACTIVE');
    expect(await open('after')).to.equal('LOAN_PRODUCT_NOT_ACTIVE');
    expect((await service.post('/loans/before:changeState', { action: 'APPROVE' })).status).to.equal(200);
    const paidOut = await service.post('/loans/before/disbursement-transactions', { valueDate: '2026-01-15' });
    expect(paidOut.status, paidOut.text).to.equal(201);
  });

  it('can be patched under the encodedKey too', async () => {
    const { encodedKey } = await shown();
    expect((await patch([replace('state', 'ACTIVE')], undefined, String(encodedKey))).status).to.equal(204);
    expect(await open('again')).to.equal(201);
  });

  it('are changed once under one Idempotency-Key, on a process that never received the request', async () => {
    expect((await patch([replace('/state', 'INACTIVE')], 'once')).status).to.equal(204);
    expect((await patch([replace('/state', 'ACTIVE')], 'other')).status).to.equal(204);
    await service.stop();
    service = await startLendingService(folder);
    const again = await patch([replace('/state', 'INACTIVE')], 'once');
    expect([again.status, again.headers.get('idempotent-replayed')]).to.deep.equal([204, 'true']);
    expect((await shown())['state']).to.equal('ACTIVE');
  });

  it('take both of two patches that are sent at once', async () => {
    const before = await shown();
    const patches = ['name', 'notes'].map((field) => patch([replace(field, `${field} at once`)]));
    expect((await Promise.all(patches)).map(({ status }) => status)).to.deep.equal([204, 204]);
    const both = { name: 'name at once', notes: 'notes at once', version: Number(before['version']) + 2 };
    expect(await shown()).to.include(both);
  });

  it('give their new terms to new accounts only', async () => {
    const operations = [
      { op: 'replace', path: 'scheduleSettings/scheduleDueDatesMethod', value: 'FIXED_DAYS_OF_MONTH' },
      { op: 'add', path: '/scheduleSettings/fixedDaysOfMonth', value: [5] },
      replace('/interestSettings/indexRateSettings/interestRate/defaultValue', 12),
    ];
    expect((await patch(operations)).status).to.equal(204);
    expect((await patch([replace('/notes', 'still possible')])).status).to.equal(204);
    expect(await open('later')).to.equal(201);
    const rate = async (id: string): Promise<unknown> =>
      ((await service.get(`/loans/${id}`)).body['interestSettings'] as Json)['interestRate'];
    expect([await rate('before'), await rate('later')]).to.deep.equal([10, 12]);
  });

  it('give accounts that are opened without an id one in the form of their pattern, the same for one request', async () => {
    expect((await patch([replace('/newAccountSettings/idPattern', 'L-@@@@###')])).status).to.equal(204);
    const openWithoutId = async (key: string): Promise<unknown> => {
      const response = await fetch(`${service.url}/loans`, {
        method: 'POST',
        body: JSON.stringify({ productTypeKey: 'p', loanAmount: 1000 }),
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
      });
      expect(response.status).to.equal(201);
      return ((await response.json()) as Json)['id'];
    };
    const [first, second] = [await openWithoutId('first'), await openWithoutId('second')];
    expect(first).to.match(/^L-[A-Z]{4}\d{3}$/);
    expect(second).to.match(/^L-[A-Z]{4}\d{3}$/);
    expect(second).not.to.equal(first);
    expect(await openWithoutId('first')).to.equal(first);
  });

  it('name the operation that cannot be done, and stay as they were', async () => {
    const before = await shown();
    const response = await patch([replace('/name', 'x'), { op: 'REMOVE', path: '/nothing' }]);
    expect(response.status).to.equal(400);
    expect(await firstError(response)).to.deep.equal({
      errorCode: 4,
      errorReason: 'INVALID_PARAMETERS',
      errorSource: '[1]/nothing',
      errorMessage: 'Operation 1, path: There is nothing at this path.',
    });
    expect((await patch([{ op: 'COPY', path: '/name' }])).status).to.equal(400);
    expect((await patch({ name: 'x' })).status).to.equal(400);
    expect(await shown()).to.deep.equal(before);
    expect((await patch([replace('/state', 'INACTIVE')], undefined, 'missing')).status).to.equal(404);
    expect((await send('PUT', annuityProduct('missing'), 'missing')).status).to.equal(404);
    expect((await send('DELETE', undefined, 'missing')).status).to.equal(404);
    expect((await send('POST', {})).status).to.equal(405);
  });

  it('take back what GET shows, and refuse it once they were changed', async () => {
    expect((await service.post('/loanproducts/', tenantProduct('tenant'))).status).to.equal(201);
    const first = await shown('tenant');
    const unchanged = await send('PUT', first, 'tenant');
    expect([unchanged.status, await unchanged.json()]).to.deep.equal([200, first]);
    const response = await send('PUT', { ...first, name: 'Renamed' }, 'tenant');
    const second = (await response.json()) as Json;
    expect([response.status, second['name'], second['version']]).to.deep.equal([200, 'Renamed', 2]);
    expect(await shown('tenant')).to.deep.equal(second);
    const stale = await send('PUT', first, 'tenant');
    expect([stale.status, (await firstError(stale))['errorSource']]).to.deep.equal([400, 'version']);
  });

  it('are deleted while they have no account, and can be created again', async () => {
    expect((await service.post('/loanproducts', annuityProduct('short'))).status).to.equal(201);
    const response = await send('DELETE', undefined, 'short');
    expect([response.status, await response.text()]).to.deep.equal([204, '']);
    expect((await service.get('/loanproducts/short')).status).to.equal(404);
    expect((await service.post('/loanproducts', annuityProduct('short'))).status).to.equal(201);
    const used = await send('DELETE', undefined);
    expect(used.status).to.equal(400);
    expect(await firstError(used)).to.include({
      errorSource: 'loanProductId',
      errorMessage: 'Accounts were opened under the product. It can be made INACTIVE, and not be deleted.',
    });
  });

  it('are listed by pages in the order that the request names', async () => {
    const list = async (query: string): Promise<unknown> => {
      const { status, body } = await service.get(`/loanproducts?${query}`);
      return status === 200 ? (body as unknown as Json[]).map(({ id }) => id) : status;
    };
    expect(await list('')).to.deep.equal(['p', 'short', 'tenant']);
    expect(await list('sortBy=id:DESC&limit=2&detailsLevel=FULL')).to.deep.equal(['tenant', 'short']);
    expect(await list('sortBy=id:ASC&offset=1&limit=1')).to.deep.equal(['short']);
    expect(await list('sortBy=creationDate:ASC')).to.deep.equal(['p', 'tenant', 'short']);
    expect(await list('sortBy=lastModifiedDate:DESC,id')).to.deep.equal(['short', 'tenant', 'p']);
    expect(await list('sortBy=productName:ASC')).to.deep.equal(await list('sortBy=name'));
    for (const query of ['sortBy=notes', 'state=ACTIVE', 'detailsLevel=ALL', 'limit=0']) {
      expect(await list(query), query).to.equal(400);
    }
  });
});
