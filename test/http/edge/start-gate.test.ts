import { expect } from 'chai';
import { Router } from 'express';
import { after, before, describe, it } from 'mocha';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApplication } from '../../../src/http/edge/application.ts';
import { createAuthentication } from '../../../src/http/access/authentication.ts';
import { createStartGate } from '../../../src/http/edge/start-gate.ts';
import { silentLogger } from '../../../src/logger.ts';
import { call, type HttpResponse } from '../../support/http/client.ts';
import { leaveUnwatched } from '../../support/http/response-watch.ts';

const key = 'the-only-key-of-this-test';

describe('the gate of a process that starts', () => {
  let server: Server;
  let url: string;
  let reached: string[];
  const reasons = ['The process is starting.'];
  const gate = createStartGate(() => reasons);

  before(async () => {
    const routes = Router();
    routes.use((request, response) => {
      reached.push(request.path);
      response.end();
    });
    server = createServer(
      createApplication(
        [createAuthentication({ isOpen: false, environmentKeys: [key] }), gate.router, routes],
        silentLogger,
      ),
    );
    leaveUnwatched(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after((done) => {
    server.close(done);
    server.closeAllConnections();
  });

  const ask = async (path: string, method = 'GET'): Promise<HttpResponse> => {
    reached = [];
    return call(`${url}${path}`, method, method === 'GET' ? undefined : {}, { apikey: key });
  };

  it('refuses requests of the streaming API with a problem that has all reasons', async () => {
    reasons.push('The copy is read: 27 %.');
    for (const [path, method] of [
      ['/subscriptions', 'GET'],
      ['/event-types/a/events', 'POST'],
      ['/unknown', 'GET'],
      ['/healthy', 'GET'],
      ['/administrators', 'GET'],
    ] as const) {
      const { status, headers, body } = await ask(path, method);
      expect([status, headers.get('retry-after')], path).to.deep.equal([503, '1']);
      expect(headers.get('content-type')).to.equal('application/problem+json');
      expect(body).to.deep.equal({
        title: 'Service Unavailable',
        status: 503,
        detail: 'The process is starting. The copy is read: 27 %.',
        code: 'LOG_UNAVAILABLE',
      });
      expect(reached).to.deep.equal([]);
    }
    reasons.pop();
  });

  it('refuses requests of the lending API with its errors', async () => {
    for (const [path, method] of [
      ['/loans', 'GET'],
      ['/loans:search', 'POST'],
      ['/loanproducts/p', 'GET'],
      ['/toggles', 'GET'],
      ['/commands/c', 'GET'],
    ] as const) {
      const { status, headers, body } = await ask(path, method);
      expect([status, headers.get('retry-after')], path).to.deep.equal([503, '1']);
      expect(body).to.deep.equal({
        errors: [{ errorCode: 10_003, errorReason: 'SERVICE_UNAVAILABLE', errorSource: 'The process is starting.' }],
      });
      expect(reached).to.deep.equal([]);
    }
  });

  it('lets through what operators and browsers look at', async () => {
    const operations = ['/health', '/ready/', '/metrics', '/version'];
    for (const path of [...operations, '/', '/admin', '/admin/loans', '/docs', '/openapi.json']) {
      expect([(await ask(path)).status, reached], path).to.deep.equal([200, [path]]);
    }
  });

  it('says nothing to a client without a key', async () => {
    expect((await call(`${url}/loans`, 'GET')).status).to.equal(401);
  });

  it('lets everything through once it is open', async () => {
    gate.open();
    for (const path of ['/subscriptions', '/loans', '/health']) {
      expect([(await ask(path)).status, reached], path).to.deep.equal([200, [path]]);
    }
  });
});
