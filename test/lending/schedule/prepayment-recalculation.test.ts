import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { prepaymentRecalculationMethods } from '../../../src/lending/payment-options.ts';
import type { PrepaymentRecalculationMethod } from '../../../src/lending/payment-options.ts';
import { Decimal } from '../../../src/lending/money.ts';
import { buildSchedule } from '../../../src/lending/schedule/build-schedule.ts';
import { rebuildRows } from '../../../src/lending/schedule/prepayment-recalculation.ts';
import { anyPrincipal, anyStart, anyTerms, expectSound } from './any-schedule.ts';
import { amountsOf, scheduleTerms, totalsOf } from './schedule-terms.ts';
import { propertyRuns } from '../../support/values/property-runs.ts';

describe('rebuilding the remaining rows', () => {
  const tenPercent = { interestRate: '10', interestCalculationMethod: 'DECLINING_BALANCE' } as const;
  const terms = scheduleTerms({ repaymentInstallments: 6, interest: tenPercent });
  const thousand = new Decimal(1000);
  const schedule = buildSchedule({ terms, principal: thousand, disbursementDate: '2017-01-21' });

  /** Source of the terms: https://support.mambu.com/docs/prepayment-recalculation-methods */
  const decliningCases: readonly [PrepaymentRecalculationMethod, readonly string[]][] = [
    ['NO_RECALCULATION', ['0.00 3.47', '83.34 3.47', '166.67 2.78', '166.65 1.39']],
    ['RESCHEDULE_REMAINING_REPAYMENTS', ['104.17 3.47', '104.17 2.60', '104.17 1.74', '104.15 0.87']],
    ['RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS', ['104.17 3.47', '104.17 2.60', '104.17 1.74', '104.15 0.87']],
    ['REDUCE_AMOUNT_PER_INSTALLMENT', ['104.17 3.47', '104.17 2.60', '104.17 1.74', '104.15 0.87']],
    ['RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT', ['166.67 3.47', '166.67 2.08', '83.32 0.69']],
    // Totals of 172.23 and 170.84 are kept.
    ['RECALCULATE_SCHEDULE_KEEP_SAME_TOTAL_REPAYMENT_AMOUNT', ['168.76 3.47', '168.77 2.07', '79.13 0.66']],
    ['REDUCE_NUMBER_OF_INSTALLMENTS', ['166.67 3.47', '166.67 2.08', '83.32 0.69']],
    ['REDUCE_NUMBER_OF_INSTALLMENTS_NEW', ['166.67 3.47', '166.67 2.08', '83.32 0.69']],
  ];
  for (const [method, amounts] of decliningCases) {
    it(`after 416.66 are left of a declining balance: ${method}`, () => {
      const rows = rebuildRows({
        terms,
        amountLent: thousand,
        outstanding: new Decimal('416.66'),
        rows: schedule.slice(2),
        method,
      });
      expect(amountsOf(rows)).to.deep.equal(amounts);
      expect(rows.map((row) => row.number)).to.deep.equal([3, 4, 5, 6].slice(0, amounts.length));
    });
  }

  const annuity = scheduleTerms({ repaymentInstallments: 6, interest: { interestRate: '10' } });
  const level = buildSchedule({ terms: annuity, principal: thousand, disbursementDate: '2017-01-21' });
  const annuityCases: readonly [PrepaymentRecalculationMethod, readonly string[]][] = [
    ['REDUCE_AMOUNT_PER_INSTALLMENT', ['120.51', '120.51', '120.51', '120.52']],
    ['REDUCE_NUMBER_OF_INSTALLMENTS', ['171.56', '171.56', '136.66']],
    ['REDUCE_NUMBER_OF_INSTALLMENTS_NEW', ['171.56', '171.56', '136.66']],
    ['RECALCULATE_SCHEDULE_KEEP_SAME_TOTAL_REPAYMENT_AMOUNT', ['171.56', '171.56', '136.66']],
  ];
  for (const [method, totals] of annuityCases) {
    it(`after 200 are paid ahead of equal installments of 171.56: ${method}`, () => {
      const rows = rebuildRows({
        terms: annuity,
        amountLent: thousand,
        outstanding: new Decimal('472.18'),
        rows: level.slice(2),
        method,
      });
      expect(totalsOf(rows)).to.deep.equal(totals);
    });
  }

  it('computes the level payment again behind the rows that keep theirs', () => {
    const rebuilt = (keptPayments: number): string[] =>
      totalsOf(
        rebuildRows({
          terms: annuity,
          amountLent: thousand,
          outstanding: new Decimal('472.18'),
          rows: level.slice(2),
          method: 'REDUCE_AMOUNT_PER_INSTALLMENT',
          keptPayments,
        }),
      );
    expect(rebuilt(1)).to.deep.equal(['171.56', '103.21', '103.21', '103.22']);
    expect(rebuilt(4)).to.deep.equal(['171.56', '171.56', '136.66', '0.00']);
  });

  it('keeps the payment that is passed in', () => {
    const [method, payment] = ['REDUCE_NUMBER_OF_INSTALLMENTS_NEW', new Decimal(240)] as const;
    const rows = rebuildRows({
      terms: annuity,
      amountLent: thousand,
      outstanding: new Decimal(472),
      rows: level.slice(2),
      method,
      payment,
    });
    expect(totalsOf(rows)).to.deep.equal(['240.00', '237.90']);
  });

  it('within a period, adds the accrued interest and continues from that day', () => {
    const start = { from: '2017-04-06', accruedInterest: new Decimal('2.5') };
    const [row] = rebuildRows({
      terms,
      amountLent: thousand,
      outstanding: new Decimal(360),
      rows: schedule.slice(2),
      method: 'REDUCE_AMOUNT_PER_INSTALLMENT',
      start,
    });
    expect(row?.interest.toFixed(2)).to.equal('4.00');
  });

  const firstAdjusted: readonly [PrepaymentRecalculationMethod, string][] = [
    ['REDUCE_AMOUNT_PER_INSTALLMENT', '84.46 79.96'],
    ['REDUCE_NUMBER_OF_INSTALLMENTS_NEW', '93.35 88.85'],
  ];
  for (const [method, totals] of firstAdjusted) {
    it(`keeps what a long first period adds to the first payment: ${method}`, () => {
      const adjusted = scheduleTerms({
        repaymentInstallments: 12,
        interest: { interestRate: '12' },
        adjustTotalDueForFirstRepayment: true,
      });
      const request = { terms: adjusted, principal: thousand, disbursementDate: '2023-01-01' };
      const rows = buildSchedule({ ...request, firstRepaymentDate: '2023-02-16' });
      // Nine tenths of the regular interest of 10.00 and of the 15.00 of 45 days.
      const again = { terms: adjusted, amountLent: thousand, outstanding: new Decimal(900), rows, method };
      expect(
        totalsOf(rebuildRows({ ...again, payment: new Decimal('88.85') }))
          .slice(0, 2)
          .join(' '),
      ).to.equal(totals);
      const start = { from: '2023-01-16', accruedInterest: new Decimal('4.50') };
      expect(totalsOf(rebuildRows({ ...again, payment: new Decimal('88.85'), start }))[0]).to.equal(
        totals.split(' ')[0],
      );
    });
  }

  it('keeps FLAT interest on every row, however little principal is left', () => {
    const flat = scheduleTerms({ interest: { interestRate: '12', interestCalculationMethod: 'FLAT' } });
    const rows = buildSchedule({ terms: flat, principal: thousand, disbursementDate: '2023-01-01' });
    const method = 'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT';
    const left = rebuildRows({
      terms: flat,
      amountLent: thousand,
      outstanding: new Decimal(300),
      rows: rows.slice(1),
      method,
    });
    expect(amountsOf(left)).to.deep.equal(['250.00 10.00', '50.00 10.00', '0.00 10.00']);
  });

  it('always repays exactly the outstanding principal, in valid rows, with any method', () => {
    fc.assert(
      fc.property(
        anyTerms,
        anyPrincipal,
        anyStart,
        fc.constantFrom(...prepaymentRecalculationMethods),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1.2, noNaN: true }),
        (terms, units, disbursementDate, method, passed, part) => {
          const unit = new Decimal(10).pow(-terms.currency.digits);
          const amountLent = unit.times(units);
          const all = buildSchedule({ terms, principal: amountLent, disbursementDate });
          const rows = all.slice(Math.min(Math.floor(all.length * passed), all.length - 1));
          const outstanding = unit.times(Math.floor(units * part));
          const rebuilt = rebuildRows({ terms, amountLent, outstanding, rows, method });
          expectSound(rebuilt, outstanding, terms.currency.digits);
          expect(rebuilt.map((row) => row.dueDate)).to.deep.equal(
            rows.slice(0, rebuilt.length).map((row) => row.dueDate),
          );
        },
      ),
      propertyRuns(100),
    );
  });

  it('without a prepayment changes nothing', () => {
    for (const [options, rows] of [
      [terms, schedule],
      [annuity, level],
    ] as const) {
      for (const method of prepaymentRecalculationMethods.filter(
        (each) => each !== 'RESCHEDULE_REMAINING_REPAYMENTS',
      )) {
        const rebuilt = rebuildRows({ terms: options, amountLent: thousand, outstanding: thousand, rows, method });
        expect(amountsOf(rebuilt), method).to.deep.equal(amountsOf(rows));
      }
    }
  });
});
