import { expect } from 'chai';
import { describe, it } from 'mocha';
import { loanWith, positionWith, rowWith } from '../../src/lending/with-changes.ts';
import { rowAt } from '../../src/lending/ledger.ts';
import { Decimal } from '../../src/lending/money.ts';
import { applyFee, disbursed, loanOf, repay, when } from './loan-fixtures.ts';

const loan = loanOf(when(when(disbursed(), applyFee(5, { installmentNumber: 2 })), repay('315.47', '2011-02-23')));
const { position } = loan;
const row = rowAt(position.installments, 0);

describe('a copy with changes', () => {
  it('has every field of the original', () => {
    expect(loanWith(loan, {})).to.deep.equal(loan);
    expect(positionWith(position, {})).to.deep.equal(position);
    expect(rowWith(row, {})).to.deep.equal(row);
  });

  it('has the new value of each named field, and of no other', () => {
    const transactions = loan.transactions.slice(0, 1);
    const changes = { position: { ...position, asOf: null }, transactions, modifiedAt: 7 };
    expect(loanWith(loan, { ...changes, eventSequence: 8, scheduleVersion: 9 })).to.deep.equal({
      ...loan,
      ...changes,
      eventSequence: 8,
      scheduleVersion: 9,
    });
    expect(positionWith(position, { accountState: 'CLOSED', closedAt: 7 })).to.deep.equal({
      ...position,
      accountState: 'CLOSED',
      closedAt: 7,
    });
    const interestAccrued = new Decimal('0.1');
    expect(rowWith(row, { interestAccrued, lastPaidDate: '2011-03-01' })).to.deep.equal({
      ...row,
      interestAccrued,
      lastPaidDate: '2011-03-01',
    });
  });

  it('accepts null as a value', () => {
    expect(row.repaidDate).not.to.equal(null);
    expect(rowWith(row, { repaidDate: null }).repaidDate).to.equal(null);
    expect(positionWith(position, { disbursement: null }).disbursement).to.equal(null);
    expect(loanWith(loan, { publishedUnder: null }).publishedUnder).to.equal(null);
  });

  it('leaves the original unchanged', () => {
    const { installments } = position;
    positionWith(position, { installments: [] });
    expect(position.installments).to.equal(installments);
  });
});
