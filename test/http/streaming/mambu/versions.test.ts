import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readStreamParameters } from '../../../../src/broker/streaming/stream-parameters.ts';
import type { Subscription } from '../../../../src/broker/definitions/subscription.ts';
import { uncommittedBatchesMaximum, versionProfiles } from '../../../../src/http/streaming/mambu/versions.ts';

const { 1: first, 2: second } = versionProfiles;

const subscription: Subscription = {
  owning_application: 'crm',
  event_types: ['accounts', 'loans'],
  consumer_group: 'default',
  read_from: 'begin',
  initial_cursors: [],
  authorization: null,
  annotations: { a: 'b' },
  labels: { c: 'd' },
  id: '0691160a-b519-4595-b85c-a400fc73e963',
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-02T00:00:00.000Z',
};

const sixFields = ['consumer_group', 'created_at', 'event_types', 'id', 'owning_application', 'read_from'];

/** The window of a stream with these parameters, as it is read in the end. */
function windowOf(query: Record<string, unknown>): number {
  return readStreamParameters(second.streamParameters(query), new Map(), 0.5).uncommittedEventsMaximum;
}

describe("the versions of Mambu's streaming API", () => {
  it('show the six fields that the published client accepts, and in the second when it changed', () => {
    expect(Object.keys(first.subscriptionView(subscription)).sort()).to.deep.equal(sixFields);
    const fields = Object.keys(second.subscriptionView(subscription)).sort();
    expect(fields).to.deep.equal([...sixFields, 'updated_at'].sort());
  });

  it('take only what a client of them defines', () => {
    const body = { ...subscription, initial_cursors: null, id: 'x', extra: 1 };
    const own = {
      owning_application: 'crm',
      event_types: ['accounts', 'loans'],
      consumer_group: 'default',
      read_from: 'begin',
    };
    expect(first.definitionOf(body)).to.deep.equal({ ...own, initial_cursors: null });
    expect(second.definitionOf(body)).to.deep.equal(own);
  });

  it('begin at the word end in the first, and at no cursors in the second', () => {
    const cursorAt = (offset: unknown) => ({ event_type: 'loans', partition: '0', offset });
    const given = [cursorAt('END'), cursorAt('begin'), cursorAt('7'), cursorAt(7), null];
    const { initial_cursors: cursors } = first.definitionOf({ initial_cursors: given });
    expect(cursors).to.deep.equal([cursorAt('TIME:9999-12-31T23:59:59Z'), ...given.slice(1)]);
    for (const word of ['cursors', 'CURSORS', 'middle']) {
      const detail = `Field "read_from" cannot be "${word}". Possible values: begin, end`;
      expect(() => second.definitionOf({ read_from: word })).to.throw(detail);
    }
    for (const word of ['begin', 'BEGIN', 'End', undefined, null, 5]) second.definitionOf({ read_from: word });
  });

  it('have a window of ten batches in the second, whatever the client asks for', () => {
    expect(uncommittedBatchesMaximum).to.equal(10);
    expect(windowOf({})).to.equal(10);
    expect(windowOf({ max_uncommitted_events: '1' })).to.equal(10);
    expect(windowOf({ batch_limit: '100' })).to.equal(1_000);
    expect(windowOf({ batch_limit: '2147483647' })).to.equal(2_147_483_647);
    expect(() => windowOf({ batch_limit: '0' })).to.throw("batch_limit can't be lower than 1");
    expect(() => windowOf({ batch_limit: 'x' })).to.throw('whole number');
    expect(first.streamParameters({ max_uncommitted_events: '1' })).to.deep.equal({ max_uncommitted_events: '1' });
  });

  it('read the cursors of shards in the second, with any token or none', () => {
    const offset = `49${'0'.repeat(53)}8`;
    const own = { event_type: 'loans', partition: '1', offset: '001-0001-000000000000000007' };
    const named = { partition: 'shardId-000000000003', offset };
    const given = [
      named,
      { ...named, event_type: 'MIXED', cursor_token: null },
      { ...named, event_type: 'loans', cursor_token: 'x' },
      { ...own, cursor_token: 'y' },
      { partition: 'shardId-3', offset: 5 },
      'no cursor',
      null,
    ];
    expect(second.cursorsOf(subscription, given)).to.deep.equal([
      { ...own, cursor_token: '' },
      { ...own, cursor_token: '' },
      { ...own, cursor_token: 'x' },
      { ...own, cursor_token: 'y' },
      { event_type: 'MIXED', partition: 'shardId-3', offset: 5, cursor_token: '' },
      'no cursor',
      null,
    ]);
    expect(second.cursorsOf(subscription, 'no list')).to.equal('no list');
    const foreign = [{ ...named, event_type: 'accounts' }];
    expect(() => second.cursorsOf(subscription, foreign)).to.throw(
      'Partition shardId-000000000003 has no events of "accounts"',
    );
  });

  it('refuse a part of a cursor that is empty in the first, and one that is too long in the second', () => {
    const cursor = { event_type: 'loans', partition: '0', offset: '7', cursor_token: 'x' };
    expect(first.cursorsOf(subscription, [cursor, null, 5])).to.deep.equal([cursor, null, 5]);
    for (const name of Object.keys(cursor)) {
      const message = `Field "items[1].${name}" must contain at least one character`;
      expect(() => first.cursorsOf(subscription, [cursor, { ...cursor, [name]: '' }]), name).to.throw(message);
      const at = (length: number) => () =>
        second.cursorsOf(subscription, [cursor, { ...cursor, [name]: 'x'.repeat(length) }]);
      expect(at(256), name).to.throw(`Field "items[1].${name}" must contain at most 255 characters`);
      if (name === 'cursor_token') expect(at(255)).not.to.throw();
    }
  });

  it('show statistics by event type in the first and by shard in the second, without other fields', () => {
    const partition = {
      partition: '0',
      state: 'assigned',
      unconsumed_events: 5,
      consumer_lag_seconds: 2,
      stream_id: 's',
    } as const;
    const idle = { partition: '1', state: 'unassigned', stream_id: '' } as const;
    const failed = { failed_deliveries: { failures: 1, one_by_one: false }, assignment_type: 'auto' } as const;
    const statistics = [
      { event_type: 'accounts', partitions: [{ ...partition, ...failed }, idle] },
      {
        event_type: 'loans',
        partitions: [idle, partition].map((item, index) => ({ ...item, partition: String(index) })),
      },
    ];
    expect(first.statisticsView(subscription, statistics)).to.deep.equal({
      items: [{ event_type: 'accounts', partitions: [partition, idle] }, statistics[1]],
    });
    const lagging = { state: 'assigned', consumer_lag_seconds: 2 };
    expect(second.statisticsView(subscription, statistics)).to.deep.equal({
      items: [
        {
          partitions: [
            { partition: 'shardId-000000000000', ...lagging },
            { partition: 'shardId-000000000001', state: 'unassigned' },
            { partition: 'shardId-000000000002', state: 'unassigned' },
            { partition: 'shardId-000000000003', ...lagging },
          ],
        },
      ],
    });
  });
});
