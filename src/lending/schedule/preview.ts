import { disburse, requiredFees } from '../commands/disbursement.ts';
import { feeAmount } from '../fees/amounts.ts';
import type { Loan } from '../loan.ts';
import type { Installment } from '../installments.ts';
import { dayOf } from '../instants.ts';
import { zero } from '../money.ts';
import type { Refusal } from '../refusals.ts';

/**
 * The rows that a loan not yet disbursed would have, required fees included, if it were disbursed on its expected date
 * or, without one, on the day the account was opened. It ignores a first repayment date before that day, and fees whose
 * amount the disbursement still has to name.
 * @returns no rows when it could not be disbursed that way; {@link previewRefusals} gives the reasons
 */
export function previewInstallments(loan: Loan): readonly Installment[] {
  const outcome = disburseAsExpected(loan);
  return 'refusals' in outcome ? [] : outcome.position.installments;
}

/** Why a loan not yet disbursed cannot have a schedule preview. Empty when it has one, or is already disbursed. */
export function previewRefusals(loan: Loan): readonly Refusal[] {
  if (loan.position.disbursements.length > 0) return [];
  const outcome = disburseAsExpected(loan);
  return 'refusals' in outcome ? outcome.refusals : [];
}

function disburseAsExpected(loan: Loan): ReturnType<typeof disburse> {
  const date = loan.expectedDisbursementDate ?? dayOf(loan.createdAt);
  const { firstRepaymentDate } = loan;
  const isUsable = firstRepaymentDate !== null && firstRepaymentDate > date;
  const fees = requiredFees(loan, new Map()).filter(
    ({ fee }) => !('errorReason' in feeAmount(loan, fee, undefined, zero)),
  );
  return disburse(loan, {
    date,
    firstRepaymentDate: isUsable ? firstRepaymentDate : null,
    fees,
    transactionKey: '',
    newKey: () => '',
  });
}
