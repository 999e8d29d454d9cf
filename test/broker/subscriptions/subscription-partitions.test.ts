import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { partitionCounts } from '../../../src/broker/subscriptions/subscription-partitions.ts';
import { knownSubscription } from '../../../src/broker/definitions/subscription-lookup.ts';
import { startStreamServer, type StreamServer } from '../../support/http/stream-server.ts';

describe('the partition counts of a subscription', () => {
  let server: StreamServer;

  before(async () => {
    server = await startStreamServer();
  });

  after(() => server.stop());

  it('requires every event type of the subscription', async () => {
    const id = await server.subscribe([await server.defineEventType(1)]);
    const subscription = { ...knownSubscription(server.registry, id), event_types: ['gone'] };
    expect(() => partitionCounts(server.registry, subscription)).to.throw('EventType "gone" does not exist.');
  });
});
