import type { JSX } from 'preact';
import { formatCount } from '../../formats.ts';

interface PagerProperties {
  /** From 0. */
  readonly page: number;
  readonly rowsPerPage: number;
  /** On all pages. */
  readonly total: number;
  readonly onPageChange: (page: number) => void;
}

/** Which rows of a list are shown, and its other pages. */
export function Pager({ page, rowsPerPage, total, onPageChange }: PagerProperties): JSX.Element | null {
  const pages = Math.max(1, Math.ceil(total / rowsPerPage));
  if (total === 0) return null;
  const first = page * rowsPerPage + 1;
  const last = Math.min(total, first + rowsPerPage - 1);
  return (
    <div class="pager">
      <span role="status">
        {first > total
          ? `none of ${formatCount(total)}`
          : `${formatCount(first)} to ${formatCount(last)} of ${formatCount(total)}`}
      </span>
      {pages === 1 && page === 0 ? null : (
        <div class="actions">
          <button disabled={page === 0} onClick={() => onPageChange(0)}>
            First
          </button>
          <button disabled={page === 0} onClick={() => onPageChange(page - 1)}>
            Previous
          </button>
          <span class="muted">
            Page {formatCount(page + 1)} of {formatCount(pages)}
          </span>
          <button disabled={page >= pages - 1} onClick={() => onPageChange(page + 1)}>
            Next
          </button>
        </div>
      )}
    </div>
  );
}
