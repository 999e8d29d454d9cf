import type { JSX } from 'preact';

interface PagerProperties {
  /** From 0. */
  readonly page: number;
  readonly isLast: boolean;
  readonly onTurn: (page: number) => void;
  /** How many pages there are, where that is known. */
  readonly pages?: number;
  readonly back?: string;
  readonly on?: string;
}

/** Turns the pages of a list; nothing where there is only one. */
export function Pager({
  page,
  isLast,
  onTurn,
  pages,
  back = 'Previous',
  on = 'Next',
}: PagerProperties): JSX.Element | null {
  if (page === 0 && isLast) return null;
  return (
    <div class="pager">
      <button disabled={page === 0} onClick={() => onTurn(page - 1)}>
        {back}
      </button>
      <span>
        Page {page + 1}
        {pages === undefined ? '' : ` of ${pages}`}
      </span>
      <button disabled={isLast} onClick={() => onTurn(page + 1)}>
        {on}
      </button>
    </div>
  );
}
