import { withAdditionalFields, noAdditionalFields } from '../additional-fields.ts';
import type { LoanProduct } from '../products/product.ts';

/** A product as GET /loanproducts/{id} shows it: all its settings, in the lending API's names. */
export function productView({ additionalFields, ...product }: LoanProduct): Omit<LoanProduct, 'additionalFields'> {
  return withAdditionalFields(product, additionalFields ?? noAdditionalFields);
}
