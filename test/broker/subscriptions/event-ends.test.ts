import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import type { Subscription } from '../../../src/broker/definitions/subscription.ts';
import { offsetsBehindEventsMaximum } from '../../../src/broker/subscriptions/event-ends.ts';
import { subscriptionStatistics } from '../../../src/broker/subscriptions/statistics.ts';
import { subscriptionLag, type KnownLags } from '../../../src/broker/subscriptions/subscription-lag.ts';
import { Subscriptions } from '../../../src/broker/subscriptions/subscriptions.ts';
import { LendstreamError, type ErrorCode } from '../../../src/errors.ts';
import type { EventLog, FencedWriter, LogRecord } from '../../../src/ports/event-log.ts';
import { codeOf } from '../../support/log-reading.ts';
import { overriding } from '../../support/stepping-log.ts';
import { openSubscriptionStore, type SubscriptionStore } from '../../support/subscription-store.ts';
import { eventually } from '../../support/eventually.ts';

const event: LogRecord = { key: 'loan-1', value: Buffer.from('{}') };
const deletion: LogRecord = { key: 'loan-1', value: null };

describe('the lag of who has consumed every event', () => {
  let store: SubscriptionStore;
  let subscription: Subscription;
  let streamId: string;
  let writer: FencedWriter;

  beforeEach(async () => {
    store = await openSubscriptionStore();
    await store.define('loans');
    const body = { owning_application: 'core', event_types: ['loans'], read_from: 'begin' };
    ({ subscription } = await new Subscriptions(store).create(body));
    streamId = await store.join(subscription);
    writer = await store.log.openWriter('worker');
  });

  afterEach(async () => {
    await writer.close();
    await store.close();
  });

  const of = (...records: readonly LogRecord[]) => [{ topic: 'loans', partition: 0, records }];

  const append = async (...records: readonly LogRecord[]): Promise<void> => {
    const [result] = await store.log.append(of(...records));
    expect(result?.outcome).to.equal('appended');
  };

  /** Appends in a transaction, and waits until readers see its end. */
  const commit = async (...records: readonly LogRecord[]): Promise<void> => {
    await writer.append(of(...records));
    await writer.commit();
    await allIsVisible();
  };

  const allIsVisible = (): Promise<void> =>
    eventually(async () => {
      const partitions = [{ topic: 'loans', partition: 0 }];
      const [[seen], [written]] = await Promise.all([
        store.log.bounds(partitions),
        store.log.bounds(partitions, { includeUncommitted: true }),
      ]);
      return seen?.latest === written?.latest;
    });

  const consumeThrough = async (offset: number): Promise<void> => {
    await store.coordination.commit(subscription.id, streamId, [{ eventType: 'loans', partition: 0, offset }]);
  };

  /** In the metric, and in the statistics of the subscription. */
  const lags = async (log: EventLog = store.log): Promise<unknown[]> => {
    const services = { ...store, log };
    const { lags: all } = await subscriptionLag(services);
    const [statistics] = await subscriptionStatistics(services, subscription, true);
    const { unconsumed_events: count, consumer_lag_seconds: seconds } = statistics?.partitions[0] ?? {};
    return [all[0]?.unconsumedEvents, count, seconds];
  };

  it('is nothing behind the events of a transaction', async () => {
    await commit(event, event, event);
    await consumeThrough(2);
    expect(await lags()).to.deep.equal([0, 0, 0]);
  });

  it('is nothing behind a transaction that was taken back', async () => {
    await append(event);
    await writer.append(of(event, event));
    await writer.abort();
    await allIsVisible();
    await consumeThrough(0);
    expect(await lags()).to.deep.equal([0, 0, 0]);
  });

  it(`is nothing behind deletions, up to ${offsetsBehindEventsMaximum}, which count as events beyond`, async () => {
    const deletions = Array.from({ length: offsetsBehindEventsMaximum }, () => deletion);
    await append(event, ...deletions);
    await consumeThrough(0);
    expect((await lags()).slice(0, 2)).to.deep.equal([0, 0]);
    await append(deletion);
    const beyond = offsetsBehindEventsMaximum + 1;
    expect((await lags()).slice(0, 2)).to.deep.equal([beyond, beyond]);
  });

  it('counts the events before the last one, and those that follow', async () => {
    await commit(event, event, event);
    await consumeThrough(0);
    expect((await lags()).slice(0, 2)).to.deep.equal([2, 2]);
    await consumeThrough(2);
    expect((await lags()).slice(0, 2)).to.deep.equal([0, 0]);
    await append(deletion, event);
    expect((await lags())[0]).to.be.at.least(1);
  });

  it('is read once for each end of a partition', async () => {
    await append(event, deletion);
    await consumeThrough(0);
    let reads = 0;
    const log = overriding(store.log, {
      read: (...request) => {
        reads += 1;
        return store.log.read(...request);
      },
    });
    const look = (known?: KnownLags): Promise<KnownLags> => subscriptionLag({ ...store, log }, known);
    const first = await look();
    expect(reads).to.equal(2);
    const body = { owning_application: 'other', event_types: ['loans'], read_from: 'begin' };
    await new Subscriptions(store).create(body);
    const second = await look(first);
    expect(reads).to.equal(2);
    expect(second.lags.map(({ unconsumedEvents }) => unconsumedEvents)).to.have.members([0, 1]);
    await append(deletion);
    await look(second);
    expect(reads).to.equal(5);
  });

  it('counts what cannot be read, and is unknown while nothing can', async () => {
    await append(event, deletion);
    await consumeThrough(0);
    const failing = (code: ErrorCode): EventLog =>
      overriding(store.log, { read: () => Promise.reject(new LendstreamError(code, 'planted')) });
    expect((await lags(failing('OFFSET_OUT_OF_RANGE'))).slice(0, 2)).to.deep.equal([1, 1]);
    expect(await codeOf(lags(failing('LOG_UNAVAILABLE')))).to.equal('LOG_UNAVAILABLE');
  });
});
