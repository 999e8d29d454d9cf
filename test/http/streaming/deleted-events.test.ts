import { expect } from 'chai';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { eventBytesMaximum } from '../../../src/broker/publishing/event-preparation.ts';
import { readEventType } from '../../../src/broker/event-types/requested-event-type.ts';
import { Publisher } from '../../../src/broker/publishing/publisher.ts';
import { subscriptionStatistics } from '../../../src/broker/subscriptions/statistics.ts';
import type { Subscription } from '../../../src/broker/definitions/subscription.ts';
import { systemClock } from '../../../src/clock.ts';
import { LendstreamError, type ErrorCode } from '../../../src/errors.ts';
import { bodyBytesMaximum } from '../../../src/http/edge/request-body.ts';
import { silentLogger } from '../../../src/logger.ts';
import { createMetrics } from '../../../src/metrics.ts';
import { noValue, type AppendResult, type EventLog } from '../../../src/ports/event-log.ts';
import {
  eventTypeBody,
  exampleEid,
  exampleMetadata,
  serveBroker,
  type Broker,
} from '../../support/broker-on-embedded-log.ts';
import { eventually } from '../../support/eventually.ts';
import { call, type HttpResponse } from '../../support/http/client.ts';
import { startStreamServer, type StreamServer } from '../../support/http/stream-server.ts';
import { overriding } from '../../support/stepping-log.ts';

const threePartitions = { messages_per_minute: 1, message_size: 1, read_parallelism: 3, write_parallelism: 1 };

interface Item {
  readonly publishing_status: string;
  readonly step: string;
  readonly detail: string;
  readonly partition: string | null;
}

describe('POST /event-types/{name}/deleted-events', () => {
  let broker: Broker & { readonly url: string };
  let refused: Readonly<Record<number, ErrorCode>> = {};
  before(async () => {
    broker = await serveBroker((log) => refusing(log));
    const compacted = { cleanup_policy: 'compact', default_statistic: threePartitions };
    for (const [name, changes] of [
      ['kept', {}],
      ['random', compacted],
      ['hash', { ...compacted, partition_strategy: 'hash', partition_key_fields: ['order'] }],
      ['named', { ...compacted, partition_strategy: 'user_defined', cleanup_policy: 'compact_and_delete' }],
    ] as const) {
      await broker.eventTypes.create(readEventType(eventTypeBody(name, changes)));
    }
  });
  afterEach(() => {
    refused = {};
  });
  after(() => broker.close());

  /** The same log, in which some partitions accept nothing. */
  function refusing(log: EventLog): EventLog {
    const append: EventLog['append'] = async (partitions) => {
      const stored = await log.append(partitions.filter(({ partition }) => refused[partition] === undefined));
      return partitions.map(({ topic, partition }) => {
        const code = refused[partition];
        if (code === undefined) return stored.shift() as AppendResult;
        return { topic, partition, outcome: 'failed', error: new LendstreamError(code, `It is ${code}.`) };
      });
    };
    return overriding(log, { append });
  }

  const send = (name: string, events: unknown, headers = {}): Promise<HttpResponse> =>
    call(`${broker.url}/event-types/${name}/deleted-events`, 'POST', events, headers);
  const keyed = (key: unknown, changes: Record<string, unknown> = {}): Record<string, unknown> => ({
    metadata: { ...exampleMetadata(), partition_compaction_key: key },
    ...changes,
  });
  const itemsOf = ({ body }: HttpResponse): string[] =>
    (body as unknown as Item[]).map(
      ({ publishing_status: status, step, partition, detail }) => `${status} ${step} ${partition}: ${detail}`,
    );

  /** The keys of the deletions in each partition. */
  async function deletedKeys(topic: string): Promise<(string | null)[][]> {
    const bounds = await broker.log.bounds([0, 1, 2].map((partition) => ({ topic, partition })));
    return Promise.all(
      bounds.map(async ({ partition, latest }) => {
        const keys: (string | null)[] = [];
        for (let offset = 0; offset < latest;) {
          const read = await broker.log.read(
            { topic, partition, offset },
            { bytesMaximum: 1_000_000, waitMilliseconds: 0 },
          );
          for (const batch of read.batches) {
            for (let index = 0; index < batch.count; index += 1) {
              if (batch.valueStarts[index] === noValue) keys.push(batch.key(index));
            }
          }
          offset = read.nextOffset;
        }
        return keys;
      }),
    );
  }

  it('stores a deletion in every partition, whatever the rest of the event is, and returns 200 without a body', async () => {
    const response = await send('random', [keyed('A'), { ...keyed('B'), order: 7, unknown: [] }, keyed('A')]);
    expect([response.status, response.text]).to.deep.equal([200, '']);
    expect(await deletedKeys('random')).to.deep.equal([
      ['A', 'B', 'A'],
      ['A', 'B', 'A'],
      ['A', 'B', 'A'],
    ]);
    expect((await send('random', [])).status).to.equal(200);
  });

  it('needs neither an id nor a time, nor the fields that choose a partition, but the key', async () => {
    const bare = { metadata: { partition_compaction_key: 'C' } };
    const refused = await send('hash', [{ ...bare, order: '1' }, { metadata: {}, order: '2' }, bare]);
    expect(refused.status).to.equal(422);
    expect(itemsOf(refused)).to.deep.equal([
      'aborted validating null: ',
      'failed validating null: #/metadata: required key [partition_compaction_key] not found',
      'aborted none null: ',
    ]);
    const other = { metadata: { partition_compaction_key: 'D' } };
    expect((await send('hash', [{ ...bare, order: '1' }, other])).status).to.equal(200);
    expect(await deletedKeys('hash')).to.deep.equal([
      ['C', 'D'],
      ['C', 'D'],
      ['C', 'D'],
    ]);
  });

  it('leaves the other partitions alone where the producer names one', async () => {
    const named = (partition: string) => ({ metadata: { partition_compaction_key: 'D', partition } });
    const unknown = await send('named', [named('1'), named('3')]);
    expect(unknown.status).to.equal(422);
    expect(itemsOf(unknown)).to.deep.equal([
      'aborted partitioning 1: ',
      'failed partitioning null: Failed to resolve partition. Partition "3" does not exist.',
    ]);
    expect((await send('named', [named('1')])).status).to.equal(200);
    expect(await deletedKeys('named')).to.deep.equal([[], ['D'], []]);
  });

  it('returns 422 with an item for each event of a type that is not compacted, in whatever form the events are', async () => {
    const response = await send('kept', [keyed('A'), {}]);
    expect(response.status).to.equal(422);
    const detail = 'Events of kept cannot be deleted: its cleanup_policy is delete.';
    expect(itemsOf(response)).to.deep.equal([`aborted none null: ${detail}`, `aborted none null: ${detail}`]);
    expect((response.body as unknown as { eid: string }[]).map(({ eid }) => eid)).to.deep.equal([exampleEid, '']);
    const url = `${broker.url}/event-types/kept/deleted-events?item_details=retryable`;
    const { body } = await call(url, 'POST', [keyed('A')]);
    expect((body as unknown as { retryable: boolean }[]).map(({ retryable }) => retryable)).to.deep.equal([false]);
    const nothing = await send('kept', []);
    expect([nothing.status, nothing.body['detail']]).to.deep.equal([422, detail]);
    expect(await broker.log.bounds([{ topic: 'kept', partition: 0 }])).to.have.nested.property('0.latest', 0);
  });

  it('returns 422 for an event that names no key, and stores nothing', async () => {
    const before = await deletedKeys('random');
    for (const [event, detail] of [
      [{ order: 'x' }, '#: required key [metadata] not found'],
      [{ metadata: 'x' }, '#: required key [metadata] not found'],
      [{ metadata: exampleMetadata() }, '#/metadata: required key [partition_compaction_key] not found'],
      [keyed(''), '#/metadata/partition_compaction_key: a text of at least one character is expected'],
      [keyed(7), '#/metadata/partition_compaction_key: a text of at least one character is expected'],
    ] as const) {
      const response = await send('random', [keyed('A'), event, keyed('B')]);
      expect(response.status, detail).to.equal(422);
      expect(itemsOf(response)).to.deep.equal([
        'aborted validating null: ',
        `failed validating null: ${detail}`,
        'aborted none null: ',
      ]);
    }
    expect(await deletedKeys('random')).to.deep.equal(before);
  });

  it('takes an event as large as a published one may be, with its white space, and none that is larger', async () => {
    const sized = (bytes: number): string => {
      const [before, end] = ['[{"metadata": {"partition_compaction_key": "', '"}}]'];
      const around = before.length - 1 + end.length - 1;
      return `${before}${'k'.repeat(bytes - around)}${end}`;
    };
    const post = (body: string): Promise<Response> =>
      fetch(`${broker.url}/event-types/random/deleted-events`, { method: 'POST', body });
    expect((await post(sized(eventBytesMaximum))).status).to.equal(200);
    const refusal = await post(sized(eventBytesMaximum + 1));
    expect(refusal.status).to.equal(422);
    const [item] = (await refusal.json()) as Item[];
    expect(item?.detail).to.equal(`Event too large: ${eventBytesMaximum + 1} bytes, max size is 999000 bytes`);
    expect((await post(`[${' '.repeat(bodyBytesMaximum)}]`)).status).to.equal(413);
  });

  it('returns 400, 403, 404 and 422 as publishing does, and 405 for other methods', async () => {
    for (const [name, body, headers, status] of [
      ['random', {}, {}, 400],
      ['random', [1], {}, 400],
      ['random', '[{"a":1,"a":2}]', {}, 400],
      ['nowhere', [], {}, 404],
      ['random', [], { 'X-CONSUMER-TAG': 'a=b' }, 422],
    ] as const) {
      expect((await send(name, body, headers)).status, JSON.stringify(body)).to.equal(status);
    }
    const other = await fetch(`${broker.url}/event-types/random/deleted-events`, { method: 'GET' });
    expect([other.status, other.headers.get('Allow')]).to.deep.equal([405, 'POST']);
  });

  it('returns 207 when one partition does not take a deletion, and 503 when none has room', async () => {
    refused = { 1: 'LOG_UNAVAILABLE' };
    const response = await send('random', [keyed('E'), keyed('F')]);
    expect(response.status).to.equal(207);
    expect(itemsOf(response).map((item) => item.replace(/ \d:/, ':'))).to.deep.equal([
      'failed publishing: It is LOG_UNAVAILABLE.',
      'failed publishing: It is LOG_UNAVAILABLE.',
    ]);
    const named = ['0', '1'].map((partition) => ({ metadata: { partition_compaction_key: 'G', partition } }));
    expect(itemsOf(await send('named', named))).to.deep.equal([
      'submitted publishing 0: ',
      'failed publishing 1: It is LOG_UNAVAILABLE.',
    ]);
    refused = { 0: 'OVERLOADED', 1: 'OVERLOADED', 2: 'OVERLOADED' };
    expect((await send('random', [keyed('H')])).status).to.equal(503);
  });
});

describe('deletions of keys that a subscription reads', () => {
  let server: StreamServer;
  let publisher: Publisher;
  beforeEach(async () => {
    server = await startStreamServer();
    publisher = new Publisher({ ...server, clock: systemClock, metrics: createMetrics(), logger: silentLogger });
  });
  afterEach(() => server.stop());

  async function compactedType(name: string): Promise<string> {
    await server.eventTypes.create(readEventType(eventTypeBody(name, { cleanup_policy: 'compact' })));
    return name;
  }

  const event = (key: string, number: number): string =>
    `{"metadata":${JSON.stringify({ ...exampleMetadata(), partition_compaction_key: key })},"number":${number}}`;
  const publish = (type: string, number: number): Promise<unknown> =>
    publisher.publish(type, Buffer.from(`[${event('A', number)}]`), { flowId: '', publishedBy: 'tests' });
  const remove = (type: string, count: number): Promise<unknown> =>
    publisher.deleteKeys(type, Buffer.from(`[${Array.from({ length: count }, () => event('A', 0)).join(',')}]`));

  async function unconsumed(id: string): Promise<number | undefined> {
    const subscription = server.registry.get<Subscription>('subscription', id) as Subscription;
    const services = { ...server, clock: systemClock };
    const [statistics] = await subscriptionStatistics(services, subscription, false);
    return statistics?.partitions[0]?.unconsumed_events;
  }

  it('are never delivered: the offsets jump, and a commit of the event before covers those that follow at once', async () => {
    const type = await compactedType('states');
    await publish(type, 1);
    await remove(type, 3);
    await publish(type, 2);
    await remove(type, 2);
    const id = await server.subscribe([type]);
    const stream = await server.open(id, { query: '?batch_flush_timeout=1&max_uncommitted_events=10' });
    await stream.until(() => stream.numbers.length === 2);
    expect(stream.numbers).to.deep.equal([1, 2]);
    await server.commit(id, stream.streamId, stream.cursors);
    expect(await unconsumed(id)).to.equal(0);
  });

  it('are never delivered where compaction was added, and the events without a key from before it are', async () => {
    const keys = { partition_strategy: 'hash', partition_key_fields: ['number'] };
    await server.eventTypes.create(readEventType(eventTypeBody('added', keys)));
    const bare = JSON.stringify({ metadata: exampleMetadata(), number: 1 });
    const context = { flowId: '', publishedBy: 'tests' };
    await publisher.publish('added', Buffer.from(`[${bare},${bare},${bare}]`), context);
    const compacted = eventTypeBody('added', { ...keys, cleanup_policy: 'compact_and_delete' });
    await server.eventTypes.update('added', readEventType(compacted));
    await publish('added', 2);
    await remove('added', 2);
    await publish('added', 3);
    const stream = await server.open(await server.subscribe(['added']), {
      query: '?batch_flush_timeout=1&max_uncommitted_events=10',
    });
    await stream.until(() => stream.numbers.length === 5);
    expect(stream.numbers).to.deep.equal([1, 1, 1, 2, 3]);
  });

  it('take no room in the window of uncommitted events', async () => {
    const type = await compactedType('window');
    await publish(type, 1);
    await remove(type, 20);
    await publish(type, 2);
    const stream = await server.open(await server.subscribe([type]), {
      query: '?batch_flush_timeout=1&max_uncommitted_events=2',
    });
    await stream.until(() => stream.numbers.length === 2);
    expect(stream.numbers).to.deep.equal([1, 2]);
  });

  it('alone leave no lag to a consumer that is never sent an event to commit', async () => {
    const type = await compactedType('deletions-only');
    const id = await server.subscribe([type]);
    await remove(type, 5);
    const stream = await server.open(id, { query: '?batch_flush_timeout=1' });
    await stream.until(() => stream.batches.length > 0);
    await eventually(async () => (await unconsumed(id)) === 0, 20_000);
    expect(stream.numbers).to.deep.equal([]);
    // A stream that has ended leaves its position to the next one.
    await remove(type, 2);
    await eventually(async () => (await unconsumed(id)) === 0, 20_000);
    stream.destroy();
  }).timeout(60_000);
});
