import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { request as httpRequest } from 'node:http';
import { isLendingPath } from '../../../src/http/edge/request-paths.ts';
import { operations, type Example, type Operation } from '../../support/http/api-description.ts';
import { responseFaults } from '../../support/http/response-contract.ts';
import { examplesOf, requestOf, type ExampleRequest } from '../../support/http/example-requests.ts';
import { startServiceHere, type ServiceHere } from '../../support/processes/service-here.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';
import { startLendingService, type LendingService } from './lending-service.ts';

/** How a request is changed so that it is refused with a status, for any operation. */
interface Spoiling {
  readonly status: number;
  readonly spoilt: string;
  readonly applies?: (operation: Operation) => boolean;
  readonly spoil: (request: ExampleRequest, operation: Operation, example: Example) => ExampleRequest;
}

const apiKey = 'key-of-the-tests';

/** More than any operation accepts. Bytes. */
const tooManyBytes = 9 * 1024 * 1024;

const requestsAtATime = 8;

const otherVersion = 'application/vnd.mambu.v1+json';

const missing: Readonly<Record<string, string>> = {
  name: 'missing',
  version: '9.9.9',
  partition: '77',
  id: '00000000-0000-4000-8000-000000000000',
  commandId: '00000000-0000-4000-8000-000000000000',
  loanAccountId: 'missing',
  loanProductId: 'missing',
  transactionId: 'missing',
  branchId: 'missing',
  centreId: 'missing',
  customFieldSetId: 'missing',
  customfieldId: 'missing',
  currencyCode: 'ZZZ',
  transactionChannelId: 'missing',
  userId: 'missing',
  queue: 'missing',
  file: 'missing.js',
};

const spoilings: readonly Spoiling[] = [
  {
    status: 401,
    spoilt: 'without its key',
    spoil: ({ headers: { Authorization: _key, ...headers }, ...request }) => ({ ...request, headers }),
  },
  {
    status: 400,
    spoilt: 'with a body that is no JSON',
    applies: ({ requestBody }) => requestBody !== undefined,
    spoil: (request) => ({ ...request, body: '{"' }),
  },
  {
    status: 400,
    spoilt: 'with a path that cannot be decoded',
    applies: ({ path }) => path.includes('{'),
    spoil: (request, { path }) => ({ ...request, path: path.replaceAll(/\{[^}]+\}/g, '%zz') }),
  },
  {
    status: 400,
    spoilt: 'with a flow id that is too long',
    spoil: (request) => ({ ...request, headers: { ...request.headers, 'X-Flow-Id': 'f'.repeat(256) } }),
  },
  {
    status: 403,
    spoilt: 'by a page of another site',
    spoil: (request) => ({ ...request, headers: { ...request.headers, Origin: 'http://evil.example' } }),
  },
  {
    status: 415,
    spoilt: 'by a page that sends a form',
    applies: readsBody,
    spoil: (request) => ({
      ...request,
      headers: { ...request.headers, 'Content-Type': 'text/plain', 'Sec-Fetch-Site': 'same-origin' },
    }),
  },
  {
    status: 404,
    spoilt: 'of something that is not there',
    applies: ({ path }) => path.includes('{'),
    spoil: (request, operation, example) => ({ ...request, path: requestOf(operation, example, missing).path }),
  },
  {
    status: 406,
    spoilt: 'with a compressed body that it does not take',
    applies: ({ method }) => ['get', 'delete'].includes(method),
    spoil: withEncoding('gzip'),
  },
  {
    status: 413,
    spoilt: 'with a body that is too large',
    spoil: (request) => ({ ...request, headers: { ...request.headers, 'Content-Length': String(tooManyBytes) } }),
  },
  {
    status: 415,
    spoilt: 'in an encoding that is not known',
    applies: readsBody,
    spoil: withEncoding('br'),
  },
  {
    status: 406,
    spoilt: 'for a response of another version of the API',
    applies: ({ path }) => isLendingPath(path),
    spoil: (request) => ({ ...request, headers: { ...request.headers, Accept: otherVersion } }),
  },
  {
    status: 415,
    spoilt: 'in another version of the API',
    applies: ({ path }) => isLendingPath(path),
    spoil: (request) => ({ ...request, headers: { ...request.headers, 'Content-Type': otherVersion } }),
  },
];

/** Whether an operation has a body and looks at it. */
function readsBody({ operationId, requestBody }: Operation): boolean {
  return requestBody !== undefined && operationId !== 'createIndexRateSource';
}

function withEncoding(encoding: string): Spoiling['spoil'] {
  return (request) => ({ ...request, headers: { ...request.headers, 'Content-Encoding': encoding } });
}

/** Creates the loan and the transactions that the examples use. */
const postingOperations = [
  'createLoanProduct',
  'createLoan',
  'changeLoanState',
  'disburseLoan',
  'applyFee',
  'repayLoan',
  'applyPenalty',
];

async function sendExamples(
  operationIds: readonly string[],
  sending: (request: ExampleRequest, status: number) => Promise<void>,
): Promise<void> {
  for (const operation of operations.filter(({ operationId }) => operationIds.includes(operationId))) {
    for (const [, example] of examplesOf(operation)) await sending(requestOf(operation, example), example['x-status']);
  }
}

describe('every operation refuses', () => {
  let folder: string;
  let service: ServiceHere;

  before(async () => {
    folder = await temporaryFolder();
    // Every operation is refused at once, to one address.
    const limits = { ADDRESS_REQUESTS_PER_SECOND: '10000', FAILED_LOGINS_PER_MINUTE: '10000' };
    service = await startServiceHere(folder, { API_KEYS: apiKey, ...limits });
    // The resources of all other examples.
    await sendExamples(['createEventType', 'createSubscription', ...postingOperations], async (request, status) => {
      expect((await send(service.url, withKey(request))).status).to.equal(status);
    });
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  it('all requests without a key except probes and pages, with any method', async () => {
    const open = operations.filter(({ responses }) => responses['401'] === undefined).map(({ path }) => path);
    expect(open).to.deep.equal(['/health', '/ready', '/openapi.json', '/docs', '/docs/{file}']);
    const asked = [...open.map((path) => path.replace('{file}', 'start.js')), '/', '/admin', '/admin/any/page'];
    for (const path of asked) {
      expect((await send(service.url, { method: 'GET', path, headers: {} })).status, path).to.be.oneOf([200, 302]);
    }
    for (const path of ['/loans', '/metrics', '/version', '/admins', '/docs.json', '/healthy', '/nowhere']) {
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE']) {
        expect((await send(service.url, { method, path, headers: {} })).status, `${method} ${path}`).to.equal(401);
      }
    }
  });

  it('events of all types of the service, except commands', async () => {
    const { body } = await send(service.url, withKey({ method: 'GET', path: '/event-types', headers: {} }));
    const names = (JSON.parse(body) as { name: string; owning_application: string }[])
      .filter(({ owning_application: owner }) => owner === 'lendstream')
      .map(({ name }) => name);
    expect(names).to.have.length.greaterThan(5);
    for (const name of names) {
      const path = `/event-types/${name}/events`;
      const response = await send(service.url, withKey({ method: 'POST', path, headers: {}, body: '[{}]' }));
      expect(response.status, name).to.equal(name === 'lendstream.loan-commands' ? 422 : 403);
    }
  });

  const lendingPaths = ['/loans', '/loans/x', '/loans:search', '/loanproducts/x', '/toggles', '/commands/x'];
  const otherPaths = ['/subscriptions', '/metrics', '/nowhere', '/Loans', '/loansharks'];
  const without = { Authorization: 'none' };
  const atTheEdge: [status: number, what: string, method: string, headers: Record<string, string>][] = [
    [400, 'a flow id that is too long', 'GET', { 'X-Flow-Id': 'f'.repeat(256) }],
    [401, 'a request without a key', 'GET', without],
    [401, 'a body without a key', 'POST', { ...without, 'Content-Length': '2' }],
    [403, 'a request of another page', 'GET', { Origin: 'http://evil.example' }],
    [403, 'a request of another page without a key', 'POST', { ...without, 'Sec-Fetch-Site': 'cross-site' }],
    [406, 'a compressed body that is not read', 'GET', { 'Content-Encoding': 'gzip' }],
  ];
  for (const [status, what, method, headers] of atTheEdge) {
    it(`${what} with ${status}: as the errors of lending on its paths, as a problem on all others`, async () => {
      for (const path of [...lendingPaths, ...otherPaths]) {
        const response = await send(service.url, {
          method,
          path,
          headers: { ...withKey({ method, path, headers: {} }).headers, ...headers },
        });
        expect(response.status, path).to.equal(status);
        const isLending = lendingPaths.includes(path);
        const mediaType = isLending ? 'application/json' : 'application/problem+json';
        expect(response.headers['content-type']?.split(';')[0], path).to.equal(mediaType);
        expect(Object.keys(JSON.parse(response.body) as object), path).to.include(isLending ? 'errors' : 'title');
        if (status === 401) expect(response.headers['www-authenticate'], path).to.equal('Bearer');
      }
    });
  }

  for (const { status, spoilt, applies = () => true, spoil } of spoilings) {
    const refusing = operations.filter((operation) => operation.responses[status] !== undefined && applies(operation));
    it(`a request ${spoilt} gets ${status}`, async () => {
      expect(refusing).to.have.length.greaterThan(10);
      const refuse = async (operation: Operation): Promise<void> => {
        const [, example] = examplesOf(operation)[0] ?? ['', { value: undefined, 'x-status': 200 }];
        const request = spoil(withKey(requestOf(operation, example)), operation, example);
        const response = await send(service.url, request);
        expect(response.status, `${operation.operationId}: ${response.body}`).to.equal(status);
        expect(responseFaults({ ...response, method: request.method, url: request.path })).to.deep.equal([]);
      };
      // What is refused changes nothing, so that no request depends on another one. All of them in one moment would
      // overload a process that shares its processor, which refuses them for that.
      const waiting = [...refusing];
      const refuseWaiting = async (): Promise<void> => {
        for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await refuse(next);
      };
      await Promise.all(Array.from({ length: requestsAtATime }, refuseWaiting));
    });
  }
});

describe('the response to undecided loan commands', () => {
  let folder: string;
  let service: LendingService;
  // A request without a body, or without fields, has no other form; and a definition is no command.
  const commands = operations.filter(
    ({ operationId, parameters, requestBody, responses }) =>
      requestBody !== undefined &&
      operationId !== 'erasePersonalData' &&
      responses[202] !== undefined &&
      parameters.some(({ name }) => name === 'Idempotency-Key'),
  );

  before(async () => {
    folder = await temporaryFolder();
    service = await startLendingService(folder);
    await sendExamples(postingOperations, async (request, status) => {
      expect((await send(service.url, request)).status).to.equal(status);
    });
    await service.stopWorker();
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  it('is 202, then 409 for the same and 422 for a different request under its key', async () => {
    expect(commands).to.have.length.of.at.least(10);
    for (const operation of commands) {
      const [, example] = examplesOf(operation)[0] ?? ['', { value: undefined, 'x-status': 200 }];
      const headers = { 'Idempotency-Key': `waits-${operation.operationId}`, Prefer: 'wait=0' };
      const { headers: own, ...request } = requestOf(operation, example);
      const asked = { ...request, headers: { ...own, ...headers } };
      const { value } = example;
      const another = withOtherNotes(value);
      const other = { ...asked, body: JSON.stringify(another) };
      for (const [sent, status] of [
        [asked, 202],
        [asked, 409],
        [other, 422],
      ] as const) {
        const response = await send(service.url, sent);
        expect(response.status, `${operation.operationId}: ${response.body}`).to.equal(status);
        expect(responseFaults({ ...response, method: request.method, url: request.path })).to.deep.equal([]);
      }
    }
  });
});

/** A body that asks for the same with other notes, wherever it has them. */
function withOtherNotes(body: unknown): unknown {
  if (Array.isArray(body)) return [...(body as object[]), { op: 'REPLACE', path: '/notes', value: 'Another' }];
  const { loanAccount, ...fields } = body as { readonly loanAccount?: object };
  return loanAccount === undefined
    ? { ...fields, notes: 'Another' }
    : { ...fields, loanAccount: { ...loanAccount, notes: 'Another' } };
}

function withKey(request: ExampleRequest): ExampleRequest {
  return { ...request, headers: { ...request.headers, Authorization: `Bearer ${apiKey}` } };
}

/** Sends a request whose headers may contradict its body. */
function send(
  url: string,
  { method, path, headers, body }: ExampleRequest,
): Promise<{ readonly status: number; readonly headers: Record<string, string>; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${url}${path}`, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        request.destroy();
        const named = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
        resolve({
          status: response.statusCode ?? 0,
          headers: Object.fromEntries(named) as Record<string, string>,
          body: Buffer.concat(chunks).toString(),
        });
      });
    });
    request.on('error', reject);
    if (body !== undefined) request.write(body);
    if (headers['Content-Length'] === undefined) request.end();
    else request.flushHeaders();
  });
}
