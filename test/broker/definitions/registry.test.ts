import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { Registry, registryKey, registryTopic } from '../../../src/broker/definitions/registry.ts';
import { catchUpMillisecondsMaximum } from '../../../src/broker/log/topic-tail.ts';
import type { RegistryChange } from '../../../src/broker/definitions/registry.ts';
import { systemClock } from '../../../src/clock.ts';
import { Health } from '../../../src/health.ts';
import { silentLogger } from '../../../src/logger.ts';
import type { EventLog } from '../../../src/ports/event-log.ts';
import { compactLog, openOwnLog, type OwnLog } from '../../support/backend-under-test.ts';
import { eventually } from '../../support/eventually.ts';
import { codeOf, readAll } from '../../support/log-reading.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { overriding } from '../../support/stepping-log.ts';

describe('the registry', () => {
  let temporary: OwnLog;
  let registries: Registry[] = [];

  beforeEach(async () => {
    temporary = await openOwnLog();
  });
  afterEach(async () => {
    await Promise.all(registries.map((registry) => registry.stop()));
    registries = [];
    await temporary.cleanup();
  });

  async function started(): Promise<Registry> {
    const registry = new Registry(temporary.log, silentLogger);
    registries.push(registry);
    await registry.start();
    return registry;
  }

  /** A registry that receives everything a little later, and that reports when it requests the end of the log. */
  async function startedLate(onEndOffsets: () => void): Promise<Registry> {
    const { log } = temporary;
    const slow = overriding<EventLog>(log, {
      read: async (from, options) => {
        const result = await log.read(from, options);
        await new Promise((resolve) => setTimeout(resolve, 20));
        return result;
      },
      endOffsets: async (partitions, options) => {
        onEndOffsets();
        return log.endOffsets(partitions, options);
      },
    });
    const registry = new Registry(slow, silentLogger);
    registries.push(registry);
    await registry.start();
    return registry;
  }

  it('creates its topic once, compacted and with one partition', async () => {
    await started();
    await started();
    const topics = (await temporary.log.listTopics()).filter(({ name }) => name === registryTopic);
    expect(topics).to.have.length(1);
    expect(topics[0]).to.include({ cleanupPolicy: 'compact', partitionCount: 1 });
  });

  it('has a version that changes with every definition, and is the same on every process', async () => {
    const [registry, other] = [await started(), await started()];
    const versions = [registry.version];
    await registry.put('toggle', 'a', 1);
    versions.push(registry.version);
    await registry.put('toggle', 'a', 1);
    versions.push(registry.version);
    await registry.remove('toggle', 'a');
    versions.push(registry.version);
    expect(new Set(versions).size).to.equal(versions.length);
    await eventually(() => other.version === registry.version);
    expect((await started()).version).to.equal(registry.version);
  });

  it('can be started by several processes at the same time', async () => {
    const all = await Promise.all([started(), started(), started()]);
    await all[0]?.put('toggle', 't', true);
    for (const registry of all) expect(await registry.find('toggle', 't')).to.equal(true);
  });

  it('finds what another process just stored, and reads known definitions without reading the log', async () => {
    let boundsCalls = 0;
    const late = await startedLate(() => (boundsCalls += 1));
    const early = await started();
    await early.put('toggle', 't', true);
    const before = boundsCalls;
    expect(late.get('toggle', 't')).to.equal(undefined);
    expect(await late.find('toggle', 't')).to.equal(true);
    expect(boundsCalls).to.equal(before + 1);
    expect(await late.find('toggle', 't')).to.equal(true);
    expect(boundsCalls).to.equal(before + 1);
  });

  it('reads the log only a few times, however many unknown names are requested', async () => {
    let boundsCalls = 0;
    const registry = await startedLate(() => (boundsCalls += 1));
    const before = boundsCalls;
    const startedAt = performance.now();
    const findRepeatedly = async (): Promise<void> => {
      for (let round = 0; round < 5; round += 1) expect(await registry.find('toggle', 'nobody')).to.equal(undefined);
    };
    await Promise.all(Array.from({ length: 200 }, findRepeatedly));
    expect(boundsCalls - before).to.be.lessThan((performance.now() - startedAt) / 20 + 2);
  });

  it('does not report a definition as unknown when the log cannot be read', async () => {
    const registry = await started();
    await temporary.log.close();
    expect(await codeOf(registry.find('toggle', 't'))).to.equal('LOG_CLOSED');
    await temporary.reopen();
  });

  it('returns a definition as soon as it is stored, by its kind and name', async () => {
    const registry = await started();
    await registry.put('event-type', 'orders', { name: 'orders', partitions: 3 });
    await registry.put('toggle', 'orders', { enabled: true });
    await registry.put('event-type', 'a/b', { name: 'a/b' });
    expect(registry.get('event-type', 'orders')).to.deep.equal({ name: 'orders', partitions: 3 });
    expect(registry.get('toggle', 'orders')).to.deep.equal({ enabled: true });
    expect(registry.get('subscription', 'orders')).to.equal(undefined);
    expect(registry.list('subscription')).to.deep.equal([]);
    expect(registry.list('event-type')).to.have.deep.members([{ name: 'orders', partitions: 3 }, { name: 'a/b' }]);
  });

  it('replaces and removes definitions', async () => {
    const registry = await started();
    await registry.put('product', 'p', { version: 1 });
    await registry.put('product', 'p', { version: 2 });
    expect(registry.get('product', 'p')).to.deep.equal({ version: 2 });
    await registry.remove('product', 'p');
    expect(registry.get('product', 'p')).to.equal(undefined);
    expect(registry.list('product')).to.deep.equal([]);
    await registry.remove('product', 'p');
  });

  it('finds definitions by more than their name and in an order, from before the first look and after it', async () => {
    const registry = await started();
    interface Product {
      readonly colour: string;
      readonly rank: number;
    }
    const byColour = { kind: 'product', keysOf: ({ colour }: Product) => [colour] } as const;
    const byRank = {
      kind: 'product',
      compare: (left: Product, right: Product) => left.rank - right.rank,
    } as const;
    const found = (): unknown[] => [
      registry.hasBy(byColour, 'red'),
      registry.listBy(byColour, 'red').map(({ rank }) => rank),
      registry.listSorted(byRank).map(({ rank }) => rank),
    ];
    expect(found()).to.deep.equal([false, [], []]);
    await registry.put('product', 'b', { colour: 'red', rank: 2 });
    const other = await started();
    await registry.put('toggle', 'a', { colour: 'red', rank: 0 });
    await registry.put('product', 'a', { colour: 'red', rank: 1 });
    expect(found()).to.deep.equal([true, [2, 1], [1, 2]]);
    await registry.revise('product', 'b').put({ colour: 'blue', rank: 0 });
    expect(found()).to.deep.equal([true, [1], [0, 1]]);
    await registry.remove('product', 'a');
    expect(found()).to.deep.equal([false, [], [0]]);
    await other.catchUp();
    expect(other.listSorted(byRank)).to.deep.equal([{ colour: 'blue', rank: 0 }]);
  });

  it('is the same for every follower, and after a restart and a compaction', async () => {
    const first = await started();
    const second = await started();
    await first.put('subscription', 's1', { id: 's1' });
    await second.put('subscription', 's2', { id: 's2' });
    await first.remove('subscription', 's1');
    const bounds = await temporary.log.bounds([{ topic: registryTopic, partition: 0 }]);
    await second.waitUntilApplied(bounds[0]?.latest ?? 0);
    await first.waitUntilApplied(bounds[0]?.latest ?? 0);
    expect(first.list('subscription')).to.deep.equal([{ id: 's2' }]);
    expect(second.list('subscription')).to.deep.equal([{ id: 's2' }]);

    await Promise.all(registries.map((registry) => registry.stop()));
    await compactLog(temporary.log);
    await temporary.reopen();
    const third = await started();
    expect(third.list('subscription')).to.deep.equal([{ id: 's2' }]);
  });

  it('notifies every listener of each change, in order, until it stops listening', async () => {
    const registry = await started();
    const changes: RegistryChange[] = [];
    const stopListening = registry.onChange((change) => changes.push(change));
    await registry.put('toggle', 't', true);
    await registry.remove('toggle', 't');
    stopListening();
    await registry.put('toggle', 't', false);
    expect(changes).to.deep.equal([
      { kind: 'toggle', name: 't', value: true },
      { kind: 'toggle', name: 't', value: null },
    ]);
  });

  it('fails a change that the log refuses, and stays unchanged', async () => {
    const registry = await started();
    await registry.put('toggle', 't', true);
    const tooLarge = 'x'.repeat(9 * 1024 * 1024);
    expect(await codeOf(registry.put('toggle', 't', tooLarge))).to.equal('RECORD_TOO_LARGE');
    expect(registry.get('toggle', 't')).to.equal(true);
  });

  describe('with two changes based on the same state', () => {
    const stored = async (): Promise<(string | null)[]> =>
      (await readAll(temporary.log, { topic: registryTopic, partition: 0 })).map(({ value }) => value);

    const afterCompaction = async (): Promise<Registry> => {
      await Promise.all(registries.map((registry) => registry.stop()));
      await compactLog(temporary.log);
      await temporary.reopen();
      return started();
    };

    it('accepts the first for all processes, and reports a conflict to the second', async () => {
      const [first, second] = [await started(), await started()];
      const early = first.revise('event-type', 'orders');
      const late = second.revise('event-type', 'orders');
      await early.put({ partitions: 1 });
      expect(await codeOf(late.put({ partitions: 2 }))).to.equal('CONFLICT');
      expect(await codeOf(late.put({ partitions: 3 })), 'and stays refused').to.equal('CONFLICT');
      await first.catchUp();
      for (const registry of [first, second, await started()]) {
        expect(registry.get('event-type', 'orders')).to.deep.equal({ partitions: 1 });
      }
      await early.put({ partitions: 4 });
      await second.catchUp();
      expect(second.get('event-type', 'orders')).to.deep.equal({ partitions: 4 });
    });

    it('accepts exactly one of twenty concurrent changes', async () => {
      const both = [await started(), await started()];
      const changes = Array.from({ length: 20 }, (_, number) =>
        (both[number % 2] as Registry).revise('subscription', 's').put({ number }),
      );
      const codes = await Promise.all(changes.map(codeOf));
      expect(codes.filter((code) => code === null)).to.have.length(1);
      const winner = codes.indexOf(null);
      await Promise.all(both.map((registry) => registry.catchUp()));
      for (const registry of both) expect(registry.get('subscription', 's')).to.deep.equal({ number: winner });
    });

    it('never shows the second after a compaction, which keeps the last record of a key', async () => {
      const [first, second] = [await started(), await started()];
      const late = second.revise('event-type', 'orders');
      await first.revise('event-type', 'orders').put({ partitions: 1 });
      await codeOf(late.put({ partitions: 2 }));
      expect((await afterCompaction()).get('event-type', 'orders')).to.deep.equal({ partitions: 1 });
    });

    it('never shows the second when its process died before it could store the first again', async () => {
      const first = await started();
      await first.revise('event-type', 'orders').put({ partitions: 1 });
      const late = { key: 'event-type/orders', value: Buffer.from('{"revision":1,"value":{"partitions":2}}') };
      await temporary.log.append([{ topic: registryTopic, partition: 0, records: [late] }]);
      await eventually(async () => (await stored()).at(-1)?.includes('"partitions":1') === true);
      expect(first.get('event-type', 'orders')).to.deep.equal({ partitions: 1 });
      expect((await afterCompaction()).get('event-type', 'orders')).to.deep.equal({ partitions: 1 });
    });

    it('never shows the second when all processes died, because the next one that starts corrects it', async () => {
      const first = await started();
      await first.revise('event-type', 'orders').put({ partitions: 1 });
      await first.stop();
      const late = { key: 'event-type/orders', value: Buffer.from('{"revision":1,"value":{"partitions":2}}') };
      await temporary.log.append([{ topic: registryTopic, partition: 0, records: [late] }]);
      const next = await started();
      expect(next.get('event-type', 'orders')).to.deep.equal({ partitions: 1 });
      await eventually(async () => (await stored()).at(-1)?.includes('"partitions":1') === true);
    });

    it('corrects the second after a second, unless another process has done so by then', async () => {
      const clock = new SimulatedClock();
      const correct: string[] = [];
      const log = overriding<EventLog>(temporary.log, {
        append: (partitions) => {
          correct.push(...partitions.flatMap(({ records }) => records.map(({ value }) => String(value))));
          return temporary.log.append(partitions);
        },
      });
      const first = await started();
      await first.revise('event-type', 'orders').put({ partitions: 1 });
      await first.stop();
      const watching = new Registry(log, silentLogger, undefined, clock);
      registries.push(watching);
      await watching.start();
      const store = async (value: string): Promise<void> => {
        const records = [{ key: 'event-type/orders', value: Buffer.from(value) }];
        await temporary.log.append([{ topic: registryTopic, partition: 0, records }]);
        const [bounds] = await temporary.log.bounds([{ topic: registryTopic, partition: 0 }]);
        await watching.waitUntilApplied(bounds?.latest ?? 0);
      };
      const inForce = '{"revision":1,"value":{"partitions":1}}';
      const late = '{"revision":1,"value":{"partitions":2}}';
      await store(late);
      await store(inForce);
      await clock.turn(1_000);
      expect(correct, 'by the other process').to.deep.equal([]);
      await store(late);
      await clock.turn(999);
      expect(correct).to.deep.equal([]);
      await clock.turn(1);
      await eventually(() => correct.length > 0);
      expect(correct).to.deep.equal([inForce]);
    });

    it('treats a removal like any other change, and no late change brings the entry back', async () => {
      const [first, second] = [await started(), await started()];
      const begun = first.revise('subscription', 's');
      await begun.put({ id: 's' });
      await second.catchUp();
      const late = second.revise('subscription', 's');
      await begun.remove();
      expect(await codeOf(late.put({ id: 's', labels: {} }))).to.equal('CONFLICT');
      expect(second.get('subscription', 's')).to.equal(undefined);
      const third = await afterCompaction();
      expect(third.list('subscription')).to.deep.equal([]);
      const again = third.revise('subscription', 's');
      await again.put({ id: 's', again: true });
      expect(third.get('subscription', 's')).to.deep.equal({ id: 's', again: true });
    });

    it('ignores a late removal', async () => {
      const [first, second] = [await started(), await started()];
      const begun = first.revise('subscription', 's');
      await begun.put({ version: 1 });
      await second.catchUp();
      const late = second.revise('subscription', 's');
      await begun.put({ version: 2 });
      expect(await codeOf(late.remove())).to.equal('CONFLICT');
      expect(first.get('subscription', 's')).to.deep.equal({ version: 2 });
    });

    it('prevents others from changing a claimed definition, and confirms one that has not changed', async () => {
      const [first, second] = [await started(), await started()];
      const late = first.revise('event-type', 'orders');
      const begun = second.revise('event-type', 'orders');
      await begun.claim();
      expect(second.get('event-type', 'orders')).to.equal(undefined);
      expect(await codeOf(late.put({ partitions: 1 }))).to.equal('CONFLICT');
      await begun.confirm();
      await begun.put({ partitions: 2 });
      await begun.claim();
      expect(second.get('event-type', 'orders')).to.deep.equal({ partitions: 2 });
      await first.catchUp();
      await first.revise('event-type', 'orders').put({ partitions: 3 });
      expect(await codeOf(begun.confirm())).to.equal('CONFLICT');
    });
  });

  it('fails when the changes of others cannot be read in time, and does not report the definition as unknown', async () => {
    const { log } = temporary;
    let isHanging = false;
    const hanging = overriding<EventLog>(log, {
      read: async (from, options) => {
        const result = await log.read(from, options);
        return isHanging ? await new Promise<never>(() => {}) : result;
      },
    });
    const clock = new SimulatedClock();
    const registry = new Registry(hanging, silentLogger, undefined, clock);
    await registry.start();
    const other = await started();
    isHanging = true;
    await other.put('toggle', 't', true);
    let code: unknown;
    const finding = codeOf(registry.find('toggle', 't')).then((found) => (code = found));
    // The pause between two catch-ups.
    await clock.turn(20);
    await eventually(() => clock.nextDeadline() === catchUpMillisecondsMaximum);
    await clock.turn(catchUpMillisecondsMaximum - 21);
    expect(code).to.equal(undefined);
    await clock.turn(1);
    await finding;
    expect(code).to.equal('LOG_UNAVAILABLE');
  });

  it('is not ready when it stops following, because its definitions are outdated from then on', async () => {
    const health = new Health(systemClock);
    const registry = new Registry(temporary.log, silentLogger, health.part('definitions'));
    registries.push(registry);
    await registry.start();
    expect(health.notReadyReasons()).to.deep.equal([]);
    const records = [{ key: 'toggle/t', value: Buffer.from('no JSON') }];
    await temporary.log.append([{ topic: registryTopic, partition: 0, records }]);
    await registry.catchUp().catch(() => {});
    expect(health.notReadyReasons().join()).to.include('no longer followed');
  });

  it('builds a key of kind and name', () => {
    expect(registryKey('event-type', 'orders')).to.equal('event-type/orders');
  });
});
