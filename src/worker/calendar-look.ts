import type { DueCursor, DueDays } from '../accounts/accounts-for-worker.ts';
import { calendarChange } from '../lending/schedule/calendar.ts';
import type { WorkingCalendar } from '../lending/organization.ts';
import type { LocalDate } from '../lending/terms.ts';
import { dueCommandId } from '../lending-format/derived-ids.ts';
import type { LoanStore } from './loan-store.ts';

/** How many accounts are looked up at once. */
const accountsPerReadMaximum = 200;
/** When more days than these became non-working, every active account with later rows is looked at. */
const closedDaysMaximum = 100;

/**
 * The look for accounts whose rows a change of the calendar moves, one page of ids after the other. Days that became
 * non-working concern the accounts with a row on them. Where a day became a working day, a row may come back to it or
 * to one near it, so all active accounts with later rows are looked at.
 */
export class CalendarLook {
  /** The calendar that the rows are to follow. */
  readonly calendar: WorkingCalendar;
  /** Tells it from other calendars, as the text and as an id made from it. */
  readonly text: string;
  readonly calendarId: string;
  readonly #store: LoanStore;
  /** What is left to look for. */
  readonly #days: DueDays[];
  /** The page that is being done. */
  #page: readonly DueCursor[] = [];
  #doneOnPage = 0;
  #after: DueCursor | undefined;

  /** @param day Rows that are due after it may move. */
  constructor(store: LoanStore, followed: WorkingCalendar, calendar: WorkingCalendar, day: LocalDate) {
    this.calendar = calendar;
    this.text = JSON.stringify(calendar);
    this.calendarId = dueCommandId('calendar', '', this.text);
    this.#store = store;
    const upTo = store.lastDueDate() ?? day;
    const { closed, opened } = calendarChange(followed, calendar, {
      after: day,
      upTo,
      closedMaximum: closedDaysMaximum,
    });
    this.#days =
      closed === null || opened
        ? [{ day, isAllAfter: true }]
        : closed.map((closedDay) => ({ day: closedDay, isAllAfter: false }));
  }

  /** The ids that are left of the page, or those of the next one; null after the last. An account may come again. */
  next(): readonly string[] | null {
    const left = this.#page.slice(this.#doneOnPage);
    if (left.length > 0) return left.map(({ loanId }) => loanId);
    for (let [days] = this.#days; days !== undefined; [days] = this.#days) {
      this.#page = this.#store.loansWithRowsDue(days, this.#after, accountsPerReadMaximum);
      this.#doneOnPage = 0;
      if (this.#page.length > 0) return this.#page.map(({ loanId }) => loanId);
      this.#days.shift();
      this.#after = undefined;
    }
    return null;
  }

  /** The next one of the ids was done. */
  done(): void {
    this.#after = this.#page[this.#doneOnPage];
    this.#doneOnPage += 1;
  }
}
