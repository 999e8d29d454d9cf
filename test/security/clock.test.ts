import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import type { App } from '../../src/app.ts';
import { systemClock } from '../../src/clock.ts';
import { readConfig } from '../../src/config.ts';
import { silentLogger } from '../../src/logger.ts';
import { clusterUnderTest } from '../support/backend-under-test.ts';
import { eventTypeBody, exampleMetadata } from '../support/broker-on-embedded-log.ts';
import { call, eventsOf, openStream, type HttpResponse } from '../support/http/client.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { createAppHere } from '../support/processes/service-here.ts';

const hour = 3_600_000;
const day = 24 * hour;

describe('a service whose machine gets another time', function () {
  this.timeout(60_000);
  const name = `clock-${process.pid}`;
  let folder: string;
  let app: App;
  let url: string;
  /** How far the clock is from the true time. Milliseconds. */
  let shift = 0;

  before(async () => {
    folder = await temporaryFolder();
    const config = readConfig({ DATA_DIR: folder, PORT: '0', END_OF_DAY_SCHEDULE: 'off', ...clusterUnderTest() });
    const clock = { ...systemClock, now: () => systemClock.now() + shift };
    app = await createAppHere(config, silentLogger, clock);
    url = await app.start();
    expect((await send('POST', '/event-types', eventTypeBody(name))).status).to.equal(201);
  });

  after(async () => {
    await app.stop();
    await removeFolder(folder);
  });

  const send = (method: string, path: string, body?: unknown): Promise<HttpResponse> =>
    call(`${url}${path}`, method, body);

  for (const [number, [title, milliseconds]] of [
    ['an hour ago', -hour],
    ['in two hours', 2 * hour],
    ['in thirty days', 30 * day],
    ['a year ago', -365 * day],
  ].entries() as ArrayIterator<[number, [string, number]]>) {
    it(`publishes, delivers, commits, records changes and is ready ${title}`, async () => {
      const group = `${name}-${number}`;
      const identity = { owning_application: 'shop', event_types: [name], consumer_group: group, read_from: 'end' };
      const subscribed = await send('POST', '/subscriptions', identity);
      const stream = await openStream(url, String(subscribed.body['id']), '?batch_flush_timeout=1');
      shift = milliseconds;
      const eid = `00000000-0000-4000-8000-00000000000${number}`;
      const published = await send('POST', `/event-types/${name}/events`, [
        { metadata: { ...exampleMetadata(), eid } },
      ]);
      expect(published.status, published.text).to.equal(200);
      await stream.until((batches) => eventsOf(batches).length === 1, 15_000);
      expect(JSON.stringify(eventsOf(stream.batches))).to.contain(eid);
      const { cursor } = stream.batches.findLast(({ events = [] }) => events.length > 0) ?? {};
      expect((await stream.commit(cursor === undefined ? [] : [cursor])).status).to.equal(204);
      stream.close();
      const changed = await send('PUT', '/toggles/PRINCIPAL_OVERPAYMENT', { enabled: number % 2 === 0 });
      expect(changed.status, changed.text).to.equal(200);
      const { status, text } = await send('GET', '/ready');
      expect(status, text).to.equal(200);
    });
  }
});
