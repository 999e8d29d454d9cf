import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  createMetrics,
  removeStaleSeries,
  removeStaleSeriesRegularly,
  staleSeriesMilliseconds,
} from '../src/metrics.ts';
import { SimulatedClock } from './support/simulated-clock.ts';

describe('removeStaleSeries', () => {
  const things = {
    subscriptionExists: (id: string) => id === 'kept',
    eventTypeExists: (name: string) => name === 'orders',
  };

  async function seriesOf(metrics: ReturnType<typeof createMetrics>): Promise<string[]> {
    const lines = (await metrics.registry.metrics()).split('\n');
    return lines.filter((line) => /^lendstream_\w+\{.*(subscription_id|event_type)=/.test(line));
  }

  it('removes the series of deleted subscriptions and event types, and keeps all others', async () => {
    const metrics = createMetrics();
    for (const id of ['kept', 'deleted']) {
      metrics.openStreams.inc({ subscription_id: id });
      metrics.openStreams.dec({ subscription_id: id });
      metrics.deliveredEvents.labels({ subscription_id: id }).inc(7);
    }
    for (const name of ['orders', 'deleted']) {
      metrics.publishedEvents.inc({ event_type: name }, 3);
      metrics.refusedEvents.inc({ event_type: name }, 0);
      metrics.publishSeconds.observe({ event_type: name }, 0.002);
    }
    const before = await seriesOf(metrics);
    await removeStaleSeries(metrics, things);
    const after = await seriesOf(metrics);
    expect(after).to.deep.equal(before.filter((line) => !line.includes('"deleted"')));
    expect(after).to.have.length(before.length / 2);
  });

  it('waits until the streams of a deleted subscription have ended, so that no gauge ends below zero', async () => {
    const metrics = createMetrics();
    metrics.openStreams.inc({ subscription_id: 'deleted' });
    await removeStaleSeries(metrics, things);
    metrics.openStreams.dec({ subscription_id: 'deleted' });
    expect(await seriesOf(metrics)).to.deep.equal(['lendstream_open_streams{subscription_id="deleted"} 0']);
    await removeStaleSeries(metrics, things);
    expect(await seriesOf(metrics)).to.deep.equal([]);
  });

  it('happens every minute without a scrape, until it is cancelled', async () => {
    const metrics = createMetrics();
    const clock = new SimulatedClock();
    const timer = removeStaleSeriesRegularly(metrics, things, clock);
    const deleted = 'lendstream_delivered_events_total{subscription_id="deleted"} 1';
    metrics.deliveredEvents.inc({ subscription_id: 'deleted' });
    await clock.turn(staleSeriesMilliseconds - 1);
    expect(await seriesOf(metrics)).to.deep.equal([deleted]);
    await clock.turn(1);
    expect(await seriesOf(metrics)).to.deep.equal([]);
    timer.cancel();
    metrics.deliveredEvents.inc({ subscription_id: 'deleted' });
    await clock.turn(2 * staleSeriesMilliseconds);
    expect(await seriesOf(metrics)).to.deep.equal([deleted]);
  });
});
