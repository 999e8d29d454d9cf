/**
 * Commands: one file for each, a pure function from a loan and a command to a decision.
 * In: a loan, a command, the time. Out: a fact to apply, or refusals.
 * Start with `decide` below; `execute.ts` calls it, applies the fact (`evolve.ts`) and derives the events. A command
 * dated before others is decided on the loan as it was, and the others are posted again (`later-transactions.ts`).
 */

import type { AdditionalFields } from '../additional-fields.ts';
import { decideDeletion, decideUpdate } from './account-changes.ts';
import { decideStateChange } from './account-states.ts';
import { decideAdjustment } from './adjustment.ts';
import type { LoanCommand } from '../commands.ts';
import { decideCreation } from './creation.ts';
import { decideBusinessDay } from './business-day.ts';
import { type Decision, type DecisionContext, refuse } from './decision.ts';
import { decideDisbursement } from './disbursement.ts';
import { decideFee } from './fees.ts';
import { decideInterestApplication } from './interest-application.ts';
import type { Loan } from '../loan.ts';
import { decideLock, decideUnlock } from './locks.ts';
import { decidePayOff } from './pay-off.ts';
import { decidePenalty } from './penalties.ts';
import { decidePrincipalOverpayment } from './principal-overpayment.ts';
import { decideFeeReduction, decideInterestReduction, decidePenaltyReduction } from './reductions.ts';
import { decideRepayment } from './repayment.ts';
import { decideUndoneWriteOff, decideWriteOff } from './write-off.ts';

/**
 * Decides a command. Three rules come before all others: LOAN_ACCOUNT_ID_ALREADY_IN_USE when it would open an account
 * that exists, INVALID_LOAN_ACCOUNT_ID when it names an account that does not, and INVALID_PARAMETERS when its money is
 * in another currency than the account. The remaining rules, in their order, are listed at each command's function.
 */
export function decide(loan: Loan | null, command: LoanCommand, context: DecisionContext): Decision {
  if (command.type === 'CREATE_LOAN') {
    return loan === null ? decideCreation(command, context) : refuse('LOAN_ACCOUNT_ID_ALREADY_IN_USE', 'id');
  }
  if (loan === null) return refuse('INVALID_LOAN_ACCOUNT_ID', 'loanAccountId');
  if ('additionalFields' in command && isOtherCurrency(loan, command.additionalFields)) {
    return refuse('INVALID_PARAMETERS', 'originalCurrencyCode');
  }
  switch (command.type) {
    case 'CHANGE_STATE':
      return decideStateChange(loan, command);
    case 'DISBURSE':
      return decideDisbursement(loan, command, context);
    case 'REPAY':
      return decideRepayment(loan, command, context);
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
    case 'UNLOCK':
      break;
  }
  return decideUnlock(loan, command, context);
}

function isOtherCurrency({ product }: Loan, sent: AdditionalFields | undefined): boolean {
  const code = sent?.['originalCurrencyCode'];
  return code !== undefined && code !== product.currency.code;
}
