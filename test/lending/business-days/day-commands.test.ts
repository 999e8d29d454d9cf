import { expect } from 'chai';
import { describe, it } from 'mocha';
import { alwaysOpen } from '../../../src/lending/schedule/calendar.ts';
import {
  businessDateAfter,
  dayToClose,
  dueSteps,
  isOver,
  nextDueDate,
} from '../../../src/lending/business-days/day-commands.ts';
import { disbursed, loanOf } from '../loan-fixtures.ts';
import { postedAmong } from '../posted-transactions.ts';

describe('the end of a day', () => {
  it('closes a day that is over, and not the present one', () => {
    const receivedAt = Date.UTC(2011, 1, 23, 0, 5);
    expect(isOver({ businessDate: '2011-02-22', receivedAt })).to.equal(true);
    expect(isOver({ businessDate: '2011-02-23', receivedAt })).to.equal(false);
  });

  it('closes the days that were missed first, and none before the first one', () => {
    expect(dayToClose(undefined, '2011-02-22')).to.equal('2011-02-22');
    expect(dayToClose('2011-02-19', '2011-02-22')).to.equal('2011-02-20');
    expect(dayToClose('2011-02-22', '2011-02-22')).to.equal('2011-02-22');
    expect(dayToClose('2011-02-25', '2011-02-22')).to.equal('2011-02-22');
    expect(businessDateAfter('2011-02-28')).to.equal('2011-03-01');
  });

  it('does to an account what falls due, and last of all brings it to the day', () => {
    const loan = loanOf(disbursed());
    expect(nextDueDate(loan, '2011-02-22')).to.equal(null);
    expect(nextDueDate(loan, '2011-02-23')).to.equal('2011-02-23');
    const due = (date: string): string[] =>
      dueSteps.flatMap(({ commandsOn }) => commandsOn(loan, date, alwaysOpen, postedAmong([])).map(({ type }) => type));
    expect(due('2011-02-22')).to.deep.equal(['START_BUSINESS_DAY']);
    expect(due('2011-02-23')).to.deep.equal(['APPLY_INTEREST', 'START_BUSINESS_DAY']);
    expect(dueSteps.at(-1)?.commandsOn(loan, '2011-02-23', alwaysOpen, postedAmong([]))).to.deep.equal([
      { type: 'START_BUSINESS_DAY', businessDate: '2011-02-23' },
    ]);
  });
});
