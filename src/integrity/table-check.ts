import { type Connection, openDatabase } from '../sqlite.ts';
import { type CheckStep, type FileCheck, inSnapshot, isDamage } from './check-thread.ts';

/**
 * Reads all tables of any database file in the order of their primary keys, and finds each row again in each index.
 * What a row contains is not known here: the code that writes the file says what is wrong with a row that can be read.
 * The first damage ends the check, for such a file is a copy that is then made again.
 */

/** The most rows of one step. */
const rowsPerStep = 64;

/** Memory of the connection. Bytes. */
const cacheBytes = 16 * 1024 * 1024;

type Value = string | number | null;

/** A row by the names of its columns. */
export type Row = Readonly<Record<string, Value>>;

/** What is wrong with a row, in words that continue a sentence; undefined when nothing is. */
export type RowDamage = (table: string, row: Row) => string | undefined;

type Statement = ReturnType<Connection['prepare']>;

interface Table {
  readonly name: string;
  /** The columns of the primary key. */
  readonly key: readonly string[];
  readonly first: Statement;
  readonly next: Statement;
  readonly indexes: readonly { readonly name: string; readonly columns: readonly string[]; readonly find: Statement }[];
}

export class TableCheck implements FileCheck {
  readonly #connection: Connection;
  readonly #tables: Table[];
  readonly #rowDamage: RowDamage;
  readonly #usedBytes: number;
  #readBytes = 0;
  /** The last row that was checked of the first table that is left. */
  #last: Row | undefined;

  /**
   * @param prepare Returns what checks the content of rows. It may look up other rows with the connection, which sees
   *   the same snapshot as the row.
   * @throws Error when the file cannot be opened
   */
  constructor(path: string, prepare: (connection: Connection) => RowDamage = () => () => undefined) {
    this.#connection = openDatabase(path, { mustExist: true });
    this.#connection.exec(`
      PRAGMA query_only = ON; PRAGMA cell_size_check = ON; PRAGMA cache_size = -${cacheBytes / 1024};
      PRAGMA busy_timeout = 5000;
    `);
    this.#tables = tablesOf(this.#connection);
    this.#rowDamage = prepare(this.#connection);
    const { bytes } = this.#connection
      .prepare(
        `SELECT (page_count - freelist_count) * page_size AS bytes
         FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
      )
      .get() as { bytes: number };
    this.#usedBytes = bytes;
  }

  step(): CheckStep {
    const [table] = this.#tables;
    if (table === undefined) return { isDone: true, checkedShare: 1, damages: [] };
    const damage = this.#damageOf(table);
    if (damage !== undefined) return { isDone: true, checkedShare: this.#checkedShare(), damages: [damage] };
    return { isDone: false, checkedShare: this.#checkedShare(), damages: [] };
  }

  #damageOf(table: Table): string | undefined {
    try {
      return inSnapshot(this.#connection, () => this.#readRows(table));
    } catch (error) {
      if (!isDamage(error)) throw error;
      return `Table ${table.name} cannot be read.`;
    }
  }

  close(): void {
    this.#connection.close();
  }

  #readRows(table: Table): string | undefined {
    const last = this.#last;
    const rows = (last === undefined ? table.first.all() : table.next.all(...valuesOf(last, table.key))) as Row[];
    for (const row of rows) {
      for (const value of Object.values(row)) this.#readBytes += typeof value === 'string' ? value.length : 8;
      for (const { name, columns, find } of table.indexes) {
        if (find.get(...valuesOf(row, columns)) === undefined)
          return `Index ${name} lacks a row of table ${table.name}.`;
      }
      const damage = this.#rowDamage(table.name, row);
      if (damage !== undefined) return `Table ${table.name}: ${damage}.`;
    }
    this.#last = rows.at(-1);
    if (rows.length < rowsPerStep) {
      this.#tables.shift();
      this.#last = undefined;
    }
    return undefined;
  }

  /** Pages contain more than the values of their rows, so the share never reaches 1 before the end. */
  #checkedShare(): number {
    return Math.min(0.99, this.#readBytes / this.#usedBytes);
  }
}

function tablesOf(connection: Connection): Table[] {
  const tables = connection
    .prepare(
      `SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'`,
    )
    .all() as { name: string; wr: number }[];
  return tables.map(({ name, wr }) => {
    const isWithoutRowid = wr === 1;
    const key = isWithoutRowid ? keyColumns(connection, name) : ['rowid'];
    const columns = isWithoutRowid ? '*' : 'rowid AS rowid, *';
    const rest = `ORDER BY ${key.join()} LIMIT ${rowsPerStep}`;
    return {
      name,
      key,
      first: connection.prepare(`SELECT ${columns} FROM ${name} ${rest}`),
      next: connection.prepare(
        `SELECT ${columns} FROM ${name} WHERE (${key.join()}) > (${key.map(() => '?').join()}) ${rest}`,
      ),
      indexes: indexesOf(connection, name, key, isWithoutRowid),
    };
  });
}

function keyColumns(connection: Connection, table: string): string[] {
  const rows = connection.prepare('SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk').all(table);
  return (rows as { name: string }[]).map(({ name }) => name);
}

function indexesOf(
  connection: Connection,
  table: string,
  key: readonly string[],
  isWithoutRowid: boolean,
): Table['indexes'] {
  // The primary key of a table without row ids is the table itself.
  const indexes = connection
    .prepare(`SELECT name, partial FROM pragma_index_list(?) WHERE origin <> 'pk' OR NOT ?`)
    .all(table, isWithoutRowid ? 1 : 0) as { name: string; partial: number }[];
  return indexes.map(({ name, partial }) => {
    const found = connection.prepare('SELECT name FROM pragma_index_xinfo(?)').all(name) as { name: string | null }[];
    const columns = found.map((column) => column.name ?? 'rowid');
    const conditions = columns.map((column) => `${column} IS ?`).join(' AND ');
    if (partial === 0) {
      const find = connection.prepare(`SELECT 1 FROM ${table} INDEXED BY ${name} WHERE ${conditions}`);
      return { name, columns, find };
    }
    // It has only the rows that meet its condition.
    const condition = conditionOf(connection, name);
    const row = key.map((column) => `${column} IS ?`).join(' AND ');
    const find = connection.prepare(
      `SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM ${table} NOT INDEXED WHERE ${row} AND ${condition}) ` +
        `OR EXISTS (SELECT 1 FROM ${table} INDEXED BY ${name} WHERE ${conditions} AND ${condition})`,
    );
    return { name, columns: [...key, ...columns], find };
  });
}

/** The condition of a partial index, from the statement that made it. */
function conditionOf(connection: Connection, index: string): string {
  const { sql } = connection.prepare('SELECT sql FROM sqlite_schema WHERE name = ?').get(index) as { sql: string };
  return `(${sql.slice(sql.toUpperCase().indexOf(' WHERE ') + ' WHERE '.length)})`;
}

function valuesOf(row: Row, columns: readonly string[]): Value[] {
  return columns.map((column) => row[column] ?? null);
}
