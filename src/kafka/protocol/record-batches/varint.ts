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

/** What {@link VarintReader.read} returns for an integer that is too long; no valid length or delta has this value. */
export const malformedVarint = -0x8000_0000;

/**
 * Reads integers one after another. Does not check whether they end where they should: the caller compares
 * {@link position}.
 */
export class VarintReader {
  /** Where the next integer is read. */
  position: number;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array, position: number) {
    this.#bytes = bytes;
    this.position = position;
  }

  /** Reads a 32-bit integer. */
  read(): number {
    const bytes = this.#bytes;
    let { position } = this;
    let byte = bytes[position] as number;
    position += 1;
    let zigzag = byte & 0x7f;
    for (let shift = 7; byte > 0x7f; shift += 7, position += 1) {
      if (shift > 28) {
        this.position = position;
        return malformedVarint;
      }
      byte = bytes[position] as number;
      zigzag |= (byte & 0x7f) << shift;
    }
    this.position = position;
    return (zigzag >>> 1) ^ -(zigzag & 1);
  }

  /** Passes over an integer of up to 64 bits. */
  skipLong(): void {
    const bytes = this.#bytes;
    const from = this.position;
    let position = from;
    while ((bytes[position] as number) > 0x7f && position - from < varlongBytesMaximum) position += 1;
    this.position = position + 1;
  }
}
