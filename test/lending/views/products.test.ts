import { expect } from 'chai';
import { describe, it } from 'mocha';
import { productView } from '../../../src/lending/views/products.ts';
import { product } from '../loan-fixtures.ts';

describe('the view of a product', () => {
  it('shows all its settings', () => {
    const settings = product();
    expect(productView(settings)).to.deep.equal(settings);
  });
});
