import { expect } from 'chai';
import { describe, it } from 'mocha';
import { undoOf, undone } from '../../src/lending/undo.ts';
import type { Installment } from '../../src/lending/loan.ts';
import { applyFee, disbursed, loanOf, money, repay, when } from './loan-fixtures.ts';

describe('undoing', () => {
  it('stores only the fields, rows and charges that changed', () => {
    const before = when(disbursed(), applyFee(5, { installmentNumber: 2 }));
    const charged = loanOf(before).position;
    const paid = loanOf(when(before, repay('315.47', '2011-02-23'))).position;
    const undo = undoOf(charged, paid);
    expect(Object.keys(undo.fields)).to.deep.equal(['asOf']);
    expect(undo.installments.map(({ number }) => number)).to.deep.equal([1]);
    expect(Object.keys(undo.installments[0]?.fields ?? {})).to.deep.equal([
      'principal',
      'interest',
      'lastPaidDate',
      'repaidDate',
    ]);
    expect(undo.charges).to.deep.equal([]);
    expect(undone(paid, undo)).to.deep.equal(charged);
  });

  it('restores dropped rows and removes added rows and charges', () => {
    const { position } = loanOf(when(disbursed(), applyFee(5, { installmentNumber: 2 })));
    const shorter = { ...position, installments: position.installments.slice(0, 2), charges: [] };
    expect(undone(shorter, undoOf(position, shorter))).to.deep.equal(position);
    expect(undone(position, undoOf(shorter, position))).to.deep.equal(shorter);
  });

  it('stores nothing of a row that is a new object with the same values', () => {
    const { position } = loanOf(disbursed());
    const copied = { ...position, installments: position.installments.map((row) => structuredRow(row)) };
    expect(undoOf(position, copied).installments).to.deep.equal([]);
  });

  it('keeps the sign of a zero, which is written as it is', () => {
    const { position } = loanOf(disbursed());
    const [row = expect.fail(), ...rest] = position.installments;
    const negative = { ...row, principalOverpaid: money('-0') };
    const before = { ...position, installments: [negative, ...rest] };
    expect(undoOf(before, position).installments).to.deep.equal([
      { number: 1, fields: { principalOverpaid: money('-0') } },
    ]);
  });

  it('tells an element whose tax alone differs', () => {
    const { position } = loanOf(disbursed());
    const [row = expect.fail(), ...rest] = position.installments;
    const interest = { ...row.interest, tax: { expected: money(1), paid: money(0) } };
    const taxed = { ...position, installments: [{ ...row, interest }, ...rest] };
    expect(undoOf(position, taxed).installments).to.deep.equal([{ number: 1, fields: { interest: row.interest } }]);
    expect(undone(taxed, undoOf(position, taxed))).to.deep.equal(position);
  });
});

/** A copy in which each portion and each amount is another object. */
function structuredRow(row: Installment): Installment {
  const portion = ({ expected, paid }: Installment['principal']): Installment['principal'] => ({
    expected: money(expected.toFixed()),
    paid: money(paid.toFixed()),
  });
  const interest = { amount: portion(row.interest.amount), tax: portion(row.interest.tax) };
  return { ...row, principal: portion(row.principal), interest, interestAccrued: money(row.interestAccrued.toFixed()) };
}
