import type { LoanCommand } from './commands.ts';
import { changedLoan } from './copies.ts';
import { decide } from './decide.ts';
import type { DecisionContext } from './decision.ts';
import { eventsBetween } from './derive-events.ts';
import type { LoanEvent } from './events.ts';
import { evolve, remember } from './evolve.ts';
import type { Loan, RememberedOutcome } from './loan.ts';
import type { Refusal } from './refusals.ts';

export type ExecutionContext = DecisionContext;

/**
 * - `committed`: `loan` is the next state, to be stored together with `events`.
 * - `refused`: a rule said no and nothing but the memory of it changed; `loan` is null when there is no account.
 * - `repeated`: the command id was done before, this is what came of it, and nothing changes.
 */
export type Execution =
  | {
      readonly outcome: 'committed';
      readonly loan: Loan;
      readonly events: readonly LoanEvent[];
      readonly transactionKey: string | null;
    }
  | { readonly outcome: 'refused'; readonly refusals: readonly Refusal[]; readonly loan: Loan | null }
  | { readonly outcome: 'repeated'; readonly first: RememberedOutcome };

/**
 * Does one command. Pure: the same arguments give the same result.
 * @throws only for bugs; a rule that says no is a refusal
 */
export function execute(loan: Loan | null, command: LoanCommand, context: ExecutionContext): Execution {
  const { commandId } = command;
  const first = loan?.remembered.find((outcome) => outcome.commandId === commandId);
  if (first !== undefined) return { outcome: 'repeated', first };

  const decision = decide(loan, command, context);
  if ('refusals' in decision) {
    const { refusals } = decision;
    const outcome: RememberedOutcome = { commandId, outcome: 'refused', transactionKey: null, refusals };
    return { outcome: 'refused', refusals, loan: loan === null ? null : remember(loan, outcome) };
  }
  const { fact } = decision;
  const evolved = evolve(loan, fact);
  const transactionKey =
    fact.type === 'TRANSACTION_POSTED' || fact.type === 'TRANSACTION_ADJUSTED' ? fact.transaction.encodedKey : null;
  const events = eventsBetween(loan, evolved, fact, command, context.toggles);
  const next = changedLoan(evolved, {
    modifiedAt: command.receivedAt,
    eventSequence: evolved.eventSequence + events.length,
    scheduleVersion:
      evolved.scheduleVersion + events.filter(({ eventType }) => eventType === 'loan_schedule_changed').length,
    publishedUnder: context.toggles,
  });
  return {
    outcome: 'committed',
    loan: remember(next, { commandId, outcome: 'committed', transactionKey, refusals: [] }),
    events,
    transactionKey,
  };
}
