import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { EventTypes } from '../../../src/broker/event-types/event-types.ts';
import { readEventType, type EventTypeDefinition } from '../../../src/broker/event-types/requested-event-type.ts';
import type { SystemEventType } from '../../../src/broker/definitions/event-type.ts';
import { compactionLagMilliseconds, topicOf } from '../../../src/broker/event-types/event-type-records.ts';
import { Registry, registryTopic } from '../../../src/broker/definitions/registry.ts';
import { Subscriptions } from '../../../src/broker/subscriptions/subscriptions.ts';
import { systemClock } from '../../../src/clock.ts';
import { EmbeddedCoordination } from '../../../src/embedded/coordination.ts';
import { silentLogger } from '../../../src/logger.ts';
import type { EventLog } from '../../../src/ports/event-log.ts';
import { eventually } from '../../support/eventually.ts';
import { appendTo, codeOf, records } from '../../support/log-reading.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { overriding } from '../../support/stepping-log.ts';
import { eventTypeBody, openBroker, storedTexts, type Broker } from '../../support/broker-on-embedded-log.ts';
import { lateLog, type LateLog } from '../../support/late-log.ts';
import { failureOf } from '../../support/thrown-errors.ts';

function definition(name: string, changes: Record<string, unknown> = {}): EventTypeDefinition {
  return readEventType(eventTypeBody(name, changes));
}

function schemaOf(...properties: string[]): string {
  return JSON.stringify({ type: 'object', properties: Object.fromEntries(properties.map((name) => [name, {}])) });
}

describe('EventTypes', () => {
  let broker: Broker;
  let eventTypes: EventTypes;
  let others: Registry[] = [];
  beforeEach(async () => {
    broker = await openBroker();
    eventTypes = broker.eventTypes;
  });
  afterEach(async () => {
    await Promise.all(others.map((registry) => registry.stop()));
    others = [];
    await broker.close();
  });

  /** On the same log and coordination, with a separate registry that receives changes later. */
  async function otherProcess(log = broker.log): Promise<EventTypes> {
    const registry = new Registry(log, silentLogger);
    await registry.start();
    others.push(registry);
    return new EventTypes({ ...broker, registry, clock: systemClock, logger: silentLogger });
  }

  /** Another process, which the test can make late, and whose requests for the end of the registry are counted. */
  async function lateProcess(): Promise<{ late: LateLog; types: EventTypes }> {
    const late = lateLog(broker.log, registryTopic);
    return { late, types: await otherProcess(late.log) };
  }

  /** The same process, with the steps that it takes in the log and the coordination. */
  function withSteps(): { eventTypes: EventTypes; steps: string[] } {
    const steps: string[] = [];
    const { log, coordination } = broker;
    const counting = new EventTypes({
      ...broker,
      log: overriding<EventLog>(log, {
        listTopics: (names) => {
          steps.push('list');
          return log.listTopics(names);
        },
        createTopic: (configuration) => {
          steps.push(`create ${configuration.name}`);
          return log.createTopic(configuration);
        },
        alterTopic: (name, changes) => {
          steps.push(`change ${name}`);
          return log.alterTopic(name, changes);
        },
        deleteTopic: (name) => {
          steps.push(`delete ${name}`);
          return log.deleteTopic(name);
        },
      }),
      coordination: overriding(coordination, {
        claim: (name, leaseMilliseconds) => {
          steps.push(`claim ${name}`);
          return coordination.claim(name, leaseMilliseconds);
        },
      }),
      creationMillisecondsMaximum: 100,
    });
    return { eventTypes: counting, steps };
  }

  async function topic(name: string) {
    return (await broker.log.listTopics([name]))[0];
  }

  describe('create', () => {
    it('creates the topic of that name, with the requested partitions and retention', async () => {
      const statistic = { messages_per_minute: 1, message_size: 1, read_parallelism: 3, write_parallelism: 2 };
      await eventTypes.create(
        definition('orders', { default_statistic: statistic, options: { retention_time: 20_000_000 } }),
      );
      expect(await topic('orders')).to.include({
        partitionCount: 3,
        retentionMilliseconds: 20_000_000,
        cleanupPolicy: 'delete',
      });
      const { eventType } = await eventTypes.get('orders');
      expect(eventType.schema).to.include({ version: '1.0.0', type: 'json_schema' });
      expect(eventType.updated_at).to.equal(eventType.created_at);
    });

    it('gives a name to only one of many simultaneous requests', async () => {
      const codes = await Promise.all(Array.from({ length: 5 }, () => codeOf(eventTypes.create(definition('orders')))));
      expect(codes).to.have.members(['CONFLICT', 'CONFLICT', 'CONFLICT', 'CONFLICT', null]);
    });

    it('gives a name to only one of two processes', async () => {
      const other = await otherProcess();
      const codes = await Promise.all([eventTypes, other].map((types) => codeOf(types.create(definition('orders')))));
      expect(codes).to.have.members(['CONFLICT', null]);
      expect(await other.get('orders')).to.deep.equal(await eventTypes.get('orders'));
    });

    it('gives only one of two confusable names to two processes', async () => {
      const other = await otherProcess();
      const creations = [eventTypes.create(definition('orders.new')), other.create(definition('orders_new'))];
      const outcomes = await Promise.allSettled(creations);
      expect(outcomes.map(({ status }) => status).sort()).to.deep.equal(['fulfilled', 'rejected']);
    });

    const leftBehind = { name: 'orders', cleanupPolicy: 'compact', retentionMilliseconds: 1 } as const;

    for (const [partitionCount, isKept] of [
      [1, true],
      [2, true],
      [4, false],
    ] as const) {
      it(`${isKept ? 'changes' : 'replaces'} the topic of ${partitionCount} partitions that a creation of 2 left behind`, async () => {
        await broker.log.createTopic({ ...leftBehind, partitionCount });
        const { eventTypes: counting, steps } = withSteps();
        const statistic = { messages_per_minute: 1, message_size: 1, read_parallelism: 2, write_parallelism: 1 };
        await counting.create(definition('orders', { default_statistic: statistic }));
        expect(await topic('orders')).to.include({ partitionCount: 2, cleanupPolicy: 'delete' });
        expect(steps.includes('change orders')).to.equal(isKept);
        expect(steps.includes('delete orders')).to.equal(!isKept);
      });
    }

    it('waits two seconds before it takes over a topic that another process may be about to register', async () => {
      await broker.log.createTopic({ ...leftBehind, partitionCount: 1 });
      const clock = new SimulatedClock();
      let isCreated = false;
      const creating = new EventTypes({ ...broker, clock }).create(definition('orders')).then(() => (isCreated = true));
      await eventually(async () => {
        const pause = clock.nextDeadline() - clock.monotonic();
        if (pause !== Infinity) await clock.turn(pause);
        return isCreated;
      });
      await creating;
      expect(clock.monotonic()).to.equal(2_000);
    });

    it('leaves a topic alone that has records of another producer', async () => {
      await broker.log.createTopic({
        name: 'orders',
        partitionCount: 1,
        cleanupPolicy: 'delete',
        retentionMilliseconds: 1e9,
      });
      await broker.log.append([{ topic: 'orders', partition: 0, records: [{ key: null, value: Buffer.from('x') }] }]);
      expect(await codeOf(eventTypes.create(definition('orders')))).to.equal('CONFLICT');
      expect(eventTypes.known('orders')).to.equal(undefined);
    });

    it('creates nothing when the schema is invalid', async () => {
      const bad = { schema: { type: 'json_schema', schema: '{"properties":{"metadata":{}}}' } };
      expect(await codeOf(eventTypes.create(definition('orders', bad)))).to.equal('UNPROCESSABLE');
      expect(await topic('orders')).to.equal(undefined);
    });
  });

  describe('setPartitionCount', () => {
    it('adds partitions to the topic, then to the type', async () => {
      await eventTypes.create(definition('orders'));
      await eventTypes.setPartitionCount('orders', 8);
      expect((await eventTypes.get('orders')).partitionCount).to.equal(8);
      expect(await topic('orders')).to.include({ partitionCount: 8 });
    });

    it('changes nothing for the number that the type has', async () => {
      await eventTypes.create(definition('orders'));
      await eventTypes.setPartitionCount('orders', 2);
      const record = await eventTypes.get('orders');
      const end = async () => (await broker.log.bounds([{ topic: registryTopic, partition: 0 }]))[0]?.latest;
      const before = await end();
      await eventTypes.setPartitionCount('orders', 2);
      expect(await eventTypes.get('orders')).to.equal(record);
      expect(await end()).to.equal(before);
    });

    it('has the statistic say the number, also one that it was never told', async () => {
      const statistic = { messages_per_minute: 60, message_size: 200, read_parallelism: 1, write_parallelism: 2 };
      await eventTypes.create(definition('orders', { default_statistic: statistic }));
      await eventTypes.create(definition('others'));
      const shown = async (name: string) => (await eventTypes.get(name)).eventType.default_statistic;
      const one = { messages_per_minute: 1, message_size: 1, read_parallelism: 1, write_parallelism: 1 };
      for (const [name, count, expected] of [
        ['orders', 2, { ...statistic, read_parallelism: 2 }],
        ['orders', 3, { ...statistic, read_parallelism: 3, write_parallelism: 3 }],
        ['others', 1, one],
        ['others', 3, { ...one, read_parallelism: 3, write_parallelism: 3 }],
      ] as const) {
        await eventTypes.setPartitionCount(name, count);
        expect(await shown(name), `${name} ${count}`).to.deep.equal(expected);
        // What it shows can be sent back.
        await eventTypes.update(name, definition(name, { default_statistic: await shown(name) }));
        expect((await eventTypes.get(name)).partitionCount).to.equal(count);
      }
    });

    it('does what comes before while the type has no more partitions, and again when that failed', async () => {
      await eventTypes.create(definition('orders'));
      const seen: number[] = [];
      const failing = async (): Promise<void> => {
        seen.push((await eventTypes.get('orders')).partitionCount);
        throw new Error('It died here.');
      };
      const before = await eventTypes.get('orders');
      expect(await failureOf(eventTypes.setPartitionCount('orders', 3, failing))).to.match(/died here/);
      expect(await eventTypes.get('orders')).to.deep.equal(before);
      const note = async (): Promise<void> => void seen.push((await eventTypes.get('orders')).partitionCount);
      // The second adds none.
      for (const count of [3, 3]) await eventTypes.setPartitionCount('orders', count, note);
      expect(seen).to.deep.equal([1, 1]);
      expect((await eventTypes.get('orders')).partitionCount).to.equal(3);
    });

    it('removes no partition, and adds none beyond the limit', async () => {
      await eventTypes.create(definition('orders'));
      await eventTypes.setPartitionCount('orders', 2);
      for (const wanted of [1, 0, 9]) {
        expect(await codeOf(eventTypes.setPartitionCount('orders', wanted)), `${wanted}`).to.equal('UNPROCESSABLE');
      }
      expect(await topic('orders')).to.include({ partitionCount: 2 });
    });

    it('uses partitions that a process added to the topic before it stopped', async () => {
      await eventTypes.create(definition('orders'));
      await broker.log.alterTopic('orders', { partitionCount: 4 });
      const { eventTypes: counting, steps } = withSteps();
      for (const [wanted, changes] of [
        [3, 0],
        [4, 0],
        [5, 1],
      ] as const) {
        await counting.setPartitionCount('orders', wanted);
        expect((await eventTypes.get('orders')).partitionCount).to.equal(wanted);
        expect(steps.filter((step) => step === 'change orders')).to.have.length(changes);
      }
      expect(await topic('orders')).to.include({ partitionCount: 5 });
    });

    it('keeps the larger of two numbers that two processes set at the same time', async () => {
      await eventTypes.create(definition('orders'));
      const other = await otherProcess();
      const codes = await Promise.all([
        codeOf(eventTypes.setPartitionCount('orders', 3)),
        codeOf(other.setPartitionCount('orders', 5)),
      ]);
      expect(codes[1]).to.equal(null);
      expect(codes[0]).to.be.oneOf([null, 'UNPROCESSABLE']);
      await broker.registry.catchUp();
      expect((await eventTypes.get('orders')).partitionCount).to.equal(5);
    });
  });

  describe('update', () => {
    it('adds versions for changed schemas and keeps the fields that are left out', async () => {
      await eventTypes.create(definition('orders', { labels: { team: 'a' }, options: { retention_time: 20_000_000 } }));
      const schema = '{"type":"object","properties":{"order":{"type":"string"},"note":{}}}';
      await eventTypes.update('orders', definition('orders', { schema: { type: 'json_schema', schema } }));
      expect((await eventTypes.get('orders')).eventType.schema.version).to.equal('1.1.0');
      expect((await eventTypes.get('orders')).eventType.labels).to.deep.equal({ team: 'a' });
      expect((await eventTypes.get('orders')).eventType.options.retention_time).to.equal(20_000_000);
    });

    it('passes retention on to the log when compaction does not change', async () => {
      await eventTypes.create(definition('orders'));
      await eventTypes.update('orders', definition('orders', { options: { retention_time: 30_000_000 } }));
      expect(await topic('orders')).to.include({ retentionMilliseconds: 30_000_000 });
    });

    it('passes retention on to the log at once, and compaction when the events without a key have been kept', async () => {
      let passed = 0;
      const at = systemClock.now();
      const types = new EventTypes({ ...broker, clock: overriding(systemClock, { now: () => at + passed }) });
      await types.create(definition('orders'));
      const retention = 30_000_000;
      const changes = { options: { retention_time: retention }, cleanup_policy: 'compact_and_delete' };
      await types.update('orders', definition('orders', changes));
      expect((await types.get('orders')).eventType.cleanup_policy).to.equal('compact_and_delete');
      expect(await topic('orders')).to.include({ retentionMilliseconds: retention, cleanupPolicy: 'delete' });
      // Others change it meanwhile, and a longer retention also holds for the events that are there.
      passed = 1_000;
      const longer = retention + 5_000;
      await types.update('orders', definition('orders', { ...changes, options: { retention_time: longer } }));
      // Another process may go by the definition before that for a minute.
      passed = longer + 60_000 - 1;
      expect(types.dueForCompaction()).to.deep.equal([]);
      await types.beginCompaction('orders');
      expect(await topic('orders')).to.include({ retentionMilliseconds: longer, cleanupPolicy: 'delete' });
      expect(await topic('orders')).not.to.have.property('compactionLagMilliseconds');
      passed += 1;
      expect(types.dueForCompaction()).to.deep.equal(['orders']);
      await types.beginCompaction('orders');
      const compacted = { cleanupPolicy: 'compact_and_delete', compactionLagMilliseconds };
      expect(await topic('orders')).to.include({ ...compacted, retentionMilliseconds: longer });
      expect(types.dueForCompaction()).to.deep.equal([]);
      await types.update('orders', definition('orders', changes));
      expect(await topic('orders')).to.include({ ...compacted, retentionMilliseconds: retention });
      // What is compacted from the start does not wait.
      await types.create(definition('states', { cleanup_policy: 'compact_and_delete' }));
      expect(await topic('states')).to.include(compacted);
    });

    it('limits how long compaction may wait, also in a topic from a time without a limit', async () => {
      const compacted = definition('states', { cleanup_policy: 'compact' });
      await eventTypes.create(compacted);
      expect(await topic('states')).to.include({ compactionLagMilliseconds });
      await broker.log.deleteTopic('states');
      const { compactionLagMilliseconds: _absent, ...before } = topicOf(await eventTypes.get('states'));
      await broker.log.createTopic(before);
      expect(await topic('states')).not.to.have.property('compactionLagMilliseconds');
      await eventTypes.update('states', compacted);
      expect(await topic('states')).to.include({ compactionLagMilliseconds });
    });

    it('refuses a schema that the compatibility mode forbids, with the whole change', async () => {
      await eventTypes.create(definition('orders'));
      const changes = { schema: { type: 'json_schema', schema: '{"type":"object"}' }, owning_application: 'other' };
      expect(await codeOf(eventTypes.update('orders', definition('orders', changes)))).to.equal('UNPROCESSABLE');
      expect((await eventTypes.get('orders')).eventType.owning_application).to.equal('core');
    });
  });

  describe('get', () => {
    it('finds types and schema versions that another process just created, with one request for each', async () => {
      const { late, types: slow } = await lateProcess();
      late.holdBack();
      await eventTypes.create(definition('orders', { compatibility_mode: 'none' }));
      let before = late.requests;
      expect(slow.known('orders')).to.equal(undefined);
      expect(await slow.get('orders')).to.deep.equal(await eventTypes.get('orders'));
      expect(late.requests - before).to.equal(1);
      late.holdBack();
      const { version } = await eventTypes.addSchema('orders', schemaOf('a'));
      before = late.requests;
      expect((await slow.schema('orders', version)).schema).to.equal(schemaOf('a'));
      expect(late.requests - before).to.equal(1);
      for (const [name, wanted, text] of [
        ['orders', '9.0.0', 'EventType "orders" has no schema with version "9.0.0"'],
        ['payments', '9.0.0', 'EventType "payments" does not exist.'],
        ['payments', 'latest', 'EventType "payments" does not exist.'],
      ] as const) {
        before = late.requests;
        expect((await failureOf(slow.schema(name, wanted))).message).to.equal(text);
        expect(late.requests - before, text).to.equal(1);
      }
    });

    it('finds partitions that another process just added, and requests nothing for those it knows', async () => {
      await eventTypes.create(definition('orders'));
      const { late, types: slow } = await lateProcess();
      late.holdBack();
      await eventTypes.setPartitionCount('orders', 3);
      for (const [wanted, requests] of [
        [1, 0],
        [3, 1],
        [3, 0],
        [2, 0],
        [4, 1],
      ] as const) {
        const before = late.requests;
        const { partitionCount } = await slow.getWithPartitions('orders', wanted);
        expect(partitionCount, `of ${wanted}`).to.equal(wanted === 1 ? 1 : 3);
        expect(late.requests - before, `for ${wanted}`).to.equal(requests);
      }
      const before = late.requests;
      expect(await codeOf(slow.getWithPartitions('payments', 1))).to.equal('NOT_FOUND');
      expect(late.requests - before).to.equal(1);
    });

    it('returns a known type without a request to the log', async () => {
      await eventTypes.create(definition('orders'));
      const { late, types: knowing } = await lateProcess();
      const before = late.requests;
      expect(await knowing.get('orders')).to.equal(knowing.known('orders'));
      expect(late.requests - before).to.equal(0);
    });
  });

  describe('addSchema', () => {
    it('lists versions newest first, by number', async () => {
      await eventTypes.create(definition('orders', { schema: { type: 'json_schema', schema: schemaOf() } }));
      const names = Array.from({ length: 11 }, (_, index) => `p${index}`);
      for (const index of names.keys()) await eventTypes.addSchema('orders', schemaOf(...names.slice(0, index + 1)));
      const versions = (await eventTypes.schemas('orders')).map(({ version }) => version);
      expect(versions.slice(0, 3)).to.deep.equal(['1.11.0', '1.10.0', '1.9.0']);
      expect((await eventTypes.schema('orders', 'latest')).version).to.equal('1.11.0');
      expect((await eventTypes.schema('orders', '1.1.0')).schema).to.equal(schemaOf('p0'));
      const { message } = await failureOf(eventTypes.schema('orders', 'abc'));
      expect(message).to.equal('EventType "orders" has no schema with version "abc"');
    });

    it('loses no version that another process adds at the same time', async () => {
      const other = await otherProcess();
      await eventTypes.create(definition('orders', { compatibility_mode: 'none' }));
      const added = ['a', 'b', 'c', 'd'].map((property, index) =>
        (index % 2 === 0 ? eventTypes : other).addSchema('orders', schemaOf(property)),
      );
      const versions = (await Promise.all(added)).map(({ version }) => version);
      expect(new Set(versions).size).to.equal(4);
      await broker.registry.catchUp();
      expect(await eventTypes.schemas('orders')).to.have.length(5);
    });

    it('is kept next to partitions that another process adds at the same time', async () => {
      await eventTypes.create(definition('orders', { compatibility_mode: 'none' }));
      const other = await otherProcess();
      await Promise.all([eventTypes.addSchema('orders', schemaOf('a', 'b')), other.setPartitionCount('orders', 3)]);
      await broker.registry.catchUp();
      expect((await eventTypes.get('orders')).partitionCount).to.equal(3);
      expect(await eventTypes.schemas('orders')).to.have.length(2);
    });

    it('adds no version for the schema in force', async () => {
      await eventTypes.create(definition('orders'));
      await eventTypes.addSchema('orders', (await eventTypes.get('orders')).eventType.schema.schema);
      expect(await eventTypes.schemas('orders')).to.have.length(1);
    });
  });

  describe('remove', () => {
    it('deletes the type and its topic, and the name is free again', async () => {
      await eventTypes.create(definition('orders'));
      await eventTypes.remove('orders');
      expect(await topic('orders')).to.equal(undefined);
      expect((await failureOf(eventTypes.get('orders'))).message).to.equal('EventType "orders" does not exist.');
      await eventTypes.create(definition('orders'));
    });

    it('is refused while a subscription names the type', async () => {
      await eventTypes.create(definition('orders'));
      await broker.registry.put('subscription', 'some-id', { event_types: ['a', 'orders'] });
      expect(await codeOf(eventTypes.remove('orders'))).to.equal('CONFLICT');
      await broker.registry.remove('subscription', 'some-id');
      await eventTypes.remove('orders');
    });

    it('leaves no subscription that is created at the same time', async () => {
      const coordination = await EmbeddedCoordination.open({
        log: broker.log,
        clock: systemClock,
        logger: silentLogger,
      });
      const subscriptions = new Subscriptions({ ...broker, coordination, clock: systemClock, logger: silentLogger });
      const outcomes: unknown[][] = [];
      for (let round = 0; round < 10; round += 1) {
        await eventTypes.create(definition('orders'));
        const body = { owning_application: `shop-${round}`, event_types: ['orders'] };
        const creation = codeOf(subscriptions.create(body));
        const removal = codeOf(eventTypes.remove('orders'));
        outcomes.push([await creation, await removal]);
        const left = subscriptions.list({ eventTypes: [] });
        expect(left.length === 0 || eventTypes.known('orders') !== undefined, JSON.stringify(outcomes)).to.equal(true);
        for (const { id } of left) await subscriptions.remove(id);
        if (eventTypes.known('orders') !== undefined) await eventTypes.remove('orders');
      }
      expect(outcomes).not.to.deep.include([null, null]);
      await coordination.close();
    });

    it('keeps a type unchanged when its deletion was refused, also for new subscriptions', async () => {
      await eventTypes.create(definition('orders'));
      const before = await eventTypes.get('orders');
      await broker.registry.put('subscription', 'some-id', { event_types: ['orders'] });
      expect(await codeOf(eventTypes.remove('orders'))).to.equal('CONFLICT');
      expect(await eventTypes.get('orders')).to.deep.equal(before);
      await broker.registry.put('event-type', 'orders', { ...before, deleting: true });
      await broker.registry.remove('subscription', 'some-id');
      await eventTypes.remove('orders');
      expect(eventTypes.known('orders')).to.equal(undefined);
    });

    it('finishes a deletion that stopped after the topic', async () => {
      await eventTypes.create(definition('orders'));
      await broker.log.deleteTopic('orders');
      await eventTypes.remove('orders');
      expect(eventTypes.known('orders')).to.equal(undefined);
    });
  });

  describe('a process whose claim expires during its work', () => {
    /** A process that pauses at one step of the log until it is resumed. */
    async function startPausing(
      step: (log: EventLog, pause: () => Promise<void>) => Partial<EventLog>,
    ): Promise<{ slow: EventTypes; isPaused: () => boolean; resume: () => void }> {
      let resume = (): void => {};
      let isPaused = false;
      const pause = (): Promise<void> => {
        isPaused = true;
        return new Promise((resolve) => (resume = resolve));
      };
      const log = overriding(broker.log, step(broker.log, pause));
      const registry = new Registry(log, silentLogger);
      await registry.start();
      others.push(registry);
      const slow = new EventTypes({ ...broker, log, registry, clock: systemClock, logger: silentLogger });
      return { slow, isPaused: () => isPaused, resume: () => resume() };
    }

    const partitions = (count: number) => ({
      default_statistic: { messages_per_minute: 1, message_size: 1, read_parallelism: count, write_parallelism: 1 },
    });
    /** The effect of ten seconds. */
    const runOut = (): Promise<void> => broker.coordination.releaseClaim('event-type/orders');

    /** Whichever process won, the topic matches the event type and keeps what is published to it. */
    async function expectCreated(count: number): Promise<void> {
      expect((await eventTypes.get('orders')).partitionCount).to.equal(count);
      expect((await topic('orders'))?.partitionCount).to.equal(count);
      const offset = await appendTo(broker.log, { topic: 'orders', partition: count - 1 }, records('1'));
      expect(offset).to.equal(0);
    }

    it('creates nothing when another process created the type while this one was creating the topic', async () => {
      const { slow, isPaused, resume } = await startPausing((log, pause) => ({
        createTopic: async (configuration) => {
          await log.createTopic(configuration);
          await pause();
        },
      }));
      const creating = codeOf(slow.create(definition('orders', partitions(4))));
      await eventually(isPaused);
      await runOut();
      await eventTypes.create(definition('orders', partitions(2)));
      resume();
      expect(await creating).to.equal('CONFLICT');
      await expectCreated(2);
      await slow.addSchema('orders', schemaOf('a')).catch(() => {});
      expect((await slow.get('orders')).partitionCount).to.equal(2);
    });

    it('creates nothing when the topic is created only after another process created the event type', async () => {
      const { slow, isPaused, resume } = await startPausing((log, pause) => ({
        createTopic: async (configuration) => {
          await pause();
          await log.createTopic(configuration);
        },
      }));
      const creating = codeOf(slow.create(definition('orders', partitions(4))));
      await eventually(isPaused);
      await runOut();
      await eventTypes.create(definition('orders', partitions(2)));
      resume();
      expect(await creating).to.equal('CONFLICT');
      await expectCreated(2);
    });

    it('loses no topic when another process treats it as half-created while the first one registers it', async () => {
      const first = await startPausing((log, pause) => ({
        createTopic: async (configuration) => {
          await log.createTopic(configuration);
          await pause();
        },
      }));
      const creating = codeOf(first.slow.create(definition('orders', partitions(4))));
      await eventually(first.isPaused);
      await runOut();
      // The other process has seen that the topic is not registered, and is about to create it again.
      const second = await startPausing((log, pause) => ({
        endOffsets: async (requested, options) => {
          const found = await log.endOffsets(requested, options);
          if (requested.some((partition) => partition.topic === 'orders')) await pause();
          return found;
        },
      }));
      const adopting = second.slow.create(definition('orders', partitions(2)));
      await eventually(second.isPaused, 10_000);
      first.resume();
      expect(await creating).to.equal('CONFLICT');
      second.resume();
      await adopting;
      await broker.registry.catchUp();
      await expectCreated(2);
    });

    it('changes nothing when another request changed the type first, and loses no version of a schema', async () => {
      await eventTypes.create(definition('orders', { compatibility_mode: 'none' }));
      let isSlow = false;
      const { slow, isPaused, resume } = await startPausing((log, pause) => ({
        append: async (partitionRecords, ...rest) => {
          if (isSlow) {
            isSlow = false;
            await pause();
          }
          return log.append(partitionRecords, ...rest);
        },
      }));
      isSlow = true;
      const changing = codeOf(slow.addSchema('orders', schemaOf('a', 'slow')));
      await eventually(isPaused);
      await runOut();
      await eventTypes.addSchema('orders', schemaOf('a', 'quick'));
      const versions = (await eventTypes.schemas('orders')).length;
      resume();
      expect(await changing).to.equal('CONFLICT');
      expect((await eventTypes.get('orders')).eventType.schema.schema).to.include('quick');
      expect(await eventTypes.schemas('orders')).to.have.length(versions);
      const third = await otherProcess();
      expect(await third.get('orders')).to.deep.equal(await eventTypes.get('orders'));
    });

    it('does not delete the topic of an event type that was created again in the meantime', async () => {
      await eventTypes.create(definition('orders'));
      let catchUps = -Infinity;
      const { slow, isPaused, resume } = await startPausing((log, pause) => ({
        endOffsets: async (requested, options) => {
          // The first check comes with the claim, the second before the topic is deleted.
          if (requested.some((partition) => partition.topic === registryTopic) && (catchUps += 1) === 2) await pause();
          return log.endOffsets(requested, options);
        },
      }));
      catchUps = 0;
      const removing = codeOf(slow.remove('orders'));
      await eventually(isPaused);
      await runOut();
      await eventTypes.remove('orders');
      await eventTypes.create(definition('orders', partitions(3)));
      resume();
      expect(await removing).to.equal('CONFLICT');
      await expectCreated(3);
    });
  });

  describe('registerSystemEventTypes', () => {
    const system: SystemEventType = {
      name: 'lendstream.loan-commands',
      schema: { type: 'object', properties: { metadata: { type: 'object' }, type: { type: 'string' } } },
      partitionCount: 12,
      partitionKeyFields: ['loanAccountId', 'loanProductId'],
      retentionMilliseconds: 1_000_000_000,
      absentKeyFieldsAllowed: true,
    };

    it('creates them once, and changes nothing the second time', async () => {
      await eventTypes.registerSystemEventTypes([system]);
      const record = await eventTypes.get(system.name);
      expect(record).to.include({ partitionCount: 12, system: true, absentKeyFieldsAllowed: true });
      expect(record.eventType).to.include({ category: 'business', partition_strategy: 'hash' });
      expect(await topic(system.name)).to.include({ partitionCount: 12, retentionMilliseconds: 1_000_000_000 });
      await eventTypes.registerSystemEventTypes([system]);
      expect(await eventTypes.get(system.name)).to.equal(record);
    });

    it('creates the topics that are missing before it claims their types, and claims none that is registered', async () => {
      const [orders, payments, loans] = ['orders', 'payments', 'loans'].map((name) => ({ ...system, name }));
      if (orders === undefined || payments === undefined || loans === undefined) throw new Error('There are three.');
      const { eventTypes: starting, steps } = withSteps();
      for (const [types, expected] of [
        [[orders], ['list', 'create orders', 'list', 'claim event-type/orders']],
        [[orders], ['list']],
        [
          [orders, payments, loans],
          ['list', 'create payments', 'create loans', 'list', 'claim event-type/payments', 'claim event-type/loans'],
        ],
        [[orders, payments, loans], ['list']],
        [
          [orders, { ...loans, retentionMilliseconds: 5 }],
          ['list', 'claim event-type/loans', 'change loans'],
        ],
      ] as const) {
        steps.length = 0;
        await starting.registerSystemEventTypes(types);
        expect(steps).to.deep.equal(expected);
      }
    });

    it('creates them once when several processes start at the same time', async () => {
      const types = [system, { ...system, name: 'lendstream.other', partitionCount: 1 }];
      const processes = [eventTypes, await otherProcess(), await otherProcess()];
      await Promise.all(processes.map((starting) => starting.registerSystemEventTypes(types)));
      for (const { name } of types) {
        for (const started of processes) expect(await started.get(name)).to.deep.equal(await eventTypes.get(name));
      }
      const stored = await storedTexts(broker.log, registryTopic);
      expect(stored).to.have.length(types.length);
    });

    it('gives a changed schema the next version and passes changed retention on', async () => {
      await eventTypes.registerSystemEventTypes([system]);
      const properties = { type: { type: 'string' }, note: { type: 'string' } };
      await eventTypes.registerSystemEventTypes([
        { ...system, schema: { type: 'object', properties }, retentionMilliseconds: 5 },
      ]);
      expect((await eventTypes.schemas(system.name)).map(({ version }) => version)).to.deep.equal(['2.0.0', '1.0.0']);
      expect(await topic(system.name)).to.include({ retentionMilliseconds: 5 });
    });

    it('refuses to start with another number of partitions', async () => {
      await eventTypes.registerSystemEventTypes([system]);
      const more = [{ ...system, partitionCount: 13 }];
      expect(await codeOf(eventTypes.registerSystemEventTypes(more))).to.equal('CONFIGURATION_INVALID');
    });

    it('protects their number of partitions', async () => {
      await eventTypes.registerSystemEventTypes([system]);
      expect(await codeOf(eventTypes.setPartitionCount(system.name, 13))).to.equal('FORBIDDEN');
    });

    it('protects them against change and deletion by admins', async () => {
      await eventTypes.registerSystemEventTypes([system]);
      const wanted = { ...definition('orders'), name: system.name };
      expect(await codeOf(eventTypes.update(system.name, wanted))).to.equal('FORBIDDEN');
      expect(await codeOf(eventTypes.addSchema(system.name, '{}'))).to.equal('FORBIDDEN');
      expect(await codeOf(eventTypes.remove(system.name))).to.equal('FORBIDDEN');
    });
  });

  it('lists types by name, each once, also after a change', async () => {
    for (const name of ['b', 'a', 'c']) await eventTypes.create(definition(name));
    const names = (): string[] => eventTypes.list().map(({ eventType }) => eventType.name);
    expect(names()).to.deep.equal(['a', 'b', 'c']);
    await eventTypes.setPartitionCount('b', 2);
    expect(names()).to.deep.equal(['a', 'b', 'c']);
  });
});
