import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { periodInterest } from '../../../src/lending/schedule/interest.ts';
import { Decimal, larger, zero } from '../../../src/lending/money.ts';
import { buildSchedule } from '../../../src/lending/schedule/build-schedule.ts';
import { periodicPayment } from '../../../src/lending/schedule/level-payment.ts';
import { paysPrincipal } from '../../../src/lending/schedule/principal-plan.ts';
import { roundsInterestIntoLastRow } from '../../../src/lending/schedule/rounding.ts';
import type { ScheduleAmount } from '../../../src/lending/schedule/rounding.ts';
import type { InterestCalculationMethod, ScheduleRow, ScheduleTerms } from '../../../src/lending/terms.ts';
import { anyStart, anyTerms } from './any-schedule.ts';
import { amountsOf, scheduleTerms, totalsOf } from './schedule-terms.ts';
import { propertyRuns, propertyTimeFactor } from '../../support/values/property-runs.ts';

/** As many digits as amounts are distinguished by: in such a currency nothing is rounded. */
const finestDigits = 16;
const finest = new Decimal(10).pow(-finestDigits);
/** The maximum number of rows of a loan with such due dates, according to lending.md. */
const rowsMaximum = { DAYS: 3660, WEEKS: 3660, MONTHS: 2354, YEARS: 199, FIXED_DAYS_OF_MONTH: 2354 } as const;

/** Terms with that many rows; `most` is the maximum. */
function termsOf(
  method: InterestCalculationMethod,
  rowCount: number | 'most',
  hundredthsOfPercentMaximum = 1500,
): fc.Arbitrary<{ terms: ScheduleTerms; disbursementDate: string; principal: Decimal }> {
  return fc
    .record({
      drawn: anyTerms,
      disbursementDate: anyStart,
      units: fc.integer({ min: 1, max: 999_999_999_999_999 }),
      // At high rates, a loan of many rows repays nothing before the last row.
      rate: fc.oneof(fc.integer({ min: 0, max: hundredthsOfPercentMaximum }), fc.integer({ min: 0, max: 10 })),
    })
    .map(({ drawn, disbursementDate, units, rate }) => {
      const { dueDates } = drawn;
      const most =
        rowsMaximum[
          dueDates.scheduleDueDatesMethod === 'INTERVAL' ? dueDates.repaymentPeriodUnit : 'FIXED_DAYS_OF_MONTH'
        ];
      const repaymentInstallments = Math.min(rowCount === 'most' ? most : rowCount, most);
      const gracePeriod = Math.floor((drawn.gracePeriod / drawn.repaymentInstallments) * repaymentInstallments);
      const interestRate = new Decimal(rate).dividedBy(100);
      const rateSegments = [{ from: null, interestRate }];
      const interest = { ...drawn.interest, interestCalculationMethod: method, rateSegments };
      return {
        terms: { ...drawn, repaymentInstallments, gracePeriod, interest },
        disbursementDate,
        principal: new Decimal(units).dividedBy(10 ** drawn.currency.digits),
      };
    });
}

function unrounded(terms: ScheduleTerms): ScheduleTerms {
  const rounding = { ...terms.rounding, repaymentCurrencyRounding: 'NO_ROUNDING' } as const;
  return { ...terms, currency: { code: 'FINE', digits: finestDigits }, rounding };
}

/** By how much rounding may change an amount: half of the rounding unit, or all of it when rounded up. */
function largestError(kind: ScheduleAmount, { currency, rounding }: ScheduleTerms): Decimal {
  const isWhole =
    rounding.repaymentCurrencyRounding !== 'NO_ROUNDING' &&
    (kind === 'PAYMENT' || rounding.repaymentElementsRoundingMethod === 'ROUND_ALL');
  const part = isWhole && rounding.repaymentCurrencyRounding === 'ROUND_UP_TO_NEAREST_WHOLE_UNIT' ? 1 : 0.5;
  return new Decimal(10).pow(isWhole ? 0 : -currency.digits).times(part);
}

/**
 * By how much rounding may change the total of the last row: the errors of each earlier row, grown with interest to the
 * last row where later principal depends on interest, and the error of its own interest.
 */
function largestChange(terms: ScheduleTerms, rows: readonly ScheduleRow[]): Decimal {
  const [payment, principal, interest] = (['PAYMENT', 'PRINCIPAL', 'INTEREST'] as const).map((kind) =>
    largestError(kind, terms).plus(finest),
  ) as [Decimal, Decimal, Decimal];
  const method = terms.interest.interestCalculationMethod;
  const isAnnuity = method === 'DECLINING_BALANCE_DISCOUNTED';
  const isByTotal = isAnnuity || terms.rounding.repaymentElementsRoundingMethod === 'PAYMENT_DUE';
  const rateOf = (row: ScheduleRow): Decimal => (method === 'FLAT' ? zero : periodInterest(new Decimal(1), terms, row));
  let change = zero;
  for (const row of rows.slice(0, -1)) {
    if (!paysPrincipal(terms, row, rows)) continue;
    const ofRow = isByTotal ? payment.plus(interest) : principal;
    change = change.times(isAnnuity ? rateOf(row).plus(1) : 1).plus(ofRow);
  }
  const last = rows.at(-1) ?? expect.fail();
  const ofInterest = roundsInterestIntoLastRow(terms) ? interest.times(rows.length) : interest;
  return change.times(rateOf(last).plus(1)).plus(ofInterest);
}

const lastTotal = (rows: readonly ScheduleRow[]): Decimal =>
  rows.at(-1)?.principal.plus(rows.at(-1)?.interest ?? zero) ?? zero;

/** A schedule with the most rows takes half a second. */
const mostRowsShare = 0.05;

describe('the last row of a schedule', () => {
  for (const method of ['FLAT', 'DECLINING_BALANCE', 'DECLINING_BALANCE_DISCOUNTED'] as const) {
    for (const [rowCount, numRuns, campaignShare] of [
      [12, 50, 1],
      [360, 10, 1],
      ['most', 2, mostRowsShare],
    ] as const) {
      it(`of ${rowCount} differs by at most the sum of the rounding errors: ${method}`, function () {
        this.timeout(120_000 * propertyTimeFactor);
        fc.assert(
          fc.property(termsOf(method, rowCount), ({ terms, ...request }) => {
            const rounded = lastTotal(buildSchedule({ terms, ...request }));
            const rows = buildSchedule({ terms: unrounded(terms), ...request });
            const change = rounded.minus(lastTotal(rows)).abs();
            const bound = largestChange(terms, rows).plus(largestChange(unrounded(terms), rows));
            expect(change.lessThanOrEqualTo(bound), `${change.toString()} of ${bound.toString()}`).to.equal(true);
          }),
          propertyRuns(numRuns, campaignShare),
        );
      });
    }
  }

  for (const [rowCount, hundredthsOfPercentMaximum, numRuns, campaignShare] of [
    [12, 1500, 50, 1],
    [360, 50, 10, 1],
    ['most', 5, 2, mostRowsShare],
  ] as const) {
    it(`of ${rowCount} equals the payment when that is computed for the actual periods`, function () {
      this.timeout(120_000 * propertyTimeFactor);
      let compared = 0;
      const runs = propertyRuns(numRuns, campaignShare);
      const drawnTerms = termsOf('DECLINING_BALANCE_DISCOUNTED', rowCount, hundredthsOfPercentMaximum);
      fc.assert(
        fc.property(drawnTerms, ({ terms: drawn, ...request }) => {
          const isEven = drawn.amortizationMethod === 'OPTIMIZED_PAYMENTS';
          const scheduleInterestDaysCountMethod = isEven
            ? drawn.interest.scheduleInterestDaysCountMethod
            : 'REPAYMENT_PERIODICITY';
          fc.pre(isEven || drawn.dueDates.scheduleDueDatesMethod === 'INTERVAL');
          const terms = unrounded({ ...drawn, interest: { ...drawn.interest, scheduleInterestDaysCountMethod } });
          const rows = buildSchedule({ terms, ...request });
          const payment = periodicPayment({ terms, ...request });
          // A row other than the first whose interest exceeds the payment leaves its principal to the last row.
          const isAbove = ({ interest }: ScheduleRow): boolean => interest.greaterThanOrEqualTo(payment);
          fc.pre(!rows.slice(1, -1).some((row) => paysPrincipal(terms, row, rows) && isAbove(row)));
          compared += 1;
          const difference = lastTotal(rows).minus(payment).abs();
          const bound = larger(largestChange(terms, rows), finest);
          expect(difference.lessThanOrEqualTo(bound), `${difference.toString()} of ${bound.toString()}`).to.equal(true);
        }),
        runs,
      );
      expect(compared).to.be.at.least(runs.numRuns);
    });
  }

  it('equals the payment too when the first row, which is charged its difference, repays no principal', () => {
    const interest = {
      interestRate: '1.5',
      interestChargeFrequency: 'EVERY_DAY',
      daysInYear: 'ACTUAL_365_FIXED',
    } as const;
    const terms = scheduleTerms({
      repaymentInstallments: 12,
      amortizationMethod: 'OPTIMIZED_PAYMENTS',
      adjustTotalDueForFirstRepayment: true,
      interest,
    });
    const rows = buildSchedule({ terms, principal: new Decimal(1000), disbursementDate: '2022-12-31' });
    // A regular month has interest of 456.25, more than the rows after the first one repay in equal parts.
    expect([amountsOf(rows)[0], totalsOf(rows)[1], totalsOf(rows)[11]]).to.deep.equal([
      '0.00 465.00',
      '454.10',
      '454.46',
    ]);
  });
});
