import { leftUnderHardCap } from '../business-days/charge-cap.ts';
import type { ApplyPenalty } from '../commands.ts';
import { type Decision, type DecisionContext, post, refuse } from './decision.ts';
import { refusalOfDays } from './transaction-days.ts';
import { addExpected, closeLedger, hasPostableTotals, noAmounts, openLedger } from '../ledger.ts';
import { type Loan, isActive } from '../loan.ts';
import { type Installment, indexOfInstallment, isPaid, nextDueRow } from '../installments.ts';
import { dayOfCommand } from '../instants.ts';
import { type Decimal, isPostable, zero } from '../money.ts';
import { type Refusal, refusal } from '../refusals.ts';
import { taxWithin, taxedAmount } from '../taxes.ts';

/**
 * Adds a penalty to the named installment, or else to the next one due. It is due at once.
 *
 * Refused, with the first of these that applies: INVALID_ACCOUNT_STATE (locked, too); INVALID_AMOUNT; INVALID_DATE
 * (before the disbursement or in the future); INVALID_REPAYMENT_NUMBER; REPAYMENT_WAS_FULLY_PAID; INVALID_AMOUNT (above
 * a hard cap of the charges in arrears; one by the end of a day is cut to what is left).
 */
export function decidePenalty(loan: Loan, command: ApplyPenalty, context: DecisionContext): Decision {
  const { position, product } = loan;
  const [disbursement] = position.disbursements;
  if (!isActive(position) || disbursement === undefined) return refuse('INVALID_ACCOUNT_STATE');
  if (position.lockedOperations.includes('APPLY_PENALTIES')) return refuse('INVALID_ACCOUNT_STATE');
  if (!isPostable(command.amount, product.currency.digits)) {
    return refuse('INVALID_AMOUNT', 'amount');
  }
  const fault = refusalOfDays(command);
  if (fault !== null) return { refusals: [fault] };
  const valueDate = command.valueDate ?? dayOfCommand(command);
  if (valueDate < disbursement.date) return refuse('INVALID_DATE', 'valueDate');
  const row = rowForPenalty(loan, command, valueDate);
  if ('errorReason' in row) return { refusals: [row] };

  const asked = owedPenalty(loan, command.amount);
  const left = leftUnderHardCap(loan, valueDate, context.calendar);
  const isTooMuch = left !== null && asked.owed.greaterThan(left);
  if (isTooMuch && (left.isZero() || command.isSystemPosted !== true)) return refuse('INVALID_AMOUNT', 'amount');
  const { owed, tax } = isTooMuch ? { owed: left, tax: penaltyTaxWithin(loan, left) } : asked;
  const ledger = openLedger(loan, position, valueDate);
  ledger.rows[indexOfInstallment(ledger.rows, row.key)] = {
    ...row,
    penalty: { amount: addExpected(row.penalty.amount, owed), tax: addExpected(row.penalty.tax, tax) },
    lastPenaltyAppliedDate: valueDate,
    penaltyCalculatedTo: command.isSystemPosted === true ? valueDate : row.penaltyCalculatedTo,
  };
  if (!hasPostableTotals(ledger)) return refuse('INVALID_AMOUNT', 'amount');
  return post(loan, command, context, 'PENALTY_APPLIED', closeLedger(ledger), {
    amount: owed,
    valueDate,
    affected: { ...noAmounts, penalty: owed },
    taxes: { ...noAmounts, penalty: tax },
    installmentKey: row.key,
    isInstallmentNamed: command.installmentNumber !== undefined,
  });
}

/** A penalty with its tax, and the tax in it. */
export function owedPenalty(
  { product, terms }: Loan,
  amount: Decimal,
): { readonly owed: Decimal; readonly tax: Decimal } {
  const { taxSettings, currency } = product;
  return taxSettings.taxesOnPenaltyEnabled
    ? taxedAmount(amount, taxSettings, currency, terms.rounding.roundingMode)
    : { owed: amount, tax: zero };
}

function penaltyTaxWithin({ product, terms }: Loan, owed: Decimal): Decimal {
  const { taxSettings, currency } = product;
  return taxSettings.taxesOnPenaltyEnabled ? taxWithin(owed, taxSettings, currency, terms.rounding.roundingMode) : zero;
}

function rowForPenalty(loan: Loan, { installmentNumber }: ApplyPenalty, valueDate: string): Installment | Refusal {
  if (installmentNumber === undefined) return nextDueRow(loan.position.installments, valueDate);
  const row = loan.position.installments.find(({ number }) => number === installmentNumber);
  if (row === undefined) return refusal('INVALID_REPAYMENT_NUMBER', 'installmentNumber');
  return isPaid(row) ? refusal('REPAYMENT_WAS_FULLY_PAID', 'installmentNumber') : row;
}
