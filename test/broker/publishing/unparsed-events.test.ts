import { expect } from 'chai';
import { describe, it } from 'mocha';
import { eventBytesMaximum } from '../../../src/broker/publishing/event-preparation.ts';
import {
  isSmallEnough,
  needsNoParsing,
  recordsOf,
  wantedPathsOf,
} from '../../../src/broker/publishing/unparsed-events.ts';
import { stored, typeOf } from './prepared-orders.ts';

describe('events that are not parsed', () => {
  it('need an id, a time and their key fields', () => {
    expect(wantedPathsOf(typeOf())).to.deep.equal([['metadata', 'eid'], ['metadata', 'occurred_at'], ['order']]);
    expect(wantedPathsOf(typeOf({ category: 'undefined', enrichment_strategies: [] }))).to.deep.equal([['order']]);
    const random = { partition_strategy: 'random', partition_key_fields: [] };
    expect(wantedPathsOf(typeOf(random))).to.deep.equal([
      ['metadata', 'eid'],
      ['metadata', 'occurred_at'],
    ]);
  });

  it('have no partition named by their producer, and no key that the log compacts by', () => {
    expect(needsNoParsing(typeOf())).to.equal(true);
    expect(needsNoParsing(typeOf({ partition_strategy: 'user_defined', partition_key_fields: [] }))).to.equal(false);
    expect(needsNoParsing(typeOf({ cleanup_policy: 'compact' }))).to.equal(false);
  });

  it('leave room for their metadata', () => {
    expect(isSmallEnough(eventBytesMaximum - 64 * 1024)).to.equal(true);
    expect(isSmallEnough(eventBytesMaximum - 64 * 1024 + 1)).to.equal(false);
  });

  it('become records by their partition, with keys decoded', () => {
    const type = typeOf({ category: 'undefined', enrichment_strategies: [] });
    const keys = ['a', 'é', 'b'];
    const events = {
      count: keys.length,
      wantedText: (index: number) => Buffer.from(keys[index] ?? '').toString('latin1'),
      storedText: (index: number) => `event ${index}`,
    };
    expect(stored(recordsOf(type, events, Buffer.from('é'), () => 0.5))).to.deep.equal({
      partitions: [2, 3, 3],
      batches: [
        { topic: 'orders', partition: 2, records: [['a', 'event 0']] },
        {
          topic: 'orders',
          partition: 3,
          records: [
            ['é', 'event 1'],
            ['b', 'event 2'],
          ],
        },
      ],
    });
  });
});
