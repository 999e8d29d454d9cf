import type { ErasePersonalData } from '../commands.ts';
import type { Decision, DecisionContext } from '../commands/decision.ts';
import type { Loan } from '../loan.ts';
import { personalSets, withoutPersonalData } from './personal-fields.ts';

/**
 * Erases what an account keeps of persons. It does so in every state of the account, and again when it was done before:
 * something personal may have come since. Its transactions are erased beside it, see {@link personalFields}: an account
 * of many years has more of them than one decision should hold.
 *
 * Refused: nothing but what is refused of every command.
 */
export function decideErasure(loan: Loan, { receivedAt }: ErasePersonalData, context: DecisionContext): Decision {
  const isPersonalSet = personalSets(context.customFields ?? { set: () => undefined });
  const erased: Loan = { ...withoutPersonalData(loan, isPersonalSet), modifiedAt: receivedAt };
  return { fact: { type: 'PERSONAL_DATA_ERASED', loan: erased } };
}
