import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { createApp, type App } from '../../../src/app.ts';
import { readConfig } from '../../../src/config.ts';
import { silentLogger } from '../../../src/logger.ts';
import { rawResponseTo, parseResponse, type RawResponse } from '../../support/http/raw-request.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';

const apiKey = 'key-of-this-test';
const subscription = '{"owning_application":"shop","event_types":["loan_balance_changed"]}';

type Headers = Readonly<Record<string, string>>;

/** As a browser sends it for a page of another site. */
const crossSite = { 'Sec-Fetch-Site': 'cross-site', Origin: 'http://evil.example' };
const navigation = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' };
const preflight = { ...crossSite, 'Access-Control-Request-Method': 'POST' };
const json = { 'Content-Type': 'application/json' };

for (const [description, environment] of [
  ['an open service', {}],
  ['a service with keys', { API_KEYS: apiKey }],
] as const) {
  describe(`${description}, asked by a browser`, () => {
    let folder: string;
    let app: App;
    let url: string;

    before(async () => {
      folder = await temporaryFolder();
      const settings = { DATA_DIR: folder, PORT: '0', ALLOWED_HOSTS: 'streams.example, other.example:8443' };
      app = await createApp(readConfig({ ...settings, ...environment }), silentLogger);
      url = await app.start();
    });

    after(async () => {
      await app.stop();
      await removeFolder(folder);
    });

    async function sendRequest(method: string, path: string, headers: Headers, body = ''): Promise<RawResponse> {
      const all = { Host: new URL(url).host, apikey: apiKey, Connection: 'close', ...headers };
      const length = method === 'GET' && body === '' ? {} : { 'Content-Length': String(body.length) };
      const lines = Object.entries({ ...all, ...length }).map(([name, value]) => `${name}: ${value}\r\n`);
      return parseResponse(await rawResponseTo(url, `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`));
    }

    const own = (): string => url;
    const rows: [title: string, method: string, path: string, headers: () => Headers, body: string, status: number][] =
      [
        ['reads for a page of another site', 'GET', '/loans', () => crossSite, '', 403],
        ['reads for a page of the same site', 'GET', '/loans', () => ({ 'Sec-Fetch-Site': 'same-site' }), '', 403],
        ['reads for an unknown site', 'GET', '/loans', () => ({ 'Sec-Fetch-Site': 'new-kind' }), '', 403],
        ['reads for two sites', 'GET', '/loans', () => ({ 'Sec-Fetch-Site': 'same-origin, none' }), '', 403],
        ['reads with only another origin', 'GET', '/toggles', () => ({ Origin: 'http://evil.example' }), '', 403],
        ['reads for a hidden origin', 'GET', '/toggles', () => ({ Origin: 'null' }), '', 403],
        ['reads for an invalid origin', 'GET', '/toggles', () => ({ Origin: 'localhost' }), '', 403],
        ['reads for a file', 'GET', '/toggles', () => ({ Origin: 'file://' }), '', 403],
        ['reads for another port', 'GET', '/toggles', () => ({ Origin: 'http://127.0.0.1:1' }), '', 403],
        [
          'reads for another name',
          'GET',
          '/toggles',
          () => ({ Origin: own().replace('127.0.0.1', 'localhost') }),
          '',
          403,
        ],
        ['opens a stream for another page', 'GET', '/subscriptions/x/events', () => crossSite, '', 403],
        ['requests health for another page', 'GET', '/health', () => crossSite, '', 403],
        ['follows a link to data', 'GET', '/loans', () => navigation, '', 403],
        ['loads a script of the pages elsewhere', 'GET', '/docs/start.js', () => ({ ...crossSite }), '', 403],
        ['writes for another page', 'POST', '/subscriptions', () => ({ ...crossSite, ...json }), subscription, 403],
        ['sends a form of another page', 'POST', '/subscriptions', () => navigation, subscription, 403],
        ['sends a preflight of a write for another page', 'OPTIONS', '/subscriptions', () => preflight, '', 403],
        ['sends a preflight of a read for another page', 'OPTIONS', '/loans/x', () => preflight, '', 403],
        ['sends a preflight without a path', 'OPTIONS', '/nowhere', () => preflight, '', 403],
        [
          'sends a form of its own page',
          'POST',
          '/subscriptions',
          () => ({ Origin: own(), 'Content-Type': 'text/plain' }),
          subscription,
          415,
        ],
        ['sends a body without a type', 'POST', '/subscriptions', () => ({ Origin: own() }), subscription, 415],
        [
          'sends a lending form',
          'PUT',
          '/toggles/PRINCIPAL_OVERPAYMENT',
          () => ({ 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'application/x-www-form-urlencoded' }),
          '{"enabled":false}',
          415,
        ],
        [
          'sends almost JSON',
          'POST',
          '/subscriptions',
          () => ({ Origin: own(), 'Content-Type': 'text/plain; a=application/json' }),
          subscription,
          415,
        ],
        ['reads for its own page', 'GET', '/loans', () => ({ 'Sec-Fetch-Site': 'same-origin' }), '', 200],
        ['reads for its own origin', 'GET', '/loans', () => ({ Origin: own() }), '', 200],
        ['opens an address that the user typed', 'GET', '/loans', () => ({ 'Sec-Fetch-Site': 'none' }), '', 200],
        ['follows a link to the page', 'GET', '/admin', () => navigation, '', 200],
        ['follows a link to the start', 'GET', '/', () => navigation, '', 302],
        ['follows a link to the description', 'GET', '/docs', () => navigation, '', 200],
        ['writes for its own page', 'POST', '/subscriptions', () => ({ Origin: own(), ...json }), subscription, 201],
        [
          'writes in another form of JSON',
          'POST',
          '/subscriptions',
          () => ({ Origin: own(), 'Content-Type': 'application/vnd.a+json; charset=utf-8' }),
          subscription,
          200,
        ],
        [
          'writes through a proxy with a configured name',
          'POST',
          '/subscriptions',
          () => ({ Origin: 'https://streams.example', ...json }),
          subscription,
          200,
        ],
        [
          'writes through a proxy on a port',
          'POST',
          '/subscriptions',
          () => ({ Origin: 'https://other.example:8443', ...json }),
          subscription,
          200,
        ],
        [
          'writes from an unconfigured port of the proxy',
          'POST',
          '/subscriptions',
          () => ({ Origin: 'https://streams.example:1', ...json }),
          subscription,
          403,
        ],
        [
          'writes with a host passed on by the proxy',
          'POST',
          '/subscriptions',
          () => ({ Host: 'streams.example:80', Origin: 'http://streams.example', ...json }),
          subscription,
          200,
        ],
        ['writes with nothing in the body', 'POST', '/subscriptions', () => ({ Origin: own() }), '', 400],
        ['deletes without a body', 'DELETE', '/event-types/none', () => ({ Origin: own() }), '', 404],
      ];
    for (const [title, method, path, headers, body, status] of rows) {
      it(`returns ${status} when it ${title}`, async () => {
        const response = await sendRequest(method, path, headers(), body);
        expect(response.status, response.body).to.equal(status);
        const opening = Object.keys(response.headers).filter((name) => name.startsWith('access-control-'));
        expect(opening).to.deep.equal([]);
      });
    }

    it('refuses in the format of the requested API', async () => {
      const [problem, errors] = [
        await sendRequest('GET', '/event-types', crossSite),
        await sendRequest('GET', '/loans', crossSite),
      ];
      expect(problem.headers['content-type']).to.equal('application/problem+json');
      expect(JSON.parse(problem.body)).to.include({ status: 403, title: 'Forbidden' });
      expect(errors.headers['content-type']).to.match(/^application\/json/);
      expect(JSON.parse(errors.body)).to.have.nested.property('errors[0].errorReason', 'INVALID_API_OPERATION');
    });

    /** Client libraries send every type or none, and never an origin. Node's `fetch` sends its mode, and no site. */
    const libraries: [title: string, headers: Headers, body: string][] = [
      ['with JSON', json, subscription],
      [
        'with JSON and its charset',
        { 'Content-Type': 'application/json;charset=UTF-8', 'Accept-Charset': 'utf-8' },
        subscription,
      ],
      ['as text', { 'Content-Type': 'text/plain;charset=UTF-8', 'Sec-Fetch-Mode': 'cors' }, subscription],
      ['as a form, as curl does', { 'Content-Type': 'application/x-www-form-urlencoded' }, subscription],
      ['without a type', {}, subscription],
    ];
    for (const [title, headers, body] of libraries) {
      it(`lets a client library write ${title}`, async () => {
        expect((await sendRequest('POST', '/subscriptions', headers, body)).status).to.be.oneOf([200, 201]);
      });
    }

    for (const method of ['GET', 'DELETE']) {
      it(`lets a client library send ${method} with a JSON type and no body, and with a body to ignore`, async () => {
        const path = '/event-types/none';
        expect((await sendRequest(method, path, json)).status).to.equal(404);
        expect((await sendRequest(method, path, json, '{}')).status).to.equal(404);
      });
    }

    const isOpen = description === 'an open service';
    const foreignHost = isOpen ? 421 : 200;
    const hosts: [host: string, status: number][] = [
      ['localhost', 200],
      ['LocalHost:8080', 200],
      ['localhost.:8080', 200],
      ['127.0.0.1', 200],
      ['127.0.0.1:1', 200],
      ['127.255.255.254', 200],
      ['[::1]:8080', 200],
      ['[0:0:0:0:0:0:0:1]', 200],
      ['[::ffff:127.0.0.1]', 200],
      ['streams.example', 200],
      ['Streams.Example:9999', 200],
      ['other.example:8443', 200],
      ['other.example', foreignHost],
      ['evil.example', foreignHost],
      ['evil.example:8080', foreignHost],
      ['localhost.evil.example', foreignHost],
      ['127.0.0.1.evil.example', foreignHost],
      ['evil.example@127.0.0.1', foreignHost],
      ['128.0.0.1', foreignHost],
      ['0.0.0.0', foreignHost],
      ['[::2]', foreignHost],
      ['', foreignHost],
    ];
    for (const [host, status] of hosts) {
      it(`returns ${status} under the name ${JSON.stringify(host)}`, async () => {
        for (const path of ['/loans', '/health', '/event-types', '/admin']) {
          const response = await sendRequest('GET', path, { Host: host });
          expect(response.status, path).to.equal(status);
          if (status === 421) expect(response.body, path).to.match(path === '/loans' ? /^\{"errors":/ : /^\{"title":/);
        }
      });
    }

    it('uses the host of the request line when there is one', async () => {
      expect((await sendRequest('GET', 'http://evil.example/loans', {})).status).to.equal(foreignHost);
      expect((await sendRequest('GET', 'http://localhost/loans', { Host: 'evil.example' })).status).to.equal(200);
    });
  });
}
