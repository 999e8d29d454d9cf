import { expect } from 'chai';
import { describe, it } from 'mocha';
import { applyPenalty, create, disbursed, given, loanOf, product, reasons, repay, when } from '../loan-fixtures.ts';

describe('a penalty', () => {
  it('is added to the named installment, otherwise to the next due one', () => {
    const named = when(disbursed(), applyPenalty('1.50', { installmentNumber: 3 }));
    const next = when(disbursed(), applyPenalty('1.50', { valueDate: '2011-03-01' }));
    for (const [story, number] of [
      [named, 3],
      [next, 2],
    ] as const) {
      expect(loanOf(story).position.installments[number - 1]?.penalty.amount.expected.toFixed(2)).to.equal('1.50');
      expect(story.transactions.at(-1)).to.include({ type: 'PENALTY_APPLIED', installmentKey: number });
    }
  });

  const table: readonly (readonly [what: string, amount: string, more: object, reason: string])[] = [
    ['when it is zero', '0', {}, 'INVALID_AMOUNT amount'],
    ['with more digits than the currency', '0.001', {}, 'INVALID_AMOUNT amount'],
    ['before the disbursement', '1', { valueDate: '2011-01-22' }, 'INVALID_DATE valueDate'],
    ['on an unknown installment', '1', { installmentNumber: 5 }, 'INVALID_REPAYMENT_NUMBER installmentNumber'],
    ['on a paid installment', '1', { installmentNumber: 1 }, 'REPAYMENT_WAS_FULLY_PAID installmentNumber'],
  ];
  for (const [what, amount, more, reason] of table) {
    it(`is refused ${what}`, () => {
      const paid = when(disbursed(), repay('315.47', '2011-01-23'));
      expect(reasons(when(paid, applyPenalty(amount, more)))).to.deep.equal([reason]);
    });
  }

  it('is refused before the disbursement', () => {
    expect(reasons(when(given(create(product())), applyPenalty(1)))).to.deep.equal(['INVALID_ACCOUNT_STATE']);
  });
});
