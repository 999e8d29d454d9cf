import { expect } from 'chai';
import { describe, it } from 'mocha';
import { eventBytesMaximum, type PreparedRecords } from '../../../src/broker/publishing/event-preparation.ts';
import { RequestMemory } from '../../../src/broker/publishing/request-memory/request-memory.ts';
import {
  needsNoParsing,
  recordsOf,
  smallEventBytesMaximum,
  wantedPathsOf,
} from '../../../src/broker/publishing/unparsed-events.ts';
import { contextOf, stored, typeOf } from './prepared-orders.ts';

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
    expect(smallEventBytesMaximum).to.equal(eventBytesMaximum - 64 * 1024);
  });

  it('become records by their partition, with keys decoded', () => {
    const type = typeOf({ category: 'undefined', enrichment_strategies: [] });
    const memory = RequestMemory.create();
    const recordsFor = (request: string): unknown => {
      expect(memory.load(Buffer.from(request))).to.equal(true);
      const events = request.slice(1, -1).split(',');
      let at = 1;
      events.forEach((event, index) => {
        const end = at + Buffer.byteLength(event);
        // The key is the last letter.
        const fields = [at, end, 0, 0, 0, at + 'event '.length, end];
        memory.fields.set(fields, index * fields.length);
        at = end + 1;
      });
      const found = { count: events.length, fieldsOfEach: 7, wantedFields: [5] };
      return stored(recordsOf(type, memory, found, contextOf(type)) as PreparedRecords);
    };
    for (const key of ['z', 'é']) {
      expect(recordsFor(`[event a,event ${key},event b]`)).to.deep.equal({
        partitions: [2, key === 'é' ? 3 : 2, 3],
        batches: [
          {
            topic: 'orders',
            partition: 2,
            records: [['a', 'event a'], ...(key === 'é' ? [] : [[key, `event ${key}`]])],
          },
          {
            topic: 'orders',
            partition: 3,
            records: [
              ...(key === 'é' ? [[key, Buffer.from(`event ${key}`).toString('latin1')]] : []),
              ['b', 'event b'],
            ],
          },
        ],
      });
    }
  });
});
