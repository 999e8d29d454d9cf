import type { ComponentChildren, JSX } from 'preact';

export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly numeric?: boolean;
}

interface TableProperties<Row> {
  /** The content of the table, for users who cannot see it. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Columns of equal width, so that several tables are aligned. */
  readonly even?: boolean;
}

/** A table; on a narrow screen each row is a block of names and values, unless it has only two columns. */
export function Table<Row>({ label, columns, rows, keyOf, even }: TableProperties<Row>): JSX.Element {
  return (
    <table aria-label={label} class={even === true ? 'even' : columns.length === 2 ? 'pair' : undefined}>
      <thead>
        <tr>
          {columns.map(({ name, numeric }) => (
            <th key={name} scope="col" class={numeric === true ? 'number' : undefined}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(({ name, cell, numeric }) => (
              <td key={name} data-name={name} class={numeric === true ? 'number' : undefined}>
                <div>{cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
