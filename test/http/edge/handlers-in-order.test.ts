import { expect } from 'chai';
import type { RequestHandler } from 'express';
import { after, before, describe, it } from 'mocha';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApplication, createApplicationServer } from '../../../src/http/edge/application.ts';
import { inOrder } from '../../../src/http/edge/handlers-in-order.ts';
import { textParameter } from '../../../src/http/edge/query-parameters.ts';
import { LendstreamError } from '../../../src/errors.ts';
import { silentLogger } from '../../../src/logger.ts';

async function waitAndCall(next: () => void): Promise<void> {
  await Promise.resolve();
  next();
}

describe('several handlers in place of one', () => {
  const called: string[] = [];
  /** Writes down its call, then does what the query says for its name. */
  const handler =
    (name: string): RequestHandler =>
    (request, response, next) => {
      called.push(name);
      const refusal = new LendstreamError('FORBIDDEN', `${name} refuses`);
      switch (textParameter(request, name)) {
        case 'throws':
          throw refusal;
        case 'rejects':
          return Promise.reject(refusal);
        case 'rejects with nothing':
          return Promise.reject(undefined);
        case 'passes an error on':
          return next(refusal);
        case 'waits':
          return void setImmediate(next);
        case 'waits and then calls next':
          return waitAndCall(next);
        case 'answers':
          return void response.json({ by: name });
        case undefined:
        default:
          return next();
      }
    };
  let server: Server;
  let url: string;

  before(async () => {
    const application = createApplication([inOrder(['a', 'b', 'c'].map(handler)), handler('last')], silentLogger);
    server = createApplicationServer(application);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  after(() => {
    server.closeAllConnections();
    server.close();
  });

  /** What was called, and the answer. */
  async function answerTo(query: Record<string, string>): Promise<readonly [string, number, unknown]> {
    called.length = 0;
    const response = await fetch(`${url}/?${new URLSearchParams(query).toString()}`);
    const { detail, by } = (await response.json()) as { detail?: string; by?: string };
    return [called.join(' '), response.status, detail ?? by];
  }

  it('are called in their order, and then what comes after them', async () => {
    expect(await answerTo({ last: 'answers' })).to.deep.equal(['a b c last', 200, 'last']);
    expect(await answerTo({ a: 'waits', b: 'waits and then calls next', c: 'waits', last: 'answers' })).to.deep.equal([
      'a b c last',
      200,
      'last',
    ]);
  });

  it('end with the one that answers', async () => {
    expect(await answerTo({ b: 'answers' })).to.deep.equal(['a b', 200, 'b']);
  });

  for (const refusing of ['throws', 'rejects', 'passes an error on']) {
    it(`end with the one that ${refusing}`, async () => {
      expect(await answerTo({ b: refusing })).to.deep.equal(['a b', 403, 'b refuses']);
      // The calls of those before it are still under way.
      expect(await answerTo({ a: 'waits and then calls next', c: refusing })).to.deep.equal([
        'a b c',
        403,
        'c refuses',
      ]);
    });
  }

  it('fail also when one rejects with nothing', async () => {
    const [names, status] = await answerTo({ b: 'rejects with nothing' });
    expect([names, status]).to.deep.equal(['a b', 500]);
  });
});
