import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { undoOf, undone } from '../../../src/lending/commands/undo.ts';
import { type StoredUndo, readUndo, writeUndo } from '../../../src/lending/changelog/stored-position.ts';
import type { Loan, LoanPosition } from '../../../src/lending/loan.ts';
import type { Installment } from '../../../src/lending/installments.ts';
import { adjust, applyFee, disbursed, loanOf, money, repay, texts, when } from '../loan-fixtures.ts';

/** The loan in that position. */
const at = (position: LoanPosition): Loan => ({ ...loanOf(disbursed()), position });

describe('undoing', () => {
  it('stores only the fields, rows and charges that changed', () => {
    const before = when(disbursed(), applyFee(5, { installmentNumber: 2 }));
    const charged = loanOf(before).position;
    const paid = loanOf(when(before, repay('315.47', '2011-02-23'))).position;
    const undo = undoOf(charged, at(paid));
    expect(Object.keys(undo.fields)).to.deep.equal(['asOf', 'lastValueDate']);
    expect(undo.installments.map(({ key }) => key)).to.deep.equal([1]);
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
    expect(undone(shorter, undoOf(position, at(shorter)))).to.deep.equal(position);
    expect(undone(position, undoOf(shorter, at(position)))).to.deep.equal(shorter);
  });

  it('stores nothing of a row that is a new object with the same values', () => {
    const { position } = loanOf(disbursed());
    const copied = { ...position, installments: position.installments.map((row) => structuredRow(row)) };
    expect(undoOf(position, at(copied)).installments).to.deep.equal([]);
  });

  it('keeps the sign of a zero, which is written as it is', () => {
    const { position } = loanOf(disbursed());
    const [row = expect.fail(), ...rest] = position.installments;
    const negative = { ...row, principalOverpaid: money('-0') };
    const before = { ...position, installments: [negative, ...rest] };
    expect(undoOf(before, at(position)).installments).to.deep.equal([
      { key: 1, fields: { principalOverpaid: money('-0') } },
    ]);
  });

  it('tells an element whose tax alone differs', () => {
    const { position } = loanOf(disbursed());
    const [row = expect.fail(), ...rest] = position.installments;
    const interest = { ...row.interest, tax: { expected: money(1), paid: money(0) } };
    const taxed = { ...position, installments: [{ ...row, interest }, ...rest] };
    expect(undoOf(position, at(taxed)).installments).to.deep.equal([{ key: 1, fields: { interest: row.interest } }]);
    expect(undone(taxed, undoOf(position, at(taxed)))).to.deep.equal(position);
  });
});

describe('undoing what moved rows', () => {
  const charged = when(disbursed(), applyFee(5, { installmentNumber: 3 }));
  const { position } = loanOf(charged);
  const [first = expect.fail()] = position.installments;

  /** Rows in another order of events: some left out, others inserted, numbered again without a gap. */
  const recalculated = fc
    .record({
      kept: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
      inserted: fc.array(fc.nat(4), { maxLength: 3 }),
      paid: fc.array(fc.nat(3), { maxLength: 2 }),
    })
    .map(({ kept, inserted, paid }): LoanPosition => {
      const rows = position.installments.filter((_, index) => kept[index]);
      for (const [index, place] of inserted.entries()) rows.splice(place, 0, { ...first, key: 5 + index });
      for (const index of paid) {
        const row = rows[index];
        if (row !== undefined) rows[index] = { ...row, lastPaidDate: '2011-02-01', principalOverpaid: money(1) };
      }
      return { ...position, installments: rows.map((row, index) => ({ ...row, number: index + 1 })) };
    });

  it('restores every row under its key, whatever was inserted, removed and numbered again', () => {
    fc.assert(
      fc.property(recalculated, recalculated, (before, after) => {
        const undo = undoOf(before, at(after));
        const stored = readUndo(JSON.parse(writeUndo(undo)) as StoredUndo);
        expect(undone(after, stored)).to.deep.equal(before);
      }),
    );
  });

  it('stores of a row that only moved its number alone', () => {
    const rows = [{ ...first, key: 5 }, ...position.installments];
    const moved = { ...position, installments: rows.map((row, index) => ({ ...row, number: index + 1 })) };
    const undo = undoOf(position, at(moved));
    expect(undo.addedInstallments).to.deep.equal([5]);
    expect(undo.installments).to.deep.equal([1, 2, 3, 4].map((number) => ({ key: number, fields: { number } })));
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

describe('the fees that a transaction settled', () => {
  const charged = when(when(disbursed(), applyFee(5, { installmentNumber: 1 })), applyFee(7, { installmentNumber: 2 }));
  const paid = when(charged, repay('320.47', '2011-02-23'));
  const [, , , repayment = expect.fail()] = paid.transactions;

  it('leave the account, which keeps their sum, and are kept in the undo as they were before and after', () => {
    const { charges, settledFees, chargeCount } = loanOf(paid).position;
    expect(charges.map(({ number }) => number)).to.deep.equal([2]);
    expect(chargeCount).to.equal(2);
    expect(texts({ ...settledFees })).to.deep.equal({
      paid: '5.00',
      nonScheduledPaid: '0.00',
      expectedOutsideRows: '0.00',
    });
    expect(repayment.undo?.charges).to.have.length(1);
    expect(repayment.undo?.charges[0]?.before).to.equal(loanOf(charged).position.charges[0]);
    expect(repayment.undo?.charges[0]?.settled?.amount.paid.toFixed()).to.equal('5');
  });

  it('come back in their place when the transaction is adjusted', () => {
    const back = when(paid, adjust(4));
    expect(loanOf(back).position).to.deep.equal(loanOf(charged).position);
    expect(
      back.events.filter(({ eventType }) => eventType === 'loan_fee_event').map((event) => event.eventType),
    ).to.have.length(4);
  });
});
