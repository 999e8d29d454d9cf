import { type NamedProduct, decodeLoan, encodeLoan } from '../../../src/lending/changelog/stored-loan.ts';
import {
  accountProduct,
  decodeAccountProduct,
  encodeAccountProduct,
} from '../../../src/lending/changelog/stored-product.ts';
import { pagesOf } from '../../../src/lending/changelog/stored-pages.ts';
import type { Loan } from '../../../src/lending/loan.ts';
import type { LoanProduct } from '../../../src/lending/products/product.ts';

/** The product of an account under a name that only depends on its id and name. */
export function namedProduct(product: LoanProduct): NamedProduct {
  return { ...accountProduct(product), reference: Buffer.from(`${product.id} ${product.name}`).toString('hex') };
}

/** The text of an account with its pages. */
export function textOf(loan: Loan): string {
  const pages = pagesOf(loan).map(({ text }) => text);
  return `${encodeLoan(loan, namedProduct(loan.product)).slice(0, -1)},"pages":[${pages.join(',')}]}`;
}

/** The account after it was stored and read, its product too. */
export function storedAndRead(loan: Loan): Loan {
  const product = decodeAccountProduct(encodeAccountProduct(accountProduct(loan.product)));
  return decodeLoan(textOf(loan), () => product);
}
