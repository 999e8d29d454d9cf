import { expect } from 'chai';
import { describe, it } from 'mocha';
import { recordBytesMaximum } from '../../src/ports/event-log.ts';
import { encodeLoan } from '../../src/lending/changelog/stored-loan.ts';
import { namedProduct } from '../../src/lending-format/account-products.ts';
import { encodeTransaction } from '../../src/lending/changelog/stored-transaction.ts';
import type { Loan } from '../../src/lending/loan.ts';
import { accountRecordKey, transactionRecordKey } from '../../src/lending-format/account-record-keys.ts';
import { assertFits, draftOf } from '../../src/worker/loan-draft.ts';
import { adjust, applyFee, disbursed, loanOf, repay, when } from '../lending/loan-fixtures.ts';

const start = disbursed();
const [disbursement = expect.fail()] = start.transactions;
const account = accountRecordKey('L1');
const textOf = (loan: Loan): string => encodeLoan(loan, namedProduct(loan.product));

describe('the draft of a loan', () => {
  it('has a record of the account and one for each transaction of its commands', () => {
    const charged = when(start, applyFee(5, { installmentNumber: 2 }));
    const paid = when(charged, repay(10, '2011-02-23'));
    const first = draftOf(loanOf(charged), charged.transactions.slice(1));
    const second = draftOf(loanOf(paid), paid.transactions.slice(2), first);
    const [, fee = expect.fail(), repayment = expect.fail()] = paid.transactions;
    expect(Object.fromEntries([...second.records].map(([key, value]) => [key, value.toString()]))).to.deep.equal({
      [account]: textOf(loanOf(paid)),
      [transactionRecordKey('L1', fee.encodedKey)]: encodeTransaction(fee),
      [transactionRecordKey('L1', repayment.encodedKey)]: encodeTransaction(repayment),
    });
    expect(first.records.get(account)?.toString(), 'the draft before').to.equal(textOf(loanOf(charged)));
    expect(second.transactions.get('L1-2')).to.equal(fee);
    expect(second.transactions.get(repayment.encodedKey)).to.equal(repayment);
    expect(second.transactions.get('L1-1')).to.equal(undefined);
  });

  it('has the last state of a transaction that was posted and adjusted', () => {
    const charged = when(start, applyFee(5, { installmentNumber: 2 }));
    const adjusted = when(charged, adjust(2));
    const before = draftOf(loanOf(charged), charged.transactions.slice(1));
    const draft = draftOf(loanOf(adjusted), adjusted.transactions.slice(1), before);
    const [, fee = expect.fail()] = adjusted.transactions;
    expect(draft.records.get(transactionRecordKey('L1', fee.encodedKey))?.toString()).to.equal(encodeTransaction(fee));
    expect(draft.records).to.have.property('size', 3);
  });

  it('counts the keys and values of its records', () => {
    const { records, bytes } = draftOf({ ...loanOf(start), notes: 'ü' }, start.transactions);
    const sizes = [...records].map(([key, value]) => key.length + value.length);
    expect(bytes).to.equal(sizes.reduce((sum, size) => sum + size, 0));
  });

  it('is refused where one of its records would not fit the log', () => {
    const notes = 'n'.repeat(recordBytesMaximum);
    expect(() => draftOf({ ...loanOf(start), notes }, [])).to.throw('The loan would have');
    expect(() => draftOf(loanOf(start), [{ ...disbursement, notes }])).to.throw('The transaction would have');
  });

  it('fits up to the last byte of key and value', () => {
    assertFits('ü', recordBytesMaximum - 2, 'An event');
    expect(() => assertFits('ü', recordBytesMaximum - 1, 'An event')).to.throw(
      `An event would have ${recordBytesMaximum - 1} bytes, more than the log accepts (${recordBytesMaximum})`,
    );
  });
});
