import type { Request, Response } from 'express';
import { type Condition, contains } from '../../accounts/queries/conditions.ts';
import { apiErrors } from '../../lending-format/refusal-format.ts';
import { LendingErrors, invalidParameter, requestError } from '../edge/lending-errors.ts';
import { textParameter } from '../edge/query-parameters.ts';

/** The items of a page when the request names no limit, and the most that it may name. */
const pageItemsDefault = 50;
const pageItemsMaximum = 1_000;
/** The most fields that a list may be sorted by. */
const sortFieldsMaximum = 5;
/** The longest value of a filter. Characters. */
const filterCharactersMaximum = 256;

/** The query parameters that {@link lendingPage} reads. */
export const pageParameters = ['offset', 'limit', 'paginationDetails'] as const;

/**
 * Refuses every query parameter that the route does not know, and every repeated one: with an ignored filter, the
 * response would contain more than was asked for.
 * @throws LendingErrors with INVALID_PARAMETERS, one for each name
 */
export function refuseUnknownParameters(request: Request, ...names: readonly string[]): void {
  const unknownParameters = Object.entries(request.query).filter(
    ([name, value]) => !names.includes(name) || Array.isArray(value),
  );
  if (unknownParameters.length === 0) return;
  const errors = unknownParameters
    .slice(0, refusedParametersMaximum)
    .map(([name]) => requestError('INVALID_PARAMETERS', name.slice(0, parameterCharactersMaximum)));
  throw new LendingErrors('MALFORMED_REQUEST', errors);
}

/** How many unknown parameters are shown, and how many characters of each name. */
const refusedParametersMaximum = 50;
const parameterCharactersMaximum = 100;

export interface LendingPage {
  readonly offset: number;
  readonly limit: number;
  /** Whether the response describes the page in its headers. */
  readonly details: boolean;
}

/**
 * `offset` (from 0), `limit` (1 to {@link pageItemsMaximum}) and `paginationDetails` (ON or OFF) of a list.
 * @throws LendingErrors with INVALID_PAGINATION_OFFSET_VALUE, INVALID_PAGINATION_LIMIT_VALUE,
 *   OUT_OF_BOUNDS_PAGINATION_LIMIT_VALUE or INVALID_PARAMETERS
 */
export function lendingPage(request: Request): LendingPage {
  const offset = wholeNumber(textParameter(request, 'offset') ?? '0');
  if (offset === undefined || offset < 0) throw pagination('INVALID_PAGINATION_OFFSET_VALUE', 'offset');
  const limit = wholeNumber(textParameter(request, 'limit') ?? String(pageItemsDefault));
  if (limit === undefined || limit < 1) throw pagination('INVALID_PAGINATION_LIMIT_VALUE', 'limit');
  if (limit > pageItemsMaximum) throw pagination('OUT_OF_BOUNDS_PAGINATION_LIMIT_VALUE', 'limit');
  const details = choiceParameter(request, 'paginationDetails', ['ON', 'OFF']) === 'ON';
  return { offset, limit, details };
}

/** Describes the page in the headers, if the request asked for it. `total` is only worked out then. */
export async function setPageHeaders(
  response: Response,
  page: LendingPage,
  total: () => number | Promise<number>,
): Promise<void> {
  if (!page.details) return;
  response.set('Items-Limit', String(page.limit));
  response.set('Items-Offset', String(page.offset));
  response.set('Items-Total', String(await total()));
}

/** A query parameter that must be one of some words. @throws LendingErrors with INVALID_PARAMETERS */
export function choiceParameter<Value extends string>(
  request: Request,
  name: string,
  values: readonly Value[],
): Value | undefined {
  const text = textParameter(request, name);
  if (text === undefined) return undefined;
  const value = values.find((known) => known === text);
  if (value === undefined) throw invalidParameter(name);
  return value;
}

/** A query parameter that filters by equality. @throws LendingErrors with INVALID_PARAMETERS */
export function filterParameter(request: Request, name: string): string | undefined {
  const text = textParameter(request, name);
  if (text !== undefined && (text === '' || text.length > filterCharactersMaximum)) throw invalidParameter(name);
  return text;
}

/**
 * `q` of a list of loans: their ids contain this text, in any letter case; no condition when it is left out or empty.
 * @throws LendingErrors with INVALID_PARAMETERS for a text that is too long
 */
export function partOfId(request: Request): Condition[] {
  const part = textParameter(request, 'q') ?? '';
  if (part.length > filterCharactersMaximum) throw invalidParameter('q');
  return part === '' ? [] : [contains('id', part)];
}

/**
 * `sortBy=field:ASC,field:DESC`; without a direction it is ascending.
 * @param fields The fields that the list can be sorted by.
 * @param defaultField The field to sort by when the request names none.
 * @throws LendingErrors with INVALID_PARAMETERS for an unknown field or direction, a field named twice or too many
 */
export function sortParameter<Field extends string>(
  request: Request,
  fields: readonly Field[],
  defaultField: Field,
): { readonly field: Field; readonly descending: boolean }[] {
  const text = textParameter(request, 'sortBy');
  if (text === undefined || text === '') return [{ field: defaultField, descending: false }];
  const sorting = text.split(',').map((part) => {
    const [name = '', direction = 'ASC', ...rest] = part.trim().split(':');
    const field = fields.find((known) => known === name);
    if (field === undefined || !['ASC', 'DESC'].includes(direction) || rest.length > 0) {
      throw invalidParameter('sortBy');
    }
    return { field, descending: direction === 'DESC' };
  });
  if (sorting.length > sortFieldsMaximum || new Set(sorting.map(({ field }) => field)).size < sorting.length) {
    throw invalidParameter('sortBy');
  }
  return sorting;
}

function wholeNumber(text: string): number | undefined {
  return /^-?\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function pagination(
  errorReason:
    | 'INVALID_PAGINATION_OFFSET_VALUE'
    | 'INVALID_PAGINATION_LIMIT_VALUE'
    | 'OUT_OF_BOUNDS_PAGINATION_LIMIT_VALUE',
  errorSource: string,
): LendingErrors {
  return new LendingErrors('MALFORMED_REQUEST', apiErrors([{ errorReason, errorSource }]));
}
