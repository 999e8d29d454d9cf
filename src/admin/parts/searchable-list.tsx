import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Pager } from './pager.tsx';

interface SearchableListProperties<Row> {
  readonly label: string;
  /** The label of the search field. */
  readonly searchLabel: string;
  readonly rows: readonly Row[];
  readonly rowsPerPage: number;
  /** The text that is searched. */
  readonly textsOf: (row: Row) => readonly string[];
  /** The message when no item matches. */
  readonly nothingFound: (words: string) => string;
  /** Shows the rows of a page. */
  readonly children: (rows: readonly Row[]) => JSX.Element;
}

/** A list of items with a search field and pages. */
export function SearchableList<Row>(properties: SearchableListProperties<Row>): JSX.Element {
  const { label, searchLabel, rows, rowsPerPage, textsOf, nothingFound, children } = properties;
  const [search, setSearch] = useState('');
  const [page, setPage] = useState(0);
  const wanted = search.trim().toLowerCase();
  const found = rows.filter((row) => textsOf(row).some((text) => text.toLowerCase().includes(wanted)));
  const pages = Math.max(1, Math.ceil(found.length / rowsPerPage));
  const shown = Math.min(page, pages - 1);
  return (
    <>
      <div class="toolbar">
        <label class="field">
          <span>{searchLabel}</span>
          <input
            type="search"
            value={search}
            onInput={(event) => {
              setSearch(event.currentTarget.value);
              setPage(0);
            }}
          />
        </label>
      </div>
      <section class="panel flush" aria-label={label}>
        {found.length === 0 ? (
          <p class="muted">{nothingFound(search.trim())}</p>
        ) : (
          children(found.slice(shown * rowsPerPage, (shown + 1) * rowsPerPage))
        )}
        <Pager page={shown} pages={pages} isLast={shown === pages - 1} onPageChange={setPage} />
      </section>
    </>
  );
}
