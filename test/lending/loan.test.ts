import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  dayOf,
  dueOf,
  findInstallment,
  indexOfInstallment,
  installmentEncodedKey,
  rowDue,
  rowExpected,
  toInstant,
} from '../../src/lending/loan.ts';
import { disbursed, loanOf, money, repay, when } from './loan-fixtures.ts';

describe('a loan', () => {
  const loan = loanOf(when(disbursed(), repay(100, '2011-02-23')));
  const [row = expect.fail()] = loan.position.installments;

  it('shows the amounts due', () => {
    expect(dueOf({ expected: money(5), paid: money(2) }).toFixed()).to.equal('3');
    expect([rowExpected(row).toFixed(2), rowDue(row).toFixed(2)]).to.deep.equal(['315.47', '215.47']);
  });

  it('has a distinct key for each installment', () => {
    expect(installmentEncodedKey(loan, 1)).to.match(/^[0-9a-f]{24}00000001$/);
    expect(installmentEncodedKey(loan, 3660).slice(24)).to.equal('00000e4c');
  });

  it('finds an installment by its key, wherever it lies', () => {
    const [one = expect.fail(), two = expect.fail(), ...others] = loan.position.installments;
    const rows = [{ ...one, key: 9 }, two, one, ...others];
    expect([9, 2, 1, 3, 4, 5].map((key) => indexOfInstallment(rows, key))).to.deep.equal([0, 1, 2, 3, 4, -1]);
    expect(findInstallment(rows, 1)).to.equal(one);
    expect(findInstallment(rows, 5)).to.equal(undefined);
  });

  it('converts an instant to a day', () => {
    expect([dayOf(0), toInstant(0)]).to.deep.equal(['1970-01-01', '1970-01-01T00:00:00.000Z']);
  });
});
