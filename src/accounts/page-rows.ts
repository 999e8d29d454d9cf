import { type PageName, pageRecordKey } from '../lending-format/account-record-keys.ts';
import { unsealed } from './checksummed-text.ts';

/** A page of an account in the tables. */
export interface PageRow extends PageName {
  readonly loanId: string;
  /** Its text in the changelog; null when it was deleted. */
  readonly state: string | null;
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
