import * as zlib from 'node:zlib';
import { UnreadableBatch } from './unreadable-batch.ts';

/**
 * How large the records of one compressed batch may become. An external producer chooses the compression, and a factor
 * of a thousand is easily reached. Bytes.
 */
export const inflatedBytesMaximum = 64 * 1024 * 1024;

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
