import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { call } from '../support/http/client.ts';
import { startServiceHere, type ServiceHere } from '../support/processes/service-here.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

describe('a start at a time', () => {
  let folder: string;
  let service: ServiceHere;
  /** Before all events, between the second and the third, and after all. */
  const times = { before: '', between: '', after: '' };

  before(async function () {
    this.timeout(60_000);
    folder = await temporaryFolder();
    service = await startServiceHere(folder);
    const schema = { type: 'json_schema', schema: '{}' };
    const definition = { name: 'shop.timed', owning_application: 'shop', category: 'undefined', schema };
    expect((await call(`${service.url}/event-types`, 'POST', definition)).status).to.equal(201);
    times.before = await now();
    await publish(1, 2);
    times.between = await now();
    await publish(3);
    times.after = await now();
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  /** A time that nothing which was done before or is done after it shares. */
  async function now(): Promise<string> {
    const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
    await pause();
    const time = new Date().toISOString();
    await pause();
    return time;
  }

  async function publish(...numbers: number[]): Promise<void> {
    const events = numbers.map((number) => ({ number }));
    expect((await call(`${service.url}/event-types/shop.timed/events`, 'POST', events)).status).to.equal(200);
  }

  const cursorAt = (offset: string) => ({ partition: '0', offset });

  /** The numbers of the events that a stream has until none is left. */
  async function numbersOf(path: string, headers: Readonly<Record<string, string>> = {}): Promise<number[]> {
    const query = `${path.includes('?') ? '&' : '?'}batch_flush_timeout=1&stream_keep_alive_limit=1`;
    const response = await fetch(`${service.url}${path}${query}`, { headers });
    const text = await response.text();
    expect(response.status, text).to.equal(200);
    return [...text.matchAll(/"number":(\d+)/g)].map(([, number]) => Number(number));
  }

  const path = '/event-types/shop.timed/events';
  const cases = [
    ['before all events', 'before', [1, 2, 3]],
    ['between two events', 'between', [3]],
    ['after all events', 'after', []],
  ] as const;

  for (const [where, name, numbers] of cases) {
    it(`${where} is taken by X-Nakadi-Cursors and by cursors`, async () => {
      const cursors = JSON.stringify([cursorAt(`TIME:${times[name]}`)]);
      expect(await numbersOf(path, { 'X-Nakadi-Cursors': cursors })).to.deep.equal(numbers);
      expect(await numbersOf(`${path}?cursors=${encodeURIComponent(cursors)}`)).to.deep.equal(numbers);
    }).timeout(20_000);
  }

  async function subscribeAt(offset: string): Promise<{ status: number; id: string; detail: string }> {
    const { status, body } = await call(`${service.url}/subscriptions`, 'POST', {
      owning_application: 'tracking',
      consumer_group: `from ${offset}`,
      event_types: ['shop.timed'],
      read_from: 'cursors',
      initial_cursors: [{ event_type: 'shop.timed', ...cursorAt(offset) }],
    });
    return { status, id: String(body['id']), detail: String(body['detail']) };
  }

  for (const [where, name, numbers] of cases) {
    it(`${where} is taken by initial_cursors`, async () => {
      const { status, id } = await subscribeAt(`TIME:${times[name]}`);
      expect(status).to.equal(201);
      const { text } = await call(`${service.url}/subscriptions/${id}/stats`, 'GET');
      expect(text).to.include(`"unconsumed_events":${numbers.length}`);
      expect(await numbersOf(`/subscriptions/${id}/events?commit_timeout=1`)).to.deep.equal(numbers);
    }).timeout(20_000);
  }

  it('is refused in words where it is no moment', async () => {
    for (const time of ['', 'yesterday', '2026-01-31', '2026-01-31T12:00:00', '2026-02-30T12:00:00Z']) {
      const { status, detail } = await subscribeAt(`TIME:${time}`);
      expect([status, detail]).to.deep.equal([422, `invalid time ${time}: it must have the form 2026-01-31T12:00:00Z`]);
      const headers = { 'X-Nakadi-Cursors': JSON.stringify([cursorAt(`TIME:${time}`)]) };
      const response = await fetch(`${service.url}${path}`, { headers });
      expect([response.status, await response.text()].join(' ')).to.match(/^422 .*invalid time/);
    }
  });

  it('is no position to commit', async () => {
    const { id } = await subscribeAt(`TIME:${times.before}`);
    const opened = await fetch(`${service.url}/subscriptions/${id}/events`);
    const streamId = opened.headers.get('X-Nakadi-StreamId') ?? '';
    const items = [{ event_type: 'shop.timed', cursor_token: '', ...cursorAt(`TIME:${times.after}`) }];
    const headers = { 'X-Nakadi-StreamId': streamId };
    const committed = await call(`${service.url}/subscriptions/${id}/cursors`, 'POST', { items }, headers);
    await opened.body?.cancel();
    expect(committed.status).to.equal(422);
  });
});
