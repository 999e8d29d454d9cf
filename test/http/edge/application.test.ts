import { expect } from 'chai';
import { Router, type Request, type Response } from 'express';
import { after, before, describe, it } from 'mocha';
import { once } from 'node:events';
import { IncomingMessage, ServerResponse, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createApplication,
  createApplicationServer,
  flowIdCharactersMaximum,
  flowIdHeader,
} from '../../../src/http/edge/application.ts';
import { methodNotAllowed } from '../../../src/http/edge/streaming-errors.ts';
import { silentLogger } from '../../../src/logger.ts';
import { call } from '../../support/http/client.ts';
import { rawResponseTo, parseResponse } from '../../support/http/raw-request.ts';

describe('the application as a server', () => {
  let server: Server;
  let url: string;
  const seen: { request: Request; response: Response; prototypes: unknown[] }[] = [];
  const deleted: string[] = [];

  before(async () => {
    const router = Router();
    const route = router.route('/things/:id');
    route.get((request, response) => {
      const prototypes = [Object.getPrototypeOf(request), Object.getPrototypeOf(response)];
      seen.push({ request, response, prototypes });
      response.json({ id: request.params.id, query: request.query, accept: request.get('Accept') });
    });
    route.delete((request, response) => {
      deleted.push(request.params.id);
      response.status(204).end();
    });
    route.all(methodNotAllowed('GET', 'DELETE'));
    server = createApplicationServer(createApplication([router], silentLogger));
    // Before Express could change them.
    server.prependListener('request', (request, response) => {
      seen.push({
        request: request as Request,
        response: response as Response,
        prototypes: [Object.getPrototypeOf(request), Object.getPrototypeOf(response)],
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  after(() => {
    server.closeAllConnections();
    server.close();
  });

  it('passes to routes what Express passes, on objects whose prototype is never changed', async () => {
    const response = await fetch(`${url}/things/7?colour=red`, { headers: { Accept: 'application/json' } });
    expect(await response.json()).to.deep.equal({ id: '7', query: { colour: 'red' }, accept: 'application/json' });
    expect(response.headers.get(flowIdHeader)).to.match(/^[\da-f]{24}$/);
    const [made, routed] = seen;
    expect(routed?.request).to.equal(made?.request);
    expect(routed?.request).to.be.instanceOf(IncomingMessage);
    expect(routed?.response).to.be.instanceOf(ServerResponse);
    expect(routed?.prototypes[0]).to.equal(made?.prototypes[0]);
    expect(routed?.prototypes[1]).to.equal(made?.prototypes[1]);
  });

  it('returns the flow id of the client, and a problem for unknown paths', async () => {
    const response = await fetch(`${url}/nothing`, { headers: { [flowIdHeader]: 'flow-7' } });
    expect(response.status).to.equal(404);
    expect(response.headers.get(flowIdHeader)).to.equal('flow-7');
    expect(response.headers.get('Content-Type')).to.contain('application/problem+json');
  });

  it('generates a flow id when the client sent an empty one', async () => {
    const response = await fetch(`${url}/things/7`, { headers: { [flowIdHeader]: '' } });
    expect(response.headers.get(flowIdHeader)).to.match(/^[\da-f]{24}$/);
  });

  const longest = 'f'.repeat(flowIdCharactersMaximum);
  const flowIds: [description: string, lines: string, status: number, echoed: string | RegExp][] = [
    ['of one character', 'X-Flow-Id: !', 200, '!'],
    ['of the maximum length', `X-Flow-Id: ${longest}`, 200, longest],
    [
      'of all visible characters',
      'x-flow-ID: ~}|{zyx`_^]\\[ZYX@?>=<;:987/.-,+*)(&%$#"!',
      200,
      '~}|{zyx`_^]\\[ZYX@?>=<;:987/.-,+*)(&%$#"!',
    ],
    ['with white space around it', 'X-Flow-Id: \t a \t', 200, 'a'],
    ['that is empty', 'X-Flow-Id: ', 200, /^[\da-f]{24}$/],
    ['that is one character too long', `X-Flow-Id: ${longest}f`, 400, /^[\da-f]{24}$/],
    ['of the maximum length of a header', `X-Flow-Id: ${'\u00ff'.repeat(15_000)}`, 400, /^[\da-f]{24}$/],
    ['with white space in it', 'X-Flow-Id: a b', 400, /^[\da-f]{24}$/],
    ['with a tab in it', 'X-Flow-Id: a\tb', 400, /^[\da-f]{24}$/],
    ['with characters beyond ASCII', 'X-Flow-Id: \u00e9', 400, /^[\da-f]{24}$/],
    ['that is sent twice', 'X-Flow-Id: a\r\nX-Flow-Id: b', 400, /^[\da-f]{24}$/],
  ];
  for (const [description, lines, status, echoed] of flowIds) {
    it(`returns ${status} for a flow id ${description}`, async () => {
      const bytes = `GET /things/7 HTTP/1.1\r\nHost: x\r\n${lines}\r\nConnection: close\r\n\r\n`;
      const response = parseResponse(await rawResponseTo(url, bytes));
      expect(response.status, response.body).to.equal(status);
      expect(response.headers['x-flow-id']).to.match(typeof echoed === 'string' ? /^[!-~]+$/ : echoed);
      if (typeof echoed === 'string') expect(response.headers['x-flow-id']).to.equal(echoed);
    });
  }

  it('forbids caching of every response and guessing of its type', async () => {
    const requests: [path: string, options: RequestInit, status: number][] = [
      ['/things/7', {}, 200],
      ['/nothing', {}, 404],
      ['/things/7', { method: 'PATCH' }, 405],
      ['/things/7', { method: 'OPTIONS' }, 200],
      ['/things/%zz', {}, 400],
      ['/things/7', { headers: { [flowIdHeader]: 'a b' } }, 400],
    ];
    for (const [path, options, status] of requests) {
      const response = await fetch(`${url}${path}`, options);
      expect(response.status, path).to.equal(status);
      expect(response.headers.get('Cache-Control')).to.equal('no-store');
      expect(response.headers.get('X-Content-Type-Options')).to.equal('nosniff');
    }
  });

  it('lists the methods with OPTIONS, and rejects all others with 405', async () => {
    const options = await fetch(`${url}/things/7`, { method: 'OPTIONS' });
    expect([options.status, options.headers.get('Allow'), await options.text()]).to.deep.equal([200, 'GET,DELETE', '']);
    const patch = await fetch(`${url}/things/7`, { method: 'PATCH' });
    expect([patch.status, patch.headers.get('Allow')]).to.deep.equal([405, 'GET,DELETE']);
  });

  it('refuses a path with an empty segment, but accepts a query with one', async () => {
    for (const path of ['//things/7', '/things//7', '/things/7//']) {
      const response = await fetch(`${url}${path}`);
      expect(response.status, path).to.equal(400);
      expect(response.headers.get('Content-Type')).to.contain('application/problem+json');
    }
    expect((await fetch(`${url}/things/7?from=http://x//y`)).status).to.equal(200);
  });

  it('refuses a compressed body where no body is read', async () => {
    const response = await fetch(`${url}/things/7`, { headers: { 'Content-Encoding': 'gzip' } });
    expect([response.status, ((await response.json()) as { detail: string }).detail]).to.deep.equal([
      406,
      "GET method doesn't support gzip content encoding",
    ]);
    expect((await fetch(`${url}/things/7`, { headers: { 'Content-Encoding': 'identity' } })).status).to.equal(200);
  });

  it('returns the full response whatever a client has cached', async () => {
    // Not by fetch, which adds Cache-Control: no-cache.
    const response = await call(`${url}/things/7`, 'GET', undefined, { 'If-None-Match': '*' });
    expect([response.status, response.body['id']]).to.deep.equal([200, '7']);
  });

  it('responds to a client with an unknown expectation', async () => {
    const bytes = 'GET /things/7 HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nConnection: close\r\n\r\n';
    expect(await rawResponseTo(url, bytes)).to.match(/^HTTP\/1.1 200 [^]*X-Flow-Id[^]*"id":"7"/);
  });

  const deletions: [description: string, rest: string, status: number][] = [
    ['has no body', '\r\n', 204],
    ['has a body', 'Content-Length: 2\r\n\r\n{}', 204],
    ['has a body in chunks', 'Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n', 204],
    ['has broken chunks', 'Transfer-Encoding: chunked\r\n\r\nnonsense\r\n', 400],
    ['has a body without an end', 'Transfer-Encoding: identity\r\n\r\n', 400],
  ];
  for (const [description, rest, status] of deletions) {
    it(`${status < 300 ? 'carries out' : 'refuses and does not carry out'} a deletion that ${description}`, async () => {
      deleted.length = 0;
      const response = await rawResponseTo(url, `DELETE /things/7 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${rest}`);
      expect(response).to.match(new RegExp(`^HTTP/1.1 ${status} `));
      expect(deleted).to.deep.equal(status < 300 ? ['7'] : []);
    });
  }

  const unreadable: [description: string, bytes: string, status: number][] = [
    ['is not HTTP', 'HELLO\r\n\r\n', 400],
    ['names no host', 'GET /things/7 HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['names two hosts', 'GET /things/7 HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n', 400],
    ['names one host twice', 'GET /things/7 HTTP/1.1\r\nHost: a\r\nhOST: a\r\nConnection: close\r\n\r\n', 400],
    ['names two hosts in HTTP/1.0', 'GET /things/7 HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n', 400],
    ['has an unknown method', 'FOO /things/7 HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['has control characters in a header', 'GET /things/7 HTTP/1.1\r\nHost: x\r\nA: a\x00b\r\n\r\n', 400],
    ['has endless headers', `GET /things/7 HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(40_000)}\r\n\r\n`, 431],
  ];
  for (const [description, bytes, status] of unreadable) {
    it(`returns a problem for a request that ${description}`, async () => {
      const [head = '', body = ''] = (await rawResponseTo(url, bytes)).split('\r\n\r\n');
      expect(head)
        .to.match(new RegExp(`^HTTP/1.1 ${status} `))
        .and.to.include('Content-Type: application/problem+json');
      expect(head)
        .to.match(/^Cache-Control: no-store\r$/m)
        .and.to.match(/^X-Content-Type-Options: nosniff\r?$/m);
      expect(JSON.parse(body)).to.include({ status });
    });
  }

  it('times out on a request that does not arrive completely, but not on a slow response', () => {
    expect(server.requestTimeout).to.be.within(1, 300_000);
    expect(server.headersTimeout).to.be.within(1, 60_000);
    expect(server.timeout).to.equal(0);
  });
});
