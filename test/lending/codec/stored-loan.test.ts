import { expect } from 'chai';
import { describe, it } from 'mocha';
import { decodeLoan, decodeSummary, encodeLoan } from '../../../src/lending/codec/stored-loan.ts';
import { Decimal } from '../../../src/lending/money.ts';
import { applyFee, create, disbursed, fee, given, loanOf, money, product, repay, when } from '../loan-fixtures.ts';

const loan = loanOf(when(disbursed(), repay(100, '2011-02-23')));

describe('a stored account', () => {
  it('is read as it was written, with all digits of its decimals', () => {
    const long = { ...loan, loanAmount: money('0.1234567890123456789012345678901234567890') };
    expect(decodeLoan(encodeLoan(long))).to.deep.equal(long);
    expect(decodeLoan(encodeLoan(long)).loanAmount).to.be.instanceOf(Decimal);
  });

  it('is one line', () => {
    expect(encodeLoan(loan)).to.not.include('\n');
  });

  for (const notes of ['#1', '##', '#', 'a\nb', '{"format":1}', '1000', '', '\0']) {
    it(`keeps the note ${JSON.stringify(notes)} as text`, () => {
      const noted = loanOf(given({ ...create(product()), notes }));
      expect(decodeLoan(encodeLoan(noted)).notes).to.equal(notes);
    });
  }

  for (const [text, reason] of [
    ['{}', 'it is of format undefined, and this version reads format 2'],
    ['{"format":1,"account":{}}', 'it is of format 1, and this version reads format 2'],
    ['{"format":3,"account":{}}', 'it is of format 3, and this version reads format 2'],
    ['{"format":2,"account":null}', 'it has no account'],
    ['no json', 'JSON'],
  ] as const) {
    it(`cannot be read from ${text}, with the reason`, () => {
      for (const decode of [decodeLoan, decodeSummary]) expect(() => decode(text)).to.throw(reason);
    });
  }

  it('has a summary with the fields of lists', () => {
    expect(decodeSummary(encodeLoan({ ...loan, loanName: '#1' }))).to.deep.equal({
      id: 'L1',
      encodedKey: loan.encodedKey,
      loanName: '#1',
      accountHolderKey: null,
      loanAmount: loan.loanAmount,
      createdAt: loan.createdAt,
      modifiedAt: loan.modifiedAt,
      transactionCount: 2,
      accountState: 'ACTIVE',
      approvedAt: loan.position.approvedAt,
      closedAt: null,
      productKey: loan.product.encodedKey,
    });
  });

  it('begins with the number of its format, which later versions check', () => {
    expect(encodeLoan(loan)).to.match(/^\{"format":2,"account":\{/);
  });

  it('takes less than eighty bytes for a row of which nothing was paid', () => {
    const { installments } = loan.position;
    const lengthOf = (count: number): number =>
      encodeLoan({ ...loan, position: { ...loan.position, installments: installments.slice(1, 1 + count) } }).length;
    expect(lengthOf(3) - lengthOf(2)).to.be.lessThan(80);
  });

  it('keeps the start of a row that does not begin where the row before ends', () => {
    const [first = expect.fail(), second = expect.fail()] = loan.position.installments;
    const installments = [first, { ...second, accruesAfter: '2011-02-25' }];
    const moved = { ...loan, position: { ...loan.position, installments } };
    expect(decodeLoan(encodeLoan(moved))).to.deep.equal(moved);
  });

  it('keeps a charge with tax, paid in part', () => {
    const taxed = product({
      taxSettings: { taxRate: money(19), taxesOnFeesEnabled: true },
      feesSettings: { fees: [fee({ id: 'tax', name: '#"1"', amount: money(7) })] },
    });
    const charge = applyFee(7, { predefinedFeeKey: 'tax', installmentNumber: 1 });
    const charged = loanOf(when(when(disbursed(taxed), charge), repay(3, '2011-02-23')));
    expect(charged.position.charges[0]?.tax.paid.isZero()).to.equal(false);
    expect(decodeLoan(encodeLoan(charged))).to.deep.equal(charged);
  });

  const elements = ['interest', 'fee', 'penalty'] as const;
  const parts = ['amount', 'tax'] as const;
  const sides = ['expected', 'paid'] as const;
  for (const element of elements) {
    for (const part of parts) {
      for (const side of sides) {
        it(`keeps a row of whose ${element} only the ${part} ${side} is not zero`, () => {
          const [row = expect.fail()] = loanOf(given(create(product()))).position.installments.concat(
            loan.position.installments,
          );
          const none = { expected: money(0), paid: money(0) };
          const changed = { amount: none, tax: none, [part]: { ...none, [side]: money('0.01') } };
          const installments = [{ ...row, number: 1, [element]: changed }];
          const account = { ...loan, position: { ...loan.position, installments } };
          expect(decodeLoan(encodeLoan(account))).to.deep.equal(account);
        });
      }
    }
  }
});
