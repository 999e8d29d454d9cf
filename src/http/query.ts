import type { Request } from 'express';
import { LendstreamError } from '../errors.ts';

/**
 * Query parameters as whole numbers.
 * @throws MALFORMED_REQUEST when the parameter is there and is no whole number
 */
export function integerParameter(request: Request, name: string): number | undefined {
  const text = textParameter(request, name);
  if (text === undefined || text === '') return undefined;
  if (!/^[+-]?\d{1,15}$/.test(text)) {
    throw new LendstreamError('MALFORMED_REQUEST', `'${name}' parameter should be a whole number, but was '${text}'`);
  }
  return Number(text);
}

/** A query parameter given once; of several the first counts. */
export function textParameter(request: Request, name: string): string | undefined {
  const value: unknown = request.query[name];
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' ? first : undefined;
}

/** A repeatable query parameter; a comma separates values as well. */
export function textParameters(request: Request, name: string): string[] {
  const value: unknown = request.query[name];
  const values: unknown[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return values.flatMap((text) => (typeof text === 'string' ? text.split(',') : [])).filter((text) => text !== '');
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/**
 * `limit` (1..1000, default 20) and `offset` (from 0) of a list.
 * @throws MALFORMED_REQUEST
 */
export function pageOf(request: Request): Page {
  const limit = integerParameter(request, 'limit') ?? 20;
  const offset = integerParameter(request, 'offset') ?? 0;
  if (limit < 1 || limit > 1000) {
    throw new LendstreamError('MALFORMED_REQUEST', "'limit' parameter should have value between 1 and 1000");
  }
  if (offset < 0) throw new LendstreamError('MALFORMED_REQUEST', "'offset' parameter can't be lower than 0");
  return { limit, offset };
}
