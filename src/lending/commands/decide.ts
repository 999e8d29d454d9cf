/**
 * Commands: one file for each, a pure function from a loan and a command to a decision.
 * In: a loan, a command, the time. Out: a fact to apply, or refusals.
 * Start with `decide` below; `execute.ts` calls it, applies the fact (`evolve.ts`) and derives the events. A command
 * dated before others is decided on the loan as it was, and the others are posted again (`later-transactions.ts`).
 */

import type { AdditionalFields } from '../additional-fields.ts';
import { decideRefund } from './agreements/refund.ts';
import { decideRestructuring, decideUndoneRestructuring } from './agreements/restructuring.ts';
import { decideTermination } from './agreements/termination.ts';
import { decideDeletion, decideUpdate } from './account-changes.ts';
import { decideStateChange } from './account-states.ts';
import { decideAdjustment } from './adjustment.ts';
import { decideDueDates } from '../business-days/due-date-changes.ts';
import type { LoanCommand } from '../commands.ts';
import { decideCreation } from './creation.ts';
import { decideBusinessDay } from './business-day.ts';
import { type Decision, type DecisionContext, refuse } from './decision.ts';
import { refusalsOfCustomFields } from '../custom-fields/field-rules.ts';
import { decideErasure } from '../personal-data/erasure.ts';
import { decideDisbursement } from './disbursement.ts';
import { decideFee } from './fees.ts';
import { decideFuturePayment } from './agreements/future-payment.ts';
import { isFuturePayment } from '../business-days/future-payments.ts';
import { decideInterestApplication } from './interest-application.ts';
import type { Loan } from '../loan.ts';
import { decideLock, decideUnlock } from './locks.ts';
import { decidePayOff } from './pay-off.ts';
import { decidePenalty } from './penalties.ts';
import { decidePrincipalOverpayment } from './principal-overpayment.ts';
import { decideFeeReduction, decideInterestReduction, decidePenaltyReduction } from './reductions.ts';
import type { Refusal } from '../refusals.ts';
import { decideRepayment } from './repayment.ts';
import { decideUndoneWriteOff, decideWriteOff } from './write-off.ts';

/**
 * Decides a command. Four rules come before all others: LOAN_ACCOUNT_ID_ALREADY_IN_USE when it would open an account
 * that exists, INVALID_LOAN_ACCOUNT_ID when it names an account that does not, INVALID_PARAMETERS when its money is in
 * another currency than the account, and EXTERNAL_ID_ALREADY_EXISTS when another transaction has its externalId. Then
 * come the refusals of its custom fields. The remaining rules, in their order, are listed at each command's function.
 */
export function decide(loan: Loan | null, command: LoanCommand, context: DecisionContext): Decision {
  if (command.type === 'CREATE_LOAN') {
    if (loan !== null) return refuse('LOAN_ACCOUNT_ID_ALREADY_IN_USE', 'id');
    const refusals = fieldRefusals(null, command, context);
    return refusals.length > 0 ? { refusals } : decideCreation(command, context);
  }
  if (loan === null) return refuse('INVALID_LOAN_ACCOUNT_ID', 'loanAccountId');
  if ('additionalFields' in command && isOtherCurrency(loan, command.additionalFields)) {
    return refuse('INVALID_PARAMETERS', 'originalCurrencyCode');
  }
  const externalId = 'externalId' in command ? command.externalId : undefined;
  if (externalId !== undefined && context.transactions.hasExternalId(externalId)) {
    return refuse('EXTERNAL_ID_ALREADY_EXISTS', 'externalId');
  }
  const refusals = fieldRefusals(loan, command, context);
  if (refusals.length > 0) return { refusals };
  switch (command.type) {
    case 'CHANGE_STATE':
      return decideStateChange(loan, command);
    case 'DISBURSE':
      return decideDisbursement(loan, command, context);
    case 'REPAY':
      return isFuturePayment(loan, command)
        ? decideFuturePayment(loan, command, context)
        : decideRepayment(loan, command, context);
    case 'APPLY_FEE':
      return decideFee(loan, command, context);
    case 'APPLY_PENALTY':
      return decidePenalty(loan, command, context);
    case 'ADJUST_TRANSACTION':
      return decideAdjustment(loan, command, context);
    case 'UPDATE_LOAN':
      return decideUpdate(loan, command, context);
    case 'DELETE_LOAN':
      return decideDeletion(loan, command);
    case 'START_BUSINESS_DAY':
      return decideBusinessDay(loan, command);
    case 'PRINCIPAL_OVERPAYMENT':
      return decidePrincipalOverpayment(loan, command, context);
    case 'APPLY_INTEREST':
      return decideInterestApplication(loan, command, context);
    case 'PAY_OFF':
      return decidePayOff(loan, command, context);
    case 'REDUCE_INTEREST':
      return decideInterestReduction(loan, command, context);
    case 'REDUCE_FEES':
      return decideFeeReduction(loan, command, context);
    case 'REDUCE_PENALTIES':
      return decidePenaltyReduction(loan, command, context);
    case 'WRITE_OFF':
      return decideWriteOff(loan, command, context);
    case 'UNDO_WRITE_OFF':
      return decideUndoneWriteOff(loan, command, context);
    case 'LOCK':
      return decideLock(loan, command, context);
    case 'REFUND':
      return decideRefund(loan, command, context);
    case 'TERMINATE':
      return decideTermination(loan, command, context);
    case 'RECALCULATE_DUE_DATES':
      return decideDueDates(loan, command, context);
    case 'ERASE_PERSONAL_DATA':
      return decideErasure(loan, command, context);
    case 'RESCHEDULE':
    case 'REFINANCE':
      return decideRestructuring(loan, command, context);
    case 'UNDO_RESCHEDULE':
    case 'UNDO_REFINANCE':
      return decideUndoneRestructuring(loan, command, context);
    case 'UNLOCK':
      break;
  }
  return decideUnlock(loan, command, context);
}

function fieldRefusals(loan: Loan | null, command: LoanCommand, { customFields }: DecisionContext): readonly Refusal[] {
  return customFields === undefined ? [] : refusalsOfCustomFields(loan, command, customFields);
}

function isOtherCurrency({ product }: Loan, sent: AdditionalFields | undefined): boolean {
  const code = sent?.['originalCurrencyCode'];
  return code !== undefined && code !== product.currency.code;
}
