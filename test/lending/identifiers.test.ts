import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  indexOfEncodedKey,
  installmentEncodedKey,
  parseTransactionId,
  transactionId,
} from '../../src/lending/identifiers.ts';
import { disbursed, loanOf, repay, when } from './loan-fixtures.ts';

describe('the identifiers of a loan', () => {
  const loan = loanOf(when(disbursed(), repay(100, '2011-02-23')));

  it('has a distinct key for each installment', () => {
    expect(installmentEncodedKey(loan, 1)).to.match(/^[0-9a-f]{24}00000001$/);
    expect(installmentEncodedKey(loan, 3660).slice(24)).to.equal('00000e4c');
  });

  it('lead from the key of an installment to its place', () => {
    const { installments } = loan.position;
    expect(indexOfEncodedKey(loan, installments, installmentEncodedKey(loan, 3))).to.equal(2);
    expect(indexOfEncodedKey(loan, installments, installmentEncodedKey(loan, 5))).to.equal(-1);
  });

  it('lead from a transaction to its account and number, also where the id of the account has dashes', () => {
    for (const loanId of [loan.id, 'a-7']) {
      expect(parseTransactionId(transactionId(loanId, 12))).to.deep.equal({ loanId, number: 12 });
    }
    expect(['a', 'a-', 'a-0', '-1', `a-${'1'.repeat(16)}`].map(parseTransactionId)).to.deep.equal(
      Array.from({ length: 5 }, () => undefined),
    );
  });
});
