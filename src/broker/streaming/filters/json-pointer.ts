import { jsonByte, readString, skipSpace, skipString, skipValue } from '../../../json-bytes.ts';

const { quote, backslash, comma, openBrace, openBracket, closeBracket } = jsonByte;

/** A text in the form in which most JSON has it: its UTF-8 between quotes. */
export interface PlainText {
  readonly text: string;
  /** Its bytes; undefined when JSON has to escape some of it. */
  readonly plain: Buffer | undefined;
  /** How many bytes of UTF-8 it has. An escaped form has more. */
  readonly length: number;
}

/** One step of a JSON Pointer: the name of a member, or the index of an element. */
export interface PointerStep {
  readonly name: PlainText;
  /** The index that the name is, if it is one. */
  readonly index: number | undefined;
}

/** @param text Well-formed Unicode. */
export function plainText(text: string): PlainText {
  const bytes = Buffer.from(text);
  const isPlain = JSON.stringify(text) === `"${text}"`;
  return { text, plain: isPlain ? bytes : undefined, length: bytes.length };
}

export function pointerStep(name: string): PointerStep {
  return { name: plainText(name), index: /^(?:0|[1-9]\d{0,9})$/.test(name) ? Number(name) : undefined };
}

/**
 * Where the value begins that a pointer names; -1 where there is none. Of members with the same name the last one
 * counts, as for a parser.
 * @param json Contains, among others, a JSON text that a parser accepts.
 * @param start Where that text begins.
 */
export function findValue(json: Uint8Array, start: number, pointer: readonly PointerStep[]): number {
  let at = skipSpace(json, start);
  for (const { name, index } of pointer) {
    const opening = json[at];
    if (opening === openBrace) at = findMember(json, at, name);
    else if (opening === openBracket && index !== undefined) at = findElement(json, at, index);
    else return -1;
    if (at < 0) return -1;
  }
  return at;
}

/** Whether the string whose opening quote lies at `start` says this text. @param end One past its closing quote. */
export function isText(json: Uint8Array, start: number, end: number, { text, plain, length }: PlainText): boolean {
  const bytes = end - start - 2;
  if (bytes < length) return false;
  if (bytes === length) return plain !== undefined && isSame(json, start + 1, plain);
  return hasEscape(json, start, end) && readString(json, start, end) === text;
}

function hasEscape(json: Uint8Array, start: number, end: number): boolean {
  for (let index = start; index < end; index += 1) if (json[index] === backslash) return true;
  return false;
}

function isSame(json: Uint8Array, start: number, bytes: Buffer): boolean {
  for (let index = 0; index < bytes.length; index += 1) if (json[start + index] !== bytes[index]) return false;
  return true;
}

function findMember(json: Uint8Array, start: number, name: PlainText): number {
  let found = -1;
  let at = skipSpace(json, start + 1);
  while (json[at] === quote) {
    const nameEnd = skipString(json, at);
    const value = skipSpace(json, skipSpace(json, nameEnd) + 1);
    if (isText(json, at, nameEnd, name)) found = value;
    at = skipSpace(json, skipValue(json, value));
    if (json[at] !== comma) break;
    at = skipSpace(json, at + 1);
  }
  return found;
}

function findElement(json: Uint8Array, start: number, index: number): number {
  let at = skipSpace(json, start + 1);
  if (json[at] === closeBracket) return -1;
  for (let position = 0; position < index; position += 1) {
    at = skipSpace(json, skipValue(json, at));
    if (json[at] !== comma) return -1;
    at = skipSpace(json, at + 1);
  }
  return at;
}
