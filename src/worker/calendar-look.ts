import type { DueCursor, DueDays } from '../accounts/accounts-for-worker.ts';
import { calendarChange } from '../lending/schedule/calendar.ts';
import type { LocalDate } from '../lending/terms.ts';
import { dueCommandId } from '../lending-format/derived-ids.ts';
import type { FollowedCalendar, NumberedCalendar } from '../lending-format/stored-business-dates.ts';
import type { LoanStore } from './loan-store.ts';

/** How many accounts are looked up at once. */
const accountsPerReadMaximum = 200;
/** When more days than these became non-working, every active account with later rows is looked at. */
const closedDaysMaximum = 100;

/**
 * The look for accounts whose rows a change of the calendar moves, one page of ids after the other. Days that became
 * non-working concern the accounts with a row on them. Where a day became a working day, a row may come back to it or
 * to one near it, so all active accounts with later rows are looked at. So they are when not all of them follow the
 * calendar before the change: some could not be moved, or were paid out between two changes.
 */
export class CalendarLook {
  /** The calendar that the rows are to follow. */
  readonly calendar: NumberedCalendar;
  /** Tells it from other calendars. */
  readonly calendarId: string;
  readonly #store: LoanStore;
  /** What is left to look for. */
  readonly #days: DueDays[];
  /** The page that is being done. */
  #page: readonly DueCursor[] = [];
  #doneOnPage = 0;
  #after: DueCursor | undefined;
  #hasFailed = false;

  /** @param day Rows that are due after it may move. */
  constructor(store: LoanStore, followed: FollowedCalendar, calendar: NumberedCalendar, day: LocalDate) {
    this.calendar = calendar;
    this.calendarId = idOf(calendar);
    this.#store = store;
    const closed = closedDays(followed, calendar, { after: day, upTo: store.lastDueDate() ?? day });
    this.#days =
      closed === null
        ? [{ day, isAllAfter: true }]
        : closed.map((closedDay) => ({ day: closedDay, isAllAfter: false }));
  }

  /** Whether it is the look for rows that this calendar moves. */
  isFor(calendar: NumberedCalendar): boolean {
    return this.calendarId === idOf(calendar);
  }

  /** Whether the rows of an account could not be moved. */
  get hasFailed(): boolean {
    return this.#hasFailed;
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

  /** The rows of the next one of the ids could not be moved. */
  fail(): void {
    this.#hasFailed = true;
  }

  /** The next one of the ids was done. */
  done(): void {
    this.#after = this.#page[this.#doneOnPage];
    this.#doneOnPage += 1;
  }
}

function idOf(calendar: NumberedCalendar): string {
  return dueCommandId('calendar', '', JSON.stringify(calendar));
}

/** The days that became non-working, where looking at those is enough; null where it is not. */
function closedDays(
  followed: FollowedCalendar,
  calendar: NumberedCalendar,
  days: { readonly after: LocalDate; readonly upTo: LocalDate },
): readonly LocalDate[] | null {
  if (followed.isIncomplete || calendar.changes !== followed.changes + 1) return null;
  const { closed, opened } = calendarChange(followed, calendar, { ...days, closedMaximum: closedDaysMaximum });
  return opened ? null : closed;
}
