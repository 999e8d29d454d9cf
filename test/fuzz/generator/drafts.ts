import type { Operation } from '../../support/http/api-description.ts';

/** A request that is being built. */
export interface Draft {
  readonly operation: Operation;
  method: string;
  /** Percent-encoded. */
  path: string;
  /** The text after the question mark; empty when there is none. */
  query: string;
  /** In the order in which they are sent; values as Latin-1. */
  headers: [name: string, value: string][];
  /** The value of the body, as long as its text was not changed; undefined when there is none. */
  value: unknown;
  /** The body as it is sent; built from `value` unless it is replaced. */
  body: Buffer | undefined;
  /** The applied mutations. */
  mutations: string[];
  /** The status that a mutation must lead to, where only one is correct; undefined where several are. */
  expected?: RegExp;
  delivery: Delivery;
}

/**
 * - whole: all of it is sent, and a response comes.
 * - cut: the connection is closed in the middle of the body.
 * - dropped: all of it is sent, and the connection is closed immediately.
 * - odd: it is no valid request; a response may come or not, but the connection ends.
 */
export type Delivery = 'whole' | 'cut' | 'dropped' | 'odd';

/** A request that can be sent. */
export interface FuzzRequest {
  readonly index: number;
  readonly operation: Operation;
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly bytes: Buffer;
  readonly delivery: Delivery;
  /** The applied mutations; `valid` when there were none. */
  readonly mutations: readonly string[];
  /** The status of the response, where only one is correct. */
  readonly expected?: RegExp;
}

export function rendered(index: number, draft: Draft): FuzzRequest {
  const { operation, method, path, query, headers, body, delivery, expected } = draft;
  const url = query === '' ? path : `${path}?${query}`;
  const lines = [`${method} ${url} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`), '', ''];
  return {
    index,
    operation,
    method,
    url,
    bytes: Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), body ?? Buffer.alloc(0)]),
    delivery,
    mutations: draft.mutations.length === 0 ? ['valid'] : draft.mutations,
    ...(expected === undefined ? {} : { expected }),
  };
}

/** Replaces all headers of that name; undefined removes them. */
export function setHeader(draft: Draft, name: string, value: string | undefined): void {
  draft.headers = draft.headers.filter(([known]) => known.toLowerCase() !== name.toLowerCase());
  if (value !== undefined) draft.headers.push([name, value]);
}

/** Replaces the body and its length. */
export function setBody(draft: Draft, body: Buffer): void {
  draft.body = body;
  setHeader(draft, 'Content-Length', String(body.length));
}

export function hasBody({ body, value }: Draft): boolean {
  return body !== undefined || value !== undefined;
}
