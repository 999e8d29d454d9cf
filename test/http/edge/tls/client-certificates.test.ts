import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { Router } from 'express';
import { once } from 'node:events';
import type { Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { request, type Server } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { systemClock } from '../../../../src/clock.ts';
import { createApplication, createApplicationServer } from '../../../../src/http/edge/application.ts';
import {
  subjectCharactersMaximum,
  subjectText,
  verifiedClient,
  type ClientCertificatesOptions,
} from '../../../../src/http/edge/tls/client-certificates.ts';
import { checkTls } from '../../../../src/http/edge/tls/tls-files.ts';
import { createProxyCheck } from '../../../../src/http/edge/tls/trusted-proxies.ts';
import { silentLogger } from '../../../../src/logger.ts';
import { leaveUnwatched } from '../../../support/http/response-watch.ts';
import { Authority, type Certified } from '../../../support/tls/certificates.ts';
import { callOverTls, connectOverTls, sessionOverTls } from '../../../support/tls/tls-client.ts';

const names = (): Router => {
  const router = Router();
  router.get(['/name', '/health', '/ready'], (request, response) => {
    response.json({ name: verifiedClient(request)?.name ?? null, address: request.ip });
  });
  return router;
};

const servers: { close(): unknown }[] = [];

const isNoProxy = createProxyCheck([]);
const isLoopback = createProxyCheck(['127.0.0.1']);

async function addressOf(server: Server | TlsServer): Promise<string> {
  servers.push(server);
  leaveUnwatched(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('client certificates', () => {
  let authority: Authority;
  let clients: Authority;
  let served: Certified;

  before(async () => {
    [authority, clients] = await Promise.all([Authority.create('CN=Services'), Authority.create('CN=Clients')]);
    served = await authority.sign();
  });
  after(() => servers.forEach((server) => server.close()));

  async function serve(options: Partial<ClientCertificatesOptions>): Promise<string> {
    const clientCertificates = {
      areAsked: true,
      isRequired: true,
      isTrustedProxy: isNoProxy,
      clock: systemClock,
      ...options,
    };
    const application = createApplication([names()], silentLogger, { isTls: true, clientCertificates });
    const texts = { ...served, ...(clientCertificates.areAsked ? { clientCa: clients.certificate } : {}) };
    return `https://${await addressOf(createApplicationServer(application, checkTls(texts, Date.now())))}`;
  }

  const call = (url: string, client?: Certified, headers: Record<string, string | string[]> = {}) =>
    callOverTls(url, { ca: authority.certificate, headers, ...(client === undefined ? {} : { client }) });

  it('name the client by their subject, the last part first', async () => {
    const url = await serve({});
    const client = await clients.sign({ subject: 'C=DE, O="Bank, Ltd", CN=payments', purpose: 'client' });
    const { status, text } = await call(`${url}/name`, client);
    expect({ status, name: (JSON.parse(text) as { name: string }).name }).to.deep.equal({
      status: 200,
      name: String.raw`CN=payments,O=Bank\, Ltd,C=DE`,
    });
  });

  it('are needed for everything except probes, unless they are optional', async () => {
    const [required, optional] = [await serve({}), await serve({ isRequired: false })];
    const refused = await call(`${required}/name`);
    expect({ status: refused.status, problem: JSON.parse(refused.text) as object }).to.deep.equal({
      status: 403,
      problem: {
        title: 'Forbidden',
        status: 403,
        detail: 'A client certificate is needed that one of the authorities in TLS_CLIENT_CA has signed.',
        code: 'FORBIDDEN',
      },
    });
    expect((await call(`${required}/nowhere`)).status).to.equal(403);
    for (const path of ['/health', '/ready', '/health/']) {
      expect((await call(`${required}${path}`)).status, path).to.equal(200);
    }
    expect(JSON.parse((await call(`${optional}/name`)).text)).to.deep.include({ name: null });
  });

  it('are refused with the reason when they are not those of a client of these authorities', async () => {
    const day = 86_400_000;
    const rows: [string, Certified][] = [
      [
        'SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT',
        await authority.sign({ purpose: 'client' }),
      ],
      ['CERT_HAS_EXPIRED', await clients.sign({ purpose: 'client', expiresAt: Date.now() - 2_000 })],
      ['CERT_NOT_YET_VALID', await clients.sign({ purpose: 'client', validFrom: Date.now() + day })],
      ['INVALID_PURPOSE', await clients.sign({ purpose: 'server' })],
      ['its subject is empty', await clients.sign({ purpose: 'client', subject: '' })],
    ];
    for (const isRequired of [true, false]) {
      const url = await serve({ isRequired });
      for (const [reason, client] of rows) {
        for (const path of ['/name', '/health']) {
          const { status, text } = await call(`${url}${path}`, client);
          expect(status, reason).to.equal(403);
          expect(text).to.match(new RegExp(`The client certificate is not accepted: (${reason})`));
        }
      }
    }
  });

  it('count until they expire, on a connection that was opened before as well', async () => {
    let now = Date.now();
    const url = await serve({ clock: { ...systemClock, now: () => now } });
    const expiresAt = Math.ceil(now / 1_000 + 3_600) * 1_000;
    const client = await clients.sign({ subject: 'CN=payments', purpose: 'client', expiresAt });
    now = expiresAt - 1;
    expect((await call(`${url}/name`, client)).status).to.equal(200);
    now = expiresAt;
    for (const path of ['/name', '/health']) {
      const { status, headers, text } = await call(`${url}${path}`, client);
      expect({ status, connection: headers.connection }, path).to.deep.equal({ status: 403, connection: 'close' });
      expect(text).to.contain('The client certificate is not accepted: CERT_HAS_EXPIRED.');
    }
  });

  it('are needed in a session that is resumed, too', async () => {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const url = await serve({});
      const options = { ca: authority.certificate, minVersion: version, maxVersion: version };
      const resumed = await connectOverTls(url, { ...options, session: await sessionOverTls(url, options) });
      expect(resumed.isSessionReused(), version).to.equal(true);
      const [answer] = (await once(exchange(resumed), 'data')) as [Buffer];
      expect(String(answer), version).to.match(/^HTTP\/1.1 403 /);
      resumed.destroy();
    }
  });

  it('keep their name in a session that is resumed', async () => {
    const url = await serve({});
    const { certificate: cert, key } = await clients.sign({ subject: 'CN=payments', purpose: 'client' });
    const ca = authority.certificate;
    const session = await sessionOverTls(url, { ca, cert, key });
    const resumed = await connectOverTls(url, { ca, session });
    expect(resumed.isSessionReused()).to.equal(true);
    const [answer] = (await once(exchange(resumed), 'data')) as [Buffer];
    expect(String(answer)).to.contain('"name":"CN=payments"');
    resumed.destroy();
  });

  it('have no effect where none are asked for', async () => {
    const url = await serve({ areAsked: false, isRequired: false });
    const client = await clients.sign({ purpose: 'client' });
    expect(JSON.parse((await call(`${url}/name`, client)).text)).to.deep.include({ name: null });
  });

  it('of a proxy do not name its clients: its header does', async () => {
    const url = await serve({ isTrustedProxy: isLoopback, header: 'x-client-subject' });
    const proxy = await clients.sign({ subject: 'CN=proxy', purpose: 'client' });
    const named = await call(`${url}/name`, proxy, { 'X-Client-Subject': 'CN=payments,O=Bank' });
    expect(JSON.parse(named.text)).to.deep.include({ name: 'CN=payments,O=Bank' });
    expect((await call(`${url}/name`, proxy)).status).to.equal(403);
  });
});

/** Sends a request and leaves the answer to read. */
function exchange(socket: TLSSocket): TLSSocket {
  socket.write('GET /name HTTP/1.1\r\nHost: localhost\r\n\r\n');
  return socket;
}

describe('the header of a proxy', () => {
  after(() => servers.forEach((server) => server.close()));

  async function serve(proxies: readonly string[], header?: string): Promise<string> {
    const isTrustedProxy = createProxyCheck(proxies);
    const clientCertificates = { areAsked: false, isRequired: false, header, isTrustedProxy, clock: systemClock };
    const application = createApplication([names()], silentLogger, { clientCertificates });
    return addressOf(createApplicationServer(application));
  }

  /** `fetch` joins repeated headers. */
  async function send(address: string, headers: Record<string, string | string[]>): Promise<Record<string, unknown>> {
    const sent = request({ host: '127.0.0.1', port: address.split(':')[1], path: '/name', headers }).end();
    const [response] = (await once(sent, 'response')) as [AsyncIterable<Buffer> & { statusCode: number }];
    let text = '';
    for await (const chunk of response) text += String(chunk);
    return { status: response.statusCode, ...(JSON.parse(text) as object) };
  }

  const longest = 'C'.repeat(subjectCharactersMaximum);

  it('names the client when its address is trusted, up to the longest name', async () => {
    const address = await serve(['10.0.0.0/8', '127.0.0.1'], 'x-client-subject');
    for (const name of ['CN=payments', String.raw`CN=B\C3\A4nk, O=a b`, longest]) {
      expect(await send(address, { 'X-Client-Subject': name })).to.include({ status: 200, name });
    }
    for (const headers of [{ 'X-Client-Subject': '' }, {}]) {
      expect(await send(address, headers)).to.include({ status: 200, name: null });
    }
  });

  it('is refused when it is repeated, too long, or not ASCII', async () => {
    const address = await serve(['127.0.0.1'], 'x-client-subject');
    const refused = [
      { value: ['CN=payments', 'CN=admin'], detail: 'The header x-client-subject must not be repeated.' },
      { value: ['CN=payments', 'CN=payments'], detail: 'The header x-client-subject must not be repeated.' },
      { value: `${longest}C`, detail: /at most 1024 visible ASCII characters/ },
      { value: 'CN=B\u00e4nk', detail: /at most 1024 visible ASCII characters/ },
      { value: 'CN=a\tb', detail: /at most 1024 visible ASCII characters/ },
    ];
    for (const { value, detail } of refused) {
      const answer = await send(address, { 'X-Client-Subject': value });
      expect(answer).to.include({ status: 400, code: 'MALFORMED_REQUEST' });
      expect(answer['detail']).to.match(typeof detail === 'string' ? new RegExp(detail) : detail);
    }
  });

  it('means nothing from other addresses, or without the setting', async () => {
    const named = { 'X-Client-Subject': 'CN=payments' };
    expect(await send(await serve(['127.0.0.2'], 'x-client-subject'), named)).to.include({ status: 200, name: null });
    expect(await send(await serve(['127.0.0.1']), named)).to.include({ status: 200, name: null });
  });

  it('X-Forwarded-For counts from trusted proxies only, up to the first address that is none', async () => {
    const forwarded = { 'X-Forwarded-For': '1.1.1.1, 192.0.2.7, 10.1.2.3' };
    expect(await send(await serve(['127.0.0.1', '10.0.0.0/8']), forwarded)).to.include({ address: '192.0.2.7' });
    expect(await send(await serve(['127.0.0.1']), forwarded)).to.include({ address: '10.1.2.3' });
    expect(await send(await serve(['10.0.0.0/8']), forwarded)).to.include({ address: '127.0.0.1' });
  });
});

describe('the text of a subject', () => {
  const rows: [lines: string | undefined, text: string][] = [
    [undefined, ''],
    ['', ''],
    ['CN=a', 'CN=a'],
    ['C=DE\nO=Bank\\, Ltd\\+x\nCN=a', 'CN=a,O=Bank\\, Ltd\\+x,C=DE'],
    ['OU=a + OU=b\nCN=c \\+ d', 'CN=c \\+ d,OU=a+OU=b'],
    ['CN=B\u00e4nk\u20ac', 'CN=B\\C3\\A4nk\\E2\\82\\AC'],
  ];
  for (const [lines, text] of rows) {
    it(`of ${JSON.stringify(lines)} is ${JSON.stringify(text)}`, () => {
      expect(subjectText(lines)).to.equal(text);
    });
  }
});
