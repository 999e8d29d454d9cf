import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  dueOf,
  findInstallment,
  indexOfInstallment,
  isPaid,
  nextDueRow,
  rowAt,
  rowDue,
  rowExpected,
} from '../../src/lending/installments.ts';
import { disbursed, loanOf, money, repay, when } from './loan-fixtures.ts';

describe('the installments of a loan', () => {
  const loan = loanOf(when(disbursed(), repay(100, '2011-02-23')));
  const [row = expect.fail()] = loan.position.installments;

  it('ask for the sum of their elements and owe what of it is unpaid', () => {
    expect(dueOf({ expected: money(5), paid: money(2) }).toFixed()).to.equal('3');
    expect([rowExpected(row).toFixed(2), rowDue(row).toFixed(2)]).to.deep.equal(['315.47', '215.47']);
  });

  it('are found by their keys, wherever they lie', () => {
    const [one = expect.fail(), two = expect.fail(), ...others] = loan.position.installments;
    const rows = [{ ...one, key: 9 }, two, one, ...others];
    expect([9, 2, 1, 3, 4, 5].map((key) => indexOfInstallment(rows, key))).to.deep.equal([0, 1, 2, 3, 4, -1]);
    expect(findInstallment(rows, 1)).to.equal(one);
    expect(findInstallment(rows, 5)).to.equal(undefined);
  });

  it('end with the last one', () => {
    expect(rowAt(loan.position.installments, 0)).to.equal(row);
    expect(() => rowAt([], 0)).to.throw('no installment 1');
  });

  it('have one that is due next: an unpaid one on or after the day, else the last unpaid one', () => {
    const paid = loanOf(when(disbursed(), repay('315.47', '2011-02-23')));
    expect(paid.position.installments.map(isPaid)).to.deep.equal([true, false, false, false]);
    const next = (day: string): number => nextDueRow(paid.position.installments, day).number;
    expect([next('2011-01-23'), next('2011-03-23'), next('2011-03-24'), next('2031-01-01')]).to.deep.equal([
      2, 2, 3, 4,
    ]);
  });
});
