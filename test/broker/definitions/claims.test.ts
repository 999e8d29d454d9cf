import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { type ClaimServices, whileClaimed } from '../../../src/broker/definitions/claims.ts';
import { Registry } from '../../../src/broker/definitions/registry.ts';
import { silentLogger } from '../../../src/logger.ts';
import { codeOf } from '../../support/log-reading.ts';
import { eventually } from '../../support/eventually.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { openSubscriptionStore, type SubscriptionStore } from '../../support/subscription-store.ts';

describe('work under a claim', () => {
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

  const nothing = (): undefined => undefined;
  const other = (): ClaimServices => ({ ...store, registry: otherRegistry });

  it('is done by one after the other, each seeing what the last one did', async () => {
    const countUp = (services: ClaimServices) =>
      whileClaimed(services, 'toggle', 't', nothing, async () => {
        const count = services.registry.get<number>('toggle', 't') ?? 0;
        await services.registry.put('toggle', 't', count + 1);
        return count;
      });
    const counts = await Promise.all([store, other(), store, other()].map(countUp));
    expect(counts).to.have.members([0, 1, 2, 3]);
  });

  it('is not done again by who waited, when the first one settled it', async () => {
    const create = (services: ClaimServices, value: string) =>
      whileClaimed(
        services,
        'toggle',
        't',
        () => services.registry.get<string>('toggle', 't'),
        async () => {
          await services.registry.put('toggle', 't', value);
          return 'created';
        },
      );
    const results = await Promise.all([create(store, 'first'), create(other(), 'second')]);
    expect(results.sort()).to.deep.equal(['created', 'first']);
  });

  it('leaves others alone', async () => {
    let finish = (): void => {};
    const held = whileClaimed(
      store,
      'toggle',
      'held',
      nothing,
      () => new Promise<void>((resolve) => (finish = resolve)),
    );
    expect(await whileClaimed(other(), 'product', 'held', nothing, async () => 'done')).to.equal('done');
    finish();
    await held;
  });

  it('frees the name when it fails', async () => {
    const failing = whileClaimed(store, 'toggle', 't', nothing, () => Promise.reject(new Error('No.')));
    expect(await failing.catch((error: Error) => error.message)).to.equal('No.');
    expect(await whileClaimed(other(), 'toggle', 't', nothing, async () => 'done')).to.equal('done');
  });

  it('is given up when others take too long', async () => {
    let finish = (): void => {};
    const held = whileClaimed(store, 'toggle', 't', nothing, () => new Promise<void>((resolve) => (finish = resolve)));
    const clock = new SimulatedClock();
    let code: unknown;
    const waiting = whileClaimed({ ...other(), clock }, 'toggle', 't', nothing, async () => {});
    void codeOf(waiting).then((found) => (code = found));
    // Each look at the claim takes real time on the cluster.
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
    finish();
    await held;
  });

  it('does not count when its claim ran out and others came first, and the late one is told', async () => {
    let finish = (): void => {};
    let begun = false;
    const slow = whileClaimed(store, 'event-type', 't', nothing, async (revision) => {
      begun = true;
      await new Promise<void>((resolve) => (finish = resolve));
      await revision.put('slow');
    });
    await eventually(() => begun);
    // As it is after ten seconds.
    await store.coordination.releaseClaim('event-type/t');
    await whileClaimed(other(), 'event-type', 't', nothing, (revision) => revision.put('quick'));
    finish();
    expect(await codeOf(slow)).to.equal('CONFLICT');
    expect(store.registry.get('event-type', 't')).to.equal('quick');
    expect(otherRegistry.get('event-type', 't')).to.equal('quick');
  });

  it('is settled by whoever came first, when that is what was asked for', async () => {
    let finish = (): void => {};
    let begun = false;
    const slow = whileClaimed(
      store,
      'subscription',
      't',
      () => store.registry.get<string>('subscription', 't'),
      async (revision) => {
        begun = true;
        await new Promise<void>((resolve) => (finish = resolve));
        await revision.put('slow');
        return 'slow';
      },
    );
    await eventually(() => begun);
    await store.coordination.releaseClaim('subscription/t');
    await whileClaimed(other(), 'subscription', 't', nothing, (revision) => revision.put('quick'));
    finish();
    expect(await slow).to.equal('quick');
  });

  it('does not free a claim that ran out, for it may be somebody else’s', async () => {
    const clock = new SimulatedClock();
    let finish = (): void => {};
    let begun = false;
    const slow = whileClaimed(
      { ...store, clock },
      'toggle',
      't',
      nothing,
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
