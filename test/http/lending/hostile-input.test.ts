import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { commandBytesMaximum } from '../../../src/http/lending/command-requests.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';
import { rawResponseTo } from '../../support/http/raw-request.ts';
import { call } from '../../support/http/client.ts';
import { annuityProduct } from '../../../src/admin/example-product.ts';
import { type LendingService, startLendingService } from './lending-service.ts';

/** Invalid requests: each gets an error in the format of the lending API before anything enters the log. */
describe('the lending API with invalid requests', () => {
  let folder: string;
  let service: LendingService;

  before(async () => {
    folder = await temporaryFolder();
    // No worker runs, so a response in time shows that no command was published.
    service = await startLendingService(folder, false);
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  const loan = { productTypeKey: 'annuity', loanAmount: 1000 };
  const deep = `{"notes":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  /** Method, path, body, status, reason, source (a pattern for sentences). */
  const rows: [string, string, unknown, number, string, string | RegExp | null][] = [
    // Bodies.
    ['POST', '/loans', '{"loanAmount": 1000', 400, 'INVALID_PARAMETERS', /cannot be read/],
    ['POST', '/loans', '[]', 400, 'INVALID_PARAMETERS', /not an object/],
    ['POST', '/loans', '"loan"', 400, 'INVALID_PARAMETERS', /not an object/],
    ['POST', '/loans', deep, 400, 'INVALID_PARAMETERS', /nested/],
    ['POST', '/loans', ' '.repeat(commandBytesMaximum + 1), 413, 'INVALID_PARAMETERS', /at most/],
    ['POST', '/loans/X/repayment-transactions', '{"amount": 1, "amount": 2}', 400, 'INVALID_PARAMETERS', null],
    ['POST', '/loans/X/repayment-transactions', '{"amount": NaN}', 400, 'INVALID_PARAMETERS', null],
    // Fields.
    ['POST', '/loans', { ...loan, id: '../etc' }, 400, 'INVALID_PARAMETERS', 'id'],
    ['POST', '/loans', { ...loan, id: 7 }, 400, 'INVALID_PARAMETERS', 'id'],
    ['POST', '/loans', { ...loan, id: 'x'.repeat(65) }, 400, 'INVALID_PARAMETERS', 'id'],
    ['POST', '/loans', { ...loan, loanAmount: '1,000' }, 400, 'INVALID_PARAMETERS', 'loanAmount'],
    ['POST', '/loans', { ...loan, loanAmount: true }, 400, 'INVALID_PARAMETERS', 'loanAmount'],
    ['POST', '/loans', '{"productTypeKey":"a","loanAmount":1234567890123456}', 400, 'INVALID_PARAMETERS', 'loanAmount'],
    ['POST', '/loans', '{"productTypeKey":"a","loanAmount":1e400}', 400, 'INVALID_PARAMETERS', 'loanAmount'],
    ['POST', '/loans', { loanAmount: 1000 }, 400, 'INVALID_PARAMETERS', 'productTypeKey'],
    ['POST', '/loans', { ...loan, loanAmout: 1 }, 400, 'INVALID_PARAMETERS', 'loanAmout'],
    ['POST', '/loans', { ...loan, interestSettings: 5 }, 400, 'INVALID_PARAMETERS', 'interestSettings'],
    ['POST', '/loans/X:changeState', { action: 'EXPLODE' }, 400, 'INVALID_PARAMETERS', 'action'],
    ['POST', '/loans/X:changeState', undefined, 400, 'INVALID_PARAMETERS', 'action'],
    ['POST', '/loans/X/repayment-transactions', {}, 400, 'INVALID_PARAMETERS', 'amount'],
    [
      'POST',
      '/loans/X/repayment-transactions',
      { amount: 1, valueDate: '2011-02-30' },
      400,
      'INVALID_PARAMETERS',
      'valueDate',
    ],
    ['POST', '/loanproducts', { ...annuityProduct('p'), name: 3 }, 400, 'INVALID_PARAMETERS', 'name'],
    ['POST', '/loanproducts', { ...annuityProduct('a/b') }, 400, 'INVALID_PARAMETERS', 'id'],
    // Names.
    ['GET', '/loans/none', undefined, 404, 'INVALID_LOAN_ACCOUNT_ID', 'loanAccountId'],
    ['GET', '/loans/none/schedule', undefined, 404, 'INVALID_LOAN_ACCOUNT_ID', 'loanAccountId'],
    ['GET', '/loans/none/balances', undefined, 404, 'INVALID_LOAN_ACCOUNT_ID', 'loanAccountId'],
    ['GET', '/loans/none/transactions', undefined, 404, 'INVALID_LOAN_ACCOUNT_ID', 'loanAccountId'],
    ['GET', '/loans/a%2F..%2Fb', undefined, 404, 'INVALID_LOAN_ACCOUNT_ID', 'loanAccountId'],
    ['POST', '/loans/a%2Fb:changeState', { action: 'APPROVE' }, 404, 'INVALID_LOAN_ACCOUNT_ID', 'loanAccountId'],
    [
      'POST',
      `/loans/${'x'.repeat(65)}/repayment-transactions`,
      { amount: 1 },
      404,
      'INVALID_LOAN_ACCOUNT_ID',
      'loanAccountId',
    ],
    ['POST', '/loans/transactions/none:adjust', {}, 404, 'INVALID_TRANSACTION_ID', 'transactionId'],
    ['GET', '/loanproducts/none', undefined, 404, 'INVALID_PARAMETERS', 'loanProductId'],
    ['GET', '/commands/none', undefined, 404, 'INVALID_PARAMETERS', 'commandId'],
    ['GET', '/toggles/none', undefined, 404, 'INVALID_PARAMETERS', 'name'],
    ['PUT', '/toggles/none', { enabled: true }, 404, 'INVALID_PARAMETERS', 'name'],
    ['PUT', '/toggles/__proto__', { enabled: true }, 404, 'INVALID_PARAMETERS', 'name'],
    // Toggles.
    ['PUT', '/toggles/PRINCIPAL_OVERPAYMENT', { enabled: 'true' }, 400, 'INVALID_PARAMETERS', 'enabled'],
    ['PUT', '/toggles/PRINCIPAL_OVERPAYMENT', {}, 400, 'INVALID_PARAMETERS', 'enabled'],
    ['PUT', '/toggles/PRINCIPAL_OVERPAYMENT', { enabled: true, since: 1 }, 400, 'INVALID_PARAMETERS', 'since'],
    ['PUT', '/toggles/PRINCIPAL_OVERPAYMENT', 'true', 400, 'INVALID_PARAMETERS', /The body must be/],
    ['PUT', '/toggles/PRINCIPAL_OVERPAYMENT', undefined, 400, 'INVALID_PARAMETERS', /The body must be/],
    // Pages, filters and orders.
    ['GET', '/loans?limit=-1', undefined, 400, 'INVALID_PAGINATION_LIMIT_VALUE', 'limit'],
    ['GET', '/loans?limit=0', undefined, 400, 'INVALID_PAGINATION_LIMIT_VALUE', 'limit'],
    ['GET', '/loans?limit=ten', undefined, 400, 'INVALID_PAGINATION_LIMIT_VALUE', 'limit'],
    ['GET', '/loans?limit=1e2', undefined, 400, 'INVALID_PAGINATION_LIMIT_VALUE', 'limit'],
    ['GET', '/loans?limit=1001', undefined, 400, 'OUT_OF_BOUNDS_PAGINATION_LIMIT_VALUE', 'limit'],
    ['GET', '/loans?offset=-1', undefined, 400, 'INVALID_PAGINATION_OFFSET_VALUE', 'offset'],
    ['GET', '/loans?offset=99999999999999999999', undefined, 400, 'INVALID_PAGINATION_OFFSET_VALUE', 'offset'],
    ['GET', '/loans?paginationDetails=YES', undefined, 400, 'INVALID_PARAMETERS', 'paginationDetails'],
    ['GET', '/loans?accountState=OPEN', undefined, 400, 'INVALID_PARAMETERS', 'accountState'],
    ['GET', '/loans?detailsLevel=ALL', undefined, 400, 'INVALID_PARAMETERS', 'detailsLevel'],
    ['GET', '/loans?sortBy=state', undefined, 400, 'INVALID_PARAMETERS', 'sortBy'],
    ['GET', '/loans?sortBy=loan_id', undefined, 400, 'INVALID_PARAMETERS', 'sortBy'],
    ['GET', '/loans?sortBy=id:UP', undefined, 400, 'INVALID_PARAMETERS', 'sortBy'],
    ['GET', '/loans?sortBy=id:ASC,id:DESC', undefined, 400, 'INVALID_PARAMETERS', 'sortBy'],
    ['GET', '/loans?sortBy=id%20ASC;DROP%20TABLE%20loans', undefined, 400, 'INVALID_PARAMETERS', 'sortBy'],
    ['GET', '/loanproducts?limit=1001', undefined, 400, 'OUT_OF_BOUNDS_PAGINATION_LIMIT_VALUE', 'limit'],
    // Paths and methods.
    ['GET', '/loans/X/fees', undefined, 404, 'INVALID_API_OPERATION', /no resource at \/loans\/X\/fees/],
    ['GET', '/loanproducts/X/loans', undefined, 404, 'INVALID_API_OPERATION', /no resource/],
    ['GET', '/toggles/X/Y', undefined, 404, 'INVALID_API_OPERATION', /no resource/],
    ['POST', '/loans/X:explode', {}, 405, 'INVALID_API_OPERATION', /POST is not supported/],
    ['GET', '/loans/X:changeState', undefined, 405, 'INVALID_API_OPERATION', /GET is not supported/],
    ['PATCH', '/loans/X', {}, 400, 'INVALID_PARAMETERS', /not a list of operations/],
    ['PATCH', '/loans/X', [{ op: 'TEST', path: '/notes' }], 400, 'INVALID_PARAMETERS', '/notes'],
    ['POST', '/loans/X', {}, 405, 'INVALID_API_OPERATION', /POST is not supported/],
    ['DELETE', '/toggles', undefined, 405, 'INVALID_API_OPERATION', /DELETE is not supported/],
    ['GET', '/loans/%E0%A4%A', undefined, 400, 'INVALID_PARAMETERS', /decode/],
  ];
  for (const [method, path, body, status, reason, source] of rows) {
    const shown = body === undefined ? '' : ` ${(typeof body === 'string' ? body : JSON.stringify(body)).slice(0, 60)}`;
    it(`returns ${status} ${reason} for ${method} ${path.slice(0, 60)}${shown}`, async () => {
      const response = await call(`${service.url}${path}`, method, body);
      expect(response.status, response.text).to.equal(status);
      expect(response.headers.get('content-type')).to.match(/^application\/json/);
      const [error] = response.body['errors'] as {
        errorCode: number;
        errorReason: string;
        errorSource: string | null;
      }[];
      expect(error?.errorReason).to.equal(reason);
      expect(error?.errorCode).to.be.a('number');
      if (source instanceof RegExp) expect(error?.errorSource).to.match(source);
      else if (source !== null) expect(error?.errorSource).to.equal(source);
    });
  }

  it('names all invalid fields at once', async () => {
    const response = await service.post('/loans', { loanAmount: 'much', loanName: 5 });
    const errors = response.body['errors'] as { errorSource: string }[];
    expect(errors.map(({ errorSource }) => errorSource)).to.have.members(['loanAmount', 'loanName', 'productTypeKey']);
  });

  it('refuses a body that is not UTF-8', async () => {
    const response = await fetch(`${service.url}/loans`, { method: 'POST', body: Buffer.from([0x7b, 0xff, 0x7d]) });
    expect(response.status).to.equal(400);
    expect(await response.text()).to.match(/INVALID_PARAMETERS.*not UTF-8/);
  });

  for (const key of ['', 'k'.repeat(257)]) {
    it(`refuses an Idempotency-Key of ${key.length} characters`, async () => {
      const response = await rawResponseTo(
        service.url,
        `POST /loans HTTP/1.1\r\nHost: x\r\nIdempotency-Key: ${key}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
      );
      expect(response).to.match(/^HTTP\/1.1 400 [^]*"errorSource":"Idempotency-Key"/);
    });
  }

  it('refuses a repeated query parameter', async () => {
    const response = await service.get('/loans?limit=5&limit=-1');
    expect(response.status).to.equal(400);
    expect(response.text).to.contain('"errorSource":"limit"');
  });

  const unreadable = ['{', '{"amount":1', '[]', '5', 'null', '"text"', '{"amount":1}}', '{"amount":1,}', '{amount:1}'];
  const paths = [
    '/loans',
    '/loanproducts',
    '/loans/x:changeState',
    '/loans/x/disbursement-transactions',
    '/loans/x/repayment-transactions',
    '/loans/x/fee-transactions',
    '/loans/x/penalty-transactions',
    '/loans/x/principal-overpayment-transactions',
  ];
  for (const path of paths) {
    it(`gives the reason for refusing a body that is no JSON object on POST ${path}`, async () => {
      for (const body of unreadable) {
        const response = await fetch(`${service.url}${path}`, { method: 'POST', body });
        expect(response.status, body).to.equal(400);
        const { errors } = (await response.json()) as { errors: { errorReason: string; errorSource: string }[] };
        expect(errors).to.have.length(1);
        expect(errors[0]?.errorReason).to.equal('INVALID_PARAMETERS');
        expect(errors[0]?.errorSource, body).to.match(/^The body cannot be read: .+/);
      }
    });
  }

  const nowhere: readonly (readonly [method: string, path: string, status: number])[] = [
    ['GET', '/loans:search', 405],
    ['POST', '/loans:find', 404],
    ['POST', '/loans:reevaluateCollateral', 404],
    ['GET', '/loans/transactions:search', 405],
    ['POST', '/installments', 405],
    ['GET', '/installments/x', 404],
    ['GET', '/loans/x/y', 404],
    ['GET', '/loans/x/y/z', 404],
    ['POST', '/loans/x:payOnce', 405],
    ['PUT', '/loans/x/schedule', 405],
    ['PUT', '/loans', 405],
    ['DELETE', '/loans', 405],
    ['GET', '/loanproducts/x/y', 404],
    ['POST', '/loanproducts:search', 404],
    ['DELETE', '/loanproducts', 405],
    ['GET', '/toggles/PRINCIPAL_OVERPAYMENT/x', 404],
    ['GET', '/commands/x/y', 404],
    ['GET', '/commands:x', 404],
  ];
  for (const [method, path, status] of nowhere) {
    it(`returns ${status} for ${method} ${path} in the format of the lending API`, async () => {
      const response = await fetch(`${service.url}${path}`, { method });
      const { errors } = (await response.json()) as { errors: { errorCode: number; errorReason: string }[] };
      expect(response.headers.get('content-type')).to.match(/^application\/json/);
      expect([response.status, errors[0]?.errorCode, errors[0]?.errorReason]).to.deep.equal([
        status,
        3,
        'INVALID_API_OPERATION',
      ]);
    });
  }

  for (const path of [
    '/loans',
    '/loans/x',
    '/loans:search',
    '/loanproducts:changeState',
    '/toggles:x',
    '/commands:x/y',
  ]) {
    it(`refuses headers that no route reads, such as an invalid flow id, in the same format at ${path}`, async () => {
      const response = await fetch(`${service.url}${path}`, { headers: { 'X-Flow-Id': 'x'.repeat(300) } });
      const { errors } = (await response.json()) as { errors: { errorReason: string }[] };
      expect([response.status, errors[0]?.errorReason]).to.deep.equal([400, 'INVALID_PARAMETERS']);
    });
  }

  it('ignores paths that only start with the same letters', async () => {
    const response = await fetch(`${service.url}/loansharks`);
    expect(response.headers.get('content-type')).to.match(/^application\/problem\+json/);
  });
});
