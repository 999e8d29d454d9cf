/**
 * Records of at least this size on average are stored compressed. Smaller ones have little to repeat within a batch
 * that is committed at once, and every commit would pay for the attempt. Bytes.
 */
export const compressedRecordBytesMinimum = 16 * 1024;

/** zlib's fastest level. Level 6 takes twice as long for schedules and makes them 6 % smaller. */
export const compressionLevel = 1;

/**
 * Whether a log tries to compress a batch. It stores the batch compressed only if that makes it smaller.
 * @param bytes The records as the log would store them uncompressed, with their framing.
 * @param count How many records they are; at least one.
 */
export function isWorthCompressing(bytes: number, count: number): boolean {
  return bytes >= compressedRecordBytesMinimum * count;
}
