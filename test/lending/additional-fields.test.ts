import { expect } from 'chai';
import { describe, it } from 'mocha';
import { withAdditionalFields } from '../../src/lending/additional-fields.ts';
import { Decimal } from '../../src/lending/money.ts';

const dec = (text: string): Decimal => new Decimal(text);

describe('additional fields of a view', () => {
  it('come back at the places they were sent at', () => {
    const view = { id: 'p', settings: { rate: dec('1.5') }, fees: [{ id: 'a' }, { id: 'b' }] };
    const additional = { category: 'PERSONAL', settings: { source: 'FIXED' }, fees: [{}, { rules: [1] }] };
    expect(withAdditionalFields(view, additional)).to.deep.equal({
      id: 'p',
      settings: { rate: dec('1.5'), source: 'FIXED' },
      fees: [{ id: 'a' }, { id: 'b', rules: [1] }],
      category: 'PERSONAL',
    });
  });

  it('never replace a value of the view, but take the place of null', () => {
    const view = { rate: dec('1.5'), name: null, list: [1] };
    expect(withAdditionalFields(view, { rate: { a: 1 }, name: 'x', list: 'y' })).to.deep.equal({
      rate: dec('1.5'),
      name: 'x',
      list: [1],
    });
  });
});
