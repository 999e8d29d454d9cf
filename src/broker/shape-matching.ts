import { gapKind, type EventShape } from './event-shape.ts';
import { isDateTime } from './json-schema.ts';

/** Where the events of a request and the gaps of their shape lie. Valid until the next call of {@link matchEvents}. */
export interface MatchedEvents {
  readonly count: number;
  /** For each event where it starts and ends, then where each gap does: {@link boundsPerEvent} numbers. */
  readonly bounds: Int32Array;
  readonly boundsPerEvent: number;
}

const quote = 0x22;
const comma = 0x2c;
const minus = 0x2d;
const dot = 0x2e;
const zero = 0x30;
const nine = 0x39;
const openBracket = 0x5b;
const upperZ = 0x5a;
const backslash = 0x5c;
const closeBracket = 0x5d;

/** 1 for what may stand in a JSON string as it is. Beyond ASCII the body is known to be UTF-8. */
const isPlainByte = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte !== quote && byte !== backslash ? 1 : 0,
);

const isHexadecimalByte = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[0-9a-fA-F]/.test(String.fromCharCode(byte)) ? 1 : 0,
);

/** Where the hyphens of a UUID stand, and its end. */
const uuidGroupEnds = [8, 13, 18, 23, 36];

/** The date and time up to the seconds; zeros stand for digits. */
const usualTime = Buffer.from('0000-00-00T00:00:00');

/** Numbers of more digits than this are left to the parser, which knows when they are beyond every double. */
const numberBytesMaximum = 300;

/** Bounds that are kept from call to call: more are made anew, so that one large request does not stay in memory. */
const keptBounds = new Int32Array(64 * 1024);

/**
 * Finds the events of a JSON array when all of them have a shape and nothing stands between them but one comma;
 * undefined when that is not so, which says nothing about whether they are valid.
 * @param body UTF-8.
 * @param text The same as Latin-1 text.
 */
export function matchEvents(shape: EventShape, body: Uint8Array, text: string): MatchedEvents | undefined {
  const { length } = body;
  const boundsPerEvent = 2 + 2 * shape.gapKinds.length;
  if (length < 2 || body[0] !== openBracket || body[length - 1] !== closeBracket) return undefined;
  const needed = boundsPerEvent * (1 + Math.floor(length / shape.pieces.length));
  const bounds = needed <= keptBounds.length ? keptBounds : new Int32Array(needed);
  let position = 1;
  let count = 0;
  for (;;) {
    position = matchOne(shape, body, text, position, bounds, count * boundsPerEvent);
    if (position < 0) return undefined;
    count += 1;
    const byte = body[position];
    position += 1;
    if (byte === comma) continue;
    return byte === closeBracket && position === length ? { count, bounds, boundsPerEvent } : undefined;
  }
}

/** Answers where the event ends, or -1. */
function matchOne(
  { pieces, pieceEnds, gapKinds }: EventShape,
  body: Uint8Array,
  text: string,
  start: number,
  bounds: Int32Array,
  base: number,
): number {
  const last = body.length - 1;
  const gapCount = gapKinds.length;
  let position = start;
  let at = 0;
  let bound = base + 2;
  for (let gap = 0; gap <= gapCount; gap += 1) {
    const pieceEnd = pieceEnds[gap] as number;
    if (position + pieceEnd - at > last) return -1;
    for (; at < pieceEnd; at += 1, position += 1) if (body[position] !== pieces[at]) return -1;
    if (gap === gapCount) break;
    bounds[bound] = position;
    const gapStart = position;
    const kind = gapKinds[gap] as number;
    if (kind === gapKind.text) {
      while (position < last && isPlainByte[body[position] as number] === 1) position += 1;
    } else if (kind === gapKind.uuid) {
      position = uuidEnd(body, position);
      if (position < 0) return -1;
    } else if (kind === gapKind.dateTime) {
      while (position < last && isPlainByte[body[position] as number] === 1) position += 1;
      if (!isUsualTime(body, gapStart, position) && !isDateTime(text.slice(gapStart, position))) return -1;
    } else if (kind !== gapKind.mark) {
      position = numberEnd(body, position, last, kind === gapKind.number);
      if (position < 0) return -1;
    }
    bounds[bound + 1] = position;
    bound += 2;
  }
  bounds[base] = start;
  bounds[base + 1] = position;
  return position;
}

/** Where a UUID ends that starts here, or -1. The piece that follows begins with a quote, so it cannot be longer. */
function uuidEnd(body: Uint8Array, start: number): number {
  if (start + 36 >= body.length) return -1;
  let position = start;
  for (let group = 0; group < uuidGroupEnds.length; group += 1) {
    const groupEnd = start + (uuidGroupEnds[group] as number);
    for (; position < groupEnd; position += 1) if (isHexadecimalByte[body[position] as number] !== 1) return -1;
    if (group === uuidGroupEnds.length - 1) break;
    if (body[position] !== minus) return -1;
    position += 1;
  }
  return position;
}

/**
 * Whether a time is written as most programs do, as in 2026-01-12T10:00:00.123Z, on a day that every month has. It is
 * then one for {@link isDateTime} too, which costs four times as much.
 */
function isUsualTime(body: Uint8Array, start: number, end: number): boolean {
  if (end - start < usualTime.length + 1 || body[end - 1] !== upperZ) return false;
  for (let index = 0; index < usualTime.length; index += 1) {
    const expected = usualTime[index] as number;
    const byte = body[start + index] as number;
    if (expected === zero ? !isDigit(byte) : byte !== expected) return false;
  }
  const month = twoDigits(body, start + 5);
  const day = twoDigits(body, start + 8);
  if (month < 1 || month > 12 || day < 1 || day > 28) return false;
  if (twoDigits(body, start + 11) > 23 || twoDigits(body, start + 14) > 59 || twoDigits(body, start + 17) > 59)
    return false;
  let position = start + usualTime.length;
  if (position === end - 1) return true;
  if (body[position] !== dot || position + 2 === end) return false;
  for (position += 1; position < end - 1; position += 1) if (!isDigit(body[position] as number)) return false;
  return true;
}

function twoDigits(body: Uint8Array, at: number): number {
  return 10 * ((body[at] as number) - zero) + (body[at + 1] as number) - zero;
}

/** Where a number without an exponent ends that starts here, or -1. What follows it is for the next piece to refuse. */
function numberEnd(body: Uint8Array, start: number, last: number, mayHaveFraction: boolean): number {
  let position = body[start] === minus ? start + 1 : start;
  const firstDigit = position;
  while (position < last && isDigit(body[position] as number)) position += 1;
  if (position === firstDigit || (body[firstDigit] === zero && position > firstDigit + 1)) return -1;
  if (mayHaveFraction && body[position] === dot) {
    const firstDecimal = position + 1;
    position = firstDecimal;
    while (position < last && isDigit(body[position] as number)) position += 1;
    if (position === firstDecimal) return -1;
  }
  return position - start > numberBytesMaximum ? -1 : position;
}

function isDigit(byte: number): boolean {
  return byte >= zero && byte <= nine;
}
