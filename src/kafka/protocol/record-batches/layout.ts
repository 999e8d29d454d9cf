/**
 * Kafka's record batch, format 2 ("magic 2", Kafka 0.11 and later): the unit that is produced, stored and fetched.
 * Integers are big endian:
 *
 * ```
 *  0 base offset i64          the broker fills it in
 *  8 length i32               bytes that follow this field
 * 12 partition leader epoch i32
 * 16 format u8                2
 * 17 checksum u32             CRC-32C over everything from the attributes on
 * 21 attributes i16           bits 0-2 compression, 3 log append time, 4 transactional, 5 control, 6 delete horizon
 * 23 last offset delta i32    stays when compaction removes the last record
 * 27 base timestamp i64       the delete horizon when bit 6 is set
 * 35 largest timestamp i64
 * 43 producer id i64          51 producer epoch i16          53 base sequence i32
 * 57 record count i32
 * 61 records                  as one compressed piece when bits 0-2 say so
 * ```
 *
 * A record is: length, attributes u8, timestamp delta, offset delta, key length, key, value length, value, header
 * count, headers (name length, name, value length, value); lengths, deltas and counts are varints, -1 stands for null.
 */
export const field = {
  baseOffset: 0,
  length: 8,
  partitionLeaderEpoch: 12,
  format: 16,
  checksum: 17,
  attributes: 21,
  lastOffsetDelta: 23,
  baseTimestamp: 27,
  maximumTimestamp: 35,
  producerId: 43,
  producerEpoch: 51,
  baseSequence: 53,
  recordCount: 57,
} as const;

/** Bytes of a batch before its first record. */
export const batchHeaderBytes = 61;

/** Bytes of a batch that its length field does not count: base offset and the length itself. */
export const uncountedBytes = 12;

export const batchFormat = 2;

/** Bits of the attributes field. */
export const attribute = { compression: 0b111, transactional: 0b1_0000, control: 0b10_0000 } as const;

/**
 * Header count and headers of every record that this product writes: one header, named "ls", without a value.
 *
 * A topic of Kafka is open to every producer. Values that we wrote were validated before they were appended and may be
 * spliced into responses unchanged; the value of an external record could be anything. The marker distinguishes the two
 * by five bytes at the end of the record. It is a mark, not a seal: a producer that copies our headers onto other
 * values deceives readers.
 */
export const markerBytes = Uint8Array.of(2, 4, 0x6c, 0x73, 1);

/** Which producer made a batch, and the batch's position among that producer's batches to the partition. */
export interface BatchIdentity {
  /** As the broker gave it out; -1 for a producer without an id (then neither idempotent nor transactional). */
  readonly producerId: bigint;
  /** -1 for a producer without an id. */
  readonly producerEpoch: number;
  /** Sequence number of the first record; the next batch continues after the last. -1 for a producer without an id. */
  readonly firstSequence: number;
}
