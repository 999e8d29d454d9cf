import { expect } from 'chai';
import { array, assert, asyncProperty, boolean, dictionary, jsonValue, nat, string } from 'fast-check';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import {
  appendBytesMaximum,
  type AppendResult,
  type EventLog,
  type PartitionRecords,
} from '../../../src/ports/event-log.ts';
import { hashPartition } from '../../../src/broker/publishing/partitioning.ts';
import { EventTypes } from '../../../src/broker/event-types/event-types.ts';
import { Registry, registryTopic } from '../../../src/broker/definitions/registry.ts';
import { readEventType } from '../../../src/broker/event-types/requested-event-type.ts';
import { eventBytesMaximum } from '../../../src/broker/publishing/event-preparation.ts';
import { Publisher, type PublishOutcome } from '../../../src/broker/publishing/publisher.ts';
import { systemClock } from '../../../src/clock.ts';
import { LendstreamError, type ErrorCode } from '../../../src/errors.ts';
import { bodyBytesMaximum } from '../../../src/http/edge/request-body.ts';
import { silentLogger } from '../../../src/logger.ts';
import { createMetrics } from '../../../src/metrics.ts';
import { appendBytes } from '../../../src/ports/append-size.ts';
import { PackedPartitionRecords } from '../../../src/ports/packed-records.ts';
import {
  eventTypeBody,
  exampleEid,
  exampleMetadata,
  openBroker,
  storedTexts,
  type Broker,
} from '../../support/broker-on-embedded-log.ts';
import { lateLog } from '../../support/late-log.ts';
import { readExposition } from '../../support/prometheus.ts';
import { overriding } from '../../support/stepping-log.ts';

const context = { flowId: 'flow-1', publishedBy: 'shop' };
const fourPartitions = { messages_per_minute: 1, message_size: 1, read_parallelism: 4, write_parallelism: 1 };
const metadataText = JSON.stringify(exampleMetadata());

/** The text of a stored event after its metadata. */
function withoutMetadata(stored: string): string {
  return stored.replace(/"metadata":\{[^}]*\}/, '"metadata":{}');
}

describe('Publisher', () => {
  let broker: Broker;
  beforeEach(async () => {
    broker = await openBroker();
  });
  afterEach(() => broker.close());

  async function define(name: string, changes: Record<string, unknown> = {}): Promise<void> {
    await broker.eventTypes.create(readEventType(eventTypeBody(name, changes)));
  }

  function publish(name: string, events: unknown): Promise<PublishOutcome> {
    const body = typeof events === 'string' ? events : JSON.stringify(events);
    return broker.publisher.publish(name, Buffer.from(body), context);
  }

  function briefly({ items }: PublishOutcome): string[] {
    return items.map(
      (item) => `${item.publishing_status} ${item.step} ${item.eid === '' ? '-' : 'eid'} ${item.partition}`,
    );
  }

  it('passes short requests to the log before the calls return, when the event type is known', async () => {
    await define('orders');
    let appends = 0;
    const log = overriding<EventLog>(broker.log, {
      append: (requests) => {
        appends += 1;
        return broker.log.append(requests);
      },
    });
    const publisher = new Publisher({
      ...broker,
      log,
      clock: systemClock,
      metrics: createMetrics(),
      logger: silentLogger,
    });
    const publishing = [1, 2, 3].map((order) => {
      const event = Buffer.from(JSON.stringify([{ metadata: exampleMetadata(), order: String(order) }]));
      return publisher.publish('orders', event, context);
    });
    expect(appends).to.equal(3);
    expect((await Promise.all(publishing)).map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    expect(
      (await storedTexts(broker.log, 'orders')).map((text) => (JSON.parse(text) as { order: string }).order),
    ).to.deep.equal(['1', '2', '3']);
  });

  it('stores what each of many requests has, although their memory is used again', async () => {
    await define('orders');
    const requests = 60;
    const orderOf = (request: number, index: number): string => `${request}-${index}-${'x'.repeat(300)}`;
    const bodyOf = (request: number): Buffer => {
      const events = Array.from(
        { length: 100 },
        (_, index) => `{"metadata":${metadataText},"order":"${orderOf(request, index)}"}`,
      );
      return Buffer.from(`[${events.join(',')}]`);
    };
    const publish = async (request: number): Promise<void> => {
      expect((await broker.publisher.publish('orders', bodyOf(request), context)).status).to.equal(200);
    };
    // The first one teaches the shape. Eight clients send the others.
    await publish(0);
    let next = 1;
    const client = async (): Promise<void> => {
      while (next < requests) await publish((next += 1) - 1);
    };
    await Promise.all(Array.from({ length: 8 }, client));
    const orders = (await storedTexts(broker.log, 'orders')).map(
      (text) => (JSON.parse(text) as { order: string }).order,
    );
    const sent = Array.from({ length: requests * 100 }, (_, index) => orderOf(Math.floor(index / 100), index % 100));
    expect(orders.sort()).to.deep.equal(sent.sort());
  });

  for (const [characters, isAtOnce] of [
    [4_096, true],
    [4_097, false],
  ] as const) {
    it(`${isAtOnce ? 'does not yield' : 'yields'} after compiling a schema of ${characters} characters`, async () => {
      const empty = '{"type":"object","title":""}';
      const schema = empty.replace('""', `"${'x'.repeat(characters - empty.length)}"`);
      await define('orders', { schema: { type: 'json_schema', schema } });
      let appends = 0;
      const log = overriding<EventLog>(broker.log, {
        append: (requests) => {
          appends += 1;
          return broker.log.append(requests);
        },
      });
      const publisher = new Publisher({ ...broker, log, metrics: createMetrics() });
      const send = () => publisher.publish('orders', Buffer.from(`[{"metadata":${metadataText}}]`), context);
      const [first, second] = [send(), send()];
      expect(appends, 'the second finds it compiled').to.equal(isAtOnce ? 2 : 1);
      expect([(await first).status, (await second).status]).to.deep.equal([200, 200]);
    });
  }

  it('uses the memory of a request again when all of it is stored, and not before its outcome is known', async () => {
    await define('orders');
    const appended: Buffer[] = [];
    let code: ErrorCode | undefined;
    const log = overriding<EventLog>(broker.log, {
      append: (requests) => {
        const [request] = requests;
        if (!(request instanceof PackedPartitionRecords)) throw new Error('One packed request is expected.');
        appended.push(request.packed.values);
        if (code === undefined) return broker.log.append(requests);
        const { topic, partition } = request;
        return Promise.resolve([{ topic, partition, outcome: 'failed', error: new LendstreamError(code, 'It is.') }]);
      },
    });
    const publisher = new Publisher({ ...broker, log, metrics: createMetrics() });
    const send = async (letter: string): Promise<number> => {
      const event = `{"metadata":${metadataText},"order":"${letter.repeat(40_000)}"}`;
      return (await publisher.publish('orders', Buffer.from(`[${event}]`), context)).status;
    };
    expect(await send('a')).to.equal(200);
    code = 'OUTCOME_UNKNOWN';
    expect(await send('b')).to.equal(207);
    code = undefined;
    expect(await send('c')).to.equal(200);
    const [stored, unknown, next] = appended;
    expect(unknown?.buffer).to.equal(stored?.buffer);
    expect(next?.buffer).not.to.equal(unknown?.buffer);
    expect(unknown?.toString()).to.include(`"order":"${'b'.repeat(40_000)}"`);
  });

  it('finds an event type that another process just created, also for an event written by this process', async () => {
    const late = lateLog(broker.log, registryTopic);
    const registry = new Registry(late.log, silentLogger);
    await registry.start();
    const services = { log: broker.log, clock: systemClock, logger: silentLogger };
    const eventTypes = new EventTypes({ ...services, registry, coordination: broker.coordination });
    const publisher = new Publisher({ ...services, eventTypes, metrics: createMetrics() });
    const event = { eid: exampleEid, occurredAt: '2026-03-15T23:47:15Z', keyFields: ['a'], fieldsText: '"order":"o"' };
    for (const [name, publishTo] of [
      ['sent', (type: string) => publisher.publish(type, Buffer.from(`[{"metadata":${metadataText}}]`), context)],
      ['prepared', (type: string) => publisher.publishPrepared(type, event, context)],
    ] as const) {
      late.holdBack();
      await define(name);
      await publishTo(name);
      expect(await storedTexts(broker.log, name), name).to.have.length(1);
      const before = late.requests;
      const failure = await publishTo(`${name}-unknown`).then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(failure).to.include({ code: 'NOT_FOUND', message: `EventType "${name}-unknown" does not exist.` });
      expect(late.requests - before).to.equal(1);
    }
    await registry.stop();
  });

  describe('an event written by the process itself', () => {
    /** Every record of a topic, in the order of the partitions. */
    async function records(topic: string, partitionCount: number): Promise<[number, string | null, string][]> {
      const found: [number, string | null, string][] = [];
      for (let partition = 0; partition < partitionCount; partition += 1) {
        const { batches } = await broker.log.read(
          { topic, partition, offset: 0 },
          { bytesMaximum: 1_000_000, waitMilliseconds: 0, signal: new AbortController().signal },
        );
        for (const batch of batches) {
          for (let index = 0; index < batch.count; index += 1) {
            const text = batch.bytes.toString('utf8', batch.valueStarts[index], batch.valueEnds[index]);
            found.push([partition, batch.key(index), text]);
          }
        }
      }
      return found;
    }

    const definition = {
      partition_strategy: 'hash',
      partition_key_fields: ['account'],
      default_statistic: fourPartitions,
    };

    it('is stored with the key, the partition and the bytes of a sent event', async () => {
      await define('sent', definition);
      await define('written', definition);
      const clock = { ...systemClock, now: () => 1_000 };
      const publisher = new Publisher({ ...broker, clock, logger: silentLogger, metrics: createMetrics() });
      const occurredAt = '2026-01-12T10:00:00.000Z';
      const accounts = ['L1', 'L2', 'a.b_c-D', 'x'.repeat(64), 'ö\u{1F4B6}'];
      for (const account of accounts) {
        const fieldsText = `"account":${JSON.stringify(account)},"amount":315.470,"notes":"\\ud800 \u2028\u007f ö \\n"`;
        const sent = `[{"metadata":{"eid":"${exampleEid}","occurred_at":"${occurredAt}"},${fieldsText}}]`;
        expect((await publisher.publish('sent', Buffer.from(sent), context)).status).to.equal(200);
        const event = { eid: exampleEid, occurredAt, keyFields: [account], fieldsText };
        await publisher.publishPrepared('written', event, context);
      }
      const written = await records('written', 4);
      expect(written).to.have.length(accounts.length);
      const renamed = written.map(([partition, key, text]) => [partition, key, text.replace('"written"', '"sent"')]);
      expect(renamed).to.deep.equal(await records('sent', 4));
    });

    for (const [code, expected] of [
      ['OVERLOADED', 'OVERLOADED'],
      ['LOG_UNAVAILABLE', 'LOG_UNAVAILABLE'],
      ['OUTCOME_UNKNOWN', 'LOG_UNAVAILABLE'],
    ] as const) {
      it(`is ${expected} when the log reports ${code}`, async () => {
        await define('written', definition);
        const error = new LendstreamError(code, 'No.');
        const failed: AppendResult = { topic: 'written', partition: 0, outcome: 'failed', error };
        const log = overriding<EventLog>(broker.log, { append: () => Promise.resolve([failed]) });
        const publisher = new Publisher({
          ...broker,
          log,
          clock: systemClock,
          logger: silentLogger,
          metrics: createMetrics(),
        });
        const event = {
          eid: exampleEid,
          occurredAt: '2026-01-12T10:00:00.000Z',
          keyFields: ['L1'],
          fieldsText: '"a":1',
        };
        const thrown = await publisher.publishPrepared('written', event, context).catch((caught: unknown) => caught);
        expect(thrown).to.have.property('code', expected);
        expect(thrown).to.have.property('message', code === 'OUTCOME_UNKNOWN' ? 'timed out' : 'No.');
      });
    }
  });

  it('stores events with enriched metadata and returns their positions', async () => {
    await define('orders');
    const events = [1, 2].map((order) => ({ metadata: exampleMetadata(), order: String(order) }));
    const outcome = await publish('orders', events);
    expect(outcome.status).to.equal(200);
    expect(outcome.items).to.deep.equal(
      [0, 1].map((offset) => ({
        publishing_status: 'submitted',
        detail: '',
        step: 'publishing',
        eid: exampleEid,
        partition: '0',
        offset,
      })),
    );
    const stored = (await storedTexts(broker.log, 'orders')).map((text) => JSON.parse(text) as Record<string, unknown>);
    expect(stored.map((event) => event['order'])).to.deep.equal(['1', '2']);
    expect(stored[0]?.['metadata']).to.include({
      ...exampleMetadata(),
      event_type: 'orders',
      partition: '0',
      flow_id: 'flow-1',
      published_by: 'shop',
      version: '1.0.0',
    });
  });

  it('keeps everything outside the metadata byte for byte', async () => {
    await define('orders');
    const rest = String.raw`"n":[9007199254740993,1.0,1e5,-0,0.1000,1E+2],"t":"\u00fc\/ü \u000a","b":{"z":1,"a":{}}`;
    await publish('orders', `[{"order":"x","metadata":${metadataText},${rest}}]`);
    const [stored = ''] = await storedTexts(broker.log, 'orders');
    expect(withoutMetadata(stored)).to.equal(`{"order":"x","metadata":{},${rest}}`);
  });

  it('keeps the optional metadata of events that look alike, request after request', async () => {
    await define('orders');
    const parent = '1f5a76d8-db49-4144-ace7-e683e8ff4ba4';
    const metadata = exampleMetadata({ parent_eids: [parent], flow_id: 'mine', span_ctx: { trace: 'a' } });
    for (let request = 0; request < 3; request += 1) await publish('orders', [{ metadata, n: 1 }]);
    const stored = (await storedTexts(broker.log, 'orders')).map((text) => JSON.parse(text) as { metadata: object });
    expect(stored).to.have.length(3);
    for (const event of stored) {
      expect(event.metadata).to.deep.include({ parent_eids: [parent], flow_id: 'mine', span_ctx: { trace: 'a' } });
    }
  });

  it('removes white space between tokens, so that an event is one line', async () => {
    await define('orders');
    await publish('orders', ` [ {\r\n\t"order" : " x  y " ,\n"metadata" : ${metadataText} , "n" : [ 1.0 , 2 ] } ]\n`);
    const [stored = ''] = await storedTexts(broker.log, 'orders');
    expect(withoutMetadata(stored)).to.equal('{"order":" x  y ","metadata":{},"n":[1.0,2]}');
  });

  it('leaves events of category undefined unchanged', async () => {
    await define('logs', { category: 'undefined', enrichment_strategies: [] });
    await publish('logs', '[{"a":1.0, "metadata":{"eid":7}},{}]');
    expect(await storedTexts(broker.log, 'logs')).to.deep.equal(['{"a":1.0,"metadata":{"eid":7}}', '{}']);
  });

  it('validates data events against their envelope and finds keys under data', async () => {
    const changes = { category: 'data', partition_strategy: 'hash', partition_key_fields: ['order'] };
    await define('orders', { ...changes, default_statistic: fourPartitions });
    const event = { metadata: exampleMetadata(), data_type: 'order', data_op: 'C', data: { order: 'a' } };
    expect(briefly(await publish('orders', [event]))).to.deep.equal(['submitted publishing eid 1']);
    expect((await publish('orders', [{ ...event, data_op: 'X' }])).status).to.equal(422);
  });

  it('accepts an empty array without storing anything', async () => {
    await define('orders');
    const { status, items } = await publish('orders', ' [ ] ');
    expect({ status, items }).to.deep.equal({ status: 200, items: [] });
  });

  describe('refuses a whole batch', () => {
    const good = { metadata: exampleMetadata() };

    it('when an event is invalid: earlier ones were validated, later ones not begun', async () => {
      await define('orders');
      const outcome = await publish('orders', [good, { order: 1, ...good }, good]);
      expect(outcome.status).to.equal(422);
      expect(briefly(outcome)).to.deep.equal([
        'aborted validating eid null',
        'failed validating eid null',
        'aborted none eid null',
      ]);
      expect(outcome.items[1]?.detail).to.equal('#/order: expected type: String, found: Integer');
      expect(await storedTexts(broker.log, 'orders')).to.deep.equal([]);
    });

    it('when one event lacks its metadata or its eid, naming it', async () => {
      await define('orders');
      const outcome = await publish('orders', [good, { order: 'x' }]);
      expect(briefly(outcome)).to.deep.equal(['aborted validating eid null', 'failed validating - null']);
      expect(outcome.items[1]?.detail).to.equal('#: required key [metadata] not found');
      const withoutEid = await publish('orders', [{ metadata: { occurred_at: '2026-03-15T23:47:15Z' } }]);
      expect(withoutEid.items[0]?.detail).to.equal('#/metadata: required key [eid] not found');
    });

    it('with all violations of the event', async () => {
      await define('orders');
      const outcome = await publish('orders', [{ order: 1, metadata: { ...exampleMetadata(), eid: 'x' } }]);
      expect(outcome.items[0]?.detail).to.match(/^#: 2 schema violations found\n#\/(order|metadata)/);
    });

    it('when an event is too large as it was sent, before any later event is validated', async () => {
      await define('orders');
      const rest = Buffer.byteLength(`{ "metadata":${metadataText}, "order":"" }`);
      const of = (bytes: number) => `{ "metadata":${metadataText}, "order":"${'x'.repeat(bytes - rest)}" }`;
      expect((await publish('orders', `[${of(eventBytesMaximum)}]`)).status).to.equal(200);
      // With its metadata it is larger than that.
      const [stored = ''] = await storedTexts(broker.log, 'orders');
      expect(Buffer.byteLength(stored)).to.be.above(eventBytesMaximum);
      const padded = of(rest).replace('{ ', `{ ${' '.repeat(eventBytesMaximum - rest)}`);
      expect((await publish('orders', `[${padded}]`)).status).to.equal(200);
      const invalid = `{"metadata":${metadataText},"order":1}`;
      for (const large of [of(eventBytesMaximum + 1), padded.replace('{ ', '{  ')]) {
        const outcome = await publish('orders', `[${of(rest)},${large},${invalid}]`);
        expect(outcome.status).to.equal(422);
        expect(briefly(outcome)).to.deep.equal([
          'aborted validating eid null',
          'failed validating eid null',
          'aborted none eid null',
        ]);
        expect(outcome.items[1]?.detail).to.equal(
          `Event too large: ${eventBytesMaximum + 1} bytes, max size is ${eventBytesMaximum} bytes`,
        );
      }
      const outcome = await publish('orders', `[${invalid},${of(eventBytesMaximum + 1)}]`);
      expect(briefly(outcome)).to.deep.equal(['failed validating eid null', 'aborted none eid null']);
      expect(await storedTexts(broker.log, 'orders')).to.have.length(2);
    });

    it('but not when its metadata grows beyond the limit by being written in ASCII', async () => {
      await define('orders');
      for (const metadata of [{ flow_id: 'é'.repeat(490_000) }, { span_ctx: { note: '漢'.repeat(330_000) } }]) {
        const outcome = await publish('orders', [{ metadata: exampleMetadata(metadata), order: 'x' }]);
        expect(outcome.status).to.equal(200);
      }
      const stored = await storedTexts(broker.log, 'orders');
      expect(stored.map((text) => Buffer.byteLength(text) > 1_900_000)).to.deep.equal([true, true]);
    });

    it('when an event of category undefined is one byte too large, and accepts one of the limit', async () => {
      await define('logs', { category: 'undefined', enrichment_strategies: [] });
      const event = (bytes: number) => `[ {"a" : "${'x'.repeat(bytes - '{"a" : "" }'.length)}" } ]`;
      expect((await publish('logs', event(eventBytesMaximum))).status).to.equal(200);
      expect((await publish('logs', event(eventBytesMaximum + 1))).status).to.equal(422);
    });

    it('when an event has no key: earlier ones have their partition, later ones were validated', async () => {
      await define('orders', { partition_strategy: 'hash', partition_key_fields: ['s'] });
      const outcome = await publish('orders', [{ ...good, s: 'a' }, good, { ...good, s: 'b' }]);
      expect(briefly(outcome)).to.deep.equal([
        'aborted partitioning eid 0',
        'failed partitioning eid null',
        'aborted validating eid null',
      ]);
      expect(outcome.items[1]?.detail).to.equal("field s doesn't exist.");
    });

    it('when an event names an unknown partition', async () => {
      await define('orders', { partition_strategy: 'user_defined', default_statistic: fourPartitions });
      const to = (partition: string) => publish('orders', [{ metadata: exampleMetadata({ partition }) }]);
      expect(briefly(await to('3'))).to.deep.equal(['submitted publishing eid 3']);
      expect(briefly(await to('4'))).to.deep.equal(['failed partitioning eid null']);
      expect(briefly(await publish('orders', [good]))).to.deep.equal(['failed partitioning eid null']);
    });
  });

  it('asks the log whether another process added the partition that an event names, and for no other refusal', async () => {
    await define('named', { partition_strategy: 'user_defined' });
    await define('random');
    const late = lateLog(broker.log, registryTopic);
    const registry = new Registry(late.log, silentLogger);
    await registry.start();
    const eventTypes = new EventTypes({ ...broker, registry });
    const publisher = new Publisher({ ...broker, eventTypes, metrics: createMetrics() });
    late.holdBack();
    await broker.eventTypes.setPartitionCount('named', 2);
    const event = { metadata: exampleMetadata({ partition: '1' }) };
    for (const [name, sent, status, requests] of [
      ['random', { ...event, order: 1 }, 422, 0],
      ['named', event, 200, 1],
      ['named', event, 200, 0],
    ] as const) {
      const before = late.requests;
      expect((await publisher.publish(name, Buffer.from(JSON.stringify([sent])), context)).status).to.equal(status);
      expect(late.requests - before, name).to.equal(requests);
    }
    await registry.stop();
  });

  it('refuses events that only the service may write, even if they are valid', async () => {
    await broker.eventTypes.registerSystemEventTypes([
      {
        name: 'loan_told',
        schema: { type: 'object' },
        partitionCount: 1,
        partitionKeyFields: ['loan'],
        retentionMilliseconds: 1e9,
        writtenByServiceAlone: true,
      },
    ]);
    for (const events of [[{ loan: 'a', metadata: exampleMetadata() }], []]) {
      const failure: unknown = await publish('loan_told', events).catch((error: unknown) => error);
      expect(failure).to.include({ code: 'FORBIDDEN', status: 403 });
    }
    expect(await storedTexts(broker.log, 'loan_told')).to.deep.equal([]);
  });

  describe('partitions by key', () => {
    it('by numbers as they were written, and keeps the order within a partition', async () => {
      await define('orders', {
        partition_strategy: 'hash',
        partition_key_fields: ['a.b'],
        default_statistic: fourPartitions,
      });
      const keys = ['1', '1.0', '1e2', '17', 'true', '"x"', '9007199254740993', '9007199254740992', '1'];
      const events = keys.map((key) => `{"a" : {"b": ${key}},"metadata":${metadataText}}`);
      const { items } = await publish('orders', `[${events.join(',')}]`);
      // The hashes of "1", "1.0", "100.0", "17", "true", "x" and the two long numbers, by four.
      expect(items.map(({ partition }) => partition)).to.deep.equal(
        ['1', '1.0', '100.0', '17', 'true', 'x', '9007199254740993', '9007199254740992', '1'].map((text) =>
          String(hashPartition([text], 4)),
        ),
      );
      const stored = await Promise.all([0, 1, 2, 3].map((partition) => storedTexts(broker.log, 'orders', partition)));
      for (const [index, { partition, offset }] of items.entries()) {
        expect(stored[Number(partition)]?.[offset ?? -1]).to.include(`{"a":{"b":${keys[index]}}`);
      }
    });

    it('of which some may be missing where the type allows it, but not all', async () => {
      await broker.eventTypes.registerSystemEventTypes([
        {
          name: 'lendstream.loan-commands',
          schema: { type: 'object' },
          partitionCount: 12,
          partitionKeyFields: ['loanAccountId', 'loanProductId'],
          retentionMilliseconds: 1e9,
          absentKeyFieldsAllowed: true,
        },
      ]);
      const good = { metadata: exampleMetadata() };
      const events = [
        { ...good, loanAccountId: 'a' },
        { ...good, loanProductId: 'a' },
      ];
      // The hash of "a" is 97.
      const { items } = await publish('lendstream.loan-commands', events);
      expect(items.map(({ partition }) => partition)).to.deep.equal(['1', '1']);
      const { batches } = await broker.log.read(
        { topic: 'lendstream.loan-commands', partition: 1, offset: 0 },
        { bytesMaximum: 1e6, waitMilliseconds: 0 },
      );
      expect(batches[0]?.key(0)).to.equal('a');
      expect(briefly(await publish('lendstream.loan-commands', [good]))).to.deep.equal([
        'failed partitioning eid null',
      ]);
    });

    it('and stores the compaction key where the log is compacted', async () => {
      await define('orders', { cleanup_policy: 'compact' });
      await publish('orders', [{ metadata: exampleMetadata({ partition_compaction_key: 'k' }) }]);
      const { batches } = await broker.log.read(
        { topic: 'orders', partition: 0, offset: 0 },
        { bytesMaximum: 1e6, waitMilliseconds: 0 },
      );
      expect(batches[0]?.key(0)).to.equal('k');
    });
  });

  it('refuses unknown event types', async () => {
    const error = await publish('unknown', []).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).to.include({ code: 'NOT_FOUND', message: 'EventType "unknown" does not exist.' });
  });

  it('validates with the schema in force', async () => {
    await define('orders');
    await broker.eventTypes.addSchema(
      'orders',
      '{"type":"object","properties":{"order":{"type":"string"},"n":{"type":"number"}}}',
    );
    expect((await publish('orders', [{ metadata: exampleMetadata(), n: 'x' }])).status).to.equal(422);
    await publish('orders', [{ metadata: exampleMetadata(), n: 1 }]);
    expect((await storedTexts(broker.log, 'orders'))[0]).to.include('"version":"1.1.0"');
  });

  it('accepts the largest body, although its enriched events exceed what the log stores in one append', async () => {
    await define('orders');
    const event = JSON.stringify({ metadata: exampleMetadata(), order: '1' });
    const count = Math.floor((bodyBytesMaximum - 2) / (event.length + 1));
    const body = `[${Array.from({ length: count }, () => event).join()}]`;
    const outcome = await publish('orders', body);
    expect(outcome.status).to.equal(200);
    const [bounds] = await broker.log.bounds([{ topic: 'orders', partition: 0 }]);
    expect(bounds?.latest).to.equal(count);
    expect(outcome.items.map(({ offset }) => offset)).to.deep.equal(Array.from({ length: count }, (_, at) => at));
  });

  describe('stores in one append as much as every log accepts', () => {
    /** How many records each append has, of events that are stored as they are. */
    async function appendsOf(events: readonly string[], changes: Record<string, unknown>): Promise<number[]> {
      await define('logs', { category: 'undefined', enrichment_strategies: [], ...changes });
      const appends: number[] = [];
      const log = overriding<EventLog>(broker.log, {
        append: (requests) => {
          appends.push(...requests.map(({ records }) => records.length));
          const stored = { outcome: 'appended', baseOffset: 0, appendedAt: 0 } as const;
          return Promise.resolve(requests.map(({ topic, partition }) => ({ topic, partition, ...stored })));
        },
      });
      const publisher = new Publisher({ ...broker, log, metrics: createMetrics() });
      await publisher.publish('logs', Buffer.from(`[${events.join(',')}]`), context);
      return appends;
    }
    const eventOf = (bytes: number): string => `{"k":"ab","a":"${'x'.repeat(bytes - '{"k":"ab","a":""}'.length)}"}`;
    const framingBytes = appendBytes({ key: null, value: null });
    const share = appendBytesMaximum / 16;

    it('by the size of all of a request', async () => {
      const key = 'ab';
      const event = eventOf(share - framingBytes - key.length - ','.length);
      const last = eventOf(share - framingBytes - key.length);
      const changes = { partition_strategy: 'hash', partition_key_fields: ['k'] };
      expect(await appendsOf([...Array.from({ length: 15 }, () => event), last], changes)).to.deep.equal([16]);
    });

    it('by the size of each of its records when all of it is larger', async () => {
      const event = eventOf(share - framingBytes);
      expect(
        await appendsOf(
          Array.from({ length: 33 }, () => event),
          {},
        ),
      ).to.deep.equal([16, 16, 1]);
    });
  });

  describe('when the log fails', () => {
    /** The log of the broker, in which some partitions fail with a code. */
    function publisherWithFailures(codes: Record<number, ErrorCode>, metrics = createMetrics()): Publisher {
      const fail = ({ topic, partition }: PartitionRecords): AppendResult | undefined => {
        const code = codes[partition];
        if (code === undefined) return undefined;
        return { topic, partition, outcome: 'failed', error: new LendstreamError(code, `it is ${code}`) };
      };
      const append: EventLog['append'] = async (partitions) => {
        const results = partitions.map(fail);
        const stored = await broker.log.append(partitions.filter((_, index) => results[index] === undefined));
        return results.map((result) => result ?? (stored.shift() as AppendResult));
      };
      const log = new Proxy<EventLog>(broker.log, {
        get: (target, name: keyof EventLog) =>
          name === 'append' ? append : (target[name] as () => unknown).bind(target),
      });
      const options = { clock: systemClock, metrics, logger: silentLogger };
      return new Publisher({ ...options, eventTypes: broker.eventTypes, log });
    }

    const events = ['0', '1', '2'].map((partition) => ({ metadata: exampleMetadata({ partition }) }));
    const body = Buffer.from(JSON.stringify(events));
    beforeEach(() => define('orders', { partition_strategy: 'user_defined', default_statistic: fourPartitions }));

    it('stores the events of several partitions in one append, unless a partition needs more than one', async () => {
      const appended: number[][] = [];
      const log = overriding(broker.log, {
        append: (partitions) => {
          appended.push(partitions.map(({ partition }) => partition));
          // Their values are in one buffer already.
          for (const each of partitions) expect(each).to.be.instanceOf(PackedPartitionRecords);
          return broker.log.append(partitions);
        },
      });
      const options = { clock: systemClock, metrics: createMetrics(), logger: silentLogger };
      const publisher = new Publisher({ ...options, eventTypes: broker.eventTypes, log });
      expect((await publisher.publish('orders', body, context)).status).to.equal(200);
      expect(appended).to.deep.equal([[0, 1, 2]]);
    });

    it('reports which events are durable', async () => {
      const metrics = createMetrics();
      const publisher = publisherWithFailures({ 0: 'OUTCOME_UNKNOWN', 2: 'LOG_FULL' }, metrics);
      const outcome = await publisher.publish('orders', body, context);
      expect(outcome.status).to.equal(207);
      expect(outcome.items.map((item) => `${item.publishing_status} ${item.partition} ${item.detail}`)).to.deep.equal([
        'failed 0 timed out',
        'submitted 1 ',
        'failed 2 it is LOG_FULL',
      ]);
      expect(outcome.items.map(({ retryable }) => retryable)).to.deep.equal([true, undefined, true]);
      const samples = readExposition(await metrics.registry.metrics()).filter(({ labels }) => labels['event_type']);
      const valueOf = (name: string): number | undefined => samples.find((sample) => sample.name === name)?.value;
      expect(valueOf('lendstream_published_events_total')).to.equal(1);
      expect(valueOf('lendstream_refused_events_total')).to.equal(2);
      expect(valueOf('lendstream_repeated_events_total'), 'nothing is said of a type without any').to.equal(undefined);
    });

    it('reports which events are durable in a partition that needs more than one append', async () => {
      const large = 'x'.repeat(900_000);
      const many = Array.from({ length: 9 }, (_, n) => ({ metadata: exampleMetadata({ partition: '3' }), n, large }));
      const appended: number[] = [];
      const log = overriding(broker.log, {
        append: async (partitions) => {
          appended.push(...partitions.map(({ records }) => records.length));
          if (appended.length <= 2) return broker.log.append(partitions);
          const error = new LendstreamError('LOG_FULL', 'it is LOG_FULL');
          return partitions.map(({ topic, partition }) => ({ topic, partition, outcome: 'failed', error }));
        },
      });
      await broker.log.append([{ topic: 'orders', partition: 3, records: [{ key: null, value: Buffer.from('{}') }] }]);
      const options = { clock: systemClock, metrics: createMetrics(), logger: silentLogger };
      const publisher = new Publisher({ ...options, eventTypes: broker.eventTypes, log });
      const sent = Buffer.from(JSON.stringify([...many, ...many, ...many, events[0]]));
      const outcome = await publisher.publish('orders', sent, context);
      expect(outcome.status).to.equal(207);
      const submitted = outcome.items.filter(({ publishing_status: status }) => status === 'submitted');
      expect(submitted.map(({ partition, offset }) => [partition, offset])).to.deep.equal([
        ...Array.from({ length: 9 }, (_, route) => ['3', 1 + route]),
        ['0', 0],
      ]);
      expect(appended, 'partition 0, two of three of partition 3').to.deep.equal([1, 9, 9]);
    });

    it('asks the client to retry when it accepts nothing at the moment', async () => {
      const publisher = publisherWithFailures({ 0: 'OVERLOADED', 1: 'OVERLOADED', 2: 'OVERLOADED' });
      const error = await publisher.publish('orders', body, context).then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(error).to.include({ code: 'OVERLOADED' });
    });

    for (const code of ['OUTCOME_UNKNOWN', 'LOG_FULL'] as const) {
      it(`does not report that nothing was stored when all but one were refused, and that one is ${code}`, async () => {
        const publisher = publisherWithFailures({ 0: 'OVERLOADED', 1: 'OVERLOADED', 2: code });
        const outcome = await publisher.publish('orders', body, context);
        expect(outcome.status).to.equal(207);
        expect(outcome.items.map(({ detail }) => detail)).to.deep.equal([
          'it is OVERLOADED',
          'it is OVERLOADED',
          code === 'OUTCOME_UNKNOWN' ? 'timed out' : 'it is LOG_FULL',
        ]);
      });
    }
  });
});

describe('Publisher, for any events', () => {
  let broker: Broker;
  before(async () => {
    broker = await openBroker();
    const anything = { schema: { type: 'json_schema', schema: '{"type":"object"}' } };
    await broker.eventTypes.create(readEventType(eventTypeBody('anything', anything)));
  });
  after(() => broker.close());

  it('stores what parses to the event with richer metadata, on one line, and changes nothing else', async () => {
    let offset = 0;
    const anyKey = string({ unit: 'grapheme' }).filter((key) => key !== 'metadata');
    const anyEvent = dictionary(anyKey, jsonValue(), { maxKeys: 5 });
    await assert(
      asyncProperty(
        array(anyEvent, { minLength: 1, maxLength: 4 }),
        nat(2),
        boolean(),
        async (events, indent, first) => {
          const metadata = exampleMetadata({ flow_id: 'mine' });
          const sent = events.map((event) => (first ? { metadata, ...event } : { ...event, metadata }));
          const body = Buffer.from(JSON.stringify(sent, null, indent));
          const { status } = await broker.publisher.publish('anything', body, context);
          expect(status).to.equal(200);
          const { batches, nextOffset } = await broker.log.read(
            { topic: 'anything', partition: 0, offset },
            { bytesMaximum: 1e8, waitMilliseconds: 0 },
          );
          offset = nextOffset;
          const stored = batches.flatMap(({ bytes, count, valueStarts, valueEnds }) =>
            Array.from({ length: count }, (_, index) => bytes.toString('utf8', valueStarts[index], valueEnds[index])),
          );
          expect(stored).to.have.length(sent.length);
          for (const [index, text] of stored.entries()) {
            expect(text).not.to.match(/[\r\n]/);
            const parsed = JSON.parse(text) as Record<string, unknown>;
            expect(parsed['metadata']).to.include({ ...metadata, partition: '0', published_by: 'shop' });
            const replaced = { ...parsed, metadata };
            expect(JSON.stringify(replaced)).to.equal(JSON.stringify(sent[index]));
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
