import { expect } from 'chai';
import { describe, it } from 'mocha';
import { ActivityHistory, intervalMilliseconds, pointsMaximum } from '../../../src/broker/overview/activity-history.ts';
import { systemClock } from '../../../src/clock.ts';
import { createMetrics } from '../../../src/metrics.ts';

describe('the history of a process', () => {
  function prepare() {
    let now = 0;
    const clock = { ...systemClock, monotonic: () => now, now: () => now };
    const metrics = createMetrics();
    let [measured, openStreams] = [0, 0];
    const history = new ActivityHistory(clock, metrics, () => {
      measured += 1;
      const unconsumedEvents = measured === 3 ? null : 40 + measured;
      return Promise.resolve({ openStreams, unconsumedEvents, diskUsedBytes: 1_000 });
    });
    const pass = async (): Promise<void> => {
      now += intervalMilliseconds;
      await history.look();
    };
    const open = (count: number): void => void (openStreams = count);
    return { metrics, history, pass, open, measured: () => measured };
  }

  it('has rates, percentiles and counts of each interval', async () => {
    const { metrics, history, pass, open, measured } = prepare();
    metrics.publishedEvents.inc({ event_type: 'a' }, 1_000);
    await history.look();
    expect(history.points, 'what was before counts for no interval').to.deep.equal([]);
    metrics.publishedEvents.inc({ event_type: 'a' }, 30);
    metrics.publishedEvents.inc({ event_type: 'b' }, 20);
    metrics.deliveredEvents.inc({ subscription_id: 'x' }, 10);
    metrics.commands.inc({ type: 'REPAY', outcome: 'committed' }, 5);
    metrics.publishSeconds.observe({ event_type: 'a' }, 0.0004);
    metrics.publishSeconds.observe({ event_type: 'b' }, 0.0004);
    open(3);
    metrics.workerLag.set({ partition: 0 }, 7);
    await pass();
    const [point] = history.points;
    expect(point).to.deep.include({
      published: 5,
      delivered: 1,
      commandsDecided: 0.5,
      openStreams: 3,
      commandsWaiting: 7,
      unconsumedEvents: 42,
      diskUsedBytes: 1_000,
    });
    expect(point?.publishP99).to.be.within(0.0004, 0.0005);
    expect(point?.commitP99).to.equal(null);
    await pass();
    expect(history.points[1]).to.deep.include({
      published: 0,
      publishP99: null,
      openStreams: 3,
      unconsumedEvents: null,
    });
    expect(history.lastPointAt).to.equal(2 * intervalMilliseconds);
    expect(measured()).to.equal(3);
  });

  it('has no negative rate when series are removed', async () => {
    const { metrics, history, pass } = prepare();
    metrics.publishedEvents.inc({ event_type: 'a' }, 1_000);
    await history.look();
    metrics.publishedEvents.remove({ event_type: 'a' });
    await pass();
    expect(history.points[0]?.published).to.equal(0);
  });

  it('keeps an hour, and no point more', async () => {
    const { history, pass, open } = prepare();
    await history.look();
    for (let number = 0; number < pointsMaximum; number += 1) {
      open(number);
      await pass();
    }
    expect(history.points).to.have.length(pointsMaximum);
    expect(history.points[0]?.openStreams).to.equal(0);
    await pass();
    expect(history.points).to.have.length(pointsMaximum);
    expect(history.points[0]?.openStreams).to.equal(1);
  });
});
