import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { TopicTail } from '../../../src/broker/log/topic-tail.ts';
import type { TopicTailOptions } from '../../../src/broker/log/topic-tail.ts';
import { LendstreamError } from '../../../src/errors.ts';
import { Health, type HealthPart } from '../../../src/health.ts';
import { silentLogger } from '../../../src/logger.ts';
import type { EventLog } from '../../../src/ports/event-log.ts';
import { compactLog, isClusterUnderTest, openOwnLog, type OwnLog } from '../../support/backend-under-test.ts';
import { eventually } from '../../support/eventually.ts';
import { lateLog } from '../../support/late-log.ts';
import { appendTo, codeOf, keyed, recordsOf } from '../../support/log-reading.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { overriding } from '../../support/stepping-log.ts';

const topic = 'states';

describe('following a topic', () => {
  let temporary: OwnLog;
  let tails: TopicTail[] = [];
  let applied: string[] = [];

  beforeEach(async () => {
    applied = [];
    temporary = await openOwnLog();
    await temporary.log.createTopic({
      name: topic,
      partitionCount: 2,
      cleanupPolicy: 'compact',
      retentionMilliseconds: 0,
    });
  });
  afterEach(async () => {
    await Promise.all(tails.map((tail) => tail.stop()));
    tails = [];
    await temporary.cleanup();
  });

  function newTail(options: Partial<TopicTailOptions> = {}): TopicTail {
    const tail = new TopicTail({
      log: temporary.log,
      topic,
      partitionCount: 2,
      logger: silentLogger,
      apply: (batches) => {
        for (const batch of batches) {
          for (const { key, value } of recordsOf(batch)) applied.push(`${batch.partition}:${key}=${value}`);
        }
      },
      ...options,
    });
    tails.push(tail);
    return tail;
  }

  function put(partition: number, key: string, value: string | null): Promise<number> {
    return appendTo(temporary.log, { topic, partition }, [keyed(key, value)]);
  }

  it('has applied all existing records when its start returns, and continues', async () => {
    await put(0, 'a', '1');
    await put(1, 'b', '1');
    await put(0, 'a', '2');
    const tail = newTail();
    await tail.start();
    expect(applied.filter((each) => each.startsWith('0:'))).to.deep.equal(['0:a=1', '0:a=2']);
    expect(applied).to.include('1:b=1');
    const offset = await put(1, 'b', null);
    await tail.waitUntilApplied(1, offset + 1);
    expect(applied.at(-1)).to.equal('1:b=null');
    expect(tail.position(1)).to.be.above(offset);
  });

  it('starts at the given position', async () => {
    await put(0, 'a', '1');
    const from = await put(0, 'a', '2');
    await put(1, 'b', '1');
    await newTail({ startOffsets: new Map([[0, from]]) }).start();
    expect(applied).to.have.members(['0:a=2', '1:b=1']);
  });

  it('starts although compaction removed the last records', async () => {
    await put(0, 'a', '1');
    await put(0, 'a', null);
    await compactLog(temporary.log);
    const tail = newTail();
    await tail.start();
    // Kafka compacts at its own time.
    expect(applied).to.deep.equal(isClusterUnderTest() ? ['0:a=1', '0:a=null'] : []);
    applied.length = 0;
    const offset = await put(0, 'c', '1');
    await tail.waitUntilApplied(0, offset + 1);
    expect(applied).to.deep.equal(['0:c=1']);
  });

  describe('looking up what another process may have just stored', () => {
    it('returns a known entry in the next microtask, without a request to the log', async () => {
      const late = lateLog(temporary.log, topic);
      const tail = newTail({ log: late.log });
      await tail.start();
      const before = late.requests;
      let found: number | undefined;
      void tail.find(() => 7).then((value) => (found = value));
      await Promise.resolve();
      expect(found).to.equal(7);
      expect(late.requests).to.equal(before);
    });

    it('sends one request to the log for all concurrent lookups of unknown entries, and looks up each twice', async () => {
      const late = lateLog(temporary.log, topic);
      const tail = newTail({ log: late.log });
      await tail.start();
      late.holdBack();
      await put(1, 'b', '1');
      const before = late.requests;
      let lookUps = 0;
      const lookUp = (wanted: string) => (): string | undefined => {
        lookUps += 1;
        return applied.find((each) => each === wanted);
      };
      const found = await Promise.all(['1:b=1', '1:b=2', '0:b=1'].map((wanted) => tail.find(lookUp(wanted))));
      expect(found).to.deep.equal(['1:b=1', undefined, undefined]);
      expect(late.requests - before).to.equal(1);
      expect(lookUps).to.equal(6);
    });

    it('fails when the lookup fails, and when the topic is no longer followed', async () => {
      const tail = newTail();
      await tail.start();
      const failure = new Error('cannot be read');
      const failing = tail.find(() => {
        throw failure;
      });
      expect(await failing.catch((error: unknown) => error)).to.equal(failure);
      await put(0, 'a', '1');
      await tail.stop();
      await put(0, 'a', '2');
      expect(await codeOf(tail.find(() => undefined))).to.equal('LOG_CLOSED');
    });
  });

  it('applies the batches of a partition one at a time, in order', async () => {
    let running = 0;
    const order: (string | null)[] = [];
    const tail = newTail({
      apply: async (batches) => {
        if (batches[0]?.partition !== 0) return;
        running += 1;
        expect(running).to.equal(1);
        await new Promise((resolve) => setImmediate(resolve));
        order.push(...batches.flatMap(recordsOf).map(({ value }) => value));
        running -= 1;
      },
    });
    await tail.start();
    const values = Array.from({ length: 20 }, (_, index) => `${index}`);
    let last = 0;
    for (const value of values) last = await put(0, 'a', value);
    await tail.waitUntilApplied(0, last + 1);
    expect(order).to.deep.equal(values);
  });

  it('leaves out what was applied in another way, also while it is being read', async () => {
    const isRead: (() => void)[] = [];
    const tail = newTail({
      log: overriding<EventLog>(temporary.log, {
        read: async (from, options) => {
          const result = await temporary.log.read(from, options);
          if (result.batches.length > 0) await new Promise<void>((resolve) => isRead.push(resolve));
          return result;
        },
      }),
    });
    await tail.start();
    const first = await put(0, 'a', 'directly');
    const waiting = tail.waitUntilApplied(0, first + 1);
    tail.advance(0, first + 1);
    await waiting;
    expect(tail.position(0)).to.equal(first + 1);
    tail.advance(0, first);
    expect(tail.position(0), 'it never goes back').to.equal(first + 1);
    const last = await put(0, 'a', 'from the log');
    const reading = tail.waitUntilApplied(0, last + 1);
    await eventually(() => {
      isRead.shift()?.();
      return applied.length > 0;
    });
    await reading;
    expect(applied).to.deep.equal(['0:a=from the log']);
  });

  it('ends when applying fails, and rejects the waiting calls', async () => {
    const failure = new Error('cannot be applied');
    const tail = newTail({
      apply: () => {
        throw failure;
      },
    });
    await tail.start();
    const waiting = tail.waitUntilApplied(0, 5).catch((error: unknown) => error);
    await put(0, 'a', '1');
    expect(await waiting).to.equal(failure);
    expect(await tail.waitUntilApplied(0, 5).catch((error: unknown) => error)).to.equal(failure);
  });

  it('ends when the topic is deleted', async () => {
    const tail = newTail();
    await tail.start();
    const waiting = codeOf(tail.waitUntilApplied(0, 5));
    await temporary.log.deleteTopic(topic);
    expect(await waiting).to.equal('UNKNOWN_TOPIC_OR_PARTITION');
  });

  describe('reports to the health of the process', () => {
    /** Partitions that cannot be read now. */
    let failing: Set<number>;
    let clock: SimulatedClock;
    let health: HealthPart;
    let ends: Error[];

    beforeEach(() => {
      failing = new Set([0, 1]);
      clock = new SimulatedClock();
      health = new Health(clock).part('copy');
      ends = [];
    });

    async function started(options: Partial<TopicTailOptions> = {}): Promise<TopicTail> {
      const log = overriding<EventLog>(temporary.log, {
        read: async (from, readOptions) => {
          if (failing.has(from.partition)) throw new LendstreamError('LOG_UNAVAILABLE', 'No answer.');
          return temporary.log.read(from, readOptions);
        },
      });
      const tail = newTail({ log, clock, health, onFailure: (error) => ends.push(error), ...options });
      await tail.start();
      return tail;
    }

    /** Lets a partition be read again. */
    async function mend(tail: TopicTail, partition: number): Promise<void> {
      const offset = await put(partition, 'a', '1');
      failing.delete(partition);
      await clock.turn(100);
      await tail.waitUntilApplied(partition, offset + 1);
    }

    it('that it cannot read for ten seconds, until it can read every partition again', async () => {
      const tail = await started();
      await clock.turn(9_900);
      expect(health.ready).to.equal(true);
      await clock.turn(100);
      expect(health.reason).to.match(/^Topic states cannot be read now: /);
      await mend(tail, 0);
      expect(health.ready).to.equal(false);
      await mend(tail, 1);
      expect(health.ready).to.equal(true);
      expect(ends).to.deep.equal([]);
    });

    it('why it has ended, once, and does not become ready when another partition can be read again', async () => {
      const tail = await started({
        apply: ([batch]) => {
          if (batch?.partition === 0) throw new Error('cannot be applied');
        },
      });
      await mend(tail, 0).catch(() => {});
      const reason = 'Topic states is no longer followed: cannot be applied';
      expect(health.reason).to.equal(reason);
      await put(1, 'a', '1');
      failing.delete(1);
      await clock.turn(100);
      await eventually(() => tail.position(1) > 0);
      expect(health.reason).to.equal(reason);
      await temporary.log.deleteTopic(topic);
      await tail.stop();
      expect(ends.map(({ message }) => message)).to.deep.equal(['cannot be applied']);
    });
  });

  it('cancels the timer of a waiting call when it is resolved or rejected', async () => {
    const clock = new SimulatedClock();
    const tail = newTail({ clock });
    await tail.start();
    const offset = await put(0, 'a', '1');
    await tail.waitUntilApplied(0, offset + 1, { milliseconds: 1_000 });
    expect(clock.nextDeadline()).to.equal(Infinity);
    const waiting = codeOf(tail.waitUntilApplied(0, offset + 2, { milliseconds: 1_000 }));
    expect(clock.nextDeadline()).to.equal(1_000);
    await tail.stop();
    expect(await waiting).to.equal('LOG_CLOSED');
    expect(clock.nextDeadline()).to.equal(Infinity);
  });

  it('gives up waiting when the time is over', async () => {
    const clock = new SimulatedClock();
    const tail = newTail({ clock });
    await tail.start();
    let code: unknown;
    void codeOf(tail.waitUntilApplied(0, 1, { milliseconds: 1_000 })).then((found) => (code = found));
    await clock.turn(999);
    expect(code).to.equal(undefined);
    await clock.turn(1);
    expect(code).to.equal('LOG_UNAVAILABLE');
  });

  it('gives up catching up after five seconds, including the time that the log took to name its ends', async () => {
    const clock = new SimulatedClock();
    const log = overriding<EventLog>(temporary.log, {
      endOffsets: async (partitions) => {
        await clock.sleep(2_000);
        return partitions.map((partition) => ({ ...partition, latest: 1 }));
      },
    });
    const tail = newTail({ clock, log });
    await tail.start();
    let code: unknown;
    void codeOf(tail.catchUp()).then((found) => (code = found));
    await clock.turn(4_999);
    expect(code).to.equal(undefined);
    await clock.turn(1);
    expect(code).to.equal('LOG_UNAVAILABLE');
  });

  it('stops on request, and rejects the waiting calls', async () => {
    const tail = newTail();
    await tail.start();
    const waiting = tail.waitUntilApplied(0, 5).then(
      () => 'applied',
      () => 'rejected',
    );
    await tail.stop();
    expect(await waiting).to.equal('rejected');
    await put(0, 'a', '1');
    expect(applied).to.deep.equal([]);
  });
});
