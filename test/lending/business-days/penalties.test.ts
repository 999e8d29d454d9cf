import { expect } from 'chai';
import { describe, it } from 'mocha';
import { nextBusinessDate } from '../../../src/lending/business-days/next-business-date.ts';
import { atBusinessDate } from '../../../src/lending/business-days/business-date.ts';
import { accruedPenalty, duePenalties, firstPenaltyDay } from '../../../src/lending/business-days/penalties.ts';
import { daysBetween } from '../../../src/lending/dates.ts';
import type { Loan } from '../../../src/lending/loan.ts';
import type { WorkingCalendar } from '../../../src/lending/organization.ts';
import type { LoanProduct, PenaltySettings } from '../../../src/lending/products/product.ts';
import { applyPenalty, disbursed, loanOf, money, product, when } from '../loan-fixtures.ts';

/** An account of four months from 23 January 2011 with penalties, of which the first row is due on 23 February. */
function account(penaltySettings: PenaltySettings, more: Partial<LoanProduct> = {}, amount = 40_000): Loan {
  const settings = { interestSettings: { interestRate: { defaultValue: money(0) } } };
  const loan = loanOf(disbursed(product(settings), amount));
  return { ...loan, product: { ...loan.product, penaltySettings, ...more } };
}

const overdue = (rate: number, grace = 0): PenaltySettings => ({
  loanPenaltyCalculationMethod: 'OVERDUE_BALANCE',
  penaltyRate: { defaultValue: money(rate) },
  loanPenaltyGracePeriod: grace,
});
const amountsOn = (loan: Loan, date: string): string[] =>
  duePenalties(loan, date).map(({ amount }) => amount.toFixed(2));

describe('penalties for late days', () => {
  it('cover all late days with the first, and each further day: 10000 at 0.5 % with three days of grace', () => {
    const loan = account(overdue(0.5, 3));
    expect(amountsOn(loan, '2011-02-26')).to.deep.equal([]);
    expect(amountsOn(loan, '2011-02-27')).to.deep.equal(['200.00']);
    const [late, ...others] = loan.position.installments;
    if (late === undefined) expect.fail();
    const penalized = [{ ...late, penaltyCalculatedTo: '2011-02-27' }, ...others];
    const next = { ...loan, position: { ...loan.position, installments: penalized } };
    expect(amountsOn(next, '2011-02-28')).to.deep.equal(['50.00']);
    expect(amountsOn(next, '2011-02-27')).to.deep.equal([]);
  });

  it('begin when the late days exceed both tolerances: 32 and 40 days give none after 34 and one after 41', () => {
    // Source: the published case of the lending API.
    const tolerance = { toleranceCalculationMethod: 'ARREARS_TOLERANCE_PERIOD', tolerancePeriod: { defaultValue: 32 } };
    const loan = account(overdue(0.5, 40), { arrearsSettings: tolerance } as Partial<LoanProduct>);
    const [row] = loan.position.installments;
    const first = firstPenaltyDay(loan, row ?? expect.fail());
    expect(daysBetween('2011-02-23', first ?? '')).to.equal(41);
    const shorter = account(overdue(0.5, 10), { arrearsSettings: tolerance } as Partial<LoanProduct>);
    expect(daysBetween('2011-02-23', firstPenaltyDay(shorter, row ?? expect.fail()) ?? '')).to.equal(33);
  });

  it('begin on a working day where non-working days are not tolerated ones, and cover all late days', () => {
    const arrearsSettings = {
      toleranceCalculationMethod: 'ARREARS_TOLERANCE_PERIOD',
      tolerancePeriod: { defaultValue: 2 },
      nonWorkingDaysMethod: 'EXCLUDED',
    } as const;
    const loan = account(overdue(0.5), { arrearsSettings });
    const weekends: WorkingCalendar = { nonWorkingDays: ['SATURDAY', 'SUNDAY'], holidays: [] };
    const amounts = ['2011-02-26', '2011-02-27', '2011-02-28'].map((date) =>
      duePenalties(loan, date, weekends).map(({ amount }) => amount.toFixed(2)),
    );
    // Due on Wednesday; Monday is the third working day and the fifth day.
    expect(amounts).to.deep.equal([[], [], ['250.00']]);
  });

  it('are a share of the overdue principal, with its interest, with its fees, or of all that is lent', () => {
    const loan = loanOf(disbursed());
    const of = (loanPenaltyCalculationMethod: PenaltySettings['loanPenaltyCalculationMethod']): string[] =>
      amountsOn(
        {
          ...loan,
          product: {
            ...loan.product,
            penaltySettings: { loanPenaltyCalculationMethod, penaltyRate: { defaultValue: money(1) } },
          },
        },
        '2011-02-25',
      );
    // 215.47 of principal and 100.00 of interest, two days late.
    expect(of('OVERDUE_BALANCE')).to.deep.equal(['4.31']);
    expect(of('OVERDUE_BALANCE_AND_INTEREST')).to.deep.equal(['6.31']);
    expect(of('OVERDUE_BALANCE_INTEREST_AND_FEE')).to.deep.equal(['6.31']);
    // 1000 at one percent a month, two days of 365 / 12.
    expect(of('OUTSTANDING_PRINCIPAL')).to.deep.equal(['0.66']);
    expect(of('NONE')).to.deep.equal([]);
  });

  it('are for each late row, at the rate of the account, and none while it is locked', () => {
    const loan = { ...account(overdue(0.5)), penaltyRate: money(1) };
    expect(duePenalties(loan, '2011-03-24').map(({ installmentNumber }) => installmentNumber)).to.deep.equal([1, 2]);
    expect(amountsOn(loan, '2011-03-24')).to.deep.equal(['2900.00', '100.00']);
    const locked = { ...loan, position: { ...loan.position, lockedOperations: ['APPLY_PENALTIES'] as const } };
    expect(duePenalties(locked, '2011-03-24')).to.deep.equal([]);
    expect(nextBusinessDate({ ...locked, businessDate: '2011-02-24' })).to.equal('2011-03-23');
  });

  it('accrue from the first late day on, and are accrued no longer once they are applied', () => {
    const accrued = (businessDate: string, rate = 0.5): string =>
      accruedPenalty(atBusinessDate({ ...account(overdue(rate, 3)), businessDate })).toFixed(2);
    expect(accrued('2011-02-23')).to.equal('0.00');
    expect(accrued('2011-02-26')).to.equal('150.00');
    expect(accrued('2011-02-26', 0)).to.equal('0.00');
    const shownOn = (calculatedTo: string): string => {
      const loan = atBusinessDate({ ...account(overdue(0.5, 3)), businessDate: '2011-02-27' });
      const [late = expect.fail(), ...others] = loan.position.installments;
      const installments = [{ ...late, penaltyCalculatedTo: calculatedTo }, ...others];
      return accruedPenalty({ ...loan, position: { ...loan.position, installments } }).toFixed(2);
    };
    expect([shownOn('2011-02-27'), shownOn('2011-02-26')]).to.deep.equal(['0.00', '50.00']);
  });

  it('make something happen on every late day, from the first penalty on', () => {
    const loan = account(overdue(0.5, 3));
    const next = (businessDate: string): string | null => nextBusinessDate({ ...loan, businessDate });
    expect(next('2011-02-24')).to.equal('2011-02-27');
    expect(next('2011-02-27')).to.equal('2011-02-28');
    expect(next('2011-02-28')).to.equal('2011-03-01');
  });

  it('are not counted as calculated when a person applies one', () => {
    const story = when(disbursed(), applyPenalty(5, { installmentNumber: 1, valueDate: '2011-02-25' }));
    expect(loanOf(story).position.installments[0]?.penaltyCalculatedTo).to.equal(null);
    const bySystem = when(disbursed(), {
      ...applyPenalty(5, { installmentNumber: 1, valueDate: '2011-02-25' }),
      isSystemPosted: true,
    });
    expect(loanOf(bySystem).position.installments[0]?.penaltyCalculatedTo).to.equal('2011-02-25');
  });
});
