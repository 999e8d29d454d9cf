import { expect } from 'chai';
import * as fastCheck from 'fast-check';
import { describe, it } from 'mocha';
import {
  dueBatch,
  flushDueAt,
  sendAllowance,
  type BatchRules,
  type PendingEvents,
} from '../../../src/broker/streaming/batch-rules.ts';

const rules: BatchRules = {
  batchLimit: 5,
  flushMilliseconds: 1_000,
  timespanMilliseconds: 0,
  uncommittedEventsMaximum: 10,
  streamLimit: 0,
};

function waiting(events: number, changes: Partial<PendingEvents> = {}): PendingEvents {
  return { events, eventsOfEndedTimespan: 0, lastSentAt: 0, overflowing: false, ...changes };
}

describe('the number of events that a stream may send', () => {
  it('is the free part of the window', () => {
    expect(sendAllowance(rules, 0, 0)).to.equal(10);
    expect(sendAllowance(rules, 7, 1_000)).to.equal(3);
    expect(sendAllowance(rules, 10, 10)).to.equal(0);
  });

  it('is at most the remainder of the stream limit', () => {
    expect(sendAllowance({ ...rules, streamLimit: 4 }, 0, 0)).to.equal(4);
    expect(sendAllowance({ ...rules, streamLimit: 4 }, 1, 3)).to.equal(1);
    expect(sendAllowance({ ...rules, streamLimit: 4 }, 0, 4)).to.equal(0);
  });

  it('is never negative, even when commits moved back', () => {
    expect(sendAllowance(rules, 12, 12)).to.equal(0);
  });
});

describe('a batch', () => {
  const cases: [title: string, PendingEvents, allowance: number, now: number, ending: boolean, expected: unknown][] = [
    ['is sent when it is full', waiting(5), 10, 1, false, { events: 5, cause: 'batch_limit' }],
    ['never exceeds its limit', waiting(12), 10, 1, false, { events: 5, cause: 'batch_limit' }],
    ['waits while it is not full', waiting(4), 10, 999, false, undefined],
    ['fills the free part of the window', waiting(4), 3, 1, false, { events: 3, cause: 'batch_limit' }],
    ['waits while the window is used up', waiting(12), 0, 999, false, undefined],
    ['is sent incomplete after the flush timeout', waiting(2), 10, 1_000, false, { events: 2, cause: 'flush_timeout' }],
    ['is a keep-alive when there are no events', waiting(0), 10, 1_000, false, { events: 0, cause: 'flush_timeout' }],
    ['is a keep-alive while the window is used up', waiting(9), 0, 1_000, false, { events: 0, cause: 'flush_timeout' }],
    ['is sent incomplete when the stream ends', waiting(2), 10, 1, true, { events: 2, cause: 'stream_end' }],
    ['is no keep-alive when the stream ends', waiting(0), 10, 5_000, true, undefined],
    [
      'is sent incomplete when the buffer is full',
      waiting(3, { overflowing: true }),
      10,
      1,
      false,
      { events: 3, cause: 'overflow' },
    ],
    ['stays within the window when the buffer is full', waiting(3, { overflowing: true }), 0, 1, false, undefined],
    [
      'is sent when its time span of appends is over',
      waiting(4, { eventsOfEndedTimespan: 2 }),
      10,
      1,
      false,
      { events: 2, cause: 'batch_timespan' },
    ],
    [
      'never exceeds its limit when its time span is over',
      waiting(9, { eventsOfEndedTimespan: 8 }),
      10,
      1,
      false,
      { events: 5, cause: 'batch_timespan' },
    ],
  ];

  for (const [title, state, allowance, now, ending, expected] of cases) {
    it(title, () => expect(dueBatch(rules, state, allowance, now, ending)).to.deep.equal(expected));
  }

  it('never exceeds its limit, the free window or the buffered events, and delays no event for ever', () => {
    fastCheck.assert(
      fastCheck.property(
        fastCheck.nat(50),
        fastCheck.nat(50),
        fastCheck.integer({ min: 1, max: 20 }),
        fastCheck.nat(2_000),
        fastCheck.boolean(),
        fastCheck.boolean(),
        (events, allowance, batchLimit, now, overflowing, ending) => {
          const rulesNow = { ...rules, batchLimit };
          const due = dueBatch(rulesNow, waiting(events, { overflowing }), allowance, now, ending);
          if (due !== undefined) {
            expect(due.events).to.be.at.most(Math.min(events, allowance, batchLimit));
            if (due.cause !== 'flush_timeout') expect(due.events).to.be.above(0);
          }
          const later = dueBatch(rulesNow, waiting(events), allowance, flushDueAt(rulesNow, 0), false);
          expect(later?.events).to.equal(Math.min(events, allowance, batchLimit));
        },
      ),
    );
  });
});
