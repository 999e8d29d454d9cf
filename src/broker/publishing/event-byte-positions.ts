import { jsonByte, readString } from '../../json-bytes.ts';
import { plainNumberCharactersMaximum } from '../schemas/written-numbers.ts';

/**
 * Walks the bytes of a JSON array of events to find where each event and its metadata lie, so that an event can be
 * stored as it was sent. The bytes must be JSON that a parser has accepted: nothing is checked again, and another text
 * may have no end here.
 */

/** Numbers kept for each event in {@link EventSpans.fields}. */
export const fieldsPerEvent = 10;

/** Positions within one event's fields. */
export const spanField = {
  /** First byte of the event. */
  start: 0,
  /** One past its last byte. */
  end: 1,
  /** First byte of the object under its top-level key `metadata`; -1 when there is none or it is no object. */
  metadataStart: 2,
  metadataEnd: 3,
  /** Keys written at the top level, repeats counted. */
  keys: 4,
  /** Keys written at the top level of `metadata`, repeats counted. */
  metadataKeys: 5,
  /** Bytes of white space between its tokens. */
  whitespace: 6,
  /** How deep it is nested: 1 for an object of plain values. */
  depth: 7,
  /** Keys written at any depth, repeats counted. */
  allKeys: 8,
  /** Numbers with more characters than a double is sure to hold, or with an exponent. */
  longNumbers: 9,
} as const;

export interface EventSpans {
  readonly count: number;
  /** {@link fieldsPerEvent} numbers for each event. */
  readonly fields: Int32Array;
}

const { quote, backslash, comma, colon, openBrace, closeBrace, openBracket, closeBracket, space } = jsonByte;
const { digitZero, digitNine } = jsonByte;
const plus = 0x2b;
const minus = 0x2d;
const dot = 0x2e;
/** `E` and `e`. */
const exponentMark = 0x65;
const lowerCase = 0x20;

/** Depth of brackets: the array, an event, a value within the event. */
const eventDepth = 2;
const valueDepth = 3;

/**
 * Finds the spans of the objects of a JSON array.
 * @param body An array whose items are all objects, as a parser has confirmed.
 * @param count How many items it has.
 */
export function scanEvents(body: Uint8Array, count: number): EventSpans {
  const fields = new Int32Array(count * fieldsPerEvent);
  const length = body.length;
  let depth = 0;
  let deepest = 0;
  let base = -fieldsPerEvent;
  /** The next string is a key, if it comes at a depth whose keys are counted. */
  let keyDue = false;
  /** The last key at the top level of the event was `metadata`. */
  let isMetadata = false;
  let inMetadata = false;
  let keys = 0;
  let metadataKeys = 0;
  let whitespace = 0;
  let allKeys = 0;
  let longNumbers = 0;

  for (let index = 0; index < length; index += 1) {
    const byte = body[index] as number;
    if (byte === quote) {
      // Not skipString: the parser has accepted the body, so no string ends beyond it, and comparing the index with the
      // length at each byte would take 15 % more time (docs/performance.md).
      const start = index;
      let escaped = false;
      for (index += 1; body[index] !== quote; index += 1) {
        if (body[index] !== backslash) continue;
        escaped = true;
        index += 1;
      }
      if (!keyDue) continue;
      keyDue = false;
      if (depth === eventDepth) {
        keys += 1;
        isMetadata = isMetadataKey(body, start, index + 1, escaped);
      } else if (inMetadata) metadataKeys += 1;
    } else if (byte === comma) {
      keyDue = depth === eventDepth || depth === valueDepth;
    } else if (byte === openBrace || byte === openBracket) {
      depth += 1;
      deepest = Math.max(deepest, depth);
      keyDue = byte === openBrace && depth <= valueDepth;
      if (depth === eventDepth) {
        base += fieldsPerEvent;
        fields[base + spanField.start] = index;
        fields[base + spanField.metadataStart] = -1;
        keys = 0;
        metadataKeys = 0;
        whitespace = 0;
        allKeys = 0;
        longNumbers = 0;
        deepest = eventDepth;
      } else if (depth === valueDepth && isMetadata) {
        inMetadata = byte === openBrace;
        if (inMetadata) fields[base + spanField.metadataStart] = index;
      }
    } else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1;
      if (depth === eventDepth && inMetadata) {
        inMetadata = false;
        fields[base + spanField.metadataEnd] = index + 1;
      } else if (depth === eventDepth - 1) {
        fields[base + spanField.end] = index + 1;
        fields[base + spanField.keys] = keys;
        fields[base + spanField.metadataKeys] = metadataKeys;
        fields[base + spanField.whitespace] = whitespace;
        fields[base + spanField.depth] = deepest - 1;
        fields[base + spanField.allKeys] = allKeys;
        fields[base + spanField.longNumbers] = longNumbers;
      }
    } else if (byte === colon) allKeys += 1;
    else if (byte <= space) whitespace += 1;
    else if (byte === minus || isDigit(byte)) {
      const start = index;
      index = endOfPlainNumber(body, start);
      // An exponent, or more characters than a double is sure to hold.
      if (((body[index] as number) | lowerCase) === exponentMark) {
        longNumbers += 1;
        index = endOfNumber(body, index);
      } else if (index - start > plainNumberCharactersMaximum) longNumbers += 1;
      // The loop continues after the number.
      index -= 1;
    }
  }
  return { count, fields };
}

/** One past the digits, minus and point that begin at `start`. */
function endOfPlainNumber(body: Uint8Array, start: number): number {
  let index = start;
  for (
    let byte = body[index] as number;
    isDigit(byte) || byte === minus || byte === dot;
    byte = body[index] as number
  ) {
    index += 1;
  }
  return index;
}

/** One past an exponent, with its sign and digits. */
function endOfNumber(body: Uint8Array, mark: number): number {
  let index = mark + 1;
  while (body[index] === minus || body[index] === plus || isDigit(body[index] as number)) index += 1;
  return index;
}

function isDigit(byte: number): boolean {
  return byte >= digitZero && byte <= digitNine;
}

const metadataKey = Buffer.from('"metadata"');

function isMetadataKey(body: Uint8Array, start: number, end: number, escaped: boolean): boolean {
  if (escaped) return readString(body, start, end) === 'metadata';
  if (end - start !== metadataKey.length) return false;
  for (let index = 0; index < metadataKey.length; index += 1) {
    if (body[start + index] !== metadataKey[index]) return false;
  }
  return true;
}
