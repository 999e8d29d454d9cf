import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  adjust,
  applyInterest,
  create,
  disbursed,
  dynamicProduct,
  given,
  loanOf,
  money,
  product,
  reasons,
  repay,
  texts,
  type Story,
  when,
} from '../loan-fixtures.ts';
import { balancesOf } from '../../../src/lending/views/balances.ts';
import { allTogglesOff } from '../../../src/lending/toggle-names.ts';

const appliedOf = (story: Story): string[] =>
  loanOf(story).position.installments.map(({ interestApplied }) => interestApplied.toFixed(2));
const lastOf = (story: Story) => story.transactions.at(-1) ?? expect.fail('no transaction');

describe('an application of interest', () => {
  it('charges a dynamic loan with what it has earned up to the day, and the next one with what came since', () => {
    const first = when(disbursed(dynamicProduct()), applyInterest('2011-02-08'));
    expect(lastOf(first)).to.include({ type: 'INTEREST_APPLIED', valueDate: '2011-02-08' });
    // 1000 at ten percent a year, 15 of 30 days: 1000 * 0.1 / 12 / 2.
    expect(lastOf(first).amount.toFixed(2)).to.equal('4.17');
    const second = when(first, applyInterest('2011-03-08'));
    // 8.33 of the first month less 4.17, and 4.17 of half of the second.
    expect(lastOf(second).amount.toFixed(2)).to.equal('8.33');
    expect(lastOf(second).affected.interest.toFixed(2)).to.equal('8.33');
    expect(appliedOf(second).slice(0, 3)).to.deep.equal(['8.33', '4.17', '0.00']);
  });

  it('charges a fixed loan with the interest of the rows that are due, each once', () => {
    const first = when(disbursed(), applyInterest('2011-02-23'));
    expect(lastOf(first).amount.toFixed(2)).to.equal('100.00');
    const third = when(first, applyInterest('2011-04-30'));
    expect(lastOf(third).amount.toFixed(2)).to.equal('133.20');
    expect(appliedOf(third)).to.deep.equal(['100.00', '78.45', '54.75', '0.00']);
  });

  it('leaves the balances what they are on that day', () => {
    const story = when(disbursed(dynamicProduct()), applyInterest('2011-03-08'));
    expect(texts(balancesOf(loanOf(story), allTogglesOff))).to.include({
      interestBalance: '12.50',
      interestDue: '8.33',
      interestPaid: '0.00',
      principalBalance: '1000.00',
    });
    expect(story.events.slice(-3).map(({ eventType }) => eventType)).to.deep.equal([
      'loan_transaction_posted',
      'loan_balance_changed',
      'loan_schedule_changed',
    ]);
  });

  it('names the tax in the interest, the same in one part or in three', () => {
    const taxed = dynamicProduct({
      taxSettings: { taxRate: money(19), taxCalculationMethod: 'EXCLUSIVE', taxesOnInterestEnabled: true },
    });
    const days = ['2011-02-02', '2011-02-13', '2011-02-23'];
    const inParts = days.reduce((story, day) => when(story, applyInterest(day)), disbursed(taxed));
    const atOnce = when(disbursed(taxed), applyInterest('2011-02-23'));
    const sumOf = (story: Story): string =>
      story.transactions
        .filter(({ type }) => type === 'INTEREST_APPLIED')
        .reduce((total, { taxes }) => total.plus(taxes.interest), money(0))
        .toFixed(2);
    expect([lastOf(atOnce).amount.toFixed(2), sumOf(atOnce)]).to.deep.equal(['9.91', '1.58']);
    expect(sumOf(inParts)).to.equal(sumOf(atOnce));
  });

  it('is taken back by an adjustment, and can then be made again', () => {
    const before = disbursed(dynamicProduct());
    const adjusted = when(when(before, applyInterest('2011-03-08')), adjust(2));
    expect(lastOf(adjusted)).to.include({ type: 'INTEREST_APPLIED_ADJUSTMENT' });
    expect(loanOf(adjusted).position).to.deep.equal(loanOf(before).position);
    const again = when(adjusted, applyInterest('2011-03-08'));
    expect(lastOf(again).amount.toFixed(2)).to.equal('12.50');
  });

  it('leaves a repayment what it owes', () => {
    const story = when(when(disbursed(), applyInterest('2011-02-23')), repay('315.47', '2011-02-23'));
    expect(story.outcome).to.equal('committed');
    expect(reasons(when(story, applyInterest('2011-02-23')))).to.deep.equal(['ACCOUNT_HAS_NO_ACCRUED_INTEREST']);
  });

  const table: readonly (readonly [what: string, day: string, reason: string])[] = [
    ['before the first interest is due', '2011-02-22', 'ACCOUNT_HAS_NO_ACCRUED_INTEREST'],
    ['before the last transaction', '2011-01-22', 'ENTRY_DATE_BEFORE_OTHER_TRANSACTION interestApplicationDate'],
    ['in the future', '2040-01-02', 'INVALID_DATE interestApplicationDate'],
    ['outside the years that are computed', '1899-12-31', 'INVALID_DATE interestApplicationDate'],
  ];
  for (const [what, day, reason] of table) {
    it(`is refused ${what}`, () => {
      expect(reasons(when(disbursed(), applyInterest(day)))).to.deep.equal([reason]);
    });
  }

  it('is refused before the disbursement', () => {
    expect(reasons(when(given(create(product())), applyInterest('2011-02-23')))).to.deep.equal([
      'INVALID_ACCOUNT_STATE',
    ]);
  });
});
