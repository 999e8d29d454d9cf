import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  decodeAccount,
  decodeLoan,
  decodeSummary,
  decodeTransactionKeys,
  decodeTransactions,
  encodeLoan,
  encodeLoanAfter,
} from '../../../src/lending/codec/loan-codec.ts';
import { transactionOfCommand } from '../../../src/lending/loan.ts';
import { Decimal } from '../../../src/lending/money.ts';
import { create, disbursed, given, loanOf, money, product, repay, when } from '../loan-fixtures.ts';

describe('a stored loan', () => {
  it('comes back as it was, decimals as decimals with every digit', () => {
    const loan = loanOf(when(disbursed(), repay(100, '2011-02-23')));
    const long = { ...loan, loanAmount: money('0.1234567890123456789012345678901234567890') };
    expect(decodeLoan(encodeLoan(long))).to.deep.equal(long);
    expect(decodeLoan(encodeLoan(long)).loanAmount).to.be.instanceOf(Decimal);
  });

  it('is one line', () => {
    expect(encodeLoan(loanOf(disbursed()))).to.not.include('\n');
  });

  for (const notes of ['#1', '##', '#', 'a\nb', '{"version":1}', '1000', '']) {
    it(`keeps the note ${JSON.stringify(notes)} a text`, () => {
      const loan = loanOf(given({ ...create(product()), notes }));
      expect(decodeLoan(encodeLoan(loan)).notes).to.equal(notes);
    });
  }

  for (const text of ['{}', '{"version":2,"loan":{}}', '{"version":1,"loan":null}', 'no json']) {
    it(`is not read from ${text}`, () => {
      expect(() => decodeLoan(text)).to.throw();
    });
  }

  it('is read in parts as it is read whole', () => {
    const loan = {
      ...loanOf(when(disbursed(), repay(100, '2011-02-23'))),
      loanName: '#1,"charges":[],"transactions":[',
    };
    const text = encodeLoan(loan);
    expect(decodeAccount(text)).to.deep.equal({ ...loan, transactions: [] });
    expect(decodeTransactions(text, 1, 9)).to.deep.equal(loan.transactions.slice(1));
    expect(decodeTransactionKeys(text)).to.deep.equal(loan.transactions.map(({ encodedKey }) => encodedKey));
    expect(decodeSummary(text)).to.deep.include({
      id: loan.id,
      loanName: loan.loanName,
      loanAmount: loan.loanAmount,
      accountState: 'ACTIVE',
      productKey: loan.product.encodedKey,
    });
  });

  it('is read and gone on from as it was stored before transactions bore the ids of their commands', () => {
    const earlier = loanOf(disbursed());
    const later = loanOf(when(disbursed(), repay(100, '2011-02-23')));
    const list = ',"remembered":[{"commandId":"c","outcome":"committed","transactionKey":null,"refusals":[]}]';
    const text = encodeLoan(earlier)
      .replaceAll(/"commandId":"[^"]*","commandDigest":"[^"]*",/g, '')
      .replace(',"position":', `${list},"position":`);
    expect(text).not.to.include('commandDigest');
    const old = decodeLoan(text);
    expect(old.position).to.deep.equal(earlier.position);
    expect(transactionOfCommand(old, earlier.transactions[0]?.commandId ?? '')).to.equal(undefined);
    const next = { ...later, transactions: [...old.transactions, ...later.transactions.slice(1)] };
    const written = encodeLoanAfter({ loan: old, text: Buffer.from(text) }, next).toString();
    expect(decodeLoan(written).transactions.at(-1)).to.deep.equal(later.transactions.at(-1));
    expect(decodeLoan(encodeLoan(old)).position).to.deep.equal(earlier.position);
    expect(decodeSummary(written).transactionKeys).to.have.length(2);
  });

  it('is written after an earlier state as it is from scratch', () => {
    const earlier = loanOf(disbursed());
    const later = loanOf(when(disbursed(), repay(100, '2011-02-23')));
    for (const loan of [later, { ...later, transactions: [...earlier.transactions, ...later.transactions.slice(1)] }]) {
      const text = encodeLoanAfter({ loan: earlier, text: Buffer.from(encodeLoan(earlier)) }, loan);
      expect(text.toString()).to.equal(encodeLoan(loan));
    }
  });
});
