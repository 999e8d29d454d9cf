import { expect } from 'chai';
import { describe, it } from 'mocha';
import { decodeLoan, decodeSummary, encodeLoan } from '../../../src/lending/changelog/stored-loan.ts';
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
    ['{}', 'it is of format undefined, and this version reads format 3'],
    ['{"format":1,"summary":{}}', 'it is of format 1, and this version reads format 3'],
    ['{"format":2,"summary":{}}', 'it is of format 2, and this version reads format 3'],
    ['{"format":3,"summary":null}', 'it has no summary'],
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
    expect(encodeLoan(loan)).to.match(/^\{"format":3,"summary":\{/);
  });

  it('is refused with a reason when a part is missing', () => {
    expect(() => decodeLoan('{"format":3,"summary":{}}')).to.throw('it has no product, no terms or no account');
    expect(() => decodeLoan('{"format":3,"summary":{},"product":{},"terms":{},"account":null}')).to.throw(
      'it has no account',
    );
  });

  it('shares its product and its terms with other accounts that have the same', () => {
    const [one, other] = [decodeLoan(encodeLoan(loan)), decodeLoan(encodeLoan({ ...loan, id: 'L2' }))];
    expect(one.product).to.equal(other.product);
    expect(one.terms).to.equal(other.terms);
    const named = decodeLoan(encodeLoan({ ...loan, product: { ...loan.product, name: 'Other' } }));
    expect(named.product.name).to.equal('Other');
    expect(named.terms).to.equal(one.terms);
  });

  it('keeps texts that look like the beginning of its parts', () => {
    const name = ',"product":{},"terms":{},"account":{';
    const named = { ...loan, loanName: name, notes: name, product: { ...loan.product, name } };
    expect(decodeLoan(encodeLoan(named))).to.deep.equal(named);
    expect(decodeSummary(encodeLoan(named)).loanName).to.equal(name);
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
