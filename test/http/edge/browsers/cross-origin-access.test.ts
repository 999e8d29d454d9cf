import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { createApp, type App } from '../../../../src/app.ts';
import { readConfig } from '../../../../src/config.ts';
import { preflightSecondsMaximum } from '../../../../src/http/edge/browsers/cross-origin-access.ts';
import { silentLogger } from '../../../../src/logger.ts';
import { operations } from '../../../support/http/api-description.ts';
import { parseResponse, rawResponseTo, type RawResponse } from '../../../support/http/raw-request.ts';
import { removeFolder, temporaryFolder } from '../../../support/processes/service.ts';

/** The names of the headers that responses of the API have. */
function describedHeaders(): Set<string> {
  const described = operations.flatMap(({ responses }) => Object.values(responses));
  return new Set(described.flatMap(({ headers }) => Object.keys(headers)));
}

const apiKey = 'key-of-this-test';
const listed = 'https://app.example';

for (const [description, environment] of [
  ['an open service', {}],
  ['a service with keys', { API_KEYS: apiKey }],
] as const) {
  describe(`the pages of a listed origin and ${description}`, () => {
    const isOpen = description === 'an open service';
    let folder: string;
    let app: App;
    let url: string;

    before(async () => {
      folder = await temporaryFolder();
      const settings = { DATA_DIR: folder, PORT: '0', CORS_ORIGINS: `${listed}, http://localhost:3000` };
      app = await createApp(readConfig({ ...settings, ...environment }), silentLogger);
      url = await app.start();
    });

    after(async () => {
      await app.stop();
      await removeFolder(folder);
    });

    async function send(method: string, path: string, headers: Readonly<Record<string, string>>): Promise<RawResponse> {
      const all = { Host: new URL(url).host, Connection: 'close', ...headers };
      const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
      return parseResponse(await rawResponseTo(url, `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`));
    }

    const crossSite = { 'Sec-Fetch-Site': 'cross-site', Origin: listed };

    it('may read, and see the headers of the API', async () => {
      const response = await send('GET', '/event-types', { ...crossSite, apikey: apiKey });
      expect(response.status).to.equal(200);
      expect(response.headers['access-control-allow-origin']).to.equal(listed);
      expect(response.headers['access-control-expose-headers']).to.match(/\bX-Nakadi-StreamId\b/);
      expect(response.headers['vary']).to.match(/\bOrigin\b/);
    });

    it('see every header of responses that the description of the API names', async () => {
      const { headers } = await send('GET', '/event-types', { ...crossSite, apikey: apiKey });
      const exposed = headers['access-control-expose-headers']?.split(', ');
      expect(exposed).to.have.members([...describedHeaders(), 'Allow']);
      if (isOpen) return;
      const refused = await send('GET', '/event-types', { ...crossSite, Authorization: 'Bearer wrong' });
      expect(refused.status).to.equal(401);
      expect(refused.headers['www-authenticate']).to.match(/^Bearer\b/);
      expect(refused.headers['access-control-expose-headers']).to.match(/\bWWW-Authenticate\b/);
    });

    it('may read errors, in both formats, before a key is checked', async () => {
      for (const [path, status] of [
        ['/subscriptions/none', isOpen ? 404 : 401],
        ['/loans/none', isOpen ? 404 : 401],
        ['/nowhere', isOpen ? 404 : 401],
      ] as const) {
        const response = await send('GET', path, crossSite);
        expect([response.status, response.headers['access-control-allow-origin']]).to.deep.equal([status, listed]);
      }
      const wrong = await send('GET', '/event-types', { ...crossSite, 'X-Flow-Id': 'a b' });
      expect([wrong.status, wrong.headers['access-control-allow-origin']]).to.deep.equal([400, listed]);
    });

    it('may ask what they may send, without a key', async () => {
      const question = { ...crossSite, 'Access-Control-Request-Method': 'POST' };
      for (const path of ['/subscriptions', '/loans/x', '/nowhere']) {
        const { status, headers, body } = await send('OPTIONS', path, question);
        expect([status, body]).to.deep.equal([204, '']);
        expect(headers).to.include({
          'access-control-allow-origin': listed,
          'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
          'access-control-max-age': String(preflightSecondsMaximum),
        });
        expect(headers['access-control-allow-headers']).to.match(/\bapikey\b.*\bX-Nakadi-StreamId\b/);
      }
    });

    it('never send credentials of the browser', async () => {
      for (const method of ['GET', 'OPTIONS']) {
        const { headers } = await send(method, '/event-types', {
          ...crossSite,
          'Access-Control-Request-Method': 'GET',
        });
        expect(headers['access-control-allow-credentials']).to.equal(undefined);
      }
    });

    for (const origin of [
      'https://app.example:8443',
      'http://app.example',
      'https://sub.app.example',
      'https://app.example.evil.example',
      'HTTPS://APP.EXAMPLE',
      'http://localhost:3001',
      'null',
    ]) {
      it(`are distinguished from those of ${origin}`, async () => {
        for (const method of ['GET', 'OPTIONS']) {
          const headers = { ...crossSite, Origin: origin, 'Access-Control-Request-Method': 'GET', apikey: apiKey };
          const response = await send(method, '/event-types', headers);
          expect(response.status).to.equal(403);
          expect(response.headers['access-control-allow-origin']).to.equal(undefined);
        }
      });
    }

    it('do not open the service to requests whose origin the browser hides', async () => {
      const response = await send('GET', '/event-types', { 'Sec-Fetch-Site': 'cross-site', apikey: apiKey });
      expect(response.status).to.equal(403);
    });

    if (isOpen) {
      it('do not open it under a host name that an attacker pointed at this machine', async () => {
        for (const method of ['GET', 'OPTIONS']) {
          const headers = { ...crossSite, Host: 'evil.test', 'Access-Control-Request-Method': 'GET' };
          expect((await send(method, '/event-types', headers)).status).to.equal(421);
        }
      });
    }
  });
}
