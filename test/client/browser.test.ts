import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { Lendstream, newEvent } from '../../src/client/client.ts';
import { eventually } from '../support/eventually.ts';
import { chromiumOrSkip, sharedChromium } from '../support/http/chromium.ts';
import { startServiceHere, type ServiceHere } from '../support/processes/service-here.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { defineNumbered } from './numbered-events.ts';

const apiKey = 'key-of-this-browser-test';

/** The compiled client, which the page imports as it is. */
const compiled = new URL('../../src/client/', import.meta.url);

describe('the client in a page of another origin', function () {
  this.timeout(90_000);
  let page: Page;
  let site: Server;
  let folder = '';
  let service: ServiceHere;
  let lendstream: Lendstream;

  before(async function () {
    const program = chromiumOrSkip(this);
    site = createServer((request, response) => {
      const [, name] = /^\/client\/([\w.-]+\.js)$/.exec(request.url ?? '') ?? [];
      if (name === undefined) {
        response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>A page</title>');
        return;
      }
      void readFile(new URL(name, compiled)).then((text) => {
        response.setHeader('Content-Type', 'text/javascript').end(text);
      });
    });
    await once(site.listen(0, '127.0.0.1'), 'listening');
    const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    folder = await temporaryFolder();
    service = await startServiceHere(folder, { API_KEYS: apiKey, CORS_ORIGINS: origin, ROLES: 'serve' });
    lendstream = new Lendstream({ url: service.url, apiKey });
    page = await (await sharedChromium(program)).newPage();
    await page.goto(`${origin}/`);
  });

  after(async () => {
    await page?.close();
    site?.closeAllConnections();
    site?.close();
    await service?.stop();
    if (folder !== '') await removeFolder(folder);
  });

  it('publishes, consumes, commits, and stops after the batch in hand', async () => {
    const eventType = await defineNumbered(lendstream);
    await lendstream.publish(eventType, [newEvent({ number: 1, key: 'a' })]);
    const { id } = await lendstream.subscribe({
      owning_application: 'page',
      event_types: [eventType],
      read_from: 'begin',
    });
    const options = JSON.stringify({ url: service.url, apiKey });
    await page.evaluate(`import('/client/client.js').then(async ({ Lendstream, newEvent, ExactNumber }) => {
      const lendstream = new Lendstream(${options});
      const consumer = lendstream.consume('${id}', { skipRepeated: true });
      globalThis.numbers = [];
      globalThis.consuming = (async () => {
        for await (const { number } of consumer.events()) {
          numbers.push(String(number));
          if (numbers.length === 3) consumer.stop();
        }
        return 'stopped';
      })();
      const texts = ['12.50', '9007199254740993'];
      await lendstream.publish('${eventType}', texts.map((text) => newEvent({ key: 'a', number: new ExactNumber(text) })));
    })`);
    await eventually(async () => (await page.evaluate<unknown[]>('numbers')).length >= 3, 30_000);
    expect(await page.evaluate('consuming')).to.equal('stopped');
    expect(await page.evaluate('numbers')).to.deep.equal(['1', '12.50', '9007199254740993']);
    const [statistics] = await lendstream.lag(id);
    expect(statistics?.partitions[0]).to.include({ unconsumed_events: 0, state: 'unassigned' });
  });

  it('tails an event type', async () => {
    const eventType = await defineNumbered(lendstream);
    const events = Array.from({ length: 100 }, (_, number) => newEvent({ number, key: 'a', text: 'x'.repeat(20_000) }));
    await lendstream.publish(eventType, events);
    const options = JSON.stringify({ url: service.url, apiKey });
    const count = await page.evaluate(`import('/client/client.js').then(async ({ Lendstream }) => {
      let count = 0;
      const tail = new Lendstream(${options}).tail('${eventType}', { from: 'begin', quietSeconds: 1 });
      for await (const { events } of tail) count += events.length;
      return count;
    })`);
    expect(count).to.equal(100);
  });

  it('says what is wrong with a key that the service refuses', async () => {
    const status = await page.evaluate(`import('/client/client.js').then(async ({ Lendstream }) => {
      const lendstream = new Lendstream({ url: ${JSON.stringify(service.url)}, apiKey: 'another-key-of-this-test' });
      return lendstream.eventTypes().catch(({ status }) => status);
    })`);
    expect(status).to.equal(401);
  });
});
