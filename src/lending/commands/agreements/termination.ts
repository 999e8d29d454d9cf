import { accrueTo } from '../../accrual.ts';
import type { Terminate } from '../../commands.ts';
import { type Installment, type Portion, type TaxedPortion, currentRowIndex, rowAt } from '../../installments.ts';
import { dayOfCommand } from '../../instants.ts';
import { type Ledger, dropPlannedFees, noAmounts, openLedger } from '../../ledger.ts';
import { type Loan, isActive } from '../../loan.ts';
import { zero } from '../../money.ts';
import { behaviourOf } from '../../products/product-behaviour.ts';
import { closeOut, owesNothing } from '../closing.ts';
import { type Decision, type DecisionContext, post, refuse } from '../decision.ts';
import { refusalOfDays } from '../transaction-days.ts';

/**
 * Makes all outstanding principal due on the value date, with the interest that was earned until then and the fees and
 * penalties that were charged. The installment that runs on the day becomes the last one: it asks for all of it, and
 * earns nothing after the day. Fees that were planned for later due dates are dropped. The account is TERMINATED, and
 * still takes repayments.
 *
 * Refused, with the first of these that applies: INVALID_ACCOUNT_STATE (terminated, too, and when nothing is owed);
 * LOAN_PRODUCT_MISMATCH (a loan of a fixed term owes the interest of all its installments from the beginning);
 * INVALID_DATE (in the future too); ENTRY_DATE_BEFORE_OTHER_TRANSACTION.
 */
export function decideTermination(loan: Loan, command: Terminate, context: DecisionContext): Decision {
  const { position } = loan;
  const isPossible = isActive(position) && position.accountSubState !== 'TERMINATED' && !owesNothing(loan);
  if (!isPossible || position.asOf === null) return refuse('INVALID_ACCOUNT_STATE');
  if (behaviourOf(loan.product).interest === 'SCHEDULED') return refuse('LOAN_PRODUCT_MISMATCH');
  const fault = refusalOfDays(command);
  if (fault !== null) return { refusals: [fault] };
  const valueDate = command.valueDate ?? dayOfCommand(command);
  if (valueDate < position.asOf) return refuse('ENTRY_DATE_BEFORE_OTHER_TRANSACTION', 'valueDate');

  const accrued = accrueTo(loan, position, valueDate);
  const ledger = openLedger(loan, accrued, valueDate);
  endSchedule(ledger);
  const ended = closeOut(loan, ledger, accrued.periodicPayment, command.receivedAt);
  return post(
    loan,
    command,
    context,
    'ACCOUNT_TERMINATED',
    { ...ended, accountSubState: 'TERMINATED' },
    {
      amount: zero,
      valueDate,
      affected: noAmounts,
      taxes: noAmounts,
    },
  );
}

/** Joins the running row and those after it into one that is due on the value date. Rows that are due stay. */
function endSchedule(ledger: Ledger): void {
  const { rows, charges, valueDate } = ledger;
  const current = currentRowIndex(ledger);
  if (rowAt(rows, current).dueDate <= valueDate && current === rows.length - 1) return;
  const later = rows.slice(current + 1);
  rows[current] = later.reduce(
    (row, { principal }) => {
      return { ...row, principal: added(row.principal, principal) };
    },
    rowAt(rows, current),
  );
  for (const [index, row] of later.entries()) {
    rows[current + 1 + index] = { ...row, principal: { expected: zero, paid: zero } };
  }
  dropPlannedFees(ledger);
  const last = { ...rows.slice(current + 1).reduce(joined, rowAt(rows, current)), dueDate: valueDate };
  rows.splice(current, rows.length, last);
  const keys = new Set(later.map(({ key }) => key));
  for (const [index, charge] of charges.entries()) {
    if (charge.installmentKey !== null && keys.has(charge.installmentKey)) {
      charges[index] = { ...charge, installmentKey: last.key };
    }
  }
}

/** What a row owes and has paid, with that of a later row, which has earned nothing yet. */
function joined(row: Installment, later: Installment): Installment {
  return {
    ...row,
    principal: added(row.principal, later.principal),
    fee: addedTaxed(row.fee, later.fee),
    penalty: addedTaxed(row.penalty, later.penalty),
    principalOverpaid: row.principalOverpaid.plus(later.principalOverpaid),
    lastPaidDate: laterOf(row.lastPaidDate, later.lastPaidDate),
    lastPenaltyAppliedDate: laterOf(row.lastPenaltyAppliedDate, later.lastPenaltyAppliedDate),
  };
}

function added(one: Portion, other: Portion): Portion {
  return { expected: one.expected.plus(other.expected), paid: one.paid.plus(other.paid) };
}

function addedTaxed(one: TaxedPortion, other: TaxedPortion): TaxedPortion {
  return { amount: added(one.amount, other.amount), tax: added(one.tax, other.tax) };
}

function laterOf(one: string | null, other: string | null): string | null {
  return one !== null && (other === null || one > other) ? one : other;
}
