import { scheduleView } from '../../lending-format/response-bodies.ts';
import { allTogglesOff } from '../../lending/toggle-names.ts';
import type { LocalDate } from '../../lending/terms.ts';
import type { InstallmentState } from '../../lending/views/schedules.ts';
import { type Connection, withoutNul } from '../../sqlite.ts';
import { pagesByDueDate } from '../page-rows.ts';
import type { AccountReader } from './account-reader.ts';
import { SearchTooWide } from './search-query.ts';

/** The states that installments can be filtered by. */
export const installmentStates = [
  'PENDING',
  'LATE',
  'PAID',
  'PARTIALLY_PAID',
  'GRACE',
] as const satisfies readonly InstallmentState[];

/** A search of installments over all accounts, as plain data for the thread that makes it. */
export interface InstallmentQuery {
  /** The first and the last day that one may be due on. */
  readonly dueFrom: LocalDate;
  readonly dueTo: LocalDate;
  readonly productTypeKey?: string;
  readonly accountState?: string;
  readonly installmentState?: InstallmentState;
  readonly offset: number;
  readonly limit: number;
}

/** Installments of one account. */
export interface FoundInstallments {
  readonly loanId: string;
  /** The text of the account and those of its pages. */
  readonly texts: readonly string[];
  /** Their numbers in the account, from 1. */
  readonly numbers: readonly number[];
}

/**
 * The installments of a page, by the ids of their accounts and their numbers. Only accounts are read that have a page
 * of installments with a day between the first and the last one.
 * @throws SearchTooWide
 */
export function searchInstallments(
  database: Connection,
  reader: AccountReader,
  query: InstallmentQuery,
  examinedMaximum: number,
): FoundInstallments[] {
  const end = query.offset + query.limit;
  const found: FoundInstallments[] = [];
  let count = 0;
  for (const { loanId, numbers } of matches(database, reader, query, examinedMaximum)) {
    const onPage = numbers.slice(Math.max(query.offset - count, 0), end - count);
    if (onPage.length > 0) found.push({ loanId, texts: reader.texts(loanId), numbers: onPage });
    count += numbers.length;
    if (count >= end) break;
  }
  return found;
}

/** How many installments the query finds, over all pages. @throws SearchTooWide */
export function countInstallments(
  database: Connection,
  reader: AccountReader,
  query: InstallmentQuery,
  examinedMaximum: number,
): number {
  let count = 0;
  for (const { numbers } of matches(database, reader, query, examinedMaximum)) count += numbers.length;
  return count;
}

function* matches(
  database: Connection,
  reader: AccountReader,
  query: InstallmentQuery,
  examinedMaximum: number,
): Generator<{ readonly loanId: string; readonly numbers: number[] }> {
  let examined = 0;
  for (const loanId of accountsWithPages(database, query)) {
    examined += 1;
    if (examined > examinedMaximum) {
      throw new SearchTooWide(`The search would look at more than ${examinedMaximum} accounts. Ask for fewer days.`);
    }
    const { loan } = reader.examinedLoan(loanId);
    // Toggles rename no state.
    const rows = scheduleView(loan, allTogglesOff).installments;
    const numbers = loan.position.installments
      .filter(({ dueDate }) => query.dueFrom <= dueDate && dueDate <= query.dueTo)
      .map(({ number }) => number)
      .filter((number) => [rows[number - 1]?.state, undefined].includes(query.installmentState));
    if (numbers.length > 0) yield { loanId, numbers };
  }
}

/** The ids of the accounts that may have such installments, in their order. */
function accountsWithPages(database: Connection, query: InstallmentQuery): string[] {
  const filters: readonly (readonly [sql: string, value: string | undefined])[] = [
    ['loans.product_type_key = ?', query.productTypeKey],
    ['loans.account_state = ?', query.accountState],
  ];
  const active = filters.filter((filter): filter is [string, string] => filter[1] !== undefined);
  const conditions = ['pages.last_due_date >= ?', 'pages.first_due_date <= ?', ...active.map(([sql]) => sql)];
  // Without the name, SQLite may read all pages, because they are in the order of their accounts.
  const tables = `pages INDEXED BY ${pagesByDueDate}${active.length === 0 ? '' : ' JOIN loans USING (loan_id)'}`;
  const where = conditions.join(' AND ');
  const statement = database.prepare(
    `SELECT DISTINCT pages.loan_id FROM ${tables} WHERE ${where} ORDER BY pages.loan_id`,
  );
  const rows = statement.all(query.dueFrom, query.dueTo, ...active.map(([, value]) => withoutNul(value)));
  return (rows as { loan_id: string }[]).map(({ loan_id }) => loan_id);
}
