import type { AdditionalFields, FieldValue } from '../additional-fields.ts';
import { Decimal } from '../money.ts';

/**
 * The most bytes that the custom fields of an account may have together, those of its disbursement details and its
 * securities included. Bytes.
 */
export const accountFieldBytesMaximum = 64 * 1024;
/** The most bytes that the custom fields of a transaction may have together. Bytes. */
export const transactionFieldBytesMaximum = 16 * 1024;

/**
 * How many bytes the custom fields have: the id of each set, and the id and the value of each field, in UTF-8. A field
 * of a grouped set counts in each of its groups. Bytes.
 */
export function customFieldBytes(fields: AdditionalFields): number {
  return Object.entries(fields).reduce(
    (bytes, [name, value]) => bytes + (name.startsWith('_') ? bytesOf(name) + textBytes(value) : bytesBelow(value)),
    0,
  );
}

/** The bytes of the sets at some depth of a field that is no set itself. */
function bytesBelow(value: FieldValue): number {
  if (isList(value)) return value.reduce<number>((bytes, item) => bytes + bytesBelow(item), 0);
  return isFields(value) ? customFieldBytes(value) : 0;
}

/** The bytes of all that is inside a set. */
function textBytes(value: FieldValue): number {
  if (isList(value)) return value.reduce<number>((bytes, item) => bytes + textBytes(item), 0);
  if (typeof value === 'string') return bytesOf(value);
  if (!isFields(value)) return 0;
  return Object.entries(value).reduce((bytes, [name, inner]) => bytes + bytesOf(name) + textBytes(inner), 0);
}

function isList(value: FieldValue): value is readonly FieldValue[] {
  return Array.isArray(value);
}

function isFields(value: FieldValue): value is AdditionalFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Decimal);
}

/** A character takes one to four bytes of UTF-8. */
function bytesOf(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x1_00_00 ? 3 : 4;
  }
  return bytes;
}
