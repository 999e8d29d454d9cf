import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { figuresOf } from '../../../src/lending/balances.ts';
import { type Holiday, type WorkingCalendar } from '../../../src/lending/organization.ts';
import type { LoanProduct } from '../../../src/lending/products/product.ts';
import { alwaysOpen } from '../../../src/lending/schedule/calendar.ts';
import type { RepaymentReschedulingMethod } from '../../../src/lending/terms.ts';
import { propertyRuns } from '../../support/values/property-runs.ts';
import { type Step, anyProduct, anySteps, walk, weekendsAndSpring } from '../loan-arbitraries.ts';
import {
  type AskedCommand,
  type Story,
  adjust,
  approve,
  create,
  disburse,
  disbursed,
  dynamicProduct,
  loanOf,
  money,
  overpay,
  product,
  reasons,
  repay,
  rowsOf,
  terminate,
  when,
  withCalendar,
  writeOff,
} from '../loan-fixtures.ts';

const closedOn = (...dates: string[]): WorkingCalendar => ({
  nonWorkingDays: ['SATURDAY', 'SUNDAY'],
  holidays: dates.map((date, index): Holiday => ({ id: index + 1, name: 'Closed', date, isAnnuallyRecurring: false })),
});
const weekends = closedOn();

const moveAfter = (valueDate: string): AskedCommand => ({ type: 'RECALCULATE_DUE_DATES', valueDate });
const dueDates = (story: Story): string[] => loanOf(story).position.installments.map(({ dueDate }) => dueDate);
const interests = (story: Story): string[] =>
  loanOf(story).position.installments.map(({ interest }) => interest.amount.expected.toFixed(2));
const movesOf = ({ transactions }: Story): string[] =>
  transactions.flatMap(({ type, valueDate }) => (type.startsWith('DUE_DATE_CHANGED') ? [`${type} ${valueDate}`] : []));

/** 3000 over three months from 15 January 2026, at 12 percent a year. */
function lent(make: typeof product, method: RepaymentReschedulingMethod | undefined, settings: object = {}): Story {
  const base = make({
    interestSettings: {
      interestRate: { defaultValue: money(12) },
      interestChargeFrequency: 'ANNUALIZED',
      interestCalculationMethod: 'FLAT',
      daysInYear: 'ACTUAL_365_FIXED',
      scheduleInterestDaysCountMethod: 'ACTUAL_DAYS_COUNT',
      ...settings,
    },
    scheduleSettings: {
      numInstallments: { defaultValue: 3 },
      ...(method === undefined ? {} : { repaymentReschedulingMethod: method }),
    },
  });
  return paidOut(base);
}

function paidOut(base: LoanProduct): Story {
  const opened = when(when(withCalendar(weekends), create(base, 3000)), approve);
  return when(opened, disburse('2026-01-15'));
}

describe('a change of the calendar', () => {
  // 15 February and 15 March 2026 are Sundays, 15 April is a Wednesday.
  const examples: readonly {
    readonly method: RepaymentReschedulingMethod | undefined;
    readonly before: readonly string[];
    readonly holidays: readonly string[];
    readonly after: readonly string[];
    /** 3000 FLAT at 12 a year by real days. */
    readonly interest: readonly string[];
  }[] = [
    {
      method: 'NEXT_WORKING_DAY',
      before: ['2026-02-16', '2026-03-16', '2026-04-15'],
      holidays: ['2026-03-16', '2026-03-17'],
      after: ['2026-02-16', '2026-03-18', '2026-04-15'],
      interest: ['31.56', '29.59', '27.62'],
    },
    {
      method: 'PREVIOUS_WORKING_DAY',
      before: ['2026-02-13', '2026-03-13', '2026-04-15'],
      holidays: ['2026-03-13'],
      after: ['2026-02-13', '2026-03-12', '2026-04-15'],
      interest: ['28.60', '26.63', '33.53'],
    },
    {
      method: 'EXTEND_SCHEDULE',
      before: ['2026-04-15', '2026-05-15', '2026-06-15'],
      holidays: ['2026-05-15'],
      after: ['2026-04-15', '2026-06-15', '2026-07-15'],
      interest: ['88.77', '60.16', '29.59'],
    },
    {
      method: undefined,
      before: ['2026-02-15', '2026-03-15', '2026-04-15'],
      holidays: ['2026-03-15'],
      after: ['2026-02-15', '2026-03-15', '2026-04-15'],
      interest: ['30.58', '27.62', '30.58'],
    },
  ];
  for (const { method, before, holidays, after, interest } of examples) {
    it(`moves the installments to come as ${method ?? 'NONE'} says, with the interest of their days`, () => {
      const start = lent(product, method);
      expect(dueDates(start)).to.deep.equal(before);
      const story = when(withCalendar(closedOn(...holidays), start), moveAfter('2026-01-20'));
      expect(dueDates(story)).to.deep.equal(after);
      expect(interests(story)).to.deep.equal(interest);
      const isMoved = method !== undefined;
      expect(movesOf(story)).to.deep.equal(isMoved ? ['DUE_DATE_CHANGED 2026-01-20'] : []);
      const events = story.events.slice(start.events.length);
      expect(events.map(({ eventType }) => eventType)).to.deep.equal(
        isMoved ? ['loan_transaction_posted', 'loan_balance_changed', 'loan_schedule_changed'] : [],
      );
      for (const event of events) {
        if (event.eventType === 'loan_schedule_changed') expect(event.reason).to.equal('HOLIDAY_CHANGED');
      }
      const again = when(story, moveAfter('2026-01-20'));
      expect(again.outcome).to.equal('committed');
      expect(again.events).to.have.length(story.events.length);
      expect(again.transactions).to.have.length(story.transactions.length);

      const removed = when(withCalendar(weekends, story), moveAfter('2026-01-21'));
      expect(loanOf(removed).position.installments).to.deep.equal(loanOf(start).position.installments);
    });
  }

  it('leaves the interest of nominal periods as it is, and what the running one earned stays its share', () => {
    const start = lent(product, 'NEXT_WORKING_DAY', { scheduleInterestDaysCountMethod: 'REPAYMENT_PERIODICITY' });
    const story = when(withCalendar(closedOn('2026-03-16'), start), moveAfter('2026-01-20'));
    expect(dueDates(story)).to.deep.equal(['2026-02-16', '2026-03-17', '2026-04-15']);
    expect(interests(story)).to.deep.equal(['30.00', '30.00', '30.00']);

    const dynamic = lent(dynamicProduct, 'NEXT_WORKING_DAY', {
      interestCalculationMethod: 'DECLINING_BALANCE',
      scheduleInterestDaysCountMethod: 'REPAYMENT_PERIODICITY',
    });
    const running = when(dynamic, overpay(600, '2026-01-31'));
    const moved = when(withCalendar(closedOn('2026-02-16'), running), moveAfter('2026-01-31'));
    // 3000 for 16 of 33 days of a month, and 2400 for the other 17.
    expect(dueDates(moved)[0]).to.equal('2026-02-17');
    expect(interests(moved)[0]).to.equal('26.91');
    const back = when(withCalendar(weekends, moved), moveAfter('2026-01-31'));
    expect(dueDates(back)).to.deep.equal(dueDates(running));
    expect(rowsOf(loanOf(back))).to.deep.equal(rowsOf(loanOf(running)));
  });

  it('keeps the level payment, and the last installment takes the difference', () => {
    for (const make of [product, dynamicProduct]) {
      const start = lent(make, 'NEXT_WORKING_DAY', { interestCalculationMethod: 'DECLINING_BALANCE_DISCOUNTED' });
      expect(rowsOf(loanOf(start))).to.deep.equal([
        '988.51/0.00 31.56/0.00',
        '1001.55/0.00 18.52/0.00',
        '1009.94/0.00 9.96/0.00',
      ]);
      const story = when(withCalendar(closedOn('2026-03-16'), start), moveAfter('2026-01-20'));
      // 2011.49 for 29 days instead of 28 is 19.18, of a payment of 1020.07.
      expect(rowsOf(loanOf(story))).to.deep.equal([
        '988.51/0.00 31.56/0.00',
        '1000.89/0.00 19.18/0.00',
        '1010.60/0.00 9.64/0.00',
      ]);
      const back = when(withCalendar(weekends, story), moveAfter('2026-01-20'));
      expect(rowsOf(loanOf(back))).to.deep.equal(rowsOf(loanOf(start)));
    }
  });

  it('moves an installment due tomorrow and not the one due today', () => {
    const start = withCalendar(closedOn('2026-02-16'), lent(product, 'NEXT_WORKING_DAY'));
    expect(dueDates(when(start, moveAfter('2026-02-16')))[0]).to.equal('2026-02-16');
    expect(dueDates(when(start, moveAfter('2026-02-15')))[0]).to.equal('2026-02-17');
  });

  it('never moves one to a day that is over', () => {
    const moved = when(
      withCalendar(closedOn('2026-03-16', '2026-03-17', '2026-03-18'), lent(product, 'NEXT_WORKING_DAY')),
      moveAfter('2026-03-01'),
    );
    expect(dueDates(moved)[1]).to.equal('2026-03-19');
    const opened = withCalendar({ nonWorkingDays: [], holidays: [] }, moved);
    expect(dueDates(when(opened, moveAfter('2026-03-14')))[1]).to.equal('2026-03-15');
    expect(dueDates(when(opened, moveAfter('2026-03-17')))[1]).to.equal('2026-03-18');
    expect(dueDates(when(opened, moveAfter('2026-03-18')))[1]).to.equal('2026-03-19');
  });

  it('leaves an installment that was paid in part, and those before it', () => {
    const start = lent(product, 'NEXT_WORKING_DAY');
    const second = loanOf(start).position.installments[1] ?? expect.fail('no row');
    expect(second.number).to.equal(2);
    const paid = when(start, repay(1100, '2026-01-20'));
    const everyMonday = closedOn('2026-02-16', '2026-03-16', '2026-04-15');
    const story = when(withCalendar(everyMonday, paid), moveAfter('2026-01-20'));
    expect(dueDates(story)).to.deep.equal(['2026-02-16', '2026-03-16', '2026-04-16']);
  });

  it('is followed after the last day that the account has reached, when no day is named', () => {
    const start = withCalendar(closedOn('2026-02-16', '2026-03-16'), lent(product, 'NEXT_WORKING_DAY'));
    const receivedAt = Date.parse('2026-02-10T12:00:00Z');
    const story = when(start, { type: 'RECALCULATE_DUE_DATES', receivedAt });
    expect(movesOf(story)).to.deep.equal(['DUE_DATE_CHANGED 2026-02-10']);
    const reached = when(start, { type: 'START_BUSINESS_DAY', businessDate: '2026-02-16' });
    expect(dueDates(when(reached, { type: 'RECALCULATE_DUE_DATES', receivedAt }))).to.deep.equal([
      '2026-02-16',
      '2026-03-17',
      '2026-04-15',
    ]);
  });

  it('keeps the interest of late principal that the last installment asks for, and moves it until it earns its own', () => {
    const late = lent(
      (settings) =>
        dynamicProduct({
          ...settings,
          interestSettings: { ...settings?.interestSettings, accrueLateInterest: true },
          paymentSettings: { latePaymentsRecalculationMethod: 'LAST_INSTALLMENT_INCREASE' },
        }),
      'NEXT_WORKING_DAY',
      { interestCalculationMethod: 'DECLINING_BALANCE' },
    );
    expect(dueDates(late)).to.deep.equal(['2026-02-16', '2026-03-16', '2026-04-15']);
    const holiday = closedOn('2026-04-15');
    const lastOf = (story: Story) => loanOf(story).position.installments[2] ?? expect.fail('no row');
    const movedOn = (day: string): Story => when(withCalendar(holiday, when(late, repay('0.01', day))), moveAfter(day));
    // 1000 of the first row are late: 1000 * 12 % * 22 / 365 up to 10 March, and 28 / 365 up to the 16th.
    for (const [day, earned] of [
      ['2026-03-10', '7.232876712'],
      ['2026-03-16', '9.205479452'],
    ] as const) {
      const moved = movedOn(day);
      expect(dueDates(moved), day).to.deep.equal(['2026-02-16', '2026-03-16', '2026-04-16']);
      expect(lastOf(moved).interestAccrued.toFixed(9), day).to.equal(earned);
      const back = when(withCalendar(weekends, moved), moveAfter(day));
      expect(loanOf(back).position.installments).to.deep.equal(
        loanOf(when(late, repay('0.01', day))).position.installments,
      );
    }
    // On the 17th it has earned for itself, what is told apart no more.
    expect(dueDates(movedOn('2026-03-17'))[2]).to.equal('2026-04-15');
  });

  it('moves nothing of a terminated account, and is refused for one that is not active', () => {
    const start = lent(dynamicProduct, 'NEXT_WORKING_DAY', { interestCalculationMethod: 'DECLINING_BALANCE' });
    const ended = when(start, terminate('2026-01-20'));
    const closedThen = withCalendar(closedOn('2026-01-20'), ended);
    expect(dueDates(when(closedThen, moveAfter('2026-01-19')))).to.deep.equal(['2026-01-20']);
    const written = when(start, writeOff('2026-01-20'));
    expect(reasons(when(written, moveAfter('2026-01-20')))).to.deep.equal(['INVALID_ACCOUNT_STATE']);
  });
});

describe('what happens across a change of the calendar', () => {
  const start = lent(dynamicProduct, 'NEXT_WORKING_DAY', { interestCalculationMethod: 'DECLINING_BALANCE' });
  const holiday = closedOn('2026-03-16');
  const receivedAt = Date.parse('2026-01-25T12:00:00Z');

  it('cannot be adjusted itself', () => {
    const moved = when(withCalendar(holiday, start), moveAfter('2026-01-20'));
    expect(reasons(when(moved, adjust(2)))).to.deep.equal(['TRANSACTION_TYPE_DOES_NOT_ALLOW_ADJUSTMENT transactionId']);
  });

  it('an adjusted repayment leaves the installments on their new days', () => {
    const paid = when(start, repay(300, '2026-01-18'));
    const moved = when(withCalendar(holiday, paid), moveAfter('2026-01-20'));
    const story = when(moved, { ...adjust(2), receivedAt });
    expect(movesOf(story)).to.deep.equal([
      'DUE_DATE_CHANGED 2026-01-20',
      'DUE_DATE_CHANGED_ADJUSTMENT 2026-01-20',
      'DUE_DATE_CHANGED 2026-01-20',
    ]);
    const never = when(withCalendar(holiday, start), moveAfter('2026-01-20'));
    expect(dueDates(story)).to.deep.equal(['2026-02-16', '2026-03-17', '2026-04-15']);
    expect(rowsOf(loanOf(story))).to.deep.equal(rowsOf(loanOf(never)));
  });

  it('an adjusted repayment that had removed installments brings them back on working days', () => {
    const shortened = when(
      start,
      overpay(1900, '2026-01-18', {
        prepaymentRecalculationMethod: 'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT',
      }),
    );
    expect(dueDates(shortened)).to.deep.equal(['2026-02-16', '2026-03-16']);
    const unmoved = when(withCalendar(closedOn('2026-04-15'), shortened), moveAfter('2026-01-20'));
    expect(movesOf(unmoved)).to.deep.equal([]);
    const story = when(unmoved, { ...adjust(2), receivedAt });
    expect(dueDates(story)).to.deep.equal(['2026-02-16', '2026-03-16', '2026-04-16']);
    expect(movesOf(story)).to.deep.equal(['DUE_DATE_CHANGED 2026-01-25']);
  });

  it('a write-off that is taken back leaves the account on the calendar of now', () => {
    const written = when(start, writeOff('2026-01-18'));
    const story = when(withCalendar(holiday, written), { type: 'UNDO_WRITE_OFF', receivedAt });
    expect(dueDates(story)).to.deep.equal(['2026-02-16', '2026-03-17', '2026-04-15']);
  });

  it('a repayment dated before the change is as if it had come in time', () => {
    const moved = when(withCalendar(holiday, start), moveAfter('2026-01-20'));
    const late = when(moved, { ...repay(300, '2026-01-18'), receivedAt });
    const inTime = when(withCalendar(holiday, when(start, repay(300, '2026-01-18'))), moveAfter('2026-01-20'));
    expect(rowsOf(loanOf(late))).to.deep.equal(rowsOf(loanOf(inTime)));
    expect(dueDates(late)).to.deep.equal(dueDates(inTime));
  });
});

/** Dates, amounts and earned interest of rows, to fifteen digits after the point. */
function plainRows(story: Story): unknown {
  return loanOf(story).position.installments.map(({ key, dueDate, accruesAfter, unmoved, interestAccrued }, index) => [
    key,
    dueDate,
    accruesAfter,
    unmoved,
    interestAccrued.toDecimalPlaces(15).toFixed(),
    rowsOf(loanOf(story))[index],
  ]);
}

describe('any loan with a change of the calendar', () => {
  const anyLoan = fc.record({
    drawn: anyProduct,
    method: fc.constantFrom('NEXT_WORKING_DAY', 'PREVIOUS_WORKING_DAY', 'EXTEND_SCHEDULE'),
    steps: anySteps,
  });
  const walked = (
    drawn: LoanProduct,
    repaymentReschedulingMethod: RepaymentReschedulingMethod,
    steps: readonly Step[],
  ): Story => {
    const scheduleSettings = { ...drawn.scheduleSettings, repaymentReschedulingMethod };
    const opened = when(withCalendar(weekendsAndSpring), create({ ...drawn, scheduleSettings }, 3000));
    const start = when(when(opened, approve), disburse('2011-01-23'));
    return steps.reduce(walk, start);
  };
  const isActive = ({ loan }: Story): boolean =>
    loan?.position.accountState === 'ACTIVE' && loan.position.accountSubState !== 'TERMINATED';
  // A refund adds to the last row and leaves a level payment that was worked out for less. In fixed loans, what the
  // last row is to make up for can be more than all that it asks for: then it asks for none.
  const hasRowsOfOtherPrincipal = ({ loan, transactions }: Story): boolean =>
    transactions.some(({ type }) => type === 'REFUND') ||
    (loan?.product.type === 'FIXED_TERM_LOAN' &&
      loan.terms.rounding.roundingRepaymentScheduleMethod ===
        'ROUND_PRINCIPAL_AND_INTEREST_REMAINDER_INTO_LAST_REPAYMENT' &&
      transactions.some(({ type }) => type === 'PRINCIPAL_OVERPAYMENT'));

  it('has the rows that it had before, when the change is taken back', () => {
    fc.assert(
      fc.property(anyLoan, ({ drawn, method, steps }) => {
        const story = walked(drawn, method, steps);
        const day = loanOf(story).position.lastValueDate ?? '2011-01-23';
        fc.pre(isActive(story) && !hasRowsOfOtherPrincipal(story));
        // The calendar is the one that it was disbursed under, so nothing moves but what a payment kept from moving.
        const settled = when(story, moveAfter(day));
        const there = when(withCalendar(alwaysOpen, settled), moveAfter(day));
        const back = when(withCalendar(weekendsAndSpring, there), moveAfter(day));
        expect(plainRows(back)).to.deep.equal(plainRows(settled));
      }),
      propertyRuns(150),
    );
  });

  it('owes the same principal as before, and keeps its rows in order', () => {
    fc.assert(
      fc.property(anyLoan, ({ drawn, method, steps }) => {
        const story = walked(drawn, method, steps);
        fc.pre(isActive(story));
        const day = loanOf(story).position.lastValueDate ?? '2011-01-23';
        const moved = when(withCalendar(alwaysOpen, story), moveAfter(day));
        expect(moved.outcome).to.equal('committed');
        const principal = (one: Story): string => figuresOf(loanOf(one)).principal.balance.toFixed();
        expect(principal(moved)).to.equal(principal(story));
        let before = loanOf(moved).position.disbursements[0]?.date ?? '';
        for (const { accruesAfter, dueDate, principal: asked } of loanOf(moved).position.installments) {
          expect(accruesAfter).to.equal(before);
          expect(dueDate > before).to.equal(true);
          expect(asked.expected.isNegative()).to.equal(false);
          before = dueDate;
        }
      }),
      propertyRuns(100),
    );
  });

  it('is none for one that was just disbursed', () => {
    fc.assert(
      fc.property(anyLoan, ({ drawn, method }) => {
        const story = walked(drawn, method, []);
        const again = when(story, moveAfter('2011-01-23'));
        expect(again.transactions).to.have.length(story.transactions.length);
      }),
      propertyRuns(60),
    );
    expect(movesOf(disbursed())).to.deep.equal([]);
  });
});
