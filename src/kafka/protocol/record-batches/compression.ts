import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { compressionLevel, isWorthCompressing } from '../../../ports/record-compression.ts';
import { crc32c } from './crc32c.ts';
import { batchHeaderBytes, field, uncountedBytes } from './layout.ts';
import { UnreadableBatch } from './unreadable-batch.ts';

/**
 * How large the records of one compressed batch may become. An external producer chooses the compression, and a factor
 * of a thousand is easily reached. Bytes.
 */
export const inflatedBytesMaximum = 64 * 1024 * 1024;

const gzip = promisify(zlib.gzip);

/** The number of gzip in bits 0-2 of a batch's attributes. Every client of Kafka reads it. */
const gzipCodec = 1;

/** Bits 0-2 of a batch's attributes. */
const codecNames = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;

type Inflate = (compressed: Uint8Array, options: { maxOutputLength: number }) => Buffer;

/** Node has zstd from 22.15 on. */
const { zstdDecompressSync } = zlib as unknown as { zstdDecompressSync?: Inflate };

/**
 * Decompresses the records of a batch.
 * @param codec Bits 0-2 of the batch's attributes, not 0.
 * @throws UnreadableBatch
 */
export function inflateRecords(compressed: Uint8Array, codec: number): Buffer {
  const name = codecNames[codec] ?? `codec ${codec}`;
  const inflate = name === 'gzip' ? zlib.gunzipSync : name === 'zstd' ? zstdDecompressSync : undefined;
  if (inflate === undefined) {
    throw new UnreadableBatch(
      `is compressed with ${name}, which this process cannot read: let its producer use gzip or no compression`,
    );
  }
  try {
    return inflate(compressed, { maxOutputLength: inflatedBytesMaximum });
  } catch (cause) {
    const isTooLarge = cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE';
    throw new UnreadableBatch(
      isTooLarge
        ? `is larger than ${inflatedBytesMaximum} bytes when decompressed with ${name}`
        : `cannot be decompressed with ${name}`,
      { cause },
    );
  }
}

/**
 * Whether the records of a batch are so large that it is worth compressing.
 * @param batch As encoded, with at least one record.
 */
export function hasLargeRecords(batch: Buffer): boolean {
  return isWorthCompressing(batch.length - batchHeaderBytes, batch.readInt32BE(field.recordCount));
}

/**
 * Compresses the records of a batch with gzip, if that makes it smaller. zlib does it in another thread, because 8 MiB
 * of records that hardly shrink take a seventh of a second.
 * @param batch As encoded. It must not change meanwhile.
 * @returns a new batch, or the same one
 */
export async function compressBatch(batch: Buffer): Promise<Buffer> {
  const records = batch.subarray(batchHeaderBytes);
  const compressed = await gzip(records, { level: compressionLevel });
  if (compressed.length >= records.length) return batch;
  const smaller = Buffer.concat([batch.subarray(0, batchHeaderBytes), compressed]);
  smaller.writeInt32BE(smaller.length - uncountedBytes, field.length);
  smaller.writeInt16BE(batch.readInt16BE(field.attributes) | gzipCodec, field.attributes);
  smaller.writeUInt32BE(crc32c(smaller, field.attributes), field.checksum);
  return smaller;
}
