import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { initialiseSubscriptionsOf, startingOffsets } from '../../../src/broker/subscriptions/starting-offsets.ts';
import type { Subscription } from '../../../src/broker/definitions/subscription.ts';
import { LendstreamError } from '../../../src/errors.ts';
import { startStreamServer, type StreamServer } from '../../support/http/stream-server.ts';
import { appendTo, codeOf, records } from '../../support/log-reading.ts';
import { overriding } from '../../support/stepping-log.ts';

describe('the position where a subscription starts', () => {
  const bounds = [
    { topic: 'payments', partition: 0, earliest: 10, latest: 50 },
    { topic: 'payments', partition: 1, earliest: 0, latest: 0 },
  ];

  function subscription(changes: Partial<Subscription>): Subscription {
    return { read_from: 'begin', initial_cursors: [], ...changes } as Subscription;
  }

  const cases: [title: string, Partial<Subscription>, committed: number[], expected: number[]][] = [
    ['before the oldest event', { read_from: 'begin' }, [], [9, -1]],
    ['after the newest event', { read_from: 'end' }, [], [49, -1]],
    [
      'after the given cursors, which may have expired in the meantime',
      {
        read_from: 'cursors',
        initial_cursors: [
          { event_type: 'payments', partition: '0', offset: '001-0001-000000000000000003' },
          { event_type: 'payments', partition: '1', offset: 'begin' },
        ],
      },
      [],
      [3, -1],
    ],
    [
      'before the oldest event when the cursor says BEGIN',
      { read_from: 'cursors', initial_cursors: [{ event_type: 'payments', partition: '0', offset: 'BEGIN' }] },
      [],
      [9, -1],
    ],
    ['before the first event of a partition that was added later', { read_from: 'end' }, [30], [-1]],
    ['unchanged when every partition is known', { read_from: 'end' }, [30, -1], []],
  ];

  for (const [title, changes, committed, expected] of cases) {
    it(`is ${title}`, () => {
      const known = committed.map((offset, partition) => ({ eventType: 'payments', partition, offset }));
      expect(startingOffsets(subscription(changes), bounds, known).map(({ offset }) => offset)).to.deep.equal(expected);
    });
  }
});

describe('the subscriptions of an event type that is about to get partitions', () => {
  let server: StreamServer;
  let type: string;
  beforeEach(async () => {
    server = await startStreamServer();
    type = await server.defineEventType(1);
  });
  afterEach(() => server.stop());

  const committed = async (id: string): Promise<number[]> =>
    (await server.coordination.committedOffsets(id)).map(({ offset }) => offset);
  const publish = (): Promise<unknown> => appendTo(server.log, { topic: type, partition: 0 }, records('1'));

  it('begin where they would begin now when they never streamed, and stay where they are otherwise', async () => {
    const atEnd = await server.subscribe([type], { read_from: 'end' });
    const atBegin = await server.subscribe([type]);
    const streamed = await server.subscribe([type], { read_from: 'end' });
    await publish();
    await server.coordination.initialise(streamed, [{ eventType: type, partition: 0, offset: -1 }]);
    await publish();
    for (const _twice of [1, 2]) {
      await initialiseSubscriptionsOf(server, type);
      expect([await committed(atEnd), await committed(atBegin), await committed(streamed)]).to.deep.equal([
        [1],
        [-1],
        [-1],
      ]);
      await publish();
    }
  });

  it('are all registered, more of them than are registered at the same time', async () => {
    const ids = await Promise.all(Array.from({ length: 33 }, () => server.subscribe([type])));
    await initialiseSubscriptionsOf(server, type);
    expect(await Promise.all(ids.map(committed))).to.deep.equal(ids.map(() => [-1]));
  });

  it('do not stop it when one cannot be read any more, and do when the store is out of reach', async () => {
    const beyondEnd = [{ event_type: type, partition: '0', offset: '001-0001-000000000000000099' }];
    const lost = await server.subscribe([type], { read_from: 'cursors', initial_cursors: beyondEnd });
    const orphan = await server.subscribe([type, 'deleted']);
    const found = await server.subscribe([type]);
    await initialiseSubscriptionsOf(server, type);
    expect([await committed(lost), await committed(orphan), await committed(found)]).to.deep.equal([[], [], [-1]]);
    await server.subscribe([type]);
    const coordination = overriding(server.coordination, {
      initialise: () => Promise.reject(new LendstreamError('COORDINATION_UNAVAILABLE', 'out of reach')),
    });
    expect(await codeOf(initialiseSubscriptionsOf({ ...server, coordination }, type))).to.equal(
      'COORDINATION_UNAVAILABLE',
    );
  });
});
