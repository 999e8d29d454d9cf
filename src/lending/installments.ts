import { type Currency, type Decimal, type RoundingMode, add, larger, roundAmount, zero } from './money.ts';
import type { LocalDate, UnmovedPeriod } from './terms.ts';

/** What is expected of one element and how much of it has been paid. The difference is due. */
export interface Portion {
  readonly expected: Decimal;
  readonly paid: Decimal;
}

/** An element that may carry tax. `tax` is part of `amount`. */
export interface TaxedPortion {
  readonly amount: Portion;
  readonly tax: Portion;
}

export interface Installment {
  /**
   * Identifies the row in its account, from 1, and its encodedKey is made of it. It stays when rows before this one are
   * inserted or removed. Only a row that takes the place of one that an adjustment removed has the same key.
   */
  readonly key: number;
  /** The place of the row in the schedule, from 1. */
  readonly number: number;
  /** Interest of this installment accrues from the day after this one. */
  readonly accruesAfter: LocalDate;
  readonly dueDate: LocalDate;
  /** Its days before it, or the row before it, was moved to a working day; null when neither was. */
  readonly unmoved: UnmovedPeriod | null;
  readonly principal: Portion;
  readonly interest: TaxedPortion;
  readonly fee: TaxedPortion;
  readonly penalty: TaxedPortion;
  /** Dynamic loans: interest of this row earned up to the position's `asOf`, without tax and unrounded. */
  readonly interestAccrued: Decimal;
  /** Interest of this row that was applied so far, tax included. Applying it again adds only what came since. */
  readonly interestApplied: Decimal;
  /** Interest that this row no longer asks for, tax included. What it earns is more by this. */
  readonly interestReduced: Decimal;
  /** Principal overpaid in this installment's period, outside every installment. */
  readonly principalOverpaid: Decimal;
  readonly lastPaidDate: LocalDate | null;
  readonly repaidDate: LocalDate | null;
  readonly lastPenaltyAppliedDate: LocalDate | null;
  /** The day up to which the penalties of late days were calculated and applied; null before the first. */
  readonly penaltyCalculatedTo: LocalDate | null;
  /** The day on which its fees for being late were charged, or given up because fees were locked; null before. */
  readonly lateFeesDecidedOn: LocalDate | null;
}

/** What a row is made with. Nothing of it is paid yet, and nothing but principal and interest is asked for. */
export type NewInstallment = Pick<
  Installment,
  'key' | 'number' | 'accruesAfter' | 'dueDate' | 'principal' | 'interest'
> & { readonly unmoved?: UnmovedPeriod | null };

/**
 * A row as it is made. It names each field: rows made with a spread are larger, and sums over them take twice as long.
 */
export function newInstallment({
  key,
  number,
  accruesAfter,
  dueDate,
  unmoved = null,
  principal,
  interest,
}: NewInstallment): Installment {
  return {
    key,
    number,
    accruesAfter,
    dueDate,
    unmoved,
    principal,
    interest,
    fee: nothingTaxed,
    penalty: nothingTaxed,
    interestAccrued: zero,
    interestApplied: zero,
    interestReduced: zero,
    principalOverpaid: zero,
    lastPaidDate: null,
    repaidDate: null,
    lastPenaltyAppliedDate: null,
    penaltyCalculatedTo: null,
    lateFeesDecidedOn: null,
  };
}

/** A portion of which nothing is paid yet. */
export function unpaid(expected: Decimal): Portion {
  return { expected, paid: zero };
}

/** A portion that asks for nothing. */
export const nothing: Portion = unpaid(zero);
/** An element that asks for nothing. */
export const nothingTaxed: TaxedPortion = { amount: nothing, tax: nothing };

/** The unpaid part of an element. */
export function dueOf(portion: Portion): Decimal {
  // Most rows are unpaid and every balance reads all of them, so it pays to skip subtracting zero.
  return portion.paid.isZero() ? portion.expected : portion.expected.minus(portion.paid);
}

/** The element asking for that much less, and for the same share of tax in it. What was paid stays paid. */
export function lowered(
  portion: TaxedPortion,
  reduction: Decimal,
  currency: Currency,
  mode: RoundingMode,
): TaxedPortion {
  if (reduction.isZero()) return portion;
  const { amount, tax } = portion;
  const expected = amount.expected.minus(reduction);
  const share = roundAmount(tax.expected.times(expected).dividedBy(amount.expected), currency, mode);
  const taxExpected = expected.equals(amount.paid) ? tax.paid : larger(tax.paid, share);
  return { amount: { expected, paid: amount.paid }, tax: { expected: taxExpected, paid: tax.paid } };
}

/** Whether nothing of a row has been paid. It then owes all that it asks for, so no sum is needed. */
export function isWhollyUnpaid({ principal, interest, fee, penalty }: Installment): boolean {
  return (
    principal.paid.isZero() && interest.amount.paid.isZero() && fee.amount.paid.isZero() && penalty.amount.paid.isZero()
  );
}

/** The total that a row still owes. */
export function rowDue(row: Installment): Decimal {
  const { principal, interest, fee, penalty } = row;
  return add(add(add(dueOf(principal), dueOf(interest.amount)), dueOf(fee.amount)), dueOf(penalty.amount));
}

/** The total that a row asks for, paid or not. */
export function rowExpected(row: Installment): Decimal {
  const { principal, interest, fee, penalty } = row;
  return add(add(add(principal.expected, interest.amount.expected), fee.amount.expected), penalty.amount.expected);
}

/** Whether a row asked for something and all of it has been paid. */
export function isPaid(row: Installment): boolean {
  return rowDue(row).isZero() && !rowExpected(row).isZero();
}

/** The index of the row with this key, from 0; -1 when there is none. */
export function indexOfInstallment(rows: readonly Installment[], key: number): number {
  // Until rows are inserted or removed, a row lies where its key says.
  return rows[key - 1]?.key === key ? key - 1 : rows.findIndex((row) => row.key === key);
}

/** The row with this key; undefined when there is none. */
export function findInstallment(rows: readonly Installment[], key: number): Installment | undefined {
  return rows[indexOfInstallment(rows, key)];
}

/** The row at an index, counted from 0. @throws Error when there is no such row: a bug */
export function rowAt(rows: readonly Installment[], index: number): Installment {
  const row = rows[index];
  if (row === undefined) throw new Error(`no installment ${index + 1}`);
  return row;
}

/** The first unpaid row due on the day or later; else the last unpaid row; the last row when all are paid. */
export function nextDueRow(rows: readonly Installment[], day: LocalDate): Installment {
  const unpaidRows = rows.filter((row) => !isPaid(row));
  return unpaidRows.find(({ dueDate }) => dueDate >= day) ?? unpaidRows.at(-1) ?? rowAt(rows, rows.length - 1);
}

/**
 * The index of the row whose period contains the value date, its due date included. Rows up to it are paid in full
 * before anything counts as paid ahead. After the last due date, the last row.
 */
export function currentRowIndex({
  rows,
  valueDate,
}: {
  readonly rows: readonly Installment[];
  readonly valueDate: LocalDate;
}): number {
  const index = rows.findIndex(({ dueDate }) => dueDate >= valueDate);
  return index === -1 ? rows.length - 1 : index;
}
