import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  type StoredCharge,
  type StoredRows,
  type StoredUndo,
  readCharges,
  readRows,
  readUndo,
  writeCharges,
  writeRows,
  writeUndo,
} from '../../../src/lending/changelog/stored-position.ts';
import { undoOf } from '../../../src/lending/commands/undo.ts';
import { applyFee, disbursed, loanOf, repay, when } from '../loan-fixtures.ts';

const before = loanOf(when(disbursed(), applyFee(5, { installmentNumber: 1 }))).position;
const paid = when(when(disbursed(), applyFee(5, { installmentNumber: 1 })), repay('320.47', '2011-02-23'));
const loan = loanOf(paid);
const { position } = loan;

describe('a stored position', () => {
  it('has its rows without what is zero, null or follows from the row before', () => {
    const [first, second] = JSON.parse(writeRows(position.installments)) as StoredRows;
    expect(first).to.deep.equal({
      dueDate: '2011-02-23',
      accruesAfter: '2011-01-23',
      principal: ['215.47', '215.47'],
      interest: ['100', '100'],
      fee: ['5', '5'],
      lastPaidDate: '2011-02-23',
      repaidDate: '2011-02-23',
    });
    expect(second).to.deep.equal({ dueDate: '2011-03-23', principal: ['237.02'], interest: ['78.45'] });
  });

  it('has the same rows and charges when it is read', () => {
    const { installments, charges } = position;
    expect(readRows(JSON.parse(writeRows(installments)) as StoredRows)).to.deep.equal(installments);
    expect(readCharges(JSON.parse(writeCharges(charges)) as StoredCharge[])).to.deep.equal(charges);
    expect([writeRows([]), writeCharges([])]).to.deep.equal(['[]', '[]']);
  });

  it('has the days that a row had before it was moved to a working day, also in the undo that brings it back', () => {
    const unmoved = { accruesAfter: '2011-01-23', dueDate: '2011-02-22' };
    const installments = position.installments.map((row, index) => (index === 0 ? { ...row, unmoved } : row));
    const stored = JSON.parse(writeRows(installments)) as StoredRows;
    expect(stored.map((row) => row.unmoved)).to.deep.equal([unmoved, undefined, undefined, undefined]);
    expect(readRows(stored)).to.deep.equal(installments);
    const undo = undoOf({ ...position, installments }, { ...loan, position: { ...position, installments: [] } });
    expect(readUndo(JSON.parse(writeUndo(undo)) as StoredUndo)).to.deep.equal(undo);
  });

  it('has the key of a row where it is not its number', () => {
    const [first = expect.fail(), ...others] = position.installments;
    const rows = [first, { ...first, key: 9, accruesAfter: first.dueDate }, ...others].map((row, index) => ({
      ...row,
      number: index + 1,
    }));
    const stored = JSON.parse(writeRows(rows)) as StoredRows;
    expect(stored.map(({ key }) => key)).to.deep.equal([undefined, 9, 2, 3, 4]);
    expect(readRows(stored)).to.deep.equal(rows);
  });

  it('has the keys of added rows as runs', () => {
    const added = [1, 2, 3, 7, 9, 10];
    const stored = JSON.parse(
      writeUndo({ fields: {}, addedInstallments: added, installments: [], charges: [] }),
    ) as StoredUndo;
    expect(stored.addedInstallments).to.deep.equal([
      [1, 3],
      [7, 1],
      [9, 2],
    ]);
    expect(readUndo(stored).addedInstallments).to.deep.equal(added);
  });

  it('has an undo with the fields of rows that changed, which is read as it was written', () => {
    const undo = undoOf(before, { ...loan, position });
    const stored = JSON.parse(writeUndo(undo)) as StoredUndo;
    expect(stored.installments).to.deep.equal([
      {
        key: 1,
        principal: ['215.47'],
        interest: ['100'],
        fee: ['5'],
        lastPaidDate: null,
        repaidDate: null,
      },
    ]);
    expect(readUndo(stored)).to.deep.equal(undo);
  });

  it('has whole rows in the undo of a transaction that removed them', () => {
    const undo = undoOf(position, {
      ...loan,
      position: { ...position, installments: position.installments.slice(0, 2) },
    });
    expect(undo.installments).to.have.length(2);
    expect(readUndo(JSON.parse(writeUndo(undo)) as StoredUndo)).to.deep.equal(undo);
  });
});
