import {
  type DueCommand,
  businessDateAfter,
  dayToClose,
  dueSteps,
  nextDueDate,
  purposeOf,
} from '../lending/business-days/day-commands.ts';
import type { EndOfDay, LoanCommand } from '../lending/commands.ts';
import { dayToMoveAfter } from '../lending/business-days/due-date-changes.ts';
import type { Loan } from '../lending/loan.ts';
import type { LocalDate } from '../lending/terms.ts';
import type { Toggles } from '../lending/toggle-names.ts';
import { dueCommandId } from '../lending-format/derived-ids.ts';
import { type FollowedCalendar, sameCalendar } from '../lending-format/stored-business-dates.ts';
import { isLendstreamError } from '../errors.ts';
import { CalendarLook } from './calendar-look.ts';
import type { CommandBatch } from './command-batch.ts';
import type { LoanStore } from './loan-store.ts';
import type { PendingCommand } from './pending-commands.ts';

/** How many accounts are looked up at once. */
const accountsPerReadMaximum = 200;

/**
 * Does what falls due on accounts at the end of a day, one account after the other, the missed days of each in their
 * order. The copy says which accounts have something due, and one that was brought to the day is no longer among them.
 * So after a crash, the accounts that are left are done, and none twice.
 */
export class EndOfDayRun {
  readonly #store: LoanStore;
  readonly #endOfDay: EndOfDay;
  readonly #command: PendingCommand;
  /** Accounts on which it failed. */
  readonly #skipped = new Set<string>();
  /** The look for rows to move, while there is one. */
  #look: CalendarLook | null = null;

  constructor(store: LoanStore, endOfDay: EndOfDay, command: PendingCommand) {
    this.#store = store;
    this.#endOfDay = endOfDay;
    this.#command = command;
  }

  /** Whether it is the run of this command. */
  isOf({ offset }: PendingCommand): boolean {
    return this.#command.offset === offset;
  }

  /**
   * Adds to the batch what falls due, until it is full. Days that were missed are closed one after the other.
   * Before the last one, rows move to the working days of a calendar that was changed.
   * @param closedDay The last day that was closed; undefined when none was.
   * @param followed The calendar that the accounts of the partition follow.
   * @param isFull Called after each step.
   * @returns whether there was anything to do; if not, the command itself can be decided
   */
  async decideDue(
    batch: CommandBatch,
    closedDay: LocalDate | undefined,
    followed: FollowedCalendar,
    toggles: Toggles,
    isFull: () => boolean,
    giveWay: () => Promise<void>,
  ): Promise<boolean> {
    const { businessDate: last } = this.#endOfDay;
    if (!batch.isOver(this.#endOfDay)) return false;
    for (let closed = closedDay; ;) {
      const businessDate = dayToClose(closed, last);
      // After the days that were missed: what is posted for those is dated before.
      if (businessDate === last && (await this.#followCalendar(batch, followed, toggles, isFull, giveWay))) {
        batch.leaveUndone(this.#command);
        return true;
      }
      const upTo = businessDateAfter(businessDate);
      const due = this.#store
        .loansDueBy(upTo, accountsPerReadMaximum + this.#skipped.size)
        .filter((loanAccountId) => !this.#skipped.has(loanAccountId));
      for (const loanAccountId of due) {
        if (await this.#bringTo(upTo, loanAccountId, batch, toggles, isFull, giveWay)) break;
      }
      // The accounts that are due are read as they are committed.
      if (due.length === 0 && businessDate === last) return false;
      if (due.length === 0) batch.closeDay(businessDate, this.#endOfDay, this.#command);
      batch.leaveUndone(this.#command);
      if (due.length > 0 || isFull()) return true;
      closed = businessDate;
      await giveWay();
    }
  }

  /**
   * Moves rows of accounts that follow another calendar than the one in force. What was moved is not looked for again
   * within the run; after a crash the look begins again, and moves only what is left. After one that failed on an
   * account, the next end of a day looks at all of them again.
   * @returns whether to commit before anything else is done: the accounts that are due are read as they are committed
   */
  async #followCalendar(
    batch: CommandBatch,
    followed: FollowedCalendar,
    toggles: Toggles,
    isFull: () => boolean,
    giveWay: () => Promise<void>,
  ): Promise<boolean> {
    const calendar = batch.numberedCalendar;
    const isSame = calendar.changes === followed.changes && sameCalendar(calendar, followed);
    if (isSame && !followed.isIncomplete) return false;
    const { businessDate } = this.#endOfDay;
    if (this.#look?.isFor(calendar) !== true) {
      this.#look = new CalendarLook(this.#store, followed, calendar, businessDate);
    }
    const look = this.#look;
    for (let found = look.next(); found !== null; found = look.next()) {
      for (const loanAccountId of found) {
        this.#moveRows(loanAccountId, look, batch, toggles);
        look.done();
        if (isFull()) {
          // Should it not come to its end, accounts follow different calendars.
          if (!followed.isIncomplete) batch.followCalendar({ ...followed, isIncomplete: true });
          return true;
        }
        await giveWay();
      }
    }
    const isKnown = isSame && followed.isIncomplete && look.hasFailed;
    if (!isKnown) batch.followCalendar({ ...calendar, isIncomplete: look.hasFailed });
    return batch.dueCommands > 0;
  }

  #moveRows(loanAccountId: string, look: CalendarLook, batch: CommandBatch, toggles: Toggles): void {
    const { businessDate } = this.#endOfDay;
    try {
      const loan = batch.loanOf(loanAccountId);
      const valueDate = loan === null ? null : dayToMoveAfter(loan, businessDate, look.calendar);
      if (valueDate === null) return;
      // Days of one date can be closed more than once, each time under another calendar.
      const purpose = `due dates/${this.#command.offset}/${look.calendarId}`;
      const commandId = dueCommandId(loanAccountId, businessDate, purpose);
      this.#decide({ type: 'RECALCULATE_DUE_DATES', valueDate }, commandId, loanAccountId, batch, toggles);
    } catch (error) {
      this.#skip(loanAccountId, batch, error);
      look.fail();
    }
  }

  /**
   * Leaves an account as it is, because it cannot be read or decided: one account must not keep the others of its
   * partition from their day.
   * @throws the error when it says that another try may succeed: then the account is not to blame
   */
  #skip(loanAccountId: string, batch: CommandBatch, error: unknown): void {
    if (isLendstreamError(error) && error.retriable) throw error;
    batch.skipDue(loanAccountId, this.#command, error);
  }

  /**
   * One account may have missed years: each of its days gives way.
   * @returns whether the batch is full
   */
  async #bringTo(
    upTo: LocalDate,
    loanAccountId: string,
    batch: CommandBatch,
    toggles: Toggles,
    isFull: () => boolean,
    giveWay: () => Promise<void>,
  ): Promise<boolean> {
    try {
      for (
        let date = dateOf(batch.loanOf(loanAccountId), upTo);
        date !== null;
        date = dateOf(batch.loanOf(loanAccountId), upTo)
      ) {
        this.#startDay(date, loanAccountId, batch, toggles);
        // It would be due for ever, and no other command of the partition would be decided.
        if (dateOf(batch.loanOf(loanAccountId), upTo) === date) throw new Error(`the day ${date} does not end`);
        if (isFull()) return true;
        await giveWay();
      }
    } catch (error) {
      this.#skip(loanAccountId, batch, error);
      this.#skipped.add(loanAccountId);
    }
    return false;
  }

  #startDay(date: LocalDate, loanAccountId: string, batch: CommandBatch, toggles: Toggles): void {
    const posted = batch.transactionsOf(loanAccountId);
    for (const step of dueSteps) {
      const loan = batch.loanOf(loanAccountId);
      if (loan === null) return;
      for (const [index, due] of step.commandsOn(loan, date, batch.calendar, posted).entries()) {
        const commandId = dueCommandId(loanAccountId, date, purposeOf(step, due, index));
        this.#decide(due, commandId, loanAccountId, batch, toggles);
      }
    }
  }

  #decide(due: DueCommand, commandId: string, loanAccountId: string, batch: CommandBatch, toggles: Toggles): void {
    const { receivedAt } = this.#endOfDay;
    // What is due completes a command of its type; the types of both say the same fields.
    const command = {
      ...due,
      commandId,
      digest: commandId,
      receivedAt,
      loanAccountId,
      isSystemPosted: true,
    } as LoanCommand;
    batch.decideDue(command, this.#command, toggles);
  }
}

function dateOf(loan: Loan | null, upTo: LocalDate): LocalDate | null {
  return loan === null ? null : nextDueDate(loan, upTo);
}
