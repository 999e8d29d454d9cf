import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  AccountProducts,
  accountProductKey,
  accountProductReference,
  namedProduct,
  readNamedProduct,
} from '../../src/lending-format/account-products.ts';
import { encodeAccountProduct } from '../../src/lending/changelog/stored-product.ts';
import { product } from '../lending/loan-fixtures.ts';

const [first, second] = [namedProduct(product()), namedProduct(product({ name: 'Other' }))];
const texts = new Map([first, second].map((named) => [named.reference, encodeAccountProduct(named)]));

describe('the products of accounts', () => {
  it('have the same name exactly when they have the same content', () => {
    expect(namedProduct(product()).reference).to.equal(first.reference);
    expect(second.reference).to.not.equal(first.reference);
    expect(first.reference).to.match(/^[0-9a-f]{32}$/);
  });

  it('have a record of their own, whose key has that name', () => {
    expect(accountProductKey(first.reference)).to.equal(`product/${first.reference}`);
    expect(accountProductReference(accountProductKey(first.reference))).to.equal(first.reference);
    expect(accountProductReference('loan/product')).to.equal(undefined);
  });

  it('are found again from the product of a loan that was read', () => {
    const read = readNamedProduct(first.reference, texts.get(first.reference) ?? '');
    expect(read).to.deep.equal(first);
    expect(namedProduct(read.product)).to.equal(read);
  });

  it('are refused when the text is not the one that was named', () => {
    const text = texts.get(second.reference) ?? '';
    expect(() => readNamedProduct(first.reference, text)).to.throw('has another text than its name says');
  });

  it('are read once as long as they are in use, and again beyond the limit of bytes', () => {
    const read: string[] = [];
    const textOf = (reference: string): string | undefined => {
      read.push(reference);
      return texts.get(reference);
    };
    const bytes = [...texts.values()].map((text) => 5 * text.length);
    const both = new AccountProducts(textOf, (bytes[0] ?? 0) + (bytes[1] ?? 0));
    const one = new AccountProducts(textOf, (bytes[0] ?? 0) + (bytes[1] ?? 0) - 1);
    for (const [products, expected] of [
      [both, [first, second]],
      [one, [first, second, first, second]],
    ] as const) {
      read.length = 0;
      for (const { reference } of [first, second, first, second]) {
        expect(products.get(reference).product).to.equal(products.get(reference).product);
      }
      expect(read).to.deep.equal(expected.map(({ reference }) => reference));
    }
  });

  it('are missed with the reason', () => {
    const none = new AccountProducts(() => undefined);
    expect(() => none.get('0a')).to.throw('An account refers to the product 0a, which is not stored');
  });
});
