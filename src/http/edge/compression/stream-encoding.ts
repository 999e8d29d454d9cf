import type { Request } from 'express';
import { constants, createGzip } from 'node:zlib';
import { createZstdEncoder, hasZstd, zstdFlush, type FlushableTransform } from './zstd.ts';

/** The encodings of streams, as `Content-Encoding` names them. */
export type StreamEncoding = 'gzip' | 'zstd';

/**
 * What a client can accept, in our order where it has none. `identity` comes before what `*` alone must not choose:
 * many clients that send it have never heard of zstd.
 */
const offered = ['gzip', 'identity', ...(hasZstd ? ['zstd'] : []), 'x-gzip'];

/** The encoding that a client prefers for a stream; undefined for none. Of equal preferences the first one counts. */
export function streamEncodingOf(request: Request): StreamEncoding | undefined {
  const preferred = request.acceptsEncodings(...offered);
  if (preferred === 'zstd') return 'zstd';
  return preferred === 'gzip' || preferred === 'x-gzip' ? 'gzip' : undefined;
}

/** Small tables: a compressed stream costs about 50 KB while it lives instead of 260. */
const gzipOptions = { level: 1, memLevel: 6, windowBits: 13 } as const;

/** 32 KiB: a stream costs no more memory than with gzip. As a power of two of bytes. */
const zstdWindowLog = 15;

export interface StreamEncoder {
  readonly transform: FlushableTransform;
  /** Calls back when everything that was written is on its way, so that a client can read it at once. */
  flush(callback: () => void): void;
}

export function createStreamEncoder(encoding: StreamEncoding): StreamEncoder {
  const isZstd = encoding === 'zstd';
  const transform: FlushableTransform = isZstd ? createZstdEncoder(zstdWindowLog) : createGzip(gzipOptions);
  const kind = isZstd ? zstdFlush : constants.Z_SYNC_FLUSH;
  return { transform, flush: (callback) => transform.flush(kind, callback) };
}
