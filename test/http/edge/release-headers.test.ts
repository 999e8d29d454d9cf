import { expect } from 'chai';
import express from 'express';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'mocha';
import { releaseHeaders } from '../../../src/http/edge/release-headers.ts';

describe('releasing request and response headers', () => {
  let server: Server;
  let url: string;
  const seen: Record<string, unknown> = {};

  before(async () => {
    const application = express();
    application.get('/streams/:id', (request, response) => {
      response.setHeader('X-Flow-Id', 'flow');
      response.writeHead(200, { 'Content-Type': 'text/plain', Connection: 'close' });
      response.flushHeaders();
      releaseHeaders(request, response);
      Object.assign(seen, { headersSent: response.headersSent, names: response.getHeaderNames(), ...request.headers });
      response.write('first\n');
      setTimeout(() => response.end('last\n'), 5);
    });
    await new Promise<void>((resolve) => {
      server = application.listen(0, () => resolve());
    });
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  after(() => server.close());

  it('changes nothing for the client', async () => {
    const response = await fetch(`${url}/streams/1`, { headers: { 'X-Much': 'x'.repeat(1_000) } });
    expect(response.status).to.equal(200);
    expect(response.headers.get('X-Flow-Id')).to.equal('flow');
    expect(response.headers.get('Content-Type')).to.equal('text/plain');
    expect(await response.text()).to.equal('first\nlast\n');
  });

  it('leaves nothing of the received and sent headers except that they were sent', async () => {
    await (await fetch(`${url}/streams/2`, { headers: { 'X-Much': 'x'.repeat(1_000) } })).text();
    expect(seen).to.deep.equal({ headersSent: true, names: [] });
  });
});
