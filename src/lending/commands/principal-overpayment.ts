import { accrueTo } from '../accrual.ts';
import { currentRowIndex, dueOf, rowAt } from '../installments.ts';
import { figuresOf } from '../balances.ts';
import type { PrincipalOverpayment } from '../commands.ts';
import { type Decision, type DecisionContext, post, refuse } from './decision.ts';
import { type Ledger, noAmounts, openLedger } from '../ledger.ts';
import type { Loan, LoanPosition } from '../loan.ts';
import { dayOfCommand } from '../instants.ts';
import { type Decimal, smaller, sum, zero } from '../money.ts';
import type { PrepaymentRecalculationMethod } from '../payment-options.ts';
import { reamortize } from '../prepayment.ts';
import { fixesTotals, recalculationMethodOf, refusalOfPayment } from './repayment.ts';
import { closeOutInTime } from './closing.ts';
import type { LocalDate } from '../terms.ts';

/**
 * Lowers the outstanding principal without paying any installment. The amount is noted on the installment in whose
 * period it was paid. The rows not yet due have that much less principal to repay. The recalculation method spreads the
 * reduction; NO_RECALCULATION takes it from the last rows first. The interest of a fixed loan stays as scheduled.
 *
 * Refused, with the first of these that applies: the refusals of a repayment; EXCESS_REPAYMENT_ERROR (more than the
 * principal balance); PREPAYMENT_NOT_ALLOWED_ERROR.
 */
export function decidePrincipalOverpayment(
  loan: Loan,
  command: PrincipalOverpayment,
  context: DecisionContext,
): Decision {
  const { product } = loan;
  const { amount } = command;
  const { prepaymentAcceptance } = product.paymentSettings.prepaymentSettings;
  const method = recalculationMethodOf(product, command);
  const fault = refusalOfPayment(loan, command);
  if (fault !== null) return { refusals: [fault] };
  const valueDate = command.valueDate ?? dayOfCommand(command);
  const accrued = accrueTo(loan, loan.position, valueDate);
  if (amount.greaterThan(figuresOf(loan, accrued).principal.balance)) return refuse('EXCESS_REPAYMENT_ERROR', 'amount');
  if (prepaymentAcceptance === 'NO_PREPAYMENTS') return refuse('PREPAYMENT_NOT_ALLOWED_ERROR', 'amount');

  const { position, installmentKey } = lowerPrincipal(loan, accrued, amount, {
    valueDate,
    method,
    now: command.receivedAt,
  });
  return post(loan, command, context, 'PRINCIPAL_OVERPAYMENT', position, {
    amount,
    valueDate,
    affected: { ...noAmounts, principal: amount },
    taxes: noAmounts,
    prepaymentRecalculationMethod: command.prepaymentRecalculationMethod ?? null,
    installmentKey,
  });
}

/** When and how principal falls that no installment is paid with. */
interface Lowering {
  readonly valueDate: LocalDate;
  readonly method: PrepaymentRecalculationMethod;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Lowers the outstanding principal outside the installments, and notes it on the one in whose period it happens.
 * @param accrued The position on the value date.
 * @param amount At most the principal balance.
 * @returns the position afterwards, and the key of that installment
 */
export function lowerPrincipal(
  loan: Loan,
  accrued: LoanPosition,
  amount: Decimal,
  { valueDate, method, now }: Lowering,
): { readonly position: LoanPosition; readonly installmentKey: number } {
  const ledger = openLedger(loan, accrued, valueDate);
  const current = currentRowIndex(ledger);
  const row = rowAt(ledger.rows, current);
  ledger.rows[current] = { ...row, principalOverpaid: row.principalOverpaid.plus(amount) };
  const reduced = reduceOpenRows(ledger, amount, method);
  reduceDueRows(ledger, reduced.remainder);
  return { position: closeOutInTime(loan, ledger, reduced.periodicPayment, now), installmentKey: row.key };
}

/** Respreads the rows due after the value date, as far as the amount fits into them; `remainder` is what does not. */
function reduceOpenRows(
  ledger: Ledger,
  amount: Decimal,
  method: PrepaymentRecalculationMethod,
): { readonly remainder: Decimal; readonly periodicPayment: Decimal | null } {
  const { loan, rows, valueDate, position } = ledger;
  const first = rows.findIndex(({ dueDate }) => dueDate > valueDate);
  if (first === -1) return { remainder: amount, periodicPayment: position.periodicPayment };
  const reduction = smaller(amount, sum(rows.slice(first).map(({ principal }) => dueOf(principal))));
  const kept = fixesTotals(loan.product)
    ? 'RECALCULATE_SCHEDULE_KEEP_SAME_TOTAL_REPAYMENT_AMOUNT'
    : 'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT';
  const spread = method === 'NO_RECALCULATION' ? kept : method;
  const periodicPayment = reduction.isZero()
    ? position.periodicPayment
    : reamortize(ledger, first, reduction, spread, valueDate);
  return { remainder: amount.minus(reduction), periodicPayment };
}

/** Lowers what rows already due expect, starting with the last of them. */
function reduceDueRows(ledger: Ledger, amount: Decimal): void {
  let remaining = amount;
  for (let index = ledger.rows.length - 1; index >= 0 && remaining.greaterThan(zero); index -= 1) {
    const row = rowAt(ledger.rows, index);
    const reduction = smaller(remaining, dueOf(row.principal));
    if (reduction.isZero()) continue;
    ledger.rows[index] = {
      ...row,
      principal: { expected: row.principal.expected.minus(reduction), paid: row.principal.paid },
    };
    remaining = remaining.minus(reduction);
  }
}
