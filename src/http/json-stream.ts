import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { constants, createGzip, type Gzip } from 'node:zlib';

/** Where the bytes of an answer come from. Asked only when the connection can take more. */
export interface ChunkSource {
  /** The next bytes, in pieces; null at the end. */
  next(): Promise<{ readonly pieces: readonly Buffer[]; release?(): void } | null>;
}

/**
 * How long one answer may write without letting the rest of the process run. A reader on the same machine takes
 * everything at once, so that no write ever waits, and timers and other sockets would starve. Milliseconds.
 */
const turnMillisecondsMaximum = 2;

/** The same as a number of writes. */
const turnWritesMaximum = 16;

/** Small tables: a compressed stream costs about 50 KB while it lives instead of 260. */
const gzipOptions = { level: 1, memLevel: 6, windowBits: 13 } as const;

/**
 * Writes a source to its end, at the pace of the connection, and ends the answer. Returns early when the connection
 * is closed. Headers must have been sent.
 * @param compressed Through gzip, flushed with every chunk, so that a reader can read it at once.
 */
export async function writeJsonStream(
  response: ServerResponse,
  source: ChunkSource,
  compressed: boolean,
): Promise<void> {
  const gzip = compressed ? createGzip(gzipOptions) : undefined;
  gzip?.on('error', (error) => response.destroy(error)).pipe(response);
  let turnBeganAt = performance.now();
  let writes = 0;
  for (let chunk = await source.next(); chunk !== null; chunk = await source.next()) {
    if (response.destroyed) break;
    const waited = await write(response, gzip, chunk.pieces);
    // The connection has taken every byte, unless it has closed meanwhile: then some may still be on their way.
    if (!response.destroyed) chunk.release?.();
    writes += 1;
    // A drain is announced within the same turn when the write went through at once: waiting for it yields nothing.
    if (waited || writes >= turnWritesMaximum || performance.now() - turnBeganAt > turnMillisecondsMaximum) {
      await nextTurn();
      turnBeganAt = performance.now();
      writes = 0;
    }
  }
  if (response.destroyed) gzip?.destroy();
  else (gzip ?? response).end();
}

/** Answers whether it had to wait for the connection. */
async function write(response: ServerResponse, gzip: Gzip | undefined, pieces: readonly Buffer[]): Promise<boolean> {
  if (gzip === undefined) {
    response.cork();
    for (const piece of pieces) response.write(piece);
    response.uncork();
    // A write beyond the high water mark asks to be waited for, also when the connection has taken all of it by now.
    if (response.writableLength === 0) return false;
    await untilFirst(response, 'drain');
    return true;
  }
  for (const piece of pieces) gzip.write(piece);
  // Called when the compressed bytes have been handed on, which the pipe does only as fast as the connection takes them.
  await new Promise<void>((resolve) => {
    response.once('close', resolve);
    gzip.flush(constants.Z_SYNC_FLUSH, () => {
      response.off('close', resolve);
      resolve();
    });
  });
  return true;
}

/** Resolves at the event, or when the connection closes. */
function untilFirst(response: ServerResponse, event: 'drain'): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off(event, done).off('close', done);
      resolve();
    };
    response.on(event, done).on('close', done);
  });
}
