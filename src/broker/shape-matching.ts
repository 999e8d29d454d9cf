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
      if (!isDateTime(text.slice(gapStart, position))) return -1;
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
