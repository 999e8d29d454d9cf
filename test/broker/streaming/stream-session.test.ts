import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { NodeLease } from '../../../src/broker/streaming/node-lease.ts';
import { openStreamSession, type StreamSessionServices } from '../../../src/broker/streaming/stream-session.ts';
import { SlotQueue } from '../../../src/broker/subscriptions/slot-queue.ts';
import { knownSubscription } from '../../../src/broker/definitions/subscription-lookup.ts';
import { systemClock } from '../../../src/clock.ts';
import { silentLogger } from '../../../src/logger.ts';
import { codeOf } from '../../support/log-reading.ts';
import { startStreamServer, type StreamServer } from '../../support/http/stream-server.ts';

describe('the session of a stream', () => {
  let server: StreamServer;
  let services: StreamSessionServices;
  let lease: NodeLease;

  beforeEach(async () => {
    server = await startStreamServer();
    const { log, coordination } = server;
    const own = { coordination, clock: systemClock, logger: silentLogger };
    lease = new NodeLease({ ...own, nodeId: 'session-node', leaseMilliseconds: 60_000 });
    services = { ...own, log, lease };
  });

  afterEach(async () => {
    lease.stop();
    await server.stop();
  });

  it('is opened under a valid lease, with every partition initialised', async () => {
    const type = await server.defineEventType(2);
    const id = await server.subscribe([type]);
    const subscription = knownSubscription(server.registry, id);
    expect(lease.isValid(systemClock.monotonic())).to.equal(false);
    const { streamId, bounds } = await openStreamSession(services, subscription, new Map([[type, 2]]), {
      requestedPartitions: [],
      commitTimeoutMilliseconds: 5_000,
    });
    expect(lease.isValid(systemClock.monotonic())).to.equal(true);
    const { sessions, partitions } = await server.coordination.topology(id);
    const [{ nodeId, commitTimeoutMilliseconds, ...opened } = expect.fail('There is no session')] = sessions;
    expect([opened.streamId, nodeId, commitTimeoutMilliseconds]).to.deep.equal([streamId, 'session-node', 5_000]);
    expect(partitions).to.have.length(2);
    expect(bounds.map(({ topic, partition }) => [topic, partition])).to.deep.equal([
      [type, 0],
      [type, 1],
    ]);
  });

  it('is closed again when partitions that were added during its wait cannot be read', async () => {
    const type = await server.defineEventType(2);
    const id = await server.subscribe([type]);
    const waiting = {
      queue: new SlotQueue(services),
      signal: new AbortController().signal,
      eventTypes: () => new Map([[type, 3]]),
    };
    const parameters = { requestedPartitions: [], commitTimeoutMilliseconds: 5_000, slotWaitMilliseconds: 0 };
    const subscription = knownSubscription(server.registry, id);
    const opening = openStreamSession(services, subscription, new Map([[type, 2]]), parameters, waiting);
    expect(await codeOf(opening)).to.equal('UNKNOWN_TOPIC_OR_PARTITION');
    expect((await server.coordination.topology(id)).sessions).to.deep.equal([]);
  });
});
