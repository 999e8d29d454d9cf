import type { Operation } from '../../support/http/api-description.ts';

/** A request while it is being made. */
export interface Draft {
  readonly operation: Operation;
  method: string;
  /** Percent-encoded. */
  path: string;
  /** As it stands behind the question mark; empty when there is none. */
  query: string;
  /** In the order in which they are sent; values as Latin-1. */
  headers: [name: string, value: string][];
  /** What the body says, as long as nobody has changed its text; undefined when there is none. */
  value: unknown;
  /** The body as it is sent; made of `value` unless something else is put here. */
  body: Buffer | undefined;
  /** What was done to it. */
  mutations: string[];
  /** The status that a mutation must lead to, where only one kind is right; undefined where several are. */
  expected?: RegExp;
  delivery: Delivery;
}

/**
 * - whole: all of it is sent, and an answer comes.
 * - cut: the connection is closed in the middle of the body.
 * - dropped: all of it is sent, and the connection is closed at once.
 * - odd: what is sent is no request as it should be; an answer may come or not, but the connection ends.
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
  /** What was done to it; `valid` when nothing was. */
  readonly mutations: readonly string[];
  /** The status that it must be answered with, where only one kind is right. */
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

/** Puts a header in place of all of that name; undefined takes them out. */
export function setHeader(draft: Draft, name: string, value: string | undefined): void {
  draft.headers = draft.headers.filter(([known]) => known.toLowerCase() !== name.toLowerCase());
  if (value !== undefined) draft.headers.push([name, value]);
}

/** Puts a body in the place of what is there, with its length. */
export function setBody(draft: Draft, body: Buffer): void {
  draft.body = body;
  setHeader(draft, 'Content-Length', String(body.length));
}

export function hasBody({ body, value }: Draft): boolean {
  return body !== undefined || value !== undefined;
}
