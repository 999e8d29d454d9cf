import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Decimal } from '../../../src/lending/money.ts';
import { equalShares, paysPrincipal } from '../../../src/lending/schedule/principal-plan.ts';
import { levelPayments } from '../../../src/lending/schedule/level-payment.ts';
import { monthlyRows, scheduleTerms, type TermOptions } from './schedule-terms.ts';

describe('the rows that pay principal', () => {
  const declining = { interestCalculationMethod: 'DECLINING_BALANCE' } as const;
  const cases: readonly [string, TermOptions, readonly number[]][] = [
    ['all', { interest: declining }, [1, 2, 3, 4, 5, 6, 7]],
    ['every third, and the last', { interest: declining, principalRepaymentInterval: 3 }, [3, 6, 7]],
    ['all equal installments, whatever the interval', { principalRepaymentInterval: 3 }, [1, 2, 3, 4, 5, 6, 7]],
    ['those after the grace period', { gracePeriodType: 'PAY_INTEREST_ONLY', gracePeriod: 5 }, [6, 7]],
    ['all when no kind of grace is set', { gracePeriod: 5 }, [1, 2, 3, 4, 5, 6, 7]],
    [
      'every second after the grace period, and the last',
      { interest: declining, principalRepaymentInterval: 2, gracePeriodType: 'PAY_INTEREST_ONLY', gracePeriod: 3 },
      [4, 6, 7],
    ],
  ];
  for (const [name, options, numbers] of cases) {
    it(`are ${numbers.join(', ')} of seven: ${name}`, () => {
      const rows = monthlyRows(7);
      const terms = scheduleTerms(options);
      expect(rows.filter((row) => paysPrincipal(terms, row, rows)).map((row) => row.number)).to.deep.equal(numbers);
    });
  }

  it('divide the principal, and leave none to the others', () => {
    const terms = scheduleTerms({ interest: declining, principalRepaymentInterval: 2 });
    const plan = equalShares(terms, new Decimal(90), monthlyRows(5));
    expect(plan.kind === 'SHARES' && plan.shares.map(Number)).to.deep.equal([0, 30, 0, 30, 30]);
  });

  it('contain the payment, the first one its own', () => {
    const terms = scheduleTerms({ gracePeriodType: 'PAY_INTEREST_ONLY', gracePeriod: 1 });
    const plan = levelPayments(terms, new Decimal(30), monthlyRows(3));
    expect(plan.kind === 'LEVEL_PAYMENT' && plan.payments.map(Number)).to.deep.equal([0, 30, 30]);
    const own = levelPayments(scheduleTerms(), new Decimal(30), monthlyRows(3), new Decimal(40));
    expect(own.kind === 'LEVEL_PAYMENT' && own.payments.map(Number)).to.deep.equal([40, 30, 30]);
  });
});
