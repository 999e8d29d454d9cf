import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { type LockServices, withLock } from '../../../src/broker/definitions/definition-locks.ts';
import { Registry } from '../../../src/broker/definitions/registry.ts';
import { silentLogger } from '../../../src/logger.ts';
import { codeOf } from '../../support/log-reading.ts';
import { eventually } from '../../support/eventually.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { openSubscriptionStore, type SubscriptionStore } from '../../support/subscription-store.ts';

describe('work under a lock', () => {
  let store: SubscriptionStore;
  let otherRegistry: Registry;

  beforeEach(async () => {
    store = await openSubscriptionStore();
    otherRegistry = new Registry(store.log, silentLogger);
    await otherRegistry.start();
  });
  afterEach(async () => {
    await otherRegistry.stop();
    await store.close();
  });

  const toggle = { kind: 'toggle', name: 't' } as const;
  const eventType = { kind: 'event-type', name: 't' } as const;
  /** Begins work under the lock. What it returns ends the work. */
  async function holdLock(): Promise<() => Promise<void>> {
    let finish = (): void => {};
    let held = Promise.resolve();
    await new Promise<void>((begun) => {
      held = withLock(store, toggle, () => {
        begun();
        return new Promise<void>((resolve) => (finish = resolve));
      });
    });
    return () => {
      finish();
      return held;
    };
  }

  const other = (): LockServices => ({ ...store, registry: otherRegistry });

  it('is done one after another, and each sees the results of those before', async () => {
    const countUp = (services: LockServices) =>
      withLock(services, toggle, async () => {
        const count = services.registry.get<number>('toggle', 't') ?? 0;
        await services.registry.put('toggle', 't', count + 1);
        return count;
      });
    const counts = await Promise.all([store, other(), store, other()].map(countUp));
    expect(counts).to.have.members([0, 1, 2, 3]);
  });

  it('begins after it has read what others stored before', async () => {
    const create = (services: LockServices, value: string) =>
      withLock(services, toggle, async () => {
        const existing = services.registry.get<string>('toggle', 't');
        if (existing !== undefined) return existing;
        await services.registry.put('toggle', 't', value);
        return 'created';
      });
    const results = await Promise.all([create(store, 'first'), create(other(), 'second')]);
    expect(results.filter((result) => result === 'created')).to.have.length(1);
    expect(results.find((result) => result !== 'created')).to.equal(store.registry.get('toggle', 't'));
  });

  it('does not block work under another lock', async () => {
    const release = await holdLock();
    expect(await withLock(other(), { kind: 'product', name: 't' }, async () => 'done')).to.equal('done');
    await release();
  });

  it('releases the lock when it fails', async () => {
    const failing = withLock(store, toggle, () => Promise.reject(new Error('No.')));
    expect(await failing.catch((error: Error) => error.message)).to.equal('No.');
    expect(await withLock(other(), toggle, async () => 'done')).to.equal('done');
  });

  it('is abandoned when others take too long', async () => {
    const release = await holdLock();
    const clock = new SimulatedClock();
    let code: unknown;
    const waiting = withLock({ ...other(), clock }, toggle, async () => {});
    void codeOf(waiting).then((found) => (code = found));
    // Each check of the claim takes real time on the cluster.
    const turnTo = (milliseconds: number): Promise<void> =>
      eventually(async () => {
        const left = Math.min(milliseconds, clock.nextDeadline()) - clock.monotonic();
        if (left > 0 && left < Infinity) await clock.turn(left);
        return code !== undefined || clock.monotonic() >= milliseconds;
      }, 20_000);
    await turnTo(20_000);
    expect(code).to.equal(undefined);
    await turnTo(20_050);
    await eventually(() => code === 'OVERLOADED');
    await release();
  });

  it('is not stored when its claim expired and another change was made first, and fails with an error', async () => {
    let finish = (): void => {};
    let begun = false;
    const slow = withLock(store, eventType, async (revision) => {
      begun = true;
      await new Promise<void>((resolve) => (finish = resolve));
      await revision.put('slow');
    });
    await eventually(() => begun);
    // The state after ten seconds.
    await store.coordination.releaseClaim('event-type/t');
    await withLock(other(), eventType, (revision) => revision.put('quick'));
    finish();
    expect(await codeOf(slow)).to.equal('CONFLICT');
    expect(store.registry.get('event-type', 't')).to.equal('quick');
    expect(otherRegistry.get('event-type', 't')).to.equal('quick');
  });

  it('excludes definitions of other names with the same lock, on any node', async () => {
    let running = 0;
    let most = 0;
    const change = (services: LockServices, name: string) =>
      withLock(services, { kind: 'event-type', name, lockedAs: 'a_b' }, async () => {
        running += 1;
        most = Math.max(most, running);
        await services.registry.put('event-type', name, true);
        running -= 1;
      });
    await Promise.all([change(store, 'a.b'), change(other(), 'a_b'), change(store, 'a_b')]);
    expect(most).to.equal(1);
  });

  it('does not release a claim that expired, because another process may hold it', async () => {
    const clock = new SimulatedClock();
    let finish = (): void => {};
    let begun = false;
    const slow = withLock(
      { ...store, clock },
      toggle,
      () =>
        new Promise<void>((resolve) => {
          begun = true;
          finish = resolve;
        }),
    );
    await eventually(() => begun);
    await clock.turn(10_000);
    finish();
    await slow;
    expect(await store.coordination.claim('toggle/t', 1)).to.equal(false);
  });
});
