import { expect } from 'chai';
import type { RequestHandler } from 'express';
import { after, before, describe, it } from 'mocha';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { createApplication, createApplicationServer } from '../../../src/http/edge/application.ts';
import { bodyDepthMaximum, parseJson, readBody } from '../../../src/http/edge/request-body.ts';
import { silentLogger } from '../../../src/logger.ts';
import { rawResponseTo } from '../../support/http/raw-request.ts';

function parse(text: string): unknown {
  return parseJson(Buffer.from(text));
}

function nested(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels);
}

describe('A JSON body', () => {
  it('may be nested to the documented depth, and no deeper', () => {
    expect(JSON.stringify(parse(nested(bodyDepthMaximum)))).to.equal(nested(bodyDepthMaximum));
    expect(() => parse(nested(bodyDepthMaximum + 1))).to.throw('deeper than 200 levels');
    expect(() => parse('{"a":['.repeat(50_000))).to.throw('deeper than 200 levels');
  });

  it('may have any number of brackets side by side and inside its strings', () => {
    const values = Array.from({ length: 1_000 }, () => ({ text: '[{"\\[{', escaped: '\\' }));
    expect(parse(JSON.stringify(values))).to.deep.equal(values);
  });

  it('is refused when it is not UTF-8, at any position', () => {
    for (const bytes of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xc3]]) {
      const body = Buffer.concat([Buffer.from('{"name":"'), Buffer.from(bytes), Buffer.from('"}')]);
      expect(() => parseJson(body), body.toString('hex')).to.throw('The body is not UTF-8.');
    }
    expect(parse('{"name":"\u{10ffff}"}')).to.deep.equal({ name: '\u{10ffff}' });
  });

  for (const text of ['', '"', '"\\', '{"a": 1', '[1,]', ']]', '\ufeff{}']) {
    it(`is refused with the message of the parser when it is ${JSON.stringify(text)}`, () => {
      expect(() => parse(text)).to.throw('The body is not JSON: ');
    });
  }
});

describe('The body of a request', () => {
  let server: Server;
  let url: string;

  /** Answers with the body, which it reads at once, or for some paths when the request has been parsed to its end. */
  const echo: RequestHandler = async (request, response) => {
    const answer = async (): Promise<void> => void response.end(`<${(await readBody(request)).toString()}>`);
    if (request.path === '/in-a-later-turn') setImmediate(() => void answer());
    else {
      if (request.path === '/after-a-promise') await new Promise((resolve) => setImmediate(resolve));
      await answer();
    }
  };

  before(async () => {
    server = createApplicationServer(createApplication([echo], silentLogger));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const withLength = (path: string, body: string): string =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const inChunks = (path: string, ...chunks: readonly string[]): string =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n` +
    [...chunks, ''].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');
  const deletion = (path: string): string =>
    `DELETE ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}DELETE ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const last = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  const large = 'x'.repeat(100_000);
  const bodiesIn = (responses: string): string[] => responses.match(/<[^>]*>/g) ?? [];

  for (const path of ['/at-once', '/after-a-promise', '/in-a-later-turn']) {
    it(`is the same in one piece with the headers and others behind it, with a length or in chunks, at ${path}`, async () => {
      const requests = [
        withLength(path, '{"a":1}'),
        inChunks(path, '{"b"', ':2}'),
        inChunks(path),
        withLength(path, ''),
        withLength(path, large),
        withLength(path, '{"c":3}'),
      ];
      const responses = await rawResponseTo(url, requests.join('') + last);
      expect(bodiesIn(responses)).to.deep.equal([
        '<{"a":1}>',
        '<{"b":2}>',
        '<>',
        '<>',
        `<${large}>`,
        '<{"c":3}>',
        '<>',
      ]);
    });

    it(`of a deletion is discarded before it is read at ${path}`, async () => {
      const responses = await rawResponseTo(url, deletion(path) + last);
      expect(bodiesIn(responses)).to.deep.equal(['<>', '<>', '<>']);
    });

    it(`is the same when it comes after the headers, in pieces, at ${path}`, async () => {
      const { hostname, port } = new URL(url);
      const socket = connect(Number(port), hostname).setNoDelay(true);
      let responses = '';
      socket.on('data', (chunk: Buffer) => (responses += chunk.toString()));
      await once(socket, 'connect');
      const text = withLength(path, '{"a":1}') + inChunks(path, 'bc') + last;
      const bodyAt = text.indexOf('{');
      for (const piece of [text.slice(0, bodyAt), text.slice(bodyAt, bodyAt + 3), text.slice(bodyAt + 3)]) {
        await new Promise((resolve) => socket.write(piece, resolve));
        await new Promise((resolve) => setImmediate(resolve));
      }
      await once(socket, 'close');
      expect(bodiesIn(responses)).to.deep.equal(['<{"a":1}>', '<bc>', '<>']);
    });
  }
});
