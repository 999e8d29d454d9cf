import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { readMirror } from '../../src/broker/log/cursors-topic.ts';
import type { EventLog } from '../../src/ports/event-log.ts';
import type { RedisCoordination, RedisCoordinationOptions } from '../../src/redis/coordination.ts';
import { eventually } from '../support/eventually.ts';
import { startRedisServer, type RedisServer } from '../support/processes/redis-server.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { overriding } from '../support/stepping-log.ts';
import { openRedisHarness, type RedisHarness } from './harness.ts';

describe('a process that closes its coordination on Redis', () => {
  const partition = { eventType: 'loans', partition: 0 };
  let server: RedisServer;
  let harness: RedisHarness;

  beforeEach(async () => {
    server = await startRedisServer();
    harness = await openRedisHarness(server.url);
  });

  afterEach(async () => {
    await harness.close();
    await server.stop();
  });

  /** A process that has committed offset 8. Its time stands still, so that nothing but the end writes the mirror. */
  const openAndCommit = async (options: Partial<RedisCoordinationOptions> = {}): Promise<RedisCoordination> => {
    const coordination = await harness.open({ clock: new SimulatedClock(), ...options });
    await coordination.initialise('subscription', [{ ...partition, offset: 3 }]);
    await coordination.renewLease('node', 60_000);
    await coordination.openSession('subscription', {
      streamId: 'stream',
      nodeId: 'node',
      requestedPartitions: [],
      openedAt: 0,
      commitTimeoutMilliseconds: 1_000,
    });
    const { generation } = await coordination.topology('subscription');
    const change = { ...partition, state: 'assigned', streamId: 'stream', nextStreamId: null } as const;
    expect(await coordination.applyOwnership('subscription', generation, [change])).to.equal('applied');
    const { outcome } = await coordination.commit('subscription', 'stream', [{ ...partition, offset: 8 }]);
    expect(outcome).to.equal('committed');
    return coordination;
  };

  const mirrored = async (): Promise<number | undefined> =>
    (await readMirror(harness.log)).get('subscription')?.[0]?.offset;

  it('writes before what it committed last to the mirror, and the positions for lag tools', async () => {
    const coordination = await openAndCommit();
    expect(await mirrored()).to.equal(3);
    await coordination.close();
    expect(await mirrored()).to.equal(8);
    expect(await harness.log.groupOffsets('subscription')).to.deep.equal([{ topic: 'loans', partition: 0, offset: 9 }]);
  });

  it('has written a removal already, and no position of what it removed', async () => {
    const coordination = await openAndCommit();
    await coordination.remove('subscription');
    expect(await mirrored()).to.equal(undefined);
    await coordination.close();
    expect(await harness.log.groupOffsets('subscription')).to.deep.equal([]);
  });

  it('fails every later call, and leaves neither a timer nor a connection', async () => {
    const connections = async (): Promise<number> =>
      String(await harness.client.call('CLIENT', 'LIST'))
        .trim()
        .split('\n').length;
    const clock = new SimulatedClock();
    const before = await connections();
    const coordination = await openAndCommit({ clock });
    expect(await connections()).to.equal(before + 2);
    // Watchers look again a second after a recovery.
    await clock.turn(1_000);
    await coordination.close();
    expect(clock.nextDeadline()).to.equal(Infinity);
    await eventually(async () => (await connections()) === before);
    for (const call of [
      coordination.topology('subscription'),
      coordination.claim('claim', 1_000),
      coordination.releaseClaim('claim'),
      coordination.renewLease('node', 1_000),
      coordination.closeSession('subscription', 'stream'),
    ]) {
      const failure: unknown = await call.catch((error: unknown) => error);
      expect(failure).to.have.property('code', 'COORDINATION_UNAVAILABLE');
      expect(String(failure)).to.contain('The service is shutting down.');
    }
    await coordination.close();
  });

  it('waits five seconds at most for a log that does not respond', async () => {
    const clock = new SimulatedClock();
    let isStuck = false;
    const log = overriding<EventLog>(harness.log, {
      append: (appends) => (isStuck ? new Promise(() => {}) : harness.log.append(appends)),
    });
    const coordination = await openAndCommit({ clock, log });
    isStuck = true;
    let isClosed = false;
    const closing = coordination.close().then(() => (isClosed = true));
    await clock.turn(4_999);
    expect(isClosed).to.equal(false);
    await clock.turn(1);
    await closing;
  });

  it('leaves neither a timer nor a connection when it could not be opened', async () => {
    const clock = new SimulatedClock();
    const refusal = new Error('No topic today');
    let isRefused = false;
    const log = overriding<EventLog>(harness.log, {
      bounds: () => {
        isRefused = true;
        return Promise.reject(refusal);
      },
    });
    const failure: unknown = await harness.open({ clock, log }).catch((error: unknown) => error);
    expect([failure, isRefused]).to.deep.equal([refusal, true]);
    expect(clock.nextDeadline()).to.equal(Infinity);
  });
});
