/**
 * The primitive types of Kafka's protocol as its older, fixed-width request versions write them. Strings have a 16-bit
 * length, byte fields and arrays a 32-bit one; a length of -1 stands for null. Offsets are exact below 2^53.
 *
 * Requests that exist only in flexible versions have compact strings and arrays. Their length plus one is written with
 * seven bits a byte, lowest first; 0 stands for null. Each of their structures ends with tagged fields, none of which
 * is known here.
 */

const initialBytes = 256;

/** Writes one request from front to back, growing as needed. */
export class WireWriter {
  #bytes: Buffer;
  #position = 0;

  /** @param expectedBytes Avoids growing when the size is known. */
  constructor(expectedBytes: number = initialBytes) {
    this.#bytes = Buffer.allocUnsafe(expectedBytes);
  }

  int8(value: number): this {
    this.#reserve(1);
    this.#position = this.#bytes.writeInt8(value, this.#position);
    return this;
  }

  boolean(value: boolean): this {
    return this.int8(value ? 1 : 0);
  }

  int16(value: number): this {
    this.#reserve(2);
    this.#position = this.#bytes.writeInt16BE(value, this.#position);
    return this;
  }

  int32(value: number): this {
    this.#reserve(4);
    this.#position = this.#bytes.writeInt32BE(value, this.#position);
    return this;
  }

  /** @param value An integer of at most 53 bits, negative ones included. */
  int64(value: number): this {
    this.#reserve(8);
    this.#bytes.writeInt32BE(Math.floor(value / highUnit), this.#position);
    this.#position = this.#bytes.writeUInt32BE(value >>> 0, this.#position + 4);
    return this;
  }

  bigInt64(value: bigint): this {
    this.#reserve(8);
    this.#position = this.#bytes.writeBigInt64BE(value, this.#position);
    return this;
  }

  string(value: string | null): this {
    if (value === null) return this.int16(-1);
    const length = Buffer.byteLength(value);
    this.int16(length).#reserve(length);
    this.#position += this.#bytes.write(value, this.#position);
    return this;
  }

  /** Bytes with their length before them. */
  bytes(value: Buffer | null): this {
    if (value === null) return this.int32(-1);
    this.int32(value.length).#reserve(value.length);
    this.#position += value.copy(this.#bytes, this.#position);
    return this;
  }

  array<Item>(items: readonly Item[] | null, write: (item: Item) => void): this {
    this.int32(items === null ? -1 : items.length);
    for (const item of items ?? []) write(item);
    return this;
  }

  compactString(value: string): this {
    const length = Buffer.byteLength(value);
    this.#unsignedVarint(length + 1).#reserve(length);
    this.#position += this.#bytes.write(value, this.#position);
    return this;
  }

  compactArray<Item>(items: readonly Item[], write: (item: Item) => void): this {
    this.#unsignedVarint(items.length + 1);
    for (const item of items) write(item);
    return this;
  }

  noTags(): this {
    return this.int8(0);
  }

  /** Everything written so far. */
  toBuffer(): Buffer {
    return this.#bytes.subarray(0, this.#position);
  }

  #unsignedVarint(value: number): this {
    this.#reserve(unsignedVarintBytesMaximum);
    let rest = value;
    for (; rest >= 0x80; rest >>>= 7) this.#position = this.#bytes.writeUInt8((rest & 0x7f) | 0x80, this.#position);
    this.#position = this.#bytes.writeUInt8(rest, this.#position);
    return this;
  }

  #reserve(count: number): void {
    const needed = this.#position + count;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#position);
    this.#bytes = larger;
  }
}

/** Reads one response from front to back. Throws RangeError when the response is shorter than its lengths say. */
export class WireReader {
  readonly source: Buffer;
  position = 0;

  constructor(source: Buffer) {
    this.source = source;
  }

  int8(): number {
    const value = this.source.readInt8(this.position);
    this.position += 1;
    return value;
  }

  boolean(): boolean {
    return this.int8() !== 0;
  }

  int16(): number {
    const value = this.source.readInt16BE(this.position);
    this.position += 2;
    return value;
  }

  int32(): number {
    const value = this.source.readInt32BE(this.position);
    this.position += 4;
    return value;
  }

  /** Exact below 2^53. */
  int64(): number {
    const value = this.source.readInt32BE(this.position) * highUnit + this.source.readUInt32BE(this.position + 4);
    this.position += 8;
    return value;
  }

  bigInt64(): bigint {
    const value = this.source.readBigInt64BE(this.position);
    this.position += 8;
    return value;
  }

  string(): string {
    return this.nullableString() ?? '';
  }

  nullableString(): string | null {
    const length = this.int16();
    if (length < 0) return null;
    this.#require(length);
    const value = this.source.toString('utf8', this.position, this.position + length);
    this.position += length;
    return value;
  }

  compactString(): string {
    return this.compactNullableString() ?? '';
  }

  compactNullableString(): string | null {
    const length = this.#unsignedVarint() - 1;
    if (length < 0) return null;
    this.#require(length);
    const value = this.source.toString('utf8', this.position, this.position + length);
    this.position += length;
    return value;
  }

  compactArray<Item>(read: () => Item): Item[] {
    const length = this.#unsignedVarint() - 1;
    const items: Item[] = [];
    for (let index = 0; index < length; index += 1) items.push(read());
    return items;
  }

  skipTags(): void {
    for (let count = this.#unsignedVarint(); count > 0; count -= 1) {
      this.#unsignedVarint();
      const length = this.#unsignedVarint();
      this.#require(length);
      this.position += length;
    }
  }

  array<Item>(read: () => Item): Item[] {
    const length = this.int32();
    const items: Item[] = [];
    for (let index = 0; index < length; index += 1) items.push(read());
    return items;
  }

  #unsignedVarint(): number {
    let value = 0;
    for (let shift = 0; shift < 7 * unsignedVarintBytesMaximum; shift += 7) {
      const byte = this.source.readUInt8(this.position);
      this.position += 1;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    throw new RangeError('The response has a length of more than 32 bits');
  }

  #require(count: number): void {
    if (this.position + count > this.source.length)
      throw new RangeError('The response is shorter than its declared length');
  }
}

/** The longest a 32-bit length may be. Bytes. */
const unsignedVarintBytesMaximum = 5;

/** The unit of the upper 32 bits of a 64-bit integer. */
const highUnit = 0x1_0000_0000;
