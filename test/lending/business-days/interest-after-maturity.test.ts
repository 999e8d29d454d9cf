import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { earnsAfterMaturity } from '../../../src/lending/accrual.ts';
import { atBusinessDate } from '../../../src/lending/business-days/business-date.ts';
import { isAppliedOn, nextDayAfterMaturity } from '../../../src/lending/business-days/interest-after-maturity.ts';
import { nextBusinessDate } from '../../../src/lending/business-days/next-business-date.ts';
import { figuresOf } from '../../../src/lending/balances.ts';
import { addDays } from '../../../src/lending/dates.ts';
import type { LoanProduct } from '../../../src/lending/products/product.ts';
import { propertyRuns } from '../../support/values/property-runs.ts';
import {
  type Story,
  adjust,
  applyInterest,
  disbursed,
  dynamicProduct,
  loanOf,
  lock,
  money,
  payOff,
  product,
  reasons,
  reduce,
  repay,
  terminate,
  unlock,
  when,
} from '../loan-fixtures.ts';
import { closedBefore, eachDayClosed } from './closed-days.ts';

const late = (settings: object = {}): LoanProduct =>
  dynamicProduct({ interestSettings: { accrueInterestAfterMaturity: true, ...settings } });

/** 1000 over six months at ten percent a year on thirty-day months, the last row due on 23 July. */
const unpaid = disbursed(late());
const interestOf = (story: Story): string => {
  const loan = atBusinessDate(loanOf(story));
  return figuresOf(loan).interest.balance.toFixed(2);
};
const appliedOf = (story: Story): string[] =>
  story.transactions
    .filter(({ type, undo }) => type === 'INTEREST_APPLIED' && undo !== null)
    .map(({ valueDate, amount }) => `${valueDate} ${amount.toFixed(2)}`);
const lastOf = (story: Story): string =>
  loanOf(story).position.installments.at(-1)?.interest.amount.expected.toFixed(2) ?? '';

describe('interest after the last due date', () => {
  it('is earned on all outstanding principal, and is applied once a month', () => {
    const due = closedBefore(unpaid, '2011-07-23');
    // Six months of 8.33, with nothing repaid.
    expect([interestOf(due), lastOf(due)]).to.deep.equal(['49.98', '8.33']);
    expect(nextBusinessDate(loanOf(due))).to.equal('2011-07-24');
    expect(nextDayAfterMaturity(loanOf(due), '2011-07-24')).to.equal('2011-08-23');
    const before = closedBefore(due, '2011-08-22');
    expect(appliedOf(before).at(-1)).to.equal('2011-07-23 8.33');
    const month = closedBefore(due, '2011-08-23');
    expect(appliedOf(month).at(-1)).to.equal('2011-08-23 8.34');
    expect([interestOf(month), lastOf(month)]).to.deep.equal(['58.32', '16.67']);
    expect(appliedOf(closedBefore(month, '2011-09-23')).at(-1)).to.equal('2011-09-23 8.33');
  });

  it('is not earned on the due date itself, and is on the day after', () => {
    expect(lastOf(when(unpaid, repay('0.01', '2011-07-23')))).to.equal('8.33');
    expect(lastOf(when(unpaid, repay('0.01', '2011-07-24')))).to.equal('8.61');
  });

  it('is not earned without the setting, whatever is said about late interest before', () => {
    for (const accrueLateInterest of [true, false]) {
      const never = disbursed(dynamicProduct({ interestSettings: { accrueLateInterest } }));
      const total = interestOf(closedBefore(never, '2011-07-23'));
      expect(total).to.equal(accrueLateInterest ? '49.98' : '29.17');
      expect(interestOf(when(never, repay('0.01', '2012-07-23')))).to.equal(money(total).minus('0.01').toFixed(2));
      expect(interestOf(closedBefore(never, '2012-07-23'))).to.equal(total);
    }
  });

  it('is earned by principal that was overdue before it without late interest', () => {
    const start = disbursed(late({ accrueLateInterest: false }));
    expect(interestOf(closedBefore(start, '2011-07-23'))).to.equal('29.17');
    expect(interestOf(closedBefore(start, '2011-08-23'))).to.equal('37.50');
  });

  it('is paid by a repayment and a pay-off, and ends with the principal', () => {
    const month = closedBefore(unpaid, '2011-08-23');
    const parts = [
      { customPaymentAmountType: 'INTEREST', amount: money('58.32') },
      { customPaymentAmountType: 'PRINCIPAL', amount: money(500) },
    ];
    const half = when(month, repay('558.32', '2011-08-23', { customPaymentAmounts: parts }));
    expect(interestOf(half)).to.equal('0.00');
    expect(appliedOf(closedBefore(half, '2011-09-23')).at(-1)).to.equal('2011-09-23 4.16');
    const paid = when(half, payOff('2011-09-07'));
    // 500 for 14 of 360 days.
    expect(paid.transactions.at(-1)?.affected.interest.toFixed(2)).to.equal('1.94');
    expect(loanOf(paid).position.accountState).to.equal('CLOSED');
    expect(nextBusinessDate(loanOf(paid))).to.equal(null);
    const fees = [{ customPaymentAmountType: 'PRINCIPAL', amount: money(1000) }];
    const noPrincipal = when(month, repay(1000, '2011-08-23', { customPaymentAmounts: fees }));
    expect(reasons(noPrincipal)).to.deep.equal([]);
    expect(nextDayAfterMaturity(loanOf(noPrincipal), '2011-08-24')).to.equal(null);
    expect(interestOf(closedBefore(noPrincipal, '2012-01-01'))).to.equal('58.32');
    const later = when(month, repay(1000, '2011-08-25', { customPaymentAmounts: fees }));
    expect(appliedOf(closedBefore(later, '2012-01-01')).at(-1)).to.equal('2011-09-23 0.55');
    expect(nextDayAfterMaturity(loanOf(closedBefore(later, '2012-01-01')), '2012-01-01')).to.equal(null);
  });

  it('is posted again behind an entry that is dated before it, and taken back exactly', () => {
    const month = closedBefore(unpaid, '2011-08-23');
    const paid = when(month, repay('500', '2011-08-08'));
    expect(reasons(paid)).to.deep.equal([]);
    // 15 days of 1000.00, and 15 days of what is left: 24.99 of the payment were interest of the first three rows.
    expect(appliedOf(paid).at(-1)).to.equal('2011-08-23 6.36');
    const number = paid.transactions.findLastIndex(({ type }) => type === 'REPAYMENT') + 1;
    const back = when(paid, adjust(number));
    expect(appliedOf(back)).to.deep.equal(appliedOf(month));
    const { modifiedAt: _, ...position } = { ...loanOf(back).position, modifiedAt: 0 };
    expect(figuresOf({ ...loanOf(back), position })).to.deep.equal(figuresOf(loanOf(month)));
    const applied = when(month, applyInterest('2011-09-08'));
    expect(appliedOf(applied).at(-1)).to.equal('2011-09-08 4.16');
    expect(loanOf(when(applied, adjust(applied.transactions.length))).position).to.deep.equal(loanOf(month).position);
  });

  it('is not earned while it is locked, and can be reduced', () => {
    const month = closedBefore(unpaid, '2011-08-23');
    const locked = when(month, lock('2011-08-23', 'APPLY_INTEREST'));
    expect(nextDayAfterMaturity(loanOf(locked), '2011-08-24')).to.equal(null);
    const free = when(closedBefore(locked, '2011-10-01'), unlock('2011-10-08'));
    expect(interestOf(closedBefore(free, '2011-10-23'))).to.equal('62.48');
    expect(interestOf(when(month, reduce('REDUCE_INTEREST', '8.32', '2011-08-23')))).to.equal('50.00');
  });

  it('follows the end of a terminated loan', () => {
    const ended = when(unpaid, terminate('2011-03-08'));
    expect(interestOf(when(ended, repay('0.01', '2011-04-08')))).to.equal(
      money(interestOf(ended)).plus('8.33').minus('0.01').toFixed(2),
    );
  });

  it('counts by the days where periods of the schedule count alike, and grows from the due date', () => {
    const byMonth = disbursed(
      late({
        daysInYear: 'ACTUAL_365_FIXED',
        scheduleInterestDaysCountMethod: 'REPAYMENT_PERIODICITY',
        interestType: 'COMPOUNDING_INTEREST',
      }),
    );
    const due = closedBefore(byMonth, '2011-07-23');
    const year = money(interestOf(when(due, repay('0.01', '2012-07-22')))).minus(interestOf(due));
    expect(year.plus('0.01').toFixed(2)).to.equal('100.00');
    const half = when(due, applyInterest('2012-01-22'));
    expect(
      money(interestOf(when(half, repay('0.01', '2012-07-22'))))
        .minus(interestOf(due))
        .plus('0.01')
        .toFixed(2),
    ).to.equal('100.00');
  });

  it('is applied on the last day of a month that is shorter', () => {
    const monthEnd = disbursed(late(), 1000);
    const row = { ...(loanOf(monthEnd).position.installments.at(-1) ?? expect.fail()), dueDate: '2011-08-31' };
    const { position } = loanOf(monthEnd);
    const loan = {
      ...loanOf(monthEnd),
      position: { ...position, installments: [...position.installments.slice(0, -1), row] },
    };
    expect(isAppliedOn(loan, row, '2011-09-30')).to.equal(true);
    expect(isAppliedOn(loan, row, '2011-09-29')).to.equal(false);
    expect(isAppliedOn(loan, row, '2011-08-31')).to.equal(true);
    expect(isAppliedOn(loan, row, '2011-10-30')).to.equal(false);
    expect(nextDayAfterMaturity(loan, '2011-08-30')).to.equal(null);
    expect(nextDayAfterMaturity(loan, '2011-08-31')).to.equal('2011-09-30');
    expect(nextDayAfterMaturity(loan, '2011-09-30')).to.equal('2011-10-31');
    expect(nextDayAfterMaturity(loan, '2011-12-31')).to.equal('2012-01-31');
    expect(isAppliedOn(loanOf(disbursed(dynamicProduct())), row, '2011-09-29')).to.equal(true);
  });

  it('is not that of fixed loans', () => {
    expect(earnsAfterMaturity(loanOf(unpaid))).to.equal(true);
    expect(earnsAfterMaturity(loanOf(disbursed(dynamicProduct())))).to.equal(false);
    const fixed = product({ interestSettings: { accrueInterestAfterMaturity: true } });
    expect(earnsAfterMaturity({ product: fixed })).to.equal(false);
  });

  it('is the same when every day is looked at as when only those are that the index names', () => {
    fc.assert(
      fc.property(
        fc.record({
          accrueLateInterest: fc.boolean(),
          isPenalized: fc.boolean(),
          days: fc.integer({ min: 1, max: 120 }),
          cents: fc.integer({ min: 1, max: 105_000 }),
          period: fc.option(fc.integer({ min: 0, max: 70 })),
        }),
        ({ accrueLateInterest, isPenalized, days, cents, period }) => {
          const opened = disbursed(
            dynamicProduct({
              interestSettings: { accrueLateInterest, accrueInterestAfterMaturity: true },
              scheduleSettings: { numInstallments: { defaultValue: 1 } },
              penaltySettings: {
                loanPenaltyCalculationMethod: isPenalized ? 'OVERDUE_BALANCE_AND_INTEREST' : 'NONE',
                penaltyRate: { defaultValue: money('0.01') },
              },
              ...(period === null ? {} : { internalControls: { lockSettings: { lockPeriodDays: period } } }),
            }),
          );
          const paidOn = addDays('2011-01-23', days);
          const payment = (story: Story): Story => when(story, repay(money(cents).dividedBy(100), paidOn));
          const end = '2011-06-01';
          const byIndex = closedBefore(payment(closedBefore(opened, paidOn)), end);
          const everyDay = eachDayClosed(payment(eachDayClosed(opened, '2011-01-24', paidOn)), addDays(paidOn, 1), end);
          expect(posted(everyDay)).to.equal(posted(byIndex));
        },
      ),
      propertyRuns(25),
    );
  });
});

function posted({ transactions }: Story): string {
  return transactions.map(({ type, valueDate, amount }) => `${valueDate} ${type} ${amount.toFixed(2)}`).join('\n');
}
