import { expect } from 'chai';
import { describe, it } from 'mocha';
import { type Toggles, allTogglesOff } from '../../src/lending/toggle-names.ts';
import { scheduleOf } from '../../src/lending/views/schedules.ts';
import { applyPenalty, disbursed, dynamicProduct, loanOf, money, product, repay, when } from './loan-fixtures.ts';

const tax = { taxSettings: { taxRate: money(19), taxCalculationMethod: 'EXCLUSIVE', taxesOnPenaltyEnabled: true } };
const derived: Toggles = { ...allTogglesOff, fixInstallmentTaxOnPenalty: true };
const penalties = (loanProduct: ReturnType<typeof product>): ReturnType<typeof disbursed> => {
  const penalty = applyPenalty('0.13', { valueDate: '2011-01-23' });
  return when(when(when(disbursed(loanProduct), penalty), penalty), penalty);
};
const shownTax = (story: ReturnType<typeof disbursed>, toggles: Toggles): string[] => {
  const { expected, paid, due } = scheduleOf(loanOf(story), toggles).installments[0]?.penalty.tax ?? expect.fail();
  return [expected, paid, due].map((amount) => amount.toFixed(2));
};

describe('the tax of three penalties of 0.13 at 19 percent on top', () => {
  const fixed = penalties(product(tax));
  const payOne = repay('0.15', '2011-01-23', {
    customPaymentAmounts: [{ customPaymentAmountType: 'PENALTY', amount: money('0.15') }],
  });
  const table: readonly (readonly [what: string, shown: string[], expected: string[]])[] = [
    ['is the sum of three roundings', shownTax(fixed, allTogglesOff), ['0.06', '0.00', '0.06']],
    ['is rounded once under fixInstallmentTaxOnPenalty', shownTax(fixed, derived), ['0.07', '0.00', '0.07']],
    [
      'is that of the two unpaid ones after one was paid with its tax',
      shownTax(when(fixed, payOne), derived),
      ['0.07', '0.02', '0.05'],
    ],
    ['stays the sum for a dynamic loan', shownTax(penalties(dynamicProduct(tax)), derived), ['0.06', '0.00', '0.06']],
  ];
  for (const [what, shown, expected] of table) {
    it(what, () => {
      expect(shown).to.deep.equal(expected);
    });
  }

  it('changes no amount due', () => {
    for (const toggles of [allTogglesOff, derived]) {
      expect(scheduleOf(loanOf(fixed), toggles).installments[0]?.penalty.amount.due.toFixed(2)).to.equal('0.45');
    }
  });
});
