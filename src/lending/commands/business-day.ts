import type { StartBusinessDay } from '../commands.ts';
import { type Decision, refuse } from './decision.ts';
import { dayOfCommand } from '../instants.ts';
import { type Loan, isActive } from '../loan.ts';

/**
 * Brings an account to the start of a business day. No transaction is posted: balances and rows show what has fallen
 * due or late by then, and the account is in arrears or no longer.
 *
 * Refused, with the first of these that applies: INVALID_ACCOUNT_STATE; INVALID_DATE (in the future, or not after the
 * business date that the account has reached).
 */
export function decideBusinessDay(loan: Loan, command: StartBusinessDay): Decision {
  const { businessDate } = command;
  if (!isActive(loan.position)) return refuse('INVALID_ACCOUNT_STATE');
  const isReached = loan.businessDate !== null && businessDate <= loan.businessDate;
  if (isReached || businessDate > dayOfCommand(command)) return refuse('INVALID_DATE', 'businessDate');
  return { fact: { type: 'BUSINESS_DAY_STARTED', businessDate } };
}
