import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { commitWithoutConsumer } from '../../../src/broker/streaming/commit-without-consumer.ts';
import { silentLogger } from '../../../src/logger.ts';
import { startStreamServer, type StreamServer } from '../../support/http/stream-server.ts';

describe('commits that no consumer can make', () => {
  let server: StreamServer;
  let services: Parameters<typeof commitWithoutConsumer>[0];

  beforeEach(async () => {
    server = await startStreamServer();
    services = { coordination: server.coordination, logger: silentLogger };
  });

  afterEach(() => server.stop());

  it('commits what no consumer can commit for the partitions that it still owns, though it lost others', async () => {
    const { coordination } = server;
    const eventType = 'session.loans';
    const places = Array.from({ length: 4 }, (_, partition) => ({ eventType, partition }));
    await coordination.initialise(
      'lost',
      places.map((partition) => ({ ...partition, offset: -1 })),
    );
    await coordination.renewLease('session-node', 60_000);
    const session = { nodeId: 'session-node', requestedPartitions: [], openedAt: 0, commitTimeoutMilliseconds: 0 };
    await coordination.openSession('lost', { ...session, streamId: 'own' });
    await coordination.openSession('lost', { ...session, streamId: 'other' });
    const { generation } = await coordination.topology('lost');
    const owners = ['other', 'own', 'other', 'own'];
    const changes = places.map(
      (partition, index) =>
        ({ ...partition, state: 'assigned', streamId: owners[index] ?? '', nextStreamId: null }) as const,
    );
    expect(await coordination.applyOwnership('lost', generation, changes)).to.equal('applied');
    const { partitions } = await coordination.topology('lost');
    const assigned = partitions.map(({ partition, fence }) => {
      return { eventType, partition, fence, committableWithoutConsumer: 5 };
    });
    await commitWithoutConsumer(services, 'lost', 'own', assigned);
    const committed = await coordination.committedOffsets('lost');
    expect(committed.map(({ offset }) => offset)).to.deep.equal([-1, 5, -1, 5]);
  });

  it('commits positions without events under the lease epoch of the partition, and continues after an outage of the store', async () => {
    const { coordination } = server;
    const eventType = 'session.loans';
    await coordination.initialise('s', [{ eventType, partition: 0, offset: -1 }]);
    const session = {
      streamId: 'stream',
      nodeId: 'session-node',
      requestedPartitions: [],
      openedAt: 0,
      commitTimeoutMilliseconds: 0,
    };
    await coordination.openSession('s', session);
    const { generation } = await coordination.topology('s');
    const change = { eventType, partition: 0, state: 'assigned', streamId: 'stream', nextStreamId: null } as const;
    await coordination.applyOwnership('s', generation, [change]);
    const [owned] = (await coordination.topology('s')).partitions;
    const fence = owned?.fence ?? 0;
    const passed = { eventType, partition: 0, fence, committableWithoutConsumer: 7 };
    await commitWithoutConsumer(services, 's', 'stream', [{ ...passed, fence: fence - 1 }]);
    expect(await coordination.committedOffsets('s')).to.deep.equal([{ eventType, partition: 0, offset: -1 }]);
    await commitWithoutConsumer(services, 's', 'stream', [
      passed,
      { ...passed, committableWithoutConsumer: undefined },
    ]);
    expect(await coordination.committedOffsets('s')).to.deep.equal([{ eventType, partition: 0, offset: 7 }]);
    await commitWithoutConsumer(services, 's', 'stream', []);
    await commitWithoutConsumer(services, 's', 'nobody', [{ ...passed, committableWithoutConsumer: 8 }]);
    expect(await coordination.committedOffsets('s')).to.deep.equal([{ eventType, partition: 0, offset: 7 }]);
    await coordination.close();
    await commitWithoutConsumer(services, 's', 'stream', [{ ...passed, committableWithoutConsumer: 9 }]);
  });
});
