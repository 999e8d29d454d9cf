import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { createCursorOperationsRouter } from '../../../src/http/streaming/cursor-operations.ts';
import { systemClock } from '../../../src/clock.ts';
import { silentLogger } from '../../../src/logger.ts';
import { call } from '../../support/http/client.ts';
import { serve, type Served } from '../../support/subscription-store.ts';
import { startStreamServer, type StreamServer } from '../../support/http/stream-server.ts';

describe('POST /event-types/{name}/cursors-at', () => {
  let server: StreamServer;
  let served: Served;

  before(async () => {
    server = await startStreamServer();
    const { eventTypes, log, registry, coordination } = server;
    const services = { eventTypes, log, registry, coordination, clock: systemClock, logger: silentLogger };
    served = await serve([createCursorOperationsRouter(services)]);
  });

  after(async () => {
    await served.close();
    await server.stop();
  });

  const ask = (name: string, body: unknown, method = 'POST') =>
    call(`${served.url}/event-types/${name}/cursors-at`, method, body);

  it('returns the position of each partition before the events of the time', async () => {
    const type = await server.defineEventType(2);
    await server.publish(type, 1, [0, 1]);
    const [batch] = (
      await server.log.read({ topic: type, partition: 1, offset: 0 }, { bytesMaximum: 1, waitMilliseconds: 0 })
    ).batches;
    const at = batch?.appendedAt ?? 0;
    const offsets = async (time: number) => JSON.parse((await ask(type, { time: new Date(time).toISOString() })).text);
    const [empty, first, second] = ['001-0001--1', '001-0001--1', '001-0001-000000000000000001'];
    expect(await offsets(at)).to.deep.equal([
      { partition: '0', offset: empty },
      { partition: '1', offset: first },
    ]);
    expect(await offsets(at + 1)).to.deep.equal([
      { partition: '0', offset: empty },
      { partition: '1', offset: second },
    ]);
  });

  it('returns the positions before the first events for times before 1970', async () => {
    const type = await server.defineEventType(1);
    await server.publish(type, 0, [0, 1]);
    for (const time of ['1969-12-31T23:59:59.999Z', '1970-01-01T00:00:00+01:00', '0000-01-01T00:00:00Z']) {
      const { status, text } = await ask(type, { time });
      expect([status, JSON.parse(text)], time).to.deep.equal([200, [{ partition: '0', offset: '001-0001--1' }]]);
    }
  });

  it('refuses what is no moment, and unknown names and methods', async () => {
    const type = await server.defineEventType(1);
    expect((await ask(type, { time: '2026-01-31' })).status).to.equal(422);
    expect((await ask(type, { time: 5 })).status).to.equal(400);
    expect((await ask(type, {})).status).to.equal(400);
    expect((await ask('nothing', { time: '2026-01-31T00:00:00Z' })).status).to.equal(404);
    expect((await ask(type, undefined, 'GET')).status).to.equal(405);
  });
});
