import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { brotliCompressSync, gunzipSync } from 'node:zlib';
import { Router } from 'express';
import {
  compressedBytesMinimum,
  createCompressionRouter,
} from '../../../../src/http/edge/compression/response-compression.ts';
import { hasZstd } from '../../../../src/http/edge/compression/zstd.ts';
import { eventTypeBody, exampleMetadata } from '../../../support/broker-on-embedded-log.ts';
import { decompressed } from '../../../support/http/decompressed.ts';
import { call } from '../../../support/http/client.ts';
import { startServiceHere, type ServiceHere } from '../../../support/processes/service-here.ts';
import { removeFolder, temporaryFolder } from '../../../support/processes/service.ts';
import { serve } from '../../../support/subscription-store.ts';

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

/** Bytes of a piece of a long response, without its line end. */
const pieceBytes = 30_000;

/** Lines that do not compress well, so that they fill buffers. */
function* randomPieces(count: number): Generator<string> {
  for (let piece = 0; piece < count; piece += 1) yield `${randomBytes(pieceBytes / 2).toString('hex')}\n`;
}

describe('compressing responses', () => {
  const router = Router();
  router.all('/text/:length', (incoming, response) => {
    response.json('x'.repeat(Number(incoming.params.length) - '""'.length));
  });

  router.get('/pieces/:count', (incoming, response) => {
    response.type('text');
    Readable.from(randomPieces(Number(incoming.params.count))).pipe(response);
  });
  router.get('/encoded', (_incoming, response) => {
    response
      .set('Content-Encoding', 'br')
      .type('text')
      .send(brotliCompressSync('x'.repeat(100_000)));
  });
  router.get('/as-it-is', (_incoming, response) => {
    response.set('Cache-Control', 'public, no-transform').type('text').send('x'.repeat(100_000));
  });
  router.get('/image', (_incoming, response) => {
    response.type('image/png').send(Buffer.alloc(100_000));
  });

  /** What a client gets that prefers zstd, by the version of Node. */
  const zstdOr = <Other>(other: Other) => (hasZstd ? 'zstd' : other);

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
    ['prefers zstd if the client does', { 'Accept-Encoding': 'zstd, br, gzip' }, 100_000, 'GET', zstdOr('br')],
    ['takes the first of equals', { 'Accept-Encoding': 'gzip, deflate, br, zstd' }, 100_000, 'GET', 'br'],
    ['respects weights', { 'Accept-Encoding': 'br;q=0.5, zstd;q=0.7, gzip;q=0.6' }, 100_000, 'GET', zstdOr('gzip')],
    ['respects other weights', { 'Accept-Encoding': 'zstd;q=0.6, gzip;q=0.7' }, 100_000, 'GET', 'gzip'],
    [
      'does not use zstd where identity is preferred',
      { 'Accept-Encoding': 'identity, zstd;q=0.9' },
      100_000,
      'GET',
      undefined,
    ],
    ['does not use zstd where it is refused', { 'Accept-Encoding': 'zstd;q=0' }, 100_000, 'GET', undefined],
    ['falls back to gzip', { 'Accept-Encoding': 'zstd, gzip' }, compressedBytesMinimum, 'GET', zstdOr('gzip')],
    ['needs as many bytes for zstd', { 'Accept-Encoding': 'zstd' }, compressedBytesMinimum - 1, 'GET', undefined],
    ['compresses the response of a POST with zstd', { 'Accept-Encoding': 'zstd' }, 100_000, 'POST', zstdOr(undefined)],
    ['leaves HEAD alone with zstd', { 'Accept-Encoding': 'zstd' }, 100_000, 'HEAD', undefined],
    ['does not compress where gzip is refused', { 'Accept-Encoding': 'gzip;q=0' }, 100_000, 'GET', undefined],
    ...(['POST', 'PUT', 'PATCH', 'DELETE'] as const).flatMap(
      (method) =>
        [
          [`compresses a long ${method}`, { 'Accept-Encoding': 'gzip' }, compressedBytesMinimum, method, 'gzip'],
          [`leaves a shorter ${method}`, { 'Accept-Encoding': 'gzip' }, compressedBytesMinimum - 1, method, undefined],
        ] as const,
    ),
    ['leaves the answer of a HEAD alone', { 'Accept-Encoding': 'gzip' }, 100_000, 'HEAD', undefined],
  ] as const) {
    it(what, async () => {
      const server = await serve([createCompressionRouter(), router]);
      const response = await fetchRaw(`${server.url}/text/${length}`, headers, method);
      await server.close();
      expect(response.encoding).to.equal(encoding);
      const bytes = decompressed(response.bytes, encoding);
      expect(bytes.length).to.equal(method === 'HEAD' ? 0 : length);
      if (method === 'GET') expect(response.vary).to.match(/Accept-Encoding/);
    });
  }

  for (const accepted of ['gzip', 'zstd']) {
    it(`sends a response in pieces whole, at the pace of its reader (${accepted})`, async () => {
      const server = await serve([createCompressionRouter(), router]);
      const response = await fetchRaw(`${server.url}/pieces/200`, { 'Accept-Encoding': accepted });
      await server.close();
      expect(response.encoding).to.equal(accepted === 'zstd' ? zstdOr(undefined) : 'gzip');
      const pieces = decompressed(response.bytes, response.encoding).toString().split('\n');
      expect(pieces).to.have.length(200 + 1);
      expect(pieces.slice(0, -1).map((piece) => piece.length)).to.satisfy((all: number[]) =>
        all.every((length) => length === pieceBytes),
      );
    });

    for (const [path, encoding] of [
      ['/encoded', 'br'],
      ['/as-it-is', undefined],
      ['/image', undefined],
    ] as const) {
      it(`leaves ${path} as it is (${accepted})`, async () => {
        const server = await serve([createCompressionRouter(), router]);
        const response = await fetchRaw(`${server.url}${path}`, { 'Accept-Encoding': accepted });
        await server.close();
        expect(response.encoding).to.equal(encoding);
        expect(decompressed(response.bytes, encoding).length).to.equal(100_000);
      });
    }
  }
});

describe('compression by the service', () => {
  let folder = '';
  let service: ServiceHere;
  const gzip = { 'Accept-Encoding': 'gzip' };

  before(async () => {
    folder = await temporaryFolder();
    service = await startServiceHere(folder);
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
      const preferred = await fetchRaw(`${service.url}${path}`, { 'Accept-Encoding': 'zstd, gzip;q=0.5' });
      expect([response.encoding, preferred.encoding]).to.deep.equal(['gzip', hasZstd ? 'zstd' : 'gzip']);
      for (const { encoding, bytes } of [response, preferred]) {
        expect(bytes.length).to.be.lessThan(plain.bytes.length / 2);
        // Metrics differ each time.
        if (path !== '/metrics') expect(decompressed(bytes, encoding).equals(plain.bytes)).to.equal(true);
      }
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

  it('applies to a long response of publishing, and to no short one', async () => {
    const publish = (count: number, event: object) => {
      const events = JSON.stringify(Array.from({ length: count }, () => event));
      return fetchRaw(`${service.url}/event-types/orders/events`, gzip, 'POST', events);
    };
    const response = await publish(100, { bad: 'x' });
    expect([response.status, response.encoding, response.vary]).to.deep.equal([422, 'gzip', 'Accept-Encoding']);
    const items = JSON.parse(gunzipSync(response.bytes).toString()) as unknown[];
    expect(items).to.have.length(100);
    const short = await publish(3, { bad: 'x' });
    expect([short.status, short.encoding, short.vary]).to.deep.equal([422, undefined, undefined]);
    const stored = await publish(1, { metadata: exampleMetadata() });
    expect([stored.status, stored.encoding, stored.vary, stored.bytes.length]).to.deep.equal([
      200,
      undefined,
      undefined,
      0,
    ]);
  });

  it('applies to a response whose bytes are enough, though its characters are not', async () => {
    const router = Router();
    router.post('/text/:count', (incoming, response) => {
      response.type('text').send('\u{1f600}'.repeat(Number(incoming.params.count)));
    });
    const server = await serve([router]);
    const [enough, short] = await Promise.all(
      [compressedBytesMinimum / 4, compressedBytesMinimum / 4 - 1].map((count) =>
        fetchRaw(`${server.url}/text/${count}`, gzip, 'POST'),
      ),
    );
    await server.close();
    expect([enough?.encoding, short?.encoding]).to.deep.equal(['gzip', undefined]);
  });
});
