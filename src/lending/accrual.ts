import { grossInterest, grossInterestOfLast } from './balances.ts';
import { periodInterest } from './schedule/interest.ts';
import { type Installment, type Loan, type LoanPosition, dueOf } from './loan.ts';
import { type Decimal, sum, zero } from './money.ts';
import { behaviourOf } from './product-behaviour.ts';
import { type LocalDate, termsInForce } from './terms.ts';

/** Accrued interest keeps this many digits after the point. */
const accrualDecimalPlaces = 20;

/**
 * Moves a position forward to a day. Scheduled interest stays as it is. Accrued interest is earned on the principal
 * that was actually outstanding since the last movement of principal. The rows expect what they have earned so
 * far, plus what they will earn if everything is paid on its due date from now on.
 * @param date not before the position's `asOf`: principal has not changed in between
 */
export function accrueTo(loan: Loan, position: LoanPosition, date: LocalDate): LoanPosition {
  if (behaviourOf(loan.product).interest === 'SCHEDULED') return { ...position, asOf: date };
  const terms = termsInForce(loan, position);
  const since = position.asOf ?? date;
  const outstanding = principalDueOf(position.installments);
  let overdue = zero;
  const installments = position.installments.map((row) => {
    const from = row.accruesAfter > since ? row.accruesAfter : since;
    const to = row.dueDate < date ? row.dueDate : date;
    const base = outstanding.minus(overdueThatRests(loan, overdue));
    overdue = overdue.plus(dueOf(row.principal));
    if (from >= to) return row;
    const earned = periodInterest(base, terms, row, from, to);
    const interestAccrued = row.interestAccrued.plus(earned).toDecimalPlaces(accrualDecimalPlaces);
    return { ...row, interestAccrued };
  });
  return expectInterest(loan, { ...position, installments, asOf: date });
}

/** Sets the accrued interest that rows expect, from the principal that is outstanding now. */
export function expectInterest(loan: Loan, position: LoanPosition): LoanPosition {
  if (behaviourOf(loan.product).interest === 'SCHEDULED') return position;
  const { asOf } = position;
  const terms = termsInForce(loan, position);
  let outstanding = principalDueOf(position.installments);
  let overdue = zero;
  const interests = position.installments.map((row) => {
    const base = outstanding;
    outstanding = outstanding.minus(dueOf(row.principal));
    if (asOf !== null && row.dueDate <= asOf) {
      overdue = overdue.plus(dueOf(row.principal));
      return row.interestAccrued;
    }
    // The running row still earns on overdue principal. From its due date on, no principal is assumed overdue.
    const isRunning = asOf !== null && row.accruesAfter <= asOf;
    const late = isRunning ? overdue.minus(overdueThatRests(loan, overdue)) : zero;
    const from = isRunning ? asOf : row.accruesAfter;
    return row.interestAccrued.plus(periodInterest(base.plus(late), terms, row, from, row.dueDate));
  });
  const installments = position.installments.map((row, index) =>
    withInterest(
      row,
      row.number === loan.terms.repaymentInstallments
        ? grossInterestOfLast(loan, interests)
        : grossInterest(loan, interests[index] ?? zero),
    ),
  );
  return { ...position, installments };
}

/** The part of overdue principal that earns nothing: all of it when the product accrues no late interest. */
function overdueThatRests({ product }: Loan, overdue: Decimal): Decimal {
  return product.interestSettings.accrueLateInterest ? zero : overdue;
}

function withInterest(row: Installment, { amount, tax }: ReturnType<typeof grossInterest>): Installment {
  if (amount.equals(row.interest.amount.expected) && tax.equals(row.interest.tax.expected)) return row;
  return {
    ...row,
    interest: {
      amount: { expected: amount, paid: row.interest.amount.paid },
      tax: { expected: tax, paid: row.interest.tax.paid },
    },
  };
}

function principalDueOf(rows: readonly Installment[]): Decimal {
  return sum(rows.map(({ principal }) => dueOf(principal)));
}
