import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';

/** Numbers of zstd's parameters, as in `zlib.constants`. */
interface ZstdConstants {
  readonly ZSTD_c_compressionLevel: number;
  readonly ZSTD_c_windowLog: number;
  readonly ZSTD_d_windowLogMax: number;
  readonly ZSTD_e_flush: number;
}

interface ZstdOptions {
  readonly params: Readonly<Record<number, number>>;
}

/** A compressor whose bytes so far can be passed on before its end. */
export interface FlushableTransform extends Transform {
  flush(kind: number, callback: () => void): void;
}

/** A decompressor that says how much it has read, in bytes: one of zstd stops after the first frame. */
export interface Decompressor extends Transform {
  readonly bytesWritten: number;
}

const {
  createZstdCompress,
  createZstdDecompress,
  constants: zstdConstants,
} = zlib as unknown as {
  readonly createZstdCompress?: (options: ZstdOptions) => FlushableTransform;
  readonly createZstdDecompress?: (options: ZstdOptions) => Decompressor;
  readonly constants: ZstdConstants;
};

/** Node has zstd from 22.15 and 23.8 on. Elsewhere the functions below throw. */
export const hasZstd = createZstdCompress !== undefined && createZstdDecompress !== undefined;

/** The kind of flush after which a reader has everything that was written. */
export const zstdFlush = zstdConstants.ZSTD_e_flush;

/** Costs no more time than gzip does; higher levels make responses hardly smaller. */
const level = 1;

/**
 * Compresses at the speed of a response.
 * @param windowLog How far back it looks for repetitions, as a power of two of bytes. It decides about the memory.
 */
export function createZstdEncoder(windowLog: number): FlushableTransform {
  if (createZstdCompress === undefined) throw new Error(missing);
  const { ZSTD_c_compressionLevel, ZSTD_c_windowLog } = zstdConstants;
  return createZstdCompress({ params: { [ZSTD_c_compressionLevel]: level, [ZSTD_c_windowLog]: windowLog } });
}

/**
 * Decompresses one frame, and leaves what follows it unread.
 * @param windowLogMaximum A header that asks for a larger window is an error. As a power of two of bytes.
 */
export function createZstdDecoder(windowLogMaximum: number): Decompressor {
  if (createZstdDecompress === undefined) throw new Error(missing);
  return createZstdDecompress({ params: { [zstdConstants.ZSTD_d_windowLogMax]: windowLogMaximum } });
}

const missing = 'This version of Node.js has no zstd.';
