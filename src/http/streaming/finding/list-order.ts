import type { Request } from 'express';
import { LendstreamError } from '../../../errors.ts';
import { textParameter } from '../../edge/query-parameters.ts';

/** The longest text that a list is searched for. Characters. */
export const searchCharactersMaximum = 255;

/**
 * `q` of a list: whether one of the texts of an item contains it, in any letter case; undefined without it.
 * @throws MALFORMED_REQUEST for a text that is too long
 */
export function searchOf(request: Request): ((...texts: readonly string[]) => boolean) | undefined {
  const wanted = (textParameter(request, 'q') ?? '').toLowerCase();
  if (wanted === '') return undefined;
  if (wanted.length > searchCharactersMaximum) {
    throw new LendstreamError('MALFORMED_REQUEST', `'q' parameter may have ${searchCharactersMaximum} characters`);
  }
  return (...texts) => texts.some((text) => text.toLowerCase().includes(wanted));
}

/** How to compare two items by a field. */
export type Orders<Item> = Readonly<Record<string, (item: Item) => string | number>>;

/**
 * `sort` of a list: a field, with `-` before it the largest first; undefined without it.
 * @throws MALFORMED_REQUEST for another field
 */
export function orderOf<Item>(
  request: Request,
  orders: Orders<Item>,
): ((left: Item, right: Item) => number) | undefined {
  const sort = textParameter(request, 'sort') ?? '';
  if (sort === '') return undefined;
  const sign = sort.startsWith('-') ? -1 : 1;
  const field = sort.replace(/^-/, '');
  const textOf = Object.hasOwn(orders, field) ? orders[field] : undefined;
  if (textOf === undefined) {
    const names = Object.keys(orders).join(', ');
    throw new LendstreamError('MALFORMED_REQUEST', `'sort' parameter should be one of ${names}, or - and one of them`);
  }
  return (left, right) => {
    const [first, second] = [textOf(left), textOf(right)];
    return first === second ? 0 : first < second ? -sign : sign;
  };
}
