import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { annuityProduct } from '../../../src/admin/example-product.ts';
import { type HttpResponse, call } from '../../support/http/client.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';
import { type LendingService, startLendingService } from './lending-service.ts';

const [first, second, third] = [1, 2, 3].map((version) => `application/vnd.mambu.v${version}+json`) as [
  string,
  string,
  string,
];

describe('the version of the lending API', () => {
  let folder: string;
  let service: LendingService;
  before(async () => {
    folder = await temporaryFolder();
    service = await startLendingService(folder);
  });
  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  const send = (method: string, path: string, headers: Record<string, string>, body?: unknown): Promise<HttpResponse> =>
    call(`${service.url}${path}`, method, body, headers);

  const errorsOf = ({ body }: HttpResponse): unknown => body['errors'];
  const refusalOf = (source: string): unknown => [
    { errorCode: 3, errorReason: 'INVALID_API_OPERATION', errorSource: source },
  ];
  const notAnswered = refusalOf(`Accept: the lending API answers in version 2 (${second}) and in no other.`);

  const accepted = [
    second,
    second.toUpperCase(),
    `${second}; charset=utf-8`,
    '*/*',
    'application/*',
    'application/json',
    'application/json;q=0.1',
    'text/html',
    '',
    `${first}, ${second}`,
    `${first}, application/json`,
    `${first}, */*;q=0.1`,
    `${first};q=0`,
    `${first};q=0.000, text/html`,
    'application/vnd.mambu+json',
    'application/vnd.other.v1+json',
  ];
  for (const accept of accepted) {
    it(`is served to a client with Accept: ${accept}`, async () => {
      const response = await send('GET', '/loans', { Accept: accept });
      expect([response.status, response.body]).to.deep.equal([200, []]);
      expect(response.headers.get('content-type')).to.match(/^application\/json/);
    });
  }

  const refused = [
    first,
    third,
    'application/vnd.mambu.v20+json',
    'APPLICATION/VND.MAMBU.V1+JSON; charset=utf-8',
    `${first}, ${third};q=0.5`,
    `${first}, text/html`,
    `${first}, ${second};q=0`,
    `${first}, */*;q=0.0`,
  ];
  for (const accept of refused) {
    it(`is refused to a client with Accept: ${accept}`, async () => {
      for (const path of ['/loans', '/api/loans', '/loans/none/schedule', '/api/nowhere', '/toggles']) {
        const response = await send('GET', path, { Accept: accept });
        expect([response.status, errorsOf(response)], path).to.deep.equal([406, notAnswered]);
      }
    });
  }

  it('is asked before a command is done', async () => {
    const product = annuityProduct('versions');
    const headers = { 'Idempotency-Key': 'once' };
    const other = await send('POST', '/loanproducts', { ...headers, Accept: first }, product);
    expect([other.status, errorsOf(other)]).to.deep.equal([406, notAnswered]);
    expect((await service.get('/loanproducts/versions')).status).to.equal(404);
    const done = await send('POST', '/loanproducts', { ...headers, Accept: second }, product);
    expect(done.status, done.text).to.equal(201);
    expect(done.headers.get('idempotent-replayed')).to.equal(null);
  });

  it('is that of a body too', async () => {
    const state = { enabled: false };
    const path = '/api/toggles/PRINCIPAL_OVERPAYMENT';
    for (const type of [second, 'application/json', 'text/plain', `${second}; charset=utf-8`]) {
      expect((await send('PUT', path, { 'Content-Type': type }, state)).status, type).to.equal(200);
    }
    for (const type of [first, `${third.toUpperCase()};charset=utf-8`]) {
      const response = await send('PUT', path, { 'Content-Type': type }, state);
      const source = `Content-Type: the lending API reads bodies of version 2 (${second}) and of no other.`;
      expect([response.status, errorsOf(response)], type).to.deep.equal([415, refusalOf(source)]);
      expect((await send('GET', path, { 'Content-Type': type })).status).to.equal(200);
    }
  });
});

describe('the first version of pricing', () => {
  let folder: string;
  let service: LendingService;
  before(async () => {
    folder = await temporaryFolder();
    service = await startLendingService(folder, false);
  });
  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  it('is gone for every request, which names the repayments of version 2', async () => {
    const paths = ['/pricing/v1', '/pricing/v1/', '/pricing/v1/repayments', '/api/pricing/v1/loans/x:calculate?y=1'];
    for (const path of paths) {
      for (const [method, body] of [['GET'], ['POST', {}], ['PUT', {}], ['PATCH', []], ['DELETE']] as const) {
        const headers = { Accept: 'application/vnd.mambu.v1+json' };
        const response = await call(`${service.url}${path}`, method, body, headers);
        expect(response.status, `${method} ${path}`).to.equal(410);
        const source =
          'The endpoints of Pricing V1 are decommissioned. Use the repayments of API V2: ' +
          'POST /loans/{loanAccountId}/repayment-transactions.';
        expect(response.body).to.deep.equal({
          errors: [{ errorCode: 3, errorReason: 'INVALID_API_OPERATION', errorSource: source }],
        });
      }
    }
  });

  it('is no other path', async () => {
    for (const path of ['/pricing', '/pricing/v2', '/pricing/v10/x', '/api/pricing/v2/x']) {
      const response = await call(`${service.url}${path}`, 'GET');
      const [error] = response.body['errors'] as Record<string, unknown>[];
      expect([response.status, error?.['errorReason']], path).to.deep.equal([404, 'INVALID_API_OPERATION']);
    }
    for (const path of ['/Pricing/v1', '/pricings/v1']) {
      expect((await call(`${service.url}${path}`, 'GET')).body['title'], path).to.equal('Not Found');
    }
  });
});
