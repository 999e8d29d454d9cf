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
} from '../../../src/lending/codec/stored-loan.ts';
import { transactionOfCommand, type Loan } from '../../../src/lending/loan.ts';
import { Decimal } from '../../../src/lending/money.ts';
import { create, disbursed, given, loanOf, money, product, repay, when } from '../loan-fixtures.ts';

describe('a stored loan', () => {
  it('is read as it was written, with all digits of its decimals', () => {
    const loan = loanOf(when(disbursed(), repay(100, '2011-02-23')));
    const long = { ...loan, loanAmount: money('0.1234567890123456789012345678901234567890') };
    expect(decodeLoan(encodeLoan(long))).to.deep.equal(long);
    expect(decodeLoan(encodeLoan(long)).loanAmount).to.be.instanceOf(Decimal);
  });

  it('is one line', () => {
    expect(encodeLoan(loanOf(disbursed()))).to.not.include('\n');
  });

  for (const notes of ['#1', '##', '#', 'a\nb', '{"version":1}', '1000', '']) {
    it(`keeps the note ${JSON.stringify(notes)} as text`, () => {
      const loan = loanOf(given({ ...create(product()), notes }));
      expect(decodeLoan(encodeLoan(loan)).notes).to.equal(notes);
    });
  }

  for (const text of ['{}', '{"version":2,"loan":{}}', '{"version":1,"loan":null}', 'no json']) {
    it(`cannot be read from ${text}`, () => {
      expect(() => decodeLoan(text)).to.throw();
    });
  }

  it('is read in parts as it is read completely', () => {
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

  it('can be read and continued in the format without command ids of transactions', () => {
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

  it('begins with the version of its format, which later versions check', () => {
    expect(encodeLoan(loanOf(disbursed()))).to.match(/^\{"version":1,"loan":\{/);
  });

  it('is refused with a reason when a part is missing', () => {
    for (const decode of [decodeLoan, decodeAccount, decodeTransactionKeys, decodeSummary]) {
      expect(() => decode('{"version":1}')).to.throw('not a stored loan');
    }
    const lacking = '{"version":1,"loan":{},"transactionKeys":[],"charges":[]}';
    expect(() => decodeLoan(lacking)).to.throw('not a stored loan');
  });

  it('is written after an earlier state as it is written from scratch', () => {
    const earlier = loanOf(disbursed());
    const later = loanOf(when(disbursed(), repay(100, '2011-02-23')));
    for (const loan of [later, { ...later, transactions: [...earlier.transactions, ...later.transactions.slice(1)] }]) {
      const text = encodeLoanAfter({ loan: earlier, text: Buffer.from(encodeLoan(earlier)) }, loan);
      expect(text.toString()).to.equal(encodeLoan(loan));
    }
  });

  it('is written from scratch after a state without common parts', () => {
    const earlier = loanOf(disbursed());
    const other = loanOf(
      given({ ...create(product({ id: 'other', currency: { code: 'JPY', digits: 0 } }), 7), notes: 'x' }),
    );
    const { position: _position, transactions: _transactions, publishedUnder: _publishedUnder, ...account } = other;
    const states: Loan[] = [
      { ...earlier, transactions: earlier.transactions.map((each) => ({ ...each, encodedKey: 'changed' })) },
      {
        ...earlier,
        position: { ...earlier.position, installments: earlier.position.installments.slice(1).toReversed() },
      },
      other,
      { ...other, ...Object.fromEntries(Object.entries(account).map(([name, value]) => [name, changed(value)])) },
    ];
    for (const loan of states) {
      const text = encodeLoanAfter({ loan: earlier, text: Buffer.from(encodeLoan(earlier)) }, loan);
      expect(text.toString()).to.equal(encodeLoan(loan));
    }
  });

  const parts = ['amount', 'tax'] as const;
  const sides = ['expected', 'paid'] as const;
  for (const part of parts) {
    for (const side of sides) {
      it(`keeps a row in which only the ${part} ${side} is not zero`, () => {
        const loan = loanOf(disbursed());
        const [row] = loan.position.installments;
        if (row === undefined) throw new Error('There is no row');
        const penalty = { ...row.penalty, [part]: { ...row.penalty[part], [side]: money('0.01') } };
        const penalized = { ...loan, position: { ...loan.position, installments: [{ ...row, penalty }] } };
        expect(decodeLoan(encodeLoan(penalized))).to.deep.equal(penalized);
      });
    }
  }
});

/** Another value for each field of an account, so that nothing of the earlier line may be copied. */
function changed(value: unknown): unknown {
  if (value instanceof Decimal) return value.plus(1);
  if (typeof value === 'string') return `${value} changed`;
  if (typeof value === 'number') return value + 1;
  return value === null ? 'changed' : { ...(value as object) };
}
