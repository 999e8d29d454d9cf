import { after } from './clock.ts';
import type { Connection, RequestOptions } from './connection.ts';
import { LendstreamError, noResponse } from './errors.ts';
import { parseExact } from './exact-json.ts';
import { LineSplitter } from './line-splitter.ts';

/** What ends a stream from outside. */
export interface StreamLimits {
  /** Aborts when the caller wants no more: the stream then ends as if the service had ended it. */
  readonly stopped: AbortSignal;
  /** How long nothing may arrive, not even a keep-alive, before the connection counts as dead. Milliseconds. */
  readonly silenceMilliseconds: number;
  /** How long the service may take to open it. Milliseconds. */
  readonly openMilliseconds: number;
}

/** One open stream. It reads from its connection only while {@link next} waits for a line. */
export class EventStream<Line> {
  readonly streamId: string;
  readonly #splitter = new LineSplitter();
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #connection: AbortController;
  readonly #limits: StreamLimits;
  readonly #url: string;
  #isReading = false;
  #isSilent = false;

  private constructor(url: string, response: Response, connection: AbortController, limits: StreamLimits) {
    if (response.body === null) throw new LendstreamError(0, 'The stream has no body');
    this.streamId = response.headers.get('X-Nakadi-StreamId') ?? '';
    this.#reader = response.body.getReader();
    this.#connection = connection;
    this.#limits = limits;
    this.#url = url;
    limits.stopped.addEventListener('abort', this.#stop);
  }

  /** @throws LendstreamError when the service refuses the stream, or {@link StreamLimits.stopped} aborts. */
  static async open<Line>(
    connection: Connection,
    method: 'GET' | 'POST',
    path: string,
    options: RequestOptions,
    limits: StreamLimits,
  ): Promise<EventStream<Line>> {
    const controller = new AbortController();
    const abort = (): void => controller.abort();
    if (limits.stopped.aborted) abort();
    limits.stopped.addEventListener('abort', abort);
    const late = new Error(`no response within ${limits.openMilliseconds} ms`);
    const cancel = after(limits.openMilliseconds, () => controller.abort(late));
    try {
      const response = await connection.open(method, path, { ...options, signal: controller.signal });
      return new EventStream(connection.url, response, controller, limits);
    } finally {
      cancel();
      limits.stopped.removeEventListener('abort', abort);
    }
  }

  /** The bytes that were read and are in no line that {@link next} returned. */
  get bytesReadAhead(): number {
    return this.#splitter.bytes;
  }

  /** The next line if it was read already; otherwise undefined. */
  take(): Line | undefined {
    const line = this.#splitter.take();
    return line === undefined ? undefined : (parseExact(line) as Line);
  }

  /**
   * The next line; undefined when the stream has ended, or is stopped.
   * @throws LendstreamError when the connection breaks off
   */
  async next(): Promise<Line | undefined> {
    for (;;) {
      if (this.#limits.stopped.aborted) return undefined;
      const line = this.take();
      if (line !== undefined) return line;
      if (!(await this.#read())) return undefined;
    }
  }

  /** Closes the connection, which ends the stream. */
  close(): void {
    this.#limits.stopped.removeEventListener('abort', this.#stop);
    this.#connection.abort();
  }

  async #read(): Promise<boolean> {
    const { silenceMilliseconds, stopped } = this.#limits;
    const cancel = after(silenceMilliseconds, () => {
      this.#isSilent = true;
      this.#connection.abort();
    });
    this.#isReading = true;
    try {
      const { done, value } = await this.#reader.read();
      if (done) return false;
      this.#splitter.add(value);
      return true;
    } catch (error) {
      if (this.#isSilent) throw new LendstreamError(0, `Nothing arrived for ${silenceMilliseconds} ms`);
      if (stopped.aborted) return false;
      throw noResponse(this.#url, error);
    } finally {
      this.#isReading = false;
      cancel();
    }
  }

  /** A read that waits ends at once; what was read is committed before its connection is closed. */
  readonly #stop = (): void => {
    if (this.#isReading) this.#connection.abort();
  };
}
