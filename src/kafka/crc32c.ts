/**
 * CRC-32C (Castagnoli), the checksum of Kafka's record batches. Node's own `zlib.crc32` computes another polynomial.
 *
 * Sixteen bytes a step by sixteen tables ("slicing"), read as four words: about 0.65 us per KiB, where one table and one
 * byte a step take 2.3 us.
 */
const polynomialReversed = 0x82f63b78;

/** `tables[distance][byte]`: what a byte contributes when `distance` more bytes follow it in its step. */
const tables = makeTables(16);
const [t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14, t15] = tables as unknown as FixedTables;

type Table = Int32Array;
type FixedTables = readonly [
  ...[Table, Table, Table, Table, Table, Table, Table, Table],
  ...[Table, Table, Table, Table, Table, Table, Table, Table],
];

function makeTables(count: number): Table[] {
  const first = new Int32Array(256);
  for (let byte = 0; byte < 256; byte += 1) {
    let remainder = byte;
    for (let bit = 0; bit < 8; bit += 1) {
      remainder = (remainder & 1) === 0 ? remainder >>> 1 : (remainder >>> 1) ^ polynomialReversed;
    }
    first[byte] = remainder;
  }
  const made = [first];
  while (made.length < count) {
    const previous = made.at(-1) as Table;
    made.push(previous.map((remainder) => (remainder >>> 8) ^ (first[remainder & 0xff] as number)));
  }
  return made;
}

/** The words below are read in the machine's own order; the tables are laid out for the little-endian one. */
const machineIsLittleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

/** The CRC-32C of `bytes[start, end)`, as an unsigned 32-bit integer. */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length): number {
  let remainder = -1;
  let position = start;
  if (machineIsLittleEndian) {
    while (position < end && (bytes.byteOffset + position) % 4 !== 0) {
      remainder = (t0[(remainder ^ (bytes[position] as number)) & 0xff] as number) ^ (remainder >>> 8);
      position += 1;
    }
    const steps = (end - position) >>> 4;
    if (steps > 0) {
      remainder = crcOfWords(new Int32Array(bytes.buffer, bytes.byteOffset + position, steps * 4), remainder);
      position += steps * 16;
    }
  }
  for (; position < end; position += 1) {
    remainder = (t0[(remainder ^ (bytes[position] as number)) & 0xff] as number) ^ (remainder >>> 8);
  }
  return ~remainder >>> 0;
}

/** @param words A multiple of four. */
function crcOfWords(words: Int32Array, before: number): number {
  let remainder = before;
  for (let at = 0; at < words.length; at += 4) {
    const a = remainder ^ (words[at] as number);
    const b = words[at + 1] as number;
    const c = words[at + 2] as number;
    const d = words[at + 3] as number;
    remainder =
      (t15[a & 0xff] as number) ^
      (t14[(a >>> 8) & 0xff] as number) ^
      (t13[(a >>> 16) & 0xff] as number) ^
      (t12[a >>> 24] as number) ^
      (t11[b & 0xff] as number) ^
      (t10[(b >>> 8) & 0xff] as number) ^
      (t9[(b >>> 16) & 0xff] as number) ^
      (t8[b >>> 24] as number) ^
      (t7[c & 0xff] as number) ^
      (t6[(c >>> 8) & 0xff] as number) ^
      (t5[(c >>> 16) & 0xff] as number) ^
      (t4[c >>> 24] as number) ^
      (t3[d & 0xff] as number) ^
      (t2[(d >>> 8) & 0xff] as number) ^
      (t1[(d >>> 16) & 0xff] as number) ^
      (t0[d >>> 24] as number);
  }
  return remainder;
}
