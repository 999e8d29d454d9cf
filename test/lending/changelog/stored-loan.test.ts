import { expect } from 'chai';
import { describe, it } from 'mocha';
import { decodeLoan, decodeSummary, encodeLoan } from '../../../src/lending/changelog/stored-loan.ts';
import { namedProduct, storedAndRead, textOf } from './stored-accounts.ts';
import type { Loan } from '../../../src/lending/loan.ts';
import { pagesOf } from '../../../src/lending/changelog/stored-pages.ts';
import { Decimal } from '../../../src/lending/money.ts';
import {
  type AskedCommand,
  applyFee,
  create,
  disbursed,
  fee,
  given,
  loanOf,
  money,
  product,
  repay,
  when,
} from '../loan-fixtures.ts';

const loan = loanOf(when(disbursed(), repay(100, '2011-02-23')));

/** Reads an account of which no product is stored. */
const decodeUnderNone = (text: string): Loan => decodeLoan(text, () => expect.fail('it has no product'));

describe('a stored account', () => {
  it('is read as it was written, with all digits of its decimals', () => {
    const long = { ...loan, loanAmount: money('0.1234567890123456789012345678901234567890') };
    expect(storedAndRead(long)).to.deep.equal(long);
    expect(storedAndRead(long).loanAmount).to.be.instanceOf(Decimal);
  });

  it('keeps the fees agreed for its disbursement, and has no such field without any', () => {
    const disbursementFees = [
      { predefinedFeeKey: 'f', amount: money('1.50') },
      { predefinedFeeKey: 'g', percentage: money(2) },
    ];
    expect(storedAndRead({ ...loan, disbursementFees })).to.deep.equal({ ...loan, disbursementFees });
    expect(storedAndRead(loan)).not.to.have.property('disbursementFees');
  });

  it('is one line', () => {
    expect(textOf(loan)).to.not.include('\n');
  });

  for (const notes of ['#1', '##', '#', 'a\nb', '{"format":1}', '1000', '', '\0']) {
    it(`keeps the note ${JSON.stringify(notes)} as text`, () => {
      const noted = loanOf(given({ ...create(product()), notes } as AskedCommand));
      expect(storedAndRead(noted).notes).to.equal(notes);
    });
  }

  for (const [text, reason] of [
    ['{}', 'it is of format undefined, and this version reads format 4'],
    ['{"format":2,"summary":{}}', 'it is of format 2, and this version reads format 4'],
    ['{"format":5,"summary":{}}', 'it is of format 5, and this version reads format 4'],
    ['{"format":4,"summary":null}', 'it has no summary'],
    ['no json', 'JSON'],
  ] as const) {
    it(`cannot be read from ${text}, with the reason`, () => {
      for (const decode of [decodeUnderNone, decodeSummary]) expect(() => decode(text)).to.throw(reason);
    });
  }

  it('has a summary with the fields of lists', () => {
    expect(decodeSummary(textOf({ ...loan, loanName: '#1' }))).to.deep.equal({
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
      nextBusinessDate: '2011-02-24',
      productKey: loan.product.encodedKey,
      productName: loan.product.name,
    });
  });

  it('begins with the number of its format, which later versions check', () => {
    expect(textOf(loan)).to.match(/^\{"format":4,"summary":\{/);
  });

  it('is refused with a reason when a part is missing', () => {
    for (const text of ['{"format":4,"summary":{}}', '{"format":4,"summary":{},"account":{},"product":{}}']) {
      expect(() => decodeUnderNone(text)).to.throw('it has no account, no product or no pages');
    }
  });

  it('names its product and leaves out the terms that the product gives', () => {
    expect(textOf(loan)).to.include(`"product":"${namedProduct(loan.product).reference}","terms":{},"position"`);
    expect(textOf(loan)).to.not.include(loan.product.interestSettings.interestCalculationMethod);
  });

  it('keeps the terms that it chose itself', () => {
    const choices = { repaymentInstallments: 3, firstRepaymentDueDateOffset: 2 };
    const chosen = loanOf(given(Object.assign(create(product()), choices)));
    const terms = '"terms":{"dueDates":{"firstRepaymentDueDateOffset":2},"repaymentInstallments":3}';
    expect(textOf(chosen)).to.include(terms);
    expect(storedAndRead(chosen)).to.deep.equal(chosen);
  });

  it('gets the terms that its product gave when it was stored, not those that it would give today', () => {
    const { reference, terms } = namedProduct(loan.product);
    const earlier = { reference, product: loan.product, terms: { ...terms, gracePeriod: 1 } };
    const opened = { ...loan, terms: earlier.terms };
    const text = encodeLoan(opened, earlier);
    expect(text).to.include('"terms":{},');
    const pages = pagesOf(opened).map((page) => page.text);
    expect(decodeLoan(`${text.slice(0, -1)},"pages":[${pages.join(',')}]}`, () => earlier)).to.deep.equal(opened);
  });

  it('keeps texts that look like the beginning of its parts', () => {
    const name = ',"account":{},"product":"","terms":{';
    const named = { ...loan, loanName: name, notes: name, product: { ...loan.product, name } };
    expect(storedAndRead(named)).to.deep.equal(named);
    expect(decodeSummary(textOf(named)).loanName).to.equal(name);
  });

  it('takes less than eighty bytes for a row of which nothing was paid', () => {
    const { installments } = loan.position;
    const lengthOf = (count: number): number =>
      textOf({ ...loan, position: { ...loan.position, installments: installments.slice(1, 1 + count) } }).length;
    expect(lengthOf(3) - lengthOf(2)).to.be.lessThan(80);
  });

  it('keeps the start of a row that does not begin where the row before ends', () => {
    const [first = expect.fail(), second = expect.fail()] = loan.position.installments;
    const installments = [first, { ...second, accruesAfter: '2011-02-25' }];
    const moved = { ...loan, position: { ...loan.position, installments } };
    expect(storedAndRead(moved)).to.deep.equal(moved);
  });

  it('keeps a charge with tax, paid in part', () => {
    const taxed = product({
      taxSettings: { taxRate: money(19), taxesOnFeesEnabled: true },
      feesSettings: { fees: [fee({ id: 'tax', name: '#"1"', amount: money(7) })] },
    });
    const charge = applyFee(7, { predefinedFeeKey: 'tax', installmentNumber: 1 });
    const charged = loanOf(when(when(disbursed(taxed), charge), repay(3, '2011-02-23')));
    expect(charged.position.charges[0]?.tax.paid.isZero()).to.equal(false);
    expect(storedAndRead(charged)).to.deep.equal(charged);
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
          expect(storedAndRead(account)).to.deep.equal(account);
        });
      }
    }
  }
});
