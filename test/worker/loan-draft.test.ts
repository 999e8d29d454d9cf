import { expect } from 'chai';
import { describe, it } from 'mocha';
import { recordBytesMaximum } from '../../src/ports/event-log.ts';
import { pagesOf } from '../../src/lending/changelog/stored-pages.ts';
import { encodeAccount } from '../../src/lending-format/account-pages.ts';
import { encodeTransaction } from '../../src/lending/changelog/stored-transaction.ts';
import type { Loan } from '../../src/lending/loan.ts';
import { accountRecordKey, pageRecordKey, transactionRecordKey } from '../../src/lending-format/account-record-keys.ts';
import { type LoanDraft, assertFits, draftOf } from '../../src/worker/loan-draft.ts';
import { adjust, applyFee, disbursed, loanOf, product, repay, when } from '../lending/loan-fixtures.ts';

const start = disbursed(product({ scheduleSettings: { numInstallments: { defaultValue: 30 } } }));
const [disbursement = expect.fail()] = start.transactions;
const account = accountRecordKey('L1');
const pageKey = (list: 'charges' | 'installments', number: number): string => pageRecordKey('L1', { list, number });
const pageText = (loan: Loan, list: string, number: number): string =>
  pagesOf(loan).find((page) => page.list === list && page.number === number)?.text ?? expect.fail();

function textsOf({ records }: LoanDraft): Record<string, string | null> {
  return Object.fromEntries([...records].map(([key, value]) => [key, value?.toString() ?? null]));
}

describe('the draft of a loan', () => {
  const charged = when(start, applyFee(5, { installmentNumber: 14 }));
  const [, fee = expect.fail()] = charged.transactions;
  const first = draftOf(loanOf(charged), charged.transactions.slice(1), loanOf(start));

  it('has a record of the account, one for each transaction of its commands and one for each page that changed', () => {
    expect(textsOf(first)).to.deep.equal({
      [transactionRecordKey('L1', fee.encodedKey)]: encodeTransaction(fee),
      [pageKey('charges', 0)]: pageText(loanOf(charged), 'charges', 0),
      [pageKey('installments', 1)]: pageText(loanOf(charged), 'installments', 1),
      [account]: encodeAccount(loanOf(charged)).text,
    });
    const paid = when(charged, repay(10, '2011-02-23'));
    const second = draftOf(loanOf(paid), paid.transactions.slice(2), loanOf(charged), first);
    const [, , repayment = expect.fail()] = paid.transactions;
    expect(textsOf(second)).to.deep.equal({
      ...textsOf(first),
      [transactionRecordKey('L1', repayment.encodedKey)]: encodeTransaction(repayment),
      [pageKey('installments', 0)]: pageText(loanOf(paid), 'installments', 0),
      [account]: encodeAccount(loanOf(paid)).text,
    });
    expect(first.records.get(account)?.toString(), 'the draft before').to.equal(encodeAccount(loanOf(charged)).text);
    expect(second.transactions.get('L1-2')).to.equal(fee);
    expect(second.transactions.get(repayment.encodedKey)).to.equal(repayment);
    expect(second.transactions.get('L1-1')).to.equal(undefined);
  });

  it('has the last state of a transaction that was posted and adjusted, and no page that is empty again', () => {
    const adjusted = when(charged, adjust(2));
    const draft = draftOf(loanOf(adjusted), adjusted.transactions.slice(1), loanOf(charged), first);
    const [, undone = expect.fail(), adjustment = expect.fail()] = adjusted.transactions;
    expect(textsOf(draft)).to.deep.equal({
      [transactionRecordKey('L1', fee.encodedKey)]: encodeTransaction(undone),
      [transactionRecordKey('L1', adjustment.encodedKey)]: encodeTransaction(adjustment),
      [pageKey('charges', 0)]: null,
      [pageKey('installments', 1)]: pageText(loanOf(start), 'installments', 1),
      [account]: encodeAccount(loanOf(adjusted)).text,
    });
  });

  it('has all pages of a loan that is new, and deletes those that a loan has no longer', () => {
    const keys = ['installments', 'installments', 'installments'].map((_, number) => pageKey('installments', number));
    const opened = draftOf(loanOf(start), [], null);
    expect([...opened.records.keys()]).to.deep.equal([...keys, account]);
    const undone = when(start, adjust(1));
    const { records } = draftOf(loanOf(undone), [], loanOf(start));
    expect(keys.map((key) => records.get(key))).to.deep.equal([null, null, null]);
  });

  it('counts the keys and values of its records', () => {
    const adjusted = draftOf({ ...loanOf(when(charged, adjust(2))), notes: 'ü' }, [], loanOf(charged), first);
    for (const { records, bytes } of [first, adjusted]) {
      const sizes = [...records].map(([key, value]) => key.length + (value?.length ?? 0));
      expect(bytes).to.equal(sizes.reduce((sum, size) => sum + size, 0));
    }
  });

  it('is refused where one of its records would not fit the log', () => {
    const notes = 'n'.repeat(recordBytesMaximum);
    expect(() => draftOf({ ...loanOf(start), notes }, [], null)).to.throw('The loan would have');
    expect(() => draftOf(loanOf(start), [{ ...disbursement, notes }], null)).to.throw('The transaction would have');
  });

  it('fits up to the last byte of key and value', () => {
    assertFits('ü', recordBytesMaximum - 2, 'An event');
    expect(() => assertFits('ü', recordBytesMaximum - 1, 'An event')).to.throw(
      `An event would have ${recordBytesMaximum - 1} bytes, more than the log accepts (${recordBytesMaximum})`,
    );
  });
});
