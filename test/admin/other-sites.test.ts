import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { annuityProduct } from '../../src/admin/example-product.ts';
import { chromiumOrSkip, startChromium } from '../support/http/chromium.ts';
import { call } from '../support/http/client.ts';
import { startServiceHere, type ServiceHere } from '../support/processes/service-here.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

/** A name that an attacker pointed at this machine, and one that belongs to a proxy of the service. */
const reboundName = 'evil.test';
const proxyName = 'streams.test';

/** The response that a page got. `opaque` is a response that the browser does not show to it. */
type Seen = number | 'opaque' | 'refused';

describe('pages of other sites in a browser', function () {
  this.timeout(60_000);
  let browser: Browser;
  let folder = '';
  let service: ServiceHere;
  let otherSite: Server;
  let page: Page;

  before(async function () {
    const program = chromiumOrSkip(this);
    folder = await temporaryFolder();
    service = await startServiceHere(folder, { ALLOWED_HOSTS: proxyName });
    const names = [reboundName, proxyName].map((name) => `MAP ${name} 127.0.0.1`);
    browser = await startChromium(program, [
      `--host-resolver-rules=${names.join(',')}`,
      // Not every browser has its own protection.
      '--disable-features=LocalNetworkAccessChecks,PrivateNetworkAccessSendPreflights,BlockInsecurePrivateNetworkRequests',
    ]);
    page = await browser.newPage();
    otherSite = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>Another site</title>');
    });
    await once(otherSite.listen(0, '127.0.0.1'), 'listening');
    await call(`${service.url}/event-types`, 'POST', eventType('shop.orders'));
    await call(`${service.url}/loanproducts`, 'POST', annuityProduct('annuity'));
    const loan = { id: 'loan-1', productTypeKey: 'annuity', loanAmount: 100 };
    expect((await call(`${service.url}/loans`, 'POST', loan)).status).to.equal(201);
  });

  after(async () => {
    otherSite?.closeAllConnections();
    otherSite?.close();
    await browser?.close();
    await service?.stop();
    if (folder !== '') await removeFolder(folder);
  });

  /** Sends a request from the current page. */
  function send(url: string, options: Readonly<Record<string, unknown>>): Promise<Seen> {
    const script = `fetch(${JSON.stringify(url)}, ${JSON.stringify(options)}).then(
      (response) => response.type === 'opaque' ? 'opaque' : response.status, () => 'refused')`;
    return page.evaluate<Seen>(script);
  }

  async function openOtherSite(): Promise<void> {
    await page.goto(`http://127.0.0.1:${(otherSite.address() as AddressInfo).port}/`);
  }

  async function expectNothingChanged(): Promise<void> {
    const types = await call(`${service.url}/event-types?owning_application=shop`, 'GET');
    expect((JSON.parse(types.text) as { name: string }[]).map(({ name }) => name)).to.deep.equal(['shop.orders']);
    expect((await call(`${service.url}/loans/loan-1`, 'GET')).body).to.include({ accountState: 'PENDING_APPROVAL' });
    const partitions = await call(`${service.url}/event-types/shop.orders/partitions`, 'GET');
    expect(partitions.text).to.include('"newest_available_offset":"001-0001--1"');
    expect((await call(`${service.url}/subscriptions`, 'GET')).body['items']).to.deep.equal([]);
  }

  const writing: [title: string, method: string, path: string, body: unknown][] = [
    ['define an event type', 'POST', '/event-types', eventType('shop.foreign')],
    ['approve a loan', 'POST', '/loans/loan-1:changeState', { action: 'APPROVE' }],
    ['publish', 'POST', '/event-types/shop.orders/events', [{ order: 'foreign' }]],
    ['subscribe', 'POST', '/subscriptions', { owning_application: 'foreign', event_types: ['shop.orders'] }],
    ['switch a toggle', 'PUT', '/toggles/PRINCIPAL_OVERPAYMENT', { enabled: true }],
    ['delete', 'DELETE', '/event-types/shop.orders', undefined],
  ];
  for (const [title, method, path, value] of writing) {
    it(`cannot ${title}`, async () => {
      await openOtherSite();
      const body = value === undefined ? {} : { body: JSON.stringify(value) };
      for (const headers of [{}, { 'Content-Type': 'text/plain' }, { 'Content-Type': 'application/json' }]) {
        expect(await send(`${service.url}${path}`, { method, ...body, headers })).to.equal('refused');
        if (method === 'POST') await send(`${service.url}${path}`, { method, ...body, mode: 'no-cors' });
      }
      await expectNothingChanged();
    });
  }

  it('cannot subscribe with a form', async () => {
    await openOtherSite();
    const field = '{"owning_application":"foreign","event_types":["shop.orders"],"a":"';
    await page.setContent(`<form method="post" enctype="text/plain" action="${service.url}/subscriptions">
      <input name='${field}' value='"}'></form>`);
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.url().endsWith('/subscriptions')),
      // The next page could not be opened while this one is under way.
      page.waitForURL('**/subscriptions'),
      page.evaluate('document.forms[0].submit()'),
    ]);
    expect(answer.status()).to.equal(403);
    await expectNothingChanged();
  });

  it('cannot read responses, nor take partitions with a stream', async () => {
    const subscription = { owning_application: 'ours', event_types: ['shop.orders'] };
    const { body } = await call(`${service.url}/subscriptions`, 'POST', subscription);
    const events = `${service.url}/subscriptions/${String(body['id'])}/events`;
    await openOtherSite();
    const asked = page.waitForResponse(events);
    const stream = page.evaluate(`fetch(${JSON.stringify(events)}, { mode: 'no-cors' }).catch(() => undefined)`);
    expect((await asked).status()).to.equal(403);
    await stream;
    expect(await send(`${service.url}/loans`, {})).to.equal('refused');
    await call(`${service.url}/subscriptions/${String(body['id'])}`, 'DELETE');
  });

  it('may link to the pages of the service', async () => {
    await openOtherSite();
    await page.setContent(`<a href="${service.url}/">there</a>`);
    await page.getByRole('link').click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await openOtherSite();
    await page.setContent(`<a href="${service.url}/docs">there</a>`);
    // What it shows takes seconds to lay out.
    const description = page.waitForResponse(`${service.url}/openapi.json`);
    await page.getByRole('link').click({ noWaitAfter: true });
    expect((await description).status()).to.equal(200);
  });

  it('can read nothing under a host name that an attacker pointed at this machine', async () => {
    const rebound = service.url.replace('127.0.0.1', reboundName);
    // What the name led to before: an attacker's page, of the same origin as the service has now.
    await page.route(`${rebound}/attack`, (route) => route.fulfill({ contentType: 'text/html', body: 'Hello' }));
    await page.goto(`${rebound}/attack`);
    for (const path of ['/loans', '/event-types', '/metrics', '/health']) {
      expect(await send(`${rebound}${path}`, {}), path).to.equal(421);
    }
    for (const [, method, path, value] of writing) {
      const headers = { 'Content-Type': 'application/json' };
      const body = value === undefined ? {} : { body: JSON.stringify(value) };
      expect(await send(`${rebound}${path}`, { method, headers, ...body }), path).to.equal(421);
    }
    expect((await page.goto(`${rebound}/admin`))?.status()).to.equal(421);
    await expectNothingChanged();
  });

  it('are distinguished from the pages of the service itself, under its own names and that of a proxy', async () => {
    for (const [name, toggle] of [
      ['127.0.0.1', 'PRINCIPAL_OVERPAYMENT'],
      ['localhost', 'ALLOW_NON_SCHEDULED_FEES'],
      [proxyName, 'fixInstallmentTaxOnPenalty'],
    ] as const) {
      const url = service.url.replace('127.0.0.1', name);
      await page.goto(`${url}/admin/toggles`);
      await page.getByRole('button', { name: `Switch on ${toggle}` }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Switch on' }).click();
      await page.getByText(`${toggle} is on now.`).waitFor();
      // What it shows, which takes seconds to lay out, is the same under every name.
      const description = page.waitForResponse(`${url}/openapi.json`);
      await page.goto(`${url}/docs`, { waitUntil: 'commit' });
      expect((await description).status(), name).to.equal(200);
    }
  });
});

function eventType(name: string): object {
  return {
    name,
    owning_application: 'shop',
    category: 'undefined',
    schema: { type: 'json_schema', schema: '{"properties":{"order":{"type":"string"}}}' },
  };
}
