import { expect } from 'chai';
import { dueSteps, nextDueDate } from '../../../src/lending/business-days/day-commands.ts';
import { addDays } from '../../../src/lending/dates.ts';
import { dayToMoveAfter } from '../../../src/lending/business-days/due-date-changes.ts';
import { type Story, loanOf, when } from '../loan-fixtures.ts';
import { postedAmong } from '../posted-transactions.ts';

/** The story after the end of a day, as far as the calendar of the story was changed since the last one. */
export function onCalendarAfter(story: Story, day: string): Story {
  const valueDate = dayToMoveAfter(loanOf(story), day, story.calendar);
  return valueDate === null ? story : when(story, { type: 'RECALCULATE_DUE_DATES', valueDate, isSystemPosted: true });
}

/** The story after the ends of all days before this date, as the worker does them. */
export function closedBefore(story: Story, businessDate: string): Story {
  let closed = story;
  for (
    let date = nextDueDate(loanOf(closed), businessDate);
    date !== null;
    date = nextDueDate(loanOf(closed), businessDate)
  ) {
    for (const { commandsOn } of dueSteps) {
      for (const due of commandsOn(loanOf(closed), date, story.calendar, postedAmong(closed.transactions))) {
        closed = when(closed, { ...due, isSystemPosted: true });
        if (due.type === 'LOCK' || due.type === 'UNLOCK') expect(closed.outcome, due.type).to.equal('committed');
      }
    }
    expect(nextDueDate(loanOf(closed), businessDate), 'a day that does not end').not.to.equal(date);
  }
  return closed;
}

/** The story after the ends of every day, whether anything happens on it or not. */
export function eachDayClosed(story: Story, first: string, last: string): Story {
  let closed = story;
  for (let day = first; day <= last; day = addDays(day, 1)) {
    for (const { commandsOn } of dueSteps) {
      for (const due of commandsOn(loanOf(closed), day, story.calendar, postedAmong(closed.transactions))) {
        closed = when(closed, { ...due, isSystemPosted: true });
      }
    }
  }
  return closed;
}
