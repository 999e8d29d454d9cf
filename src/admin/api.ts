import type { Schemas, WithNumbersAs } from '../contract.ts';
import { quoteNumbers } from './exact-numbers.ts';
import { storedKey } from './api-key.ts';
import { sentence } from './error-words.ts';
import { connection } from './connection-state.ts';

/** Calls the public API of the service for this page, with one kind of error for all failures. */

/** Any failure. `lines` are for people. */
export class ApiError extends Error {
  readonly status: number;
  readonly lines: readonly string[];

  /** @param status 0 when there was no response at all. */
  constructor(status: number, lines: readonly string[]) {
    super(lines.join(' '));
    this.status = status;
    this.lines = lines;
  }
}

/** What failed, as the one kind of error of this page. */
export function apiErrorOf(failure: unknown): ApiError {
  return failure instanceof ApiError ? failure : new ApiError(0, [String(failure)]);
}

export interface RequestOptions {
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request. @returns Its response, if it succeeded. @throws ApiError */
export async function send(
  method: string,
  path: string,
  body?: unknown,
  { signal, headers = {} }: RequestOptions = {},
): Promise<Response> {
  const key = storedKey();
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    markUnreachable();
    throw new ApiError(0, ['The service does not respond.']);
  }
  if (response.ok) return response;
  if (response.status === 401) connection.set({ ...connection.get(), keyRequired: true });
  throw new ApiError(response.status, linesOf(response.status, await response.text().catch(() => '')));
}

/** The JSON of a response; undefined for one without a body. @throws ApiError */
export async function call<ResponseBody>(
  method: string,
  path: string,
  body?: unknown,
  options: RequestOptions = {},
): Promise<ResponseBody> {
  const text = await readText(await send(method, path, body, options));
  return (text === '' ? undefined : JSON.parse(text)) as ResponseBody;
}

/** JSON in which every number is a text, as it was written. */
export type Exact<Json> = WithNumbersAs<string, Json>;

/** The text of a response. @throws ApiError */
export async function getText(path: string, options: RequestOptions = {}): Promise<string> {
  return readText(await send('GET', path, undefined, options));
}

export function exactly<Json>(text: string): Exact<Json> {
  return JSON.parse(quoteNumbers(text)) as Exact<Json>;
}

/** The JSON of a response with all digits of its amounts. @throws ApiError */
export async function callExact<ResponseBody>(
  path: string,
  options: RequestOptions = {},
): Promise<Exact<ResponseBody>> {
  return exactly<ResponseBody>(await getText(path, options));
}

async function readText(response: Response): Promise<string> {
  try {
    return await response.text();
  } catch {
    markUnreachable();
    throw new ApiError(0, ['The connection closed before the response was complete.']);
  }
}

const probeMilliseconds = 1_000;

/** Reports that the service is unreachable, and polls it until it is back. */
function markUnreachable(): void {
  if (!connection.get().reachable) return;
  connection.set({ ...connection.get(), reachable: false });
  const probe = async (): Promise<void> => {
    const response = await fetch('/ready').catch(() => undefined);
    if (response?.ok === true) {
      const { generation, ...rest } = connection.get();
      connection.set({ ...rest, reachable: true, generation: generation + 1 });
      return;
    }
    setTimeout(() => void probe(), probeMilliseconds);
  };
  setTimeout(() => void probe(), probeMilliseconds);
}

function linesOf(status: number, text: string): string[] {
  let body: Partial<Schemas['Problem'] & Schemas['LendingErrors']>;
  try {
    body = JSON.parse(text) as typeof body;
  } catch {
    return [`The service responded with status ${status} and gave no reason.`];
  }
  if (Array.isArray(body.errors) && body.errors.length > 0) {
    return body.errors.map(({ errorReason, errorSource }) => `${sentence(errorReason)} (${errorSource})`);
  }
  const lines = (body.detail ?? body.title ?? `The service responded with status ${status}.`).split('\n');
  return lines.filter((line) => line.trim() !== '');
}
