import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import type { Page } from 'playwright-core';
import { chromiumOrSkip, sharedChromium } from '../../support/http/chromium.ts';
import { call } from '../../support/http/client.ts';
import { eventually } from '../../support/eventually.ts';
import { startServiceHere, type ServiceHere } from '../../support/processes/service-here.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';

describe('the EventSource of a browser', function () {
  this.timeout(60_000);
  let folder = '';
  let service: ServiceHere;
  let page: Page;

  before(async function () {
    const program = chromiumOrSkip(this);
    folder = await temporaryFolder();
    service = await startServiceHere(folder);
    page = await (await sharedChromium(program)).newPage();
    await page.route(`${service.url}/page`, (route) =>
      route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }),
    );
  });

  after(async () => {
    await page?.close();
    await service?.stop();
    if (folder !== '') await removeFolder(folder);
  });

  async function define(name: string): Promise<void> {
    const { status } = await call(`${service.url}/event-types`, 'POST', {
      name,
      owning_application: 'shop',
      category: 'undefined',
      default_statistic: { messages_per_minute: 1, message_size: 1, read_parallelism: 2, write_parallelism: 2 },
      schema: { type: 'json_schema', schema: '{}' },
    });
    expect(status).to.equal(201);
  }

  async function publish(name: string, ...numbers: number[]): Promise<void> {
    const events = numbers.map((number) => ({ number }));
    expect((await call(`${service.url}/event-types/${name}/events`, 'POST', events)).status).to.equal(200);
  }

  function seen<Result>(expression: string): Promise<Result> {
    return page.evaluate<Result>(expression);
  }

  it('shows a page the events of a type, and resumes after the last one when the stream has ended', async () => {
    await define('shop.followed');
    await page.goto(`${service.url}/page`);
    await seen(`{
      globalThis.numbers = [];
      globalThis.ends = 0;
      globalThis.source = new EventSource('/event-types/shop.followed/events');
      source.onmessage = ({ data }) => numbers.push(...JSON.parse(data).events.map(({ number }) => number));
      source.addEventListener('end', () => ends += 1);
      new Promise((resolve) => source.addEventListener('start', () => resolve()));
    }`);
    await publish('shop.followed', 0, 1, 2);
    await eventually(async () => (await seen<number[]>('numbers')).length === 3, 10_000);
    // More partitions end the stream. What is published before the browser opens the next one is not lost.
    const path = `${service.url}/event-types/shop.followed/partition-count`;
    expect((await call(path, 'PUT', { partition_count: 4 })).status).to.equal(204);
    await eventually(async () => (await seen<number>('ends')) === 1, 10_000);
    await publish('shop.followed', 3, 4, 5, 6, 7, 8, 9);
    await eventually(async () => (await seen<number[]>('numbers')).length >= 10, 10_000);
    expect(await seen<number[]>('numbers')).to.have.members([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    await seen('source.close()');
  });

  it('streams a subscription, which the page commits with what the events have', async () => {
    await define('shop.committed');
    const subscription = { owning_application: 'page', event_types: ['shop.committed'], read_from: 'begin' };
    const { body } = await call(`${service.url}/subscriptions`, 'POST', subscription);
    const id = String(body['id']);
    await publish('shop.committed', 1, 2, 3);
    await page.goto(`${service.url}/page`);
    await seen(`{
      const subscription = '/subscriptions/${id}';
      let streamId;
      globalThis.statuses = [];
      globalThis.source = new EventSource(subscription + '/events');
      source.addEventListener('start', ({ data }) => streamId = JSON.parse(data).stream_id);
      source.onmessage = async ({ lastEventId }) => statuses.push((await fetch(subscription + '/cursors', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Nakadi-StreamId': streamId },
        body: '{"items":' + lastEventId + '}',
      })).status);
    }`);
    await eventually(async () => (await seen<number[]>('statuses')).length === 3, 10_000);
    expect(await seen<number[]>('statuses')).to.deep.equal([204, 204, 204]);
    await seen('source.close()');
    const { text } = await call(`${service.url}/subscriptions/${id}/stats`, 'GET');
    expect(text.match(/"unconsumed_events":0/g)).to.have.length(2);
  });
});
