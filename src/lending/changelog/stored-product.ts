import { type OwnTerms, termsOf } from '../agreed-terms.ts';
import type { AgreedTerms } from '../terms.ts';
import type { LoanProduct } from '../products/product.ts';
import { reviveMarked, writeMarked } from './decimal-json.ts';
import { parseStored, storedFormat } from './stored-format.ts';

/** A product as it was when accounts were opened under it. */
export interface AccountProduct {
  readonly product: LoanProduct;
  /** The terms of an account that chooses nothing itself. An account stores its difference from them. */
  readonly terms: AgreedTerms;
}

interface StoredProduct extends AccountProduct {
  readonly format: number;
}

const choosesNothing: OwnTerms = {};

/** The product with the terms that it gives today. A later version may give others: they are stored with it. */
export function accountProduct(product: LoanProduct): AccountProduct {
  return { product, terms: termsOf(choosesNothing, product) };
}

/** A product and its terms as one line of JSON in which each decimal keeps every digit. */
export function encodeAccountProduct({ product, terms }: AccountProduct): string {
  return `{"format":${storedFormat},"product":${writeMarked(product)},"terms":${writeMarked(terms)}}`;
}

/**
 * Reads what {@link encodeAccountProduct} wrote.
 * @throws Error for any other text
 */
export function decodeAccountProduct(text: string): AccountProduct {
  const { product, terms } = parseStored<StoredProduct>(text, 'product');
  return { product: reviveMarked(product) as LoanProduct, terms: reviveMarked(terms) as AgreedTerms };
}
