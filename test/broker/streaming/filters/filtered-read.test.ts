import { expect } from 'chai';
import * as fastCheck from 'fast-check';
import { describe, it } from 'mocha';
import { filterRead, type FilteredRead } from '../../../../src/broker/streaming/filters/filtered-read.ts';
import { readFilter } from '../../../../src/broker/streaming/filters/filter-parameter.ts';
import { FilterTurns } from '../../../../src/broker/streaming/filters/filter-turns.ts';
import { noValue, type RecordBatch } from '../../../../src/ports/event-log.ts';
import { recordBatch, type BatchEntry } from '../../../support/kafka/record-batch.ts';
import { propertyRuns } from '../../../support/values/property-runs.ts';

const yes = '{"pick":"yes"}';
const no = '{"pick":"no"}';

function entries(...values: readonly (string | null)[]): BatchEntry[] {
  return values.map((value, offset) => ({ offset, value }));
}

async function filtered(batches: readonly RecordBatch[], filter = '/pick=yes'): Promise<FilteredRead> {
  const read = readFilter(filter);
  if (read === undefined) throw new Error('There is a filter.');
  const nextOffset = (batches.at(-1)?.offsets.at(-1) ?? -1) + 1;
  return filterRead(read, { batches, nextOffset }, new FilterTurns());
}

/** Offsets and values of all records. */
function records({ batches }: FilteredRead): (readonly [number, string | null])[] {
  return batches.flatMap(({ count, bytes, offsets, valueStarts, valueEnds }) =>
    Array.from({ length: count }, (_, index) => {
      const value = valueStarts[index] === noValue ? null : bytes.subarray(valueStarts[index], valueEnds[index]);
      return [offsets[index] as number, value === null ? null : value.toString()] as const;
    }),
  );
}

describe('a read that is filtered', () => {
  it('has the events that meet the filter, and says how far others were passed over', async () => {
    const result = await filtered([recordBatch(entries(no, yes, no, yes, no, no), true, 77)]);
    expect(records(result)).to.deep.equal([
      [1, yes],
      [3, yes],
    ]);
    expect(result.passedOver).to.deep.equal({ offset: 5, appendedAt: 77 });
    expect(result.nextOffset).to.equal(6);
    const [batch] = result.batches;
    expect(batch?.contiguous).to.equal(true);
    expect(batch?.bytes.toString()).to.equal(`${yes},${yes}`);
  });

  it('keeps a batch as it is, with its deletions, when no event of it is passed over', async () => {
    const all = recordBatch(entries(null, yes, null));
    const result = await filtered([all]);
    expect(result.batches[0]).to.equal(all);
    expect(result.passedOver).to.equal(undefined);
    const deletions = recordBatch(entries(null, null));
    const untouched = await filtered([deletions]);
    expect(untouched.batches).to.deep.equal([deletions]);
    expect(untouched.passedOver).to.equal(undefined);
  });

  it('counts deletions next to events that were passed over with them', async () => {
    const result = await filtered([recordBatch(entries(no, yes, null, null))]);
    expect(records(result)).to.deep.equal([[1, yes]]);
    expect(result.passedOver?.offset).to.equal(3);
    const last = await filtered([recordBatch(entries(no, null, yes, yes))]);
    expect(last.passedOver?.offset).to.equal(1);
  });

  it('has no batch when nothing meets the filter, and releases those that it copied or left out', async () => {
    const released: string[] = [];
    const batch = (name: string, ...values: readonly string[]): RecordBatch => {
      return { ...recordBatch(entries(...values)), release: () => released.push(name) };
    };
    const result = await filtered([batch('none', no, no), batch('some', yes, no), batch('all', yes, yes)]);
    expect(released).to.deep.equal(['none', 'some']);
    expect(result.batches.map(({ count }) => count)).to.deep.equal([1, 2]);
    expect((await filtered([batch('left out', no)])).batches).to.deep.equal([]);
  });

  it('holds no memory of what it left out', async () => {
    const large = `{"pick":"no","text":"${'x'.repeat(500_000)}"}`;
    const [batch] = (await filtered([recordBatch(entries(large, yes, large))])).batches;
    expect(batch?.bytes.buffer.byteLength).to.equal(yes.length);
    expect(batch?.key(0)).to.equal(null);
  });

  it('lets the event loop turn while it searches', async () => {
    const value = `{"pick":"no","text":"${'x'.repeat(1_000)}"}`;
    const batch = recordBatch(entries(...Array<string>(4_000).fill(value)));
    let turns = 0;
    let isSearching = true;
    const count = (): void => {
      turns += 1;
      if (isSearching) setImmediate(count);
    };
    setImmediate(count);
    const result = await filtered([batch]);
    isSearching = false;
    expect(result.searchedBytes).to.equal(4_000 * value.length);
    expect(turns).to.be.greaterThan(10);
  });

  it('finds what one finds who parses every event, whatever lies between the values', async () => {
    const value = fastCheck.oneof(
      fastCheck.constant(null),
      fastCheck.constantFrom(yes, no, '{"pick":"\\u0079es"}', '{"\\u0070ick":"yes"}', '{"pick":["yes"]}', '"yes"'),
      fastCheck.constantFrom('{"other":"yes","pick":"no"}', '{"pick":"no","pick":"yes"}', '{"text":"\\"yes\\""}'),
    );
    const batches = fastCheck.array(fastCheck.tuple(fastCheck.array(value, { minLength: 1 }), fastCheck.boolean()));
    const property = fastCheck.asyncProperty(batches, async (contents) => {
      let offset = 0;
      const given = contents.map(([values, isFramed]) =>
        recordBatch(
          values.map((each) => ({ offset: (offset += 2), value: each })),
          isFramed,
        ),
      );
      const all = records({ batches: given, nextOffset: 0, passedOver: undefined, searchedBytes: 0 });
      const isWanted = (text: string | null): boolean =>
        text !== null && (JSON.parse(text) as { pick?: unknown }).pick === 'yes';
      const result = await filtered(given);
      expect(records(result).filter(([, text]) => text !== null)).to.deep.equal(
        all.filter(([, text]) => isWanted(text)),
      );
      const isPassedOver = all.some(([, text]) => text !== null && !isWanted(text));
      expect(result.passedOver !== undefined).to.equal(isPassedOver);
    });
    await fastCheck.assert(property, propertyRuns(300));
  });
});
