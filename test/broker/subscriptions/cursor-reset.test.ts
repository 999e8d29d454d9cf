import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { resetCursors } from '../../../src/broker/subscriptions/cursor-reset.ts';
import type { Coordination } from '../../../src/ports/coordination.ts';
import type { Subscription } from '../../../src/broker/definitions/subscription.ts';
import { eventually } from '../../support/eventually.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { overriding } from '../../support/stepping-log.ts';
import type { SubscriptionStore } from '../../support/subscription-store.ts';
import { cursor, subscribeToLoans, type SubscriptionToLoans } from './subscription-to-loans.ts';
import { failureOf } from '../../support/thrown-errors.ts';

describe('moving a subscription to other positions', () => {
  let loans: SubscriptionToLoans;
  let store: SubscriptionStore;
  let subscription: Subscription;

  beforeEach(async () => {
    loans = await subscribeToLoans();
    ({ store, subscription } = loans);
  });

  afterEach(() => store.close());

  describe('resetting', () => {
    const position = (partition: number, offset: number | string, eventType = 'loans') => ({
      event_type: eventType,
      partition: String(partition),
      offset: String(offset),
    });

    it('moves the named partitions, also backwards, and keeps the others', async () => {
      const streamId = await store.join(subscription);
      await loans.commit(streamId, cursor(0, 100), cursor(1, 5));
      await store.coordination.closeSession(subscription.id, streamId);
      await resetCursors(store, subscription.id, [position(0, 40)]);
      expect(await loans.offsets()).to.deep.equal(['001-0001-000000000000000040', '001-0001-000000000000000005']);
    });

    it('only fixes where a subscription begins when no cursor is named', async () => {
      await resetCursors(store, subscription.id, []);
      expect(await loans.offsets()).to.deep.equal(['001-0001--1', '001-0001--1']);
      const streamId = await store.join(subscription);
      await resetCursors(store, subscription.id, []);
      expect(await loans.results(streamId, cursor(0, 1))).to.deep.equal(['committed']);
    });

    it('waits until the open streams have ended, which may commit until then', async () => {
      const streamId = await store.join(subscription);
      const told: string[] = [];
      store.coordination.watch(subscription.id, (change) => told.push(change));
      const reset = resetCursors(store, subscription.id, [position(0, 40)]);
      await eventually(() => told.includes('reset'));
      const second = await failureOf(resetCursors(store, subscription.id, [position(0, 41)]));
      expect(second.message).to.equal('Cursors reset is already in progress for provided subscription');
      expect(second).to.have.property('code', 'CONFLICT');
      expect(await loans.results(streamId, cursor(1, 3))).to.deep.equal(['committed']);
      await store.coordination.closeSession(subscription.id, streamId);
      await reset;
      expect(await loans.offsets()).to.deep.equal(['001-0001-000000000000000040', '001-0001-000000000000000003']);
      await store.join(subscription);
    });

    /**
     * A reset that waits for a stream, with a clock that is turned by hand.
     * @param isNotified Whether change notifications reach it.
     */
    async function resetUnderStream(isNotified = false) {
      const streamId = await store.join(subscription);
      let reads = 0;
      let notifications = 0;
      const coordination = overriding<Coordination>(store.coordination, {
        watch: (id, listener) =>
          store.coordination.watch(id, (...change) => {
            if (!isNotified) return;
            notifications += 1;
            listener(...change);
          }),
        topology: (id) => {
          reads += 1;
          return store.coordination.topology(id);
        },
      });
      const clock = new SimulatedClock();
      let isOver = false;
      const outcome = resetCursors({ ...store, clock, coordination }, subscription.id, [position(0, 40)]).then(
        () => undefined,
        (error: unknown) => error,
      );
      void outcome.then(() => (isOver = true));
      const untilWaiting = () => eventually(() => isOver || Number.isFinite(clock.nextDeadline()));
      await eventually(() => reads > 0);
      await untilWaiting();
      return {
        streamId,
        outcome,
        isOver: () => isOver,
        reads: () => reads,
        notifications: () => notifications,
        /** Turns the clock, and returns when the reset has reacted to it. */
        turnTo: async (milliseconds: number): Promise<void> => {
          while (clock.monotonic() < milliseconds) {
            await clock.turn(Math.min(1_000, milliseconds - clock.monotonic()));
            await untilWaiting();
          }
        },
      };
    }

    it('gives up after a minute and a second when streams do not end, and changes nothing', async () => {
      const reset = await resetUnderStream();
      await reset.turnTo(60_999);
      expect(reset.isOver()).to.equal(false);
      expect((await store.coordination.topology(subscription.id)).resetting).to.equal(true);
      await reset.turnTo(61_000);
      expect(await reset.outcome).to.include({
        code: 'CONFLICT',
        message: 'The open streams did not end in time, no cursor was changed. Try again.',
      });
      expect(await loans.results(reset.streamId, cursor(0, 2))).to.deep.equal(['committed']);
      expect((await store.coordination.topology(subscription.id)).resetting).to.equal(false);
    });

    it('succeeds when the last stream ends a millisecond before that', async () => {
      const reset = await resetUnderStream();
      await reset.turnTo(60_999);
      await store.coordination.closeSession(subscription.id, reset.streamId);
      await reset.turnTo(61_000);
      expect(await reset.outcome).to.equal(undefined);
      expect((await loans.offsets())[0]).to.equal('001-0001-000000000000000040');
    });

    it('checks every second whether the streams have ended, because a notification may be lost', async () => {
      const reset = await resetUnderStream();
      expect(reset.reads()).to.equal(1);
      await reset.turnTo(999);
      expect(reset.reads()).to.equal(1);
      await reset.turnTo(1_000);
      expect(reset.reads()).to.equal(2);
      await store.coordination.closeSession(subscription.id, reset.streamId);
      await reset.turnTo(2_000);
      await reset.outcome;
    });

    it('waits between these checks, although starting to watch causes a notification', async () => {
      const reset = await resetUnderStream(true);
      await reset.turnTo(10_000);
      expect(reset.notifications()).to.be.at.most(3);
      expect(reset.reads()).to.be.within(10, 11 + reset.notifications());
      await store.coordination.closeSession(subscription.id, reset.streamId);
      expect(await reset.outcome).to.equal(undefined);
      expect(reset.notifications()).to.be.at.least(1);
    });

    const refusedResets: [string, unknown, string][] = [
      [
        'an event type of another subscription',
        [position(0, 1, 'x'), position(0, 1, 'y')],
        'Event type does not belong to subscription: [x, y]',
      ],
      ['an unknown partition', [position(2, 1)], 'non existing partition 2'],
      [
        'a position beyond the end',
        [position(1, 10)],
        'offset 001-0001-000000000000000010 for partition 1 event type loans is unavailable as it lies beyond the last event. PATCH partition offset with valid and available offset',
      ],
      ['missing items', undefined, 'Field "items" must not be null\n'],
    ];
    for (const [what, items, detail] of refusedResets) {
      it(`refuses ${what}`, async () => {
        const failure = await failureOf(resetCursors(store, subscription.id, items));
        expect(failure.message).to.equal(detail);
        expect(await loans.offsets()).to.deep.equal([]);
      });
    }
  });
});
