import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { PreparedRecords } from '../../../src/broker/publishing/event-preparation.ts';
import { gatheredBytesMaximum, RequestMemory } from '../../../src/broker/publishing/request-memory/request-memory.ts';
import { needsNoParsing, recordsOf, wantedPathsOf } from '../../../src/broker/publishing/unparsed-events.ts';
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

  describe('of large texts', () => {
    const memory = RequestMemory.create();
    const changes = { category: 'undefined', enrichment_strategies: [] };

    /** Loads events that are their own keys, and returns where their fields are. */
    function load(events: readonly string[], wantedFields: readonly number[]) {
      expect(memory.load(Buffer.from(`[${events.join(',')}]`))).to.equal(true);
      let at = 1;
      for (const [index, event] of events.entries()) {
        const end = at + event.length;
        memory.fields.set([at, end, 0, 0, 0, at, end], index * 7);
        at = end + 1;
      }
      return { count: events.length, fieldsOfEach: 7, wantedFields };
    }

    it('become records although all keys together are larger than what is gathered at once', () => {
      const type = typeOf(changes);
      const events = ['a', 'b', 'c'].map((letter) => letter.repeat(gatheredBytesMaximum / 2 - 2));
      const prepared = recordsOf(type, memory, load(events, [5]), contextOf(type));
      const { batches } = stored(prepared as PreparedRecords) as { batches: { records: [string, string][] }[] };
      const records = batches.flatMap((batch) => batch.records);
      expect(records.map(([key, value]) => key === value && value)).to.have.members(events);
    });

    it('become no records when a key is larger than what is gathered at once', () => {
      const type = typeOf({ ...changes, partition_key_fields: ['order', 'other'] });
      const isMade = (bytes: number): boolean => {
        const records = recordsOf(type, memory, load(['x'.repeat(bytes)], [5, 5]), contextOf(type));
        records?.release?.();
        return records !== undefined;
      };
      // A comma is between the key fields, and one is behind them.
      expect(isMade(gatheredBytesMaximum / 2 - 1)).to.equal(true);
      expect(isMade(gatheredBytesMaximum / 2)).to.equal(false);
    });
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
