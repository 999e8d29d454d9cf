import type { ComponentChildren, JSX } from 'preact';
import { useListState } from '../../address-query.ts';
import { Pager } from './pager.tsx';
import { SearchField } from './search-field.tsx';
import { Table, type Column } from './table.tsx';

interface SearchableListProperties<Row> {
  /** The content of the table, for users who cannot see it. */
  readonly label: string;
  /** The label of the search field. */
  readonly searchLabel: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  /** The text that is searched. */
  readonly textsOf: (row: Row) => readonly string[];
  /** The message when no item matches. */
  readonly nothingFound: (words: string) => string;
  /** Further filters beside the search field. */
  readonly children?: ComponentChildren;
  readonly rowsPerPage: number;
}

/** The rows of a list that match a search. */
export function matchingRows<Row>(
  rows: readonly Row[],
  search: string,
  textsOf: (row: Row) => readonly string[],
): readonly Row[] {
  const wanted = search.trim().toLowerCase();
  if (wanted === '') return rows;
  return rows.filter((row) => textsOf(row).some((text) => text.toLowerCase().includes(wanted)));
}

/** A list of items with a search field, an order and pages, all of which are in the address. */
export function SearchableList<Row extends object>(properties: SearchableListProperties<Row>): JSX.Element {
  const { label, searchLabel, rows, rowsPerPage, textsOf, nothingFound, columns, keyOf, children } = properties;
  const state = useListState();
  const found = matchingRows(rows, state.search, textsOf);
  const page = Math.min(state.page, Math.max(0, Math.ceil(found.length / rowsPerPage) - 1));
  return (
    <>
      <div class="toolbar">
        <SearchField label={searchLabel} value={state.search} onInput={state.setSearch} />
        {children}
      </div>
      <section class="panel flush" aria-label={label}>
        {found.length === 0 ? (
          <p class="muted">{nothingFound(state.search.trim())}</p>
        ) : (
          <Table
            label={label}
            rows={found}
            columns={columns}
            keyOf={keyOf}
            order={state.order}
            onOrder={state.setOrder}
            paging={{ page, rowsPerPage }}
          />
        )}
        <Pager page={page} rowsPerPage={rowsPerPage} total={found.length} onPageChange={state.setPage} />
      </section>
    </>
  );
}
