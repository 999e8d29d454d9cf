import { expect } from 'chai';
import { describe, it } from 'mocha';
import { isLendstreamError } from '../../src/errors.ts';
import { encodeAccount, joinedAccount } from '../../src/lending-format/account-pages.ts';
import { namedProduct } from '../../src/lending-format/account-products.ts';
import { accountRecordOf, pageRecordKey } from '../../src/lending-format/account-record-keys.ts';
import { decodeLoan } from '../../src/lending/changelog/stored-loan.ts';
import { disbursed, given, create, loanOf, product, repay, when } from '../lending/loan-fixtures.ts';

const start = disbursed(product({ scheduleSettings: { numInstallments: { defaultValue: 30 } } }));
const [before, after] = [loanOf(start), loanOf(when(start, repay(1, '2011-02-23')))];
const textsOf = (loan: typeof before): string[] => encodeAccount(loan).pages.map(({ text }) => text);

describe('an account and its pages', () => {
  it('are read together as they were written', () => {
    for (const loan of [before, after, loanOf(given(create(product())))]) {
      const whole = joinedAccount(encodeAccount(loan).text, textsOf(loan));
      expect(decodeLoan(whole, () => namedProduct(loan.product))).to.deep.equal(loan);
    }
  });

  const [first = '', ...others] = textsOf(after);
  for (const [what, pages] of [
    ['a page is of an earlier command', [textsOf(before)[0] ?? '', ...others]],
    ['a page is missing', others],
    ['a page is too many', [first, first, ...others]],
    ['pages have changed places', [...others, first]],
  ] as const) {
    it(`are not read while ${what}`, () => {
      expect(() => joinedAccount(encodeAccount(after).text, pages))
        .to.throw('The account is being changed. Try again.')
        .that.satisfies((error: unknown) => isLendstreamError(error, 'LOG_UNAVAILABLE'));
    });
  }

  it('have keys that name the account, the list and the number of the page', () => {
    const page = { list: 'charges', number: 12 } as const;
    expect(pageRecordKey('L1', page)).to.equal('loan/L1/charges/12');
    expect(accountRecordOf('loan/L1/charges/12')).to.deep.equal({ loanAccountId: 'L1', page });
    expect(accountRecordOf('loan/L1/transaction/t')).to.deep.equal({ loanAccountId: 'L1', transactionKey: 't' });
    expect(accountRecordOf('loan/L1/other/1')).to.equal(undefined);
  });
});
