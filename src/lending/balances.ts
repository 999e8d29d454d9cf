import { payableInterest } from './accrual.ts';
import type { Loan, LoanPosition } from './loan.ts';
import { isNotYetDue, isPaidAsFee } from './fees/charges.ts';
import { dueOf } from './installments.ts';
import { type Decimal, add, sum, zero } from './money.ts';
import { behaviourOf } from './products/product-behaviour.ts';

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
  /**
   * How far payments are ahead of the schedule: what was paid of installments due after `asOf`. Principal overpayments
   * are not ahead of anything, as they pay no installment.
   */
  readonly advance: Decimal;
  /** How far payments are behind the schedule: what installments due before `asOf` still owe. */
  readonly arrears: Decimal;
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
    advance: rows.advance,
    arrears: rows.arrears,
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
    advance: zero,
    arrears: zero,
  };
  const { asOf } = position;
  for (const row of position.installments) {
    const { dueDate, principal, interest, fee, penalty } = row;
    if (asOf !== null && dueDate <= asOf) {
      sums.principalDue = add(sums.principalDue, dueOf(principal));
      sums.interestDue = add(sums.interestDue, dueOf(interest.amount));
    }
    if (asOf !== null && dueDate !== asOf) {
      for (const portion of [principal, interest.amount, fee.amount, penalty.amount]) {
        if (dueDate > asOf) sums.advance = add(sums.advance, portion.paid);
        else sums.arrears = add(sums.arrears, dueOf(portion));
      }
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
