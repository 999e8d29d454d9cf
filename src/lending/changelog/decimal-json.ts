import { Decimal, zero } from '../money.ts';
import { jsonFieldName } from './json-field-name.ts';

/** A text that starts with this mark is a decimal. An ordinary text that starts with it gets the mark twice. */
const decimalMark = '#';

/**
 * A value as JSON in which each decimal is a marked text and keeps every digit. Fields that are undefined are left out.
 * Written by hand in one pass, because every command writes its account.
 */
export function writeMarked(value: unknown): string {
  if (typeof value === 'string') {
    if (plainText.test(value)) return `"${value}"`;
    return JSON.stringify(value.startsWith(decimalMark) ? decimalMark + value : value);
  }
  if (value === null) return 'null';
  // JSON.stringify on integers and booleans would take longer than everything else.
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isInteger(value))) return String(value);
  if (typeof value !== 'object') return JSON.stringify(value);
  if (value instanceof Decimal) return `"${decimalMark}${value.valueOf()}"`;
  if (!Array.isArray(value)) return writeObject(value);
  let text = '';
  for (const item of value) text += text === '' ? writeMarked(item) : `,${writeMarked(item)}`;
  return `[${text}]`;
}

/** An object, with its fields in their own order. */
function writeObject(value: object): string {
  const fields = value as Record<string, unknown>;
  let text = '';
  for (const name in fields) {
    const field = fields[name];
    if (field === undefined) continue;
    const { first, next } = jsonFieldName(name);
    text += text === '' ? first : next;
    text += writeMarked(field);
  }
  return `{${text}}`;
}

/** Keys, dates and states: texts that need no escaping in JSON. This test is faster than JSON.stringify. */
const plainText = /^[\w .:-]*$/;

/**
 * A parsed value with its decimals, as {@link writeMarked} wrote it. Changes the tree in place: it was just parsed and
 * nothing else refers to it.
 */
export function reviveMarked(value: unknown): unknown {
  if (typeof value === 'string') {
    if (!value.startsWith(decimalMark)) return value;
    return value.startsWith(decimalMark + decimalMark) ? value.slice(1) : decimalOf(value.slice(1));
  }
  if (typeof value === 'object' && value !== null) {
    const fields = value as Record<string, unknown>;
    for (const name of Object.keys(fields)) fields[name] = reviveMarked(fields[name]);
  }
  return value;
}

/** The decimal of a text. Most amounts of a loan are zero, and share one object. */
export function decimalOf(text: string): Decimal {
  return text === '0' ? zero : new Decimal(text);
}
