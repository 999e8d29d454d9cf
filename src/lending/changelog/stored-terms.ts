import { Decimal } from '../money.ts';
import type { AgreedTerms } from '../terms.ts';
import { reviveMarked, writeMarked } from './decimal-json.ts';

/**
 * The terms of an account are mostly those that its product gives. Only the difference is stored with the account: the
 * fields with another value.
 */
type Fields = Readonly<Record<string, unknown>>;

const writtenDifferences = new WeakMap<AgreedTerms, { readonly given: AgreedTerms; readonly text: string }>();

/**
 * The terms as a JSON object of the fields that differ from those the product gives.
 * @throws Error when they lack one of those fields: the difference could not say so
 */
export function writeTerms(terms: AgreedTerms, given: AgreedTerms): string {
  const known = writtenDifferences.get(terms);
  if (known?.given === given) return known.text;
  const text = writeMarked(difference(fieldsOf(terms), fieldsOf(given)) ?? {});
  writtenDifferences.set(terms, { given, text });
  return text;
}

/** The terms that {@link writeTerms} wrote. @param stored Parsed; its decimals are still marked texts. */
export function readTerms(stored: object, given: AgreedTerms): AgreedTerms {
  return combined(fieldsOf(given), reviveMarked(stored) as Fields) as unknown as AgreedTerms;
}

/** Undefined when nothing differs. */
function difference(own: Fields, given: Fields): Fields | undefined {
  const missing = Object.keys(given).find((name) => !(name in own));
  if (missing !== undefined) throw new Error(`The terms have no ${missing}`);
  const different: Record<string, unknown> = {};
  for (const [name, one] of Object.entries(own)) {
    const other = given[name];
    if (isNested(one) && isNested(other)) {
      const inner = difference(one, other);
      if (inner !== undefined) different[name] = inner;
    } else if (writeMarked(one) !== writeMarked(other)) different[name] = one;
  }
  return Object.keys(different).length === 0 ? undefined : different;
}

function combined(given: Fields, changes: Fields): Fields {
  const fields: Record<string, unknown> = { ...given };
  for (const [name, change] of Object.entries(changes)) {
    const base = given[name];
    fields[name] = isNested(base) && isNested(change) ? combined(base, change) : change;
  }
  return fields;
}

function fieldsOf(terms: AgreedTerms): Fields {
  return terms as unknown as Fields;
}

function isNested(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Decimal);
}
