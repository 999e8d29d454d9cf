import { expect } from 'chai';
import { describe, it } from 'mocha';
import { productView } from '../../../src/lending/views/products.ts';
import { money, product } from '../loan-fixtures.ts';

describe('the view of a product', () => {
  it('shows the rate with its frequency, and the interval of principal, at the places of the lending API', () => {
    const view = productView(product());
    expect(view.interestSettings).to.not.have.property('interestRate');
    expect(view.interestSettings.indexRateSettings).to.deep.equal({
      interestRate: { defaultValue: money(10) },
      interestChargeFrequency: 'EVERY_MONTH',
      interestChargeFrequencyCount: 1,
      interestRateSource: 'FIXED_INTEREST_RATE',
      interestRateTerms: 'FIXED',
    });
    expect(view.scheduleSettings).to.not.have.property('defaultPrincipalRepaymentInterval');
    expect(view.paymentSettings.principalPaymentSettings).to.deep.equal({ defaultPrincipalRepaymentInterval: 1 });
  });

  it('shows the allocation of a fee in the words of the lending API', () => {
    const fee = {
      encodedKey: 'b'.repeat(32),
      id: 'fee',
      name: 'Fee',
      trigger: 'MANUAL',
      amountCalculationMethod: 'FLAT',
      feeApplication: 'OPTIONAL',
      state: 'ACTIVE',
    };
    const fees = [
      { ...fee, allocation: 'INSTALLMENT' },
      { ...fee, allocation: 'NO_ALLOCATION' },
    ];
    const view = productView(product({ feesSettings: { allowArbitraryFees: false, fees } }));
    expect(view.feesSettings.fees).to.deep.equal([
      { ...fee, scheduleAllocationMethod: 'ON_INSTALLMENT' },
      { ...fee, scheduleAllocationMethod: 'NO_ALLOCATION' },
    ]);
  });

  it('shows what clients of the lending API require, although no account has another value', () => {
    const [fixed, dynamic] = [productView(product()), productView(product({ type: 'DYNAMIC_TERM_LOAN' }))];
    expect(fixed.creditArrangementSettings).to.deep.equal({ creditArrangementRequirement: 'OPTIONAL' });
    expect(fixed.paymentSettings.latePaymentsRecalculationMethod).to.equal('OVERDUE_INSTALLMENTS_INCREASE');
    expect(fixed.scheduleSettings).to.include({
      repaymentScheduleMethod: 'FIXED',
      repaymentReschedulingMethod: 'NONE',
    });
    expect(dynamic.scheduleSettings.repaymentScheduleMethod).to.equal('DYNAMIC');
    expect(fixed.paymentSettings.prepaymentSettings.futurePaymentsAcceptance).to.equal('NO_FUTURE_PAYMENTS');
    expect(dynamic.paymentSettings.prepaymentSettings.futurePaymentsAcceptance).to.equal('NO_FUTURE_PAYMENTS');
  });

  it('shows what was sent and no rule reads, at its place and instead of what is shown otherwise', () => {
    const additionalFields = {
      category: 'SME_LENDING',
      creditArrangementSettings: { creditArrangementRequirement: 'NOT_REQUIRED' },
      scheduleSettings: { repaymentScheduleEditOptions: ['ADJUST_PAYMENT_DATES'] },
    };
    const view: object = productView(product({ additionalFields }));
    expect(view).to.include({ category: 'SME_LENDING' });
    expect(view).to.have.nested.property('creditArrangementSettings.creditArrangementRequirement', 'NOT_REQUIRED');
    expect(view).to.have.nested.property('scheduleSettings.repaymentScheduleEditOptions[0]', 'ADJUST_PAYMENT_DATES');
    expect(view).to.have.nested.property('scheduleSettings.repaymentScheduleMethod', 'FIXED');
    expect(view).to.not.have.property('additionalFields');
  });
});
