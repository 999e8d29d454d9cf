import { Decimal } from '../../lending/money.ts';
import { isSortable, sortableAmount } from '../sortable-amount.ts';

/**
 * What the values of a field are, and so how they are compared:
 *
 * - `text`: without regard to upper and lower case, unless the operator says otherwise
 * - `key`: keys and words of the API, exactly
 * - `number`: amounts, rates and counts, exactly
 * - `instant`: a moment, RFC 3339
 * - `day`: a calendar day
 * - `flag`: true or false; false where there is no value
 */
export type FieldKind = 'text' | 'key' | 'number' | 'instant' | 'day' | 'flag';

/**
 * One condition of a search, as plain data that another thread can be sent. Its values are {@link comparableValues}:
 * for every kind, texts that sort like the values.
 */
export type Condition = {
  readonly field: string;
  readonly kind: FieldKind;
  /** Whether the test must fail. A field without a value fails every test but `empty`. */
  readonly negated: boolean;
} & ConditionTest;

export type ConditionTest =
  | { readonly test: 'range'; readonly from: Bound | null; readonly to: Bound | null }
  | { readonly test: 'oneOf'; readonly values: readonly string[]; readonly ignoresCase: boolean }
  | { readonly test: 'startsWith'; readonly prefix: string; readonly ignoresCase: boolean }
  /** Without regard to case. */
  | { readonly test: 'contains'; readonly part: string }
  | { readonly test: 'empty' };

export interface Bound {
  readonly value: string;
  readonly included: boolean;
}

/** A field equals one of these values. */
export function isOneOf(field: string, ...values: readonly string[]): Condition {
  return { field, kind: 'key', negated: false, test: 'oneOf', values, ignoresCase: false };
}

/** A text contains this part, without regard to case. */
export function contains(field: string, part: string): Condition {
  return { field, kind: 'text', negated: false, test: 'contains', part: withoutCase(part) };
}

/** Whether values of a field meet a condition: of a field with several values, one of them must. */
export function holds(condition: Condition, values: readonly string[]): boolean {
  const isMet = condition.test === 'empty' ? values.length === 0 : values.some((value) => passes(condition, value));
  return isMet !== condition.negated;
}

/** The values of a field as conditions compare them; none when the field is empty or has values of another kind. */
export function comparableValues(kind: FieldKind, value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => comparableValues(kind, item));
  if (value === undefined || value === null || value === '') return kind === 'flag' ? ['false'] : [];
  const comparable = comparableValue(kind, value);
  return comparable === undefined ? [] : [comparable];
}

/** A text in which no letter is upper case, for comparing without regard to case. */
export function withoutCase(text: string): string {
  return text.toLowerCase();
}

/** The condition that is met when a field has a value, or has none. */
export function isEmpty(field: string, kind: FieldKind, negated: boolean): Condition {
  return { field, kind, negated, test: 'empty' };
}

function passes(condition: Exclude<Condition, { test: 'empty' }>, value: string): boolean {
  switch (condition.test) {
    case 'range':
      return isWithin(condition, value);
    case 'oneOf':
      return condition.values.includes(condition.ignoresCase ? withoutCase(value) : value);
    case 'contains':
      return withoutCase(value).includes(condition.part);
    case 'startsWith':
      break;
  }
  return (condition.ignoresCase ? withoutCase(value) : value).startsWith(condition.prefix);
}

function isWithin({ from, to }: { readonly from: Bound | null; readonly to: Bound | null }, value: string): boolean {
  if (from !== null && (value < from.value || (value === from.value && !from.included))) return false;
  return to === null || value < to.value || (value === to.value && to.included);
}

function comparableValue(kind: FieldKind, value: unknown): string | undefined {
  switch (kind) {
    case 'text':
    case 'key':
    case 'flag':
      return textOf(value);
    case 'number':
      return numberOf(value);
    case 'instant':
      return typeof value === 'string' ? instantOf(value) : undefined;
    case 'day':
      break;
  }
  return typeof value === 'string' ? dayForm.exec(value)?.[0] : undefined;
}

const dayForm = /^\d{4}-\d{2}-\d{2}/;

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return value instanceof Decimal ? value.toFixed() : undefined;
}

const numberForm = /^-?\d{1,40}(?:\.\d{1,40})?$/;

function numberOf(value: unknown): string | undefined {
  if (value instanceof Decimal) return sortableAmount(value);
  const isNumber = typeof value === 'number' ? Number.isFinite(value) : numberForm.test(String(value));
  if (!isNumber || (typeof value !== 'number' && typeof value !== 'string')) return undefined;
  const decimal = new Decimal(value);
  return isSortable(decimal) ? sortableAmount(decimal) : undefined;
}

function instantOf(text: string): string | undefined {
  const instant = Date.parse(text);
  return Number.isNaN(instant) ? undefined : new Date(instant).toISOString();
}
