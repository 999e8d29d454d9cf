import { atBusinessDate } from '../lending/business-days/business-date.ts';
import { type AccountView, accountOf } from '../lending/views/accounts.ts';
import { withoutDetails } from '../lending/custom-fields/field-sets.ts';
import { productView } from '../lending/views/products.ts';
import { balancesOf } from '../lending/views/balances.ts';
import { previewRefusals } from '../lending/schedule/preview.ts';
import { type ScheduleView, scheduleOf } from '../lending/views/schedules.ts';
import { parseTransactionId, transactionId } from '../lending/identifiers.ts';
import { decodeTransaction } from '../lending/changelog/stored-transaction.ts';
import { payOffFigures } from '../lending/commands/pay-off.ts';
import type { Loan } from '../lending/loan.ts';
import type { WorkingCalendar } from '../lending/organization.ts';
import { payOffAmountsOf } from '../lending/views/pay-off.ts';
import { toInstant } from '../lending/instants.ts';
import type { Refusal } from '../lending/refusals.ts';
import type { Toggles } from '../lending/toggle-names.ts';
import type { LocalDate } from '../lending/terms.ts';
import { transactionView } from '../lending/views/transactions.ts';
import type { Schemas } from '../contract.ts';
import { type Written, writeView } from './amount-format.ts';
import type { ProductVersion } from './stored-products.ts';

/**
 * Loans and products as the lending API shows them: JSON text with exact numbers. Events are written by the same
 * functions, so an event's balances equal those of the response. Transactions are passed in as the changelog has them.
 */

type WrittenTransaction = Written<Schemas['LoanTransactionPostedTransaction']>;

/** How much a response shows: BASIC leaves out custom field sets, assets and guarantors. */
export const detailsLevels = ['BASIC', 'FULL'] as const;
export type DetailsLevel = (typeof detailsLevels)[number];

/**
 * The body of GET /loans/{id}, and each item of a search. Its names do not follow the toggles.
 * @param reached As in {@link accountOf}.
 */
export function writeAccount(
  loan: Loan,
  detailsLevel: DetailsLevel = 'FULL',
  reached: LocalDate | null = null,
): string {
  const account = accountView(loan, reached) satisfies Written<Schemas['LoanAccount']>;
  return write(loan, detailsLevel === 'FULL' ? account : withoutDetails(account));
}

/** What {@link writeAccount} writes, for searches to compare. */
export function accountView(loan: Loan, reached: LocalDate | null = null): AccountView {
  return accountOf(atBusinessDate(loan), reached);
}

/**
 * The body of GET /loans/{id}/schedule; the reasons as refusals where a preview of it cannot be made.
 * @param calendar The days on which the institution is closed; only a preview depends on them.
 */
export function writeSchedule(loan: Loan, toggles: Toggles, calendar: WorkingCalendar): string | readonly Refusal[] {
  const refusals = previewRefusals(loan, calendar);
  if (refusals.length > 0) return refusals;
  return write(loan, scheduleOf(atBusinessDate(loan), toggles, calendar) satisfies Written<Schemas['LoanSchedule']>);
}

/** The body of GET /loans/{id}/balances. */
export function writeBalances(loan: Loan, toggles: Toggles): string {
  return write(loan, balancesOf(atBusinessDate(loan), toggles) satisfies Partial<Written<Schemas['LoanBalances']>>);
}

/** The body of GET /loans/{id}/transactions: these transactions of the loan, in their order. */
export function writeTransactions(
  loan: Loan,
  transactionTexts: readonly string[],
  detailsLevel: DetailsLevel = 'FULL',
): string {
  const views = transactionTexts.map((text) => transactionView(loan, decodeTransaction(text)));
  const shown = views satisfies readonly WrittenTransaction[];
  return write(loan, detailsLevel === 'FULL' ? shown : shown.map(withoutDetails));
}

/** The body of POST /loans/{id}:previewPayOffAmounts; the refusals where the loan cannot be paid off on that day. */
export function writePayOffAmounts(loan: Loan, valueDate: LocalDate): string | readonly Refusal[] {
  const figures = payOffFigures(loan, valueDate);
  if ('errorReason' in figures) return [figures];
  return write(loan, payOffAmountsOf(figures) satisfies Written<Schemas['PayOffAmounts']>);
}

/**
 * The body of a lock or of its end: every transaction of the command.
 * @param lastText The last of them.
 * @param textOf Finds a transaction of the loan by its id.
 */
export function writeLockTransactions(
  loan: Loan,
  lastText: string,
  textOf: (id: string) => string | undefined,
): string {
  const last = decodeTransaction(lastText);
  const transactions = [last];
  let number = parseTransactionId(last.id)?.number ?? 0;
  for (;;) {
    const text = textOf(transactionId(loan.id, (number -= 1)));
    const before = text === undefined ? undefined : decodeTransaction(text);
    if (before?.commandId !== last.commandId) break;
    transactions.unshift(before);
  }
  const loanTransactions = transactions.map((transaction) => transactionView(loan, transaction));
  return write(loan, { loanTransactions } satisfies Written<Schemas['LockTransactions']>);
}

/** One transaction of a loan. */
export function writeTransaction(loan: Loan, transactionText: string, detailsLevel: DetailsLevel = 'FULL'): string {
  const view = transactionView(loan, decodeTransaction(transactionText)) satisfies WrittenTransaction;
  return write(loan, detailsLevel === 'FULL' ? view : withoutDetails(view));
}

/** Some installments of a loan that was disbursed, each as its schedule has it. @param numbers From 1. */
export function writeInstallments(loan: Loan, numbers: readonly number[], toggles: Toggles): string[] {
  const { installments } = scheduleView(loan, toggles);
  return numbers.flatMap((number) => {
    const installment = installments[number - 1];
    return installment === undefined ? [] : [write(loan, installment)];
  });
}

/** What {@link writeSchedule} writes of a loan that was disbursed, for searches to compare. */
export function scheduleView(loan: Loan, toggles: Toggles): ScheduleView {
  return scheduleOf(atBusinessDate(loan), toggles);
}

/** The body of GET /loanproducts/{id}. */
export function writeProduct({ product, version, createdAt, modifiedAt }: ProductVersion): string {
  const dates = { creationDate: toInstant(createdAt), lastModifiedDate: toInstant(modifiedAt) };
  const view = { ...productView(product), version, ...dates } satisfies Written<Schemas['LoanProduct']>;
  return writeView(view, product.currency.digits);
}

function write(loan: Loan, view: object): string {
  return writeView(view, loan.product.currency.digits);
}
