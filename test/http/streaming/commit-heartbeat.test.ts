import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { formatOffset } from '../../../src/broker/cursors/cursor-text.ts';
import { systemClock } from '../../../src/clock.ts';
import { call } from '../../support/http/client.ts';
import { startStreamServer, type StreamClient, type StreamServer } from '../../support/http/stream-server.ts';

describe('the commit timeout of a stream', () => {
  let server: StreamServer;

  before(async () => {
    server = await startStreamServer();
  });

  after(() => server.stop());

  async function prepare(events: number, annotations = {}): Promise<{ type: string; id: string }> {
    const type = await server.defineEventType(1);
    if (events > 0) await server.publish(type, 0, [...Array(events).keys()]);
    return { type, id: await server.subscribe([type], { annotations }) };
  }

  function commit({ streamId }: StreamClient, id: string, type: string, offset: number): Promise<number> {
    const items = [{ event_type: type, partition: '0', offset: formatOffset(offset), cursor_token: '' }];
    const url = `http://127.0.0.1:${server.port}/subscriptions/${id}/cursors`;
    return call(url, 'POST', { items }, { 'X-Nakadi-StreamId': streamId }).then(({ status }) => status);
  }

  const sleep = (milliseconds: number): Promise<void> => systemClock.sleep(milliseconds);

  it('restarts with a commit of what is committed already, with commit_heartbeat', async () => {
    const { type, id } = await prepare(4);
    const query = '?commit_heartbeat=true&batch_limit=2&max_uncommitted_events=2&commit_timeout=6';
    const client = await server.open(id, { query });
    await client.until(() => client.numbers.length === 2);
    for (let beat = 0; beat < 8; beat += 1) {
      await sleep(1_000);
      expect(await commit(client, id, type, -1)).to.equal(200);
    }
    expect(client.lastInfo?.code).to.equal(undefined);
    expect(await commit(client, id, type, 1)).to.equal(204);
    await client.until(() => client.numbers.length === 4);
    await client.ended;
    expect(client.lastInfo?.code, 'no beat any more').to.equal('commit_timeout');
  }).timeout(30_000);

  it('does not restart with it otherwise, nor with an older cursor', async () => {
    for (const [query, offset] of [
      ['', 0],
      ['&commit_heartbeat=true', -1],
    ] as const) {
      const { type, id } = await prepare(4);
      const client = await server.open(id, {
        query: `?batch_limit=1&max_uncommitted_events=1&commit_timeout=2${query}`,
      });
      await client.until(() => client.numbers.length === 1);
      expect(await commit(client, id, type, 0)).to.equal(204);
      const began = performance.now();
      const beats = setInterval(() => void commit(client, id, type, offset), 300);
      await client.ended;
      clearInterval(beats);
      expect(client.lastInfo?.code).to.equal('commit_timeout');
      expect(performance.now() - began).to.be.below(10_000);
    }
  });

  it('ends a reset of the cursors in time, whatever beats come', async () => {
    const { type, id } = await prepare(2);
    const client = await server.open(id, { query: '?commit_heartbeat=true&batch_limit=2&commit_timeout=4' });
    await client.until(() => client.numbers.length === 2);
    const beats = setInterval(() => void commit(client, id, type, -1), 300);
    const began = performance.now();
    const items = [{ event_type: type, partition: '0', offset: 'BEGIN' }];
    const url = `http://127.0.0.1:${server.port}/subscriptions/${id}/cursors`;
    const reset = await call(url, 'PATCH', { items });
    clearInterval(beats);
    expect(reset.status).to.equal(204);
    // The reset itself would end after a minute.
    expect(performance.now() - began).to.be.below(30_000);
    await client.ended;
    expect(client.lastInfo?.code).to.equal('cursors_reset');
  }).timeout(90_000);

  it('may be as long as the annotation of the subscription says, and no longer', async () => {
    const annotation = 'lendstream/commit-timeout-seconds-maximum';
    for (const [annotations, longest] of [
      [{}, 60],
      [{ [annotation]: '3600' }, 3_600],
      [{ [annotation]: '5' }, 5],
    ] as const) {
      const { id } = await prepare(0, annotations);
      const client = await server.open(id, { query: `?commit_timeout=${longest}` });
      expect(client.status).to.equal(200);
      const [session] = (await server.coordination.topology(id)).sessions;
      expect(session?.commitTimeoutMilliseconds).to.equal(longest * 1_000);
      client.destroy();
      const problem = await (await server.open(id, { query: `?commit_timeout=${longest + 1}` })).problem();
      expect([problem.status, problem.detail]).to.deep.equal([422, `commit_timeout can not be more than ${longest}`]);
    }
  });

  it('is a minute where the stream asks for none, or the maximum if that is shorter', async () => {
    for (const [maximum, seconds] of [
      ['3600', 60],
      ['5', 5],
    ] as const) {
      const { id } = await prepare(0, { 'lendstream/commit-timeout-seconds-maximum': maximum });
      for (const query of ['', '?commit_timeout=0']) {
        const client = await server.open(id, { query });
        const [session] = (await server.coordination.topology(id)).sessions;
        expect(session?.commitTimeoutMilliseconds).to.equal(seconds * 1_000);
        client.destroy();
        while ((await server.coordination.topology(id)).sessions.length > 0) await sleep(10);
      }
    }
  });
});
