import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  after,
  every,
  giveWay,
  isDateTime,
  readMoment,
  systemClock,
  toTimestamp,
  withTimeout,
  type Clock,
} from '../src/clock.ts';
import { timesAndNeighbours } from './broker/publishing/formatted-texts.ts';
import { SimulatedClock } from './support/simulated-clock.ts';

describe('a timer that may be late', () => {
  it('shares one wake-up with others, and is no later than it may be', async () => {
    const start = systemClock.monotonic() + 20;
    const calls: { readonly late: number; readonly at: number }[] = [];
    const turns = new Set<number>();
    let turn = 0;
    const nextTurn = every(systemClock, 1, () => (turn += 1));
    for (let late = 0; late < 60; late += 1) {
      const [deadline, maximum] = [start + late, 100];
      const note = (): void => {
        calls.push({ late: systemClock.monotonic() - deadline, at: late });
        turns.add(turn);
      };
      systemClock.at(deadline, note, maximum);
    }
    while (calls.length < 60) await systemClock.sleep(5);
    nextTurn.cancel();
    // Steps of 64 ms: sixty deadlines, one after the other, are in two of them.
    expect(turns.size).to.be.at.most(2);
    expect(Math.min(...calls.map(({ late }) => late))).to.be.at.least(0);
    // The machine may be busy, so the last one is compared with the first one.
    const lateness = calls.map(({ late }) => late);
    expect(Math.max(...lateness) - Math.min(...lateness)).to.be.at.most(64 + 60);
  });

  it('does not call back after a cancel, and leaves the others alone', async () => {
    const deadline = systemClock.monotonic() + 20;
    const called: string[] = [];
    const first = systemClock.at(deadline, () => called.push('first'), 64);
    const second = systemClock.at(deadline, () => called.push('second'), 64);
    first.cancel();
    first.cancel();
    while (called.length === 0) await systemClock.sleep(5);
    second.cancel();
    expect(called).to.deep.equal(['second']);
    systemClock.at(systemClock.monotonic() + 5, () => called.push('third'), 64).cancel();
    await systemClock.sleep(100);
    expect(called).to.deep.equal(['second']);
  });

  it('can be set by the callback of another one, and a callback cancels one that is due with it', async () => {
    const deadline = systemClock.monotonic() + 5;
    const called: string[] = [];
    systemClock.at(
      deadline,
      () => {
        called.push('first');
        second.cancel();
        systemClock.at(deadline, () => called.push('again'), 64);
      },
      64,
    );
    const second = systemClock.at(deadline, () => called.push('second'), 64);
    while (called.length < 2) await systemClock.sleep(5);
    expect(called).to.deep.equal(['first', 'again']);
  });
});

/** The properties of both clocks; `turn` lets time pass on the one under test. */
const clocks: readonly [name: string, create: () => { clock: Clock; turn: (milliseconds: number) => Promise<void> }][] =
  [
    [
      'the clock of the system',
      () => ({
        clock: systemClock,
        turn: async (milliseconds) => {
          const end = performance.now() + milliseconds;
          // Its timers are late when the machine is busy.
          while (performance.now() < end + 30) await systemClock.sleep(5);
        },
      }),
    ],
    [
      'the clock that is turned by hand',
      () => {
        const clock = new SimulatedClock();
        return { clock, turn: (milliseconds) => clock.turn(milliseconds) };
      },
    ],
  ];

for (const [name, create] of clocks) {
  describe(name, () => {
    it('calls back at the deadline, once, and not before', async () => {
      const { clock, turn } = create();
      const deadline = clock.monotonic() + 20;
      const calledAt: number[] = [];
      clock.at(deadline, () => calledAt.push(clock.monotonic()));
      expect(calledAt).to.deep.equal([]);
      await turn(25);
      await turn(25);
      expect(calledAt).to.have.length(1);
      expect(calledAt[0]).to.be.at.least(deadline);
    });

    it('calls back for a deadline that has passed, but only after the call has returned', async () => {
      const { clock, turn } = create();
      let calls = 0;
      clock.at(clock.monotonic() - 1, () => (calls += 1));
      expect(calls).to.equal(0);
      await turn(1);
      expect(calls).to.equal(1);
    });

    it('calls back in the order of the deadlines, and in the order of the calls when deadlines are equal', async () => {
      const { clock, turn } = create();
      const start = clock.monotonic();
      const order: string[] = [];
      clock.at(start + 20, () => order.push('later'));
      clock.at(start + 10, () => order.push('first'));
      clock.at(start + 10, () => order.push('second'));
      await turn(30);
      expect(order).to.deep.equal(['first', 'second', 'later']);
    });

    it('does not call back after a cancel, and cancels twice without harm', async () => {
      const { clock, turn } = create();
      let calls = 0;
      const timer = after(clock, 5, () => (calls += 1));
      timer.cancel();
      timer.cancel();
      await turn(10);
      expect(calls).to.equal(0);
    });

    it('repeats until it is cancelled, also by its own callback', async () => {
      const { clock, turn } = create();
      let calls = 0;
      const timer = every(clock, 5, () => {
        calls += 1;
        if (calls === 3) timer.cancel();
      });
      await turn(100);
      expect(calls).to.equal(3);
    });

    it('sleeps for the requested time, or until the signal', async () => {
      const { clock, turn } = create();
      const woken: string[] = [];
      const stopped = new AbortController();
      void clock.sleep(10).then(() => woken.push('asleep for 10 ms'));
      void clock.sleep(600_000, stopped.signal).then(() => woken.push('aborted'));
      void clock.sleep(600_000, AbortSignal.abort()).then(() => woken.push('aborted before'));
      await turn(0);
      expect(woken).to.include('aborted before');
      await turn(15);
      expect(woken).to.deep.equal(['aborted before', 'asleep for 10 ms']);
      stopped.abort();
      await turn(0);
      expect(woken).to.include('aborted');
    });

    it('withTimeout returns the result of a promise in time, and otherwise the result of the late callback', async () => {
      const { clock, turn } = create();
      const inTime = withTimeout(clock, Promise.resolve('in time'), 10, () => 'late');
      const never = withTimeout(clock, new Promise(() => undefined), 10, () => 'late');
      const refused = withTimeout(clock, new Promise(() => undefined), 10, () => {
        throw new Error('too late');
      }).catch((error: unknown) => error);
      await turn(20);
      expect(await inTime).to.equal('in time');
      expect(await never).to.equal('late');
      expect(await refused)
        .to.be.an('error')
        .with.property('message', 'too late');
    });

    it('withTimeout passes on a failure in time, and ignores a failure after the timeout', async () => {
      const { clock, turn } = create();
      const failure = new Error('failed');
      const failed = withTimeout(clock, Promise.reject(failure), 10, () => 'late').catch((error: unknown) => error);
      const later = new Promise<never>((_, reject) => after(clock, 20, () => reject(failure)));
      const late = withTimeout(clock, later, 10, () => 'late');
      await turn(40);
      expect(await failed).to.equal(failure);
      expect(await late).to.equal('late');
    });
  });
}

describe('the system clock', () => {
  it('waits for a deadline beyond the longest timer of Node', async () => {
    let calls = 0;
    const timer = after(systemClock, 2 ** 31 + 1_000, () => (calls += 1));
    const stopped = new AbortController();
    let isAwake = false;
    const asleep = systemClock.sleep(2 ** 31 + 1_000, stopped.signal).then(() => (isAwake = true));
    await systemClock.sleep(20);
    expect({ calls, isAwake }).to.deep.equal({ calls: 0, isAwake: false });
    timer.cancel();
    stopped.abort();
    await asleep;
  });
});

describe('a simulated clock', () => {
  it('fires a timer that fell due while the process was suspended at the time of the next turn', async () => {
    const clock = new SimulatedClock();
    const fired: [string, number][] = [];
    clock.at(2_000, () => fired.push(['second', clock.monotonic()]));
    clock.at(1_000, () => fired.push(['first', clock.monotonic()]));
    clock.jump(5_000);
    expect(fired).to.deep.equal([]);
    await clock.turn(0);
    expect(fired).to.deep.equal([
      ['first', 5_000],
      ['second', 5_000],
    ]);
  });
});

describe('giving way', () => {
  it('runs everything that is due first', async () => {
    const order: string[] = [];
    setImmediate(() => order.push('due'));
    await giveWay();
    order.push('the long work');
    expect(order).to.deep.equal(['due', 'the long work']);
  });
});

describe('a timestamp', () => {
  it('is RFC 3339 in UTC with milliseconds', () => {
    expect(toTimestamp(0)).to.equal('1970-01-01T00:00:00.000Z');
    expect(toTimestamp(Date.UTC(2026, 1, 28, 23, 59, 59, 7))).to.equal('2026-02-28T23:59:59.007Z');
  });
});

describe('isDateTime', () => {
  it('has the last day of each month, and not the day after it', () => {
    for (const [index, days] of [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].entries()) {
      const month = `2026-${String(index + 1).padStart(2, '0')}`;
      expect(isDateTime(`${month}-${days}T00:00:00Z`), month).to.equal(true);
      expect(isDateTime(`${month}-${days + 1}T00:00:00Z`), month).to.equal(false);
    }
  });

  it('has the 29th of February every four years, but in a whole century only every four hundred', () => {
    const years = ['1600', '1700', '1896', '1900', '1999', '2000', '2001', '2004', '2100', '2104'];
    const leapYears = years.filter((year) => isDateTime(`${year}-02-29T00:00:00Z`));
    expect(leapYears).to.deep.equal(['1600', '1896', '2000', '2004', '2104']);
    expect(years.filter((year) => isDateTime(`${year}-02-30T00:00:00Z`))).to.deep.equal([]);
  });

  for (const text of [
    '2024-02-29T00:00:00Z',
    '2026-12-31T23:59:59.123456+01:00',
    '2026-01-01t00:00:00z',
    '2026-01-01T00:00:00.1Z',
    '2026-01-01T00:00:00.123456789Z',
    '2026-01-01T00:00:00+17:59',
    '2026-01-01T00:00:00+18:00',
    '2026-01-01T00:00:00-18:00',
  ]) {
    it(`accepts ${text}`, () => expect(isDateTime(text)).to.equal(true));
  }
  for (const text of [
    '2026-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T23:59:60Z',
    '2026-01-01 x',
    '2026-01-01 00:00:00Z',
    '2026-1-1T00:00:00Z',
    '2026-01-01T00:00Z',
    '2026-01-01T00:00:00.Z',
    '2026-01-01T00:00:00.1234567890Z',
    '2026-01-01T00:00:00+0200',
    '2026-01-01T00:00:00+02:00:30',
    '2026-01-01T00:00:00+18:01',
    '2026-01-01T00:00:00-19:00',
    '2026-01-01T00:00:00+23:59',
    '2026-01-01T00:00:00',
  ]) {
    it(`refuses ${text}`, () => expect(isDateTime(text)).to.equal(false));
  }
});

describe('readMoment', () => {
  it('reads every time that exists, and nothing else', () => {
    for (const text of [...timesAndNeighbours(), '0000-02-29T00:00:00Z', '0050-03-01T00:00:00+18:00']) {
      expect(readMoment(text), text).to.equal(isDateTime(text) ? Date.parse(text) : undefined);
      if (isDateTime(text)) expect(readMoment(text), text).to.satisfy(Number.isFinite);
    }
  });
});
