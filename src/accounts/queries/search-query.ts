import type { LocalDate } from '../../lending/terms.ts';
import type { Condition } from './conditions.ts';

/** A search of accounts or transactions, as plain data for the thread that makes it. */
export interface SearchQuery {
  /** An item must meet all of them. */
  readonly conditions?: readonly Condition[];
  /** In order of priority. Items that are equal in all of them are ordered by id. */
  readonly sorting: readonly Sorting[];
  readonly offset: number;
  readonly limit: number;
  /** The business date up to which accounts are late and in arrears; null while none was reached. */
  readonly reached?: LocalDate | null;
  /** The page begins after this item. The query then sorts by one field at most. */
  readonly after?: Position;
}

/** A field of the resource, and the direction. */
export interface Sorting {
  readonly field: string;
  readonly descending: boolean;
}

/** Where an item is in the order of a query. */
export interface Position {
  /** Its value of the field that the query sorts by, as conditions compare it; null when it is empty. */
  readonly value: string | null;
  /** What identifies it: the id of its account and, for a transaction, its number. */
  readonly identity: readonly (string | number)[];
}

/** A page of what was found. */
export interface SearchPage<Item> {
  readonly items: readonly Item[];
  /** The last item of the page when others follow it. */
  readonly last: Position | null;
}

/** A search would have to look at more items one by one than it may. */
export class SearchTooWide extends Error {}
