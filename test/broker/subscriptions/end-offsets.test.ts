import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import type { EventLog, TopicPartition } from '../../../src/ports/event-log.ts';
import { EndOffsetCache } from '../../../src/broker/subscriptions/end-offsets.ts';
import { overriding } from '../../support/stepping-log.ts';
import { openSubscriptionStore, type SubscriptionStore } from '../../support/subscription-store.ts';

const eventType = 'ends.payments';

describe('cached end offsets', () => {
  let store: SubscriptionStore;
  let ends: EndOffsetCache;
  /** The requests to the log. */
  let questions: (readonly TopicPartition[])[] = [];

  before(async () => {
    store = await openSubscriptionStore();
    await store.define(eventType, 2);
    const log = overriding<EventLog>(store.log, {
      bounds: (partitions) => {
        questions.push(partitions);
        return store.log.bounds(partitions);
      },
    });
    ends = new EndOffsetCache({ log, registry: store.registry });
  });

  after(() => store.close());

  const endsFor = async (...positions: [number, number][]) => {
    questions = [];
    return ends.endOffsetsOf(positions.map(([partition, offset]) => ({ eventType, partition, offset })));
  };

  it('are requested once, and not again for cursors before them', async () => {
    await store.publish(eventType, 0, 3);
    expect(await endsFor([0, 0])).to.deep.equal([3]);
    expect(questions).to.deep.equal([[{ topic: eventType, partition: 0 }]]);
    expect(await endsFor([0, 2], [0, 1])).to.deep.equal([3, 3]);
    expect(questions).to.deep.equal([]);
  });

  it('are requested again for cursors beyond them, in one request and once for each partition', async () => {
    await store.publish(eventType, 0, 2);
    expect(await endsFor([0, 3], [0, 4], [1, 0], [0, 1])).to.deep.equal([5, 5, 0, 5]);
    expect(questions).to.have.length(1);
    expect(questions[0]).to.have.length(2);
    await endsFor([0, 5]);
    expect(questions).to.have.length(1);
  });

  it('are dropped with their event type', async () => {
    await store.publish(eventType, 0, 2);
    await endsFor([0, 1]);
    await store.define('ends.other');
    await endsFor([0, 1]);
    expect(questions, 'another one was created').to.deep.equal([]);
    await store.registry.remove('event-type', eventType);
    await endsFor([0, 1]);
    expect(questions).to.have.length(1);
  });
});
