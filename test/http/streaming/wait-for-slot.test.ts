import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { IncomingMessage, request, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { createMetrics } from '../../../src/metrics.ts';
import { OpenStreams, waitingStreamsMaximum } from '../../../src/http/streaming/open-streams.ts';
import { eventually } from '../../support/eventually.ts';
import { startStreamServer, type StreamServer } from '../../support/http/stream-server.ts';

describe('a stream with wait_for_slot', () => {
  let server: StreamServer;

  before(async () => {
    server = await startStreamServer();
  });

  after(() => server.stop());

  async function subscribe(): Promise<string> {
    return server.subscribe([await server.defineEventType(1)]);
  }

  async function sessions(id: string): Promise<number> {
    return (await server.coordination.topology(id)).sessions.length;
  }

  /** Resolves when so many requests of the server wait for a slot. */
  function waitingAre(count: number, { metrics }: Pick<StreamServer, 'metrics'> = server): Promise<void> {
    return eventually(async () => (await metrics.waitingStreams.get()).values[0]?.value === count);
  }

  it('waits for the stream before it, and then gets its partition', async () => {
    const id = await subscribe();
    const first = await server.open(id);
    const waiting = server.open(id, { query: '?wait_for_slot=60&batch_flush_timeout=1' });
    await waitingAre(1);
    expect(await sessions(id)).to.equal(1);
    first.destroy();
    const second = await waiting;
    await waitingAre(0);
    expect(second.status).to.equal(200);
    await second.until(() => second.batches.length > 0);
    second.destroy();
  });

  it('is refused with 409 when its time is up, with the text of those that do not wait', async () => {
    const id = await subscribe();
    const first = await server.open(id);
    const began = performance.now();
    for (const options of [
      { query: '?wait_for_slot=1' },
      { body: { wait_for_slot: 1 } },
      { query: '?wait_for_slot=0' },
    ]) {
      const { status, detail } = await (await server.open(id, options)).problem();
      expect(status).to.equal(409);
      expect(detail).to.equal(`No free slots for streaming available for subscription ${id}. Total slots: 1`);
    }
    expect(performance.now() - began).to.be.at.least(2_000);
    first.destroy();
  });

  it('waits at most 300 seconds', async () => {
    const id = await subscribe();
    const first = await server.open(id, { query: '?wait_for_slot=300' });
    expect(first.status).to.equal(200);
    for (const [given, status, detail] of [
      ['301', 422, "wait_for_slot can't be higher than 300"],
      ['-1', 422, "wait_for_slot can't be lower than 0"],
      ['soon', 400, "'wait_for_slot' parameter should be a whole number, but was 'soon'"],
    ] as const) {
      const problem = await (await server.open(id, { query: `?wait_for_slot=${given}` })).problem();
      expect([problem.status, problem.detail]).to.deep.equal([status, detail]);
    }
    first.destroy();
  });

  it('leaves its place to the next when its client goes', async () => {
    const id = await subscribe();
    const first = await server.open(id);
    const gone = request({ port: server.port, path: `/subscriptions/${id}/events?wait_for_slot=60`, agent: false });
    gone.on('error', () => {});
    gone.end();
    await waitingAre(1);
    const waiting = server.open(id, { query: '?wait_for_slot=60' });
    await waitingAre(2);
    gone.destroy();
    await waitingAre(1);
    first.destroy();
    const second = await waiting;
    expect(second.status).to.equal(200);
    expect(await sessions(id)).to.equal(1);
    second.destroy();
    await eventually(async () => (await sessions(id)) === 0);
  });

  it('gets a partition that is added, although the stream before it has not committed', async () => {
    const type = await server.defineEventType(1);
    const id = await server.subscribe([type]);
    const first = await server.open(id, { query: '?commit_timeout=60' });
    await server.publish(type, 0, [1]);
    await first.until(() => first.numbers.length === 1);
    const waiting = server.open(id, { query: '?wait_for_slot=60' });
    const another = server.open(id, { query: '?wait_for_slot=60' });
    await waitingAre(2);
    await server.eventTypes.setPartitionCount(type, 3);
    const added = await Promise.all([waiting, another]);
    await server.publish(type, 1, [2]);
    await server.publish(type, 2, [3]);
    const received = (): Set<number> => new Set(added.flatMap(({ numbers }) => numbers));
    await eventually(() => received().has(2) && received().has(3));
    expect(first.lastInfo?.code).to.equal('repartitioned');
    for (const stream of [first, ...added]) stream.destroy();
  });

  it('waits during a reset of the cursors too', async () => {
    const id = await subscribe();
    const first = await server.open(id);
    await server.coordination.beginReset(id);
    const waiting = server.open(id, { query: '?wait_for_slot=60' });
    first.destroy();
    await eventually(async () => (await sessions(id)) === 0);
    await server.coordination.finishReset(id, []);
    const second = await waiting;
    expect(second.status).to.equal(200);
    second.destroy();
  });

  it('is answered 503 when the process stops', async () => {
    const stopping = await startStreamServer();
    const id = await stopping.subscribe([await stopping.defineEventType(1)]);
    const first = await stopping.open(id);
    const waiting = stopping.open(id, { query: '?wait_for_slot=60' });
    await waitingAre(1, stopping);
    const closed = stopping.streams.closeAll();
    const { status, detail } = await (await waiting).problem();
    expect([status, detail]).to.deep.equal([503, 'The server is shutting down, open the stream on another one.']);
    first.destroy();
    await closed;
    await stopping.stop();
  });
});

describe('the requests of a process that wait for a slot', () => {
  it('are limited: so many may wait, and the next is refused', async () => {
    const streams = new OpenStreams(createMetrics());
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    response.setMaxListeners(0);
    const ends: (() => void)[] = [];
    const wait = (): Promise<void> =>
      streams.whileWaiting(response, () => new Promise<void>((resolve) => ends.push(resolve)));
    const all = Array.from({ length: waitingStreamsMaximum }, wait);
    const refused: unknown = await wait().catch((error: unknown) => error);
    expect(refused).to.have.property('code', 'OVERLOADED');
    ends[0]?.();
    await all[0];
    const next = wait();
    for (const end of ends) end();
    await Promise.all([...all, next]);
  });
});
