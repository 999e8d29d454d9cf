import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import {
  accrueTo,
  earnedGross,
  expectInterest,
  grossInterest,
  grossInterestOfLast,
  payableInterest,
} from '../../src/lending/accrual.ts';
import { figuresOf } from '../../src/lending/balances.ts';
import { addDays } from '../../src/lending/dates.ts';
import type { Loan } from '../../src/lending/loan.ts';
import type { Decimal } from '../../src/lending/money.ts';
import {
  approve,
  create,
  disburse,
  disbursed,
  dynamicProduct,
  given,
  loanOf,
  money,
  product,
  repay,
  rowsOf,
  when,
} from './loan-fixtures.ts';
import { propertyRuns } from '../support/values/property-runs.ts';

const start = (settings: Parameters<typeof dynamicProduct>[0] = {}): ReturnType<typeof given> =>
  given(create(dynamicProduct(settings)), approve, disburse('2017-01-21'));
const interestOn = (story: ReturnType<typeof given>, date: string): string[] => {
  const loan = loanOf(story);
  return accrueTo(loan, loan.position, date).installments.map((row) => row.interest.amount.expected.toFixed(2));
};

describe('interest of a dynamic loan', () => {
  it('accrues on the outstanding principal: with nothing paid, the second period accrues on all 1000', () => {
    expect(interestOn(start(), '2017-03-21').slice(0, 2)).to.deep.equal(['8.33', '8.33']);
  });

  it('is expected on overdue principal in the current period, and not in periods after it', () => {
    expect(interestOn(start(), '2017-03-21').slice(2, 4)).to.deep.equal(['8.33', '4.17']);
  });

  it('does not accrue on overdue principal where the product accrues no late interest', () => {
    const lenient = start({ interestSettings: { accrueLateInterest: false } });
    expect(interestOn(lenient, '2017-03-21').slice(0, 3)).to.deep.equal(['8.33', '6.94', '5.56']);
  });

  it('of late principal is that of the last row under LAST_INSTALLMENT_INCREASE: day by day, and on the due date', () => {
    const last = start({ paymentSettings: { latePaymentsRecalculationMethod: 'LAST_INSTALLMENT_INCREASE' } });
    const own = ['8.33', '6.94', '5.56', '4.17', '2.78'];
    expect(interestOn(last, '2017-02-20')).to.deep.equal([...own, '1.39']);
    // Row 1 is late from its due date on, and is expected to be paid by that of row 2: 166.67 earn 1.39 in between.
    expect(interestOn(last, '2017-02-21')).to.deep.equal([...own, '2.78']);
    expect(interestOn(last, '2017-03-20')).to.deep.equal([...own, '2.78']);
    // Then 333.34 are late, and earn 2.78 until that of row 3.
    expect(interestOn(last, '2017-03-21')).to.deep.equal([...own, '5.56']);
    // Nothing paid: six months of 1000, less what the first five rows ask for.
    expect(interestOn(last, '2017-07-21')).to.deep.equal([...own, '22.22']);
    expect(interestOn(start(), '2017-07-21')).to.deep.equal(Array.from({ length: 6 }, () => '8.33'));
  });

  it('of late principal is earned day by day, paid in full at any time, and kept by the last row when all principal is', () => {
    const last = start({
      paymentSettings: {
        latePaymentsRecalculationMethod: 'LAST_INSTALLMENT_INCREASE',
        prepaymentSettings: { prepaymentRecalculationMethod: 'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT' },
      },
    });
    const loan = loanOf(last);
    const at = (date: string) => accrueTo(loan, loan.position, date);
    expect(at('2017-03-06').installments.at(-1)?.interestAccrued.toFixed(4)).to.equal('0.6945');
    let daily = loan.position;
    for (let day = '2017-01-22'; day <= '2017-05-05'; day = addDays(day, 1)) daily = accrueTo(loan, daily, day);
    expect(daily.installments.map((row) => row.interestAccrued.toFixed(12))).to.deep.equal(
      at('2017-05-05').installments.map((row) => row.interestAccrued.toFixed(12)),
    );
    const paid = when(last, repay('1016.66', '2017-03-21'));
    expect([loanOf(paid).position.accountState, loanOf(paid).position.installments.length]).to.deep.equal([
      'CLOSED',
      6,
    ]);
  });

  it('of late principal is not due before the last row earns its own, under LAST_INSTALLMENT_INCREASE', () => {
    const strict = start({
      paymentSettings: {
        latePaymentsRecalculationMethod: 'LAST_INSTALLMENT_INCREASE',
        prepaymentSettings: { prepaymentAcceptance: 'NO_PREPAYMENTS' },
      },
    });
    expect(when(strict, repay('348.61', '2017-03-21')).transactions).to.have.length(2);
    expect(when(strict, repay('348.62', '2017-03-21')).transactions).to.have.length(1);
  });

  it('is worked out again for other terms, another rate or another principal, and once for the same', () => {
    const loan = loanOf(start());
    const { position } = loan;
    const interests = (of: Loan, from = of.position): string[] =>
      accrueTo(of, from, '2017-03-21').installments.map((row) => row.interest.amount.expected.toFixed(2));
    const before = interests(loan);
    expect(accrueTo(loan, position, '2017-03-21')).to.equal(accrueTo(loan, position, '2017-03-21'));
    const taxed = dynamicProduct({ taxSettings: { taxRate: money(10), taxesOnInterestEnabled: true } });
    expect(interests({ ...loan, product: taxed }).slice(0, 4)).to.deep.equal(['9.16', '9.16', '9.16', '4.59']);
    const wholeUnits = { ...loan.terms, currency: { code: 'JPY', digits: 0 } };
    expect(interests({ ...loan, terms: wholeUnits }).slice(0, 4)).to.deep.equal(
      ['8', '8', '8', '4'].map((text) => `${text}.00`),
    );
    const rateSegments = [{ from: null, interestRate: money(20) }];
    const first = before.map(Number);
    expect(interests(loan, { ...position, rateSegments }).map(Number)[1]).to.be.closeTo(2 * (first[1] ?? 0), 0.01);
    const [row, ...others] = position.installments;
    if (row === undefined) expect.fail();
    const paid = { ...row, principal: { ...row.principal, paid: row.principal.expected } };
    const less = interests(loan, { ...position, installments: [paid, ...others] });
    expect(Number(less[3])).to.equal(first[3]);
    expect(Number(less[1])).to.be.lessThan(first[1] ?? 0);
    expect(interests(loan)).to.deep.equal(before);
  });

  it('is kept with twenty decimals', () => {
    const loan = loanOf(start());
    const [row] = accrueTo(loan, loan.position, '2017-01-22').installments;
    expect(row?.interestAccrued.toFixed()).to.equal('0.27777777777777777778');
  });

  it('is as scheduled when every installment is paid on its due date', () => {
    const onTime = when(start(), repay('175.00', '2017-02-21'));
    expect(rowsOf(loanOf(onTime)).map((row) => row.split(' ')[1]?.split('/')[0])).to.deep.equal([
      '8.33',
      '6.94',
      '5.56',
      '4.17',
      '2.78',
      '1.39',
    ]);
  });

  describe('with the remainder in the last installment', () => {
    // 1000 over six months at 7 %: exactly 20.4166..., of which the rows before the last one have 19.44.
    const remainder = start({
      interestSettings: { interestRate: { defaultValue: money(7) } },
      scheduleSettings: {
        roundingSettings: {
          roundingRepaymentScheduleMethod: 'ROUND_PRINCIPAL_AND_INTEREST_REMAINDER_INTO_LAST_REPAYMENT',
        },
      },
    });
    const totals = ['172.50', '171.53', '170.56', '169.59', '168.61'];
    const paid = totals.reduce(
      (story, amount, index) => when(story, repay(amount, `2017-0${index + 2}-21`)),
      remainder,
    );

    it('is as scheduled when every installment is paid on its due date', () => {
      const scheduled = ['5.83', '4.86', '3.89', '2.92', '1.94', '0.98'];
      for (const story of [remainder, when(remainder, repay('172.50', '2017-02-21')), paid]) {
        const rows = rowsOf(loanOf(story)).map((row) => row.split(' ')[1]?.split('/')[0]);
        expect(rows).to.deep.equal(scheduled);
      }
    });

    it('is fully paid by the last payment', () => {
      const { position } = loanOf(when(paid, repay('167.63', '2017-07-21')));
      expect(position.accountState).to.equal('CLOSED');
    });

    it('is not due when all principal is paid early', () => {
      const [first = ''] = totals;
      const early = when(when(remainder, repay(first, '2017-02-21')), repay('833.33', '2017-02-21'));
      expect(loanOf(early).position.accountState).to.equal('CLOSED');
      expect(loanOf(early).position.installments.map((row) => row.interest.amount.expected.toFixed(2))).to.deep.equal([
        '5.83',
        ...Array.from({ length: 5 }, () => '0.00'),
      ]);
    });
  });

  it('accrues day by day to the interest of the period, within half a cent', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 90 }), { maxLength: 8 }), (days) => {
        const loan = loanOf(start());
        let position = loan.position;
        for (const day of [...days].sort((one, other) => one - other))
          position = accrueTo(loan, position, addDays('2017-01-21', day));
        position = accrueTo(loan, position, '2017-07-21');
        const whole = accrueTo(loan, loan.position, '2017-07-21');
        expect(position.installments.map((row) => row.interest.amount.expected.toFixed())).to.deep.equal(
          whole.installments.map((row) => row.interest.amount.expected.toFixed()),
        );
      }),
      propertyRuns(50),
    );
  });

  it('stops accruing after the last due date', () => {
    expect(interestOn(start(), '2017-12-31')).to.deep.equal(interestOn(start(), '2017-07-21'));
  });
});

describe('interest under two rates', () => {
  /** The loan with another rate from a day on, as of that day the lender had changed it. */
  const changed = (loan: Loan, from: string, interestRate: number | string): Loan => ({
    ...loan,
    position: {
      ...loan.position,
      rateSegments: [...loan.position.rateSegments, { from, interestRate: money(interestRate) }],
    },
  });
  const million = (rate: number | string, settings: object = {}): Loan => {
    const rateOfProduct = {
      interestRate: { defaultValue: money(rate) },
      interestChargeFrequency: 'ANNUALIZED',
    } as const;
    const actualDays = { daysInYear: 'ACTUAL_360', scheduleInterestDaysCountMethod: 'ACTUAL_DAYS_COUNT' } as const;
    const lent = dynamicProduct({ interestSettings: { ...rateOfProduct, ...actualDays, ...settings } });
    return loanOf(given(create(lent, 1_000_000), approve, disburse('2015-03-16')));
  };
  const firstInterest = (loan: Loan): string =>
    accrueTo(loan, loan.position, '2015-04-16').installments[0]?.interest.amount.expected.toFixed(2) ?? '';

  // A bank's example of a cut on the 16th day of a month of 31: 1000000 * (6.55 % / 360 * 16 + 6.15 % / 360 * 15).
  // Source: lnmlw.com/Bankloan/wlteandaku.html
  it('is that of the days before and after the change: the published 5473.61', () => {
    expect(firstInterest(changed(million('6.55'), '2015-04-01', '6.15'))).to.equal('5473.61');
    expect(firstInterest(million('6.55'))).to.equal('5640.28');
  });

  it('is expected of a row before the change comes', () => {
    const loan = changed(million('6.55'), '2015-04-01', '6.15');
    const [row] = expectInterest(loan, loan.position).installments;
    expect(row?.interest.amount.expected.toFixed(2)).to.equal('5473.61');
  });

  it('is P (r1 d1 + r2 d2) / 36000 for any rates and any days, in one step or in two', () => {
    const hundredths = fc.integer({ min: 0, max: 5_000 });
    fc.assert(
      fc.property(hundredths, hundredths, fc.nat(31), fc.nat(31), (before, after, changeDay, stopDay) => {
        const loan = changed(million(before / 100), addDays('2015-03-16', changeDay), after / 100);
        const due = '2015-04-16';
        const once = accrueTo(loan, loan.position, due).installments[0]?.interestAccrued;
        const stopped = accrueTo(loan, loan.position, addDays('2015-03-16', stopDay));
        const twice = accrueTo(loan, stopped, due).installments[0]?.interestAccrued;
        const worked = money(1_000_000 * (before * changeDay + after * (31 - changeDay))).dividedBy(3_600_000);
        expect(once?.minus(worked).abs().lessThan('1e-19')).to.equal(true);
        expect(twice?.minus(worked).abs().lessThan('2e-19')).to.equal(true);
      }),
    );
  });

  it('grows with the growth of both parts when it compounds', () => {
    const loan = changed(million('12', { interestType: 'COMPOUNDING_INTEREST' }), '2015-04-01', '24');
    const growth = money('1.12')
      .pow(money(16).dividedBy(360))
      .times(money('1.24').pow(money(15).dividedBy(360)));
    expect(firstInterest(loan)).to.equal(growth.minus(1).times(1_000_000).toFixed(2));
  });
});

describe('interest of a fixed loan', () => {
  it('stays as scheduled on any day', () => {
    const loan = loanOf(disbursed());
    expect(accrueTo(loan, loan.position, '2011-12-31').installments).to.equal(loan.position.installments);
    expect(expectInterest(loan, loan.position)).to.equal(loan.position);
  });
});

describe('interest to be paid', () => {
  it('of a dynamic loan is the accrued interest', () => {
    const loan = loanOf(disbursed(dynamicProduct()));
    const position = accrueTo(loan, loan.position, '2011-02-08');
    const [row = expect.fail()] = position.installments;
    expect(earnedGross(loan, position, row).amount.toFixed(2)).to.equal('4.17');
    expect(payableInterest(loan, position, row).toFixed(2)).to.equal('4.17');
    expect(figuresOf(loan, position).total.toFixed(2)).to.equal('1004.17');
  });

  it('of the last installment is its own or the remainder, and nothing where nothing is accrued', () => {
    const thirds = ['0.333', '0.333', '0.338'].map(money);
    const remainder = {
      roundingSettings: {
        roundingRepaymentScheduleMethod: 'ROUND_PRINCIPAL_AND_INTEREST_REMAINDER_INTO_LAST_REPAYMENT',
      },
    };
    const last = (scheduleSettings: object, interests: readonly Decimal[]): string =>
      grossInterestOfLast(loanOf(disbursed(dynamicProduct({ scheduleSettings }))), interests).amount.toFixed(2);
    expect([last({}, thirds), last(remainder, thirds), last(remainder, [...thirds, money(0)])]).to.deep.equal([
      '0.34',
      '0.34',
      '0.00',
    ]);
    expect(last(remainder, ['0.333', '0.333', '0.334'].map(money))).to.equal('0.34');
    expect(last({}, ['0.333', '0.333', '0.334'].map(money))).to.equal('0.33');
  });

  it('contains its tax, whether it is included or added', () => {
    const table = [
      ['EXCLUSIVE', '1160.00', '160.00'],
      ['INCLUSIVE', '1000.00', '137.93'],
    ] as const;
    for (const [taxCalculationMethod, amount, tax] of table) {
      const taxed = product({
        taxSettings: { taxRate: money(16), taxCalculationMethod, taxesOnInterestEnabled: true },
      });
      const gross = grossInterest(loanOf(disbursed(taxed)), money(1000));
      expect([gross.amount.toFixed(2), gross.tax.toFixed(2)]).to.deep.equal([amount, tax]);
    }
  });
});
