import { accrueTo, earnedGross, isEarning } from '../accrual.ts';
import type { ApplyInterest } from '../commands.ts';
import { type Decision, type DecisionContext, type TransactionCommand, post, refuse } from './decision.ts';
import type { TransactionPosted } from './facts.ts';
import { refusalOfDays } from './transaction-days.ts';
import { noAmounts } from '../ledger.ts';
import { type Loan, type LoanPosition, isActive } from '../loan.ts';
import type { Installment } from '../installments.ts';
import { dayOfCommand } from '../instants.ts';
import { type Decimal, larger, sum, zero } from '../money.ts';
import { taxWithin } from '../taxes.ts';
import type { LocalDate } from '../terms.ts';

/**
 * Applies interest: what the rows have earned up to the value date (dynamic loans), or what rows due by then ask for
 * (fixed loans), less what was applied of them before. The position moves forward to the date. Rows keep what they
 * expect and owe: a transaction now says how much of it has been charged.
 *
 * Refused, with the first of these that applies: INVALID_ACCOUNT_STATE;
 * INTEREST_CANNOT_BE_APPLIED (locked); INVALID_DATE (in the future too);
 * ENTRY_DATE_BEFORE_OTHER_TRANSACTION (before the disbursement);
 * ACCOUNT_HAS_NO_ACCRUED_INTEREST (nothing to apply).
 */
export function decideInterestApplication(loan: Loan, command: ApplyInterest, context: DecisionContext): Decision {
  const { position } = loan;
  if (!isActive(position) || position.asOf === null) return refuse('INVALID_ACCOUNT_STATE');
  if (position.lockedOperations.includes('APPLY_INTEREST')) return refuse('INTEREST_CANNOT_BE_APPLIED');
  const fault = refusalOfDays(command);
  if (fault !== null) return refuse(fault.errorReason, nameOfDay(fault.errorSource));
  const valueDate = command.valueDate ?? dayOfCommand(command);
  if (valueDate < position.asOf) return refuse('ENTRY_DATE_BEFORE_OTHER_TRANSACTION', nameOfDay('valueDate'));

  return interestApplied(loan, command, context, valueDate) ?? refuse('ACCOUNT_HAS_NO_ACCRUED_INTEREST');
}

/** The decision that applies the interest of a loan up to a day; null when there is none to apply or it is locked. */
export function interestApplied(
  loan: Loan,
  command: TransactionCommand,
  context: DecisionContext,
  valueDate: LocalDate,
): { readonly fact: TransactionPosted } | null {
  if (loan.position.lockedOperations.includes('APPLY_INTEREST')) return null;
  const applied = withInterestApplied(loan, accrueTo(loan, loan.position, valueDate));
  if (applied.amount.isZero()) return null;
  return post(loan, command, context, 'INTEREST_APPLIED', applied.position, {
    amount: applied.amount,
    valueDate,
    affected: { ...noAmounts, interest: applied.amount },
    taxes: { ...noAmounts, interest: applied.tax },
  });
}

/** Requests name the value date of this command otherwise. */
function nameOfDay(errorSource: string | null): string | null {
  return errorSource === 'valueDate' ? 'interestApplicationDate' : errorSource;
}

/** The position once all its interest is applied; `amount` is what was not applied before, `tax` the tax in it. */
function withInterestApplied(
  loan: Loan,
  position: LoanPosition,
): { readonly position: LoanPosition; readonly amount: Decimal; readonly tax: Decimal } {
  const added: Decimal[] = [];
  const taxes: Decimal[] = [];
  const installments = position.installments.map((row) => {
    const applicable = applicableInterest(loan, position, row);
    const amount = larger(zero, applicable.minus(row.interestApplied));
    if (amount.isZero()) return row;
    added.push(amount);
    taxes.push(interestTaxWithin(loan, applicable).minus(interestTaxWithin(loan, row.interestApplied)));
    return { ...row, interestApplied: applicable };
  });
  return { position: { ...position, installments }, amount: sum(added), tax: sum(taxes) };
}

/** The interest of a row that can be applied as of the position's day, whether or not it was applied before. */
function applicableInterest(loan: Loan, position: LoanPosition, row: Installment): Decimal {
  if (isEarning(loan, position, row)) return earnedGross(loan, position, row).amount;
  const isDue = position.asOf !== null && row.dueDate <= position.asOf;
  return isDue ? row.interest.amount.expected : zero;
}

/** The tax in interest that is owed; the same for an amount that was applied at once or in parts. */
function interestTaxWithin({ product, terms }: Loan, owed: Decimal): Decimal {
  const { taxSettings } = product;
  if (!taxSettings.taxesOnInterestEnabled) return zero;
  return taxWithin(owed, taxSettings, terms.currency, terms.rounding.roundingMode);
}
