import { Fragment, type ComponentChildren, type JSX } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import {
  columnVisibilityFeature,
  createColumnHelper,
  createPaginatedRowModel,
  createSortedRowModel,
  rowPaginationFeature,
  rowSortingFeature,
  sortFn_alphanumeric,
  sortFn_basic,
  tableFeatures,
  useTable,
} from '@tanstack/preact-table';
import type { ListOrder } from '../../address-query.ts';

export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly numeric?: boolean;
  /** A word or two that stay on one line. */
  readonly keyword?: boolean;
  /** The value that the page sorts by. */
  readonly sortValue?: (row: Row) => string | number | undefined;
  /** The name of what the server sorts by, where it has the rows of one page alone. */
  readonly sortField?: string;
  readonly hidden?: boolean;
}

interface TableProperties<Row> {
  /** The content of the table, for users who cannot see it. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Columns of equal width, so that several tables are aligned. */
  readonly even?: boolean;
  readonly order?: ListOrder | undefined;
  readonly onOrder?: (order: ListOrder | undefined) => void;
  /** The rows are those of one page, ordered by the server. */
  readonly isOrdered?: boolean;
  /** Shows one page of the rows. */
  readonly paging?: { readonly page: number; readonly rowsPerPage: number };
  readonly footer?: ComponentChildren;
  /** What stands below a row, if it is opened. */
  readonly detail?: (row: Row) => ComponentChildren | undefined;
  /** A click beside the controls of a row; what it does is also possible with one of them. */
  readonly onRowClick?: (row: Row) => void;
}

const features = tableFeatures({
  columnVisibilityFeature,
  rowPaginationFeature,
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  paginatedRowModel: createPaginatedRowModel(),
  sortFns: { alphanumeric: sortFn_alphanumeric, basic: sortFn_basic },
});

/** The name of a column in the address. */
export function columnId(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}

/** A table; on a narrow screen each row is a block of names and values, unless it has only two columns. */
export function Table<Row extends object>(properties: TableProperties<Row>): JSX.Element {
  const {
    label,
    columns,
    rows,
    keyOf,
    even,
    order,
    onOrder,
    isOrdered = false,
    paging,
    footer,
    detail,
    onRowClick,
  } = properties;
  const latest = useRef(columns);
  latest.current = columns;
  const names = columns.map(({ name }) => name).join('\n');
  const definitions = useMemo(() => {
    const helper = createColumnHelper<typeof features, Row>();
    return helper.columns(
      columns.map(({ name, numeric }) =>
        helper.accessor((row) => latest.current.find((column) => column.name === name)?.sortValue?.(row) ?? '', {
          id: columnId(name),
          sortFn: numeric === true ? 'basic' : 'alphanumeric',
          sortDescFirst: numeric === true,
        }),
      ),
    );
  }, [names]);
  const table = useTable({
    features,
    columns: definitions,
    data: rows,
    getRowId: keyOf,
    manualSorting: isOrdered,
    manualPagination: paging === undefined,
    autoResetPageIndex: false,
    enableMultiSort: false,
    state: {
      sorting: order === undefined ? [] : [{ id: order.column, desc: order.descending }],
      pagination: { pageIndex: paging?.page ?? 0, pageSize: paging?.rowsPerPage ?? rows.length },
      columnVisibility: Object.fromEntries(columns.map(({ name, hidden }) => [columnId(name), hidden !== true])),
    },
    onSortingChange(change) {
      const before = order === undefined ? [] : [{ id: order.column, desc: order.descending }];
      const [after] = typeof change === 'function' ? change(before) : change;
      onOrder?.(after === undefined ? undefined : { column: after.id, descending: after.desc });
    },
  });
  const shown = new Set(table.getVisibleLeafColumns().map(({ id }) => id));
  const visible = columns.filter(({ name }) => shown.has(columnId(name)));
  const sortable = visible.filter(({ sortValue, sortField }) => (sortValue ?? sortField) !== undefined);
  return (
    <>
      {onOrder === undefined || sortable.length === 0 ? null : (
        <OrderChoice names={sortable.map(({ name }) => name)} order={order} onOrder={onOrder} />
      )}
      <table aria-label={label} class={even === true ? 'even' : visible.length === 2 ? 'pair' : undefined}>
        <thead>
          <tr>
            {visible.map(({ name, numeric, sortValue, sortField }) => {
              const column = table.getColumn(columnId(name));
              const sorted = column?.getIsSorted() ?? false;
              return (
                <th
                  key={name}
                  scope="col"
                  class={numeric === true ? 'number' : undefined}
                  {...(sorted === false
                    ? {}
                    : { 'aria-sort': sorted === 'asc' ? ('ascending' as const) : ('descending' as const) })}
                >
                  {(sortValue ?? sortField) === undefined || onOrder === undefined ? (
                    name
                  ) : (
                    <button class="sort" onClick={() => column?.toggleSorting()}>
                      {name}
                      <span aria-hidden="true" class="direction">
                        {sorted === false ? '↕' : sorted === 'asc' ? '↑' : '↓'}
                      </span>
                    </button>
                  )}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {table.getRowModel().rows.map(({ id, original: row }) => {
            const below = detail?.(row);
            return (
              <Fragment key={id}>
                <tr
                  {...(onRowClick === undefined
                    ? {}
                    : {
                        class: 'clickable',
                        onClick(event) {
                          const isControl =
                            event.target instanceof Element && event.target.closest('a, button') !== null;
                          if (!isControl && getSelection()?.isCollapsed !== false) onRowClick(row);
                        },
                      })}
                >
                  {visible.map(({ name, cell, numeric, keyword }) => (
                    <td
                      key={name}
                      data-name={name}
                      class={numeric === true ? 'number' : keyword === true ? 'keyword' : undefined}
                    >
                      <div>{cell(row)}</div>
                    </td>
                  ))}
                </tr>
                {below === undefined ? null : (
                  <tr class="detail">
                    <td colSpan={visible.length}>{below}</td>
                  </tr>
                )}
              </Fragment>
            );
          })}
        </tbody>
        {footer === undefined ? null : <tfoot>{footer}</tfoot>}
      </table>
    </>
  );
}

interface OrderChoiceProperties {
  /** Of the columns that can be sorted. */
  readonly names: readonly string[];
  readonly order: ListOrder | undefined;
  readonly onOrder: (order: ListOrder | undefined) => void;
}

/** The order of a table on a narrow screen, where it has no heads of columns. */
function OrderChoice({ names, order, onOrder }: OrderChoiceProperties): JSX.Element {
  return (
    <div class="order-choice">
      <label class="field">
        <span>Sort by</span>
        <select
          value={order?.column ?? ''}
          onChange={(event) => {
            const column = event.currentTarget.value;
            onOrder(column === '' ? undefined : { column, descending: order?.descending ?? false });
          }}
        >
          <option value="">the usual order</option>
          {names.map((name) => (
            <option key={name} value={columnId(name)} selected={columnId(name) === order?.column}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <button
        disabled={order === undefined}
        onClick={() => {
          if (order !== undefined) onOrder({ ...order, descending: !order.descending });
        }}
      >
        {order?.descending === true ? '↓ descending' : '↑ ascending'}
      </button>
    </div>
  );
}
