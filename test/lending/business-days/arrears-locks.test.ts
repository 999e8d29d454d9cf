import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { hasArrearsLock, lockReasonOn, nextLockDate } from '../../../src/lending/business-days/arrears-locks.ts';
import { withArrears } from '../../../src/lending/business-days/arrears.ts';
import { nextBusinessDate } from '../../../src/lending/business-days/next-business-date.ts';
import { figuresOf } from '../../../src/lending/balances.ts';
import { addDays } from '../../../src/lending/dates.ts';
import type { LoanTransaction } from '../../../src/lending/loan.ts';
import { alwaysOpen } from '../../../src/lending/schedule/calendar.ts';
import { propertyRuns } from '../../support/values/property-runs.ts';
import { storedAndRead } from '../changelog/stored-accounts.ts';
import { weekendsAndSpring } from '../loan-arbitraries.ts';
import {
  type Story,
  adjust,
  applyFee,
  applyPenalty,
  disbursed,
  dynamicProduct,
  fee,
  loanOf,
  lock,
  money,
  product,
  reasons,
  repay,
  terminate,
  unlock,
  when,
  withCalendar,
} from '../loan-fixtures.ts';
import { closedBefore, eachDayClosed } from './closed-days.ts';

// The first row of 315.47 is due on 23 February: in arrears since the 24th, for six days on 1 March.
const afterFiveDays = { internalControls: { lockSettings: { lockPeriodDays: 5 } } };
const start = disbursed(product(afterFiveDays));
const locked = closedBefore(start, '2011-03-01');

const stateOf = (story: Story): unknown[] => {
  const { accountState, accountSubState, lockedOperations } = loanOf(story).position;
  return [accountState, accountSubState, lockedOperations.length];
};
const isFree = (story: Story): boolean => loanOf(story).position.lockedOperations.length === 0;
const lockedTypes = ['INTEREST_LOCKED', 'FEE_LOCKED', 'PENALTY_LOCKED'];
const unlockedTypes = ['INTEREST_UNLOCKED', 'FEE_UNLOCKED', 'PENALTY_UNLOCKED'];
/** The locks that stand, and the ends of locks, with their days. */
const locksOf = (story: Story): string[] =>
  story.transactions
    .filter(({ type, undo }) => type.endsWith('LOCKED') && undo !== null)
    .map(({ type, valueDate }) => `${type} ${valueDate}`);
const on = (types: readonly string[], day: string): string[] => types.map((type) => `${type} ${day}`);
const stateEvents = (story: Story, before: Story): unknown[] =>
  story.events
    .slice(before.events.length)
    .flatMap((event) => (event.eventType === 'loan_state_changed' ? [event.name] : []));

describe('an account that its product locks after five days in arrears', () => {
  it('is free on the fifth day, and locked by the end of it', () => {
    const dayBefore = closedBefore(start, '2011-02-28');
    expect(stateOf(dayBefore)).to.deep.equal(['ACTIVE_IN_ARREARS', null, 0]);
    expect(nextBusinessDate(loanOf(dayBefore))).to.equal('2011-03-01');
    expect(stateOf(locked)).to.deep.equal(['ACTIVE_IN_ARREARS', 'LOCKED', 3]);
    expect(locksOf(locked)).to.deep.equal(on(lockedTypes, '2011-03-01'));
    expect(locked.transactions.slice(-3).every(({ isSystemPosted }) => isSystemPosted)).to.equal(true);
    expect(stateEvents(locked, dayBefore)).to.deep.equal(['loan_locked']);
    expect(storedAndRead(loanOf(locked))).to.deep.equal(loanOf(locked));
    expect(hasArrearsLock(loanOf(locked))).to.equal(true);
    expect(lockReasonOn(loanOf(dayBefore), '2011-02-28', alwaysOpen)).to.equal(null);
    expect(lockReasonOn(loanOf(dayBefore), '2011-03-01', alwaysOpen)).to.equal('PERIOD');
  });

  it('is locked on its first day in arrears when the period is none, and never without one', () => {
    const at = (lockSettings: object): Story => disbursed(product({ internalControls: { lockSettings } }));
    expect(isFree(closedBefore(at({ lockPeriodDays: 0 }), '2011-02-23'))).to.equal(true);
    const first = closedBefore(at({ lockPeriodDays: 0 }), '2011-02-24');
    expect(stateOf(first)).to.deep.equal(['ACTIVE_IN_ARREARS', 'LOCKED', 3]);
    expect(isFree(closedBefore(at({}), '2011-08-01'))).to.equal(true);
  });

  it('counts working days where the others do not count', () => {
    const arrearsSettings = {
      toleranceCalculationMethod: 'ARREARS_TOLERANCE_PERIOD',
      nonWorkingDaysMethod: 'EXCLUDED',
    } as const;
    const calendar = { ...weekendsAndSpring, holidays: [] };
    const working = withCalendar(calendar, disbursed(product({ ...afterFiveDays, arrearsSettings })));
    // Thursday 24, Friday 25, Monday 28 to Wednesday 2 are five days, and Thursday is the sixth.
    expect(isFree(closedBefore(working, '2011-03-02'))).to.equal(true);
    expect(isFree(closedBefore(working, '2011-03-03'))).to.equal(false);
    const nextAfter = (businessDate: string): string | null =>
      nextLockDate(withArrears({ ...loanOf(working), businessDate }, calendar), businessDate, null);
    // As long as a day may count, the lock may come on the day on which six would be counted.
    expect(nextAfter('2011-02-25')).to.equal('2011-03-01');
    expect(nextAfter('2011-02-26')).to.equal('2011-03-02');
    expect(nextAfter('2011-02-27')).to.equal('2011-03-03');
    expect(nextAfter('2011-03-02')).to.equal('2011-03-03');
  });

  it('charges nothing while it is locked, and is not looked at for its arrears', () => {
    expect(nextBusinessDate(loanOf(locked))).to.equal('2011-03-23');
    expect(reasons(when(locked, applyFee(5, { valueDate: '2011-03-02', installmentNumber: 1 })))).to.deep.equal([
      'INVALID_ACCOUNT_STATE',
    ]);
    const interest = disbursed(dynamicProduct(afterFiveDays));
    const balance = (story: Story): string => figuresOf(loanOf(story)).interest.balance.toFixed(2);
    const paid = when(closedBefore(interest, '2011-04-01'), repay('0.01', '2011-04-01'));
    // 8.33 on the due date, and eight of thirty days of it up to 1 March.
    expect(balance(paid)).to.equal('10.54');
  });

  it('is free again by the end of the day on which it was paid out of its arrears', () => {
    const paid = when(locked, repay('315.47', '2011-03-04'));
    expect(stateOf(paid)).to.deep.equal(['ACTIVE', 'LOCKED', 3]);
    expect(nextBusinessDate(loanOf(paid))).to.equal('2011-03-05');
    const free = closedBefore(paid, '2011-03-05');
    expect(locksOf(free)).to.deep.equal([...on(lockedTypes, '2011-03-01'), ...on(unlockedTypes, '2011-03-05')]);
    expect(stateOf(free)).to.deep.equal(['ACTIVE', null, 0]);
    expect(loanOf(free).position.arrearsLock).to.equal(null);
    expect(stateEvents(free, paid)).to.deep.equal(['loan_unlocked']);
    const back = when(free, adjust(free.transactions.length));
    expect(loanOf(back).position.lockedOperations).to.deep.equal(['APPLY_PENALTIES']);
    expect(isFree(closedBefore(back, '2011-03-06'))).to.equal(true);
    // The next row is not paid either: due on 23 March, and in arrears from the 24th on.
    expect(isFree(closedBefore(free, '2011-03-28'))).to.equal(true);
    expect(isFree(closedBefore(free, '2011-03-29'))).to.equal(false);
  });

  it('is looked at on the day on which interest reaches its cap, when nothing else happens before', () => {
    const lockSettings = {
      cappingConstraintType: 'SOFT_CAP',
      cappingMethod: 'ORIGINAL_PRINCIPAL_PERCENTAGE',
      cappingPercentage: money(1),
    } as const;
    // 8.33 on 23 February, 9.44 on the 27th, and 10.27 on the 28th, the last one of thirty.
    const loan = loanOf(closedBefore(disbursed(dynamicProduct({ internalControls: { lockSettings } })), '2011-02-24'));
    expect(nextLockDate(loan, '2011-02-24', '2011-03-23')).to.equal('2011-02-28');
    expect(nextLockDate(loan, '2011-02-24', '2011-03-01')).to.equal('2011-02-28');
    expect(nextLockDate(loan, '2011-02-24', '2011-02-28')).to.equal(null);
    expect(nextLockDate(loan, '2011-02-24', '2011-02-26')).to.equal(null);
    expect(nextLockDate(loan, '2011-02-27', '2011-02-28')).to.equal('2011-02-28');
  });

  it('stays locked by a payment that leaves it in arrears', () => {
    expect(isFree(closedBefore(when(locked, repay('315.46', '2011-03-04')), '2011-03-20'))).to.equal(false);
  });

  it('was never locked when the payment is dated before it, and is locked again when that is adjusted', () => {
    const late = closedBefore(locked, '2011-03-10');
    const paid = when(late, repay('315.47', '2011-02-28'));
    expect(reasons(paid)).to.deep.equal([]);
    expect(stateOf(paid)).to.deep.equal(['ACTIVE', null, 0]);
    expect(locksOf(paid)).to.deep.equal([]);
    expect(stateOf(closedBefore(paid, '2011-03-20'))).to.deep.equal(['ACTIVE', null, 0]);
    const number = paid.transactions.findLast(({ type }) => type === 'REPAYMENT')?.id.split('-')[1];
    const adjusted = when(paid, adjust(Number(number)));
    expect(stateOf(adjusted)).to.deep.equal(['ACTIVE_IN_ARREARS', null, 0]);
    const again = closedBefore(adjusted, '2011-03-20');
    expect(stateOf(again)).to.deep.equal(['ACTIVE_IN_ARREARS', 'LOCKED', 3]);
  });

  it('is locked on the same day when a payment dated before it leaves it in arrears', () => {
    const paid = when(locked, repay('15.47', '2011-02-26'));
    expect(reasons(paid)).to.deep.equal([]);
    expect(locksOf(paid)).to.deep.equal(on(lockedTypes, '2011-03-01'));
    expect(loanOf(paid).position.arrearsLock).to.deep.equal(loanOf(locked).position.arrearsLock);
    const system = paid.transactions.filter(({ type }: LoanTransaction) => lockedTypes.includes(type));
    expect(system.every(({ isSystemPosted }) => isSystemPosted)).to.equal(true);
  });

  it('stays locked when the payment that had ended its arrears is adjusted after the end of the lock', () => {
    const free = closedBefore(when(locked, repay('315.47', '2011-03-04')), '2011-03-10');
    const repayment = free.transactions.findIndex(({ type }) => type === 'REPAYMENT') + 1;
    const adjusted = when(free, adjust(repayment));
    expect(reasons(adjusted)).to.deep.equal([]);
    expect(stateOf(adjusted)).to.deep.equal(['ACTIVE_IN_ARREARS', 'LOCKED', 3]);
    expect(locksOf(adjusted)).to.deep.equal(on(lockedTypes, '2011-03-01'));
    expect(isFree(closedBefore(adjusted, '2011-03-15'))).to.equal(false);
  });

  it('is locked once in the same arrears when a person unlocks it, and again in later ones', () => {
    const free = when(locked, unlock('2011-03-02'));
    expect(stateOf(free)).to.deep.equal(['ACTIVE_IN_ARREARS', null, 0]);
    expect(storedAndRead(loanOf(free))).to.deep.equal(loanOf(free));
    expect(nextBusinessDate(loanOf(free))).to.equal('2011-03-23');
    const later = closedBefore(free, '2011-03-20');
    expect(isFree(later)).to.equal(true);
    const paid = when(later, repay('315.47', '2011-03-20'));
    expect(isFree(closedBefore(paid, '2011-03-28'))).to.equal(true);
    expect(isFree(closedBefore(paid, '2011-03-29'))).to.equal(false);
    expect(loanOf(when(free, adjust(free.transactions.length))).position).to.deep.equal(
      loanOf(when(when(locked, unlock('2011-03-02')), adjust(free.transactions.length))).position,
    );
    const lockedAgain = when(free, adjust(free.transactions.length));
    expect(loanOf(lockedAgain).position.lockedOperations).to.deep.equal(['APPLY_PENALTIES']);
  });

  it('stays free when a person adjusts the first of its locks, and keeps the others when it is the last', () => {
    const first = locked.transactions.findIndex(({ type }) => type === 'INTEREST_LOCKED') + 1;
    const free = when(locked, adjust(first));
    expect(reasons(free)).to.deep.equal([]);
    expect(stateOf(free)).to.deep.equal(['ACTIVE_IN_ARREARS', null, 0]);
    expect(isFree(closedBefore(free, '2011-03-20'))).to.equal(true);
    const others = closedBefore(when(locked, adjust(first + 2)), '2011-03-20');
    expect(loanOf(others).position.lockedOperations).to.deep.equal(['APPLY_INTEREST', 'APPLY_FEES']);
  });

  it('keeps what a person had locked, and is LOCKED by it when its arrears end', () => {
    const fees = when(start, lock('2011-02-10', 'APPLY_FEES'));
    const both = closedBefore(fees, '2011-03-01');
    expect(loanOf(both).position.lockedOperations).to.have.length(3);
    const paid = closedBefore(when(both, repay('315.47', '2011-03-01')), '2011-03-02');
    expect(loanOf(paid).position).to.deep.include({ accountSubState: 'LOCKED', lockedOperations: ['APPLY_FEES'] });
    const whole = when(start, lock('2011-02-10'));
    expect(closedBefore(whole, '2011-04-01').transactions.filter(({ isSystemPosted }) => isSystemPosted)).to.deep.equal(
      [],
    );
    expect(nextLockDate(loanOf(closedBefore(whole, '2011-03-10')), '2011-03-10', null)).to.equal(null);
  });

  it('stays TERMINATED, and is locked and free under that name', () => {
    const ended = when(disbursed(dynamicProduct(afterFiveDays)), terminate('2011-02-10'));
    const later = closedBefore(ended, '2011-03-01');
    expect(stateOf(later)).to.deep.equal(['ACTIVE_IN_ARREARS', 'TERMINATED', 3]);
  });

  it('is closed by its last payment, and locked again when that is adjusted', () => {
    const { total } = figuresOf(loanOf(locked));
    const paid = when(locked, repay(total, '2011-03-02'));
    expect(stateOf(paid)).to.deep.equal(['CLOSED', 'REPAID', 0]);
    expect(loanOf(paid).position.arrearsLock).to.equal(null);
    expect(loanOf(when(paid, adjust(paid.transactions.length))).position).to.deep.equal(loanOf(locked).position);
  });

  it('waits for what is dated later, which a lock would take back', () => {
    const charged = when(closedBefore(start, '2011-02-26'), applyPenalty(5, { valueDate: '2011-03-03' }));
    expect(isFree(closedBefore(charged, '2011-03-02'))).to.equal(true);
    expect(locksOf(closedBefore(charged, '2011-03-05'))).to.deep.equal(on(lockedTypes, '2011-03-03'));
  });

  it('is locked, unlocked and charged the same when every day is looked at as when only those are that the index names', () => {
    const late = fee({ id: 'late', trigger: 'LATE_REPAYMENT', amount: money(7), feeApplication: 'REQUIRED' });
    fc.assert(
      fc.property(
        fc.record({
          isDynamic: fc.boolean(),
          isHard: fc.boolean(),
          isOriginal: fc.boolean(),
          hundredths: fc.integer({ min: 10, max: 2_000 }),
          tolerance: fc.integer({ min: 0, max: 20 }),
          period: fc.option(fc.integer({ min: 0, max: 70 })),
          isPenalized: fc.boolean(),
          paidOn: fc.option(fc.integer({ min: 1, max: 90 })),
        }),
        ({ isDynamic, isHard, isOriginal, hundredths, tolerance, period, isPenalized, paidOn }) => {
          const settings = {
            feesSettings: { allowArbitraryFees: true, fees: [late] },
            arrearsSettings: {
              toleranceCalculationMethod: 'ARREARS_TOLERANCE_PERIOD',
              tolerancePeriod: { defaultValue: tolerance },
            },
            penaltySettings: {
              loanPenaltyCalculationMethod: isPenalized ? 'OVERDUE_BALANCE' : 'NONE',
              penaltyRate: { defaultValue: money('0.1') },
            },
            internalControls: {
              lockSettings: {
                cappingConstraintType: isHard ? 'HARD_CAP' : 'SOFT_CAP',
                cappingMethod: isOriginal ? 'ORIGINAL_PRINCIPAL_PERCENTAGE' : 'OUTSTANDING_PRINCIPAL_PERCENTAGE',
                cappingPercentage: money(hundredths).dividedBy(100),
                ...(period === null ? {} : { lockPeriodDays: period }),
              },
            },
          } as const;
          const opened = disbursed(isDynamic ? dynamicProduct(settings) : product(settings));
          const payment = (story: Story): Story =>
            paidOn === null ? story : when(story, repay('320', addDays('2011-02-23', paidOn)));
          const paidDay = addDays('2011-02-23', paidOn ?? 0);
          const end = '2011-05-10';
          const byIndex = closedBefore(payment(closedBefore(opened, paidDay)), end);
          const everyDay = eachDayClosed(
            payment(eachDayClosed(opened, '2011-01-24', paidDay)),
            addDays(paidDay, 1),
            end,
          );
          expect(posted(everyDay).join('\n')).to.equal(posted(byIndex).join('\n'));
        },
      ),
      propertyRuns(40),
    );
  });
});

function posted({ transactions }: Story): string[] {
  return transactions.map(({ type, valueDate, amount }) => `${valueDate} ${type} ${amount.toFixed(2)}`);
}
