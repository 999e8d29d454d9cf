import { after } from '../../client/clock.ts';
import type { Schemas, WithNumbersAs } from '../../contract.ts';
import { parseToShow, quoteNumbers, shownJson } from '../exact-numbers.ts';
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

/** JSON that is sent as it was written, with all digits of its numbers. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A body as the text that is sent. */
export function bodyText(body: unknown): string {
  return body instanceof JsonText ? body.text : JSON.stringify(body);
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
      ...(body === undefined ? {} : { body: bodyText(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    markUnreachable();
    throw new ApiError(0, ['The service does not respond.']);
  }
  // Only what was asked for with If-None-Match can be unchanged.
  if (response.ok || response.status === 304) {
    if (key === null && !connection.value.openToAll) connection.value = { ...connection.value, openToAll: true };
    return response;
  }
  if (response.status === 401) connection.value = { ...connection.value, keyRequired: true, openToAll: false };
  throw new ApiError(response.status, linesOf(response.status, await response.text().catch(() => '')));
}

/** The JSON of a response; undefined for one without a body. @throws ApiError */
export async function call<ResponseBody>(
  method: string,
  path: string,
  body?: unknown,
  options: RequestOptions = {},
): Promise<ResponseBody> {
  const text = await readText(await send(method, path, body, options), options.signal);
  return (text === '' ? undefined : JSON.parse(text)) as ResponseBody;
}

/** A response that the service gave an ETag. */
interface Kept {
  readonly tag: string;
  readonly value: unknown;
}

/** The latest responses with an ETag, by path. The browser keeps none, as they depend on the key. */
const kept = new Map<string, Kept>();
const keptMaximum = 50;

/**
 * The JSON of a resource that is requested again and again. While it is unchanged, the service sends no body, and the
 * value is the same object. @throws ApiError
 */
export async function callUnlessUnchanged<ResponseBody>(path: string, signal: AbortSignal): Promise<ResponseBody> {
  const before = kept.get(path);
  const headers: Record<string, string> = before === undefined ? {} : { 'If-None-Match': before.tag };
  const response = await send('GET', path, undefined, { signal, headers });
  if (response.status === 304 && before !== undefined) return before.value as ResponseBody;
  const value = JSON.parse(await readText(response, signal)) as ResponseBody;
  const tag = response.headers.get('ETag');
  kept.delete(path);
  if (tag !== null) kept.set(path, { tag, value });
  const [oldest] = kept.keys();
  if (kept.size > keptMaximum && oldest !== undefined) kept.delete(oldest);
  return value;
}

/** A page of a list, and how many items there are on all pages. */
export interface ItemsPage<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

/** A page of a list, which is an array or has `items`. @throws ApiError */
export async function callPage<Item>(path: string, signal: AbortSignal): Promise<ItemsPage<Item>> {
  const response = await send('GET', path, undefined, { signal });
  const body = JSON.parse(await readText(response, signal)) as readonly Item[] | { readonly items: readonly Item[] };
  const items = 'items' in body ? body.items : body;
  return { items, total: Number(response.headers.get('Items-Total') ?? items.length) };
}

/** A page of the lending API. */
export interface ListPage<Item> extends ItemsPage<Item> {
  /** The JSON of each item, as the service wrote its numbers. */
  readonly shown: readonly string[];
}

/** A page of the lending API with all digits of its amounts. @throws ApiError */
export async function callExactPage<Item>(
  method: string,
  path: string,
  body?: unknown,
  options: RequestOptions = {},
): Promise<ListPage<Exact<Item>>> {
  const response = await send(method, path, body, options);
  const text = await readText(response, options.signal);
  const items = exactly<readonly Item[]>(text);
  const shown = (parseToShow(text) as readonly unknown[]).map((item) => shownJson(item, 2));
  return { items, shown, total: Number(response.headers.get('Items-Total') ?? items.length) };
}

/** JSON in which every number is a text, as it was written. */
export type Exact<Json> = WithNumbersAs<string, Json>;

/** The text of a response. @throws ApiError */
export async function getText(path: string, options: RequestOptions = {}): Promise<string> {
  return readText(await send('GET', path, undefined, options), options.signal);
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

async function readText(response: Response, signal: AbortSignal | undefined): Promise<string> {
  try {
    return await response.text();
  } catch (error) {
    // What is no longer wanted says nothing about the service.
    if (signal?.aborted === true) throw error;
    markUnreachable();
    throw new ApiError(0, ['The connection closed before the response was complete.']);
  }
}

const probeMilliseconds = 1_000;

/** Reports that the service is unreachable, and polls it until it is back. */
function markUnreachable(): void {
  if (!connection.value.reachable) return;
  connection.value = { ...connection.value, reachable: false };
  const probe = async (): Promise<void> => {
    const response = await fetch('/ready').catch(() => undefined);
    if (response?.ok === true) {
      const { generation, ...rest } = connection.value;
      connection.value = { ...rest, reachable: true, generation: generation + 1 };
      return;
    }
    after(probeMilliseconds, () => void probe());
  };
  after(probeMilliseconds, () => void probe());
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
