import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import { commitCursors } from '../../../src/broker/subscriptions/commits.ts';
import { cursorsPerCommitMaximum } from '../../../src/broker/subscriptions/requested-cursors.ts';
import type { Subscription } from '../../../src/broker/definitions/subscription.ts';
import type { SubscriptionStore } from '../../support/subscription-store.ts';
import { cursor, subscribeToLoans, type SubscriptionToLoans } from './subscription-to-loans.ts';
import { failureOf } from '../../support/thrown-errors.ts';

describe('committing cursors', () => {
  let loans: SubscriptionToLoans;
  let store: SubscriptionStore;
  let subscription: Subscription;

  beforeEach(async () => {
    loans = await subscribeToLoans();
    ({ store, subscription } = loans);
  });

  afterEach(() => store.close());

  it('moves forward and reports a result per cursor, in order', async () => {
    const streamId = await store.join(subscription);
    expect((await loans.commit(streamId, cursor(0, 100))).allCommitted).to.equal(true);
    const mixed = [105, 106, 102, 96, 130].map((offset) => cursor(0, offset));
    const { allCommitted, items } = await loans.commit(streamId, ...mixed);
    expect(allCommitted).to.equal(false);
    expect(items.map(({ result }) => result)).to.deep.equal([
      'committed',
      'committed',
      'outdated',
      'outdated',
      'committed',
    ]);
    expect(items.map((item) => item.cursor)).to.deep.equal(mixed);
    expect(await loans.results(streamId, cursor(0, 120), cursor(0, 121))).to.deep.equal(['outdated', 'outdated']);
  });

  it('accepts plain numbers, the word BEGIN and the cursor of a keep-alive', async () => {
    const streamId = await store.join(subscription);
    for (const offset of ['-1', 'BEGIN', 'begin', '001-0001--1']) {
      expect(await loans.results(streamId, cursor(0, offset))).to.deep.equal(['outdated']);
    }
    expect(await loans.results(streamId, cursor(0, '0'), { ...cursor(0, '25'), partition: 0 })).to.deep.equal([
      'committed',
      'committed',
    ]);
    expect((await loans.offsets())[0]).to.equal('001-0001-000000000000000025');
    expect(await loans.results(streamId, cursor(0, '25'))).to.deep.equal(['outdated']);
  });

  it('accepts offsets ahead in the log, and refuses offsets beyond its end without storing anything', async () => {
    const streamId = await store.join(subscription);
    expect(await loans.results(streamId, cursor(1, 9))).to.deep.equal(['committed']);
    const failure = await failureOf(loans.commit(streamId, cursor(0, 50), cursor(1, 10)));
    expect(failure.message).to.include('001-0001-000000000000000010').and.include('beyond the last event');
    expect(failure).to.have.property('code', 'UNPROCESSABLE');
    expect(await loans.offsets()).to.deep.equal(['001-0001--1', '001-0001-000000000000000009']);
  });

  it('accepts the maximum number of cursors of a commit, in order, and stores nothing of one more', async () => {
    const streamId = await store.join(subscription);
    const most = Array.from({ length: cursorsPerCommitMaximum }, (_, index) => cursor(0, index % 200));
    const failure = await failureOf(loans.commit(streamId, ...most, cursor(0, 1)));
    expect(failure).to.have.property('code', 'UNPROCESSABLE');
    expect(await loans.offsets()).to.deep.equal(['001-0001--1', '001-0001--1']);
    const told = await loans.results(streamId, ...most);
    expect(told.filter((result) => result === 'committed')).to.have.length(200);
    expect(told.slice(0, 201)).to.deep.equal([...Array.from({ length: 200 }, () => 'committed'), 'outdated']);
    expect((await loans.offsets())[0]).to.equal('001-0001-000000000000000199');
  });

  it('refuses the whole request when one partition belongs to another stream', async () => {
    const streamId = await store.join(subscription, [0]);
    const failure = await failureOf(loans.commit(streamId, cursor(0, 5), cursor(1, 5)));
    expect(failure.message).to.equal(
      'Cursor 001-0001-000000000000000005 of partition 1 of event type loans cannot be committed ' +
        `with stream id ${streamId}`,
    );
    expect(await loans.offsets()).to.deep.equal(['001-0001--1', '001-0001--1']);
  });

  it('reports why a stream ended', async () => {
    const streamId = await store.join(subscription);
    await store.coordination.closeSession(subscription.id, streamId);
    const silent = await failureOf(loans.commit(streamId, cursor(0, 5)));
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
      const failure = await failureOf(loans.commit(streamId, cursor(0, 1)));
      expect(failure.message).to.equal(`Stream id has to be valid UUID, but \`${streamId} was provided`);
    }
    const streamId = randomUUID();
    expect((await failureOf(loans.commit(streamId, cursor(0, 1)))).message).to.include(
      `Session with stream id ${streamId} not found`,
    );
  });
});
