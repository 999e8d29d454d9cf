import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { accrueTo, expectInterest } from '../../src/lending/accrual.ts';
import { addDays } from '../../src/lending/dates.ts';
import {
  approve,
  create,
  disburse,
  disbursed,
  dynamicProduct,
  given,
  loanOf,
  money,
  repay,
  rowsOf,
  when,
} from './loan-fixtures.ts';

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
      { numRuns: 50 },
    );
  });

  it('stops accruing after the last due date', () => {
    expect(interestOn(start(), '2017-12-31')).to.deep.equal(interestOn(start(), '2017-07-21'));
  });
});

describe('interest of a fixed loan', () => {
  it('stays as scheduled on any day', () => {
    const loan = loanOf(disbursed());
    expect(accrueTo(loan, loan.position, '2011-12-31').installments).to.equal(loan.position.installments);
    expect(expectInterest(loan, loan.position)).to.equal(loan.position);
  });
});
