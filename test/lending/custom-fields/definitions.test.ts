import { expect } from 'chai';
import { describe, it } from 'mocha';
import { type FieldUsage, typesWithFields, usageOn } from '../../../src/lending/custom-fields/definitions.ts';
import { aField } from './field-definitions.ts';

describe('the usage of a custom field', () => {
  const [ofHouse, needed]: [FieldUsage, FieldUsage] = [
    { objectNames: ['house', 'k'], isRequired: false },
    { objectNames: null, isRequired: true },
  ];

  it('is anywhere and never required without entries', () => {
    expect(usageOn(aField('_s', 'a'), ['car'])).to.deep.equal({ objectNames: null, isRequired: false });
  });

  it('is that of a product by its id or its key, and none on another one', () => {
    const field = aField('_s', 'a', { usage: [ofHouse] });
    expect(usageOn(field, ['house'])).to.equal(ofHouse);
    expect(usageOn(field, ['other', 'k'])).to.equal(ofHouse);
    expect(usageOn(field, ['car'])).to.equal(undefined);
  });

  it('is required where one of its entries that apply says so', () => {
    expect(usageOn(aField('_s', 'a', { usage: [ofHouse, needed] }), ['house'])).to.equal(needed);
  });
});

describe('the types of transactions with custom fields', () => {
  it('are those that a person can post, each once', () => {
    expect(typesWithFields).to.include.members(['REPAYMENT', 'DISBURSEMENT', 'FEE_CHARGED', 'PENALTY_UNLOCKED']);
    expect(new Set(typesWithFields).size).to.equal(typesWithFields.length);
  });
});
