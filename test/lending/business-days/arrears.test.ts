import { expect } from 'chai';
import { describe, it } from 'mocha';
import { daysLate, lastToleratedDay, lateRows, withArrears } from '../../../src/lending/business-days/arrears.ts';
import { nextBusinessDate } from '../../../src/lending/business-days/next-business-date.ts';
import { atBusinessDate } from '../../../src/lending/business-days/business-date.ts';
import type { Loan } from '../../../src/lending/loan.ts';
import type { WorkingCalendar } from '../../../src/lending/organization.ts';
import { accountOf } from '../../../src/lending/views/accounts.ts';
import { addDays, daysBetween } from '../../../src/lending/dates.ts';
import type { ArrearsSettings } from '../../../src/lending/products/product.ts';
import { disbursed, loanOf, money, product, repay, when } from '../loan-fixtures.ts';

/** An account of four months from 23 January 2011, at the start of a business date, under these settings. */
function accountOn(
  businessDate: string,
  arrearsSettings?: ArrearsSettings,
  arrearsTolerancePeriod: number | null = null,
) {
  const loan = loanOf(disbursed());
  const settings = arrearsSettings === undefined ? {} : { arrearsSettings };
  return { ...loan, product: { ...loan.product, ...settings }, arrearsTolerancePeriod, businessDate };
}

const period = (defaultValue: number): ArrearsSettings => ({
  toleranceCalculationMethod: 'ARREARS_TOLERANCE_PERIOD',
  tolerancePeriod: { defaultValue },
});

describe('arrears', () => {
  it('tolerate up to a day of the month: 25th and 5th give 11, 8, 11 and 10 days', () => {
    // Source: the published case of the lending API for a year without a leap day.
    const settings = { toleranceCalculationMethod: 'MONTHLY_ARREARS_TOLERANCE_DAY', monthlyToleranceDay: 5 } as const;
    const account = accountOn('2011-12-31', settings);
    const days = ['2011-01-25', '2011-02-25', '2011-03-25', '2011-04-25', '2011-12-25'].map((dueDate) =>
      daysBetween(dueDate, lastToleratedDay(dueDate, account)),
    );
    expect(days).to.deep.equal([11, 8, 11, 10, 11]);
  });

  it('begin when the late days exceed the tolerance, by which the account chooses for itself', () => {
    const states = (settings: ArrearsSettings | undefined, own: number | null, ...dates: readonly string[]): string[] =>
      dates.map((date) => withArrears(accountOn(date, settings, own)).position.accountState);
    // Due on 23 February, three days tolerated.
    expect(states(period(3), null, '2011-02-26', '2011-02-27')).to.deep.equal(['ACTIVE', 'ACTIVE_IN_ARREARS']);
    expect(states(period(3), 5, '2011-02-28', '2011-03-01')).to.deep.equal(['ACTIVE', 'ACTIVE_IN_ARREARS']);
    expect(states(undefined, null, '2011-02-23', '2011-02-24')).to.deep.equal(['ACTIVE', 'ACTIVE_IN_ARREARS']);
    expect(withArrears(accountOn('2011-03-10', period(3))).position.arrearsSince).to.equal('2011-02-27');
  });

  describe('where non-working days do not count', () => {
    const workingDays = (settings: ArrearsSettings): ArrearsSettings => ({
      ...settings,
      nonWorkingDaysMethod: 'EXCLUDED',
    });
    const byMonth = (monthlyToleranceDay: number): ArrearsSettings => ({
      toleranceCalculationMethod: 'MONTHLY_ARREARS_TOLERANCE_DAY',
      monthlyToleranceDay,
    });
    const weekends: WorkingCalendar = { nonWorkingDays: ['SATURDAY', 'SUNDAY'], holidays: [] };
    const holiday = { id: 1, name: 'Holiday', date: '2011-02-28', isAnnuallyRecurring: false };
    const withHoliday: WorkingCalendar = { ...weekends, holidays: [holiday] };

    // 23 February 2011 is a Wednesday, 28 February a Monday.
    const cases: readonly (readonly [string, ArrearsSettings, WorkingCalendar, string])[] = [
      ['three days', period(3), weekends, '2011-02-28'],
      ['three days before a weekend and a holiday', period(3), withHoliday, '2011-03-01'],
      ['two days before a weekend', period(2), weekends, '2011-02-27'],
      ['no days', period(0), weekends, '2011-02-23'],
      ['up to a Friday', byMonth(25), weekends, '2011-02-27'],
      ['up to a Saturday', byMonth(26), weekends, '2011-02-27'],
      ['up to a Wednesday', byMonth(2), weekends, '2011-03-02'],
    ];
    for (const [name, settings, calendar, last] of cases) {
      it(`tolerate ${name} of a row due on a Wednesday until ${last}`, () => {
        const terms = accountOn('2011-02-23', workingDays(settings));
        expect(lastToleratedDay('2011-02-23', terms, calendar)).to.equal(last);
        const stateOn = (date: string): string =>
          withArrears(accountOn(date, workingDays(settings)), calendar).position.accountState;
        expect([stateOn(last), stateOn(addDays(last, 1))]).to.deep.equal(['ACTIVE', 'ACTIVE_IN_ARREARS']);
      });
    }

    it('counts working days in arrears only, and all days where they are included', () => {
      const daysOn = (settings: ArrearsSettings, businessDate: string): number =>
        accountOf(atBusinessDate(withArrears(accountOn(businessDate, settings), withHoliday))).daysInArrears;
      const dates = ['2011-02-24', '2011-02-25', '2011-02-26', '2011-02-28', '2011-03-01', '2011-03-07'];
      expect(dates.map((date) => daysOn(workingDays(period(0)), date))).to.deep.equal([1, 2, 2, 2, 3, 7]);
      expect(dates.map((date) => daysOn(period(0), date))).to.deep.equal([1, 2, 3, 5, 6, 12]);
    });

    it('counts each day that does not count as it comes, and leaves the account as it is on a working day', () => {
      const positions = ['2011-02-24', '2011-02-25', '2011-02-26', '2011-02-27', '2011-02-28', '2011-03-01'].reduce<
        Loan['position'][]
      >((known, businessDate) => {
        const account = accountOn(businessDate, workingDays(period(0)));
        const position = known.at(-1) ?? account.position;
        return [...known, withArrears({ ...account, position }, withHoliday).position];
      }, []);
      // From Thursday, over a weekend and a Monday, to Tuesday.
      expect(positions.map(({ nonWorkingDaysInArrears = 0 }) => nonWorkingDaysInArrears)).to.deep.equal([
        0, 0, 1, 2, 3, 3,
      ]);
      expect(positions[1]).to.equal(positions[0]);
      expect(positions[5]).to.equal(positions[4]);
    });

    it('looks at each day on which the account might go into arrears, and at none afterwards', () => {
      const visited = (amount: string): string[] => {
        const settings = { ...workingDays(period(2)), toleranceFloorAmount: money(amount) };
        const dates: string[] = [];
        let loan: Loan = accountOn('2011-01-23', settings);
        for (let date = nextBusinessDate(loan); date !== null && date < '2011-03-10'; date = nextBusinessDate(loan)) {
          dates.push(date.slice(5));
          loan = withArrears({ ...loan, businessDate: date }, withHoliday);
        }
        return [...dates, loan.position.accountState];
      };
      const upToMonday = ['02-23', '02-24', '02-26', '02-27', '02-28'];
      expect(visited('1')).to.deep.equal([...upToMonday, '03-01', 'ACTIVE_IN_ARREARS']);
      // What is late is tolerated, whatever the day.
      expect(visited('5000')).to.deep.equal(['02-23', '02-24', '02-26', 'ACTIVE']);
    });

    it('forget what did not count when the account is no longer in arrears', () => {
      const late = withArrears(accountOn('2011-03-07', workingDays(period(0))), withHoliday);
      expect(late.position.nonWorkingDaysInArrears).to.equal(5);
      const included = { ...late, product: accountOn('2011-03-07', period(0)).product };
      expect(withArrears(included, withHoliday).position).to.not.have.property('nonWorkingDaysInArrears');
    });
  });

  it('tolerate an amount, but not on the last installment', () => {
    const settings = {
      ...period(0),
      tolerancePercentageOfOutstandingPrincipal: { defaultValue: money(40) },
      toleranceFloorAmount: money(10),
    };
    // 315.47 is late on 24 February, 40 % of 1000 are tolerated; in March 630.94 are late.
    const stateOn = (date: string): string => withArrears(accountOn(date, settings)).position.accountState;
    expect([stateOn('2011-02-24'), stateOn('2011-03-24')]).to.deep.equal(['ACTIVE', 'ACTIVE_IN_ARREARS']);
    const generous = { ...settings, tolerancePercentageOfOutstandingPrincipal: { defaultValue: money(1000) } };
    const last = withArrears(accountOn('2011-05-24', generous)).position.accountState;
    expect(last).to.equal('ACTIVE_IN_ARREARS');
  });

  it('tolerate by the cent less than a share of the principal, or than the floor where that is more', () => {
    // 315.47 is late on 24 February, of 1000.
    const stateBy = (share: string | undefined, floor: string): string => {
      const settings = {
        ...period(0),
        tolerancePercentageOfOutstandingPrincipal: share === undefined ? {} : { defaultValue: money(share) },
        toleranceFloorAmount: money(floor),
      };
      return withArrears(accountOn('2011-02-24', settings)).position.accountState;
    };
    expect([stateBy('31.547', '10'), stateBy('31.548', '10')]).to.deep.equal(['ACTIVE_IN_ARREARS', 'ACTIVE']);
    expect([stateBy('1', '315.47'), stateBy('1', '315.48')]).to.deep.equal(['ACTIVE_IN_ARREARS', 'ACTIVE']);
    expect([stateBy(undefined, '315.47'), stateBy(undefined, '315.48')]).to.deep.equal(['ACTIVE_IN_ARREARS', 'ACTIVE']);
  });

  it('count the days of the oldest late installment', () => {
    const { installments } = loanOf(disbursed()).position;
    expect([daysLate(installments, '2011-02-23'), daysLate(installments, '2011-02-24')]).to.deep.equal([0, 1]);
    expect(daysLate(installments, '2011-03-25')).to.equal(30);
    expect(lateRows(installments, '2011-03-25').map(({ number }) => number)).to.deep.equal([1, 2]);
  });

  it('count from the day on which they began, or from the oldest installment that is late now', () => {
    const sinceBy = (dateCalculationMethod: ArrearsSettings['dateCalculationMethod'] & string): unknown => {
      const account = accountOn('2011-03-30', { ...period(0), dateCalculationMethod });
      const { position } = withArrears({ ...account, businessDate: '2011-02-24' });
      // The first installment is paid: the second one has been late since 24 March.
      const paid = loanOf(when(disbursed(), repay('315.47', '2011-03-30'))).position;
      const { accountState, arrearsSince } = position;
      const still = withArrears({ ...account, position: { ...paid, accountState, arrearsSince } });
      return [arrearsSince, still.position.arrearsSince];
    };
    expect(sinceBy('ACCOUNT_FIRST_WENT_TO_ARREARS')).to.deep.equal(['2011-02-24', '2011-02-24']);
    expect(sinceBy('LAST_LATE_REPAYMENT')).to.deep.equal(['2011-02-24', '2011-03-24']);
  });

  it('count from the day on which what was late reached the tolerated amount', () => {
    const sinceBy = (dateCalculationMethod: ArrearsSettings['dateCalculationMethod'] & string): unknown => {
      const settings = { ...period(3), toleranceFloorAmount: money(500), dateCalculationMethod };
      // 315.47 is late on 24 February, 630.94 on 24 March; the first row was tolerated up to 26 February.
      const states = ['2011-02-27', '2011-03-23', '2011-03-24', '2011-04-24'].map((date) =>
        withArrears(accountOn(date, settings)),
      );
      expect(states.map(({ position }) => position.accountState === 'ACTIVE')).to.deep.equal([
        true,
        true,
        false,
        false,
      ]);
      return states.map(({ position }) => position.arrearsSince).slice(2);
    };
    const [march, february] = ['2011-03-24', '2011-02-27'];
    expect(sinceBy('ACCOUNT_FIRST_BREACHED_MATERIALITY_THRESHOLD')).to.deep.equal([march, march]);
    expect(sinceBy('ACCOUNT_FIRST_WENT_TO_ARREARS')).to.deep.equal([february, february]);
    // Without an amount, it is reached as soon as a row is late for longer than is tolerated.
    const settings = { ...period(3), dateCalculationMethod: 'ACCOUNT_FIRST_BREACHED_MATERIALITY_THRESHOLD' } as const;
    expect(withArrears(accountOn('2011-03-10', settings)).position.arrearsSince).to.equal(february);
  });

  it('end when what is late is paid, and change nothing of an account without a business date', () => {
    const late = withArrears(accountOn('2011-02-24'));
    expect(late.position.accountState).to.equal('ACTIVE_IN_ARREARS');
    const repaid = loanOf(when(disbursed(), repay('315.47', '2011-02-23')));
    const { position } = withArrears({ ...repaid, businessDate: '2011-02-24' });
    expect([position.accountState, position.arrearsSince]).to.deep.equal(['ACTIVE', null]);
    const untouched = { ...loanOf(disbursed()), businessDate: null };
    expect(withArrears(untouched)).to.equal(untouched);
    expect(product().arrearsSettings).to.equal(undefined);
  });
});
