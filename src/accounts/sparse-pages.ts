import type { Connection } from '../sqlite.ts';

/**
 * Fills pages again that rows were removed from. SQLite joins neighbouring pages only when a row is removed from one
 * that is two thirds empty, so the rows that stay may take twice their space. Writing them again, some at a time in the
 * order of their keys, leaves full pages and free ones.
 * It is due when the rows that were removed since took a share of the file. So what it costs depends on what was
 * removed, although it goes through all rows.
 */

/** How much may be removed before the rows that stay are written again, as a share of the pages in use. */
const removedShareMaximum = 0.1;

/** Less than this is never worth it. Bytes. */
const removedBytesMinimum = 1024 * 1024;

/** How many rows are read at a time, and how many bytes of them are written again at once: two full pages. */
const rowsAtOnce = 64;
const bytesAtOnce = 32 * 1024;

/** The tables from which rows are removed, with the columns of their primary keys. */
const tables: readonly (readonly [name: string, ...key: string[]])[] = [
  ['loans', 'loan_number'],
  ['states', 'loan_number'],
  ['pages', 'loan_id', 'list', 'number'],
  ['transactions', 'loan_id', 'number'],
  ['commands', 'partition', 'decided_at', 'command_id'],
];

type Value = string | number | null;
type Row = Record<string, Value>;

/** How far the rows have been written again. */
interface Walk {
  /** The bytes that had been removed when it began. */
  readonly removedBytes: number;
  /** The number of the table in {@link tables}. */
  table: number;
  /** The key of the last row of the table that was written again. */
  lastKey: readonly Value[] | undefined;
}

export class SparsePages {
  readonly #removedBytes;
  readonly #subtract;
  readonly #statements;
  #walk: Walk | undefined;

  /** @param database It has the table `removed`, whose only row counts the bytes of the rows that were removed. */
  constructor(database: Connection) {
    this.#removedBytes = database.prepare('SELECT bytes FROM removed');
    this.#subtract = database.prepare('UPDATE removed SET bytes = bytes - ?');
    this.#statements = tables.map(([name, ...key]) => statementsOf(database, name, key));
  }

  /**
   * Whether rows are to be written again.
   * @param usedBytes The bytes of the pages in use.
   */
  isDue(usedBytes: number): boolean {
    if (this.#walk !== undefined) return true;
    const { bytes } = this.#removedBytes.get() as { bytes: number };
    if (bytes < Math.max(removedBytesMinimum, usedBytes * removedShareMaximum)) return false;
    this.#walk = { removedBytes: bytes, table: 0, lastKey: undefined };
    return true;
  }

  /** Writes the next rows again, as a part of the transaction that is open. Returns whether there are more. */
  writeSome(): boolean {
    const walk = this.#walk;
    if (walk === undefined) return false;
    const statements = this.#statements[walk.table];
    if (statements === undefined) {
      this.#subtract.run(walk.removedBytes);
      this.#walk = undefined;
      return false;
    }
    const { key, first, next, remove, insert } = statements;
    const rows = enough((walk.lastKey === undefined ? first.all() : next.all(...walk.lastKey)) as Row[]);
    const keyOf = (row: Row): Value[] => key.map((column) => row[column] ?? null);
    for (const row of rows) remove.run(...keyOf(row));
    for (const row of rows) insert.run(...Object.values(row));
    const last = rows.at(-1);
    if (last !== undefined) walk.lastKey = keyOf(last);
    else {
      walk.table += 1;
      walk.lastKey = undefined;
    }
    return true;
  }

  /** Begins again with the first row: the transaction was undone. */
  forget(): void {
    this.#walk = undefined;
  }
}

function statementsOf(database: Connection, name: string, key: readonly string[]) {
  const columns = database.prepare('SELECT name FROM pragma_table_info(?)').all(name);
  const order = `ORDER BY ${key.join()} LIMIT ${rowsAtOnce}`;
  const marks = (count: number): string => Array.from({ length: count }, () => '?').join();
  return {
    key,
    first: database.prepare(`SELECT * FROM ${name} ${order}`),
    next: database.prepare(`SELECT * FROM ${name} WHERE (${key.join()}) > (${marks(key.length)}) ${order}`),
    remove: database.prepare(`DELETE FROM ${name} WHERE (${key.join()}) = (${marks(key.length)})`),
    insert: database.prepare(`INSERT INTO ${name} VALUES (${marks(columns.length)})`),
  };
}

/** The first of these rows that are enough to be written at once. */
function enough(rows: readonly Row[]): Row[] {
  let bytes = 0;
  return rows.filter((row) => {
    const isTaken = bytes < bytesAtOnce;
    for (const value of Object.values(row)) bytes += typeof value === 'string' ? value.length : 8;
    return isTaken;
  });
}
