import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { systemClock } from '../../../../src/clock.ts';
import { call } from '../../../support/http/client.ts';
import { clusterUnderTest } from '../../../support/backend-under-test.ts';
import { startServiceHere, type ServiceHere } from '../../../support/processes/service-here.ts';
import { removeFolder, temporaryFolder } from '../../../support/processes/service.ts';
import { largestLagsShown } from '../../../../src/http/streaming/finding/overview.ts';
import { randomUUID } from 'node:crypto';

describe('GET /overview', function () {
  this.timeout(60_000);
  let folder: string;
  let service: ServiceHere;

  before(async () => {
    folder = await temporaryFolder();
    service = await startServiceHere(folder, clusterUnderTest() ?? {});
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  interface Overview {
    readonly process: {
      readonly ready: boolean;
      readonly roles: string[];
      readonly disk: { readonly free_bytes: number };
    };
    readonly history: {
      readonly interval_seconds: number;
      readonly open_streams: number[];
      readonly unconsumed_events: (number | null)[];
      readonly disk_used_bytes: (number | null)[];
    };
    readonly lags: {
      readonly unconsumed_events: number;
      readonly largest: { readonly subscription_id: string; readonly unconsumed_events: number }[];
    };
    readonly dead_letters: { readonly commands: number; readonly subscriptions: number };
  }

  it('shows the process, what waits, and the subscriptions that lack most', async () => {
    const name = `tests.overview-${randomUUID()}`;
    const schema = { type: 'json_schema', schema: '{}' };
    const body = { name, owning_application: 'tests', category: 'undefined', schema };
    expect((await call(`${service.url}/event-types`, 'POST', body)).status).to.equal(201);
    await call(`${service.url}/event-types/${name}/events`, 'POST', [{ a: 1 }, { a: 2 }]);
    for (let number = 0; number <= largestLagsShown; number += 1) {
      const subscription = {
        owning_application: 'tests',
        event_types: [name],
        consumer_group: `${number}`,
        read_from: 'begin',
      };
      expect((await call(`${service.url}/subscriptions`, 'POST', subscription)).status).to.equal(201);
    }
    const { status, text } = await call(`${service.url}/overview`, 'GET');
    expect(status, text).to.equal(200);
    const overview = JSON.parse(text) as Overview;
    expect(overview.process).to.deep.include({ ready: true, roles: ['serve', 'work'] });
    expect(overview.process.disk.free_bytes).to.be.greaterThan(0);
    expect(overview.history.interval_seconds).to.equal(10);
    expect(overview.lags.largest).to.have.length(largestLagsShown);
    expect(overview.lags.largest[0]?.unconsumed_events).to.be.at.least(2);
    expect(overview.dead_letters.commands).to.be.at.least(0);
    expect((await call(`${service.url}/overview`, 'POST', {})).status).to.equal(405);
  });

  /** How many events the subscription of the test below lacks. */
  const lag = 500;

  it('has the course of the lag, of all and of each subscription', async () => {
    const read = async <Body>(path: string): Promise<Body> =>
      JSON.parse((await call(`${service.url}${path}`, 'GET')).text) as Body;
    // Its own subscription: on a cluster of many tests, the lags of others change meanwhile.
    const name = `tests.course-${randomUUID()}`;
    const schema = { type: 'json_schema', schema: '{}' };
    const body = { name, owning_application: 'tests', category: 'undefined', schema };
    expect((await call(`${service.url}/event-types`, 'POST', body)).status).to.equal(201);
    const events = Array.from({ length: lag }, (_, number) => ({ number }));
    expect((await call(`${service.url}/event-types/${name}/events`, 'POST', events)).status).to.equal(200);
    const subscription = { owning_application: 'tests', event_types: [name], read_from: 'begin' };
    const created = await call(`${service.url}/subscriptions`, 'POST', subscription);
    const path = `/subscriptions/${String(created.body['id'])}/lag-history`;
    interface History {
      readonly last_at: string | null;
      readonly unconsumed_events: number[];
    }
    const deadline = systemClock.monotonic() + 40_000;
    let history = await read<History>(path);
    while (history.last_at === null && systemClock.monotonic() < deadline) {
      await systemClock.sleep(500);
      history = await read<History>(path);
    }
    expect(history.unconsumed_events.at(-1)).to.equal(lag);
    expect(Date.now() - Date.parse(history.last_at ?? '')).to.be.within(0, 15_000);
    let overview = await read<Overview>('/overview');
    while ((overview.history.unconsumed_events.at(-1) ?? 0) < lag) {
      expect(systemClock.monotonic()).to.be.lessThan(deadline);
      await systemClock.sleep(500);
      overview = await read<Overview>('/overview');
    }
    expect(overview.history.disk_used_bytes.at(-1)).to.be.greaterThan(0);
    expect((await call(`${service.url}${path}`, 'POST', {})).status).to.equal(405);
    const listed = await read<{ items: { id: string; lag: { history: History } }[] }>(
      '/subscriptions?show_lag=true&show_lag_history=true&sort=-unconsumed_events',
    );
    expect(listed.items[0]?.lag.history.unconsumed_events.at(-1)).to.be.at.least(2);
  });
});
