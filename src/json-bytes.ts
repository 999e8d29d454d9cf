/**
 * Where the strings, numbers and values of a JSON text begin and end, without parsing it, and what a string of it says.
 * Each scan ends with the text at the latest, whatever the text contains. For a text that a parser accepts, the
 * positions are exact.
 */

/**
 * The bytes that structure JSON. A character beyond ASCII has no such byte in UTF-8.
 *
 * A module with a hot loop makes constants of its own from these: the engine compiles those into its code, and reads an
 * imported constant from memory each time, which doubled the duration of such a loop (docs/performance.md).
 */
export const jsonByte = {
  quote: 0x22,
  backslash: 0x5c,
  comma: 0x2c,
  colon: 0x3a,
  openBrace: 0x7b,
  closeBrace: 0x7d,
  openBracket: 0x5b,
  closeBracket: 0x5d,
  digitZero: 0x30,
  digitNine: 0x39,
  /** The largest byte of white space. Between tokens, JSON has no smaller byte that is not white space. */
  space: 0x20,
} as const;

const { quote, backslash, comma, openBrace, closeBrace, openBracket, closeBracket, space } = jsonByte;

/** The same tokens as sources of regular expressions, for code that has the text as a string. */
export const jsonPattern = {
  /** Its escapes and control characters are not checked. */
  string: String.raw`"[^"\\]*(?:\\[^][^"\\]*)*"`,
  number: String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?`,
} as const;

/** The end of the string whose opening quote lies at `start`: one past its closing quote, or the end of the text. */
export function skipString(json: Uint8Array, start: number): number {
  const { length } = json;
  let index = start + 1;
  while (index < length && json[index] !== quote) index += json[index] === backslash ? 2 : 1;
  return index < length ? index + 1 : length;
}

/**
 * The string between `start` and `end`, its quotes included, with its escapes read.
 * @throws SyntaxError when a parser would not accept the string
 */
export function readString(json: Uint8Array, start: number, end: number): string {
  return JSON.parse(Buffer.from(json.buffer, json.byteOffset + start, end - start).toString('utf8')) as string;
}

/** The first byte from `start` on that is no white space, or the end of the text. */
export function skipSpace(json: Uint8Array, start: number): number {
  const { length } = json;
  let index = start;
  while (index < length && (json[index] as number) <= space) index += 1;
  return index;
}

/** One past the value that begins at `start`, or the end of the text. */
export function skipValue(json: Uint8Array, start: number): number {
  const { length } = json;
  let depth = 0;
  let index = start;
  while (index < length) {
    const byte = json[index] as number;
    if (byte === quote) {
      index = skipString(json, index);
      if (depth === 0) return index;
      continue;
    }
    if (byte === openBrace || byte === openBracket) depth += 1;
    else if (byte === closeBrace || byte === closeBracket) {
      // The end of the container of a plain value.
      if (depth === 0) return index;
      depth -= 1;
      if (depth === 0) return index + 1;
    } else if (depth === 0 && (byte === comma || byte <= space)) return index;
    index += 1;
  }
  return length;
}

/**
 * Whether brackets outside strings are nested deeper than `levels`. A text that is no JSON may seem deeper or shallower
 * than a parser finds it.
 */
export function isNestedDeeper(json: Uint8Array, levels: number): boolean {
  const { length } = json;
  // Each level has a byte of its own.
  if (length <= levels) return false;
  let depth = 0;
  for (let index = 0; index < length; index += 1) {
    const byte = json[index] as number;
    // The loop continues after the string.
    if (byte === quote) index = skipString(json, index) - 1;
    else if (byte === openBrace || byte === openBracket) {
      depth += 1;
      if (depth > levels) return true;
    } else if (byte === closeBrace || byte === closeBracket) depth -= 1;
  }
  return false;
}
