import type { ComponentChildren, JSX } from 'preact';
import { useListState, type ListState } from '../../address-query.ts';
import { callPage, type ItemsPage } from '../../api/api.ts';
import { listPath } from '../../api/api-lists.ts';
import { useLoaded, type Loaded } from '../../api/queries.ts';
import { useSettled } from '../../settled.ts';
import { Pager } from './pager.tsx';
import { Problem } from '../problem.tsx';
import { SearchField } from './search-field.tsx';
import { Skeleton } from '../skeleton.tsx';
import { columnId, Table, type Column } from './table.tsx';

const rowsPerPage = 25;
const refreshMilliseconds = 5_000;

/** A list that the service searches, orders and divides into pages. */
export interface ServerList<Row> {
  readonly state: ListState;
  readonly loaded: Loaded<ItemsPage<Row>>;
  readonly columns: readonly Column<Row>[];
  /** Whether the service has nothing at all: neither on this page nor with another search. */
  readonly isEmpty: boolean;
}

interface ServerListOptions<Row> {
  /** Where the service has it. */
  readonly path: string;
  /** What is always asked for. */
  readonly query: Readonly<Record<string, string | number>>;
  /** The order while the user chose none, by a field of the service. */
  readonly usualSort: string;
  readonly columns: readonly Column<Row>[];
}

/** Loads the page of a list that the address asks for, and keeps it up to date. */
export function useServerList<Row>({ path, query, usualSort, columns }: ServerListOptions<Row>): ServerList<Row> {
  const state = useListState();
  const search = useSettled(state.search.trim());
  const field = columns.find(({ name }) => columnId(name) === state.order?.column)?.sortField;
  const sort = field === undefined ? usualSort : `${state.order?.descending === true ? '-' : ''}${field}`;
  const page = { limit: rowsPerPage, offset: state.page * rowsPerPage };
  const address = listPath(path, { ...query, q: search, sort, ...page });
  const loaded = useLoaded(address, (signal) => callPage<Row>(address, signal), refreshMilliseconds, {
    keepsPrevious: true,
  });
  return { state, loaded, columns, isEmpty: loaded.data?.total === 0 && search === '' && !loaded.isPrevious };
}

interface ServerListViewProperties<Row> {
  readonly list: ServerList<Row>;
  /** The content of the table, for users who cannot see it. */
  readonly label: string;
  readonly searchLabel: string;
  readonly keyOf: (row: Row) => string;
  /** The message when no item matches. */
  readonly nothingFound: (words: string) => string;
  /** The message when it cannot be loaded. */
  readonly what: string;
  /** Further filters beside the search field. */
  readonly children?: ComponentChildren;
}

/** A page of a list with its search field, its order and its pages, all of which are in the address. */
export function ServerListView<Row extends object>(properties: ServerListViewProperties<Row>): JSX.Element {
  const { list, label, searchLabel, keyOf, nothingFound, what, children } = properties;
  const { state, loaded, columns } = list;
  return (
    <>
      <div class="toolbar">
        <SearchField label={searchLabel} value={state.search} onInput={state.setSearch} />
        {children}
      </div>
      <Problem error={loaded.error} what={what} />
      {loaded.isLoading ? <Skeleton rows={10} /> : null}
      {loaded.data === undefined ? null : (
        <section class="panel flush" aria-label={label} aria-busy={loaded.isPrevious}>
          {loaded.data.total === 0 ? (
            <p class="muted">{nothingFound(state.search.trim())}</p>
          ) : (
            <Table
              label={label}
              rows={loaded.data.items}
              columns={columns}
              keyOf={keyOf}
              order={state.order}
              onOrder={state.setOrder}
              isOrdered
            />
          )}
          <Pager page={state.page} rowsPerPage={rowsPerPage} total={loaded.data.total} onPageChange={state.setPage} />
        </section>
      )}
    </>
  );
}
