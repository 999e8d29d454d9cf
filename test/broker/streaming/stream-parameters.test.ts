import { expect } from 'chai';
import { describe, it } from 'mocha';
import { defaultStreamingLimits } from '../../../src/broker/definitions/streaming-limits.ts';
import {
  readEventTypeStreamParameters,
  readStreamParameters,
} from '../../../src/broker/streaming/stream-parameters.ts';
import { thrownBy } from '../../support/thrown-errors.ts';

const eventTypes = new Map([
  ['payments', 4],
  ['accounts', 1],
]);

function read(source: Record<string, unknown>, random = 0.5) {
  return readStreamParameters(source, eventTypes, random);
}

function refusal(source: Record<string, unknown>): [status: number, detail: string] {
  const { status, message } = thrownBy(() => read(source));
  return [status, message];
}

describe('the parameters of a stream', () => {
  it('have defaults', () => {
    expect(read({})).to.deep.equal({
      batchLimit: 1,
      flushMilliseconds: 30_000,
      timespanMilliseconds: 0,
      uncommittedEventsMaximum: 10,
      streamLimit: 0,
      keepAliveLimit: 0,
      commitTimeoutMilliseconds: 60_000,
      streamTimeoutMilliseconds: 3_600_000,
      requestedPartitions: [],
    });
  });

  it('are read from texts and from numbers alike', () => {
    const texts = read({
      batch_limit: '7',
      batch_flush_timeout: '2',
      max_uncommitted_events: '+30',
      commit_timeout: '5',
    });
    const numbers = read({ batch_limit: 7, batch_flush_timeout: 2, max_uncommitted_events: 30, commit_timeout: 5 });
    expect(texts).to.deep.equal(numbers);
    expect(numbers).to.include({ batchLimit: 7, flushMilliseconds: 2_000, commitTimeoutMilliseconds: 5_000 });
  });

  it('are each read into their own unit', () => {
    const given = {
      batch_limit: 2,
      batch_flush_timeout: 3,
      batch_timespan: 4,
      max_uncommitted_events: 5,
      stream_limit: 6,
      stream_keep_alive_limit: 7,
      commit_timeout: 8,
      stream_timeout: 9,
    };
    expect(read(given)).to.deep.equal({
      batchLimit: 2,
      flushMilliseconds: 3_000,
      timespanMilliseconds: 4_000,
      uncommittedEventsMaximum: 5,
      streamLimit: 6,
      keepAliveLimit: 7,
      commitTimeoutMilliseconds: 8_000,
      streamTimeoutMilliseconds: 9_000,
      requestedPartitions: [],
    });
  });

  for (const name of ['batch_limit', 'batch_flush_timeout', 'max_uncommitted_events', 'stream_keep_alive_limit']) {
    it(`have the same maximum as in Nakadi: ${name}`, () => {
      expect(() => read({ [name]: '2147483647' })).not.to.throw();
      const detail = `'${name}' parameter should be a whole number, but was '2147483648'`;
      expect(refusal({ [name]: '2147483648' })).to.deep.equal([400, detail]);
      expect(refusal({ [name]: 2_147_483_648 })).to.deep.equal([400, detail]);
    });
  }

  it('ignore unknown names, and null or empty values', () => {
    expect(read({ something: 'else', batch_limit: null, stream_limit: '' })).to.deep.equal(read({}));
  });

  it('use a random stream lifetime when it is not between 1 and 4200 seconds', () => {
    for (const stream_timeout of [0, -1, 4_201]) {
      expect(read({ stream_timeout }, 0).streamTimeoutMilliseconds).to.equal(3_000_000);
      expect(read({ stream_timeout }, 0.999_999).streamTimeoutMilliseconds).to.equal(4_200_000);
    }
    expect(read({ stream_timeout: 4_200 }, 0).streamTimeoutMilliseconds).to.equal(4_200_000);
    expect(read({ stream_timeout: 1 }, 0).streamTimeoutMilliseconds).to.equal(1_000);
  });

  it('use the maximum for a commit timeout of 0', () => {
    expect(read({ commit_timeout: 0 }).commitTimeoutMilliseconds).to.equal(60_000);
  });

  it('may be as small as they can be', () => {
    const smallest = {
      batch_limit: 1,
      batch_flush_timeout: 1,
      batch_timespan: 0,
      max_uncommitted_events: 1,
      stream_limit: 0,
      stream_keep_alive_limit: 0,
      wait_for_slot: 0,
      commit_timeout: 0,
      stream_timeout: 0,
    };
    const others = { batch_flush_timeout: 1, max_uncommitted_events: 1 };
    expect(read(smallest)).to.deep.equal(read(others));
    expect(refusal({ wait_for_slot: -1 })).to.deep.equal([422, "wait_for_slot can't be lower than 0"]);
  });

  for (const [name, option] of [
    ['strict_commits', 'strictCommits'],
    ['commit_heartbeat', 'countsHeartbeats'],
  ] as const) {
    it(`may have ${name}, by every word of switches`, () => {
      for (const on of [true, 'true', 'TRUE', 'on', 'On', 'yes', 'YES', '1']) {
        expect(read({ [name]: on })[option], String(on)).to.equal(true);
      }
      for (const off of [false, 'false', 'False', 'off', 'OFF', 'no', 'No', '0', '', null, undefined]) {
        expect(read({ [name]: off }), String(off)).to.deep.equal(read({}));
      }
      for (const neither of ['maybe', 'o', 'onn', '2', '01', ' on', 'true,true', 'constructor']) {
        const detail = `'${name}' parameter should be true or false, but was '${neither}'`;
        expect(refusal({ [name]: neither })).to.deep.equal([400, detail]);
      }
    });
  }

  const refused: [source: Record<string, unknown>, status: number, detail: string][] = [
    [{ batch_limit: '0' }, 422, "batch_limit can't be lower than 1"],
    [{ batch_flush_timeout: 0 }, 422, "batch_flush_timeout can't be lower than 1"],
    [{ batch_flush_timeout: -3 }, 422, "batch_flush_timeout can't be lower than 1"],
    [{ batch_timespan: -1 }, 422, "batch_timespan can't be lower than 0"],
    [{ max_uncommitted_events: 0 }, 422, "max_uncommitted_events can't be lower than 1"],
    [{ stream_limit: -1 }, 422, "stream_limit can't be lower than 0"],
    [{ stream_keep_alive_limit: -1 }, 422, "stream_keep_alive_limit can't be lower than 0"],
    [{ commit_timeout: 61 }, 422, 'commit_timeout can not be more than 60'],
    [{ commit_timeout: -1 }, 422, 'commit_timeout can not be less than 0'],
    [{ batch_limit: 'ten' }, 400, "'batch_limit' parameter should be a whole number, but was 'ten'"],
    [{ stream_limit: 1.5 }, 400, "'stream_limit' parameter should be a whole number, but was '1.5'"],
    [{ stream_timeout: {} }, 400, "'stream_timeout' parameter should be a whole number, but was '{}'"],
    [{ commit_heartbeat: ['on'] }, 400, `'commit_heartbeat' parameter should be true or false, but was '["on"]'`],
    [{ strict_commits: 1 }, 400, "'strict_commits' parameter should be true or false, but was '1'"],
    [{ partitions: 'all' }, 400, '"partitions" should be a list.'],
    [{ partitions: [{ partition: '0' }] }, 422, 'Each of "partitions" must have an "event_type" and a "partition".'],
    [{ partitions: [null] }, 422, 'Each of "partitions" must have an "event_type" and a "partition".'],
    [
      {
        partitions: [
          { event_type: 'payments', partition: '0' },
          { event_type: 'payments', partition: '0' },
        ],
      },
      422,
      'Duplicated partition specified',
    ],
    [
      {
        partitions: [
          { event_type: 'payments', partition: '4' },
          { event_type: 'cards', partition: '0' },
          { event_type: 'accounts', partition: '0' },
        ],
      },
      422,
      "Wrong partitions specified - some partitions don't belong to subscription: " +
        "EventTypePartition{eventType='payments', partition='4'}, EventTypePartition{eventType='cards', partition='0'}",
    ],
  ];

  for (const [source, status, detail] of refused) {
    it(`refuse ${JSON.stringify(source)}`, () => expect(refusal(source)).to.deep.equal([status, detail]));
  }

  it('list the requested partitions', () => {
    const partitions = [
      { event_type: 'payments', partition: '3' },
      { event_type: 'accounts', partition: '0' },
    ];
    const { requestedPartitions } = read({ partitions });
    expect(requestedPartitions).to.deep.equal([
      { eventType: 'payments', partition: 3 },
      { eventType: 'accounts', partition: 0 },
    ]);
  });
});

describe('the parameters of a stream without a subscription', () => {
  const read = (source: Record<string, unknown>, random = 0.5) => readEventTypeStreamParameters(source, random);

  it('have the defaults of a stream of a subscription, and ignore those of commits', () => {
    const defaults = read({});
    expect(defaults).to.deep.equal({
      batchLimit: 1,
      flushMilliseconds: 30_000,
      streamLimit: 0,
      streamTimeoutMilliseconds: 3_600_000,
      keepAliveLimit: 0,
    });
    expect(readStreamParameters({}, new Map(), 0.5)).to.include(defaults);
    expect(read({ commit_timeout: 'x', max_uncommitted_events: 0, wait_for_slot: -1 })).to.deep.equal(defaults);
  });

  it('use a random lifetime when it is not between 1 and 4200 seconds, whatever the flush timeout is', () => {
    for (const stream_timeout of [undefined, '', '0', '-1', '4201', '999999999999999']) {
      const lifetime = (random: number) =>
        read({ stream_timeout, batch_flush_timeout: '5000' }, random).streamTimeoutMilliseconds;
      expect([lifetime(0), lifetime(0.999_999)], stream_timeout).to.deep.equal([3_000_000, 4_200_000]);
    }
    const used = (stream_timeout: string) =>
      read({ stream_timeout, batch_flush_timeout: '1' }, 0).streamTimeoutMilliseconds;
    expect([used('1'), used('4200')]).to.deep.equal([1_000, 4_200_000]);
  });

  it('keep the bounds of the settings', () => {
    const limits = { ...defaultStreamingLimits, flushSecondsMinimum: 2, flushSecondsMaximum: 25 };
    const flush = (batch_flush_timeout?: string) =>
      readEventTypeStreamParameters({ batch_flush_timeout }, 0, limits).flushMilliseconds;
    expect([flush(), flush('2'), flush('25')]).to.deep.equal([25_000, 2_000, 25_000]);
    expect(() => flush('1')).to.throw("can't be lower than 2");
    expect(() => flush('26')).to.throw("can't be higher than 25");
  });

  for (const [source, refusal] of [
    [{ stream_limit: '9', batch_limit: '9' }, undefined],
    [{ stream_limit: '8', batch_limit: '9' }, "stream_limit can't be lower than batch_limit"],
    [{ stream_timeout: '30' }, undefined],
    [{ stream_timeout: '29' }, "stream_timeout can't be lower than batch_flush_timeout"],
    [{ batch_limit: '2147483648' }, "'batch_limit' parameter should be a whole number, but was '2147483648'"],
  ] as const) {
    it(`are ${refusal === undefined ? 'taken' : 'refused'}: ${JSON.stringify(source)}`, () => {
      if (refusal === undefined) expect(() => read(source)).not.to.throw();
      else expect(() => read(source)).to.throw(refusal);
    });
  }
});
