import { after, type Clock, giveWay } from '../../clock.ts';
import type { ServerResponse } from 'node:http';
import { createStreamEncoder, type StreamEncoder, type StreamEncoding } from './compression/stream-encoding.ts';

/** The source of a response's bytes. Called only when the connection can take more. */
export interface ChunkSource {
  /** The next bytes, in pieces; null at the end. */
  next(): Promise<{ readonly pieces: readonly Buffer[]; release?(): void } | null>;
}

/**
 * How long one response may write without letting the rest of the process run. A reader on the same machine takes
 * everything at once: no write ever waits, and timers and other sockets would starve. Milliseconds.
 */
const turnMillisecondsMaximum = 2;

/**
 * A source that took so long for a chunk has waited, and the rest of the process has run meanwhile: no chunk takes so
 * long to be made. Milliseconds.
 */
const waitMillisecondsMinimum = 100;

/** The same limit as a number of writes. */
const turnWritesMaximum = 16;

/** How long a stream that has ended waits for its reader to take the last line. Milliseconds. */
const lastLineMillisecondsMaximum = 5_000;

/**
 * Writes a source to its end, at the pace of the connection, and ends the response. Stops early when the connection is
 * closed. The headers must have been sent.
 * @param encoding Compresses the response, flushed with every chunk, so that a client can read it at once.
 * @param onFailure Called when the source fails or the response cannot be written; nothing more is written then.
 * @param letOthersRun Resolves when a response may go on that has written much at once.
 */
export function writeJsonStream(
  response: ServerResponse,
  source: ChunkSource,
  encoding: StreamEncoding | undefined,
  clock: Clock,
  onFailure: (error: unknown) => void,
  letOthersRun: () => Promise<void> = giveWay,
): void {
  const encoder = encoding === undefined ? undefined : createStreamEncoder(encoding);
  encoder?.transform.on('error', (error) => response.destroy(error)).pipe(response);
  new JsonStreamWriter(response, source, encoder, clock, onFailure, letOthersRun).requestNext();
}

/** Call it when a stream has ended: a client that does not take the last line must not hold the connection for ever. */
export function destroyAfterGracePeriod(response: ServerResponse, clock: Clock): void {
  if (response.closed) return;
  const timer = after(clock, lastLineMillisecondsMaximum, () => response.destroy());
  response.on('close', () => timer.cancel());
}

/**
 * Lets go of what found the route of a request whose response stays open: the routers keep what they would need to go
 * on with the next route, which takes 2 KB of each open stream.
 */
export function forgetRoute(request: { next?: unknown }): void {
  request.next = undefined;
}

type SourceChunk = Awaited<ReturnType<ChunkSource['next']>>;

/**
 * Writes one response. While it waits for its source, it consists of this object and one promise: it has no async
 * frame, and nothing waits for it.
 */
class JsonStreamWriter {
  readonly #response: ServerResponse;
  readonly #source: ChunkSource;
  readonly #encoder: StreamEncoder | undefined;
  readonly #clock: Clock;
  readonly #onFailure: (error: unknown) => void;
  readonly #letOthersRun: () => Promise<void>;
  #turnBeganAt: number;
  #turnWrites = 0;
  /** When the source was asked last. */
  #requestedAt = 0;

  constructor(
    response: ServerResponse,
    source: ChunkSource,
    encoder: StreamEncoder | undefined,
    clock: Clock,
    onFailure: (error: unknown) => void,
    letOthersRun: () => Promise<void>,
  ) {
    this.#response = response;
    this.#source = source;
    this.#encoder = encoder;
    this.#clock = clock;
    this.#turnBeganAt = clock.monotonic();
    this.#onFailure = onFailure;
    this.#letOthersRun = letOthersRun;
  }

  requestNext(): void {
    this.#requestedAt = this.#clock.monotonic();
    this.#source.next().then(this.#onChunk.bind(this), this.#onFailure);
  }

  /** Without an async frame: a keep-alive, which the connection takes at once, is most of what an idle stream costs. */
  #onChunk(chunk: SourceChunk): void {
    try {
      if (chunk === null || this.#response.destroyed) {
        this.#end();
        return;
      }
      if (this.#clock.monotonic() - this.#requestedAt >= waitMillisecondsMinimum) this.#beginTurn();
      const taken = write(this.#response, this.#encoder, chunk.pieces);
      this.#turnWrites += 1;
      if (taken === 'at once' && !this.#isTurnOver()) {
        this.#release(chunk);
        this.requestNext();
      } else {
        void this.#goOnLater(chunk, taken);
      }
    } catch (error) {
      this.#onFailure(error);
    }
  }

  async #goOnLater(chunk: NonNullable<SourceChunk>, taken: Promise<void> | 'at once'): Promise<void> {
    try {
      if (taken !== 'at once') await taken;
      this.#release(chunk);
      // Only a stream that has written much shares the turns of its reader: one that follows new events does not wait.
      await (this.#turnWrites >= turnWritesMaximum ? this.#letOthersRun() : giveWay());
      this.#beginTurn();
      this.requestNext();
    } catch (error) {
      this.#onFailure(error);
    }
  }

  /** The connection has taken every byte, unless it has closed. In that case some may still be on their way. */
  #release(chunk: NonNullable<SourceChunk>): void {
    if (!isClosed(this.#response)) chunk.release?.();
  }

  #beginTurn(): void {
    this.#turnBeganAt = this.#clock.monotonic();
    this.#turnWrites = 0;
  }

  #isTurnOver(): boolean {
    if (this.#turnWrites >= turnWritesMaximum) return true;
    return this.#clock.monotonic() - this.#turnBeganAt > turnMillisecondsMaximum;
  }

  #end(): void {
    if (this.#response.destroyed) this.#encoder?.transform.destroy();
    else (this.#encoder?.transform ?? this.#response).end();
  }
}

/** Whether the connection is closed, even if the response has not been notified yet. */
function isClosed({ destroyed, socket }: ServerResponse): boolean {
  return destroyed || socket?.destroyed === true;
}

/** @returns a promise that resolves when the connection has taken every byte, or is closed, unless it has already */
function write(
  response: ServerResponse,
  encoder: StreamEncoder | undefined,
  pieces: readonly Buffer[],
): Promise<void> | 'at once' {
  return encoder === undefined ? writePlain(response, pieces) : writeCompressed(response, encoder, pieces);
}

function writePlain(response: ServerResponse, pieces: readonly Buffer[]): Promise<void> | 'at once' {
  let onFlushed: (() => void) | undefined;
  const last = pieces.length - 1;
  response.cork();
  for (let index = 0; index < last; index += 1) response.write(pieces[index]);
  // Waits for exactly these bytes: 'drain' comes only after a write that reached the high-water mark, but a smaller
  // write can find the connection full as well.
  if (last >= 0) response.write(pieces[last], () => onFlushed?.());
  response.uncork();
  if (response.writableLength === 0) return 'at once';
  return untilDoneOrClosed(response, (done) => (onFlushed = done));
}

function writeCompressed(response: ServerResponse, encoder: StreamEncoder, pieces: readonly Buffer[]): Promise<void> {
  for (const piece of pieces) encoder.transform.write(piece);
  // The callback runs when the compressed bytes have been passed on. The pipe passes them on only as fast as the
  // connection takes them.
  return untilDoneOrClosed(response, (done) => encoder.flush(done));
}

/** Runs `begin` and resolves when it calls `done`, or when the connection closes. */
function untilDoneOrClosed(response: ServerResponse, begin: (done: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('close', done);
      resolve();
    };
    response.on('close', done);
    begin(done);
  });
}
