import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  accountProduct,
  decodeAccountProduct,
  encodeAccountProduct,
} from '../../../src/lending/changelog/stored-product.ts';
import { dynamicProduct, fee, money } from '../loan-fixtures.ts';

const product = dynamicProduct({
  name: '#1 "n"',
  feesSettings: { fees: [fee({ id: 'f', amount: money('0.123456789012345678901') })] },
});

describe('the product of accounts', () => {
  it('has the terms of an account that chooses nothing', () => {
    const { terms } = accountProduct(product);
    expect([terms.repaymentInstallments, terms.interest.daysInYear]).to.deep.equal([6, 'E30_360']);
  });

  it('is read as it was written, in one line that begins with the number of its format', () => {
    const text = encodeAccountProduct(accountProduct(product));
    expect(text).to.match(/^\{"format":4,"product":\{.*\}$/);
    expect(decodeAccountProduct(text)).to.deep.equal(accountProduct(product));
  });

  it('is not read from a text of another format, or without a product', () => {
    const text = encodeAccountProduct(accountProduct(product));
    expect(() => decodeAccountProduct(text.replace('"format":4', '"format":2'))).to.throw('it is of format 2');
    expect(() => decodeAccountProduct('{"format":4}')).to.throw('it has no product');
  });
});
