import type { CreateLoan } from '../commands.ts';
import { decideCreation } from '../commands/creation.ts';
import type { DecisionContext } from '../commands/decision.ts';
import { disburse } from '../commands/disbursement.ts';
import { expectedFees } from '../fees/disbursement-fees.ts';
import type { Loan } from '../loan.ts';
import type { Installment } from '../installments.ts';
import { dayOf } from '../instants.ts';
import type { WorkingCalendar } from '../organization.ts';
import type { Refusal } from '../refusals.ts';

/**
 * The rows that a loan not yet disbursed would have, with required and agreed fees. It is as if the loan were disbursed
 * on its expected date or, without one, on the day the account was opened. It ignores a first repayment date before
 * that day, and fees whose amount the disbursement still has to name.
 * @param calendar The days on which the institution is closed, as they are known now.
 * @returns no rows when it could not be disbursed that way; {@link previewRefusals} gives the reasons
 */
export function previewInstallments(loan: Loan, calendar: WorkingCalendar): readonly Installment[] {
  const outcome = disburseAsExpected(loan, calendar);
  return 'refusals' in outcome ? [] : outcome.position.installments;
}

/** Why a loan not yet disbursed cannot have a schedule preview. Empty when it has one, or is already disbursed. */
export function previewRefusals(loan: Loan, calendar: WorkingCalendar): readonly Refusal[] {
  if (loan.position.disbursements.length > 0) return [];
  const outcome = disburseAsExpected(loan, calendar);
  return 'refusals' in outcome ? outcome.refusals : [];
}

function disburseAsExpected(loan: Loan, calendar: WorkingCalendar): ReturnType<typeof disburse> {
  const date = loan.expectedDisbursementDate ?? dayOf(loan.createdAt);
  const { firstRepaymentDate } = loan;
  const isUsable = firstRepaymentDate !== null && firstRepaymentDate > date;
  return disburse(loan, {
    date,
    firstRepaymentDate: isUsable ? firstRepaymentDate : null,
    calendar,
    fees: expectedFees(loan),
    transactionKey: '',
    newKey: () => '',
  });
}

/** The loan that a command would open, for a preview of its schedule. @returns else the refusals of the command */
export function previewedLoan(
  command: CreateLoan,
  context: Pick<DecisionContext, 'newKey'>,
): Loan | readonly Refusal[] {
  const decision = decideCreation(command, context);
  if ('refusals' in decision) return decision.refusals;
  if (!('fact' in decision) || decision.fact.type !== 'LOAN_CREATED') throw new Error('the command opened no loan');
  return decision.fact.loan;
}
