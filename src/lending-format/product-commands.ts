import type { LoanProduct } from '../lending/products/product.ts';
import { createProduct, productRuleMessages } from '../lending/products/product-rules.ts';
import { type Refusal, refusal } from '../lending/refusals.ts';
import { type ExactJson, readExactObject, writeCanonical } from './exact-json.ts';
import {
  type PatchFault,
  type PatchOperation,
  applyJsonPatch,
  hasFaults,
  operationsMaximum,
  readPatchOperations,
} from './json-patch.ts';
import { FieldReader } from './payloads/field-reader.ts';
import { readProduct } from './payloads/product-payload.ts';
import { writeProduct } from './response-bodies.ts';
import { type ProductRecord, type ProductVersion, encodeProduct, versionOf } from './stored-products.ts';

/**
 * The commands on products, and what they lead to. Each change makes a new version of the product. Accounts keep the
 * version that they were opened under.
 */

/** What a command asks for: the payload of its type. */
export type ProductRequest =
  | { readonly type: 'CREATE_PRODUCT'; readonly product: LoanProduct }
  /** @see PUT /loanproducts/{id} */
  | { readonly type: 'UPDATE_PRODUCT'; readonly body: ExactJson }
  /** @see PATCH /loanproducts/{id} */
  | { readonly type: 'PATCH_PRODUCT'; readonly operations: readonly PatchOperation[] }
  | { readonly type: 'DELETE_PRODUCT' };

export const productCommandTypes = ['CREATE_PRODUCT', 'UPDATE_PRODUCT', 'PATCH_PRODUCT', 'DELETE_PRODUCT'] as const;
export type ProductCommandType = (typeof productCommandTypes)[number];

/** Whether a command of this type is about a product. */
export function isProductCommand(type: string): type is ProductCommandType {
  return productCommandTypes.some((known) => known === type);
}

/**
 * Reads the payload of a command on a product. The reader collects the refusals. With any of them, the result is not to
 * be used.
 * @param payload What the reader reads.
 */
export function readProductRequest(
  type: ProductCommandType,
  loanProductId: string,
  payload: ExactJson,
  reader: FieldReader,
  newKey: (purpose: string) => string,
): ProductRequest {
  if (type === 'CREATE_PRODUCT') return { type, product: readProduct(reader, loanProductId, newKey) };
  if (type === 'DELETE_PRODUCT') return { type };
  if (type === 'PATCH_PRODUCT') return { type, operations: readOperations(payload, reader) };
  // Finds what no product may have. The keys that the body leaves out are known once the product is.
  readProduct(reader, loanProductId, newKey);
  return { type, body: payload };
}

function readOperations(payload: ExactJson, reader: FieldReader): readonly PatchOperation[] {
  reader.ignore('operations');
  const items = payload['operations'];
  if (!Array.isArray(items) || items.length === 0 || items.length > operationsMaximum) {
    reader.refuse('operations');
    return [];
  }
  const operations = readPatchOperations(items);
  if (!hasFaults(operations)) return operations;
  for (const { index, member } of operations) {
    reader.refuse(`operations[${index}]${member === '' ? '' : `.${member}`}`);
  }
  return [];
}

export interface ProductCommandContext {
  readonly commandId: string;
  readonly commandDigest: string;
  readonly loanProductId: string;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  readonly newKey: (purpose: string) => string;
  /** Whether another product has this encodedKey or id. */
  readonly isKeyTaken: (encodedKey: string) => boolean;
  /** Whether an account was opened under the product with this encodedKey. */
  readonly hasAccounts: (encodedKey: string) => boolean;
}

/** What a command leads to: the new record of the product, null when it is removed, undefined when nothing changes. */
export type ProductDecision =
  | { readonly outcome: 'committed'; readonly record: ProductRecord | null | undefined }
  | {
      readonly outcome: 'refused';
      readonly refusals: readonly Refusal[];
      /** What the refusals mean in words, by their reasons. */
      readonly messages: Readonly<Partial<Record<Refusal['errorReason'], string>>>;
    };

/**
 * Decides a command on a product.
 * @param known The product's record; undefined when there is no such product.
 */
export function decideProduct(
  request: ProductRequest,
  known: ProductRecord | undefined,
  context: ProductCommandContext,
): ProductDecision {
  if (request.type === 'CREATE_PRODUCT') return decideCreation(request.product, known, context);
  if (known === undefined) return refused([refusal('INVALID_PARAMETERS', 'loanProductId')]);
  if (request.type === 'DELETE_PRODUCT') return decideDeletion(known, context);
  const current = versionOf(known);
  if (request.type === 'UPDATE_PRODUCT') return decideChange(request.body, known, current, context);
  const shown = readExactObject(writeProduct(current));
  const patched = applyJsonPatch(shown, request.operations);
  return 'fault' in patched ? refusedPatch(patched.fault) : decideChange(patched.document, known, current, context);
}

function decideCreation(
  product: LoanProduct,
  known: ProductRecord | undefined,
  { commandId, commandDigest, receivedAt, isKeyTaken }: ProductCommandContext,
): ProductDecision {
  const created = createProduct(product);
  const refusals = [
    ...(known === undefined ? [] : [refusal('INVALID_PARAMETERS', 'id')]),
    ...(isKeyTaken(product.encodedKey) ? [refusal('INVALID_PARAMETERS', 'encodedKey')] : []),
    ...(Array.isArray(created) ? created : []),
  ];
  if (refusals.length > 0) return refused(refusals);
  const dates = { createdAt: receivedAt, modifiedAt: receivedAt };
  return {
    outcome: 'committed',
    record: { commandId, commandDigest, version: 1, ...dates, product: encodeProduct(product) },
  };
}

/** A product is removed only while it has no accounts: they could no longer be found by it. */
function decideDeletion(known: ProductRecord, { hasAccounts }: ProductCommandContext): ProductDecision {
  if (!hasAccounts(versionOf(known).product.encodedKey)) return { outcome: 'committed', record: null };
  const message = 'Accounts were opened under the product. It can be made INACTIVE, and not be deleted.';
  return refused([refusal('INVALID_PARAMETERS', 'loanProductId')], { INVALID_PARAMETERS: message });
}

/**
 * Decides what the product is to be, which says all of it. Keys that it leaves out stay: that of the product, and those
 * of fees by their ids.
 */
function decideChange(
  body: ExactJson,
  known: ProductRecord,
  current: ProductVersion,
  { loanProductId, receivedAt, newKey }: ProductCommandContext,
): ProductDecision {
  const { encodedKey } = current.product;
  const refusals: Refusal[] = [];
  const reader = new FieldReader(body, refusals);
  const version = reader.decimal('version');
  const product = readProduct(reader, loanProductId, (purpose) =>
    purpose === 'product' ? encodedKey : newKey(purpose),
  );
  if (product.encodedKey !== encodedKey) reader.refuse('encodedKey');
  reader.refuseUnknown();
  if (refusals.length > 0) return refused(refusals);
  if (version !== undefined && !version.equals(current.version)) {
    const message = `The product was changed in the meantime: its version is ${current.version}.`;
    return refused([refusal('INVALID_PARAMETERS', 'version')], { INVALID_PARAMETERS: message });
  }
  const checked = createProduct(product);
  if (Array.isArray(checked)) return refused(checked);
  const changed: ProductVersion = { ...current, product };
  if (canonical(changed) === canonical(current)) return { outcome: 'committed', record: undefined };
  return {
    outcome: 'committed',
    record: {
      ...known,
      version: current.version + 1,
      modifiedAt: Math.max(receivedAt, current.modifiedAt),
      product: encodeProduct(product),
    },
  };
}

/** What a version shows, in one order of fields. */
function canonical(version: ProductVersion): string {
  return writeCanonical(readExactObject(writeProduct(version)));
}

function refused(
  refusals: readonly Refusal[],
  messages: Extract<ProductDecision, { outcome: 'refused' }>['messages'] = productRuleMessages,
): ProductDecision {
  return { outcome: 'refused', refusals, messages };
}

function refusedPatch({ index, member, path, reason }: PatchFault): ProductDecision {
  const INVALID_PARAMETERS = `Operation ${index}, ${member}: ${reason}`;
  return refused([refusal('INVALID_PARAMETERS', `[${index}]${path}`)], { INVALID_PARAMETERS });
}
