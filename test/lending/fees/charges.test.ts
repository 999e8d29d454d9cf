import { expect } from 'chai';
import { describe, it } from 'mocha';
import { inOrder, isNotYetDue, isOutsideRows, isPaidAsFee, isPlanned } from '../../../src/lending/fees/charges.ts';
import { applyFee, disbursed, dynamicProduct, loanOf, when } from '../loan-fixtures.ts';

describe('the fees of a loan', () => {
  it('are outside the rows unless they joined one or were capitalised', () => {
    const [charge = expect.fail()] = loanOf(when(disbursed(), applyFee(5, { installmentNumber: 1 }))).position.charges;
    expect(isOutsideRows(charge)).to.equal(false);
    expect(isOutsideRows({ ...charge, installmentKey: null })).to.equal(true);
    expect(isOutsideRows({ ...charge, installmentKey: null, trigger: 'CAPITALIZED_DISBURSEMENT' })).to.equal(false);
    expect(inOrder([{ ...charge, number: 2 }, charge]).map(({ number }) => number)).to.deep.equal([1, 2]);
  });

  it('count as paid fees unless they are outside the schedule or were capitalised', () => {
    const [charge = expect.fail()] = loanOf(when(disbursed(), applyFee(5, { installmentNumber: 1 }))).position.charges;
    expect(isPaidAsFee(charge)).to.equal(true);
    expect(isPaidAsFee({ ...charge, allocation: 'NO_ALLOCATION' })).to.equal(false);
    expect(isPaidAsFee({ ...charge, trigger: 'CAPITALIZED_DISBURSEMENT' })).to.equal(false);
  });

  it('of a due date are due on that date, and only planned before it where the rows of the loan change', () => {
    for (const [story, plans] of [
      [when(disbursed(dynamicProduct()), applyFee(5)), true],
      [when(disbursed(), applyFee(5, { installmentNumber: 1 })), false],
    ] as const) {
      const loan = loanOf(story);
      const [manual = expect.fail()] = loan.position.charges;
      const charge = { ...manual, trigger: 'PAYMENT_DUE' } as const;
      const [row = expect.fail()] = loan.position.installments;
      const onDueDate = { ...loan.position, asOf: row.dueDate };
      expect([isNotYetDue(charge, loan.position), isNotYetDue(charge, onDueDate)]).to.deep.equal([true, false]);
      expect([isPlanned(loan, loan.position, charge), isPlanned(loan, onDueDate, charge)]).to.deep.equal([
        plans,
        false,
      ]);
      expect(isNotYetDue(manual, loan.position)).to.equal(false);
    }
  });
});
