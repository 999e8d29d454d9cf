/**
 * Custom fields: what an organisation adds to its loans and their transactions, in sets whose ids begin with an
 * underscore. A set is an object of fields, or a list of such objects where it is grouped. Every value is a text.
 */

import type { AdditionalFields, FieldValue } from '../additional-fields.ts';
import { Decimal } from '../money.ts';

/** The member of a group that has its place in the set, counted from 0, as a text. Responses contain it. */
export const groupIndexField = '_index';

/** The custom field sets among additional fields, by their ids, which begin with an underscore. */
export function fieldSetsOf(fields: AdditionalFields): [id: string, values: FieldValue][] {
  return Object.entries(fields).filter(([name]) => name.startsWith('_'));
}

/** Fields with the index of each group of their grouped sets, at every depth. */
export function withGroupIndexes(fields: AdditionalFields): AdditionalFields {
  let shown: Record<string, FieldValue> | undefined;
  for (const [name, value] of Object.entries(fields)) {
    const indexed = name.startsWith('_') ? indexedGroups(value) : withInnerIndexes(value);
    if (indexed !== value) shown = { ...(shown ?? fields), [name]: indexed };
  }
  return shown ?? fields;
}

function indexedGroups(set: FieldValue): FieldValue {
  if (!isList(set)) return set;
  return set.map((group, index) => ({ [groupIndexField]: String(index), ...(group as AdditionalFields) }));
}

function withInnerIndexes(value: FieldValue): FieldValue {
  if (isList(value)) return value.map(withInnerIndexes);
  const isObject = typeof value === 'object' && value !== null && !(value instanceof Decimal);
  return isObject ? withGroupIndexes(value) : value;
}

function isList(value: FieldValue): value is readonly FieldValue[] {
  return Array.isArray(value);
}

/** A view without what it shows only with all details: custom field sets, and what stands for the loan. */
export function withoutDetails<View extends object>(view: View): View {
  const shown = Object.entries(view as Record<string, unknown>)
    .filter(([name]) => !name.startsWith('_') && name !== 'assets' && name !== 'guarantors')
    .map(([name, value]): [string, unknown] => [
      name,
      name === 'disbursementDetails' ? withoutDetails(value as object) : value,
    ]);
  return Object.fromEntries(shown) as View;
}
