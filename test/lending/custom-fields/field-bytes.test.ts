import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import type { AdditionalFields } from '../../../src/lending/additional-fields.ts';
import { customFieldBytes } from '../../../src/lending/custom-fields/field-bytes.ts';
import { Decimal } from '../../../src/lending/money.ts';

describe('the bytes of custom fields', () => {
  const cases: [title: string, fields: AdditionalFields, bytes: number][] = [
    [
      'nothing else counts',
      { assignedBranchKey: 'b', disbursementDetails: { fees: [] }, assets: [{ amount: new Decimal(1) }] },
      0,
    ],
    ['the id of the set, and the id and the value of its field', { _set: { field: 'value' } }, 4 + 5 + 5],
    ['each group counts', { _set: [{ a: '1' }, { a: '23' }] }, 4 + 2 + 3],
    [
      'those of the disbursement and of securities',
      { disbursementDetails: { _d: { a: 'x' } }, assets: [{ _a: { b: 'y' } }] },
      8,
    ],
    ['a character takes up to four bytes', { _s: { a: 'zé€😀' } }, 2 + 1 + 1 + 2 + 3 + 4],
  ];
  for (const [title, fields, bytes] of cases) {
    it(title, () => expect(customFieldBytes(fields)).to.equal(bytes));
  }

  it('are those of the texts in UTF-8, whatever they contain', () => {
    const texts = fc.dictionary(
      fc.string({ unit: 'grapheme' }).filter((id) => id !== '__proto__'),
      fc.string({ unit: 'grapheme' }),
    );
    fc.assert(
      fc.property(texts, (set) => {
        const all = ['_set', ...Object.entries(set).flat()].join('');
        expect(customFieldBytes({ _set: set })).to.equal(Buffer.byteLength(all));
      }),
      { numRuns: 1_000 },
    );
  });
});
