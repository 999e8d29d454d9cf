import type { Connection } from '../../sqlite.ts';
import { comparableValues, type Condition, holds } from './conditions.ts';
import { conditionStatement, followingStatement, type SqlPart } from './condition-statements.ts';
import type { SearchColumn, SearchField, SearchFields } from './search-field.ts';
import { type Position, type SearchPage, type SearchQuery, SearchTooWide } from './search-query.ts';

/**
 * Searches a resource. SQLite finds and sorts by the fields that have columns. An item is only read when a condition or
 * the order is about another field, and then at most {@link examinedItemsMaximum} of them.
 */

/** How many items a search may look at one by one, after the conditions that SQLite checks. About two seconds. */
export const examinedItemsMaximum = 25_000;

/** How to search a resource. */
export interface SearchSource<Item> {
  /** The tables, such as `loans`. */
  readonly tables: string;
  /** The columns that identify an item, in the order in which items that are equal otherwise are sorted. */
  readonly identity: readonly string[];
  readonly fields: SearchFields<Item>;
  /** Reads the item with this identity. */
  read(identity: readonly (string | number)[]): Item;
}

type Identity = readonly (string | number)[];

interface Found {
  readonly identity: Identity;
  /** The values that the query sorts by. */
  readonly keys: readonly (string | null)[];
}

interface SortKey<Item> {
  readonly field: SearchField<Item>;
  readonly descending: boolean;
}

/** A page of the identities of items. @throws SearchTooWide */
export function searchPage<Item>(
  database: Connection,
  source: SearchSource<Item>,
  query: SearchQuery,
  examinedMaximum: number,
): SearchPage<Identity> {
  const { sorting, limit, offset } = query;
  const keys = sorting.map(({ field, descending }) => ({ field: fieldOf(source, field), descending }));
  const search = new Search(source, query, examinedMaximum);
  const isSortedBySqlite = keys.every(({ field }) => field.column !== undefined);
  // One more than asked for, to know whether others follow.
  const found = isSortedBySqlite
    ? search.inOrder(database, keys, { ...query, limit: limit + 1 })
    : search.sorted(database, keys, query.after).slice(offset, offset + limit + 1);
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return {
    items: page.map(({ identity }) => identity),
    last: last === undefined || found.length <= limit ? null : { value: last.keys[0] ?? null, identity: last.identity },
  };
}

/** How many items meet the conditions. @throws SearchTooWide */
export function countMatches<Item>(
  database: Connection,
  source: SearchSource<Item>,
  query: SearchQuery,
  examinedMaximum: number,
): number {
  return new Search(source, query, examinedMaximum).count(database);
}

class Search<Item> {
  readonly #source: SearchSource<Item>;
  readonly #where: readonly SqlPart[];
  /** The conditions that SQLite cannot check. */
  readonly #others: readonly { readonly condition: Condition; readonly field: SearchField<Item> }[];
  readonly #examinedMaximum: number;
  #examined = 0;

  constructor(source: SearchSource<Item>, { conditions = [] }: SearchQuery, examinedMaximum: number) {
    this.#source = source;
    this.#examinedMaximum = examinedMaximum;
    const known = conditions.map((condition) => ({ condition, field: fieldOf(source, condition.field) }));
    this.#where = known.flatMap(({ condition, field: { column } }) =>
      column === undefined ? [] : [conditionStatement(condition, column)],
    );
    this.#others = known.filter(({ field }) => field.column === undefined);
  }

  count(database: Connection): number {
    if (this.#others.length > 0) {
      let total = 0;
      for (const row of this.#rows(database, [], this.#where)) if (this.#matches(this.#examine(row))) total += 1;
      return total;
    }
    const { sql, values } = this.#statement(['count(*) AS total'], this.#where);
    return (database.prepare(sql).get(...values) as { total: number }).total;
  }

  /** A page in the order of columns. With conditions that SQLite cannot check, items are read until it is full. */
  inOrder(database: Connection, keys: readonly SortKey<Item>[], { after, offset, limit }: SearchQuery): Found[] {
    const { identity } = this.#source;
    // What identifies an item comes last anyway, and sorting by it alone needs no other column.
    const isByIdentity = keys[0]?.field.column?.isIdentity === true;
    const descending = keys[0]?.descending ?? false;
    const columns = (isByIdentity ? [] : keys).map((key) => ({ ...key, sql: columnOf(key).sql }));
    const order = [
      ...columns.map((column) => `${column.sql} ${column.descending ? 'DESC' : 'ASC'}`),
      ...identity.map((column) => `${column} ${isByIdentity && descending ? 'DESC' : 'ASC'}`),
    ].join(', ');
    const following =
      after === undefined ? [] : [followingStatement(after, columns[0]?.field.column, descending, identity)];
    const selected = columns.map(({ sql }) => sql);
    const where = [...this.#where, ...following];
    const isChecked = this.#others.length === 0;
    const end = {
      sql: ` ORDER BY ${order}${isChecked ? ' LIMIT ? OFFSET ?' : ''}`,
      values: isChecked ? [limit, offset] : [],
    };
    const found: Found[] = [];
    let skipped = isChecked ? offset : 0;
    for (const row of this.#rows(database, selected, where, end)) {
      const next = row.slice(0, identity.length);
      if (!isChecked && !this.#matches(this.#examine(next))) continue;
      if (skipped < offset) {
        skipped += 1;
        continue;
      }
      found.push({ identity: next, keys: row.slice(identity.length) as (string | null)[] });
      if (found.length === limit) break;
    }
    return found;
  }

  /** All items that follow a position, in an order that only the items have. */
  sorted(database: Connection, keys: readonly SortKey<Item>[], after: Position | undefined): Found[] {
    const found: Found[] = [];
    for (const identity of this.#rows(database, [], this.#where)) {
      const item = this.#examine(identity);
      if (!this.#matches(item)) continue;
      found.push({
        identity,
        keys: keys.map(({ field }) => comparableValues(field.kind, field.valueOf(item))[0] ?? null),
      });
    }
    const compare = (one: Found, other: Found): number => compareFound(one, other, keys);
    found.sort(compare);
    if (after === undefined) return found;
    const position: Found = { identity: after.identity, keys: [after.value] };
    return found.filter((each) => compare(each, position) > 0);
  }

  #matches(item: Item): boolean {
    return this.#others.every(({ condition, field }) =>
      holds(condition, comparableValues(condition.kind, field.valueOf(item))),
    );
  }

  #examine(identity: Identity): Item {
    this.#examined += 1;
    if (this.#examined > this.#examinedMaximum) {
      throw new SearchTooWide(
        `The search would look at more than ${this.#examinedMaximum} items one by one. Add a criterion that few items meet.`,
      );
    }
    return this.#source.read(identity);
  }

  #rows(
    database: Connection,
    columns: readonly string[],
    where: readonly SqlPart[],
    end: SqlPart = { sql: '', values: [] },
  ): Iterable<Identity> {
    const { sql, values } = this.#statement([...this.#source.identity, ...columns], where);
    const statement = database.prepare(sql + end.sql);
    statement.setReturnArrays(true);
    return statement.iterate(...values, ...end.values) as Iterable<Identity>;
  }

  #statement(columns: readonly string[], where: readonly SqlPart[]): SqlPart {
    const condition = where.length === 0 ? '' : ` WHERE ${where.map(({ sql }) => sql).join(' AND ')}`;
    return {
      sql: `SELECT ${columns.join(', ')} FROM ${this.#source.tables}${condition}`,
      values: where.flatMap(({ values }) => values),
    };
  }
}

function columnOf<Item>({ field: { column } }: SortKey<Item>): SearchColumn {
  if (column === undefined) throw new Error('SQLite cannot sort by a field without a column');
  return column;
}

function fieldOf<Item>({ fields }: SearchSource<Item>, name: string): SearchField<Item> {
  const field = fields.find(name);
  if (field === undefined) throw new Error(`No search has the field ${name}`);
  return field;
}

function compareFound<Item>(one: Found, other: Found, keys: readonly SortKey<Item>[]): number {
  for (const [index, { descending }] of keys.entries()) {
    const order = compareValues(one.keys[index] ?? null, other.keys[index] ?? null);
    if (order !== 0) return descending ? -order : order;
  }
  return compareIdentity(one.identity, other.identity);
}

function compareIdentity(one: Identity, other: Identity): number {
  for (const [index, value] of one.entries()) {
    const order = compareValues(value, other[index] ?? null);
    if (order !== 0) return order;
  }
  return 0;
}

/** What is empty comes first, as in SQLite. */
function compareValues(one: string | number | null, other: string | number | null): number {
  if (one === other) return 0;
  if (one === null) return -1;
  if (other === null) return 1;
  return one < other ? -1 : 1;
}
