import compression from 'compression';
import type { Request, Response } from 'express';
import { createZstdEncoder, hasZstd, type FlushableTransform } from './zstd.ts';

/** 256 KiB: beyond it, responses of definitions and lists hardly become smaller. As a power of two of bytes. */
const windowLog = 18;

/** In the order of the package that compresses with the others, where a client has no preference; zstd last. */
const offered = ['gzip', 'br', 'deflate', 'identity', 'zstd'];

/** Whether a client prefers zstd to every other encoding, and this Node has it. */
export function prefersZstd(request: Request): boolean {
  return hasZstd && request.acceptsEncodings(...offered) === 'zstd';
}

/**
 * Compresses what is written to a response with zstd, when its headers allow that. The package for the other encodings
 * has no zstd; the rules are the same.
 * @param bytesMinimum Shorter responses of a known length are sent as they are.
 */
export function compressWithZstd(request: Request, response: Response, bytesMinimum: number): void {
  const write = response.write.bind(response) as Write;
  const end = response.end.bind(response) as End;
  let isBegun = false;
  let encoder: FlushableTransform | undefined;
  const begin = (length?: number): void => {
    if (isBegun) return;
    isBegun = true;
    if (response.headersSent || !compression.filter(request, response)) return;
    response.vary('Accept-Encoding');
    if (!isToBeCompressed(response, length, bytesMinimum)) return;
    response.setHeader('Content-Encoding', 'zstd');
    response.removeHeader('Content-Length');
    encoder = encoderTo(response, write, end);
  };
  const replaced: { write: Write; end: End } = {
    write(chunk, encoding, callback) {
      begin();
      return encoder === undefined
        ? write(chunk, encoding, callback)
        : encoder.write(chunk, encoding ?? 'utf8', callback);
    },
    end(chunk, encoding, callback) {
      begin(lengthOf(chunk, encoding));
      if (encoder === undefined) return end(chunk, encoding, callback);
      encoder.end(chunk, encoding ?? 'utf8', callback);
      return response;
    },
  };
  Object.assign(response, replaced);
}

type Write = (chunk: unknown, encoding?: BufferEncoding, callback?: () => void) => boolean;

type End = (chunk?: unknown, encoding?: BufferEncoding, callback?: () => void) => Response;

/** An encoder whose bytes leave as fast as the connection takes them, and whose writer waits for that. */
function encoderTo(response: Response, write: Write, end: End): FlushableTransform {
  const encoder = createZstdEncoder(windowLog);
  encoder.on('data', (chunk: Buffer) => {
    if (!write(chunk)) encoder.pause();
  });
  encoder.on('end', () => end());
  encoder.on('error', (error) => response.destroy(error));
  encoder.on('drain', () => response.emit('drain'));
  response.on('drain', () => encoder.resume());
  response.on('close', () => encoder.destroy());
  return encoder;
}

function isToBeCompressed(response: Response, length: number | undefined, bytesMinimum: number): boolean {
  if (/(?:^|,)\s*no-transform\s*(?:,|$)/i.test(String(response.getHeader('Cache-Control') ?? ''))) return false;
  if ((response.getHeader('Content-Encoding') ?? 'identity') !== 'identity') return false;
  const bytes = response.getHeader('Content-Length') ?? length;
  return bytes === undefined || Number(bytes) >= bytesMinimum;
}

function lengthOf(chunk: unknown, encoding: BufferEncoding | undefined): number {
  return typeof chunk === 'string' ? Buffer.byteLength(chunk, encoding) : Buffer.isBuffer(chunk) ? chunk.length : 0;
}
