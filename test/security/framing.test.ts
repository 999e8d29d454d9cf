import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { clusterUnderTest } from '../support/backend-under-test.ts';
import { eventTypeBody } from '../support/broker-on-embedded-log.ts';
import { call } from '../support/http/client.ts';
import { rawResponseTo } from '../support/http/raw-request.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../support/processes/service.ts';

/**
 * Requests whose end a proxy and the service may see in different places. Each hides another one, which creates an
 * event type: it must never be served, and the connection must be closed.
 */
describe('a request in whose body another one is hidden', function () {
  this.timeout(60_000);
  const name = `hidden-${process.pid}`;
  let folder: string;
  let service: Service;

  before(async () => {
    folder = await temporaryFolder();
    service = await startService(folder, { ROLES: 'serve', ...clusterUnderTest() });
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  const definition = JSON.stringify(eventTypeBody(name));
  const hidden =
    `POST /event-types HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${definition.length}\r\nConnection: close\r\n\r\n${definition}`;
  const head = 'POST /registry/event-type-checks HTTP/1.1\r\nHost: 127.0.0.1\r\n';
  const chunked = `0\r\n\r\n${hidden}`;

  const attacks: readonly (readonly [what: string, bytes: string])[] = [
    ['a length and chunks', `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}`],
    ['chunks and a length', `${head}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n${chunked}`],
    ['two lengths', `${head}Content-Length: 0\r\nContent-Length: 5\r\n\r\n${hidden}`],
    ['a list of lengths', `${head}Content-Length: 0, 5\r\n\r\n${hidden}`],
    ['a signed length', `${head}Content-Length: +0\r\n\r\n${hidden}`],
    ['a hexadecimal length', `${head}Content-Length: 0x0\r\n\r\n${hidden}`],
    ['a length beyond all numbers', `${head}Content-Length: 18446744073709551616\r\n\r\n${hidden}`],
    ['another encoding after chunks', `${head}Transfer-Encoding: chunked, identity\r\n\r\n${chunked}`],
    ['a misspelt encoding', `${head}Transfer-Encoding: xchunked\r\n\r\n${chunked}`],
    ['white space before the colon', `${head}Transfer-Encoding : chunked\r\n\r\n${chunked}`],
    ['a header that is folded', `${head}Transfer-Encoding:\r\n chunked\r\n\r\n${chunked}`],
    ['a line that ends with LF alone', `${head}X: y\nTransfer-Encoding: chunked\r\n\r\n${chunked}`],
    ['a line that ends with CR alone', `${head}X: y\rTransfer-Encoding: chunked\r\n\r\n${chunked}`],
    ['NUL in a header', `${head}X: a\0b\r\nContent-Length: 0\r\n\r\n${hidden}`],
    ['a signed size of a chunk', `${head}Transfer-Encoding: chunked\r\n\r\n+0\r\n\r\n${hidden}`],
    ['a hexadecimal prefix of a chunk', `${head}Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n${hidden}`],
    ['a chunk that is shorter than it says', `${head}Transfer-Encoding: chunked\r\n\r\n5\r\nab\r\n0\r\n\r\n${hidden}`],
    ['the preface of HTTP/2', `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${hidden}`],
    ['the beginning of TLS', `\x16\x03\x01\x00\x05\x01${hidden}`],
    ['CONNECT', `CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n${hidden}`],
  ];

  for (const [what, bytes] of attacks) {
    it(`by ${what} is refused, and its connection is closed`, async () => {
      const responses = await rawResponseTo(service.url, bytes).catch(() => '');
      const statuses = [...responses.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
      expect(statuses.length, responses).to.be.at.most(1);
      for (const status of statuses) expect(status, responses).to.be.within(400, 431);
      expect((await call(`${service.url}/event-types/${name}`, 'GET')).status).to.equal(404);
    });
  }

  it('would have been served on its own', async () => {
    expect(await rawResponseTo(service.url, hidden)).to.match(/^HTTP\/1\.1 201 /);
  });
});
