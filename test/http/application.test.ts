import { expect } from 'chai';
import { Router, type Request, type Response } from 'express';
import { after, before, describe, it } from 'mocha';
import { once } from 'node:events';
import { IncomingMessage, ServerResponse, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApplication, createApplicationServer, flowIdHeader } from '../../src/http/application.ts';
import { silentLogger } from '../../src/logger.ts';

describe('the application as a server', () => {
  let server: Server;
  let url: string;
  const seen: { request: Request; response: Response; prototypes: unknown[] }[] = [];

  before(async () => {
    const router = Router();
    router.get('/things/:id', (request, response) => {
      const prototypes = [Object.getPrototypeOf(request), Object.getPrototypeOf(response)];
      seen.push({ request, response, prototypes });
      response.json({ id: request.params.id, query: request.query, accept: request.get('Accept') });
    });
    server = createApplicationServer(createApplication([router], silentLogger));
    // Before Express has had its hands on them.
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

  it('gives routes what Express gives them, on objects whose prototype is never changed', async () => {
    const answer = await fetch(`${url}/things/7?colour=red`, { headers: { Accept: 'application/json' } });
    expect(await answer.json()).to.deep.equal({ id: '7', query: { colour: 'red' }, accept: 'application/json' });
    expect(answer.headers.get(flowIdHeader)).to.match(/^[\da-f]{24}$/);
    const [made, routed] = seen;
    expect(routed?.request).to.equal(made?.request);
    expect(routed?.request).to.be.instanceOf(IncomingMessage);
    expect(routed?.response).to.be.instanceOf(ServerResponse);
    expect(routed?.prototypes[0]).to.equal(made?.prototypes[0]);
    expect(routed?.prototypes[1]).to.equal(made?.prototypes[1]);
  });

  it('echoes the flow id of the client and answers what it does not know as a problem', async () => {
    const answer = await fetch(`${url}/nothing`, { headers: { [flowIdHeader]: 'flow-7' } });
    expect(answer.status).to.equal(404);
    expect(answer.headers.get(flowIdHeader)).to.equal('flow-7');
    expect(answer.headers.get('Content-Type')).to.contain('application/problem+json');
  });
});
