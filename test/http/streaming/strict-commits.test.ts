import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { formatOffset } from '../../../src/broker/cursors/cursor-text.ts';
import type { Coordination } from '../../../src/ports/coordination.ts';
import { LendstreamError } from '../../../src/errors.ts';
import { call, type HttpResponse } from '../../support/http/client.ts';
import { startStreamServer, type StreamClient, type StreamServer } from '../../support/http/stream-server.ts';
import { eventually } from '../../support/eventually.ts';
import { overriding } from '../../support/stepping-log.ts';

describe('a stream with strict_commits', () => {
  let server: StreamServer;
  /** What the coordination of the streams does before it notes what is sent. */
  let beforeRecording: () => Promise<void> = async () => {};
  let recordings = 0;

  before(async () => {
    server = await startStreamServer((coordination) =>
      overriding<Coordination>(coordination, {
        recordSent: async (...given) => {
          recordings += 1;
          await beforeRecording();
          return coordination.recordSent(...given);
        },
      }),
    );
  });

  after(() => server.stop());

  async function prepare(events: number): Promise<{ type: string; id: string }> {
    const type = await server.defineEventType(1);
    await server.publish(type, 0, [...Array(events).keys()]);
    return { type, id: await server.subscribe([type]) };
  }

  function commit({ streamId }: StreamClient, id: string, type: string, ...offsets: number[]): Promise<HttpResponse> {
    const items = offsets.map((offset) => {
      return { event_type: type, partition: '0', offset: formatOffset(offset), cursor_token: '' };
    });
    const url = `http://127.0.0.1:${server.port}/subscriptions/${id}/cursors`;
    return call(url, 'POST', { items }, { 'X-Nakadi-StreamId': streamId });
  }

  it('accepts a commit of the last event that was sent, and refuses one of the next with the reason', async () => {
    const { type, id } = await prepare(10);
    const client = await server.open(id, { query: '?strict_commits=true&batch_limit=4&max_uncommitted_events=4' });
    await client.until(() => client.numbers.length === 4);
    const refused = await commit(client, id, type, 2, 4);
    expect(refused.status).to.equal(422);
    expect(refused.body['detail']).to.equal(
      `Cursor 001-0001-000000000000000004 of partition 0 of event type ${type} cannot be committed: ` +
        `stream ${client.streamId} was not sent it, and its commits are strict`,
    );
    expect((await server.coordination.committedOffsets(id)).map(({ offset }) => offset)).to.deep.equal([-1]);
    expect((await commit(client, id, type, 3)).status).to.equal(204);
    await client.until(() => client.numbers.length === 8);
    const outdated = await commit(client, id, type, 3, 1);
    expect([outdated.status, outdated.text.match(/outdated/g)?.length]).to.deep.equal([200, 2]);
    expect((await commit(client, id, type, 5)).status).to.equal(204);
    expect((await commit(client, id, type, 10)).body['detail']).to.include('beyond the last event');
    client.destroy();
  });

  it('says so in a POST too, and holds after its client has gone', async () => {
    const { type, id } = await prepare(6);
    const client = await server.open(id, { body: { strict_commits: true, batch_limit: 3, max_uncommitted_events: 3 } });
    await client.until(() => client.numbers.length === 3);
    client.destroy();
    await eventually(async () => (await server.coordination.topology(id)).sessions.length === 0);
    expect((await commit(client, id, type, 3)).status).to.equal(422);
    expect((await commit(client, id, type, 2)).status).to.equal(204);
  });

  it('is what was asked for: without it, and with false, events that were not sent may be committed', async () => {
    for (const query of ['', '&strict_commits=false']) {
      const { type, id } = await prepare(10);
      const before = recordings;
      const client = await server.open(id, { query: `?batch_limit=2&max_uncommitted_events=2${query}` });
      await client.until(() => client.numbers.length === 2);
      expect((await commit(client, id, type, 7)).status).to.equal(204);
      await client.until(() => client.numbers.length === 4);
      expect(client.numbers).to.deep.equal([0, 1, 8, 9]);
      expect(recordings).to.equal(before);
      client.destroy();
    }
  });

  it('moves over deletions, whose positions it commits itself', async () => {
    const type = await server.defineEventType(1, true);
    await server.append(type, 0, [
      { key: 'a', value: Buffer.from('{"number":0}') },
      { key: 'a', value: null },
      { key: 'b', value: null },
    ]);
    const id = await server.subscribe([type]);
    const client = await server.open(id, { query: '?strict_commits=true' });
    await client.until(() => client.numbers.length === 1);
    const [cursor] = client.cursors;
    expect((await server.commit(id, client.streamId, cursor === undefined ? [] : [cursor])).outcome).to.equal(
      'committed',
    );
    await server.append(type, 0, [{ key: 'c', value: null }]);
    const committed = async () => (await server.coordination.committedOffsets(id)).map(({ offset }) => offset);
    await eventually(async () => (await committed())[0] === 3);
    client.destroy();
  });

  it('sends nothing before the store has learned it, and then all, though the store was away', async () => {
    const { type, id } = await prepare(3);
    let attempts = 0;
    beforeRecording = async () => {
      attempts += 1;
      if (attempts < 3) throw new LendstreamError('COORDINATION_UNAVAILABLE', 'Away.');
    };
    const client = await server.open(id, { query: '?strict_commits=true&batch_limit=3&batch_flush_timeout=1' });
    await eventually(() => attempts === 2);
    expect(client.batches).to.deep.equal([]);
    await client.until(() => client.numbers.length === 3);
    expect((await commit(client, id, type, 2)).status).to.equal(204);
    beforeRecording = async () => {};
    client.destroy();
  });

  it('is cut off without a last line when it ends before the store has learned what is sent', async () => {
    const { id } = await prepare(3);
    beforeRecording = () => Promise.reject(new LendstreamError('COORDINATION_UNAVAILABLE', 'Away.'));
    const client = await server.open(id, { query: '?strict_commits=true&batch_limit=3&commit_timeout=1' });
    await client.ended;
    expect(client.error).not.to.equal(undefined);
    expect(client.batches).to.deep.equal([]);
    beforeRecording = async () => {};
    const next = await server.open(id, { query: '?strict_commits=true&batch_limit=3' });
    await next.until(() => next.numbers.length === 3);
    next.destroy();
  });
});
