import type { Loan } from '../loan.ts';
import {
  type Installment,
  type Portion,
  type TaxedPortion,
  dueOf,
  findInstallment,
  isWhollyUnpaid,
  rowDue,
  rowExpected,
} from '../installments.ts';
import { installmentEncodedKey } from '../identifiers.ts';
import { Decimal } from '../money.ts';
import { alwaysOpen } from '../schedule/calendar.ts';
import type { WorkingCalendar } from '../organization.ts';
import { penaltyTax } from '../penalty-taxes.ts';
import { previewInstallments } from '../schedule/preview.ts';
import { type Toggles, areSameToggles } from '../toggle-names.ts';
import { startOfDay, startOfDayOrNull } from '../instants.ts';
import { shown } from './shown-fields.ts';

export type InstallmentState = 'PENDING' | 'LATE' | 'PARTIALLY_PAID' | 'PAID' | 'GRACE';

export interface AmountView {
  readonly expected: Decimal;
  readonly paid: Decimal;
  readonly due: Decimal;
}

export interface TaxedAmountView {
  /** Contains the tax. */
  readonly amount: AmountView;
  readonly tax: AmountView;
}

/** An installment as GET /loans/{id}/schedule and schedule events show it. In every group expected = paid + due. */
export interface InstallmentView {
  readonly encodedKey: string;
  readonly parentAccountKey: string;
  readonly number: string;
  readonly dueDate: string;
  readonly state: InstallmentState;
  readonly isPaymentHoliday: boolean;
  readonly lastPaidDate?: string;
  readonly repaidDate?: string;
  readonly lastPenaltyAppliedDate?: string;
  readonly principal: { readonly amount: AmountView };
  readonly interest: TaxedAmountView;
  readonly fee: { readonly amount: AmountView & { readonly expectedUnapplied: Decimal }; readonly tax: AmountView };
  readonly penalty: TaxedAmountView;
  /** Only under the toggle PRINCIPAL_OVERPAYMENT. */
  readonly nonScheduledPrincipalBalanceOverpayment?: Decimal;
}

/** The body of GET /loans/{id}/schedule. */
export interface ScheduleView {
  readonly currency: { readonly code: string; readonly currencyCode: string };
  readonly installments: readonly InstallmentView[];
}

/**
 * The schedule as the API shows it. Before the disbursement it is a preview: the schedule the loan would have if it
 * were disbursed on its expected date or, without one, on the day the account was opened.
 * @param calendar The days on which the institution is closed; only a preview depends on them.
 */
export function scheduleOf(loan: Loan, toggles: Toggles, calendar: WorkingCalendar = alwaysOpen): ScheduleView {
  const { code } = loan.product.currency;
  const isDisbursed = loan.position.disbursements.length > 0;
  const rows = isDisbursed ? loan.position.installments : previewInstallments(loan, calendar);
  return {
    currency: { code, currencyCode: code },
    installments: rows.map((row) => installmentView(loan, row, toggles)),
  };
}

/**
 * The installments that look different from when they were last published, under the toggles of that time.
 * @param toggles the current ones
 */
export function changedInstallments(before: Loan, after: Loan, toggles: Toggles): InstallmentView[] {
  const publishedUnder = before.publishedUnder ?? toggles;
  const isSwitched = !areSameToggles(publishedUnder, toggles);
  const isSameDay =
    before.position.asOf === after.position.asOf && before.position.accountState === after.position.accountState;
  return after.position.installments.flatMap((row) => {
    const old = findInstallment(before.position.installments, row.key);
    const isUntouched = !isSwitched && old === row;
    // An untouched row can still have become late, or be settled because the loan is closed.
    if (isUntouched && (isSameDay || installmentState(before, row) === installmentState(after, row))) return [];
    const view = installmentView(after, row, toggles);
    const isUnchanged =
      old !== undefined && !hasOtherAmounts(old, row) && isSame(installmentView(before, old, publishedUnder), view);
    return isUnchanged ? [] : [view];
  });
}

/** Whether any amount differs that views show as stored. If so, the views need not be compared. */
function hasOtherAmounts(one: Installment, other: Installment): boolean {
  const differ = (left: Portion, right: Portion): boolean =>
    left !== right && !(left.expected.equals(right.expected) && left.paid.equals(right.paid));
  return (
    differ(one.fee.amount, other.fee.amount) ||
    differ(one.penalty.amount, other.penalty.amount) ||
    differ(one.interest.amount, other.interest.amount) ||
    differ(one.principal, other.principal)
  );
}

/** Whether two views show the same content; amounts are compared as numbers. */
function isSame(one: unknown, other: unknown): boolean {
  if (one instanceof Decimal && other instanceof Decimal) return one.equals(other);
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other;
  const [left, right] = [one as Record<string, unknown>, other as Record<string, unknown>];
  const names = Object.keys(left);
  return names.length === Object.keys(right).length && names.every((name) => isSame(left[name], right[name]));
}

function installmentView(loan: Loan, row: Installment, toggles: Toggles): InstallmentView {
  const fee = taxed(row.fee);
  return shown({
    encodedKey: installmentEncodedKey(loan, row.key),
    parentAccountKey: loan.encodedKey,
    number: String(row.number),
    dueDate: startOfDay(row.dueDate),
    state: installmentState(loan, row),
    isPaymentHoliday: false,
    lastPaidDate: startOfDayOrNull(row.lastPaidDate),
    repaidDate: startOfDayOrNull(row.repaidDate),
    lastPenaltyAppliedDate: startOfDayOrNull(row.lastPenaltyAppliedDate),
    principal: { amount: amountView(row.principal) },
    interest: taxed(row.interest),
    fee: { amount: { ...fee.amount, expectedUnapplied: fee.amount.due }, tax: fee.tax },
    penalty: { amount: amountView(row.penalty.amount), tax: amountView(penaltyTax(loan, row, toggles)) },
    ...(toggles.PRINCIPAL_OVERPAYMENT ? { nonScheduledPrincipalBalanceOverpayment: row.principalOverpaid } : {}),
  });
}

function amountView(portion: Portion): AmountView {
  return { expected: portion.expected, paid: portion.paid, due: dueOf(portion) };
}

function taxed(portion: TaxedPortion): TaxedAmountView {
  return { amount: amountView(portion.amount), tax: amountView(portion.tax) };
}

/**
 * The state of a row on the loan's `asOf` day. It follows from the account's history alone, without a clock. A row that
 * asks for nothing is PAID from its due date on, or once the loan is closed. One of which only interest is left is PAID
 * up to its due date, where the product says so.
 */
function installmentState(loan: Loan, row: Installment): InstallmentState {
  const { asOf, accountState } = loan.position;
  const nothingExpected = rowExpected(row).isZero();
  if (isWithinGrace(loan, row) && nothingExpected) return 'GRACE';
  const due = rowDue(row);
  if (due.isZero()) {
    const isStillToCome = accountState !== 'CLOSED' && (asOf === null || row.dueDate > asOf);
    return nothingExpected && isStillToCome ? 'PENDING' : 'PAID';
  }
  if (asOf !== null && row.dueDate < asOf) return 'LATE';
  if (isPaidByPrincipal(loan, row)) return 'PAID';
  return !isWhollyUnpaid(row) && due.lessThan(rowExpected(row)) ? 'PARTIALLY_PAID' : 'PENDING';
}

/** Whether only interest is left to pay of a row whose product then counts it as paid until its due date. */
function isPaidByPrincipal({ product }: Loan, { principal, fee, penalty }: Installment): boolean {
  return (
    product.paymentSettings.prepaymentSettings.principalPaidInstallmentStatus === 'PAID' &&
    !principal.paid.isZero() &&
    [principal, fee.amount, penalty.amount].every((portion) => dueOf(portion).isZero())
  );
}

function isWithinGrace({ terms }: Loan, row: Installment): boolean {
  return terms.gracePeriodType !== 'NONE' && row.number <= terms.gracePeriod;
}
