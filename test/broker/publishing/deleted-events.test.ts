import { expect } from 'chai';
import { describe, it } from 'mocha';
import { prepareDeletions } from '../../../src/broker/publishing/deleted-events.ts';
import type { PreparedEventType } from '../../../src/broker/publishing/prepared-event-type.ts';
import { parseEvents } from '../../../src/broker/publishing/request-parsing.ts';

const type: PreparedEventType = {
  name: 'states',
  version: '1.0.0',
  partitionCount: 3,
  partitionStrategy: 'random',
  keyPaths: [],
  keyNames: [],
  absentKeyFieldsAllowed: false,
  isEnriched: true,
  isCompacted: true,
  deduplicationMilliseconds: undefined,
  get rules(): never {
    throw new Error('Deletions are not validated against the schema');
  },
  compile: () => false,
};

function prepare(changes: Partial<PreparedEventType>, events: unknown) {
  const own = Object.defineProperties({}, Object.getOwnPropertyDescriptors(type)) as PreparedEventType;
  return prepareDeletions(Object.assign(own, changes), parseEvents(Buffer.from(JSON.stringify(events))), () => 0.5);
}

const keyed = (key: string, partition?: string) => ({ metadata: { partition_compaction_key: key, partition } });

describe('prepareDeletions', () => {
  it('makes a record without a value for each event, in every partition, and compiles no schema', () => {
    const prepared = prepare({}, [keyed('A'), keyed('B')]);
    const records = [
      { key: 'A', value: null },
      { key: 'B', value: null },
    ];
    expect(prepared).to.deep.equal({
      partitions: Int32Array.of(1, 1),
      batches: [0, 1, 2].map((partition) => ({ topic: 'states', partition, records })),
      inEveryPartition: true,
    });
  });

  it('makes it in the named partition alone, and appends nothing to the others', () => {
    const prepared = prepare({ partitionStrategy: 'user_defined' }, [
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
    const stepsOf = (changes: Partial<PreparedEventType>) => {
      const prepared = prepare(changes, events);
      return 'refused' in prepared && prepared.refused.map((item) => `${item.publishing_status} ${item.step}`);
    };
    const named = { partitionStrategy: 'user_defined' } as const;
    expect(stepsOf(named)).to.deep.equal(['aborted validating', 'failed validating']);
    expect(stepsOf({ ...named, isCompacted: false })).to.deep.equal(['aborted none', 'aborted none']);
  });
});
