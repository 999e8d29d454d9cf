import { jsonPattern } from '../json-bytes.ts';

/** JSON whose numbers keep their written digits: an amount is 1000.00, not 1000. */

/** Marks a number that was turned into a text, where texts that look like numbers have to be distinguished from it. */
const mark = '\u{E000}';

/** Puts every number of a JSON text in quotation marks. */
export function quoteNumbers(text: string): string {
  return replaceNumbers(text, (number) => `"${number}"`);
}

/** Parses JSON that {@link shownJson} shows again. */
export function parseToShow(text: string): unknown {
  return JSON.parse(replaceNumbers(text, (number) => `"${mark}${number}"`));
}

/**
 * Writes what {@link parseToShow} returned as JSON, with every number as it was written. @param indent Spaces; 0 for
 * one line.
 */
export function shownJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replaceAll(new RegExp(`"${mark}([^"]*)"`, 'g'), '$1');
}

/** A number as {@link parseToShow} returns it, for changing what it returned. @param digits Valid JSON. */
export function numberToShow(digits: string): string {
  return `${mark}${digits}`;
}

/** The text or the digits of a scalar that {@link parseToShow} returned; empty for anything else. */
export function scalarText(value: unknown): string {
  if (typeof value === 'string') return value.startsWith(mark) ? value.slice(mark.length) : value;
  return typeof value === 'boolean' ? String(value) : '';
}

/** A string is a token as well, so that digits in it do not count as a number. */
const stringOrNumber = new RegExp(`${jsonPattern.string}|${jsonPattern.number}`, 'g');

function replaceNumbers(text: string, replacement: (number: string) => string): string {
  return text.replace(stringOrNumber, (token) => (token.startsWith('"') ? token : replacement(token)));
}
