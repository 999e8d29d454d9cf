import { jsonByte, skipString, skipValue } from '../../../json-bytes.ts';
import { decimalText } from './decimal-text.ts';
import { findValue, isText, plainText, type PlainText, type PointerStep } from './json-pointer.ts';

/**
 * Which events a stream delivers: those that meet all conditions. Values are compared where they lie in the stored
 * bytes; nothing is parsed.
 */
export interface EventFilter {
  readonly conditions: readonly Condition[];
  /**
   * Bytes that an event without a backslash contains if it meets the conditions; undefined when there are no such
   * bytes. They are searched much faster than a value is found.
   */
  readonly needle: Buffer | undefined;
}

/** That the value at a place is this text, number or word. */
export interface Condition {
  readonly pointer: readonly PointerStep[];
  readonly text: PlainText;
  /** What else the value may be: `true`, `false`, `null`, or a number, as {@link decimalText} writes it. */
  readonly literal: string | undefined;
  readonly kind: 'text' | 'number' | 'word';
}

const { quote, digitZero, digitNine } = jsonByte;
const minus = 0x2d;

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
const word = /^(?:true|false|null)$/;

/**
 * @param value As text. The same number, boolean or null is equal to it too.
 * @param isTextOnly Whether nothing but a string is.
 */
export function condition(pointer: readonly PointerStep[], value: string, isTextOnly: boolean): Condition {
  const text = plainText(value);
  if (!isTextOnly && word.test(value)) return { pointer, text, literal: value, kind: 'word' };
  if (!isTextOnly && number.test(value)) return { pointer, text, literal: decimalText(value) ?? value, kind: 'number' };
  return { pointer, text, literal: undefined, kind: 'text' };
}

/** @param conditions At least one. */
export function eventFilter(conditions: readonly Condition[]): EventFilter {
  const needles = conditions.flatMap((each) => needleOf(each) ?? []);
  needles.sort((left, right) => right.length - left.length);
  return { conditions, needle: needles[0] };
}

function needleOf({ kind, text: { text, plain } }: Condition): Buffer | undefined {
  // A number may be written in many ways.
  if (kind === 'number' || plain === undefined) return undefined;
  return kind === 'word' ? plain : Buffer.from(`"${text}"`);
}

/**
 * Whether an event meets all conditions.
 * @param bytes Contain, among others, its JSON, which a parser accepts.
 * @param start Where it begins.
 */
export function meetsAll({ conditions }: EventFilter, bytes: Uint8Array, start: number): boolean {
  for (const each of conditions) if (!isMet(each, bytes, start)) return false;
  return true;
}

function isMet({ pointer, text, literal, kind }: Condition, bytes: Uint8Array, start: number): boolean {
  const at = findValue(bytes, start, pointer);
  if (at < 0) return false;
  const byte = bytes[at] as number;
  if (byte === quote) return isText(bytes, at, skipString(bytes, at), text);
  if (literal === undefined) return false;
  const isNumber = byte === minus || (byte >= digitZero && byte <= digitNine);
  if (isNumber !== (kind === 'number')) return false;
  const value = Buffer.from(bytes.buffer, bytes.byteOffset + at, skipValue(bytes, at) - at).toString('latin1');
  return value === text.text || (isNumber && decimalText(value) === literal);
}
