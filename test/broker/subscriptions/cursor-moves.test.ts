import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { moveSubscription, type CursorMove } from '../../../src/broker/subscriptions/cursor-moves.ts';
import { Subscriptions } from '../../../src/broker/subscriptions/subscriptions.ts';
import type { Subscription } from '../../../src/broker/definitions/subscription.ts';
import { openSubscriptionStore, type SubscriptionStore } from '../../support/subscription-store.ts';
import { failureOf } from '../../support/thrown-errors.ts';

describe('moving the cursors of a subscription', () => {
  let store: SubscriptionStore;
  let subscription: Subscription;

  beforeEach(async () => {
    store = await openSubscriptionStore();
    await store.define('loans', 2);
    await store.publish('loans', 0, 10);
    await store.publish('loans', 1, 4);
    subscription = await create('main');
  });

  afterEach(() => store.close());

  async function create(group: string, eventType = 'loans'): Promise<Subscription> {
    const body = { owning_application: 'core', event_types: [eventType], consumer_group: group, read_from: 'begin' };
    return (await new Subscriptions(store).create(body)).subscription;
  }

  const offset = (number: number): string => `001-0001-${number < 0 ? number : String(number).padStart(18, '0')}`;
  const move = (body: Record<string, unknown>, id = subscription.id): Promise<CursorMove> =>
    moveSubscription(store, id, body);
  /** Before and after, skipped and repeated of each partition. */
  const numbersOf = ({ items }: CursorMove): number[][] =>
    items.map(({ before, after, skipped, repeated }) => [before, after, skipped, repeated]);
  const committed = async (): Promise<number[]> =>
    (await store.coordination.committedOffsets(subscription.id)).map((position) => position.offset);

  async function commit(first: number, second: number): Promise<void> {
    const streamId = await store.join(subscription);
    await store.coordination.commit(subscription.id, streamId, [
      { eventType: 'loans', partition: 0, offset: first },
      { eventType: 'loans', partition: 1, offset: second },
    ]);
    await store.coordination.closeSession(subscription.id, streamId);
  }

  const applied = (items: CursorMove['items']) =>
    items.map(({ eventType, partition, before, after }) => ({
      event_type: eventType,
      partition: String(partition),
      before: offset(before),
      after: offset(after),
    }));

  it('shows what a move would do, and moves nothing', async () => {
    await commit(5, 1);
    for (const [to, expected] of [
      [
        { position: 'begin' },
        [
          [5, -1, 0, 6],
          [1, -1, 0, 2],
        ],
      ],
      [
        { position: 'end' },
        [
          [5, 9, 4, 0],
          [1, 3, 2, 0],
        ],
      ],
      [
        { shift: -2 },
        [
          [5, 3, 0, 2],
          [1, -1, 0, 2],
        ],
      ],
      [
        { shift: 3 },
        [
          [5, 8, 3, 0],
          [1, 3, 2, 0],
        ],
      ],
      [
        { time: '2020-01-01T00:00:00Z' },
        [
          [5, -1, 0, 6],
          [1, -1, 0, 2],
        ],
      ],
      [
        { time: '2999-01-01T00:00:00Z' },
        [
          [5, 9, 4, 0],
          [1, 3, 2, 0],
        ],
      ],
    ] as const) {
      const preview = await move({ to, dry_run: true });
      expect(preview.isApplied).to.equal(false);
      expect(numbersOf(preview), JSON.stringify(to)).to.deep.equal(expected);
    }
    const one = { to: { offset: offset(7) }, only: { event_type: 'loans', partition: '0' }, dry_run: true };
    expect(numbersOf(await move(one))).to.deep.equal([[5, 7, 2, 0]]);
    expect(await committed()).to.deep.equal([5, 1]);
  });

  it('shows where a subscription would begin that was never streamed', async () => {
    expect(numbersOf(await move({ to: { position: 'end' }, dry_run: true }))).to.deep.equal([
      [-1, 9, 10, 0],
      [-1, 3, 4, 0],
    ]);
    expect(await committed()).to.deep.equal([]);
  });

  it('goes where another subscription is, as far as they have partitions in common', async () => {
    const other = await create('other');
    await commit(5, 1);
    expect(numbersOf(await move({ to: { subscription_id: subscription.id } }, other.id))).to.deep.equal([
      [-1, 5, 6, 0],
      [-1, 1, 2, 0],
    ]);
    await store.define('accounts', 1);
    const stranger = await create('stranger', 'accounts');
    const refused = await failureOf(move({ to: { subscription_id: subscription.id } }, stranger.id));
    expect(refused).to.have.property('code', 'UNPROCESSABLE');
  });

  it('applies what a dry run showed, once', async () => {
    await commit(5, 1);
    const { items } = await move({ to: { shift: -1 }, dry_run: true });
    const done = await move({ items: applied(items) });
    expect(done.isApplied).to.equal(true);
    expect(numbersOf(done)).to.deep.equal([
      [5, 4, 0, 1],
      [1, 0, 0, 1],
    ]);
    expect(await committed()).to.deep.equal([4, 0]);
    expect(await failureOf(move({ items: applied(items) }))).to.have.property('code', 'CONFLICT');
    expect(await committed()).to.deep.equal([4, 0]);
  });

  it('refuses what a dry run showed when a partition has moved since, and ends no stream then', async () => {
    await commit(5, 1);
    const { items } = await move({ to: { position: 'begin' }, dry_run: true });
    const streamId = await store.join(subscription);
    await store.coordination.commit(subscription.id, streamId, [{ eventType: 'loans', partition: 1, offset: 2 }]);
    const refused = await failureOf(move({ items: applied(items) }));
    expect(refused).to.have.property('code', 'CONFLICT');
    expect(refused.message).to.contain('Partition 1 of loans is at');
    const { resetting, sessions } = await store.coordination.topology(subscription.id);
    expect([resetting, sessions.length]).to.deep.equal([false, 1]);
    expect(await committed()).to.deep.equal([5, 2]);
  });

  it('refuses it as well when the last stream commits while it ends', async () => {
    await commit(5, 1);
    const streamId = await store.join(subscription);
    const { items, openStreams } = await move({ to: { position: 'begin' }, dry_run: true });
    expect(openStreams).to.equal(1);
    const stop = store.coordination.watch(subscription.id, (change) => {
      if (change !== 'reset') return;
      void store.coordination
        .commit(subscription.id, streamId, [{ eventType: 'loans', partition: 0, offset: 6 }])
        .then(() => store.coordination.closeSession(subscription.id, streamId));
    });
    expect(await failureOf(move({ items: applied(items) }))).to.have.property('code', 'CONFLICT');
    stop();
    expect(await committed()).to.deep.equal([6, 1]);
    expect((await store.coordination.topology(subscription.id)).resetting).to.equal(false);
  });

  it('works a move out again when the streams have ended, without a dry run', async () => {
    await commit(5, 1);
    const streamId = await store.join(subscription);
    const stop = store.coordination.watch(subscription.id, (change) => {
      if (change !== 'reset') return;
      void store.coordination
        .commit(subscription.id, streamId, [{ eventType: 'loans', partition: 0, offset: 8 }])
        .then(() => store.coordination.closeSession(subscription.id, streamId));
    });
    const done = await move({ to: { shift: -1 } });
    stop();
    expect(numbersOf(done)).to.deep.equal([
      [8, 7, 0, 1],
      [1, 0, 0, 1],
    ]);
    expect(await committed()).to.deep.equal([7, 0]);
  });

  it('refuses requests that say nothing, too much or something else', async () => {
    const item = { event_type: 'loans', partition: '0', before: offset(-1), after: offset(3) };
    for (const [body, code] of [
      [{}, 'MALFORMED_REQUEST'],
      [{ to: {} }, 'MALFORMED_REQUEST'],
      [{ to: { position: 'begin', shift: 1 } }, 'MALFORMED_REQUEST'],
      [{ to: { position: 'middle' } }, 'MALFORMED_REQUEST'],
      [{ to: { shift: 1.5 } }, 'MALFORMED_REQUEST'],
      [{ to: { shift: 1 }, dry_run: 'yes' }, 'MALFORMED_REQUEST'],
      [{ to: { shift: 1 }, items: [item] }, 'MALFORMED_REQUEST'],
      [{ items: [item], dry_run: true }, 'MALFORMED_REQUEST'],
      [{ items: [{ ...item, before: 4 }] }, 'MALFORMED_REQUEST'],
      [{ items: [item, item] }, 'UNPROCESSABLE'],
      [{ items: [{ ...item, partition: '2' }] }, 'UNPROCESSABLE'],
      [{ items: [{ ...item, after: offset(9) }] }, undefined],
      [{ items: [{ ...item, before: offset(9), after: offset(10) }] }, 'UNPROCESSABLE'],
      [{ to: { time: 'now' } }, 'UNPROCESSABLE'],
      [{ to: { offset: offset(1) } }, 'UNPROCESSABLE'],
      [{ to: { offset: offset(10) }, only: { event_type: 'loans', partition: '0' } }, 'UNPROCESSABLE'],
      [{ to: { offset: offset(9) }, only: { event_type: 'loans', partition: '0' } }, undefined],
      [{ to: { shift: 1 }, only: { event_type: 'accounts' } }, 'UNPROCESSABLE'],
      [{ to: { subscription_id: 'unknown' } }, 'NOT_FOUND'],
    ] as const) {
      const outcome = await move(body).then(
        () => undefined,
        (error: unknown) => (error as { code?: string }).code,
      );
      expect(outcome, JSON.stringify(body)).to.equal(code);
    }
    expect(await failureOf(move({ to: { shift: 1 } }, 'unknown'))).to.have.property('code', 'NOT_FOUND');
  });
});
