import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { partitionCounts } from '../../../src/broker/subscriptions/subscription-partitions.ts';
import type { Subscription } from '../../../src/broker/definitions/subscription.ts';
import { startStreamServer, type StreamServer } from '../../support/http/stream-server.ts';

describe('the partition counts of a subscription', () => {
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

  it('requires every event type of the subscription', async () => {
    const subscription = { ...(await prepare(1)), event_types: ['gone'] };
    expect(() => partitionCounts(server.registry, subscription)).to.throw('EventType "gone" does not exist.');
  });
});
