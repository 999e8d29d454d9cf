import type { JSX } from 'preact';

interface PagerProperties {
  /** From 0. */
  readonly page: number;
  readonly isLast: boolean;
  readonly onPageChange: (page: number) => void;
  /** The number of pages, if known. */
  readonly pages?: number;
  readonly previousLabel?: string;
  readonly nextLabel?: string;
}

/** Switches between the pages of a list; empty when there is only one. */
export function Pager({
  page,
  isLast,
  onPageChange,
  pages,
  previousLabel = 'Previous',
  nextLabel = 'Next',
}: PagerProperties): JSX.Element | null {
  if (page === 0 && isLast) return null;
  return (
    <div class="pager">
      <button disabled={page === 0} onClick={() => onPageChange(page - 1)}>
        {previousLabel}
      </button>
      <span>
        Page {page + 1}
        {pages === undefined ? '' : ` of ${pages}`}
      </span>
      <button disabled={isLast} onClick={() => onPageChange(page + 1)}>
        {nextLabel}
      </button>
    </div>
  );
}
