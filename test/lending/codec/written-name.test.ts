import { expect } from 'chai';
import { describe, it } from 'mocha';
import { writtenName } from '../../../src/lending/codec/written-name.ts';

describe('the name of a field', () => {
  it('stands in JSON behind the brace or behind another field, however often it is asked for', () => {
    const { first, next } = writtenName('feesDue');
    expect(JSON.parse(`{${first}1${writtenName('feesPaid').next}2}`)).to.deep.equal({ feesDue: 1, feesPaid: 2 });
    expect(next).to.equal(`,${first}`);
    expect(writtenName('feesDue')).to.equal(writtenName('feesDue'));
  });
});
