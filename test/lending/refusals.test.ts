import { expect } from 'chai';
import { describe, it } from 'mocha';
import { refusal, refusalCodes } from '../../src/lending/refusals.ts';

describe('refusals', () => {
  it('have distinct numbers', () => {
    const numbers = Object.values(refusalCodes);
    expect(new Set(numbers).size).to.equal(numbers.length);
  });

  it('name a field, or none', () => {
    expect(refusal('INVALID_AMOUNT', 'amount').errorSource).to.equal('amount');
    expect(refusal('INVALID_ACCOUNT_STATE').errorSource).to.equal(null);
  });
});
