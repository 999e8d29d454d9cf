/**
 * The integers inside a Kafka record: zig-zag (0, -1, 1, -2 become 0, 1, 2, 3), then seven bits a byte, lowest first,
 * the top bit set on all bytes but the last. Only 32-bit integers are written, because our records hold no others.
 */

/** The longest a 32-bit integer may be. Bytes. */
export const varintBytesMaximum = 5;

/** The longest a 64-bit integer may be. Bytes. */
export const varlongBytesMaximum = 10;

/** How many bytes a 32-bit integer takes. */
export function varintBytes(value: number): number {
  const zigzag = ((value << 1) ^ (value >> 31)) >>> 0;
  if (zigzag < 0x80) return 1;
  if (zigzag < 0x4000) return 2;
  if (zigzag < 0x20_0000) return 3;
  return zigzag < 0x1000_0000 ? 4 : 5;
}

/** Writes a 32-bit integer at a position and returns the position after it. */
export function writeVarint(bytes: Uint8Array, at: number, value: number): number {
  let rest = ((value << 1) ^ (value >> 31)) >>> 0;
  let position = at;
  while (rest >= 0x80) {
    bytes[position] = (rest & 0x7f) | 0x80;
    position += 1;
    rest >>>= 7;
  }
  bytes[position] = rest;
  return position + 1;
}

/** The result of {@link readVarint} for an integer that is too long; no valid length or delta has this value. */
export const malformedVarint = -0x8000_0000;

/** The position after the integer that {@link readVarint} read last: a second result that needs no object. */
export let varintEnd = 0;

/** Reads a 32-bit integer. Does not check whether it ends where it should: the caller compares {@link varintEnd}. */
export function readVarint(bytes: Uint8Array, at: number): number {
  let byte = bytes[at] as number;
  let position = at + 1;
  let zigzag = byte & 0x7f;
  for (let shift = 7; byte > 0x7f; shift += 7, position += 1) {
    if (shift > 28) {
      varintEnd = position;
      return malformedVarint;
    }
    byte = bytes[position] as number;
    zigzag |= (byte & 0x7f) << shift;
  }
  varintEnd = position;
  return (zigzag >>> 1) ^ -(zigzag & 1);
}

/** Returns the position after an integer of up to 64 bits, whose value does not matter. */
export function skipVarlong(bytes: Uint8Array, at: number): number {
  let position = at;
  while ((bytes[position] as number) > 0x7f && position - at < varlongBytesMaximum) position += 1;
  return position + 1;
}
