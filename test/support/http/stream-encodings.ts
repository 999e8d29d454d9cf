import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import type { StreamEncoding } from '../../../src/http/edge/compression/stream-encoding.ts';
import { createZstdDecoder, hasZstd, zstdFlush } from '../../../src/http/edge/compression/zstd.ts';

/** The forms that a stream can have on this version of Node; undefined for one that is not compressed. */
export const streamEncodings: readonly (StreamEncoding | undefined)[] = [
  undefined,
  'gzip',
  ...(hasZstd ? (['zstd'] as const) : []),
];

/** 32 KiB, as a power of two: the reader of a stream needs as much memory. */
const zstdWindowLogMaximum = 15;

const { createZstdDecompress } = zlib as unknown as {
  readonly createZstdDecompress: (options: { finishFlush: number }) => Transform;
};

/** Shows what a stream has sent so far, which need not be its end. */
export function streamDecoder(encoding: string): Transform {
  if (encoding !== 'zstd') return zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH });
  return createZstdDecompress({ finishFlush: zstdFlush });
}

/** Fails unless the stream was sent to its end, and needs no larger window than promised. */
export function wholeDecoder(encoding: string): Transform {
  return encoding === 'zstd' ? createZstdDecoder(zstdWindowLogMaximum) : zlib.createGunzip();
}
