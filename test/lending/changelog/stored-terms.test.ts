import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readTerms, writeTerms } from '../../../src/lending/changelog/stored-terms.ts';
import { termsOf } from '../../../src/lending/agreed-terms.ts';
import { product } from '../loan-fixtures.ts';

const given = termsOf({}, product());
const read = (text: string): unknown => readTerms(JSON.parse(text) as object, given);

describe('the terms of an account', () => {
  it('are nothing where they are those of its product', () => {
    expect(writeTerms(termsOf({}, product()), given)).to.equal('{}');
    expect(read('{}')).to.deep.equal(given);
  });

  it('are the fields with another value, in their places', () => {
    const terms = termsOf({ firstRepaymentDueDateOffset: 7, repaymentInstallments: 9 }, product());
    const text = writeTerms(terms, given);
    expect(text).to.equal('{"dueDates":{"firstRepaymentDueDateOffset":7},"repaymentInstallments":9}');
    expect(read(text)).to.deep.equal(terms);
  });

  it('are whole where a list differs, and keep a field that the product does not give', () => {
    const dueDates = { ...given.dueDates, fixedDaysOfMonth: [1, 15] };
    const text = writeTerms({ ...given, dueDates }, given);
    expect(text).to.equal('{"dueDates":{"fixedDaysOfMonth":[1,15]}}');
    expect(read(text)).to.deep.equal({ ...given, dueDates });
  });

  it('are written again for another product', () => {
    const terms = termsOf({ gracePeriod: 0 }, product());
    expect(writeTerms(terms, given)).to.equal('{}');
    expect(writeTerms(terms, { ...given, gracePeriod: 3 })).to.equal('{"gracePeriod":0}');
  });

  it('cannot lack a field that their product gives', () => {
    const { gracePeriod: _gracePeriod, ...terms } = given;
    expect(() => writeTerms(terms as typeof given, given)).to.throw('The terms have no gracePeriod');
  });
});
