import type { DefinitionIndex } from '../broker/definitions/definition-views.ts';
import { type Registry, registryKey, registryTopic } from '../broker/definitions/registry.ts';
import type { PartitionRecords } from '../ports/event-log.ts';
import type { ProductChanges } from '../lending/commands.ts';
import type { AdditionalFields } from '../lending/additional-fields.ts';
import { reviveMarked, writeMarked } from '../lending/changelog/decimal-json.ts';
import { Decimal } from '../lending/money.ts';
import type { LoanProduct } from '../lending/products/product.ts';

/** A product as the registry keeps it. */
export interface ProductRecord {
  /** The command that created it, to distinguish the same command sent again from another one. */
  readonly commandId: string;
  readonly commandDigest: string;
  /** The product with every decimal as text: the registry is plain JSON, whose numbers are binary floats. */
  readonly product: unknown;
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

/** The record of a product after a change. Any other field, of a record from an earlier version, is left out. */
export function updatedRecord(record: ProductRecord, changes: ProductChanges): ProductRecord {
  const { commandId, commandDigest, product } = record;
  return { commandId, commandDigest, product: { ...(product as object), ...changes } };
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
  const record = productRecord(registry, idOrKey) ?? registry.listBy(byEncodedKey, idOrKey)[0];
  return record === undefined ? undefined : productOf(record);
}

const byEncodedKey: DefinitionIndex<ProductRecord> = {
  kind: 'product',
  keysOf: ({ product }) => {
    const { encodedKey } = product as { readonly encodedKey?: unknown };
    return typeof encodedKey === 'string' ? [encodedKey] : [];
  },
};

/** Records are never changed in place, so the loans that are opened under one share its product. */
function productOf(record: ProductRecord): LoanProduct {
  const cached = decodedProducts.get(record);
  if (cached !== undefined) return cached;
  const product = decodeProduct(record.product);
  decodedProducts.set(record, product);
  return product;
}

const decodedProducts = new WeakMap<ProductRecord, LoanProduct>();

/** All products, sorted by id. */
export function listProducts(registry: Registry): LoanProduct[] {
  return registry
    .list<ProductRecord>('product')
    .map(productOf)
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** The registry records of products, to be committed together with the outcomes of their commands. */
export function productRecords(records: ReadonlyMap<string, ProductRecord>): PartitionRecords {
  return {
    topic: registryTopic,
    partition: 0,
    records: [...records].map(([id, record]) => ({
      key: registryKey('product', id),
      value: Buffer.from(JSON.stringify(record)),
    })),
  };
}
