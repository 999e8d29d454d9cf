import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { chromiumOrSkip, sharedChromium } from '../../../support/http/chromium.ts';
import { eventually } from '../../../support/eventually.ts';
import { call } from '../../../support/http/client.ts';
import { startServiceHere, type ServiceHere } from '../../../support/processes/service-here.ts';
import { removeFolder, temporaryFolder } from '../../../support/processes/service.ts';

const apiKey = 'key-of-this-test';

/** The compiled example of docs/api.md. */
const example = new URL('../../../../scripts/examples/page.js', import.meta.url);

describe('pages of other origins in a browser', function () {
  this.timeout(60_000);
  let folder = '';
  let service: ServiceHere;
  let page: Page;
  const sites: Server[] = [];
  const origins: string[] = [];

  before(async function () {
    const program = chromiumOrSkip(this);
    for (let index = 0; index < 2; index += 1) {
      const site = createServer((_request, response) => {
        response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>Another site</title>');
      });
      await once(site.listen(0, '127.0.0.1'), 'listening');
      sites.push(site);
      origins.push(`http://127.0.0.1:${(site.address() as AddressInfo).port}`);
    }
    folder = await temporaryFolder();
    service = await startServiceHere(folder, { API_KEYS: apiKey, CORS_ORIGINS: origins[0] ?? '' });
    page = await (await sharedChromium(program)).newPage();
  });

  after(async () => {
    for (const site of sites) {
      site.closeAllConnections();
      site.close();
    }
    await page?.close();
    await service?.stop();
    if (folder !== '') await removeFolder(folder);
  });

  /** What the page gets: the status, and the headers it may see; or that the browser refused. */
  function send(path: string, options: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>> {
    const url = JSON.stringify(`${service.url}${path}`);
    return page.evaluate<Record<string, unknown>>(`fetch(${url}, ${JSON.stringify(options)}).then(
      async (response) => ({
        status: response.status,
        headers: Object.fromEntries(response.headers),
        text: response.headers.get('content-type') === 'application/x-json-stream' ? '' : await response.text(),
      }),
      () => ({ status: 'refused' }))`);
  }

  const json = { 'Content-Type': 'application/json', apikey: apiKey };
  const subscription = { owning_application: 'page', event_types: ['loan_balance_changed'] };

  it('of a listed origin use the API, streams and commits included', async () => {
    await page.goto(`${origins[0]}/`);
    const created = await send('/subscriptions', { method: 'POST', headers: json, body: JSON.stringify(subscription) });
    expect(created['status']).to.equal(201);
    const location = (created['headers'] as Record<string, string>)['location'] ?? '';
    expect(location).to.match(/^\/subscriptions\//);
    const opened = await send(`${location}/events`, { headers: { apikey: apiKey } });
    const streamId = (opened['headers'] as Record<string, string>)['x-nakadi-streamid'] ?? '';
    expect(streamId).to.match(/^[0-9a-f-]{36}$/);
    const cursor = { partition: '0', offset: 'BEGIN', event_type: 'loan_balance_changed', cursor_token: 'token' };
    const headers = { ...json, 'X-Nakadi-StreamId': streamId };
    const committed = await send(`${location}/cursors`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ items: [cursor] }),
    });
    expect(committed['status']).to.be.oneOf([200, 204]);
    expect(await send(location, { method: 'DELETE', headers: { apikey: apiKey } })).to.include({ status: 204 });
  });

  it('of a listed origin follow events with stream tokens, and miss none between two streams', async () => {
    const headers = { apikey: apiKey };
    const path = `${service.url}/event-types/shop.followed`;
    const schema = { type: 'json_schema', schema: '{}' };
    const definition = { name: 'shop.followed', owning_application: 'shop', category: 'undefined', schema };
    expect((await call(`${service.url}/event-types`, 'POST', definition, headers)).status).to.equal(201);
    const publish = async (...numbers: number[]): Promise<void> => {
      const events = numbers.map((number) => ({ number }));
      expect((await call(`${path}/events`, 'POST', events, headers)).status).to.equal(200);
    };
    const script = await readFile(example, 'utf8');
    await page.route('**/page.js', (route) => route.fulfill({ contentType: 'text/javascript', body: script }));
    await page.goto(`${origins[0]}/`);
    const isOpen = page.waitForResponse((response) => response.url().includes('stream_token='));
    // The page has no key: what is behind it asks for the tokens.
    let tokens = 0;
    await page.exposeFunction('newToken', async () => {
      tokens += 1;
      const { body } = await call(`${service.url}/stream-tokens`, 'POST', { event_type: 'shop.followed' }, headers);
      return body['token'];
    });
    await page.evaluate(`import('/page.js').then(({ follow }) => {
      globalThis.numbers = [];
      void follow(${JSON.stringify(service.url)}, 'shop.followed', newToken, ({ number }) => numbers.push(number));
    })`);
    expect((await isOpen).status()).to.equal(200);
    await publish(0, 1, 2);
    const numbers = (): Promise<number[]> => page.evaluate<number[]>('numbers');
    await eventually(async () => (await numbers()).length === 3, 20_000);
    expect((await call(`${path}/partition-count`, 'PUT', { partition_count: 2 }, headers)).status).to.equal(204);
    await publish(3, 4, 5, 6, 7, 8, 9);
    await eventually(async () => (await numbers()).length >= 10, 20_000);
    expect(await numbers()).to.have.members([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(tokens).to.be.greaterThan(1);
  });

  it('of a listed origin read why they are refused', async () => {
    await page.goto(`${origins[0]}/`);
    const refused = await send('/event-types', {});
    expect(refused['status']).to.equal(401);
    expect(refused['text']).to.match(/API key/);
  });

  it('of another origin get nothing, with the key neither', async () => {
    await page.goto(`${origins[1]}/`);
    for (const options of [{}, { headers: { apikey: apiKey } }, { method: 'DELETE', headers: { apikey: apiKey } }]) {
      expect(await send('/event-types', options)).to.deep.equal({ status: 'refused' });
    }
    await send('/subscriptions', { method: 'POST', headers: json, body: JSON.stringify(subscription) });
    const list = await call(`${service.url}/subscriptions`, 'GET', undefined, { apikey: apiKey });
    expect(list.body['items']).to.deep.equal([]);
  });

  it('of a listed origin cannot send cookies along', async () => {
    await page.goto(`${origins[0]}/`);
    const options = { credentials: 'include', headers: { apikey: apiKey } };
    expect(await send('/event-types', options)).to.deep.equal({ status: 'refused' });
  });
});
