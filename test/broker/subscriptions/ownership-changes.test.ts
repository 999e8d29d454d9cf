import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'mocha';
import { applyRebalance } from '../../../src/broker/subscriptions/ownership-changes.ts';
import { openSession } from '../../../src/broker/subscriptions/stream-slots.ts';
import { initialisePartitions } from '../../../src/broker/subscriptions/starting-offsets.ts';
import { partitionCounts } from '../../../src/broker/subscriptions/subscription-partitions.ts';
import type { Session } from '../../../src/ports/coordination.ts';
import type { EventTypePartition } from '../../../src/ports/event-type-partition.ts';
import type { Subscription } from '../../../src/broker/definitions/subscription.ts';
import { knownSubscription } from '../../../src/broker/definitions/subscription-lookup.ts';
import { isLendstreamError } from '../../../src/errors.ts';
import { startStreamServer, type StreamServer } from '../../support/http/stream-server.ts';

function session(streamId: string, openedAt: number, requestedPartitions: EventTypePartition[] = []): Session {
  return { streamId, nodeId: 'node', requestedPartitions, openedAt, commitTimeoutMilliseconds: 0 };
}

async function refusal(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'accepted',
    (error: unknown) => (isLendstreamError(error) ? [error.code, error.message] : error),
  );
}

describe('getting partitions', () => {
  let server: StreamServer;

  before(async () => {
    server = await startStreamServer();
  });

  after(() => server.stop());

  async function prepare(partitionCount: number, changes: Partial<Subscription> = {}): Promise<Subscription> {
    const type = await server.defineEventType(partitionCount);
    const id = await server.subscribe([type], changes);
    return knownSubscription(server.registry, id);
  }

  async function initialise(subscription: Subscription): Promise<void> {
    const eventTypes = partitionCounts(server.registry, subscription);
    await initialisePartitions(server.log, server.coordination, subscription, eventTypes);
  }

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
    expect(await refusal(initialise(knownSubscription(server.registry, id)))).to.deep.equal([
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
