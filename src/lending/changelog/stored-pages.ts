import type { Loan } from '../loan.ts';
import type { FeeCharge } from '../fees/charges.ts';
import type { Installment } from '../installments.ts';
import { storedFormat } from './stored-format.ts';
import { writeCharges, writeRows } from './stored-position.ts';

/**
 * The installments and unpaid fees of an account, in pages that are records of their own. A command writes only the
 * pages in which something changed, so what it writes does not grow with the account.
 */

/** Most commands change one row, or a few that follow each other. */
export const installmentsPerPage = 12;

/** The fees numbered 1 to 100 are on the first page, whichever of them are still unpaid. */
export const chargesPerPage = 100;

/** A page as the changelog has it. */
export interface StoredPage {
  readonly list: 'charges' | 'installments';
  /** From 0. */
  readonly number: number;
  /** One line of JSON: `{"format":3,"installments":[...]}`. */
  readonly text: string;
}

interface KnownPage {
  readonly items: readonly object[];
  readonly page: StoredPage;
}

/** By the first item of a page. Items are replaced and never changed, so most pages have been written before. */
const knownPages = new WeakMap<object, KnownPage>();

/** The pages of an account: those of its fees, then those of its installments, each in their order. */
export function pagesOf({ position: { charges, installments } }: Loan): StoredPage[] {
  return [
    ...pagesOfList('charges', charges, chargesPerPage, writeCharges),
    ...pagesOfList('installments', installments, installmentsPerPage, writeRows),
  ];
}

function pagesOfList<Item extends FeeCharge | Installment>(
  list: StoredPage['list'],
  items: readonly Item[],
  itemsPerPage: number,
  write: (items: readonly Item[]) => string,
): StoredPage[] {
  const pageOf = ({ number }: Item): number => Math.floor((number - 1) / itemsPerPage);
  const pages: StoredPage[] = [];
  for (let start = 0, end = 0; start < items.length; start = end) {
    const first = items[start] as Item;
    const number = pageOf(first);
    while (end < items.length && pageOf(items[end] as Item) === number) end += 1;
    const known = knownPages.get(first);
    if (known !== undefined && known.page.number === number && isSame(known.items, items, start, end)) {
      pages.push(known.page);
      continue;
    }
    const onPage = items.slice(start, end);
    const page = { list, number, text: `{"format":${storedFormat},"${list}":${write(onPage)}}` };
    knownPages.set(first, { items: onPage, page });
    pages.push(page);
  }
  return pages;
}

function isSame(known: readonly object[], items: readonly object[], start: number, end: number): boolean {
  return known.length === end - start && known.every((item, index) => item === items[start + index]);
}
