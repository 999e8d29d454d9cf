import { expect } from 'chai';
import { after, before, beforeEach, describe, it } from 'mocha';
import type { EventLog, TopicPartition } from '../../../src/ports/event-log.ts';
import { EndOffsetCache } from '../../../src/broker/subscriptions/end-offsets.ts';
import { overriding } from '../../support/stepping-log.ts';
import { eventually } from '../../support/eventually.ts';
import { openSubscriptionStore, type SubscriptionStore } from '../../support/subscription-store.ts';

const eventType = 'ends.payments';

describe('cached end offsets', () => {
  let store: SubscriptionStore;
  let ends: EndOffsetCache;
  /** The requests to the log. */
  let questions: (readonly TopicPartition[])[] = [];
  /** Called with the answer of the log, which waits for it. */
  let beforeAnswer: () => Promise<void> | undefined;

  beforeEach(() => {
    beforeAnswer = () => undefined;
  });

  before(async () => {
    store = await openSubscriptionStore();
    await store.define(eventType, 2);
    const log = overriding<EventLog>(store.log, {
      endOffsets: async (partitions) => {
        questions.push(partitions);
        const ends = await store.log.endOffsets(partitions);
        await beforeAnswer();
        return ends;
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

  it('are looked up once for commits at the same time', async () => {
    await store.publish(eventType, 1, 1);
    const positions = [{ eventType, partition: 1, offset: 0 }];
    const together = [endsFor([1, 0]), ends.endOffsetsOf(positions), ends.endOffsetsOf(positions)];
    expect(await Promise.all(together)).to.deep.equal([[1], [1], [1]]);
    expect(questions).to.have.length(1);
  });

  it('are looked up again for an event that came after a lookup began, and after one that failed', async () => {
    let answer: (() => void) | undefined;
    beforeAnswer = () => new Promise<void>((resolve) => (answer = resolve));
    const first = endsFor([1, 1]);
    await eventually(() => answer !== undefined);
    await store.publish(eventType, 1, 1);
    const second = ends.endOffsetsOf([{ eventType, partition: 1, offset: 1 }]);
    beforeAnswer = () => undefined;
    answer?.();
    expect(await Promise.all([first, second])).to.deep.equal([[1], [2]]);
    expect(questions).to.have.length(2);
    let failures = 1;
    beforeAnswer = () => (failures-- > 0 ? Promise.reject(new Error('lost')) : undefined);
    const failing = endsFor([1, 2]).catch(() => 'failed');
    const behind = ends.endOffsetsOf([{ eventType, partition: 1, offset: 2 }]);
    expect(await failing).to.equal('failed');
    expect(await behind).to.deep.equal([2]);
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
