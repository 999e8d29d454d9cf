import { expect } from 'chai';
import { describe, it } from 'mocha';
import { isUsableDate, refuse, transactionOf } from '../../src/lending/decision.ts';
import { noAmounts } from '../../src/lending/ledger.ts';
import { disbursed, loanOf, money } from './loan-fixtures.ts';

describe('a decision', () => {
  it('refuses with a reason and the field it is about', () => {
    expect(refuse('INVALID_AMOUNT', 'amount')).to.deep.equal({
      refusals: [{ errorReason: 'INVALID_AMOUNT', errorSource: 'amount' }],
    });
  });

  it('gives a transaction its terms, and books it on its value date unless told otherwise', () => {
    const own = { amount: money(1), valueDate: '2011-02-23', affected: noAmounts, taxes: noAmounts };
    const header = { commandId: 'c', receivedAt: 0 };
    const transaction = transactionOf(loanOf(disbursed()), header, { newKey: (purpose) => purpose }, 'REPAYMENT', own);
    expect(transaction).to.include({ encodedKey: 'transaction', bookingDate: '2011-02-23', externalId: null });
    expect(transaction.terms.interestRate.toFixed()).to.equal('10');
    expect(transaction.terms.periodicPayment?.toFixed(2)).to.equal('315.47');
  });

  it('uses dates that schedules can be counted from', () => {
    expect(['1899-12-31', '1900-01-01', '2999-12-31', '3000-01-01'].map(isUsableDate)).to.deep.equal([
      false,
      true,
      true,
      false,
    ]);
  });
});
