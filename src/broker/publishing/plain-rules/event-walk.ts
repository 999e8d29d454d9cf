import { jsonByte } from '../../../json-bytes.ts';
import { fractionDigitsMaximum, isDateTime } from '../../../clock.ts';
import { eventDepthMaximum, eventsPerRequestMaximum } from '../request-parsing.ts';
import { eventField, fieldsOfEach } from '../request-memory/event-fields.ts';
import { hashOfKey, valueKind, type KeyTable, type PlainRules } from './plain-rules.ts';

/**
 * Reads the events of a request in one walk over its bytes: checks that they are JSON and that they fit plain rules,
 * and finds where their parts lie. No object is made of them, however much their keys differ from each other's: for
 * every new order of keys the engine would make a new layout of objects.
 *
 * The walk gives up on whatever it does not know to be valid. The request is then parsed and validated in full.
 */

/** More keys of one object than this are left to the parser: each key is compared with all before it. */
export const keysMaximum = 64;

/** Longer numbers are left to the parser, which knows when they are beyond every double. Bytes. */
export const numberBytesMaximum = 300;

/** The result of a walk that gives up. */
const unknown = -1;

const { quote, backslash, comma, colon, openBrace, closeBrace, openBracket, closeBracket, space } = jsonByte;
const { digitZero, digitNine } = jsonByte;
const minus = 0x2d;
const dot = 0x2e;
const unicodeEscape = 0x75;
const {
  object: objectKind,
  array: arrayKind,
  string: stringKind,
  number: numberKind,
  integer: integerKind,
  boolean: booleanKind,
  null: nullKind,
} = valueKind;
const { start: startField, end: endField, metadataStart, metadataEnd, hasFurtherMetadata, wanted } = eventField;

const hashOfPrototype = hashOfKey(Buffer.from('__proto__'));

/** 1 for the bytes that may follow a backslash, apart from `u`. */
const isEscape = bytesOf('"\\/bfnrt');
const isHexadecimal = bytesOf('0123456789abcdefABCDEF');
const isPlain = new Uint8Array(256).fill(1, 0x20);
isPlain[quote] = 0;
isPlain[backslash] = 0;

/**
 * Walks a JSON array of events without white space between tokens.
 * @param body Valid UTF-8.
 * @param wantedCount How many paths are wanted. An event without one of them is not known to be valid.
 * @param fields Gets the fields of each event, one event after another.
 * @returns The count of events; undefined when the walk gave up, or when there is no room for more fields
 */
export function walkEvents(
  body: Buffer,
  rules: PlainRules,
  wantedCount: number,
  fields: Int32Array,
): number | undefined {
  const last = body.length - 1;
  if (body[0] !== openBracket || body[last] !== closeBracket || last < 2) return undefined;
  return new EventWalk(body, wantedCount, fields).events(rules);
}

/** The hashes of the keys of all objects around the position of a walk, the innermost last. */
const hashes = new Int32Array(keysMaximum * eventDepthMaximum);

class EventWalk {
  readonly #body: Buffer;
  /**
   * No string begins at or after this position. Since the body ends with a bracket, no token reads beyond it, so that
   * no read has to be compared with the length: see docs/performance.md.
   */
  readonly #lastQuote: number;
  readonly #fieldsOfEach: number;
  readonly #fields: Int32Array;
  /** Where the fields of the current event begin. */
  #base = 0;
  #hashCount = 0;
  #depth = 0;
  /** The body as Latin-1: one character for each byte. Made when a part of it is needed. */
  #latin1: string | undefined;

  constructor(body: Buffer, wantedCount: number, fields: Int32Array) {
    this.#body = body;
    this.#lastQuote = body.lastIndexOf(quote);
    this.#fieldsOfEach = fieldsOfEach(wantedCount);
    this.#fields = fields;
  }

  events(rules: PlainRules): number | undefined {
    const body = this.#body;
    const each = this.#fieldsOfEach;
    const fields = this.#fields;
    const countMaximum = Math.min(eventsPerRequestMaximum, Math.floor(fields.length / each));
    let count = 0;
    for (let at = 1; ; at += 1) {
      if (count === countMaximum) return undefined;
      this.#base = count * each;
      fields.fill(unknown, this.#base + wanted, this.#base + each);
      fields[this.#base + hasFurtherMetadata] = 0;
      fields[this.#base + startField] = at;
      if (body[at] !== openBrace) return undefined;
      at = this.#object(at, rules);
      if (at === unknown) return undefined;
      fields[this.#base + endField] = at;
      for (let field = this.#base + wanted; field < this.#base + each; field += 2) {
        if (fields[field] === unknown) return undefined;
      }
      count += 1;
      const byte = body[at];
      if (byte === comma) continue;
      return byte === closeBracket && at === body.length - 1 ? count : undefined;
    }
  }

  #text(start: number, end: number): string {
    return (this.#latin1 ??= this.#body.toString('latin1')).slice(start, end);
  }

  /** One past the value that begins at a position; {@link unknown} when it is not known to be valid, as below. */
  #value(at: number, rules: PlainRules): number {
    const byte = this.#body[at] as number;
    if (byte === quote) return this.#string(at, rules);
    if (rules.texts !== null || rules.wanted.length > 0) return unknown;
    if (byte === openBrace) return this.#object(at, rules);
    if (byte === openBracket) return this.#array(at, rules);
    if (byte === minus || (byte >= digitZero && byte <= digitNine)) return this.#number(at, rules);
    return this.#literal(at, rules);
  }

  #object(start: number, rules: PlainRules): number {
    if ((rules.kinds & objectKind) === 0 || rules.wanted.length > 0 || rules.texts !== null) return unknown;
    if (this.#depth === eventDepthMaximum) return unknown;
    this.#depth += 1;
    const body = this.#body;
    const firstHash = this.#hashCount;
    const isMetadata = rules.place === 'metadata';
    if (isMetadata) this.#fields[this.#base + metadataStart] = start;
    let count = 0;
    let required = 0;
    let at = start + 1;
    if (body[at] === closeBrace) at += 1;
    else {
      for (;;) {
        if (body[at] !== quote || at >= this.#lastQuote) return unknown;
        // The key: without escapes, and different from those before it.
        let hash = 0;
        const nameStart = at + 1;
        for (at = nameStart; ; at += 1) {
          const byte = body[at] as number;
          if (byte === quote) break;
          if (byte < space || byte === backslash) return unknown;
          hash = (Math.imul(hash, 31) + byte) | 0;
        }
        if (count === keysMaximum || hash === hashOfPrototype) return unknown;
        const hashCount = firstHash + count;
        for (let index = firstHash; index < hashCount; index += 1) if (hashes[index] === hash) return unknown;
        hashes[hashCount] = hash;
        count += 1;
        this.#hashCount = hashCount + 1;
        const key = findKey(rules.keys, body, hash, nameStart, at);
        if (key?.isRequired === true) required += 1;
        const valueRules = key === undefined ? rules.otherKeys : key.value;
        if (valueRules === null || body[at + 1] !== colon) return unknown;
        if (valueRules.place === 'further-metadata') this.#fields[this.#base + hasFurtherMetadata] = 1;
        at = this.#value(at + 2, valueRules);
        if (at === unknown) return unknown;
        const byte = body[at];
        at += 1;
        if (byte === closeBrace) break;
        if (byte !== comma) return unknown;
      }
    }
    if (required !== rules.requiredKeys || count < rules.keysMinimum || count > rules.keysMaximum) return unknown;
    if (isMetadata) this.#fields[this.#base + metadataEnd] = at;
    this.#hashCount = firstHash;
    this.#depth -= 1;
    return at;
  }

  #array(start: number, rules: PlainRules): number {
    if ((rules.kinds & arrayKind) === 0 || this.#depth === eventDepthMaximum) return unknown;
    this.#depth += 1;
    const body = this.#body;
    const { items } = rules;
    let count = 0;
    let at = start + 1;
    if (body[at] === closeBracket) at += 1;
    else {
      if (items === null) return unknown;
      for (;;) {
        at = this.#value(at, items);
        if (at === unknown) return unknown;
        count += 1;
        const byte = body[at];
        at += 1;
        if (byte === closeBracket) break;
        if (byte !== comma) return unknown;
      }
    }
    // The last byte of the body closes the array of events, and no other.
    if (count < rules.itemsMinimum || count > rules.itemsMaximum || at === body.length) return unknown;
    this.#depth -= 1;
    return at;
  }

  #string(quoteAt: number, rules: PlainRules): number {
    if ((rules.kinds & stringKind) === 0 || quoteAt >= this.#lastQuote) return unknown;
    const body = this.#body;
    const start = quoteAt + 1;
    let hasEscapes = false;
    let at = start;
    for (; ; at += 1) {
      const byte = body[at] as number;
      if (isPlain[byte] === 1) continue;
      if (byte === quote) break;
      if (byte < space) return unknown;
      if (byte !== backslash) continue;
      hasEscapes = true;
      at = this.#endOfEscape(at);
      if (at >= this.#lastQuote) return unknown;
    }
    if (rules.format !== null || rules.texts !== null || rules.wanted.length > 0) {
      if (hasEscapes || !this.#isTextAllowed(start, at, rules)) return unknown;
      for (let index = 0; index < rules.wanted.length; index += 1) {
        const field = this.#base + wanted + 2 * (rules.wanted[index] as number);
        this.#fields[field] = start;
        this.#fields[field + 1] = at;
      }
    }
    return at + 1;
  }

  /** The last byte of the escape whose backslash lies at `at`, which is not the last byte of the body. */
  #endOfEscape(at: number): number {
    const body = this.#body;
    const letter = body[at + 1] as number;
    if (isEscape[letter] === 1) return at + 1;
    if (letter !== unicodeEscape || at + 5 >= this.#lastQuote) return this.#lastQuote;
    for (let digit = at + 2; digit < at + 6; digit += 1) {
      if (isHexadecimal[body[digit] as number] !== 1) return this.#lastQuote;
    }
    return at + 5;
  }

  #isTextAllowed(start: number, end: number, { format, texts }: PlainRules): boolean {
    if (texts !== null && !texts.has(this.#text(start, end))) return false;
    if (format === 'uuid') return isUuid(this.#body, start, end);
    if (format === 'date-time') return isUsualTime(this.#body, start, end) || isDateTime(this.#text(start, end));
    return true;
  }

  #number(start: number, { kinds }: PlainRules): number {
    const body = this.#body;
    let at = body[start] === minus ? start + 1 : start;
    const first = body[at] as number;
    at += 1;
    if (first !== digitZero) {
      if (first < digitZero || first > digitNine) return unknown;
      at = endOfDigits(body, at);
    }
    let kind: number = integerKind;
    if (body[at] === dot) {
      kind = numberKind;
      const fraction = at + 1;
      at = endOfDigits(body, fraction);
      if (at === fraction) return unknown;
    }
    return (kinds & kind) === 0 || at - start > numberBytesMaximum ? unknown : at;
  }

  #literal(start: number, { kinds }: PlainRules): number {
    if (isAt(this.#body, start, trueBytes)) return (kinds & booleanKind) === 0 ? unknown : start + 4;
    if (isAt(this.#body, start, falseBytes)) return (kinds & booleanKind) === 0 ? unknown : start + 5;
    if (isAt(this.#body, start, nullBytes)) return (kinds & nullKind) === 0 ? unknown : start + 4;
    return unknown;
  }
}

const trueBytes = Buffer.from('true');
const falseBytes = Buffer.from('false');
const nullBytes = Buffer.from('null');

/** A byte that differs ends the comparison, so it never reads beyond the last bracket. */
function isAt(body: Uint8Array, start: number, bytes: Uint8Array): boolean {
  for (let index = 0; index < bytes.length; index += 1) if (body[start + index] !== bytes[index]) return false;
  return true;
}

function endOfDigits(body: Uint8Array, start: number): number {
  let at = start;
  for (let byte = body[at] as number; byte >= digitZero && byte <= digitNine; byte = body[at] as number) at += 1;
  return at;
}

function findKey(keys: KeyTable, body: Uint8Array, hash: number, start: number, end: number): KeyTable[number] {
  const mask = keys.length - 1;
  for (let place = hash & mask; ; place = (place + 1) & mask) {
    const key = keys[place];
    if (key === undefined || (key.hash === hash && isName(key.name, body, start, end))) return key;
  }
}

function isName(name: Uint8Array, body: Uint8Array, start: number, end: number): boolean {
  return name.length === end - start && isAt(body, start, name);
}

const uuidLength = 36;

function isUuid(body: Uint8Array, start: number, end: number): boolean {
  if (end - start !== uuidLength) return false;
  for (let index = 0; index < uuidLength; index += 1) {
    const byte = body[start + index] as number;
    if (index === 8 || index === 13 || index === 18 || index === 23) {
      if (byte !== minus) return false;
    } else if (isHexadecimal[byte] !== 1) return false;
  }
  return true;
}

/** A time as most programs write it, where `0` stands for any digit. */
const usualTime = Buffer.from('0000-00-00T00:00:00');

/**
 * Whether a text is a time as most programs write it, on a day that every month has, for example
 * 2026-01-12T10:00:00.123Z. {@link isDateTime} accepts each of them, and others.
 */
function isUsualTime(body: Uint8Array, start: number, end: number): boolean {
  if (end - start <= usualTime.length) return false;
  for (let index = 0; index < usualTime.length; index += 1) {
    const byte = body[start + index] as number;
    const usual = usualTime[index] as number;
    if (usual === digitZero ? byte < digitZero || byte > digitNine : byte !== usual) return false;
  }
  const month = twoDigits(body, start + 5);
  const day = twoDigits(body, start + 8);
  if (month < 1 || month > 12 || day < 1 || day > 28) return false;
  if (twoDigits(body, start + 11) > 23 || twoDigits(body, start + 14) > 59 || twoDigits(body, start + 17) > 59) {
    return false;
  }
  let at = start + usualTime.length;
  if (body[at] === dot) {
    at = endOfDigits(body, at + 1);
    const digits = at - start - usualTime.length - 1;
    if (digits === 0 || digits > fractionDigitsMaximum) return false;
  }
  return at === end - 1 && body[at] === upperCaseZ;
}

const upperCaseZ = 0x5a;

function twoDigits(body: Uint8Array, at: number): number {
  return ((body[at] as number) - digitZero) * 10 + (body[at + 1] as number) - digitZero;
}

/** A table by byte: 1 for those of a text. */
function bytesOf(text: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(text)) table[byte] = 1;
  return table;
}
