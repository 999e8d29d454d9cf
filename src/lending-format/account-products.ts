import { hash } from 'node:crypto';
import { BoundedMap } from '../bounded-map.ts';
import type { NamedProduct } from '../lending/changelog/stored-loan.ts';
import { accountProduct, decodeAccountProduct, encodeAccountProduct } from '../lending/changelog/stored-product.ts';
import type { LoanProduct } from '../lending/products/product.ts';

/**
 * Products as accounts refer to them. An account keeps its product as it was when the account was opened. Many accounts
 * have the same, so it is a record of its own in their partition of the changelog, and they name it by the hash of its
 * text.
 */

const recordPrefix = 'product/';

/** Hexadecimal digits of a reference: 128 bits of SHA-256. */
const referenceDigits = 32;

/** The key of the record of a product. A partition has it before the first account that refers to it. */
export function accountProductKey(reference: string): string {
  return recordPrefix + reference;
}

/** The reference in the key of a changelog record; undefined for other records. */
export function accountProductReference(key: string): string | undefined {
  return key.startsWith(recordPrefix) ? key.slice(recordPrefix.length) : undefined;
}

const namedProducts = new WeakMap<LoanProduct, NamedProduct>();

/** The product of an account, with its reference. Products are never changed in place. */
export function namedProduct(product: LoanProduct): NamedProduct {
  const known = namedProducts.get(product);
  if (known !== undefined) return known;
  const made = accountProduct(product);
  return named({ ...made, reference: referenceOf(encodeAccountProduct(made)) });
}

/**
 * Reads the record of a product.
 * @throws Error when it is none, or another one than the reference says
 */
export function readNamedProduct(reference: string, text: string): NamedProduct {
  const product = decodeAccountProduct(text);
  if (referenceOf(text) !== reference) throw new Error(`The product ${reference} has another text than its name says`);
  return named({ ...product, reference });
}

function named(product: NamedProduct): NamedProduct {
  namedProducts.set(product.product, product);
  return product;
}

function referenceOf(text: string): string {
  return hash('sha256', text, 'hex').slice(0, referenceDigits);
}

/** How much memory the decoded products of a process may take. Bytes. */
export const decodedProductsBytesMaximum = 8 * 1024 * 1024;

/** A decoded product takes about this many times the memory of its text. */
const decodedBytesPerCharacter = 5;

/** Reads products by their references, each once as long as it is in use: accounts with the same product share it. */
export class AccountProducts {
  readonly #textOf: (reference: string) => string | undefined;
  readonly #decoded: BoundedMap<string, { readonly product: NamedProduct; readonly bytes: number }>;

  /** @param textOf The text of the record; undefined when there is none. */
  constructor(
    textOf: (reference: string) => string | undefined,
    decodedBytesMaximum: number = decodedProductsBytesMaximum,
  ) {
    this.#textOf = textOf;
    this.#decoded = new BoundedMap(decodedBytesMaximum, ({ bytes }) => bytes);
  }

  /** @throws Error when there is no such product, or its record cannot be read: the changelog is broken */
  get(reference: string): NamedProduct {
    const decoded = this.#decoded.get(reference);
    if (decoded !== undefined) return decoded.product;
    const text = this.#textOf(reference);
    if (text === undefined) throw new Error(`An account refers to the product ${reference}, which is not stored`);
    const product = readNamedProduct(reference, text);
    this.#decoded.set(reference, { product, bytes: text.length * decodedBytesPerCharacter });
    return product;
  }
}
