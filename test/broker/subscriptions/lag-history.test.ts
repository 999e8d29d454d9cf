import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import {
  LagHistory,
  lagHistoriesMaximum,
  lagIntervalMilliseconds,
  lagValuesMaximum,
} from '../../../src/broker/subscriptions/lag-history.ts';
import type { SubscriptionLag } from '../../../src/broker/subscriptions/subscription-lag.ts';
import { LendstreamError } from '../../../src/errors.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

describe('the history of lags', () => {
  let clock: SimulatedClock;
  let lags: Record<string, number>;
  let read: () => Promise<readonly SubscriptionLag[]>;

  const current = (): SubscriptionLag[] =>
    Object.entries(lags).map(([subscriptionId, unconsumedEvents]) => ({
      subscriptionId,
      eventType: 'loans',
      unconsumedEvents,
    }));

  const historyOf = (historiesMaximum?: number): LagHistory =>
    new LagHistory(clock, { get: () => read() }, historiesMaximum);

  const pass = async (history: LagHistory, seen: Record<string, number>): Promise<number | null> => {
    lags = seen;
    const total = await history.look();
    await clock.turn(lagIntervalMilliseconds);
    return total;
  };

  beforeEach(() => {
    clock = new SimulatedClock();
    read = () => Promise.resolve(current());
  });

  it('has a value of each interval since a subscription is there, and the total', async () => {
    const history = historyOf();
    expect(history.of('a')).to.deep.equal({ intervalSeconds: 10, lastAt: null, values: [] });
    expect(await pass(history, { a: 5 })).to.equal(5);
    const at = clock.now();
    expect(await pass(history, { a: 7, b: 1 })).to.equal(8);
    expect(history.of('a')).to.deep.equal({ intervalSeconds: 10, lastAt: at, values: [5, 7] });
    expect(history.of('b').values).to.deep.equal([1]);
    expect(history.of('c').values).to.deep.equal([]);
  });

  it('adds up the event types of a subscription', async () => {
    read = () =>
      Promise.resolve(['x', 'y'].map((eventType) => ({ subscriptionId: 'a', eventType, unconsumedEvents: 3 })));
    const history = historyOf();
    expect(await history.look()).to.equal(6);
    expect(history.of('a').values).to.deep.equal([6]);
  });

  it('has the same values again while the lags are the same list, and those of the peaks when not all have a place', async () => {
    const settled = historyOf(2);
    const quiet = ['a', 'b', 'c'].map((subscriptionId) => ({ subscriptionId, eventType: 'x', unconsumedEvents: 0 }));
    read = () => Promise.resolve(quiet);
    for (let number = 0; number < 3; number += 1) expect(await pass(settled, {})).to.equal(0);
    expect(settled.of('b').values).to.deep.equal([0, 0, 0]);
    expect(settled.of('c').values).to.deep.equal([]);
    const lacking = historyOf(1);
    await pass(lacking, { a: 9, b: 1 });
    read = () => Promise.resolve(current());
    await pass(lacking, { a: 9, b: 1 });
    const fewer = ['a', 'b'].map((subscriptionId, place) => ({
      subscriptionId,
      eventType: 'x',
      unconsumedEvents: place,
    }));
    read = () => Promise.resolve(fewer);
    for (let number = 0; number < lagValuesMaximum; number += 1) expect(await pass(lacking, {})).to.equal(1);
    expect(lacking.of('b').values, 'the peak of the other one is over').not.to.deep.equal([]);
    expect(lacking.of('a').values).to.deep.equal([]);
  });

  it('has gaps where the log was unavailable or slow, and where no look was made', async () => {
    const history = historyOf();
    await pass(history, { a: 5 });
    read = () => Promise.reject(new LendstreamError('LOG_UNAVAILABLE', 'Kafka is gone.'));
    expect(await pass(history, {})).to.equal(null);
    let answer: (found: readonly SubscriptionLag[]) => void = () => undefined;
    let asked = 0;
    read = () => {
      asked += 1;
      return new Promise((resolve) => (answer = resolve));
    };
    const slow = history.look();
    await clock.turn(2_000);
    expect(await slow, 'no caller waits longer').to.equal(null);
    await clock.turn(lagIntervalMilliseconds - 2_000);
    expect(await pass(history, { a: 6 }), 'the slow look goes on alone').to.equal(null);
    expect(asked).to.equal(1);
    answer(current());
    await clock.turn(lagIntervalMilliseconds);
    read = () => Promise.resolve(current());
    await pass(history, { a: 9 });
    expect(history.of('a').values).to.deep.equal([5, null, null, 6, null, 9]);
  });

  it('keeps an hour and no value more, and nothing of what was before a long pause', async () => {
    const history = historyOf();
    for (let number = 0; number < lagValuesMaximum; number += 1) await pass(history, { a: number });
    expect(history.of('a').values).to.have.length(lagValuesMaximum);
    expect(history.of('a').values[0]).to.equal(0);
    await pass(history, { a: 1_000 });
    const { values } = history.of('a');
    expect([values.length, values[0], values.at(-1)]).to.deep.equal([lagValuesMaximum, 1, 1_000]);
    await clock.turn(3 * 3_600_000);
    await pass(history, { a: 2 });
    expect(history.of('a').values.filter((value) => value !== null)).to.deep.equal([2]);
  });

  it('joins values to the largest of longer intervals, the last of which is complete', async () => {
    const history = historyOf();
    for (const a of [1, 9, 2, 3, 4]) await pass(history, { a });
    expect(history.of('a', 5)).to.deep.include({ intervalSeconds: 10, values: [1, 9, 2, 3, 4] });
    expect(history.of('a', 4)).to.deep.include({ intervalSeconds: 20, values: [1, 9, 4] });
  });

  it('keeps those that lacked most, also when they have caught up, and forgets what was deleted', async () => {
    const history = historyOf(2);
    await pass(history, { a: 50, b: 3, c: 7 });
    await pass(history, { a: 0, b: 6, c: 0 });
    expect(['a', 'b', 'c'].map((id) => history.of(id).values)).to.deep.equal([[50, 0], [], [7, 0]]);
    await pass(history, { a: 0, b: 7, c: 0 });
    expect(history.of('b').values, 'no history gives way to an equal one').to.deep.equal([]);
    await pass(history, { a: 0, b: 8, c: 0 });
    expect(['a', 'b', 'c'].map((id) => history.of(id).values)).to.deep.equal([[50, 0, 0, 0], [8], []]);
    await pass(history, { b: 1, c: 0 });
    expect(['a', 'b', 'c'].map((id) => history.of(id).values)).to.deep.equal([[], [8, 1], [0]]);
  });

  it('keeps as many subscriptions as its limit says, and one less than one more', async () => {
    const history = historyOf();
    const many = (count: number): Record<string, number> =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`s${index}`, count - index]));
    const kept = (count: number): number =>
      Object.keys(many(count)).filter((id) => history.of(id).values.length > 0).length;
    await pass(history, many(lagHistoriesMaximum));
    expect(kept(lagHistoriesMaximum)).to.equal(lagHistoriesMaximum);
    await pass(history, many(lagHistoriesMaximum + 1));
    expect(kept(lagHistoriesMaximum + 1)).to.equal(lagHistoriesMaximum);
  });
});
