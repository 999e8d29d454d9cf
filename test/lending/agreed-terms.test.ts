import { expect } from 'chai';
import { describe, it } from 'mocha';
import { defaultOf, termsInForce, termsOf } from '../../src/lending/agreed-terms.ts';
import type { RateSegment } from '../../src/lending/terms.ts';
import { disbursed, loanOf, money, product } from './loan-fixtures.ts';

describe('the terms of a loan', () => {
  it('in force are those agreed, with the rates of the position', () => {
    const segments: readonly RateSegment[] = [
      { from: null, interestRate: money(10) },
      { from: '2024-02-01', interestRate: money(12) },
    ];
    const loan = loanOf(disbursed());
    const interest = { ...loan.terms.interest, rateSegments: segments };
    expect(termsInForce(loan, { rateSegments: segments })).to.deep.equal({ ...loan.terms, interest });
    expect(loan.position.rateSegments).to.deep.equal([{ from: null, interestRate: money(10) }]);
  });

  it('are those that it chose, else the default of its product, else the least that the product allows', () => {
    const numInstallments = { minValue: 3, defaultValue: 6, maxValue: 12 };
    const agreed = product({ scheduleSettings: { numInstallments } });
    expect(termsOf({ repaymentInstallments: 9 }, agreed).repaymentInstallments).to.equal(9);
    expect(termsOf({}, agreed).repaymentInstallments).to.equal(6);
    expect([defaultOf({ minValue: 3, maxValue: 12 }), defaultOf({ maxValue: 12 })]).to.deep.equal([3, undefined]);
  });
});
