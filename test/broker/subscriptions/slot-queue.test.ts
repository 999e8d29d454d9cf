import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import { SlotQueue, slotWaitSecondsMaximum } from '../../../src/broker/subscriptions/slot-queue.ts';
import type { OpenSessionResult, Session } from '../../../src/ports/coordination.ts';
import { LendstreamError } from '../../../src/errors.ts';
import { openSubscriptionStore, type SubscriptionStore } from '../../support/subscription-store.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { overriding } from '../../support/stepping-log.ts';

describe('streams that wait for a slot', () => {
  let store: SubscriptionStore;
  /** Two processes. */
  let queues: SlotQueue[];
  let subscription: string;
  let attempts: string[];

  beforeEach(async () => {
    store = await openSubscriptionStore();
    await store.coordination.renewLease('node', 600_000);
    subscription = randomUUID();
    await store.coordination.initialise(subscription, [{ eventType: 'loans', partition: 0, offset: -1 }]);
    attempts = [];
    const coordination = overriding(store.coordination, {
      openSession: (...given) => {
        attempts.push(given[1].streamId);
        return store.coordination.openSession(...given);
      },
    });
    queues = [1, 2].map(() => new SlotQueue({ coordination, clock: store.clock }));
  });

  afterEach(() => store.close());

  const session = (requested: readonly number[] = []): Session => ({
    streamId: randomUUID(),
    nodeId: 'node',
    requestedPartitions: requested.map((partition) => ({ eventType: 'loans', partition })),
    openedAt: 0,
    commitTimeoutMilliseconds: 0,
  });

  /** Opens a stream that holds the only slot. Returns what ends it. */
  async function occupy(requested: readonly number[] = []): Promise<() => Promise<void>> {
    const owner = session(requested);
    expect((await store.coordination.openSession(subscription, owner)).outcome).to.equal('opened');
    return () => store.coordination.closeSession(subscription, owner.streamId);
  }

  function wait(
    process: number,
    waiting: Session,
    { milliseconds = 60_000, signal = new AbortController().signal } = {},
  ): Promise<OpenSessionResult> {
    const queue = queues[process];
    if (queue === undefined) throw new Error('There is no such process');
    return queue.open(subscription, waiting, { milliseconds, signal });
  }

  /** Resolves when each of so many has asked once. */
  async function haveAsked(count: number): Promise<void> {
    while (new Set(attempts).size < count) await store.clock.sleep(5);
    await store.clock.sleep(20);
  }

  it('are served in the order in which they came, over two processes', async () => {
    const free = await occupy();
    const waiting = Array.from({ length: 6 }, () => session());
    const served: string[] = [];
    const all: Promise<void>[] = [];
    for (const [index, each] of waiting.entries()) {
      const opened = wait(index % 2, each).then(async ({ outcome }) => {
        expect(outcome).to.equal('opened');
        served.push(each.streamId);
        await store.coordination.closeSession(subscription, each.streamId);
      });
      all.push(opened);
      await haveAsked(index + 1);
    }
    await free();
    await Promise.all(all);
    expect(served).to.deep.equal(waiting.map(({ streamId }) => streamId));
  });

  it('ask again when something has changed, and then only the first of each process', async () => {
    const free = await occupy();
    const waiting = Array.from({ length: 4 }, () => session());
    const aborting = new AbortController();
    const all = waiting.map((each) => wait(0, each, { signal: aborting.signal }));
    await haveAsked(4);
    // The first may ask once more: Redis says that it listens from now on.
    await store.clock.sleep(300);
    const settled = attempts.length;
    expect(settled).to.be.within(4, 5);
    await store.clock.sleep(300);
    expect(attempts, 'nothing is polled').to.have.length(settled);
    await store.coordination.initialise(subscription, [{ eventType: 'cards', partition: 0, offset: -1 }]);
    expect((await all[0])?.outcome, 'a partition was added').to.equal('opened');
    await store.clock.sleep(100);
    expect(new Set(attempts.slice(settled))).to.deep.equal(
      new Set(waiting.slice(0, 2).map(({ streamId }) => streamId)),
    );
    aborting.abort(new Error('over'));
    await Promise.allSettled(all);
    await free();
  });

  it('are refused as others are when their time is up, and leave no place behind', async () => {
    const free = await occupy();
    const began = store.clock.monotonic();
    expect(await wait(0, session(), { milliseconds: 150 })).to.deep.equal({ outcome: 'no_free_slots', totalSlots: 1 });
    expect(store.clock.monotonic() - began).to.be.at.least(150);
    await free();
    expect((await store.coordination.openSession(subscription, session())).outcome).to.equal('opened');
  });

  it('end with the reason of their signal, and leave no place behind', async () => {
    const free = await occupy();
    const aborting = new AbortController();
    const gone = wait(0, session(), { signal: aborting.signal });
    await haveAsked(1);
    const next = wait(1, session());
    await haveAsked(2);
    await free();
    aborting.abort(new LendstreamError('REQUEST_TIMEOUT', 'gone'));
    const outcome = await gone.catch((error: unknown) => (error as Error).message);
    // The slot may have become free before the signal came.
    if (typeof outcome === 'string') expect(outcome).to.equal('gone');
    else return;
    expect((await next).outcome).to.equal('opened');
  });

  it('get a partition that another stream requested, when that stream ends', async () => {
    const free = await occupy([0]);
    const direct = wait(0, session([0]));
    const auto = wait(0, session());
    await haveAsked(2);
    await free();
    expect((await direct).outcome).to.equal('opened');
    await store.coordination.remove(subscription);
    await auto.catch(() => {});
  });

  it('end when the subscription is deleted', async () => {
    await occupy();
    const waiting = wait(0, session());
    await haveAsked(1);
    await store.coordination.remove(subscription);
    const error: unknown = await waiting.catch((reason: unknown) => reason);
    expect(error).to.have.property('code', 'NOT_FOUND');
  });

  it('ask every five seconds although nothing was reported, and then only the first of a process', async () => {
    const clock = new SimulatedClock();
    const asked: string[] = [];
    let outcome: OpenSessionResult = { outcome: 'resetting' };
    let onAsked = (): void => {};
    const queue = new SlotQueue({
      clock,
      coordination: {
        openSession: async (_subscription, { streamId }) => {
          asked.push(streamId);
          onAsked();
          return outcome;
        },
        closeSession: () => Promise.resolve(),
        watch: (_subscription, listener) => {
          onAsked = () => {
            onAsked = () => {};
            listener('topology');
          };
          return () => {};
        },
      },
    });
    const [first, second] = [session(), session()];
    const signal = new AbortController().signal;
    const open = (waiting: Session) => queue.open(subscription, waiting, { milliseconds: 60_000, signal });
    const opening = [open(first), open(second)];
    await clock.turn(4_999);
    const atFirst = [first.streamId, second.streamId, first.streamId];
    expect(asked, 'something changed while the first one asked').to.deep.equal(atFirst);
    await clock.turn(1);
    expect(asked).to.deep.equal([...atFirst, first.streamId]);
    outcome = { outcome: 'opened' };
    await clock.turn(5_000);
    expect(await Promise.all(opening)).to.deep.equal([outcome, outcome]);
    expect(asked).to.deep.equal([...atFirst, first.streamId, first.streamId, second.streamId]);
  });

  it('may wait for five minutes', () => {
    expect(slotWaitSecondsMaximum).to.equal(300);
  });
});
