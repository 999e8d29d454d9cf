import type { LoanProduct } from '../product.ts';

/** A product as GET /loanproducts/{id} shows it: all its settings, in the lending API's names. */
export function productView(product: LoanProduct): LoanProduct {
  return product;
}
