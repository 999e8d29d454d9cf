import { type BackOffOptions, backOffMilliseconds } from './back-off.ts';
import { after, monotonic, random, sleep } from './clock.ts';
import { errorOf, LendstreamError, noResponse } from './errors.ts';
import { parseExact, stringifyExact } from './exact-json.ts';

/** Where the service is, and how to reach it. */
export interface LendstreamOptions {
  /** The address of the service, such as `http://localhost:8080`. */
  readonly url: string | URL;
  /** One of `API_KEYS` of the service, or what returns one before each request: keys change. */
  readonly apiKey?: string | (() => string | Promise<string>) | undefined;
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How long a request may take that is no stream. Milliseconds, default 60 seconds. */
  readonly requestMilliseconds?: number | undefined;
  /** How long requests are repeated that may be, while the service is away. Milliseconds, default 30 seconds. */
  readonly retryMilliseconds?: number | undefined;
  /** Told before such a request is repeated, for a log. */
  readonly onRetry?: ((error: LendstreamError, milliseconds: number) => void) | undefined;
  /** The `fetch` to use, for proxies or tests. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}

export interface RequestOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** How long this request may take; default `requestMilliseconds`. A stream may take for ever. */
  readonly milliseconds?: number;
}

export interface RetryOptions extends BackOffOptions {
  /** How long to try again and again. Milliseconds. */
  readonly withinMilliseconds: number;
  readonly signal?: AbortSignal | undefined;
  /** Whether a failure is worth another attempt; default {@link LendstreamError.isRetryable}. */
  readonly isRetryable?: (error: LendstreamError) => boolean;
  /** Called before each wait. */
  readonly onWait?: (error: LendstreamError, milliseconds: number) => void;
}

const retryMillisecondsDefault = 30_000;

const requestMillisecondsDefault = 60_000;

/** Sends requests to one service. */
export class Connection {
  readonly #options: LendstreamOptions;
  /** The address of the service, without a slash at its end. */
  readonly url: string;

  /** @throws TypeError for a URL that is none */
  constructor(options: LendstreamOptions) {
    this.#options = options;
    this.url = new URL(options.url).href.replace(/\/$/, '');
  }

  /**
   * Sends a request and returns the response as soon as its headers are there: the body is a stream.
   * @throws LendstreamError unless the status is from 200 to 299
   */
  async open(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    const { query = {}, body, headers = {}, signal } = options;
    const { apiKey, fetch = globalThis.fetch, headers: always = {} } = this.#options;
    const key = typeof apiKey === 'function' ? await apiKey() : apiKey;
    const url = `${this.url}${path}${queryText(query)}`;
    let response: Response;
    try {
      response = await fetch(url, {
        method,
        headers: {
          ...always,
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...(key === undefined || key === '' ? {} : { Authorization: `Bearer ${key}` }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : stringifyExact(body) }),
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      throw noResponse(this.url, error);
    }
    if (!response.ok) throw await errorOf(response);
    return response;
  }

  /**
   * Sends a request and reads its whole response.
   * @returns its JSON, with exact numbers; undefined for a response without a body
   * @throws LendstreamError
   */
  async request(method: string, path: string, options: RequestOptions = {}): Promise<unknown> {
    const text = await this.requestText(method, path, options);
    return text === '' ? undefined : parseExact(text);
  }

  /** The same, with the response as it was sent. */
  async requestText(method: string, path: string, options: RequestOptions = {}): Promise<string> {
    const { requestMilliseconds = requestMillisecondsDefault } = this.#options;
    const { milliseconds = requestMilliseconds } = options;
    const limit = new AbortController();
    const abort = (): void => limit.abort(options.signal?.reason);
    if (options.signal?.aborted === true) abort();
    options.signal?.addEventListener('abort', abort);
    const late = new LendstreamError(0, `${this.url} did not respond within ${milliseconds} ms`);
    const cancel = after(milliseconds, () => limit.abort(late));
    try {
      const response = await this.open(method, path, { ...options, signal: limit.signal });
      return await response.text().catch((error: unknown) => {
        throw noResponse(this.url, error);
      });
    } finally {
      cancel();
      options.signal?.removeEventListener('abort', abort);
    }
  }

  /** {@link request} for what may be done twice: it is repeated while the service cannot answer. */
  async retried(
    method: string,
    path: string,
    options: RequestOptions = {},
    isRetryable?: (error: LendstreamError) => boolean,
  ): Promise<unknown> {
    const { retryMilliseconds = retryMillisecondsDefault, onRetry } = this.#options;
    return retrying(() => this.request(method, path, options), {
      withinMilliseconds: retryMilliseconds,
      signal: options.signal,
      ...(isRetryable === undefined ? {} : { isRetryable }),
      ...(onRetry === undefined ? {} : { onWait: onRetry }),
    });
  }
}

/**
 * Repeats an attempt while it fails in a way that may pass, with growing waits.
 * @throws LendstreamError of the last attempt, also when `signal` aborts
 */
export async function retrying<Result>(attempt: () => Promise<Result>, options: RetryOptions): Promise<Result> {
  const { withinMilliseconds, signal, isRetryable = (error) => error.isRetryable, onWait } = options;
  const deadline = monotonic() + withinMilliseconds;
  for (let failures = 1; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof LendstreamError) || !isRetryable(error) || signal?.aborted === true) throw error;
      const wait = backOffMilliseconds(failures, random(), options, error.retryAfterMilliseconds);
      if (monotonic() + wait > deadline) throw error;
      onWait?.(error, wait);
      await sleep(wait, signal);
    }
  }
}

function queryText(query: NonNullable<RequestOptions['query']>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}
