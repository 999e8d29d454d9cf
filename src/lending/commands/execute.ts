import type { LoanCommand } from '../commands.ts';
import { decide } from './decide.ts';
import type { DecisionContext } from './decision.ts';
import { eventsBetween } from '../events/derive-events.ts';
import type { LoanEvent } from '../events.ts';
import { evolve } from './evolve.ts';
import type { Loan, LoanTransaction } from '../loan.ts';
import type { Refusal } from '../refusals.ts';
import { withSettledFees, withoutSettledFees } from '../fees/settled-fees.ts';

/**
 * - `committed`: `loan` is the next state, to be stored together with `transactions`, which are new or changed, and
 *   `events`.
 * - `refused`: a rule refused the command, and the loan does not change.
 * - `repeated`: the command with this id already posted `transaction`, and nothing changes.
 */
export type Execution =
  | {
      readonly outcome: 'committed';
      readonly loan: Loan;
      readonly transactions: readonly LoanTransaction[];
      readonly events: readonly LoanEvent[];
      readonly transactionKey: string | null;
    }
  | { readonly outcome: 'refused'; readonly refusals: readonly Refusal[] }
  | { readonly outcome: 'repeated'; readonly transaction: LoanTransaction };

/**
 * Executes one command. Pure: the same arguments give the same result. A command that posted a transaction is
 * recognised by that transaction for ever. The caller must recognise a command that posted none.
 * @throws only for bugs; a broken rule is a refusal
 */
export function execute(loan: Loan | null, command: LoanCommand, context: DecisionContext): Execution {
  const transaction = loan === null ? undefined : context.transactions.postedBy(command.commandId);
  if (transaction !== undefined) return { outcome: 'repeated', transaction };

  const decision = decide(loan, command, context);
  if ('refusals' in decision) return { outcome: 'refused', refusals: decision.refusals };
  const { fact } = decision;
  // A fee that the adjusted transaction settled left the account with it.
  const undo = fact.type === 'TRANSACTION_ADJUSTED' ? fact.original.undo : null;
  const before = loan === null || undo === null ? loan : withSettledFees(loan, undo);
  const { loan: evolved, transactions } = evolve(before, fact);
  const posted = transactions.at(-1) ?? null;
  const events = eventsBetween(before, evolved, fact, posted, command, context.toggles);
  const next = {
    ...withoutSettledFees(evolved),
    modifiedAt: command.receivedAt,
    eventSequence: evolved.eventSequence + events.length,
    scheduleVersion:
      evolved.scheduleVersion + events.filter(({ eventType }) => eventType === 'loan_schedule_changed').length,
    publishedUnder: context.toggles,
  };
  return { outcome: 'committed', loan: next, transactions, events, transactionKey: posted?.encodedKey ?? null };
}
