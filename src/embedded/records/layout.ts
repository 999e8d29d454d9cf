/**
 * The bytes of a record batch in the embedded log, called its body. Little endian:
 *
 * ```
 * header    0 version u8             4 partition id u32    8 base offset f64    16 last offset f64
 *           1 flags u8              24 appended at f64    32 count u32          36 bytes of all values u32
 *           2 zero u16              40 bytes of all keys u32                    44 bytes of the rest when inflated u32
 * index     value ends u32[count]; key ends u32[count] when any record has a key; offset deltas u32[count] when the
 *           offsets have holes. An end of 0xffffffff stands for none.
 * values    joined by a comma, so that a run of them is spliced into a response with one copy
 * keys      one after another
 * ```
 *
 * Version 1 is this. In version 2, which only the file has, everything after the header is one piece of raw deflate.
 * The last field of the header, zero in version 1, says how long it is when inflated.
 *
 * The header repeats the columns of the database row, so that the checksum over the body covers both.
 */
export const field = {
  version: 0,
  flags: 1,
  zero: 2,
  partitionId: 4,
  baseOffset: 8,
  lastOffset: 16,
  appendedAt: 24,
  count: 32,
  valuesBytes: 36,
  keysBytes: 40,
  inflatedBytes: 44,
} as const;

/** Bytes of a body before its index. */
export const headerBytes = 48;

export const bodyVersion = 1;

export const compressedVersion = 2;

/** Bits of the flags. */
export const flag = { keys: 1, offsetDeltas: 2 } as const;
