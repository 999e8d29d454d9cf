import { Decimal } from './money.ts';

/** A value that was sent and is given back; its numbers are exact. */
export type FieldValue =
  | string
  | number
  | boolean
  | null
  | Decimal
  | readonly FieldValue[]
  | { readonly [name: string]: FieldValue };

/**
 * Fields of a product, an account or a transaction that no rule reads: they were sent with it, are stored, and are
 * given back at the same places. Custom field sets are among them, under their ids.
 */
export type AdditionalFields = Readonly<Record<string, FieldValue>>;

export const noAdditionalFields: AdditionalFields = {};

/** A view with the additional fields at their places. A field that the view has itself keeps the view's value. */
export function withAdditionalFields<View extends object>(view: View, additional: AdditionalFields): View {
  return merged(view, additional) as View;
}

function merged(own: unknown, additional: unknown): unknown {
  if (own === undefined || own === null) return additional;
  if (Array.isArray(own) && Array.isArray(additional)) {
    return own.map((item, index) => merged(item, additional[index]));
  }
  if (!isPlainObject(own) || !isPlainObject(additional)) return own;
  const fields: Record<string, unknown> = { ...own };
  for (const [name, value] of Object.entries(additional)) fields[name] = merged(fields[name], value);
  return fields;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Decimal);
}
