import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { readMirror } from '../../src/broker/log/cursors-topic.ts';
import { startRedisServer, type RedisServer } from '../support/processes/redis-server.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { openRedisHarness, type RedisHarness } from './harness.ts';

describe('a process that closes its coordination on Redis', () => {
  const partition = { eventType: 'loans', partition: 0 };
  let server: RedisServer;
  let harness: RedisHarness;

  before(async () => {
    server = await startRedisServer();
    harness = await openRedisHarness(server.url);
  });

  after(async () => {
    await harness.close();
    await server.stop();
  });

  it('writes what it committed last to the mirror before, and fails every later call', async () => {
    // Its time stands still, so that nothing but the end writes the mirror.
    const coordination = await harness.open({ clock: new SimulatedClock() });
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
    const mirrored = async (): Promise<number | undefined> =>
      (await readMirror(harness.log)).get('subscription')?.[0]?.offset;
    expect(await mirrored()).to.equal(3);
    await coordination.close();
    expect(await mirrored()).to.equal(8);
    const failure: unknown = await coordination.topology('subscription').catch((error: unknown) => error);
    expect(failure).to.have.property('code', 'COORDINATION_UNAVAILABLE');
    expect(String(failure)).to.contain('The service is shutting down.');
  });
});
