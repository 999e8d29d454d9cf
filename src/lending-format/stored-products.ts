import type { DefinitionIndex } from '../broker/definitions/definition-views.ts';
import { type Registry, registryKey, registryTopic } from '../broker/definitions/registry.ts';
import type { PartitionRecords } from '../ports/event-log.ts';
import type { AdditionalFields } from '../lending/additional-fields.ts';
import { reviveMarked, writeMarked } from '../lending/changelog/decimal-json.ts';
import { Decimal } from '../lending/money.ts';
import type { LoanProduct } from '../lending/products/product.ts';

/** A product as the registry keeps it. */
export interface ProductRecord {
  /** The command that created it, to distinguish the same command sent again from another one. */
  readonly commandId: string;
  readonly commandDigest: string;
  /** 1 for a new product; each change makes the next version. */
  readonly version: number;
  /** When it was created, and when it was changed last. Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly modifiedAt: number;
  /** The product with every decimal as text: the registry is plain JSON, whose numbers are binary floats. */
  readonly product: unknown;
}

/** A product as it is at present. */
export interface ProductVersion extends Pick<ProductRecord, 'version' | 'createdAt' | 'modifiedAt'> {
  readonly product: LoanProduct;
}

/** Paths of the fields that are decimals, `*` for the items of a list. Every other number is a count. */
const decimalFields = new Set([
  'loanAmountSettings.loanAmount.defaultValue',
  'loanAmountSettings.loanAmount.minValue',
  'loanAmountSettings.loanAmount.maxValue',
  'interestSettings.interestRate.defaultValue',
  'interestSettings.interestRate.minValue',
  'interestSettings.interestRate.maxValue',
  'feesSettings.fees.*.amount',
  'feesSettings.fees.*.percentageAmount',
  'taxSettings.taxRate',
  'arrearsSettings.tolerancePercentageOfOutstandingPrincipal.defaultValue',
  'arrearsSettings.tolerancePercentageOfOutstandingPrincipal.minValue',
  'arrearsSettings.tolerancePercentageOfOutstandingPrincipal.maxValue',
  'arrearsSettings.toleranceFloorAmount',
  'penaltySettings.penaltyRate.defaultValue',
  'penaltySettings.penaltyRate.minValue',
  'penaltySettings.penaltyRate.maxValue',
  'internalControls.lockSettings.cappingPercentage',
]);

/** A product as plain JSON with every decimal as text, as the registry keeps it. */
export function encodeProduct(product: LoanProduct): unknown {
  const { additionalFields, ...fields } = product;
  const encoded = JSON.parse(JSON.stringify(fields)) as object;
  return additionalFields === undefined
    ? encoded
    : { ...encoded, additionalFields: JSON.parse(writeMarked(additionalFields)) };
}

/** Undoes {@link encodeProduct}. */
export function decodeProduct(encoded: unknown): LoanProduct {
  const { additionalFields, ...fields } = encoded as { readonly additionalFields?: unknown };
  const product = withDecimals(fields, '') as LoanProduct;
  return additionalFields === undefined
    ? product
    : { ...product, additionalFields: reviveMarked(structuredClone(additionalFields)) as AdditionalFields };
}

function withDecimals(value: unknown, path: string): unknown {
  if (decimalFields.has(path)) return new Decimal(value as string);
  if (Array.isArray(value)) return value.map((item) => withDecimals(item, `${path}.*`));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, withDecimals(inner, path === '' ? name : `${path}.${name}`)]),
  );
}

/** The record of a product, by its id. */
export function productRecord(registry: Registry, loanProductId: string): ProductRecord | undefined {
  return registry.get<ProductRecord>('product', loanProductId);
}

/**
 * A product by its id or its encodedKey, which another process may have created a moment ago; undefined when there is
 * none.
 * @throws LOG_UNAVAILABLE when what others stored cannot be read in time
 */
export function findProduct(registry: Registry, idOrKey: string): Promise<LoanProduct | undefined> {
  return registry.findWith(() => knownProduct(registry, idOrKey));
}

/** A product by its id or its encodedKey; undefined when this process knows none. */
export function knownProduct(registry: Registry, idOrKey: string): LoanProduct | undefined {
  const record = recordBy(registry, idOrKey);
  return record === undefined ? undefined : productOf(record);
}

const byEncodedKey: DefinitionIndex<ProductRecord> = {
  kind: 'product',
  keysOf: ({ product }) => {
    const { encodedKey } = product as { readonly encodedKey?: unknown };
    return typeof encodedKey === 'string' ? [encodedKey] : [];
  },
};

/** The present version of a product by its id or its encodedKey. Else as {@link findProduct}. */
export function findProductVersion(registry: Registry, idOrKey: string): Promise<ProductVersion | undefined> {
  return registry.findWith(() => {
    const record = recordBy(registry, idOrKey);
    return record === undefined ? undefined : versionOf(record);
  });
}

/**
 * The version of a product after a change that the worker has made, which this process may not have read yet: the
 * registry follows the log separately. Undefined when it was deleted. Else as {@link findProduct}.
 */
export async function newestProductVersion(registry: Registry, idOrKey: string): Promise<ProductVersion | undefined> {
  await registry.catchUp();
  const record = recordBy(registry, idOrKey);
  return record === undefined ? undefined : versionOf(record);
}

function recordBy(registry: Registry, idOrKey: string): ProductRecord | undefined {
  return productRecord(registry, idOrKey) ?? registry.listBy(byEncodedKey, idOrKey)[0];
}

/** The version of a product that a record stores. */
export function versionOf(record: ProductRecord): ProductVersion {
  const { version, createdAt, modifiedAt } = record;
  return { product: productOf(record), version, createdAt, modifiedAt };
}

/** Records are never changed in place, so the loans that are opened under one share its product. */
function productOf(record: ProductRecord): LoanProduct {
  const cached = decodedProducts.get(record);
  if (cached !== undefined) return cached;
  const product = decodeProduct(record.product);
  decodedProducts.set(record, product);
  return product;
}

const decodedProducts = new WeakMap<ProductRecord, LoanProduct>();

/** All products. */
export function listProducts(registry: Registry): ProductVersion[] {
  return registry.list<ProductRecord>('product').map(versionOf);
}

/**
 * The registry records of products, to be committed together with the outcomes of their commands.
 * @param records By the ids of the products; null removes a product.
 */
export function productRecords(records: ReadonlyMap<string, ProductRecord | null>): PartitionRecords {
  return {
    topic: registryTopic,
    partition: 0,
    records: [...records].map(([id, record]) => ({
      key: registryKey('product', id),
      value: record === null ? null : Buffer.from(JSON.stringify(record)),
    })),
  };
}
