import { expect } from 'chai';
import { describe, it } from 'mocha';
import { startingOffsets } from '../../../src/broker/subscriptions/starting-offsets.ts';
import type { Subscription } from '../../../src/broker/definitions/subscription.ts';

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
