import { type PageName, pageRecordKey } from '../lending-format/account-record-keys.ts';
import type { LocalDate } from '../lending/terms.ts';
import { unsealed } from './checksummed-text.ts';

/** A page of an account in the tables. */
export interface PageRow extends PageName {
  readonly loanId: string;
  /** Its text in the changelog; null when it was deleted. */
  readonly state: string | null;
}

/** The index of pages of installments by the days that they are due on. */
export const pagesByDueDate = 'pages_by_due_date';

/** The days on which the first and the last installment of a page are due; null for a page of fees. */
export interface DueDates {
  readonly first: LocalDate | null;
  readonly last: LocalDate | null;
}

/** What is before a due date in the text of a page. */
export const dueDateMark = '"dueDate":"';
const dayCharacters = 10;

/**
 * The due dates of a page. Its rows are in their order, so two of them are enough and the text need not be parsed.
 * @param text The page in the changelog.
 */
export function dueDatesOf({ list }: PageName, text: string): DueDates {
  const dayAt = (mark: number): LocalDate => {
    const start = mark + dueDateMark.length;
    return text.slice(start, start + dayCharacters);
  };
  const first = list === 'installments' ? text.indexOf(dueDateMark) : -1;
  return first === -1
    ? { first: null, last: null }
    : { first: dayAt(first), last: dayAt(text.lastIndexOf(dueDateMark)) };
}

/** Reads the pages of an account, in the order in which `joinedAccount` expects them. */
export const pagesOfAccount = 'SELECT list, number, state FROM pages WHERE loan_id = ? ORDER BY list, number';

/** A row of {@link pagesOfAccount}. */
export interface FoundPage extends PageName {
  readonly state: string;
}

/** The texts of the pages of an account. @throws DamagedText */
export function unsealedPages(loanId: string, found: readonly FoundPage[]): string[] {
  return found.map((page) => unsealed(pageRecordKey(loanId, page), page.state));
}
