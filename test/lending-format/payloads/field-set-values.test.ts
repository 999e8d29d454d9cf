import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { readExactObject } from '../../../src/lending-format/exact-json.ts';
import {
  fieldValueCharactersMaximum,
  groupIndexOf,
  readFieldSet,
} from '../../../src/lending-format/payloads/field-set-values.ts';

const read = (set: unknown) => readFieldSet(readExactObject(JSON.stringify({ set }))['set']);
const faults = (set: unknown): string[] => read(set).faults.map(({ path, reason }) => `${reason} ${path}`);

describe('the values of a custom field set', () => {
  it('become texts: numbers as their shortest ones, booleans in capitals', () => {
    expect(read({ a: 445.0, b: true, c: 'x' }).fields).to.deep.equal({ a: '445', b: 'TRUE', c: 'x' });
  });

  it('have a length that is met at the character', () => {
    expect(faults({ a: '😀'.repeat(fieldValueCharactersMaximum) })).to.deep.equal([]);
    expect(faults({ a: 'x'.repeat(fieldValueCharactersMaximum + 1) })).to.deep.equal([
      'MAX_CUSTOM_FIELD_VALUE_LENGTH_EXCEEDED .a',
    ]);
  });

  const groups = (...indexes: unknown[]): object[] =>
    indexes.map((_index, place) => ({ ...(_index === undefined ? {} : { _index }), a: String(place) }));

  it('of groups come in the order of their indexes', () => {
    expect(read(groups('1', 0, '2'))).to.deep.equal({ fields: [{ a: '1' }, { a: '0' }, { a: '2' }], faults: [] });
    expect(faults(groups(undefined, '1'))).to.deep.equal([]);
  });

  const refused: [title: string, set: object[], expected: string[]][] = [
    [
      'an index that is none',
      groups('-1', 'x', 1.5, '01'),
      [0, 1, 2, 3].map((place) => `INVALID_CUSTOM_FIELD_GROUP_INDEX [${place}]._index`),
    ],
    [
      'an index that is not its place, where others have none',
      groups('1', undefined),
      ['INVALID_CUSTOM_FIELD_GROUP_INDEX [0]._index'],
    ],
    ['a gap', groups('0', '2'), ['GROUPED_INDEXES_NOT_CONSECUTIVE [1]._index']],
    ['an index of two groups', groups('0', '0'), ['TO_MANY_VALUES_FOR_SAME_GROUPED_CUSTOM_FIELD [1]._index']],
  ];
  for (const [title, set, expected] of refused) {
    it(`are refused for ${title}`, () => expect(faults(set)).to.deep.equal(expected));
  }

  it('of groups are the same in every order, with their indexes', () => {
    const sets = fc.uniqueArray(
      fc.string({ minLength: 1 }).filter((text) => text.trim() !== ''),
      { minLength: 1, maxLength: 8 },
    );
    fc.assert(
      fc.property(sets, fc.infiniteStream(fc.nat()), (values, chance) => {
        const inOrder = values.map((a, index) => ({ _index: String(index), a }));
        const shuffled = inOrder
          .map((group) => ({ group, at: Number(chance.next().value) }))
          .sort((one, other) => one.at - other.at);
        expect(read(shuffled.map(({ group }) => group))).to.deep.equal({
          fields: values.map((a) => ({ a })),
          faults: [],
        });
      }),
      { numRuns: 1_000 },
    );
  });

  it('has indexes from 0 to 9999', () => {
    expect(['0', '9999', '10000', '', ' 1'].map(groupIndexOf)).to.deep.equal([
      0,
      9999,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
