import { expect } from 'chai';
import { Router } from 'express';
import { afterEach, describe, it } from 'mocha';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { apiKeyCharactersMaximum } from '../../../src/config.ts';
import { createApplication } from '../../../src/http/edge/application.ts';
import { createAuthentication } from '../../../src/http/access/authentication.ts';
import { silentLogger } from '../../../src/logger.ts';
import { call } from '../../support/http/client.ts';
import { leaveUnwatched } from '../../support/http/response-watch.ts';

function basic(credentials: string, scheme = 'Basic'): Record<string, string> {
  return { Authorization: `${scheme} ${Buffer.from(credentials).toString('base64')}` };
}

describe('authentication', () => {
  let server: Server | undefined;

  afterEach(() => server?.close());

  async function listen(apiKeys: readonly string[]): Promise<string> {
    const routes = Router();
    for (const path of ['/health', '/ready', '/metrics', '/loans']) {
      routes.get(path, (_request, response) => {
        response.end('open');
      });
    }
    const application = createApplication(
      [createAuthentication({ isOpen: apiKeys.length === 0, environmentKeys: apiKeys }), routes],
      silentLogger,
    );
    server = await new Promise<Server>((resolve) => {
      const listening = application.listen(0, '127.0.0.1', () => resolve(listening));
    });
    leaveUnwatched(server);
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  const keys = ['first-key', 'second-key'];
  const visible = '!"#$%&()*+-./0189:;<=>?@AZ[]^_`az{|}~';
  const longest = 'k'.repeat(apiKeyCharactersMaximum);
  const rows: [string, readonly string[], string, Record<string, string>, number][] = [
    ['accepts a key with all allowed characters', [visible], '/loans', { apikey: visible }, 200],
    ['accepts that key as a bearer token', [visible], '/loans', { Authorization: `Bearer ${visible}` }, 200],
    ['accepts the longest key', [longest], '/loans', { Authorization: `Bearer ${longest}` }, 200],
    ['refuses the longest key with one more character', [longest], '/loans', { apikey: `${longest}k` }, 401],
    ['refuses a request without a key', keys, '/loans', {}, 401],
    ['accepts a key as a bearer token', keys, '/loans', { Authorization: 'Bearer first-key' }, 200],
    ['accepts any of the keys', keys, '/loans', { Authorization: 'Bearer second-key' }, 200],
    ['accepts the scheme in upper and lower case', keys, '/loans', { Authorization: 'bearer first-key' }, 200],
    ['accepts a key in the apikey header', keys, '/loans', { apikey: 'second-key' }, 200],
    [
      'accepts either header when both are sent',
      keys,
      '/loans',
      { Authorization: 'Bearer x', apikey: 'first-key' },
      200,
    ],
    ['refuses another key', keys, '/loans', { apikey: 'third-key' }, 401],
    ['refuses a prefix of a key', keys, '/loans', { apikey: 'first-ke' }, 401],
    ['refuses an empty key', keys, '/loans', { apikey: '' }, 401],
    ['refuses another scheme', keys, '/loans', { Authorization: 'Digest first-key' }, 401],
    ['accepts a key as the password of any user', keys, '/loans', basic('somebody:first-key'), 200],
    ['accepts a key as the password of an empty name', keys, '/loans', basic(':second-key'), 200],
    ['accepts a password with colons', [visible], '/loans', basic(`somebody:${visible}`), 200],
    ['accepts a user name that is not ASCII', keys, '/loans', basic('Zoë:first-key'), 200],
    ['accepts Basic in any letter case', keys, '/loans', basic('a:first-key', 'bASIC'), 200],
    ['accepts the longest key as a password', [longest], '/loans', basic(`a:${longest}`), 200],
    ['refuses another password', keys, '/loans', basic('somebody:third-key'), 401],
    ['refuses a prefix of a key as the password', keys, '/loans', basic('somebody:first-ke'), 401],
    ['refuses a key as the user name', keys, '/loans', basic('first-key:'), 401],
    ['refuses a key that is not encoded', keys, '/loans', { Authorization: 'Basic first-key' }, 401],
    ['accepts the header apikey beside a broken Basic', keys, '/loans', { ...basic('x'), apikey: 'first-key' }, 200],
    ['accepts the header apikey in any letter case', keys, '/loans', { apiKey: 'first-key' }, 200],
    ['guards everything below /api', keys, '/api/health', {}, 401],
    ['refuses the key as a query parameter', keys, '/loans?apikey=first-key', {}, 401],
    ['refuses unknown paths alike, so that existing ones are not revealed', keys, '/nowhere', {}, 401],
    ['leaves /health open', keys, '/health', {}, 200],
    ['leaves /ready open', keys, '/ready', {}, 200],
    ['leaves /health/ open, because it is the same path', keys, '/health/', {}, 200],
    ['leaves /ready/ open, because it is the same path', keys, '/ready/', {}, 200],
    ['leaves /docs/ open', keys, '/docs/', {}, 404],
    ['leaves /openapi.json/ open', keys, '/openapi.json/', {}, 404],
    ['guards /HEALTH, which is another path', keys, '/HEALTH', {}, 401],
    ['guards /Ready, which is another path', keys, '/Ready', {}, 401],
    ['guards paths below an open path', keys, '/health/x', {}, 401],
    ['guards /metrics', keys, '/metrics', {}, 401],
    ['guards paths that only start like an open path', keys, '/health/../loans/x', {}, 401],
    ['lets everything through with no keys configured', [], '/loans', {}, 200],
    ['ignores the headers with no keys configured', [], '/loans', { Authorization: 'Bearer whatever' }, 200],
  ];
  for (const [sentence, configured, path, headers, status] of rows) {
    it(sentence, async () => {
      const url = await listen(configured);
      expect((await call(`${url}${path}`, 'GET', undefined, headers)).status).to.equal(status);
    });
  }

  it('refuses with a problem that names the scheme', async () => {
    const response = await call(`${await listen(keys)}/metrics`, 'GET');
    expect(response.headers.get('content-type')).to.equal('application/problem+json');
    expect(response.headers.get('www-authenticate')).to.equal('Bearer');
    expect(response.body['title']).to.equal('Unauthorized');
  });

  it('refuses lending requests in their error format, and names the scheme', async () => {
    const response = await call(`${await listen(keys)}/loans`, 'GET');
    expect(response.headers.get('content-type')).to.match(/^application\/json/);
    expect(response.headers.get('www-authenticate')).to.equal('Bearer');
    expect(response.body['errors']).to.deep.equal([
      {
        errorCode: 2,
        errorReason: 'INVALID_CREDENTIALS',
        errorSource: 'credentials',
        errorMessage:
          'A valid API key is needed: send "Authorization: Bearer <key>", "apikey", or the key as the password of "Basic".',
      },
    ]);
  });

  it('offers Basic only below /api, where the admin page sends no requests', async () => {
    const url = await listen(keys);
    const offers = async (path: string): Promise<string | null> =>
      (await call(`${url}${path}`, 'GET')).headers.get('www-authenticate');
    expect(await offers('/api/loans')).to.equal('Bearer, Basic realm="Lendstream", charset="UTF-8"');
    expect(await offers('/toggles')).to.equal('Bearer');
  });

  it('distinguishes a broken Basic header from wrong credentials', async () => {
    const url = await listen(keys);
    const reasonOf = async (headers: Record<string, string>): Promise<unknown> => {
      const { body } = await call(`${url}/api/loans`, 'GET', undefined, headers);
      const [error] = body['errors'] as { errorCode: number; errorReason: string }[];
      return [error?.errorCode, error?.errorReason];
    };
    for (const headers of [{ Authorization: 'Basic' }, { Authorization: 'Basic ***' }, basic('no colon')]) {
      expect(await reasonOf(headers)).to.deep.equal([1, 'INVALID_BASIC_AUTHORIZATION']);
    }
    expect(await reasonOf(basic('somebody:wrong'))).to.deep.equal([2, 'INVALID_CREDENTIALS']);
  });
});
