import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readSubscription } from '../../../src/broker/subscriptions/requested-subscription.ts';
import { checkInitialCursors } from '../../../src/broker/subscriptions/initial-cursors.ts';
import { outcomeOf } from '../../support/thrown-errors.ts';

describe('initial cursors', () => {
  const partitions = [0, 1].map((partition) => ({ eventType: 'a', partition }));
  const bounds = [0, 1].map((partition) => ({ topic: 'a', partition, earliest: 5, latest: 10 }));
  const at = (...cursors: [string, string][]) =>
    readSubscription({
      owning_application: 'core',
      event_types: ['a'],
      read_from: 'cursors',
      initial_cursors: cursors.map(([partition, offset]) => ({ event_type: 'a', partition, offset })),
    });

  const rows: [string, [string, string][], string][] = [
    [
      'cover every partition',
      [
        ['0', '7'],
        ['1', '001-0001-000000000000000009'],
      ],
      'accepted',
    ],
    [
      'begin at the start',
      [
        ['0', 'begin'],
        ['1', '4'],
      ],
      'accepted',
    ],
    ['are missing', [], '422 initial_cursors should contain cursors for all partitions of subscription'],
    ['miss a partition', [['0', '7']], '422 initial_cursors should contain cursors for all partitions of subscription'],
    [
      'name a partition of another event type',
      [
        ['0', '7'],
        ['1', '7'],
        ['2', '7'],
      ],
      '422 initial_cursors should contain cursors only for partitions of this subscription',
    ],
    [
      'name a partition twice',
      [
        ['0', '7'],
        ['1', '7'],
        ['1', '8'],
      ],
      '422 there should be no more than 1 cursor for each partition in initial_cursors',
    ],
    [
      'have no offset',
      [
        ['0', 'x'],
        ['1', '7'],
      ],
      '422 invalid offset x',
    ],
    [
      'are beyond the end',
      [
        ['0', '10'],
        ['1', '7'],
      ],
      '422 offset 001-0001-000000000000000010 for partition 0 event type a is unavailable as it lies beyond the last event. PATCH partition offset with valid and available offset',
    ],
    [
      'have expired',
      [
        ['0', '3'],
        ['1', '7'],
      ],
      '422 offset 001-0001-000000000000000003 for partition 0 event type a is unavailable as retention time of data elapsed. PATCH partition offset with valid and available offset',
    ],
  ];
  for (const [what, cursors, expected] of rows) {
    it(`that ${what}: ${expected.slice(0, 60)}`, () => {
      expect(outcomeOf(() => checkInitialCursors(at(...cursors), partitions, bounds))).to.equal(expected);
    });
  }

  it('do not matter to a subscription that starts elsewhere', () => {
    expect(outcomeOf(() => checkInitialCursors({ ...at(), read_from: 'end' }, partitions, bounds))).to.equal(
      'accepted',
    );
  });
});
