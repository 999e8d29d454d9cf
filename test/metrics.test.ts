import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  createMetrics,
  removeStaleSeries,
  removeStaleSeriesRegularly,
  setLags,
  staleSeriesMilliseconds,
} from '../src/metrics.ts';
import { SimulatedClock } from './support/simulated-clock.ts';

describe('setLags', () => {
  const maximum = 10_000;
  /** Lags of 10,000 and more subscriptions; that of the last one is the smallest. */
  const lags = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      subscriptionId: `s${index}`,
      eventType: 'orders',
      unconsumedEvents: count - index,
    }));
  const shown = async (metrics: ReturnType<typeof createMetrics>) => ({
    ids: (await metrics.subscriptionLag.get()).values.map(({ labels }) => labels.subscription_id),
    hidden: (await metrics.hiddenLags.get()).values[0]?.value,
    total: (await metrics.totalLag.get()).values[0]?.value,
  });

  it('gives a series to each lag up to the maximum, and to the largest ones beyond it; the total counts all', async () => {
    const metrics = createMetrics();
    setLags(metrics, lags(maximum), maximum);
    const atMaximum = await shown(metrics);
    expect(atMaximum.ids).to.have.length(maximum);
    expect(atMaximum).to.deep.include({ hidden: 0, total: (maximum * (maximum + 1)) / 2 });

    setLags(metrics, lags(maximum + 1).toReversed(), maximum);
    const beyond = await shown(metrics);
    expect(beyond.ids).to.have.length(maximum);
    expect(beyond.ids)
      .to.include('s0')
      .and.to.include(`s${maximum - 1}`)
      .and.not.to.include(`s${maximum}`);
    expect(beyond).to.deep.include({ hidden: 1, total: ((maximum + 1) * (maximum + 2)) / 2 });

    setLags(metrics, [], maximum);
    expect(await shown(metrics)).to.deep.equal({ ids: [], hidden: 0, total: 0 });
  });

  it('are written as text like the series that the library keeps, whatever the labels contain', async () => {
    const names = ['orders', 'a "quoted" one', 'back\\slash', 'two\nlines', 'größer', ''];
    const [metrics, kept] = [createMetrics(), createMetrics()];
    const given = names.map((eventType, index) => ({
      subscriptionId: `s${index}`,
      eventType,
      unconsumedEvents: index,
    }));
    setLags(metrics, given, maximum);
    for (const { subscriptionId, eventType, unconsumedEvents } of given) {
      kept.subscriptionLag.set({ subscription_id: subscriptionId, event_type: eventType }, unconsumedEvents);
    }
    const textOf = async ({ registry, subscriptionLag }: typeof metrics): Promise<string> =>
      registry.getSingleMetricAsString((await subscriptionLag.get()).name);
    expect(await textOf(metrics)).to.equal(await textOf(kept));
    setLags(metrics, [], maximum);
    expect(await textOf(metrics)).to.equal(await textOf(createMetrics()));
  });
});

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
    metrics.openStreams.inc({ subscription_id: 'kept' });
    metrics.openStreams.set({ subscription_id: 'deleted' }, 0);
    for (const id of ['kept', 'deleted']) {
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

  it('removes the gauge of a subscription whose streams have all ended, which then counts from 0 again', async () => {
    const metrics = createMetrics();
    const kept = { subscription_id: 'kept' };
    metrics.openStreams.inc(kept);
    metrics.openStreams.dec(kept);
    await removeStaleSeries(metrics, things);
    expect(await seriesOf(metrics)).to.deep.equal([]);
    metrics.openStreams.inc(kept);
    expect(await seriesOf(metrics)).to.deep.equal(['lendstream_open_streams{subscription_id="kept"} 1']);
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
