import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import type { AppendResult, EventLog, PartitionRecords } from '../../../src/ports/event-log.ts';
import type { PublishedIds } from '../../../src/ports/published-ids.ts';
import { publishedId } from '../../../src/ports/published-ids.ts';
import { readEventType } from '../../../src/broker/event-types/requested-event-type.ts';
import { Publisher, repeatedDetail, type PublishOutcome } from '../../../src/broker/publishing/publisher.ts';
import {
  claimOutcome,
  idsOfRequest,
  repetitionsOf,
  withoutRepetitions,
} from '../../../src/broker/publishing/repeated-events.ts';
import { systemClock } from '../../../src/clock.ts';
import { LendstreamError, type ErrorCode } from '../../../src/errors.ts';
import { silentLogger } from '../../../src/logger.ts';
import { createMetrics } from '../../../src/metrics.ts';
import { openPublishedIdsUnderTest } from '../../support/backend-under-test.ts';
import { eventTypeBody, openBroker, storedTexts, type Broker } from '../../support/broker-on-embedded-log.ts';
import { codeOf } from '../../support/log-reading.ts';
import { readExposition } from '../../support/prometheus.ts';
import { overriding } from '../../support/stepping-log.ts';

const context = { flowId: 'flow-1', publishedBy: 'shop' };
const fourPartitions = { messages_per_minute: 1, message_size: 1, read_parallelism: 4, write_parallelism: 1 };
const annotations = { 'lendstream/deduplication-window-seconds': '600' };
const claimMilliseconds = 1_500;

describe('an event type that stores repeated events once', () => {
  let broker: Broker;
  let ids: PublishedIds;
  let publisher: Publisher;
  let metrics: ReturnType<typeof createMetrics>;

  beforeEach(async () => {
    broker = await openBroker();
    ids = await openPublishedIdsUnderTest(`ids-${randomUUID()}`, broker.log, { claimMilliseconds, idsMaximum: 50 });
    metrics = createMetrics();
    publisher = publisherTo(broker.log);
  });

  afterEach(async () => {
    ids.close();
    await broker.close();
  });

  function publisherTo(log: EventLog): Publisher {
    const options = { clock: systemClock, metrics, logger: silentLogger, publishedIds: ids };
    return new Publisher({ ...options, eventTypes: broker.eventTypes, log });
  }

  async function define(name: string, changes: Record<string, unknown> = {}): Promise<void> {
    const body = eventTypeBody(name, { annotations, default_statistic: fourPartitions, ...changes });
    await broker.eventTypes.create(readEventType(body));
  }

  function event(eid: string, changes: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}): unknown {
    return { metadata: { eid, occurred_at: '2026-03-15T23:47:15Z', ...metadata }, order: 'o', ...changes };
  }

  function publish(name: string, events: readonly unknown[], through = publisher): Promise<PublishOutcome> {
    return through.publish(name, Buffer.from(JSON.stringify(events)), context);
  }

  /** The texts of a topic, in the order of the partitions. */
  async function stored(name: string): Promise<string[]> {
    const partitions = await Promise.all([0, 1, 2, 3].map((partition) => storedTexts(broker.log, name, partition)));
    return partitions.flat();
  }

  /** A log that fails in some partitions. */
  function failing(codes: Readonly<Record<number, ErrorCode>>): EventLog {
    const failure = ({ topic, partition }: PartitionRecords): AppendResult | undefined => {
      const code = codes[partition];
      if (code === undefined) return undefined;
      return { topic, partition, outcome: 'failed', error: new LendstreamError(code, `it is ${code}`) };
    };
    return overriding<EventLog>(broker.log, {
      append: async (appends) => {
        const results = appends.map(failure);
        const rest = await broker.log.append(appends.filter((_, index) => results[index] === undefined));
        return results.map((result) => result ?? (rest.shift() as AppendResult));
      },
    });
  }

  function briefly({ items }: PublishOutcome): string[] {
    return items.map(({ publishing_status: status, partition, detail, step }) =>
      [status, step, partition, detail].join(' ').trim(),
    );
  }

  async function counted(name: string): Promise<number | undefined> {
    const samples = readExposition(await metrics.registry.metrics());
    return samples.find((sample) => sample.name === name && sample.labels['event_type'] !== undefined)?.value;
  }

  for (const strategy of ['random', 'hash'] as const) {
    it(`stores a repeated event once, with the strategy ${strategy}`, async () => {
      await define(
        'orders',
        strategy === 'hash' ? { partition_strategy: 'hash', partition_key_fields: ['order'] } : {},
      );
      const eids = Array.from({ length: 10 }, () => randomUUID());
      const events = eids.map((eid, index) => event(eid, { order: `o${index}` }));
      // Events of a known shape take a shorter path from the second request on.
      for (let round = 0; round < 4; round += 1) expect((await publish('orders', events)).status).to.equal(200);
      const texts = await stored('orders');
      expect(texts).to.have.length(10);
      for (const eid of eids) expect(texts.filter((text) => text.includes(eid))).to.have.length(1);
      expect(await counted('lendstream_published_events_total')).to.equal(10);
      expect(await counted('lendstream_repeated_events_total')).to.equal(30);
      expect(await counted('lendstream_refused_events_total')).to.equal(0);
    });
  }

  it('keeps the first of several events of one request, and of one id with other content', async () => {
    await define('orders');
    const [one, two] = [randomUUID(), randomUUID()];
    const { status } = await publish('orders', [
      event(one, { order: 'first' }),
      event(two),
      event(one.toUpperCase(), { order: 'second' }),
      event(one, { order: 'third' }),
    ]);
    expect(status).to.equal(200);
    await publish('orders', [event(one, { order: 'fourth' })]);
    const texts = await stored('orders');
    expect(texts).to.have.length(2);
    expect(texts.filter((text) => text.includes('first'))).to.have.length(1);
  });

  it('stores the events of an event type without the annotation as often as they come', async () => {
    await define('orders', { annotations: {} });
    const events = [event(randomUUID()), event(randomUUID())];
    await publish('orders', [...events, ...events]);
    await publish('orders', events);
    expect(await stored('orders')).to.have.length(6);
  });

  it('begins and ends with the annotation', async () => {
    await define('orders', { annotations: {} });
    const events = [event(randomUUID())];
    const change = async (changed: Record<string, string>): Promise<void> => {
      const body = eventTypeBody('orders', { annotations: changed, default_statistic: fourPartitions });
      await broker.eventTypes.update('orders', readEventType(body));
    };
    await publish('orders', events);
    await change(annotations);
    // The log has the event, although it was published before.
    await publish('orders', events);
    expect(await stored('orders')).to.have.length(1);
    await change({});
    await publish('orders', events);
    expect(await stored('orders')).to.have.length(2);
    const meanwhile = [event(randomUUID())];
    await publish('orders', meanwhile);
    await change(annotations);
    // The log has what was published while the annotation was away.
    await publish('orders', meanwhile);
    await publish('orders', events);
    expect(await stored('orders')).to.have.length(3);
  });

  it('says of each event of a request that failed partly where it is, and repeats what is missing', async () => {
    await define('orders', { partition_strategy: 'user_defined' });
    const eids = Array.from({ length: 4 }, () => randomUUID());
    const events = eids.map((eid, index) => event(eid, {}, { partition: String(index) }));
    await publish('orders', [events[3]]);
    // Its key may have moved since: the item has the partition where the event is.
    const moved = event(eids[3] as string, {}, { partition: '1' });
    const again = event(eids[0] as string, {}, { partition: '1' });
    const sent = [events[0], events[1], events[2], moved, again, events[1]];
    const outcome = await publish('orders', sent, publisherTo(failing({ 0: 'LOG_FULL', 2: 'OUTCOME_UNKNOWN' })));
    expect(outcome.status).to.equal(207);
    expect(briefly(outcome)).to.deep.equal([
      'failed publishing 0 it is LOG_FULL',
      'submitted publishing 1',
      'failed publishing 2 timed out',
      `submitted publishing 3 ${repeatedDetail}`,
      'failed publishing 0 it is LOG_FULL',
      `submitted publishing 1 ${repeatedDetail}`,
    ]);
    expect(outcome.items.map(({ eid }) => eid)).to.deep.equal([...eids, eids[0], eids[1]]);
    expect((await publish('orders', sent)).status).to.equal(200);
    const texts = await stored('orders');
    for (const eid of eids) expect(texts.filter((text) => text.includes(eid))).to.have.length(1);
  });

  it('does not store an event again whose answer was lost', async () => {
    await define('orders');
    const events = [event(randomUUID()), event(randomUUID())];
    const silent = overriding<EventLog>(broker.log, {
      append: async (appends) => {
        await broker.log.append(appends);
        throw new LendstreamError('LOG_UNAVAILABLE', 'the process dies');
      },
    });
    expect(await codeOf(publish('orders', events, publisherTo(silent)))).to.equal('LOG_UNAVAILABLE');
    expect((await publish('orders', events)).status).to.equal(200);
    expect(await stored('orders')).to.have.length(2);
  });

  it('stores an event that is published many times at once only once', async () => {
    await define('orders');
    const eids = Array.from({ length: 5 }, () => randomUUID());
    const requests = Array.from({ length: 30 }, (_, index) => {
      const order = [...eids.slice(index % 5), ...eids.slice(0, index % 5)];
      return publish(
        'orders',
        order.map((eid) => event(eid)),
      );
    });
    const outcomes = await Promise.all(requests);
    expect(outcomes.every(({ status }) => status === 200)).to.equal(true);
    expect(await stored('orders')).to.have.length(5);
  });

  it('refuses a request that has more ids than there is room for, and stores nothing of it', async () => {
    await define('orders');
    const events = Array.from({ length: 51 }, () => event(randomUUID()));
    expect(await codeOf(publish('orders', events))).to.equal('OVERLOADED');
    expect(await stored('orders')).to.deep.equal([]);
    expect((await publish('orders', events.slice(0, 50))).status).to.equal(200);
    expect(await codeOf(publish('orders', events.slice(50)))).to.equal('OVERLOADED');
    expect((await publish('orders', events.slice(0, 50))).status).to.equal(200);
  });

  it('records nothing of a request with an invalid event', async () => {
    await define('orders');
    const valid = event(randomUUID());
    expect((await publish('orders', [valid, event(randomUUID(), { order: 7 })])).status).to.equal(422);
    expect((await publish('orders', [valid])).status).to.equal(200);
    expect(await stored('orders')).to.have.length(1);
  });

  it('validates repeated events, too', async () => {
    await define('orders');
    const eid = randomUUID();
    await publish('orders', [event(eid)]);
    expect((await publish('orders', [event(eid, { order: 7 })])).status).to.equal(422);
  });

  it('appends nothing when its claim is too old', async () => {
    await define('orders');
    const slow: PublishedIds = {
      claim: async (request) => ({ ...(await ids.claim(request)), isCurrent: () => false }),
      close: () => {},
    };
    const options = { ...broker, metrics, publishedIds: slow };
    const eid = randomUUID();
    expect(await codeOf(publish('orders', [event(eid)], new Publisher(options)))).to.equal('OVERLOADED');
    expect(await stored('orders')).to.deep.equal([]);
    await publish('orders', [event(eid)]);
    expect(await stored('orders')).to.have.length(1);
  });
});

describe('the repetitions of a request', () => {
  const eids = [randomUUID(), randomUUID(), randomUUID()] as [string, string, string];
  const sent = [eids[0], eids[1], eids[0].toUpperCase(), eids[2], eids[1]];
  const partitions = Int32Array.from([0, 1, 1, 1, 0]);
  const ids = idsOfRequest(sent, partitions);
  const record = (name: string) => ({ key: name, value: null });
  const batches = [
    { topic: 'orders', partition: 0, records: [record('0'), record('4')] },
    { topic: 'orders', partition: 1, records: [record('1'), record('2'), record('3')] },
  ];

  it('are claimed once, for the partition of the first event', () => {
    expect(ids.toClaim).to.deep.equal({ ids: eids.map(publishedId), partitions: [0, 1, 1] });
  });

  it('are left out of what is appended', () => {
    const repetitions = repetitionsOf(ids, new Map([[publishedId(eids[2]), 7]]));
    expect([...repetitions]).to.deep.equal([
      [2, { of: 0 }],
      [3, { storedIn: 7 }],
      [4, { of: 1 }],
    ]);
    const appends = withoutRepetitions(batches, partitions, repetitions);
    expect(appends.map(({ partition, records }) => [partition, records.map(({ key }) => key)])).to.deep.equal([
      [0, ['0']],
      [1, ['1']],
    ]);
    const all = repetitionsOf(ids, new Map(eids.map((eid) => [publishedId(eid), 0])));
    expect(withoutRepetitions(batches, partitions, all)).to.deep.equal([]);
    expect(withoutRepetitions(batches, partitions, new Map())).to.equal(batches);
  });

  it('are settled by the results of the appends', () => {
    const repetitions = repetitionsOf(ids, new Map());
    const appends = withoutRepetitions(batches, partitions, repetitions);
    const place = (partition: number) => ({ topic: 'orders', partition });
    const outcome = (code: ErrorCode) =>
      claimOutcome(ids, partitions, repetitions, appends, [
        { ...place(0), outcome: 'appended', baseOffset: 0 },
        { ...place(1), outcome: 'failed', error: new LendstreamError(code, 'it failed') },
      ]);
    const [one, ...others] = eids.map(publishedId);
    expect([...outcome('LOG_FULL').stored]).to.deep.equal([one]);
    expect([...outcome('LOG_FULL').unknown]).to.deep.equal([]);
    expect([...outcome('OUTCOME_UNKNOWN').unknown]).to.deep.equal(others);
    // The log has failed before it had results.
    expect(claimOutcome(ids, partitions, repetitions, appends, []).unknown.size).to.equal(3);
  });
});
