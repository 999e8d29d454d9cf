import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { createKey } from '../../support/access/created-key.ts';
import { clusterUnderTest, isClusterUnderTest } from '../../support/backend-under-test.ts';
import { eventTypeBody } from '../../support/broker-on-embedded-log.ts';
import { eventually } from '../../support/eventually.ts';
import { call, type HttpResponse } from '../../support/http/client.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../../support/processes/service.ts';

const administrator = 'the-key-of-an-administrator';

describe('limits that each process counts', function () {
  this.timeout(180_000);
  const folders: string[] = [];
  const services: Service[] = [];
  const streams: AbortController[] = [];
  let names = 0;

  beforeEach(async () => {
    folders.push(await temporaryFolder());
  });

  afterEach(async () => {
    for (const stream of streams.splice(0)) stream.abort();
    for (const service of services.splice(0)) await service.stop();
    for (const folder of folders.splice(0)) await removeFolder(folder);
  });

  async function start(folder: string): Promise<Service> {
    const service = await startService(folder, {
      API_KEYS: administrator,
      ROLES: 'serve',
      FAILED_LOGINS_PER_MINUTE: '2',
      ...clusterUnderTest(),
    });
    services.push(service);
    return service;
  }

  const send = ({ url }: Service, key: string, method: string, path: string, body?: unknown): Promise<HttpResponse> =>
    call(`${url}${path}`, method, body, { apikey: key });

  async function keyWith(service: Service, limits: object): Promise<{ key: string; name: string }> {
    names += 1;
    const name = `each-${process.pid}-${names}`;
    const wanted = { name, owning_application: name, scopes: ['consumer', 'producer'], limits };
    const { key } = await createKey(service.url, administrator, wanted);
    return { key, name };
  }

  /** The status of a new stream, which stays open. */
  async function open({ url }: Service, key: string): Promise<number> {
    const stream = new AbortController();
    streams.push(stream);
    const path = '/event-types/loan_balance_changed/events?batch_flush_timeout=1';
    return (await fetch(`${url}${path}`, { headers: { apikey: key }, signal: stream.signal })).status;
  }

  const define = (service: Service, key: string, application: string, name: string): Promise<HttpResponse> =>
    send(service, key, 'POST', '/event-types', { ...eventTypeBody(name), owning_application: application });

  it('count from nothing after the process was killed, but for what exists', async () => {
    const [folder = ''] = folders;
    const killed = await start(folder);
    const { key, name } = await keyWith(killed, { open_streams: 1, event_types: 1 });
    expect([await open(killed, key), await open(killed, key)]).to.deep.equal([200, 429]);
    expect((await define(killed, key, name, name)).status).to.equal(201);
    for (const status of [401, 401, 429]) {
      expect((await send(killed, 'a-guessed-administrator', 'GET', '/loans')).status).to.equal(status);
    }
    services.splice(services.indexOf(killed), 1);
    await killed.kill();
    const next = await start(folder);
    expect([await open(next, key), await open(next, key)]).to.deep.equal([200, 429]);
    expect((await define(next, key, name, `${name}-more`)).status).to.equal(422);
    expect((await send(next, 'a-guessed-administrator', 'GET', '/loans')).status).to.equal(401);
  });

  it('hold at each of two processes, and together for what exists', async function () {
    if (!isClusterUnderTest()) {
      process.stdout.write('      skipped: only a cluster has two processes\n');
      this.skip();
    }
    folders.push(await temporaryFolder());
    const [first, second] = [await start(folders[0] ?? ''), await start(folders[1] ?? '')];
    const limits = { open_streams: 1, commits_per_second: 1, requests_per_second: 4, event_types: 1 };
    const { key, name } = await keyWith(first, limits);
    await eventually(async () => (await send(second, key, 'GET', '/access')).status === 200);
    for (const service of [first, second]) {
      // Requests of other tests of this key have to be over.
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      expect([await open(service, key), await open(service, key)]).to.deep.equal([200, 429]);
    }
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const began = performance.now();
    const statuses = await Promise.all(
      [first, second].map((service) =>
        Promise.all(Array.from({ length: 40 }, () => send(service, key, 'GET', '/subscriptions'))),
      ),
    );
    const seconds = (performance.now() - began) / 1_000;
    for (const ofProcess of statuses) {
      const accepted = ofProcess.filter(({ status }) => status === 200);
      // The time that the requests take gives some more.
      expect(accepted.length).to.be.within(4, 4 + Math.ceil(4 * seconds));
    }
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect((await define(first, key, name, name)).status).to.equal(201);
    await eventually(async () => (await send(second, administrator, 'GET', `/event-types/${name}`)).status === 200);
    const refused = await define(second, key, name, `${name}-more`);
    expect([refused.status, refused.body['code']]).to.deep.equal([422, 'UNPROCESSABLE']);
  });
});
