import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { call, openStream } from '../support/http/client.ts';
import { eventually } from '../support/eventually.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../support/processes/service.ts';

const blockedEventLoop = new URL('../support/processes/blocked-event-loop-preload.js', import.meta.url).href;

const eventType = {
  name: 'shop.orders',
  owning_application: 'shop',
  category: 'undefined',
  schema: { type: 'json_schema', schema: '{}' },
};

describe('a process whose event loop is blocked again and again', function () {
  this.timeout(120_000);
  let folder: string;
  let service: Service;

  before(async () => {
    folder = await temporaryFolder();
    const options = `${process.env['NODE_OPTIONS'] ?? ''} --import=${blockedEventLoop}`;
    service = await startService(folder, { ROLES: 'serve', LOG_LEVEL: 'error', NODE_OPTIONS: options });
    expect((await call(`${service.url}/event-types`, 'POST', eventType)).status).to.equal(201);
  });

  after(async () => {
    await service.kill();
    await removeFolder(folder);
  });

  const publish = (): ReturnType<typeof call> => call(`${service.url}/event-types/shop.orders/events`, 'POST', [{}]);

  it('refuses new streams and events, commits, keeps its streams, and takes all of it again', async () => {
    const subscription = { owning_application: 'shop', event_types: ['shop.orders'], read_from: 'begin' };
    const { body } = await call(`${service.url}/subscriptions`, 'POST', subscription);
    const stream = await openStream(service.url, String(body['id']), '?batch_flush_timeout=1');
    expect((await publish()).status).to.equal(200);
    const delivered = (): number => stream.batches.filter(({ events }) => events !== undefined).length;
    await stream.until(() => delivered() === 1);
    const cursor = stream.batches.find(({ events }) => events !== undefined)?.cursor;
    if (cursor === undefined) throw new Error('There is no cursor');

    service.child.kill('SIGUSR2');
    await eventually(async () => (await publish()).status === 503, 60_000);
    const [refused, opened, committed, health] = await Promise.all([
      publish(),
      call(`${service.url}/subscriptions/${String(body['id'])}/events`, 'GET'),
      stream.commit([cursor]),
      call(`${service.url}/health`, 'GET'),
    ]);
    for (const { status, headers, body: problem } of [refused, opened]) {
      expect([status, headers.get('retry-after'), problem['code']]).to.deep.equal([503, '2', 'OVERLOADED']);
    }
    expect([committed.status, health.status]).to.deep.equal([204, 200]);

    service.child.kill('SIGUSR2');
    const published = delivered();
    await eventually(async () => (await publish()).status === 200, 60_000);
    await stream.until(() => delivered() > published);
    const { text } = await call(`${service.url}/metrics`, 'GET', undefined, { Accept: 'text/plain' });
    expect(text).to.match(/^lendstream_shed_requests_total\{work="streams"\} 1$/m);
    expect(text).to.match(/^lendstream_shed_requests_total\{work="publishing"\} [1-9]\d*$/m);
    stream.close();
  });
});
