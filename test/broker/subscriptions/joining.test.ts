import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'mocha';
import {
  initialisePartitions,
  openSession,
  partitionCounts,
  applyRebalance,
  startingOffsets,
  surplusStreams,
} from '../../../src/broker/subscriptions/joining.ts';
import type { EventTypePartition, PartitionOwnership, Session } from '../../../src/ports/coordination.ts';
import type { Subscription } from '../../../src/broker/definitions/subscription.ts';
import { isLendstreamError } from '../../../src/errors.ts';
import { startStreamServer, type StreamServer } from '../../support/http/stream-server.ts';

function session(streamId: string, openedAt: number, requestedPartitions: EventTypePartition[] = []): Session {
  return { streamId, nodeId: 'node', requestedPartitions, openedAt, commitTimeoutMilliseconds: 0 };
}

function unassigned(partition: number): PartitionOwnership {
  return { eventType: 'payments', partition, state: 'unassigned', streamId: null, nextStreamId: null, fence: 0 };
}

async function refusal(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'accepted',
    (error: unknown) => (isLendstreamError(error) ? [error.code, error.message] : error),
  );
}

describe('the position where a subscription starts', () => {
  const bounds = [
    { topic: 'payments', partition: 0, earliest: 10, latest: 50 },
    { topic: 'payments', partition: 1, earliest: 0, latest: 0 },
  ];

  function subscription(changes: Partial<Subscription>): Subscription {
    return { read_from: 'begin', initial_cursors: [], ...changes } as Subscription;
  }

  const cases: [title: string, Partial<Subscription>, committed: number[], expected: number[]][] = [
    ['before the oldest event', { read_from: 'begin' }, [], [9, -1]],
    ['after the newest event', { read_from: 'end' }, [], [49, -1]],
    [
      'after the given cursors, which may have expired in the meantime',
      {
        read_from: 'cursors',
        initial_cursors: [
          { event_type: 'payments', partition: '0', offset: '001-0001-000000000000000003' },
          { event_type: 'payments', partition: '1', offset: 'begin' },
        ],
      },
      [],
      [3, -1],
    ],
    [
      'before the oldest event when the cursor says BEGIN',
      { read_from: 'cursors', initial_cursors: [{ event_type: 'payments', partition: '0', offset: 'BEGIN' }] },
      [],
      [9, -1],
    ],
    ['before the first event of a partition that was added later', { read_from: 'end' }, [30], [-1]],
    ['unchanged when every partition is known', { read_from: 'end' }, [30, -1], []],
  ];

  for (const [title, changes, committed, expected] of cases) {
    it(`is ${title}`, () => {
      const known = committed.map((offset, partition) => ({ eventType: 'payments', partition, offset }));
      expect(startingOffsets(subscription(changes), bounds, known).map(({ offset }) => offset)).to.deep.equal(expected);
    });
  }
});

describe('the streams that cannot get a partition', () => {
  const partitions = [0, 1, 2].map(unassigned);

  it('are none while each stream can get one', () => {
    const sessions = [session('a', 1), session('b', 2), session('c', 3)];
    expect(surplusStreams({ sessions, partitions })).to.deep.equal(new Set());
  });

  it('are the latest of those that requested none', () => {
    const taking = session('d', 9, [
      { eventType: 'payments', partition: 0 },
      { eventType: 'payments', partition: 2 },
    ]);
    const sessions = [session('z', 1), session('b', 3), session('c', 2), taking];
    expect(surplusStreams({ sessions, partitions })).to.deep.equal(new Set(['c', 'b']));
  });
});

describe('getting partitions', () => {
  let server: StreamServer;

  before(async () => {
    server = await startStreamServer();
  });

  after(() => server.stop());

  async function prepare(partitionCount: number, changes: Partial<Subscription> = {}): Promise<Subscription> {
    const type = await server.defineEventType(partitionCount);
    const id = await server.subscribe([type], changes);
    const subscription = server.registry.get<Subscription>('subscription', id);
    if (subscription === undefined) throw new Error('The subscription was just stored.');
    return subscription;
  }

  function initialise(subscription: Subscription): Promise<void> {
    const eventTypes = partitionCounts(server.registry, subscription);
    return initialisePartitions(server.log, server.coordination, subscription, eventTypes);
  }

  it('requires every event type of the subscription', async () => {
    const subscription = { ...(await prepare(1)), event_types: ['gone'] };
    expect(() => partitionCounts(server.registry, subscription)).to.throw('EventType "gone" does not exist.');
  });

  it('fixes the starting offsets once', async () => {
    const subscription = await prepare(2, { read_from: 'end' });
    const [type = ''] = subscription.event_types;
    await server.publish(type, 0, [0, 1]);
    await initialise(subscription);
    await server.publish(type, 0, [2]);
    await initialise(subscription);
    const offsets = await server.coordination.committedOffsets(subscription.id);
    expect(offsets.map(({ offset }) => offset)).to.deep.equal([1, -1]);
  });

  it('is refused when a position lies beyond the end of the log', async () => {
    const type = await server.defineEventType(1);
    const initial_cursors = [{ event_type: type, partition: '0', offset: '5' }];
    const id = await server.subscribe([type], { read_from: 'cursors', initial_cursors });
    const subscription = server.registry.get<Subscription>('subscription', id);
    expect(await refusal(initialise(subscription as Subscription))).to.deep.equal([
      'PRECONDITION_FAILED',
      `offset 001-0001-000000000000000005 for partition 0 event type ${type} is unavailable as it lies beyond the ` +
        'last event. PATCH partition offset with valid and available offset',
    ]);
  });

  it('frees the slots of processes that died', async () => {
    const subscription = await prepare(1);
    await initialise(subscription);
    await server.coordination.renewLease('node', 60_000);
    await openSession(server.coordination, subscription.id, { ...session(randomUUID(), 1), nodeId: 'crashed' });
    expect(await refusal(openSession(server.coordination, subscription.id, session(randomUUID(), 2)))).to.equal(
      'accepted',
    );
    expect((await server.coordination.topology(subscription.id)).sessions).to.have.length(1);
    const third = await refusal(openSession(server.coordination, subscription.id, session(randomUUID(), 3)));
    expect(third).to.deep.equal([
      'CONFLICT',
      `No free slots for streaming available for subscription ${subscription.id}. Total slots: 1`,
    ]);
  });

  it('ends with equal shares for simultaneous requests', async () => {
    const subscription = await prepare(4);
    await initialise(subscription);
    await server.coordination.renewLease('node', 60_000);
    const ids = [randomUUID(), randomUUID()];
    for (const [index, id] of ids.entries()) {
      await openSession(server.coordination, subscription.id, session(id, index));
    }
    await Promise.all(ids.map(() => applyRebalance(server.coordination, subscription.id)));
    const { partitions } = await applyRebalance(server.coordination, subscription.id);
    expect(ids.map((id) => partitions.filter(({ streamId }) => streamId === id).length)).to.deep.equal([2, 2]);
  });
});
