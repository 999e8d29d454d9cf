import { expect } from 'chai';
import { describe, it } from 'mocha';
import { areFixedDays, createProduct, installmentsMaximum, isCountFrom } from '../../src/lending/product-rules.ts';
import { dynamicProduct, fee, money, product } from './loan-fixtures.ts';

type Settings = Parameters<typeof product>[0];

const faultsOf = (settings: Settings, make = product): string[] => {
  const result = createProduct(make(settings));
  return Array.isArray(result)
    ? result.map(({ errorReason, errorSource }) => `${errorReason} ${errorSource ?? ''}`)
    : [];
};
const fees = (...list: readonly ReturnType<typeof fee>[]): Settings => ({ feesSettings: { fees: list } });

const refused: readonly (readonly [what: string, settings: Settings, fault: string])[] = [
  [
    'a fee outside the installments that no custom repayment can reach',
    { ...fees(fee({ id: 'outside', allocation: 'NO_ALLOCATION' })), allowCustomRepaymentAllocation: false },
    'CUSTOM_PAYMENT_NOT_ALLOWED_BY_PRODUCT feesSettings.fees[0]',
  ],
  [
    'a capitalised fee outside the installments',
    fees(fee({ id: 'c', allocation: 'NO_ALLOCATION', trigger: 'CAPITALIZED_DISBURSEMENT', amount: money(1) })),
    'FEE_NOT_ALLOWED feesSettings.fees[0].allocation',
  ],
  [
    'two fees of one id',
    fees(fee({ id: 'f' }), fee({ id: 'f', encodedKey: 'x' })),
    'INVALID_FEE_KEY feesSettings.fees[0]',
  ],
  [
    'a required fee without an amount',
    fees(fee({ id: 'f', trigger: 'DISBURSEMENT', feeApplication: 'REQUIRED' })),
    'MANDATORY_FEE_AMOUNT feesSettings.fees[0].amount',
  ],
  [
    'a fee of nothing',
    fees(fee({ id: 'f', amount: money(0) })),
    'FEE_AMOUNT_MUST_BE_STRICTLY_POSITIVE feesSettings.fees[0].amount',
  ],
  [
    'a percentage on a flat fee',
    fees(fee({ id: 'f', percentageAmount: money(1) })),
    'INVALID_FEE feesSettings.fees[0].percentageAmount',
  ],
  [
    'bounds upside down',
    { loanAmountSettings: { loanAmount: { minValue: money(2), maxValue: money(1) } } },
    'INVALID_AMOUNT loanAmountSettings.loanAmount',
  ],
  [
    'a default outside the bounds',
    { interestSettings: { interestRate: { defaultValue: money(9), maxValue: money(8) } } },
    'INVALID_INTEREST_RATE interestSettings.interestRate',
  ],
  [
    'fixed days with an interval',
    { scheduleSettings: { fixedDaysOfMonth: [5] } },
    'INCONSISTENT_WITH_FIXED_DAYS_OF_MONTH scheduleSettings.fixedDaysOfMonth',
  ],
  [
    'fixed days without a day',
    { scheduleSettings: { scheduleDueDatesMethod: 'FIXED_DAYS_OF_MONTH' } },
    'INCONSISTENT_WITH_FIXED_DAYS_OF_MONTH scheduleSettings.fixedDaysOfMonth',
  ],
  [
    'a grace period as long as the loan',
    { gracePeriodSettings: { gracePeriodType: 'PAY_INTEREST_ONLY', gracePeriod: { defaultValue: 4 } } },
    'INVALID_GRACE_PERIOD gracePeriodSettings.gracePeriod',
  ],
  [
    'grace of no kind',
    { gracePeriodSettings: { gracePeriod: { defaultValue: 1 } } },
    'INVALID_GRACE_PERIOD gracePeriodSettings.gracePeriod',
  ],
  [
    'an element missing from the allocation order',
    { paymentSettings: { repaymentAllocationOrder: ['FEE', 'INTEREST', 'PRINCIPAL', 'FEE'] } },
    'INVALID_PARAMETERS paymentSettings.repaymentAllocationOrder',
  ],
  [
    'a recalculation of a fixed loan',
    { paymentSettings: { prepaymentSettings: { prepaymentRecalculationMethod: 'RESCHEDULE_REMAINING_REPAYMENTS' } } },
    'LOAN_PRODUCT_PREPAYMENT_OPTIONS_MISMATCH paymentSettings.prepaymentSettings.prepaymentRecalculationMethod',
  ],
  ['a tax of more than everything', { taxSettings: { taxRate: money(101) } }, 'INVALID_PARAMETERS taxSettings.taxRate'],
];

describe('the rules of products', () => {
  it('accept a product whose settings go together, and give it back', () => {
    const accepted = product(fees(fee({ id: 'outside', allocation: 'NO_ALLOCATION' })));
    expect(createProduct(accepted)).to.equal(accepted);
    expect(faultsOf({}, dynamicProduct)).to.deep.equal([]);
  });

  for (const [what, settings, fault] of refused) {
    it(`refuse ${what}`, () => {
      expect(faultsOf(settings)).to.include(fault);
    });
  }

  it('refuse flat interest and a reduced level payment on a dynamic loan that has none', () => {
    expect(faultsOf({ interestSettings: { interestCalculationMethod: 'FLAT' } }, dynamicProduct)).to.deep.equal([
      'INVALID_PARAMETERS interestSettings.interestCalculationMethod',
    ]);
    const reduced = { prepaymentRecalculationMethod: 'REDUCE_AMOUNT_PER_INSTALLMENT' };
    expect(faultsOf({ paymentSettings: { prepaymentSettings: reduced } }, dynamicProduct)).to.have.length(1);
  });

  it('know a list of days and a count', () => {
    expect([
      areFixedDays([1, 15], true),
      areFixedDays([15, 1], true),
      areFixedDays([32], true),
      areFixedDays([], false),
    ]).to.deep.equal([true, false, false, true]);
    expect([
      isCountFrom(1, 0),
      isCountFrom(1, 1),
      isCountFrom(0, 1.5),
      isCountFrom(0, installmentsMaximum + 1),
    ]).to.deep.equal([false, true, false, false]);
  });
});
