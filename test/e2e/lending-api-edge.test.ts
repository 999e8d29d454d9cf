import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { annuityProduct } from '../../src/admin/example-product.ts';
import type { App } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { silentLogger } from '../../src/logger.ts';
import { call, type HttpResponse } from '../support/http/client.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { createAppHere } from '../support/processes/service-here.ts';

const key = 'a-key-of-more-than-sixteen-characters';
const credentials = { Authorization: `Basic ${Buffer.from(`anybody:${key}`).toString('base64')}` };

interface ApiError {
  readonly errorCode: number;
  readonly errorReason: string;
  readonly errorSource: string;
}

/** The first error of a refused response, all of whose errors must have a number and two texts. */
function errorOf({ body, text }: HttpResponse): ApiError {
  const errors = body['errors'] as ApiError[];
  expect(errors, text).to.have.length.greaterThan(0);
  for (const { errorCode, errorReason, errorSource } of errors) {
    expect(errorCode, text).to.be.a('number');
    expect([typeof errorReason, typeof errorSource], text).to.deep.equal(['string', 'string']);
  }
  return errors[0] as ApiError;
}

describe('the lending API as software written for its original finds it', () => {
  let folder: string;
  let app: App;
  let url: string;
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    call(`${url}${path}`, method, body, { ...credentials, ...headers });

  before(async () => {
    folder = await temporaryFolder();
    const settings = { DATA_DIR: folder, HOST: '127.0.0.1', PORT: '0', API_KEYS: key };
    app = await createAppHere(readConfig(settings), silentLogger);
    url = await app.start();
    expect((await send('POST', '/api/loanproducts', annuityProduct('edge'))).status).to.equal(201);
  });

  after(async () => {
    await app.stop();
    await removeFolder(folder);
  });

  it('lets a key in as the password of any user, and refuses every other request', async () => {
    expect((await send('GET', '/api/loans')).status).to.equal(200);
    const refused = await call(`${url}/api/loans`, 'GET');
    expect(refused.status).to.equal(401);
    expect(errorOf(refused)).to.include({
      errorCode: 2,
      errorReason: 'INVALID_CREDENTIALS',
      errorSource: 'credentials',
    });
  });

  it('is the same below /api as at the root', async () => {
    const opened = await send('POST', '/api/loans', { id: 'both', productTypeKey: 'edge', loanAmount: 1000 });
    expect(opened.status, opened.text).to.equal(201);
    for (const path of ['/loans/both', '/loans/both/schedule', '/loans?detailsLevel=FULL', '/loanproducts/edge']) {
      const [root, below] = [await send('GET', path), await send('GET', `/api${path}`)];
      expect(root.status, path).to.equal(200);
      expect(below.text, path).to.equal(root.text);
    }
  });

  it('does a command once under one Idempotency-Key, whichever path its repetition takes', async () => {
    const body = { id: 'once', productTypeKey: 'edge', loanAmount: 1000 };
    const headers = { 'Idempotency-Key': 'open-once' };
    const first = await send('POST', '/api/loans', body, headers);
    const again = await send('POST', '/loans/', body, headers);
    expect([first.status, again.status], again.text).to.deep.equal([201, 201]);
    expect(again.text).to.equal(first.text);
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    const other = await send('POST', '/loans', { ...body, loanAmount: 1 }, headers);
    expect(errorOf(other).errorReason).to.equal('IDEMPOTENCY_KEY_ALREADY_USED');
  });

  it('leads to the outcome of a command that was not waited for', async () => {
    for (const prefix of ['', '/api']) {
      const body = { productTypeKey: 'edge', loanAmount: 10 };
      const pending = await send('POST', `${prefix}/loans`, body, { Prefer: 'wait=0' });
      expect(pending.status, pending.text).to.equal(202);
      expect(pending.headers.get('location')).to.match(new RegExp(`^${prefix}/commands/`));
      expect((await send('GET', pending.headers.get('location') ?? '')).status).to.equal(200);
    }
  });

  const refusedRequests: [string, string, string, unknown, number, string][] = [
    ['a path below /api that does not exist', 'GET', '/api/nowhere', undefined, 404, 'INVALID_API_OPERATION'],
    ['/api itself', 'GET', '/api', undefined, 404, 'INVALID_API_OPERATION'],
    ['the streaming API below /api', 'GET', '/api/event-types', undefined, 404, 'INVALID_API_OPERATION'],
    ['an unknown operation on loans', 'POST', '/loans:dance', {}, 404, 'INVALID_API_OPERATION'],
    ['a wrong method', 'DELETE', '/api/loans', undefined, 405, 'INVALID_API_OPERATION'],
    ['a loan that does not exist', 'GET', '/api/loans/none', undefined, 404, 'INVALID_LOAN_ACCOUNT_ID'],
    ['a body that is no JSON', 'POST', '/api/loans', '{', 400, 'INVALID_PARAMETERS'],
    ['a body that is too large', 'POST', '/api/loans', ' '.repeat(256 * 1024 + 1), 413, 'INVALID_PARAMETERS'],
    ['a path with an empty segment', 'GET', '/api//loans', undefined, 400, 'INVALID_PARAMETERS'],
    ['a broken escape', 'GET', '/api/loans/%zz', undefined, 400, 'INVALID_PARAMETERS'],
    [
      'a state that does not allow it',
      'POST',
      '/api/loans/both/disbursement-transactions',
      {},
      400,
      'INVALID_ACCOUNT_STATE',
    ],
  ];
  for (const [what, method, path, body, status, reason] of refusedRequests) {
    it(`refuses ${what} with ${status} in its own form`, async () => {
      const response = await send(method, path, body);
      expect(response.status, response.text).to.equal(status);
      expect(errorOf(response).errorReason).to.equal(reason);
    });
  }

  it('refuses what is compressed in another way, and pages of other sites, in its own form', async () => {
    const brotli = await send('POST', '/api/loans', '{}', { 'Content-Encoding': 'br' });
    expect([brotli.status, errorOf(brotli).errorReason]).to.deep.equal([415, 'INVALID_PARAMETERS']);
    const foreign = await send('GET', '/api/nowhere', undefined, { Origin: 'https://elsewhere.example' });
    expect([foreign.status, errorOf(foreign).errorReason]).to.deep.equal([403, 'INVALID_API_OPERATION']);
  });

  it('shows an organization before any was set, with all that clients require', async () => {
    const { status, body } = await send('GET', '/api/setup/organization');
    expect(status).to.equal(200);
    expect(body).to.include({ timeZoneID: 'UTC', currency: 'EUR', decimalSeparator: 'POINT' });
    expect(body).to.include.keys('dateFormat', 'dateTimeFormat', 'institutionName');
    expect(Object.values(body)).to.not.include(null);
  });

  it('keeps the organization that an admin sets and patches', async () => {
    const setup = {
      institutionName: 'Bank',
      timeZoneID: 'Asia/Tokyo',
      currency: 'JPY',
      dateFormat: 'yyyy-MM-dd',
      dateTimeFormat: 'yyyy-MM-dd HH:mm',
      decimalSeparator: 'COMMA',
      address: { city: 'Tokyo', latitude: 35.6764, longitude: 139.65 },
    };
    const changed = await send('PUT', '/api/setup/organization', setup);
    expect(changed.body, changed.text).to.deep.include(setup);
    const sentBack = await send('PUT', '/api/setup/organization', changed.body);
    expect(sentBack.body, sentBack.text).to.deep.include(setup);
    const patch = [
      { op: 'REPLACE', path: '/timeZoneID', value: 'Europe/Berlin' },
      { op: 'remove', path: 'address' },
    ];
    expect((await send('PATCH', '/api/setup/organization', patch)).status).to.equal(204);
    const { body } = await send('GET', '/setup/organization');
    expect(body).to.include({ timeZoneID: 'Europe/Berlin', currency: 'JPY' });
    expect(body).to.not.have.property('address');
    const refused = await send('PATCH', '/api/setup/organization', [
      { op: 'REPLACE', path: '/institutionName', value: 'Other' },
      { op: 'REPLACE', path: '/timeZoneID', value: 'Nowhere' },
    ]);
    expect([refused.status, errorOf(refused).errorSource]).to.deep.equal([400, 'timeZoneID']);
    expect((await send('GET', '/setup/organization')).body).to.include({ institutionName: 'Bank' });
  });

  it('keeps the calendar of the organization', async () => {
    const holidays = [{ name: 'New Year', date: '2026-01-01', isAnnuallyRecurring: true }];
    const set = await send('PUT', '/api/organization/holidays', { holidays });
    expect(set.body, set.text).to.deep.equal({ holidays: [{ id: 1, ...holidays[0] }] });
    expect((await send('PUT', '/api/organization/nonWorkingDays', { nonWorkingDays: ['FRIDAY'] })).status).to.equal(
      200,
    );
    expect((await send('GET', '/organization/holidays')).body).to.deep.equal(set.body);
    expect((await send('GET', '/organization/nonWorkingDays')).body).to.deep.equal({ nonWorkingDays: ['FRIDAY'] });
  });

  it('has branches that an admin defines, in pages and in the order that clients ask for', async () => {
    expect((await send('GET', '/api/branches?sortBy=lastModifiedDate:ASC')).text).to.equal('[]');
    for (const id of ['south', 'north']) {
      const made = await send('POST', '/api/branches', { id, name: `The ${id}`, addresses: [{ city: id }] });
      expect(made.status, made.text).to.equal(201);
      expect(made.body).to.include.keys('encodedKey', 'creationDate', 'lastModifiedDate', 'state');
    }
    const renamed = await send('PUT', '/api/branches/south', { name: 'A branch' });
    expect(renamed.body, renamed.text).to.include({ id: 'south', name: 'A branch' });
    const idsOf = async (query: string): Promise<string[]> => {
      const { text } = await send('GET', `/api/branches?${query}`);
      return (JSON.parse(text) as { id: string }[]).map(({ id }) => id);
    };
    expect(await idsOf('')).to.deep.equal(['north', 'south']);
    expect(await idsOf('sortBy=name:ASC')).to.deep.equal(['south', 'north']);
    expect(await idsOf('sortBy=id:DESC')).to.deep.equal(['south', 'north']);
    const byChange = await send('GET', '/api/branches?sortBy=lastModifiedDate:ASC');
    const changes = (JSON.parse(byChange.text) as { lastModifiedDate: string }[]).map((each) => each.lastModifiedDate);
    expect(changes).to.deep.equal(changes.toSorted());
    expect(await idsOf('offset=1&limit=1')).to.deep.equal(['south']);
    expect(await idsOf('offset=1000&limit=220&detailsLevel=FULL')).to.deep.equal([]);
    const details = await send('GET', '/api/branches?limit=1&paginationDetails=ON');
    expect(details.headers.get('items-total')).to.equal('2');
    const byKey = await send('GET', `/api/branches/${String(renamed.body['encodedKey'])}`);
    expect(byKey.text).to.equal(renamed.text);
  });

  it('makes a branch once under one Idempotency-Key', async () => {
    const headers = { 'Idempotency-Key': 'branch-once' };
    const first = await send('POST', '/api/branches', { id: 'once', name: 'Once' }, headers);
    const again = await send('POST', '/branches', { id: 'once', name: 'Once' }, headers);
    expect([again.status, again.text]).to.deep.equal([201, first.text]);
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    const other = await send('POST', '/branches', { id: 'twice', name: 'Once' }, headers);
    expect([other.status, errorOf(other).errorReason]).to.deep.equal([422, 'IDEMPOTENCY_KEY_ALREADY_USED']);
    const taken = await send('POST', '/branches', { id: 'once', name: 'Once' });
    expect([taken.status, errorOf(taken).errorSource]).to.deep.equal([400, 'id']);
  });

  it('lists the centres of a branch', async () => {
    const branch = await send('GET', '/api/branches/north');
    const centre = { id: 'harbour', name: 'Harbour', assignedBranchKey: branch.body['encodedKey'] };
    expect((await send('POST', '/api/centres', centre)).body).to.include(centre);
    expect((await send('POST', '/api/centres', { id: 'hill', name: 'Hill' })).status).to.equal(201);
    const idsOf = async (query: string): Promise<string[]> =>
      (JSON.parse((await send('GET', `/api/centres?${query}`)).text) as { id: string }[]).map(({ id }) => id);
    expect(await idsOf('')).to.deep.equal(['harbour', 'hill']);
    expect(await idsOf('branchId=north')).to.deep.equal(['harbour']);
    expect(await idsOf('branchId=south')).to.deep.equal([]);
    expect(await idsOf('branchId=unknown')).to.deep.equal([]);
  });

  it('has transaction channels until they are deleted', async () => {
    const unconstrained = { usage: 'UNCONSTRAINED' };
    const channel = { id: 'cash', name: 'Cash', loanConstraints: unconstrained, depositConstraints: unconstrained };
    const path = '/api/organization/transactionChannels';
    const made = await send('POST', path, channel);
    expect(made.status, made.text).to.equal(201);
    const closed = await send('PUT', `${path}/cash`, { ...made.body, state: 'INACTIVE' });
    expect(closed.body, closed.text).to.deep.equal({ ...made.body, state: 'INACTIVE' });
    expect((await send('GET', `${path}?transactionChannelState=ACTIVE`)).text).to.equal('[]');
    expect(JSON.parse((await send('GET', path)).text)).to.deep.equal([closed.body]);
    expect((await send('DELETE', `${path}/cash`)).status).to.equal(204);
    expect((await send('GET', `${path}/cash`)).status).to.equal(404);
  });

  it('lists the users, currencies and sources of index rates that there are', async () => {
    const listOf = async (path: string): Promise<Record<string, unknown>[]> => {
      const { status, text } = await send('GET', `/api${path}`);
      expect(status, text).to.equal(200);
      return JSON.parse(text) as Record<string, unknown>[];
    };
    const [administrator] = await listOf('/users');
    expect(administrator).to.include({ username: 'admin' }).and.to.include.keys('access', 'encodedKey', 'firstName');
    expect((await send('GET', `/api/users/${String(administrator?.['encodedKey'])}`)).body).to.deep.equal(
      administrator,
    );
    expect(await listOf('/users?branchId=north&branchIdType=MANAGE')).to.have.length(1);
    expect(await listOf('/users?branchId=unknown&branchIdType=MANAGE')).to.deep.equal([]);
    expect(await listOf('/users?branchId=north')).to.deep.equal([]);
    const currencies = await listOf('/currencies?type=FIAT_CURRENCY');
    expect(currencies.map(({ code, baseCurrency }) => [code, baseCurrency])).to.deep.equal([
      ['EUR', false],
      ['JPY', true],
    ]);
    expect((await send('GET', '/api/currencies/JPY')).body).to.include({ symbol: '¥', digitsAfterDecimal: 0 });
    expect(await listOf('/indexratesources')).to.deep.equal([]);
    const refused = await send('POST', '/api/indexratesources', { name: 'Euribor', type: 'INTEREST_RATE' });
    expect([refused.status, errorOf(refused).errorReason]).to.deep.equal([400, 'FEATURE_DISABLED']);
    expect((await send('GET', '/api/setup/general')).body).to.include({ decimalSeparator: 'COMMA' });
  });

  for (const path of [
    '/branches?state=ACTIVE',
    '/branches?sortBy=motto',
    '/branches?limit=0',
    '/centres?assignedBranchKey=x',
    '/organization/transactionChannels?transactionChannelState=OPEN',
    '/users?branchIdType=OWNS',
    '/currencies?type=COINS',
    '/setup/organization?detailsLevel=FULL',
  ]) {
    it(`ignores no parameter: ${path} is refused`, async () => {
      const response = await send('GET', `/api${path}`);
      expect(response.status, response.text).to.equal(400);
      errorOf(response);
    });
  }

  it('leaves the errors of the streaming API as they are', async () => {
    const response = await send('GET', '/nowhere');
    expect(response.headers.get('content-type')).to.equal('application/problem+json');
  });
});
