import * as zlib from 'node:zlib';
import { zstdFlush } from '../../../src/http/edge/compression/zstd.ts';

const { zstdDecompressSync } = zlib as unknown as {
  readonly zstdDecompressSync: (bytes: Buffer, options: { finishFlush: number }) => Buffer;
};

/** A body as it was before compression, by its `Content-Encoding`. */
export function decompressed(sent: Buffer, encoding: string | undefined): Buffer {
  if (sent.length === 0) return sent;
  // A stream may not have ended yet.
  const finishFlush = zlib.constants.Z_SYNC_FLUSH;
  if (encoding === 'gzip') return zlib.gunzipSync(sent, { finishFlush });
  if (encoding === 'deflate') return zlib.inflateSync(sent, { finishFlush });
  if (encoding === 'zstd') return zstdDecompressSync(sent, { finishFlush: zstdFlush });
  return encoding === 'br' ? zlib.brotliDecompressSync(sent) : sent;
}
