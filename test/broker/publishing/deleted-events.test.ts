import { expect } from 'chai';
import { describe, it } from 'mocha';
import { createdRecord } from '../../../src/broker/event-types/event-type-records.ts';
import { readEventType } from '../../../src/broker/event-types/requested-event-type.ts';
import { prepareDeletions } from '../../../src/broker/publishing/deleted-events.ts';
import { prepareEventType, type PreparedEventType } from '../../../src/broker/publishing/prepared-event-type.ts';
import { parseEvents } from '../../../src/broker/publishing/request-parsing.ts';
import { eventTypeBody } from '../../support/broker-on-embedded-log.ts';

/** A compacted type with three partitions, which may differ in what a test asks for. */
function typeOf(changes: Record<string, unknown> = {}): PreparedEventType {
  const partitions = { messages_per_minute: 1, message_size: 1, read_parallelism: 3, write_parallelism: 3 };
  const body = { cleanup_policy: 'compact', default_statistic: partitions, ...changes };
  return prepareEventType(createdRecord(readEventType(eventTypeBody('states', body)), '2026-11-21T10:00:00.000Z'));
}

function prepare(type: PreparedEventType, events: unknown) {
  return prepareDeletions(type, parseEvents(Buffer.from(JSON.stringify(events))), () => 0.5);
}

const keyed = (key: string, partition?: string) => ({ metadata: { partition_compaction_key: key, partition } });

describe('prepareDeletions', () => {
  it('makes a record without a value for each event, in every partition, and compiles no schema', () => {
    const type = typeOf();
    const prepared = prepare(type, [keyed('A'), keyed('B')]);
    const records = [
      { key: 'A', value: null },
      { key: 'B', value: null },
    ];
    expect(prepared).to.deep.equal({
      partitions: Int32Array.of(1, 1),
      batches: [0, 1, 2].map((partition) => ({ topic: 'states', partition, records })),
      inEveryPartition: true,
    });
    expect(type.compile(), 'not compiled before').to.equal(true);
  });

  it('needs no field that chooses a partition, since it is in every one', () => {
    const type = typeOf({ partition_strategy: 'hash', partition_key_fields: ['order', 'metadata.eid'] });
    const prepared = prepare(type, [{ ...keyed('A'), order: 'x' }, keyed('B'), { ...keyed('C'), order: {} }]);
    const records = ['A', 'B', 'C'].map((key) => ({ key, value: null }));
    expect(prepared).to.deep.include({
      batches: [0, 1, 2].map((partition) => ({ topic: 'states', partition, records })),
      inEveryPartition: true,
    });
  });

  it('makes it in the named partition alone, and appends nothing to the others', () => {
    const prepared = prepare(typeOf({ partition_strategy: 'user_defined' }), [
      keyed('A', '2'),
      keyed('B', '0'),
      keyed('C', '2'),
    ]);
    expect(prepared).to.deep.include({ partitions: Int32Array.of(2, 0, 2), inEveryPartition: false });
    expect(
      'batches' in prepared && prepared.batches.map(({ partition, records }) => [partition, records]),
    ).to.deep.equal([
      [0, [{ key: 'B', value: null }]],
      [
        2,
        [
          { key: 'A', value: null },
          { key: 'C', value: null },
        ],
      ],
    ]);
  });

  it('checks all keys before the first partition, and the policy before both', () => {
    const events = [keyed('A', '9'), { metadata: {} }];
    const stepsOf = (changes: Record<string, unknown>) => {
      const prepared = prepare(typeOf(changes), events);
      return 'refused' in prepared && prepared.refused.map((item) => `${item.publishing_status} ${item.step}`);
    };
    const named = { partition_strategy: 'user_defined' };
    expect(stepsOf(named)).to.deep.equal(['aborted validating', 'failed validating']);
    expect(stepsOf({ ...named, cleanup_policy: 'delete' })).to.deep.equal(['aborted none', 'aborted none']);
  });
});
