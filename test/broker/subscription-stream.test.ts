import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'mocha';
import { partitionCounts } from '../../src/broker/assignment.ts';
import { readStreamParameters } from '../../src/broker/stream-parameters.ts';
import { SubscriptionStream, type StreamServices } from '../../src/broker/subscription-stream.ts';
import type { Subscription } from '../../src/broker/subscription.ts';
import { systemClock } from '../../src/clock.ts';
import { LendstreamError } from '../../src/errors.ts';
import { silentLogger } from '../../src/logger.ts';
import type { Batch } from '../support/client.ts';
import { failingReads } from '../support/failing-reads.ts';
import { eventually, startStreamServer, type StreamServer } from '../support/stream-server.ts';

describe('a subscription stream', () => {
  let server: StreamServer;

  before(async () => {
    server = await startStreamServer();
  });

  after(() => server.stop());

  async function prepare(partitionCount: number): Promise<{ type: string; id: string }> {
    const type = await server.defineEventType(partitionCount);
    return { type, id: await server.subscribe([type]) };
  }

  async function open(
    id: string,
    source: Record<string, unknown> = {},
    changes: Partial<StreamServices> = {},
  ): Promise<SubscriptionStream> {
    const { registry, log, coordination, metrics } = server;
    const subscription = registry.get<Subscription>('subscription', id);
    if (subscription === undefined) throw new Error('There is no such subscription.');
    const nodeId = randomUUID();
    await coordination.renewLease(nodeId, 60_000);
    const services = {
      registry,
      log,
      coordination,
      metrics,
      clock: systemClock,
      logger: silentLogger,
      nodeId,
      ...changes,
    };
    const eventTypes = partitionCounts(registry, subscription);
    const parameters = readStreamParameters(source, eventTypes, 0.5);
    const stream = await SubscriptionStream.open(services, subscription, eventTypes, parameters);
    stream.start();
    return stream;
  }

  async function nextBatches(stream: SubscriptionStream): Promise<Batch[]> {
    const bytes = await stream.next();
    const lines = bytes?.toString().split('\n').slice(0, -1) ?? [];
    return lines.map((line) => JSON.parse(line) as Batch);
  }

  /** Everything up to the end. */
  async function rest(stream: SubscriptionStream): Promise<Batch[]> {
    const batches: Batch[] = [];
    for (let more = await nextBatches(stream); more.length > 0; more = await nextBatches(stream)) batches.push(...more);
    return batches;
  }

  async function sessions(id: string): Promise<number> {
    return (await server.coordination.topology(id)).sessions.length;
  }

  it('sends nothing before it is asked, and then what came meanwhile in one piece', async () => {
    const { type, id } = await prepare(1);
    const stream = await open(id);
    for (let number = 0; number < 4; number += 1) await server.publish(type, 0, [number]);
    await eventually(async () => (await server.coordination.topology(id)).partitions[0]?.state === 'assigned');
    const received: Batch[] = [];
    while (received.length < 4) received.push(...(await nextBatches(stream)));
    expect(received.map(({ events }) => events?.[0]?.['number'])).to.deep.equal([0, 1, 2, 3]);
    stream.clientClosed();
  });

  it('frees its session at once when the client is gone, and answers the end to whoever still asks', async () => {
    const { id } = await prepare(1);
    const stream = await open(id);
    const asked = stream.next();
    stream.clientClosed();
    expect(await asked).to.equal(null);
    expect(await sessions(id)).to.equal(0);
    expect(await stream.next()).to.equal(null);
  });

  it('says its reason once, keeps the session for what is out, and ends with the commit', async () => {
    const { type, id } = await prepare(1);
    await server.publish(type, 0, [1]);
    const stream = await open(id);
    const [batch] = await nextBatches(stream);
    stream.close('cursors_reset');
    stream.close('stream_timeout');
    expect((await nextBatches(stream)).map(({ info }) => info?.code)).to.deep.equal(['cursors_reset']);
    const end = stream.next();
    expect(await sessions(id)).to.equal(1);
    await server.commit(id, stream.streamId, batch === undefined ? [] : [batch.cursor]);
    expect(await end).to.equal(null);
    expect(await sessions(id)).to.equal(0);
  });

  it('ends its session in time although nobody reads its last line', async () => {
    const { id } = await prepare(1);
    const stream = await open(id);
    let ended = 0;
    stream.onEnded = () => (ended += 1);
    stream.close('stream_timeout');
    await eventually(async () => (await sessions(id)) === 0);
    expect(ended).to.equal(1);
    expect((await rest(stream)).map(({ info }) => info?.code)).to.deep.equal(['stream_timeout']);
  });

  it('is told apart by its reason in the metrics, and counted while it is open', async () => {
    const { id } = await prepare(1);
    const stream = await open(id);
    const text = async () => server.metrics.registry.metrics();
    expect(await text()).to.contain(`lendstream_open_streams{subscription_id="${id}"} 1`);
    stream.close('server_shutdown');
    await rest(stream);
    expect(await text()).to.contain(`lendstream_open_streams{subscription_id="${id}"} 0`);
    expect(await text()).to.match(/lendstream_closed_streams_total\{reason="server_shutdown"\} [1-9]/);
  });

  it('closes with the reason when stored events cannot be read, and skips none', async () => {
    const { type, id } = await prepare(1);
    await server.publish(type, 0, [1]);
    const log = failingReads(server.log, new LendstreamError('CORRUPT_BATCH', 'Damaged.'));
    const batches = await rest(await open(id, {}, { log }));
    expect(batches).to.have.length(1);
    expect(batches[0]?.info).to.deep.equal({
      debug: `Reading events failed: partition 0 of ${type}: Damaged.`,
      code: 'log_error',
    });
    expect((await server.coordination.committedOffsets(id))[0]?.offset).to.equal(-1);
  });

  it('closes when it has had no partition for twice the commit timeout', async () => {
    const { type, id } = await prepare(1);
    const owner = await open(id, { commit_timeout: 30 });
    await server.publish(type, 0, [1]);
    await nextBatches(owner);
    const waiting = await open(id, {
      commit_timeout: 1,
      partitions: [{ event_type: type, partition: '0' }],
    });
    const batches = await rest(waiting);
    expect(batches.map(({ info }) => info?.code)).to.deep.equal(['no_partitions']);
    expect(batches[0]?.cursor).to.include({ event_type: type, partition: '0', offset: '001-0001--1' });
    owner.clientClosed();
  });

  it('notices a commit whose hint was lost', async () => {
    const { type, id } = await prepare(1);
    await server.publish(type, 0, [1, 2]);
    const deaf = new Proxy(server.coordination, {
      get: (target, name) => {
        if (name === 'watch') return () => () => {};
        const member: unknown = Reflect.get(target, name);
        return typeof member === 'function' ? (member.bind(target) as unknown) : member;
      },
    });
    const stream = await open(id, { max_uncommitted_events: 1 }, { coordination: deaf });
    const [batch] = await nextBatches(stream);
    await server.commit(id, stream.streamId, batch === undefined ? [] : [batch.cursor]);
    const [second] = await nextBatches(stream);
    expect(second?.events).to.deep.equal([{ number: 2 }]);
    stream.clientClosed();
  });

  it('tells how many events retention took before they were committed', async () => {
    const { type, id } = await prepare(1);
    const first = await open(id);
    await server.publish(type, 0, [0]);
    await nextBatches(first);
    first.clientClosed();
    await server.publish(type, 0, [1, 2]);
    await server.log.runRetention(systemClock.now() + 7_200_000);
    await server.publish(type, 0, [3]);
    const stream = await open(id);
    const [batch] = await nextBatches(stream);
    const earliest = (await server.log.bounds([{ topic: type, partition: 0 }]))[0]?.earliest ?? 0;
    expect(earliest).to.be.above(0);
    expect(batch?.info?.debug).to.equal(
      `Stream started; skipped events due to retention time passed, count: ${earliest}`,
    );
    stream.clientClosed();
  });
});
