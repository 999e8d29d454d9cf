import { atBusinessDate } from '../business-days/business-date.ts';
import type { LoanCommand } from '../commands.ts';
import { adjusted, withdrawn } from './adjustment.ts';
import { decide } from './decide.ts';
import type { Decision, DecisionContext } from './decision.ts';
import { eventsBetween } from '../events/derive-events.ts';
import type { LoanEvent } from '../events.ts';
import { evolve } from './evolve.ts';
import type { LoanFact } from './facts.ts';
import { laterTransactions } from '../replay/later-transactions.ts';
import { headerOf, isLeftOut, repostingCommand } from '../replay/reposting.ts';
import { type Loan, type LoanTransaction, type PostedTransactions, isActive } from '../loan.ts';
import type { WorkingCalendar } from '../organization.ts';
import type { Refusal } from '../refusals.ts';
import { withSettledFees, withoutSettledFees } from '../fees/settled-fees.ts';
import type { Toggles } from '../toggle-names.ts';

/**
 * - `committed`: `loan` is the next state, to be stored together with `transactions`, which are new or changed, and
 *   `events`. `transactionKey` names the command's own transaction among them; null when it posted none.
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
      /** Whether the loan is gone: `loan` is as it was, and is to be removed. */
      readonly isDeleted: boolean;
      /** Why a repayment that waited was taken back instead of posted; absent in all other cases. */
      readonly refusals?: readonly Refusal[];
    }
  | { readonly outcome: 'refused'; readonly refusals: readonly Refusal[] }
  | { readonly outcome: 'repeated'; readonly transaction: LoanTransaction };

/**
 * Executes one command. Pure: the same arguments give the same result. A command that posted a transaction is
 * recognised by that transaction for ever. The caller must recognise a command that posted none.
 *
 * A command dated before other transactions is decided on the loan as it was then: those after it are taken back, the
 * last one first, and are posted again behind it from what was asked for, by value date. When the loan refuses one of
 * them now, it refuses the command with that reason. After anything was taken back, the rows to come are laid on the
 * working days of now.
 *
 * A repayment that waited is posted under its own key, as of the command that asked for it. When the loan refuses it on
 * its day, it is taken back. Only with an account that was closed meanwhile it stays as it is.
 * @throws only for bugs; a broken rule is a refusal
 */
export function execute(loan: Loan | null, command: LoanCommand, context: DecisionContext): Execution {
  const transaction = loan === null ? undefined : context.transactions.postedBy(command.commandId);
  if (transaction !== undefined) return { outcome: 'repeated', transaction };
  const waited = waitedUntilNow(command, context.transactions);
  if (waited === undefined || loan === null) return executed(loan, command, context);
  const execution = executed(loan, command, asCheckedBefore(context), waited);
  if (execution.outcome !== 'refused' || !isActive(loan.position)) return execution;
  const { refusals } = execution;
  const run = new CommandRun(loan, command, context);
  const notes = refusals.map(({ errorReason }) => errorReason).join(', ');
  run.apply(withdrawn(loan, waited, { ...headerOf(command), isSystemPosted: true, notes }, context));
  return { ...run.committed(run.lastTransactionKey), refusals };
}

/** The transaction that a command posts which waited for its day; undefined for any other command. */
function waitedUntilNow(command: LoanCommand, posted: PostedTransactions): LoanTransaction | undefined {
  if (command.type !== 'REPAY' || command.futurePaymentKey === undefined) return undefined;
  const waited = posted.find(command.futurePaymentKey);
  if (waited?.isWaiting !== true) throw new Error(`${command.futurePaymentKey} does not wait`);
  return waited;
}

/** @param waited The command's own transaction, when it waited for its day. */
function executed(
  loan: Loan | null,
  command: LoanCommand,
  context: DecisionContext,
  waited?: LoanTransaction,
): Execution {
  const later = loan === null ? [] : laterTransactions(loan, command, context.transactions);
  if ('errorReason' in later) return { outcome: 'refused', refusals: [later] };
  const run = new CommandRun(loan, command, context);
  for (const [index, original] of later.entries()) {
    run.apply(adjusted(run.existingLoan(), original, headerOf(command), keysOf(context, `taken back ${index + 1}`)));
  }
  const decision = decide(run.loan, command, context);
  if ('refusals' in decision) return { outcome: 'refused', refusals: decision.refusals };
  for (const fact of factsOf(decision)) run.apply(waited === undefined ? fact : asOfItsSender(waited, fact));
  const transactionKey = run.lastTransactionKey;
  for (const [index, original] of byValueDate(later).entries()) {
    const again = decide(run.loan, repostingCommand(run.existingLoan(), original, command), {
      ...asCheckedBefore(context),
      ...keysOf(context, `posted again ${index + 1}`),
      // A fee outside the schedule stays one, also after the toggle under which it was charged was switched off.
      toggles: { ...context.toggles, ALLOW_NON_SCHEDULED_FEES: true },
    });
    if ('refusals' in again) {
      if (isLeftOut(original, again.refusals)) continue;
      return { outcome: 'refused', refusals: again.refusals };
    }
    for (const fact of factsOf(again)) run.apply(sentBy(original, fact));
  }
  // Rows that a transaction had removed or changed have the dates of the calendar of then.
  if (run.hasTakenBack && isActive(run.existingLoan().position)) {
    const dueDates = recalculationAfter(run.existingLoan(), command);
    const again = decide(run.loan, dueDates, { ...context, ...keysOf(context, 'due dates') });
    if (!('refusals' in again)) for (const fact of factsOf(again)) run.apply(fact);
  }
  return run.committed(transactionKey);
}

/** The facts of a decision, in their order. */
function factsOf(decision: Exclude<Decision, { readonly refusals: readonly Refusal[] }>): readonly LoanFact[] {
  return 'facts' in decision ? decision.facts : [decision.fact];
}

/** A context in which custom fields and the externalId, which the transaction has already, are not checked again. */
function asCheckedBefore({ customFields: _checked, ...context }: DecisionContext): DecisionContext {
  return { ...context, transactions: { ...context.transactions, hasExternalId: () => false } };
}

/** The keys of one of the transactions that a command posts besides its own. */
function keysOf({ newKey }: DecisionContext, of: string): Pick<DecisionContext, 'newKey'> {
  return { newKey: (purpose) => newKey(`${of}/${purpose}`) };
}

/** Transactions in the order in which they are posted again: by value date, of one day as they were posted. */
function byValueDate(lastFirst: readonly LoanTransaction[]): readonly LoanTransaction[] {
  return lastFirst
    .toReversed()
    .sort((one, other) => (one.valueDate < other.valueDate ? -1 : one.valueDate > other.valueDate ? 1 : 0));
}

/** The command that lays rows on the working days of now, on behalf of a command that took something back. */
function recalculationAfter(loan: Loan, command: LoanCommand): LoanCommand {
  return { type: 'RECALCULATE_DUE_DATES', ...headerOf(command), loanAccountId: loan.id };
}

/** The fact as if the sender of the original had posted it. */
function sentBy({ isSystemPosted }: LoanTransaction, fact: LoanFact): LoanFact {
  return fact.type === 'TRANSACTION_POSTED' ? { ...fact, transaction: { ...fact.transaction, isSystemPosted } } : fact;
}

/** The fact as if the sender of a repayment that waited had posted it. */
function asOfItsSender(waited: LoanTransaction, fact: LoanFact): LoanFact {
  if (fact.type !== 'TRANSACTION_POSTED') return fact;
  const { encodedKey, commandId, commandDigest, createdAt } = waited;
  const transaction = { ...fact.transaction, encodedKey, commandId, commandDigest, createdAt, isSystemPosted: false };
  return { ...fact, transaction, waited };
}

/** The facts of one command, applied one after the other: the loan after them, and what they posted and published. */
class CommandRun {
  readonly #command: LoanCommand;
  readonly #toggles: Toggles;
  readonly #calendar: WorkingCalendar;
  readonly #transactions = new Map<string, LoanTransaction>();
  readonly #events: LoanEvent[] = [];
  #loan: Loan | null;
  #lastTransactionKey: string | null = null;
  #isDeleted = false;
  #hasTakenBack = false;

  constructor(loan: Loan | null, command: LoanCommand, { toggles, calendar }: DecisionContext) {
    this.#loan = loan;
    this.#command = command;
    this.#toggles = toggles;
    this.#calendar = calendar;
  }

  get loan(): Loan | null {
    return this.#loan;
  }

  /** The transaction that the last fact posted; null when it posted none. */
  get lastTransactionKey(): string | null {
    return this.#lastTransactionKey;
  }

  /** Whether a fact took a transaction back. */
  get hasTakenBack(): boolean {
    return this.#hasTakenBack;
  }

  existingLoan(): Loan {
    if (this.#loan === null) throw new Error('there is no loan yet');
    return this.#loan;
  }

  apply(fact: LoanFact): void {
    // A fee that the adjusted transaction settled left the account with it.
    const undo = fact.type === 'TRANSACTION_ADJUSTED' ? fact.original.undo : null;
    const before = this.#loan === null || undo === null ? this.#loan : withSettledFees(this.#loan, undo);
    const { loan: evolved, transactions } = evolve(before, fact, this.#calendar);
    const posted = transactions.at(-1) ?? null;
    const shownBefore = before === null ? null : atBusinessDate(before);
    const events = eventsBetween(shownBefore, atBusinessDate(evolved), fact, posted, this.#command, this.#toggles);
    const scheduleEvents = events.filter(({ eventType }) => eventType === 'loan_schedule_changed');
    this.#loan = {
      ...withoutSettledFees(evolved),
      modifiedAt: this.#command.receivedAt,
      eventSequence: evolved.eventSequence + events.length,
      scheduleVersion: evolved.scheduleVersion + scheduleEvents.length,
      publishedUnder: this.#toggles,
    };
    for (const transaction of transactions) this.#transactions.set(transaction.encodedKey, transaction);
    this.#events.push(...events);
    this.#lastTransactionKey = posted?.encodedKey ?? null;
    this.#isDeleted = fact.type === 'LOAN_DELETED';
    this.#hasTakenBack ||= fact.type === 'TRANSACTION_ADJUSTED';
  }

  committed(transactionKey: string | null): Extract<Execution, { outcome: 'committed' }> {
    const transactions = [...this.#transactions.values()];
    const loan = this.existingLoan();
    const events = this.#events;
    return { outcome: 'committed', loan, transactions, events, transactionKey, isDeleted: this.#isDeleted };
  }
}
