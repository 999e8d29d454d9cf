import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { Router } from 'express';
import { compressedBytesMinimum, createCompressionRouter } from '../../../src/http/edge/response-compression.ts';
import { eventTypeBody } from '../../support/broker-on-embedded-log.ts';
import { call } from '../../support/http/client.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../../support/processes/service.ts';
import { serve } from '../../support/subscription-store.ts';

interface RawResponse {
  readonly status: number;
  readonly encoding: string | undefined;
  readonly vary: string | undefined;
  readonly bytes: Buffer;
}

/** A response as it was sent, which `fetch` would decompress. */
function fetchRaw(url: string, headers: Record<string, string>, method = 'GET', body?: string): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const { 'content-encoding': encoding, vary } = response.headers;
        resolve({ status: response.statusCode ?? 0, encoding, vary, bytes: Buffer.concat(chunks) });
      });
    });
    sent.on('error', reject).end(body);
  });
}

describe('compressing responses', () => {
  const router = Router();
  router.all('/text/:length', (incoming, response) => {
    response.json('x'.repeat(Number(incoming.params.length) - '""'.length));
  });

  const decompress = { gzip: gunzipSync, br: brotliDecompressSync, deflate: inflateSync };

  for (const [what, headers, length, method, encoding] of [
    ['uses gzip for the preferences of a browser', { 'Accept-Encoding': 'gzip, deflate, br' }, 100_000, 'GET', 'br'],
    ['compresses for old clients', { 'Accept-Encoding': 'deflate' }, 100_000, 'GET', 'deflate'],
    [
      'compresses a response that is just long enough',
      { 'Accept-Encoding': 'gzip' },
      compressedBytesMinimum,
      'GET',
      'gzip',
    ],
    [
      'does not compress a response that is one byte shorter',
      { 'Accept-Encoding': 'gzip' },
      compressedBytesMinimum - 1,
      'GET',
      undefined,
    ],
    ['does not compress without Accept-Encoding', {}, 100_000, 'GET', undefined],
    ['does not compress where gzip is refused', { 'Accept-Encoding': 'gzip;q=0' }, 100_000, 'GET', undefined],
    ['does not compress the response of a POST', { 'Accept-Encoding': 'gzip' }, 100_000, 'POST', undefined],
    ['leaves the answer of a HEAD alone', { 'Accept-Encoding': 'gzip' }, 100_000, 'HEAD', undefined],
  ] as const) {
    it(what, async () => {
      const server = await serve([createCompressionRouter(), router]);
      const response = await fetchRaw(`${server.url}/text/${length}`, headers, method);
      await server.close();
      expect(response.encoding).to.equal(encoding);
      const bytes = encoding === undefined ? response.bytes : decompress[encoding](response.bytes);
      expect(bytes.length).to.equal(method === 'HEAD' ? 0 : length);
      if (method === 'GET') expect(response.vary).to.match(/Accept-Encoding/);
    });
  }
});

describe('compression by the service', () => {
  let folder = '';
  let service: Service;
  const gzip = { 'Accept-Encoding': 'gzip' };

  before(async () => {
    folder = await temporaryFolder();
    service = await startService(folder);
    expect((await call(`${service.url}/event-types`, 'POST', eventTypeBody('orders'))).status).to.equal(201);
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  for (const path of ['/event-types', '/openapi.json', '/metrics', '/docs/swagger-ui-bundle.js', '/toggles'] as const) {
    it(`${path === '/toggles' ? 'skips a short response: ' : 'applies to '}${path}`, async () => {
      const plain = await fetchRaw(`${service.url}${path}`, {});
      const response = await fetchRaw(`${service.url}${path}`, gzip);
      expect([plain.status, plain.encoding, response.status]).to.deep.equal([200, undefined, 200]);
      if (path === '/toggles') {
        expect([response.encoding, response.bytes.equals(plain.bytes)]).to.deep.equal([undefined, true]);
        return;
      }
      expect(response.encoding).to.equal('gzip');
      expect(response.bytes.length).to.be.lessThan(plain.bytes.length / 2);
      // Metrics differ each time.
      if (path !== '/metrics') expect(gunzipSync(response.bytes).equals(plain.bytes)).to.equal(true);
    });
  }

  it('applies to the committed cursors of a subscription', async () => {
    const parallelism = { messages_per_minute: 1, message_size: 1, read_parallelism: 8, write_parallelism: 8 };
    const names = ['a', 'b', 'c', 'd', 'e'].map((letter) => `orders.of-${letter.repeat(100)}`);
    for (const name of names) {
      const body = eventTypeBody(name, { default_statistic: parallelism });
      expect((await call(`${service.url}/event-types`, 'POST', body)).status).to.equal(201);
    }
    const identity = { owning_application: 'core', event_types: names };
    const { body } = await call(`${service.url}/subscriptions`, 'POST', identity);
    const url = `${service.url}/subscriptions/${String(body['id'])}/cursors`;
    expect((await call(url, 'PATCH', { items: [] })).status).to.equal(204);
    const response = await fetchRaw(url, gzip);
    expect([response.status, response.encoding]).to.deep.equal([200, 'gzip']);
    const { items } = JSON.parse(gunzipSync(response.bytes).toString()) as { items: unknown[] };
    expect(items).to.have.length(40);
  });

  it('skips the response of publishing', async () => {
    const events = JSON.stringify(Array.from({ length: 100 }, () => ({ bad: 'x' })));
    const response = await fetchRaw(`${service.url}/event-types/orders/events`, gzip, 'POST', events);
    expect([response.status, response.encoding]).to.deep.equal([422, undefined]);
    expect(response.bytes.length).to.be.greaterThan(compressedBytesMinimum);
  });
});
