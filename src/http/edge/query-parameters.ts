import type { Request } from 'express';
import type { AuthorizationAttribute } from '../../broker/definitions/authorization.ts';
import { LendstreamError } from '../../errors.ts';
import { readSwitch } from '../../switch-words.ts';

/**
 * A query parameter as a whole number; undefined when it is missing or empty.
 * @throws MALFORMED_REQUEST when it is no whole number
 */
export function integerParameter(request: Request, name: string): number | undefined {
  const text = textParameter(request, name);
  if (text === undefined || text === '') return undefined;
  if (!/^[+-]?\d{1,15}$/.test(text)) {
    throw new LendstreamError('MALFORMED_REQUEST', `'${name}' parameter should be a whole number, but was '${text}'`);
  }
  return Number(text);
}

/** A query parameter; of a repeated one, the first value. */
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

/**
 * A query parameter that is switched on or off, in any letter case; off when it is left out or empty.
 * @throws MALFORMED_REQUEST for any other word
 */
export function flagParameter(request: Request, name: string): boolean {
  const text = textParameter(request, name);
  const flag = readSwitch(text ?? '');
  if (flag === undefined) {
    throw new LendstreamError('MALFORMED_REQUEST', `'${name}' parameter should be true or false, but was '${text}'`);
  }
  return flag;
}

/**
 * A query parameter that names an authorization attribute, as `data_type:value`.
 * @throws MALFORMED_REQUEST for another form
 */
export function attributeParameter(request: Request, name: string): AuthorizationAttribute | undefined {
  const text = textParameter(request, name);
  if (text === undefined) return undefined;
  const [dataType = '', value = '', ...more] = text.split(':');
  if (dataType === '' || value === '' || more.length > 0) {
    const detail = `'${name}' parameter should have the form data_type:value, but was '${text}'`;
    throw new LendstreamError('MALFORMED_REQUEST', detail);
  }
  return { data_type: dataType, value };
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
