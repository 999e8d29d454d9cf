import { expect } from 'chai';
import { describe, it } from 'mocha';
import { balancesOf } from '../../../src/lending/views/balances.ts';
import { sum } from '../../../src/lending/money.ts';
import { allTogglesOff } from '../../../src/lending/toggle-names.ts';
import {
  adjust,
  disbursed,
  dynamicProduct,
  loanOf,
  overpay,
  product,
  reasons,
  repay,
  rowsOf,
  when,
} from '../loan-fixtures.ts';

describe('overpaying 100 of principal on the disbursement date', () => {
  const overpaid = when(disbursed(), overpay(100, '2011-01-23'));
  it('pays no installment, reduces the last principal first, and keeps scheduled interest', () => {
    expect(rowsOf(loanOf(overpaid))).to.deep.equal([
      '215.47/0.00 100.00/0.00',
      '237.02/0.00 78.45/0.00',
      '260.72/0.00 54.75/0.00',
      '186.79/0.00 28.68/0.00',
    ]);
    expect(balancesOf(loanOf(overpaid), allTogglesOff).principalBalance?.toFixed(2)).to.equal('900.00');
    expect(loanOf(overpaid).position.installments.map((row) => row.principalOverpaid.toFixed(2))).to.deep.equal([
      '100.00',
      '0.00',
      '0.00',
      '0.00',
    ]);
  });

  it('is added to later ones, except those that were adjusted', () => {
    const more = when(when(overpaid, overpay(50, '2011-03-01')), overpay(25, '2011-03-01'));
    const total = (story: typeof more): string =>
      sum(loanOf(story).position.installments.map((row) => row.principalOverpaid)).toFixed(2);
    expect(total(more)).to.equal('175.00');
    expect(total(when(more, adjust(4)))).to.equal('150.00');
  });

  it('lowers the future interest of a dynamic loan', () => {
    const story = when(disbursed(dynamicProduct()), overpay(600, '2011-01-23'));
    expect(rowsOf(loanOf(story))).to.deep.equal([
      '166.67/0.00 3.33/0.00',
      '166.67/0.00 1.94/0.00',
      '66.66/0.00 0.56/0.00',
    ]);
  });

  it('recalculates the payment over all installments on request', () => {
    const level = dynamicProduct({ interestSettings: { interestCalculationMethod: 'DECLINING_BALANCE_DISCOUNTED' } });
    const story = when(
      disbursed(level),
      overpay(500, '2011-01-23', { prepaymentRecalculationMethod: 'REDUCE_AMOUNT_PER_INSTALLMENT' }),
    );
    expect(loanOf(story).position.periodicPayment?.toFixed(2)).to.equal('85.78');
    expect(rowsOf(loanOf(story))[0]).to.equal('81.61/0.00 4.17/0.00');
  });

  describe('in the middle of a period, with optimized payments', () => {
    const even = dynamicProduct({
      interestSettings: { interestCalculationMethod: 'DECLINING_BALANCE_DISCOUNTED' },
      paymentSettings: { amortizationMethod: 'OPTIMIZED_PAYMENTS' },
    });
    const more = { prepaymentRecalculationMethod: 'REDUCE_AMOUNT_PER_INSTALLMENT' };
    const totalsAfter = (valueDate: string, story = disbursed(even)): string[] =>
      loanOf(when(story, overpay(500, valueDate, more))).position.installments.map(({ principal, interest }) =>
        principal.expected.plus(interest.amount.expected).toFixed(2),
      );

    it('charges the interest of both parts in the first row, so that the last row is like the others', () => {
      // 85.78 would repay 500 from the beginning. For 16 of the first 30 days interest was earned on 1000.
      expect(totalsAfter('2011-02-09')).to.deep.equal(['86.16', '86.16', '86.16', '86.16', '86.16', '86.15']);
    });

    it('computes whole periods on a due date', () => {
      const onTime = when(disbursed(even), repay('171.56', '2011-02-23'));
      const rest = ['69.05', '69.05', '69.05', '69.05', '69.04'];
      expect(totalsAfter('2011-02-23', onTime)).to.deep.equal(['171.56', ...rest]);
    });
  });

  it('of all principal leaves a fixed loan open for its interest, and closes a dynamic one without accrued interest', () => {
    expect(loanOf(when(disbursed(), overpay(1000, '2011-01-23'))).position.accountState).to.equal('ACTIVE');
    expect(loanOf(when(disbursed(dynamicProduct()), overpay(1000, '2011-01-23'))).position.accountState).to.equal(
      'CLOSED',
    );
  });

  it('reduces overdue principal when there is no other left', () => {
    const story = when(disbursed(), overpay(1000, '2011-02-23'));
    expect(rowsOf(loanOf(story))[0]).to.equal('0.00/0.00 100.00/0.00');
  });

  it('is refused beyond the principal balance, and where the product accepts no prepayments', () => {
    expect(reasons(when(disbursed(), overpay('1000.01', '2011-01-23')))).to.deep.equal([
      'EXCESS_REPAYMENT_ERROR amount',
    ]);
    const strict = product({ paymentSettings: { prepaymentSettings: { prepaymentAcceptance: 'NO_PREPAYMENTS' } } });
    expect(reasons(when(disbursed(strict), overpay(1, '2011-01-23')))).to.deep.equal([
      'PREPAYMENT_NOT_ALLOWED_ERROR amount',
    ]);
    expect(reasons(when(disbursed(), overpay(1, '2011-01-22')))).to.deep.equal([
      'ENTRY_DATE_BEFORE_OTHER_TRANSACTION valueDate',
    ]);
  });
});
