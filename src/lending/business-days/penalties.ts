import { addDays, daysBetween } from '../dates.ts';
import { type Installment, dueOf } from '../installments.ts';
import type { Loan } from '../loan.ts';
import { type Decimal, larger, roundAmount, sum, zero } from '../money.ts';
import type { WorkingCalendar } from '../organization.ts';
import { alwaysOpen } from '../schedule/calendar.ts';
import type { PenaltyCalculationMethod } from '../products/product.ts';
import { defaultOf, termsInForce } from '../agreed-terms.ts';
import { periodInterest } from '../schedule/interest.ts';
import type { LocalDate } from '../terms.ts';
import { lastToleratedDay, lateRows } from './arrears.ts';

const percent = 100;

/** A penalty of a row for its late days. */
export interface DuePenalty {
  readonly installmentNumber: number;
  readonly amount: Decimal;
}

type PenalizedLoan = Pick<Loan, 'product' | 'arrearsTolerancePeriod'>;

/** The first day on which a late row has a penalty: its late days exceed both the tolerated days and the grace. */
export function firstPenaltyDay(
  loan: PenalizedLoan,
  { dueDate }: Installment,
  calendar: WorkingCalendar = alwaysOpen,
): LocalDate | null {
  const { loanPenaltyCalculationMethod = 'NONE', loanPenaltyGracePeriod = 0 } = loan.product.penaltySettings ?? {};
  if (loanPenaltyCalculationMethod === 'NONE') return null;
  const tolerated = lastToleratedDay(dueDate, loan, calendar);
  const grace = addDays(dueDate, loanPenaltyGracePeriod);
  return addDays(tolerated > grace ? tolerated : grace, 1);
}

/** Whether late rows of the account have penalties at all. */
export function hasPenalties({ product, penaltyRate }: Pick<Loan, 'product' | 'penaltyRate'>): boolean {
  const method = product.penaltySettings?.loanPenaltyCalculationMethod ?? 'NONE';
  return method !== 'NONE' && !rateOf({ product, penaltyRate }).isZero();
}

function rateOf({ product, penaltyRate }: Pick<Loan, 'product' | 'penaltyRate'>): Decimal {
  return penaltyRate ?? defaultOf(product.penaltySettings?.penaltyRate ?? {}) ?? zero;
}

/**
 * The penalties that late rows have on a day, without tax: base * rate * late days, rounded to the currency. The first
 * one of a row covers all days since its due date, each later one the days since the one before. Of a penalty on the
 * outstanding principal there is one for the account, on its oldest late row.
 * @param loan The account at the day.
 */
export function duePenalties(loan: Loan, on: LocalDate, calendar: WorkingCalendar = alwaysOpen): DuePenalty[] {
  return penaltiesOn(loan, on, (row) => {
    const first = firstPenaltyDay(loan, row, calendar);
    return first !== null && on >= first;
  });
}

/**
 * The penalties that late rows have accrued and that were not applied yet: from the first late day on, also while they
 * are within the tolerated days or the grace.
 * @param on The day by which they are; that of the position when absent.
 */
export function accruedPenalty(loan: Loan, on: LocalDate | null = loan.position.asOf): Decimal {
  return on === null ? zero : sum(penaltiesOn(loan, on, () => true).map(({ amount }) => amount));
}

/** The penalties of late rows for the days since the last one that was applied. */
function penaltiesOn(loan: Loan, on: LocalDate, isCounted: (row: Installment) => boolean): DuePenalty[] {
  const { product, position } = loan;
  const method = product.penaltySettings?.loanPenaltyCalculationMethod ?? 'NONE';
  if (!hasPenalties(loan) || position.lockedOperations.includes('APPLY_PENALTIES')) return [];
  const rate = rateOf(loan);
  const late = lateRows(position.installments, on);
  return (method === 'OUTSTANDING_PRINCIPAL' ? late.slice(0, 1) : late).flatMap((row) => {
    const since = row.penaltyCalculatedTo ?? row.dueDate;
    if (since >= on || !isCounted(row)) return [];
    const penalty =
      method === 'OUTSTANDING_PRINCIPAL'
        ? shareOfOutstanding(loan, rate, row, since, on)
        : overdue(row, method).times(rate).times(daysBetween(since, on)).dividedBy(percent);
    const amount = roundAmount(penalty, product.currency, loan.terms.rounding.roundingMode);
    return amount.isZero() ? [] : [{ installmentNumber: row.number, amount }];
  });
}

/** What of a late row the penalty is a share of. */
function overdue(row: Installment, method: PenaltyCalculationMethod): Decimal {
  const principal = dueOf(row.principal);
  if (method === 'OVERDUE_BALANCE') return principal;
  const withInterest = principal.plus(dueOf(row.interest.amount));
  return method === 'OVERDUE_BALANCE_AND_INTEREST' ? withInterest : withInterest.plus(dueOf(row.fee.amount));
}

/** The rate counts as that of the interest does: by the year, the month, or what else it is charged for. */
function shareOfOutstanding(loan: Loan, rate: Decimal, row: Installment, since: LocalDate, on: LocalDate): Decimal {
  const terms = termsInForce(loan, { rateSegments: [{ from: null, interestRate: rate }] });
  const outstanding = larger(zero, sum(loan.position.installments.map(({ principal }) => dueOf(principal))));
  const interest = {
    ...terms.interest,
    interestType: 'SIMPLE_INTEREST',
    // Late days lie outside the period of their row.
    scheduleInterestDaysCountMethod: 'ACTUAL_DAYS_COUNT',
  } as const;
  return periodInterest(outstanding, { ...terms, interest }, row, since, on);
}
