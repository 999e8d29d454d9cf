import { jsonPattern } from '../json-scan.ts';

/** JSON whose numbers keep the digits that they were written with: an amount is 1000.00, not 1000. */

/** Stands before a number that was made a text, where texts that look like numbers have to stay apart from it. */
const mark = '\u{E000}';

/** Puts every number of a JSON text in quotation marks. */
export function quoteNumbers(text: string): string {
  return replaceNumbers(text, (number) => `"${number}"`);
}

/** Parses JSON to be shown again by {@link shownJson}. */
export function parseToShow(text: string): unknown {
  return JSON.parse(replaceNumbers(text, (number) => `"${mark}${number}"`));
}

/**
 * What was parsed by {@link parseToShow}, as JSON, every number as it was written. @param indent Spaces; 0 for one
 * line.
 */
export function shownJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replaceAll(new RegExp(`"${mark}([^"]*)"`, 'g'), '$1');
}

/** A string is a token as well, so that the digits in it are not taken for a number. */
const stringOrNumber = new RegExp(`${jsonPattern.string}|${jsonPattern.number}`, 'g');

function replaceNumbers(text: string, replacement: (number: string) => string): string {
  return text.replace(stringOrNumber, (token) => (token.startsWith('"') ? token : replacement(token)));
}
