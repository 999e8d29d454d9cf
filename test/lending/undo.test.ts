import { expect } from 'chai';
import { describe, it } from 'mocha';
import { undoOf, undone } from '../../src/lending/undo.ts';
import { applyFee, disbursed, loanOf, repay, when } from './loan-fixtures.ts';

describe('undoing', () => {
  it('stores only the rows and charges that changed', () => {
    const before = when(disbursed(), applyFee(5, { installmentNumber: 2 }));
    const charged = loanOf(before).position;
    const paid = loanOf(when(before, repay('315.47', '2011-02-23'))).position;
    const undo = undoOf(charged, paid);
    expect(undo.installments.map(({ number }) => number)).to.deep.equal([1]);
    expect(undo.charges).to.deep.equal([]);
    expect(undone(paid, undo)).to.deep.equal(charged);
  });

  it('restores dropped rows and removes added rows and charges', () => {
    const { position } = loanOf(when(disbursed(), applyFee(5, { installmentNumber: 2 })));
    const shorter = { ...position, installments: position.installments.slice(0, 2), charges: [] };
    expect(undone(shorter, undoOf(position, shorter))).to.deep.equal(position);
    expect(undone(position, undoOf(shorter, position))).to.deep.equal(shorter);
  });
});
