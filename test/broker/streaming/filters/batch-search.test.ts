import { expect } from 'chai';
import { describe, it } from 'mocha';
import { BatchSearch, type SearchedFor } from '../../../../src/broker/streaming/filters/batch-search.ts';
import { readFilter } from '../../../../src/broker/streaming/filters/filter-parameter.ts';
import { FilterTurns } from '../../../../src/broker/streaming/filters/filter-turns.ts';
import type { RecordBatch } from '../../../../src/ports/event-log.ts';
import { recordBatch } from '../../../support/kafka/record-batch.ts';

function batchOf(...values: readonly (string | null)[]): RecordBatch {
  return recordBatch(values.map((value, offset) => ({ offset, value })));
}

async function matches(searchedFor: SearchedFor, batch: RecordBatch): Promise<readonly number[]> {
  const search = new BatchSearch(searchedFor, batch);
  await search.finish(new FilterTurns());
  return search.matches;
}

describe('a search of a batch', () => {
  it('finds everything but deletions when nothing is asked for', async () => {
    expect(await matches({}, batchOf('{"a":1}', null, '{"a":2}'))).to.deep.equal([0, 2]);
    expect(await matches({}, batchOf())).to.deep.equal([]);
  });

  it('finds bytes inside of one event only', async () => {
    const batch = batchOf('{"a":1}', '{"a":12}', '{"b":1}');
    expect(await matches({ texts: [Buffer.from('"a":1')] }, batch)).to.deep.equal([0, 1]);
    expect(await matches({ texts: [Buffer.from('"a"'), Buffer.from('2}')] }, batch)).to.deep.equal([1]);
    expect(await matches({ texts: [Buffer.from('},{')] }, batch)).to.deep.equal([]);
  });

  it('does not look behind its last event, where the memory goes on', async () => {
    const batch = batchOf('{"a":1}', '{"b":1}');
    const more = { ...batch, bytes: Buffer.concat([batch.bytes, Buffer.from('{"c":1}')]) };
    expect(await matches({ texts: [Buffer.from('"c"')] }, more)).to.deep.equal([]);
  });

  it('asks for the key of a record, and for all conditions together', async () => {
    const keys = ['x', 'y', 'x'];
    const batch = { ...batchOf('{"a":1}', '{"a":1}', '{"a":2}'), key: (index: number) => keys[index] ?? null };
    expect(await matches({ key: 'x' }, batch)).to.deep.equal([0, 2]);
    const all = { key: 'x', filter: readFilter('/a=1'), texts: [Buffer.from('a')] };
    expect(await matches(all, batch)).to.deep.equal([0]);
  });

  it('counts the bytes that it searched', async () => {
    const search = new BatchSearch({}, batchOf('{"a":1}', null, '{}'));
    expect(await search.finish(new FilterTurns())).to.equal(9);
  });
});
