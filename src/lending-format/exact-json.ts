import { LosslessNumber, isLosslessNumber, parse, stringify } from 'lossless-json';
import { Decimal } from '../lending/money.ts';
import { readPlainJson } from './exact-json-shortcut.ts';

/**
 * JSON whose numbers never pass through a binary float: a number is an object with the text its sender wrote, and is
 * written as that text again.
 */
export type ExactJson = Record<string, unknown>;

/** The most digits a number may have, so that every client can read and write it exactly as a double. */
const significantDigitsMaximum = 15;

/** The most digits after the point, and the longest text of a number that is parsed at all. Characters. */
const decimalPlacesMaximum = 20;
const numberCharactersMaximum = 64;

/**
 * Reads one JSON object.
 * @throws SyntaxError for what is no JSON object, names a key twice or is nested too deeply
 */
export function readExactObject(text: string): ExactJson {
  let value: unknown;
  try {
    value = readPlainJson(text) ?? parse(text);
  } catch (error) {
    // A RangeError means that nesting has used up the stack. Such JSON is refused like JSON with a missing bracket.
    if (error instanceof RangeError) throw new SyntaxError('The JSON is nested too deeply.');
    throw error;
  }
  if (!isExactObject(value)) throw new SyntaxError('The JSON is not an object.');
  return value;
}

/** Whether a value of exact JSON is an object; a number, which is an object in memory, is none. */
export function isExactObject(value: unknown): value is ExactJson {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}

/**
 * The decimal that a JSON number stands for.
 * @returns null when `value` is no number, or one of more than {@link significantDigitsMaximum} significant digits,
 *   where the zeros before the point count (1e15 has sixteen)
 */
export function readDecimal(value: unknown): Decimal | null {
  if (!isLosslessNumber(value) || value.value.length > numberCharactersMaximum) return null;
  const decimal = new Decimal(value.value);
  const exact =
    decimal.isFinite() &&
    decimal.precision(true) <= significantDigitsMaximum &&
    decimal.decimalPlaces() <= decimalPlacesMaximum;
  return exact ? decimal : null;
}

/** The text of a text, of a number as it was written, or of a boolean; undefined for any other value. */
export function scalarText(value: unknown): string | undefined {
  if (isLosslessNumber(value)) return value.value;
  return typeof value === 'string' || typeof value === 'boolean' ? String(value) : undefined;
}

/** The number that a text is, in the form of JSON. @returns null as {@link readDecimal} */
export function decimalOfText(text: string): Decimal | null {
  return jsonNumber.test(text) ? readDecimal(new LosslessNumber(text)) : null;
}

const jsonNumber = /^-?(?:0|[1-9]\d{0,63})(?:\.\d{1,63})?(?:[eE][+-]?\d{1,3})?$/;

/** One line of JSON. Keys whose value is undefined are left out. */
export function writeExact(value: ExactJson | readonly unknown[]): string {
  return stringify(value) ?? 'null';
}

/**
 * One line of JSON in which the fields of every object are in the order of their names, so that two values that mean
 * the same have one text. Its numbers are as they were written.
 * @throws RangeError when the value is nested too deeply
 */
export function writeCanonical(value: unknown): string {
  if (isLosslessNumber(value)) return value.value;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += `${text === '' ? '' : ','}${writeCanonical(item)}`;
    return `[${text}]`;
  }
  for (const name of Object.keys(value).sort()) {
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${writeCanonical((value as ExactJson)[name])}`;
  }
  return `{${text}}`;
}
