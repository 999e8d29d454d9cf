import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { chromiumOrSkip, startChromium } from '../../support/http/chromium.ts';
import { call } from '../../support/http/client.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../../support/processes/service.ts';

const apiKey = 'key-of-this-test';

describe('pages of other origins in a browser', function () {
  this.timeout(60_000);
  let browser: Browser;
  let folder = '';
  let service: Service;
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
    service = await startService(folder, { API_KEYS: apiKey, CORS_ORIGINS: origins[0] ?? '' });
    // Not every browser has its own protection.
    browser = await startChromium(program, ['--disable-features=LocalNetworkAccessChecks']);
    page = await browser.newPage();
  });

  after(async () => {
    for (const site of sites) {
      site.closeAllConnections();
      site.close();
    }
    await browser?.close();
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
