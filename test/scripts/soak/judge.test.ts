import { expect } from 'chai';
import { describe, it } from 'mocha';
import { judge, judgedIntervalsMinimum, type Interval, type Limits, type Series } from '../../../scripts/soak/judge.ts';

const mebibyte = 1024 * 1024;
const limits: Limits = { memoryGrowth: 1.1, latencyGrowth: 1.5, carriedShare: 0.9 };
const warmUpMinutes = 10;

/** A minute of a service that does not change, except that what is kept on its disk grows. */
function steady(minute: number): Interval {
  const times = { p50: 2, p99: 20, longest: 80 };
  return {
    minute,
    seconds: 60,
    events: 240_000,
    delivered: 720_000,
    loans: 120,
    commands: 6_000,
    failures: 0,
    publish: times,
    command: times,
    delivery: times,
    memory: { residentBytes: 400 * mebibyte, heapBytes: 150 * mebibyte },
    disk: { bytes: minute * 110 * mebibyte, eventBytes: minute * 90 * mebibyte, accountBytes: minute * 3 * mebibyte },
  };
}

/** An hour, in which each minute may differ from a steady one. */
function hour(change: (minute: number) => Partial<Interval> = () => ({})): Series {
  return {
    intervals: Array.from({ length: 60 }, (_, index) => ({ ...steady(index + 1), ...change(index + 1) })),
    warmUpMinutes,
    bytesInUse: { warm: 100 * mebibyte, end: 100 * mebibyte },
    asked: { eventsPerSecond: 4_000, loansPerMinute: 120, commandsPerMinute: 6_000 },
  };
}

function brokenRules(series: Series): string[] {
  return judge(series, limits).flatMap(({ name, isGood }) => (isGood ? [] : [name]));
}

/** From the first minute after the warm-up to the last. */
const resident = (first: number, last: number) => (minute: number) => ({
  memory: { residentBytes: (minute <= 20 ? first : last) * mebibyte, heapBytes: 0 },
});
const p99 = (kind: 'publish' | 'command' | 'delivery', first: number, last: number) => (minute: number) => ({
  [kind]: { p50: 1, p99: minute <= 20 ? first : last, longest: 900 },
});
/** What each minute adds. */
const disk = (bytes: number, events: number, accounts: number) => (minute: number) => ({
  disk: {
    bytes: minute * bytes * mebibyte,
    eventBytes: minute * events * mebibyte,
    accountBytes: minute * accounts * mebibyte,
  },
});

const series: readonly (readonly [title: string, series: Series, broken: readonly string[]])[] = [
  ['a service that does not change', hour(), []],

  ['memory at the limit', hour(resident(400, 472)), []],
  ['memory beyond the limit', hour(resident(400, 472.1)), ['resident memory']],
  ['memory that grows by 3 MiB a minute', hour((minute) => resident(0, 400 + minute * 3)(60)), ['resident memory']],
  ['memory that grew during the warm-up', hour((minute) => resident(0, minute <= 10 ? 100 : 900)(60)), []],
  ['one minute with much garbage', hour((minute) => resident(0, minute === 57 ? 900 : 400)(60)), []],

  ['memory in use at the limit', { ...hour(), bytesInUse: inUse(100, 142) }, []],
  ['memory in use beyond the limit', { ...hour(), bytesInUse: inUse(100, 142.1) }, ['memory in use']],

  // The medians of both fifths are 40 minutes apart.
  ['disk that grows by what is live, with 128 MiB more', hour(disk(1.25 * 80 + 3 * 4 + 3.2, 80, 4)), []],
  ['disk that grows by more', hour(disk(1.25 * 80 + 3 * 4 + 3.3, 80, 4)), ['disk']],
  ['disk that grows while nothing is kept', hour(disk(4, 0, 0)), ['disk']],

  ...(['publish', 'command', 'delivery'] as const).flatMap((kind) => [
    [`p99 of ${kind} at the limit`, hour(p99(kind, 20, 32)), []] as const,
    [`p99 of ${kind} beyond the limit`, hour(p99(kind, 20, 32.1)), [`p99 of ${kind}`]] as const,
  ]),
  ['p99 that becomes better', hour(p99('publish', 180, 45)), []],
  ['p99 that was worse during the warm-up', hour((minute) => p99('publish', 0, minute <= 10 ? 900 : 20)(60)), []],
  [
    'a last fifth in which nothing was delivered',
    hour((minute) => (minute <= 50 ? {} : { delivery: { p50: null, p99: null, longest: null } })),
    ['p99 of delivery'],
  ],
  [
    'nothing delivered at all',
    hour(() => ({ delivery: { p50: null, p99: null, longest: null } })),
    ['p99 of delivery'],
  ],

  ['nine tenths of the events', hour(() => ({ events: 216_000 })), []],
  ['fewer events', hour(() => ({ events: 215_999 })), ['load']],
  ['fewer loans', hour(() => ({ loans: 107 })), ['load']],
  ['fewer commands', hour(() => ({ commands: 5_399 })), ['load']],

  ['one failure during the warm-up', hour((minute) => ({ failures: minute === 3 ? 1 : 0 })), ['failures']],
];

function inUse(warm: number, end: number): Series['bytesInUse'] {
  return { warm: warm * mebibyte, end: end * mebibyte };
}

describe('The judge of a soak', () => {
  for (const [title, judged, broken] of series) {
    it(`${broken.length === 0 ? 'accepts' : 'rejects'} ${title}`, () => {
      expect(brokenRules(judged)).to.deep.equal(broken);
    });
  }

  it('shows the figures of each rule', () => {
    const figures = judge(hour(resident(400, 500)), limits).map(({ name, figures: text }) => `${name}: ${text}`);
    expect(figures).to.deep.equal([
      'resident memory: 400 MiB, then 500 MiB',
      'memory in use: 100 MiB, then 100 MiB',
      'disk: 4400 MiB for 3600 MiB of events and 120 MiB of accounts',
      'p99 of publish: 20.0 ms, then 20.0 ms',
      'p99 of command: 20.0 ms, then 20.0 ms',
      'p99 of delivery: 20.0 ms, then 20.0 ms',
      'load: 4000 of 4000 events/s, 120 of 120 loans/min, 6000 of 6000 commands/min',
      'failures: 0',
    ]);
  });

  it('judges no run with fewer intervals after the warm-up than it can compare', () => {
    const intervalsOf = (count: number): Series => ({ ...hour(), intervals: hour().intervals.slice(0, 10 + count) });
    expect(brokenRules(intervalsOf(judgedIntervalsMinimum))).to.deep.equal([]);
    expect(() => judge(intervalsOf(judgedIntervalsMinimum - 1), limits)).to.throw('4 intervals are too few');
  });
});
