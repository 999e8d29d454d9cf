import { expect } from 'chai';
import { describe, it } from 'mocha';
import { cachedNamesMaximum, jsonFieldName } from '../../../src/lending/changelog/json-field-name.ts';

describe('the name of a field', () => {
  it('is found in JSON after the brace or after another field, however often it is requested', () => {
    const { first, next } = jsonFieldName('feesDue');
    expect(JSON.parse(`{${first}1${jsonFieldName('feesPaid').next}2}`)).to.deep.equal({ feesDue: 1, feesPaid: 2 });
    expect(next).to.equal(`,${first}`);
    expect(jsonFieldName('feesDue')).to.equal(jsonFieldName('feesDue'));
  });

  it('is built once again after more other names than are remembered', () => {
    for (let number = 0; number < cachedNamesMaximum; number += 1) jsonFieldName(`other ${number}`);
    expect(jsonFieldName('feesDue')).to.equal(jsonFieldName('feesDue'));
  });
});
