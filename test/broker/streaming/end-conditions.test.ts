import { expect } from 'chai';
import * as fastCheck from 'fast-check';
import { describe, it } from 'mocha';
import {
  closingDueAt,
  closingReason,
  type ClosingRules,
  type PartitionProgress,
  type StreamProgress,
} from '../../../src/broker/streaming/end-conditions.ts';

const rules: ClosingRules = { commitTimeoutMilliseconds: 60, keepAliveLimit: 3, streamLimit: 100 };

function partition(changes: Partial<PartitionProgress> = {}): PartitionProgress {
  return { events: 0, keepAlives: 0, readFailure: undefined, handOverUntil: undefined, ...changes };
}

const quiet: StreamProgress = {
  partitions: [partition(), partition()],
  sentEvents: 0,
  uncommittedSince: undefined,
  idleSince: 0,
  endsAt: 10_000,
  logClosed: false,
};

describe('the reason for which a stream ends', () => {
  const damaged = { code: 'log_error', detail: 'damaged' } as const;
  const cases: [what: string, changes: Partial<StreamProgress>, now: number, answer: string | undefined][] = [
    ['nothing happens', {}, 9_999, undefined],
    ['its time is over', {}, 10_000, 'stream_timeout'],
    ['events are uncommitted for less than the commit timeout', { uncommittedSince: 100 }, 159, undefined],
    ['events are uncommitted for the whole commit timeout', { uncommittedSince: 100 }, 160, 'commit_timeout'],
    ['the limit was sent and committed', { sentEvents: 100 }, 1, 'stream_limit 100'],
    ['the limit was sent and is not committed', { sentEvents: 100, uncommittedSince: 0 }, 1, undefined],
    ['one less than the limit was sent', { sentEvents: 99 }, 1, undefined],
    ['the log was closed', { logClosed: true }, 1, 'server_shutdown'],
    ['it had no partition for a while', { partitions: [], idleSince: 100 }, 219, undefined],
    ['it had no partition for twice the commit timeout', { partitions: [], idleSince: 100 }, 220, 'no_partitions'],
    ['a hand-over is pending', { partitions: [partition(), partition({ handOverUntil: 50 })] }, 49, undefined],
    [
      'a hand-over has passed its deadline',
      { partitions: [partition(), partition({ handOverUntil: 50 })] },
      50,
      'handover_timeout',
    ],
    ['one partition had its keep-alives', { partitions: [partition({ keepAlives: 3 }), partition()] }, 1, undefined],
    [
      'every partition had its keep-alives',
      { partitions: [partition({ keepAlives: 3 }), partition({ keepAlives: 4 })] },
      1,
      'keep_alive_limit 3',
    ],
    [
      'reading failed and events are waiting',
      { partitions: [partition({ readFailure: damaged, events: 1 }), partition()] },
      1,
      undefined,
    ],
    [
      'reading failed and everything was sent',
      { partitions: [partition(), partition({ readFailure: damaged })] },
      1,
      'log_error damaged',
    ],
    ['both the commit timeout and its time are over', { uncommittedSince: 0 }, 10_000, 'commit_timeout'],
  ];
  for (const [what, changes, now, expected] of cases) {
    it(`is ${expected ?? 'nothing'} when ${what}`, () => {
      const closing = closingReason(rules, { ...quiet, ...changes }, now);
      expect(closing && `${closing.code} ${closing.detail}`.trim()).to.equal(expected);
    });
  }

  it('is never a limit or keep-alives when these are unlimited', () => {
    const unlimited = { ...rules, keepAliveLimit: 0, streamLimit: 0 };
    const progress = { ...quiet, sentEvents: 1_000, partitions: [partition({ keepAlives: 1_000 })] };
    expect(closingReason(unlimited, progress, 1)).to.equal(undefined);
  });
});

describe('the next check of a stream', () => {
  const moment = fastCheck.integer({ min: 0, max: 1_000 });
  const progress = fastCheck.record({
    partitions: fastCheck.array(
      fastCheck.record({
        events: fastCheck.constant(0),
        keepAlives: fastCheck.constant(0),
        readFailure: fastCheck.constant(undefined),
        handOverUntil: fastCheck.option(moment, { nil: undefined }),
      }),
      { maxLength: 4 },
    ),
    sentEvents: fastCheck.constant(0),
    uncommittedSince: fastCheck.option(moment, { nil: undefined }),
    idleSince: moment,
    endsAt: moment,
    logClosed: fastCheck.constant(false),
  });

  it('is due exactly when time alone ends the stream', () => {
    fastCheck.assert(
      fastCheck.property(progress, moment, (state, now) => {
        expect(closingReason(rules, state, now) !== undefined).to.equal(now >= closingDueAt(rules, state));
      }),
    );
  });
});
