import { brotliDecompressSync, constants, gunzipSync, inflateSync } from 'node:zlib';

/** A body as it was before compression, by its `Content-Encoding`. */
export function decompressed(sent: Buffer, encoding: string | undefined): Buffer {
  if (sent.length === 0) return sent;
  // A stream may not have ended yet.
  const finishFlush = constants.Z_SYNC_FLUSH;
  if (encoding === 'gzip') return gunzipSync(sent, { finishFlush });
  if (encoding === 'deflate') return inflateSync(sent, { finishFlush });
  return encoding === 'br' ? brotliDecompressSync(sent) : sent;
}
