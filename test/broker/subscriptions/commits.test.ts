import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import {
  commitCursors,
  cursorsPerCommitMaximum,
  listCursors,
  resetCursors,
  resetMillisecondsMaximum,
} from '../../../src/broker/subscriptions/commits.ts';
import type { Coordination } from '../../../src/ports/coordination.ts';
import type { Subscription } from '../../../src/broker/definitions/subscription.ts';
import { Subscriptions } from '../../../src/broker/subscriptions/subscriptions.ts';
import { eventually } from '../../support/eventually.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { overriding } from '../../support/stepping-log.ts';
import { failureOf, openSubscriptionStore, type SubscriptionStore } from '../../support/subscription-store.ts';

const strangeToken = 'any token will do';

describe('committing cursors', () => {
  let store: SubscriptionStore;
  let subscription: Subscription;

  beforeEach(async () => {
    store = await openSubscriptionStore();
    await store.define('loans', 2);
    await store.publish('loans', 0, 200);
    await store.publish('loans', 1, 10);
    const body = { owning_application: 'core', event_types: ['loans'], read_from: 'begin' };
    subscription = (await new Subscriptions(store).create(body)).subscription;
  });

  afterEach(() => store.close());

  const cursor = (partition: number, offset: number | string) => ({
    partition: String(partition),
    offset: typeof offset === 'string' ? offset : `001-0001-${String(offset).padStart(18, '0')}`,
    event_type: 'loans',
    cursor_token: strangeToken,
  });

  const commit = (streamId: string, ...items: unknown[]) => commitCursors(store, subscription.id, streamId, items);

  const results = async (streamId: string, ...items: unknown[]): Promise<string[]> =>
    (await commit(streamId, ...items)).items.map(({ result }) => result);

  const offsets = async (): Promise<string[]> =>
    (await listCursors(store, subscription.id)).map(({ offset }) => offset);

  it('moves forward and reports a result per cursor, in order', async () => {
    const streamId = await store.join(subscription);
    expect((await commit(streamId, cursor(0, 100))).allCommitted).to.equal(true);
    const mixed = [105, 106, 102, 96, 130].map((offset) => cursor(0, offset));
    const { allCommitted, items } = await commit(streamId, ...mixed);
    expect(allCommitted).to.equal(false);
    expect(items.map(({ result }) => result)).to.deep.equal([
      'committed',
      'committed',
      'outdated',
      'outdated',
      'committed',
    ]);
    expect(items.map((item) => item.cursor)).to.deep.equal(mixed);
    expect(await results(streamId, cursor(0, 120), cursor(0, 121))).to.deep.equal(['outdated', 'outdated']);
  });

  it('accepts plain numbers, the word BEGIN and the cursor of a keep-alive', async () => {
    const streamId = await store.join(subscription);
    for (const offset of ['-1', 'BEGIN', 'begin', '001-0001--1']) {
      expect(await results(streamId, cursor(0, offset))).to.deep.equal(['outdated']);
    }
    expect(await results(streamId, cursor(0, '0'), { ...cursor(0, '25'), partition: 0 })).to.deep.equal([
      'committed',
      'committed',
    ]);
    expect((await offsets())[0]).to.equal('001-0001-000000000000000025');
    expect(await results(streamId, cursor(0, '25'))).to.deep.equal(['outdated']);
  });

  it('accepts offsets ahead in the log, and refuses offsets beyond its end without storing anything', async () => {
    const streamId = await store.join(subscription);
    expect(await results(streamId, cursor(1, 9))).to.deep.equal(['committed']);
    const failure = await failureOf(commit(streamId, cursor(0, 50), cursor(1, 10)));
    expect(failure.message).to.include('001-0001-000000000000000010').and.include('beyond the last event');
    expect(failure).to.have.property('code', 'UNPROCESSABLE');
    expect(await offsets()).to.deep.equal(['001-0001--1', '001-0001-000000000000000009']);
  });

  it('accepts the maximum number of cursors of a commit, in order, and stores nothing of one more', async () => {
    const streamId = await store.join(subscription);
    const most = Array.from({ length: cursorsPerCommitMaximum }, (_, index) => cursor(0, index % 200));
    const failure = await failureOf(commit(streamId, ...most, cursor(0, 1)));
    expect(failure).to.have.property('code', 'UNPROCESSABLE');
    expect(await offsets()).to.deep.equal(['001-0001--1', '001-0001--1']);
    const told = await results(streamId, ...most);
    expect(told.filter((result) => result === 'committed')).to.have.length(200);
    expect(told.slice(0, 201)).to.deep.equal([...Array.from({ length: 200 }, () => 'committed'), 'outdated']);
    expect((await offsets())[0]).to.equal('001-0001-000000000000000199');
  });

  it('refuses the whole request when one partition belongs to another stream', async () => {
    const streamId = await store.join(subscription, [0]);
    const failure = await failureOf(commit(streamId, cursor(0, 5), cursor(1, 5)));
    expect(failure.message).to.equal(
      'Cursor 001-0001-000000000000000005 of partition 1 of event type loans cannot be committed ' +
        `with stream id ${streamId}`,
    );
    expect(await offsets()).to.deep.equal(['001-0001--1', '001-0001--1']);
  });

  it('reports why a stream ended', async () => {
    const streamId = await store.join(subscription);
    await store.coordination.closeSession(subscription.id, streamId);
    const silent = await failureOf(commit(streamId, cursor(0, 5)));
    expect(silent.message).to.match(
      new RegExp(`^Session with stream id ${streamId} not found\\. The stream has ended`),
    );
    const withEndReason = { ...store, endedStreamReason: () => 'Commit timeout reached' };
    const told = await failureOf(commitCursors(withEndReason, subscription.id, streamId, [cursor(0, 5)]));
    expect(told.message).to.include('The stream has ended: Commit timeout reached;');
    expect(told).to.have.property('code', 'UNPROCESSABLE');
  });

  const refused: [string, unknown, string][] = [
    ['no items', undefined, 'Field "items" must not be null\n'],
    ['null items', null, 'Field "items" must not be null\n'],
    ['empty items', [], 'Cursors are empty'],
    ['a null item', [null], 'Field "items[0]" must not be null\n'],
    [
      'an empty item',
      [{}],
      'Field "items[0].event_type" must not be null\nField "items[0].partition" must not be null\nField "items[0].offset" must not be null\nField "items[0].cursor_token" must not be null\n',
    ],
    ['an unknown event type', [{ ...cursor(0, 1), event_type: 'x' }], 'non existing partition 0'],
    ['an unknown partition', [cursor(2, 1)], 'non existing partition 2'],
    ['an invalid offset', [cursor(0, 'x')], 'invalid offset x'],
    ['an offset that is too large', [cursor(0, '999999999999999999')], 'invalid offset 999999999999999999'],
  ];
  for (const [what, items, detail] of refused) {
    it(`refuses ${what}`, async () => {
      const streamId = await store.join(subscription);
      const failure = await failureOf(commitCursors(store, subscription.id, streamId, items));
      expect(failure.message).to.equal(detail);
      expect(failure).to.have.property('code', 'UNPROCESSABLE');
    });
  }

  it('refuses items that are no array of objects as malformed', async () => {
    for (const items of [7, {}, ['x'], [[1]], [{ ...cursor(0, 1), offset: {} }]]) {
      const failure = await failureOf(commitCursors(store, subscription.id, randomUUID(), items));
      expect(failure).to.have.property('code', 'MALFORMED_REQUEST');
    }
  });

  it('refuses unknown subscriptions, stream ids and sessions', async () => {
    expect((await failureOf(commitCursors(store, 'x', randomUUID(), [cursor(0, 1)]))).message).to.equal(
      'Subscription with id "x" does not exist',
    );
    for (const streamId of ['', 'x']) {
      const failure = await failureOf(commit(streamId, cursor(0, 1)));
      expect(failure.message).to.equal(`Stream id has to be valid UUID, but \`${streamId} was provided`);
    }
    const streamId = randomUUID();
    expect((await failureOf(commit(streamId, cursor(0, 1)))).message).to.include(
      `Session with stream id ${streamId} not found`,
    );
  });

  describe('listing cursors', () => {
    it('returns none before the first stream, then one per partition with its own token', async () => {
      expect(await listCursors(store, subscription.id)).to.deep.equal([]);
      await store.join(subscription);
      const [first, second] = [await listCursors(store, subscription.id), await listCursors(store, subscription.id)];
      expect(first.map(({ partition, offset, event_type }) => ({ partition, offset, event_type }))).to.deep.equal([
        { partition: '0', offset: '001-0001--1', event_type: 'loans' },
        { partition: '1', offset: '001-0001--1', event_type: 'loans' },
      ]);
      expect(new Set([...first, ...second].map((each) => each.cursor_token)).size).to.equal(4);
      expect(await failureOf(listCursors(store, 'x'))).to.have.property('code', 'NOT_FOUND');
    });
  });

  describe('resetting', () => {
    const position = (partition: number, offset: number | string, eventType = 'loans') => ({
      event_type: eventType,
      partition: String(partition),
      offset: String(offset),
    });

    it('moves the named partitions, also backwards, and keeps the others', async () => {
      const streamId = await store.join(subscription);
      await commit(streamId, cursor(0, 100), cursor(1, 5));
      await store.coordination.closeSession(subscription.id, streamId);
      await resetCursors(store, subscription.id, [position(0, 40)]);
      expect(await offsets()).to.deep.equal(['001-0001-000000000000000040', '001-0001-000000000000000005']);
    });

    it('only fixes where a subscription begins when no cursor is named', async () => {
      await resetCursors(store, subscription.id, []);
      expect(await offsets()).to.deep.equal(['001-0001--1', '001-0001--1']);
      const streamId = await store.join(subscription);
      await resetCursors(store, subscription.id, []);
      expect(await results(streamId, cursor(0, 1))).to.deep.equal(['committed']);
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
      expect(await results(streamId, cursor(1, 3))).to.deep.equal(['committed']);
      await store.coordination.closeSession(subscription.id, streamId);
      await reset;
      expect(await offsets()).to.deep.equal(['001-0001-000000000000000040', '001-0001-000000000000000003']);
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
      expect(resetMillisecondsMaximum).to.equal(61_000);
      const reset = await resetUnderStream();
      await reset.turnTo(60_999);
      expect(reset.isOver()).to.equal(false);
      expect((await store.coordination.topology(subscription.id)).resetting).to.equal(true);
      await reset.turnTo(61_000);
      expect(await reset.outcome).to.include({
        code: 'CONFLICT',
        message: 'The open streams did not end in time, no cursor was changed. Try again.',
      });
      expect(await results(reset.streamId, cursor(0, 2))).to.deep.equal(['committed']);
      expect((await store.coordination.topology(subscription.id)).resetting).to.equal(false);
    });

    it('succeeds when the last stream ends a millisecond before that', async () => {
      const reset = await resetUnderStream();
      await reset.turnTo(60_999);
      await store.coordination.closeSession(subscription.id, reset.streamId);
      await reset.turnTo(61_000);
      expect(await reset.outcome).to.equal(undefined);
      expect((await offsets())[0]).to.equal('001-0001-000000000000000040');
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
        expect(await offsets()).to.deep.equal([]);
      });
    }
  });
});
