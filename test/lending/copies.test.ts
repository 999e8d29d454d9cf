import { expect } from 'chai';
import { describe, it } from 'mocha';
import { changedLoan, changedPosition, changedRow } from '../../src/lending/copies.ts';
import { rowAt } from '../../src/lending/ledger.ts';
import { Decimal } from '../../src/lending/money.ts';
import { applyFee, disbursed, loanOf, repay, when } from './loan-fixtures.ts';

const loan = loanOf(when(when(disbursed(), applyFee(5, { installmentNumber: 2 })), repay('315.47', '2011-02-23')));
const { position } = loan;
const row = rowAt(position.installments, 0);

describe('a copy', () => {
  it('has every field of what it was made of', () => {
    expect(changedLoan(loan, {})).to.deep.equal(loan);
    expect(changedPosition(position, {})).to.deep.equal(position);
    expect(changedRow(row, {})).to.deep.equal(row);
  });

  it('has the new value of each field named, and of no other', () => {
    const transactions = loan.transactions.slice(0, 1);
    const changes = { position: { ...position, asOf: null }, transactions, modifiedAt: 7 };
    expect(changedLoan(loan, { ...changes, eventSequence: 8, scheduleVersion: 9 })).to.deep.equal({
      ...loan,
      ...changes,
      eventSequence: 8,
      scheduleVersion: 9,
    });
    expect(changedPosition(position, { accountState: 'CLOSED', closedAt: 7 })).to.deep.equal({
      ...position,
      accountState: 'CLOSED',
      closedAt: 7,
    });
    const interestAccrued = new Decimal('0.1');
    expect(changedRow(row, { interestAccrued, lastPaidDate: '2011-03-01' })).to.deep.equal({
      ...row,
      interestAccrued,
      lastPaidDate: '2011-03-01',
    });
  });

  it('takes a null for a value', () => {
    expect(row.repaidDate).not.to.equal(null);
    expect(changedRow(row, { repaidDate: null }).repaidDate).to.equal(null);
    expect(changedPosition(position, { disbursement: null }).disbursement).to.equal(null);
    expect(changedLoan(loan, { publishedUnder: null }).publishedUnder).to.equal(null);
  });

  it('leaves what it was made of as it was', () => {
    const { installments } = position;
    changedPosition(position, { installments: [] });
    expect(position.installments).to.equal(installments);
  });
});
