import { type FeeCharge, type Installment, type Loan, type LoanPosition, dueOf, findInstallment } from './loan.ts';
import { type Decimal, add, larger, roundAmount, sum, zero } from './money.ts';
import { behaviourOf } from './product-behaviour.ts';
import { roundScheduleAmount, roundsInterestIntoLastRow } from './schedule/rounding.ts';
import { taxedAmount } from './taxes.ts';
import type { Toggles } from './toggle-names.ts';

/** Decimals of accrued interest that count when it is rounded: fewer than it is stored with. */
const workingDecimalPlaces = 15;

const commonNames = [
  'principalDue',
  'principalPaid',
  'principalBalance',
  'interestDue',
  'interestPaid',
  'interestBalance',
  'penaltyDue',
  'penaltyPaid',
  'penaltyBalance',
] as const;
const feeNames = ['feesDue', 'feesPaid', 'feesBalance'] as const;
const scheduledFeeNames = [
  'scheduledFeesDue',
  'scheduledFeesPaid',
  'scheduledFeesBalance',
  'nonScheduledFeeBalance',
  'nonScheduledFeePaidBalance',
] as const;

export type BalanceName = (typeof commonNames)[number] | (typeof feeNames)[number] | (typeof scheduledFeeNames)[number];

/** Balances by name. ALLOW_NON_SCHEDULED_FEES and the loan's own fees decide which fee names are present. */
export type Balances = Partial<Readonly<Record<BalanceName, Decimal>>>;

/** Every balance name a loan may have, under any toggles. */
export const balanceNames: readonly BalanceName[] = [...commonNames, ...feeNames, ...scheduledFeeNames];

/** What a loan owes and has paid, independent of any toggle. Amounts are gross: they contain their tax. */
export interface Figures {
  readonly principal: ElementFigures;
  readonly interest: ElementFigures;
  /** Fees that joined an installment or were deducted from the disbursement; fees only planned do not count. */
  readonly fees: ElementFigures;
  readonly penalty: ElementFigures;
  readonly nonScheduledFees: { readonly balance: Decimal; readonly paid: Decimal };
  /** Everything owed except non-scheduled fees: the most that an ordinary repayment may be. */
  readonly total: Decimal;
}

export interface ElementFigures {
  /** Owed and due: of installments that have fallen due; for fees and penalties, also everything applied by hand. */
  readonly due: Decimal;
  readonly paid: Decimal;
  readonly balance: Decimal;
}

/**
 * The figures of a loan as of its position's `asOf`. A fixed loan's interest balance is all its unpaid scheduled
 * interest. A dynamic loan's interest balance is what it has earned up to `asOf`, so paying the total on that day
 * closes it.
 */
export function figuresOf(loan: Loan, position: LoanPosition = loan.position): Figures {
  const cached = figuresCache.get(position);
  if (cached !== undefined && cached.product === loan.product && cached.terms === loan.terms) return cached.figures;
  const figures = sumsOf(loan, position);
  figuresCache.set(position, { product: loan.product, terms: loan.terms, figures });
  return figures;
}

/**
 * Figures by position; positions never change in place. One command reads the figures of the position it leads to
 * several times, and the next command starts from that same position.
 */
const figuresCache = new WeakMap<LoanPosition, Pick<Loan, 'product' | 'terms'> & { readonly figures: Figures }>();

function sumsOf(loan: Loan, position: LoanPosition): Figures {
  const rows = rowSums(loan, position);
  const charges = chargeSums(position);
  const { dueDateFees } = behaviourOf(loan.product);
  const feesDue = rows.feesBalance.minus(charges.notYetDue);
  const feesBalance = dueDateFees === 'FROM_DUE_DATE' ? feesDue : rows.feesBalance;
  return {
    principal: { due: rows.principalDue, paid: rows.principalPaid, balance: rows.principalBalance },
    interest: { due: rows.interestDue, paid: rows.interestPaid, balance: rows.interestBalance },
    fees: { due: feesDue, paid: charges.paid, balance: feesBalance },
    penalty: { due: rows.penaltyBalance, paid: rows.penaltyPaid, balance: rows.penaltyBalance },
    nonScheduledFees: { balance: charges.nonScheduledBalance, paid: charges.nonScheduledPaid },
    total: sum([rows.principalBalance, rows.interestBalance, feesBalance, rows.penaltyBalance]),
  };
}

/** One pass over the rows, because every command that posts a transaction needs all of these sums. */
function rowSums(loan: Loan, position: LoanPosition) {
  const sums = {
    principalDue: zero,
    principalPaid: zero,
    principalBalance: zero,
    interestDue: zero,
    interestPaid: zero,
    interestBalance: zero,
    feesBalance: zero,
    penaltyPaid: zero,
    penaltyBalance: zero,
  };
  for (const row of position.installments) {
    const { principal, interest, fee, penalty } = row;
    if (position.asOf !== null && row.dueDate <= position.asOf) {
      sums.principalDue = add(sums.principalDue, dueOf(principal));
      sums.interestDue = add(sums.interestDue, dueOf(interest.amount));
    }
    sums.principalPaid = add(add(sums.principalPaid, principal.paid), row.principalOverpaid);
    sums.principalBalance = add(sums.principalBalance, dueOf(principal));
    sums.interestPaid = add(sums.interestPaid, interest.amount.paid);
    sums.interestBalance = add(sums.interestBalance, payableInterest(loan, position, row));
    sums.feesBalance = add(sums.feesBalance, dueOf(fee.amount));
    sums.penaltyPaid = add(sums.penaltyPaid, penalty.amount.paid);
    sums.penaltyBalance = add(sums.penaltyBalance, dueOf(penalty.amount));
  }
  return sums;
}

function chargeSums(position: LoanPosition) {
  const { paid, nonScheduledPaid } = position.settledFees;
  const sums = { notYetDue: zero, paid, nonScheduledBalance: zero, nonScheduledPaid };
  for (const charge of position.charges) {
    const { amount } = charge;
    if (isNotYetDue(charge, position)) sums.notYetDue = add(sums.notYetDue, dueOf(amount));
    if (isPaidAsFee(charge)) sums.paid = add(sums.paid, amount.paid);
    if (charge.allocation !== 'NO_ALLOCATION') continue;
    sums.nonScheduledBalance = add(sums.nonScheduledBalance, dueOf(amount));
    sums.nonScheduledPaid = add(sums.nonScheduledPaid, amount.paid);
  }
  return sums;
}

/** Fees paid in the ordinary way or deducted at disbursement. A capitalised fee is paid as principal. */
export function isPaidAsFee({ allocation, trigger }: FeeCharge): boolean {
  return allocation === 'INSTALLMENT' && trigger !== 'CAPITALIZED_DISBURSEMENT';
}

/**
 * Whether a fee is only planned: a fee for a due date that is applied on that date and owed from then on. Where rows,
 * fees included, are owed as agreed at the disbursement, no fee is planned.
 */
export function isPlanned(loan: Loan, position: LoanPosition, charge: FeeCharge): boolean {
  return behaviourOf(loan.product).dueDateFees === 'FROM_DUE_DATE' && isNotYetDue(charge, position);
}

/** A fee planned for a due date is due on that date. Every other fee is due when it is applied. */
function isNotYetDue(charge: FeeCharge, { installments, asOf }: LoanPosition): boolean {
  if (charge.trigger !== 'PAYMENT_DUE' || charge.installmentKey === null) return false;
  const row = findInstallment(installments, charge.installmentKey);
  return row !== undefined && (asOf === null || row.dueDate > asOf);
}

/**
 * The interest of a row that can be paid as of the position's day. Scheduled: all that is unpaid. Accrued: what the row
 * has earned so far, which on its due date is all of it.
 */
export function payableInterest(loan: Loan, position: LoanPosition, row: Installment): Decimal {
  return isEarning(loan, position, row)
    ? larger(zero, earnedGross(loan, position, row).amount.minus(row.interest.amount.paid))
    : dueOf(row.interest.amount);
}

/** Whether a row owes only what it has earned so far: its interest accrues, and it is not due yet. */
export function isEarning({ product }: Loan, { asOf }: LoanPosition, row: Installment): boolean {
  return behaviourOf(product).interest === 'ACCRUED' && (asOf === null || row.dueDate > asOf);
}

/** The accrued interest that a row has earned so far, rounded, and the tax in it. */
export function earnedGross(loan: Loan, { installments }: LoanPosition, row: Installment): GrossInterest {
  return row.number === loan.terms.repaymentInstallments
    ? grossInterestOfLast(
        loan,
        installments.map(({ interestAccrued }) => interestAccrued),
      )
    : grossInterest(loan, row.interestAccrued);
}

interface GrossInterest {
  readonly amount: Decimal;
  readonly tax: Decimal;
}

/** Rounds a row's interest as the schedule does, and adds its tax or takes it out. */
export function grossInterest(loan: Loan, interest: Decimal): GrossInterest {
  return withInterestTax(loan, roundScheduleAmount(toWorkingPrecision(interest), 'INTEREST', loan.terms));
}

/**
 * The rounded interest of the schedule's last installment, and the tax in it. It is the row's own interest. Where the
 * terms put the interest remainder there, it is the interest of all rows less what the earlier rows ask for.
 * @param interests of all rows, unrounded, including the last one
 */
export function grossInterestOfLast(loan: Loan, interests: readonly Decimal[]): GrossInterest {
  const { terms } = loan;
  const lastInterest = interests.at(-1) ?? zero;
  // A row that earns nothing, because all principal was repaid earlier, has no remainder to make up for.
  if (lastInterest.isZero() || !roundsInterestIntoLastRow(terms)) return grossInterest(loan, lastInterest);
  const totalInterest = roundAmount(toWorkingPrecision(sum(interests)), terms.currency, terms.rounding.roundingMode);
  const before = interests
    .slice(0, -1)
    .map((interest) => roundScheduleAmount(toWorkingPrecision(interest), 'INTEREST', terms));
  return withInterestTax(loan, larger(totalInterest.minus(sum(before)), zero));
}

/**
 * The parts of a period are each cut at their last digit. Their sum must not turn a tie between two minor units into
 * the lower one.
 */
function toWorkingPrecision(interest: Decimal): Decimal {
  return interest.toDecimalPlaces(workingDecimalPlaces);
}

/** Already rounded interest as it is owed, and the tax in it if the product taxes interest. */
export function withInterestTax(loan: Loan, rounded: Decimal): GrossInterest {
  const { taxSettings } = loan.product;
  if (!taxSettings.taxesOnInterestEnabled) return { amount: rounded, tax: zero };
  const { owed, tax } = taxedAmount(rounded, taxSettings, loan.terms.currency, loan.terms.rounding.roundingMode);
  return { amount: owed, tax };
}

/**
 * The body of GET /loans/{id}/balances. The toggle ALLOW_NON_SCHEDULED_FEES renames the three fee balances and adds
 * those of fees outside the schedule. A loan that has such a fee keeps the added ones when the toggle is switched off:
 * whatever keeps a loan open must be visible.
 */
export function balancesOf(loan: Loan, toggles: Toggles): Balances {
  const figures = figuresOf(loan);
  return {
    principalDue: figures.principal.due,
    principalPaid: figures.principal.paid,
    principalBalance: figures.principal.balance,
    interestDue: figures.interest.due,
    interestPaid: figures.interest.paid,
    interestBalance: figures.interest.balance,
    ...feeBalancesOf(figures, toggles),
    penaltyDue: figures.penalty.due,
    penaltyPaid: figures.penalty.paid,
    penaltyBalance: figures.penalty.balance,
  };
}

/** The fee balances alone, under the names that the toggle requires. */
export function feeBalancesOf(figures: Figures, toggles: Toggles): Balances {
  const { due, paid, balance } = figures.fees;
  const outside = {
    nonScheduledFeeBalance: figures.nonScheduledFees.balance,
    nonScheduledFeePaidBalance: figures.nonScheduledFees.paid,
  };
  if (toggles.ALLOW_NON_SCHEDULED_FEES) {
    return { scheduledFeesDue: due, scheduledFeesPaid: paid, scheduledFeesBalance: balance, ...outside };
  }
  const hasOutside = !outside.nonScheduledFeeBalance.isZero() || !outside.nonScheduledFeePaidBalance.isZero();
  return { feesDue: due, feesPaid: paid, feesBalance: balance, ...(hasOutside ? outside : {}) };
}
