import type { FieldKind } from './conditions.ts';

/**
 * A field that a search can filter and sort by. One with a column is found by SQLite. The value of any other one is
 * taken from the item as clients see it, one item after another.
 */
export interface SearchField<Item> {
  readonly kind: FieldKind;
  readonly column?: SearchColumn;
  /** Whether it is a custom field, whose values may be of any kind: a criterion says by its own value which one. */
  readonly isCustom?: true;
  /** The kind of the values of a custom field that is defined. */
  readonly definedKind?: FieldKind;
  /** The only values that a criterion may have; without them, any. */
  readonly words?: readonly string[];
  /** The value in an item: a list where it has several; undefined where it has none. */
  valueOf(item: Item): unknown;
}

/** An expression of SQL. Its values are comparable texts, as conditions describe them. */
export interface SearchColumn {
  readonly sql: string;
  /** The same without regard to case; only of fields that are compared so. */
  readonly sqlWithoutCase?: string;
  /** Whether it may be null. */
  readonly isOptional: boolean;
  /** Whether it identifies the item, so that sorting by it is the order of items that are equal otherwise. */
  readonly isIdentity?: true;
}

/** The fields of a resource. */
export interface SearchFields<Item> {
  /** The field with this name; undefined when the resource has none. */
  find(name: string): SearchField<Item> | undefined;
}

/** The value at a path of an object; of each item where there is a list on the way. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  if (Array.isArray(value)) return value.map((item) => valueAt(item, path));
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return valueAt((value as Record<string, unknown>)[name], rest);
}

/** The id of a custom field set and of one of its fields: `_loanDetails.purpose`. */
const customFieldForm = /^_[A-Za-z0-9_-]{1,64}\.[A-Za-z0-9_-]{1,64}$/;

/** The path of a custom field; undefined for a text that names none. */
export function customFieldPath(name: string): readonly string[] | undefined {
  return customFieldForm.test(name) ? name.split('.') : undefined;
}
