import { expect } from 'chai';
import { describe, it } from 'mocha';
import { recordBytesMaximum } from '../../src/ports/event-log.ts';
import { chargesPerPage, pagesOf } from '../../src/lending/changelog/stored-pages.ts';
import { encodeAccount } from '../../src/lending-format/account-pages.ts';
import { encodeTransaction } from '../../src/lending/changelog/stored-transaction.ts';
import type { Loan, LoanTransaction } from '../../src/lending/loan.ts';
import { accountRecordKey, pageRecordKey, transactionRecordKey } from '../../src/lending-format/account-record-keys.ts';
import { LoanDraft, accountBytesEstimate, assertFits, draftedTransaction } from '../../src/worker/loan-draft.ts';
import { adjust, applyFee, disbursed, loanOf, product, repay, when } from '../lending/loan-fixtures.ts';

const start = disbursed(product({ scheduleSettings: { numInstallments: { defaultValue: 30 } } }));
const [disbursement = expect.fail()] = start.transactions;
const account = accountRecordKey('L1');
const pageKey = (list: 'charges' | 'installments', number: number): string => pageRecordKey('L1', { list, number });
const pageText = (loan: Loan, list: string, number: number): string =>
  pagesOf(loan).find((page) => page.list === list && page.number === number)?.text ?? expect.fail();

type Result = readonly [loan: Loan, transactions: readonly LoanTransaction[]];

/** The draft of a loan after the results of some commands. */
function draftOf(committed: Loan | null, [first, ...others]: [Result, ...Result[]]): LoanDraft {
  const draft = new LoanDraft(committed, first[0]);
  for (const [loan, transactions] of [first, ...others]) {
    draft.change(
      loan,
      transactions.map((transaction) => draftedTransaction('L1', transaction)),
    );
  }
  return draft;
}

const textsOf = (draft: LoanDraft): Record<string, string | null> => Object.fromEntries(draft.write().records);

describe('the draft of a loan', () => {
  const charged = when(start, applyFee(5, { installmentNumber: 14 }));
  const [, fee = expect.fail()] = charged.transactions;
  const afterFee: Result = [loanOf(charged), [fee]];

  it('has a record of the account, one for each transaction of its commands and one for each page that changed', () => {
    const first = textsOf(draftOf(loanOf(start), [afterFee]));
    expect(first).to.deep.equal({
      [transactionRecordKey('L1', fee.encodedKey)]: encodeTransaction(fee),
      [pageKey('charges', 0)]: pageText(loanOf(charged), 'charges', 0),
      [pageKey('installments', 1)]: pageText(loanOf(charged), 'installments', 1),
      [account]: encodeAccount(loanOf(charged)).text,
    });
    const paid = when(charged, repay(10, '2011-02-23'));
    const [, , repayment = expect.fail()] = paid.transactions;
    const second = draftOf(loanOf(start), [afterFee, [loanOf(paid), [repayment]]]);
    expect(textsOf(second)).to.deep.equal({
      ...first,
      [transactionRecordKey('L1', repayment.encodedKey)]: encodeTransaction(repayment),
      [pageKey('installments', 0)]: pageText(loanOf(paid), 'installments', 0),
      [account]: encodeAccount(loanOf(paid)).text,
    });
    expect(second.transaction('L1-2')).to.equal(fee);
    expect(second.transaction(repayment.encodedKey)).to.equal(repayment);
    expect(second.transaction('L1-1')).to.equal(undefined);
  });

  it('has the last state of a transaction that was posted and adjusted, and of no page that is as committed', () => {
    const adjusted = when(charged, adjust(2));
    const [, undone = expect.fail(), adjustment = expect.fail()] = adjusted.transactions;
    const draft = draftOf(loanOf(start), [afterFee, [loanOf(adjusted), [undone, adjustment]]]);
    expect(draft.transaction('L1-2')).to.equal(undone);
    expect(textsOf(draft)).to.deep.equal({
      [transactionRecordKey('L1', fee.encodedKey)]: encodeTransaction(undone),
      [transactionRecordKey('L1', adjustment.encodedKey)]: encodeTransaction(adjustment),
      [account]: encodeAccount(loanOf(adjusted)).text,
    });
  });

  it('has all pages of a loan that is new, and deletes those that a loan has no longer', () => {
    const keys = ['installments', 'installments', 'installments'].map((_, number) => pageKey('installments', number));
    const opened = draftOf(null, [[loanOf(start), []]]);
    expect([...opened.write().records.keys()]).to.deep.equal([...keys, account]);
    const undone = when(start, adjust(1));
    const texts = textsOf(draftOf(loanOf(start), [[loanOf(undone), []]]));
    expect(keys.map((key) => texts[key])).to.deep.equal([null, null, null]);
  });

  it('has the length of the account with all its pages, also those that it does not write', () => {
    const { text, pages } = encodeAccount(loanOf(charged));
    const lengths = [text, ...pages.map((page) => page.text)].map((each) => each.length);
    expect(pages).to.have.length(4);
    expect(draftOf(loanOf(start), [afterFee]).write().textLength).to.equal(
      lengths.reduce((sum, length) => sum + length, 0),
    );
  });

  it('counts the keys and values of its transactions, each once, and an estimate for the account', () => {
    const sizeOf = (transaction: LoanTransaction): number =>
      transactionRecordKey('L1', transaction.encodedKey).length + Buffer.byteLength(encodeTransaction(transaction));
    expect(draftOf(loanOf(start), [afterFee]).bytes).to.equal(accountBytesEstimate + sizeOf(fee));
    const noted = { ...fee, notes: 'ü' };
    const draft = draftOf(loanOf(start), [afterFee, [loanOf(charged), [noted]]]);
    expect(draft.bytes).to.equal(accountBytesEstimate + sizeOf(noted));
  });

  it('takes no transaction whose record would not fit the log', () => {
    const notes = 'n'.repeat(recordBytesMaximum);
    expect(() => draftedTransaction('L1', { ...disbursement, notes })).to.throw('The transaction would have');
  });

  it('fits up to the last byte of key and value', () => {
    assertFits('ü', recordBytesMaximum - 2, 'An event');
    expect(() => assertFits('ü', recordBytesMaximum - 1, 'An event')).to.throw(
      `An event would have ${recordBytesMaximum - 1} bytes, more than the log accepts (${recordBytesMaximum})`,
    );
  });

  it('has an account and pages far below the limit of the log, with the longest texts that commands may have', () => {
    // JSON writes a control character with six characters.
    const longest = (characters: number): string => '\u0001'.repeat(characters);
    const [name, notes] = [longest(256), longest(2_000)];
    const loan = loanOf(charged);
    const charges = Array.from({ length: chargesPerPage }, (_, index) => ({
      ...(loan.position.charges[0] ?? expect.fail()),
      number: index + 1,
      predefinedFeeKey: name,
      feeName: name,
    }));
    const large = { ...loan, loanName: name, accountHolderKey: name, notes, position: { ...loan.position, charges } };
    const texts = [
      ...draftOf(null, [[large, []]])
        .write()
        .records.values(),
    ];
    expect(texts).to.have.length(5);
    for (const text of texts) expect(Buffer.byteLength(text ?? '')).to.be.lessThan(recordBytesMaximum / 10);
  });

  it('deletes the account and its pages, until one with the same id is opened', () => {
    const draft = new LoanDraft(loanOf(start), loanOf(start));
    draft.delete();
    expect(draft.loan).to.equal(null);
    const texts = textsOf(draft);
    expect(texts[account]).to.equal(null);
    expect(texts[pageKey('installments', 0)]).to.equal(null);
    draft.change(loanOf(charged), []);
    expect(draft.loan).to.equal(loanOf(charged));
    expect(textsOf(draft)[account]).to.be.a('string');
  });
});
