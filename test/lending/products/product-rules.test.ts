import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  areFixedDays,
  createProduct,
  installmentsMaximum,
  isCountFrom,
} from '../../../src/lending/products/product-rules.ts';
import { dynamicProduct, fee, money, product } from '../loan-fixtures.ts';

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
    'a fee outside the installments that no custom repayment can pay',
    { ...fees(fee({ id: 'outside', allocation: 'NO_ALLOCATION' })), allowCustomRepaymentAllocation: false },
    'CUSTOM_PAYMENT_NOT_ALLOWED_BY_PRODUCT feesSettings.fees[0]',
  ],
  [
    'a capitalised fee outside the installments',
    fees(fee({ id: 'c', allocation: 'NO_ALLOCATION', trigger: 'CAPITALIZED_DISBURSEMENT', amount: money(1) })),
    'FEE_NOT_ALLOWED feesSettings.fees[0].allocation',
  ],
  [
    'two fees with one id',
    fees(fee({ id: 'f' }), fee({ id: 'f', encodedKey: 'x' })),
    'INVALID_FEE_KEY feesSettings.fees[0]',
  ],
  [
    'a required fee without an amount',
    fees(fee({ id: 'f', trigger: 'DISBURSEMENT', feeApplication: 'REQUIRED' })),
    'MANDATORY_FEE_AMOUNT feesSettings.fees[0].amount',
  ],
  [
    'a fee of zero',
    fees(fee({ id: 'f', amount: money(0) })),
    'FEE_AMOUNT_MUST_BE_STRICTLY_POSITIVE feesSettings.fees[0].amount',
  ],
  [
    'a percentage on a flat fee',
    fees(fee({ id: 'f', percentageAmount: money(1) })),
    'INVALID_FEE feesSettings.fees[0].percentageAmount',
  ],
  [
    'a minimum above the maximum',
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
    'a grace period without a type',
    { gracePeriodSettings: { gracePeriod: { defaultValue: 1 } } },
    'INVALID_GRACE_PERIOD gracePeriodSettings.gracePeriod',
  ],
  [
    'a vertical allocation of scheduled interest',
    { paymentSettings: { paymentMethod: 'VERTICAL' } },
    'INVALID_PARAMETERS paymentSettings.paymentMethod',
  ],
  [
    'totals kept although no interest is saved',
    { paymentSettings: { prepaymentSettings: { elementsRecalculationMethod: 'TOTAL_EXPECTED_FIXED' } } },
    'INVALID_PARAMETERS paymentSettings.prepaymentSettings.elementsRecalculationMethod',
  ],
  [
    'interest applied by hand although all of it is owed',
    { paymentSettings: { prepaymentSettings: { applyInterestOnPrepaymentMethod: 'MANUAL' } } },
    'INVALID_PARAMETERS paymentSettings.prepaymentSettings.applyInterestOnPrepaymentMethod',
  ],
  [
    'a threshold although no payment is computed again',
    { interestSettings: { pmtAdjustmentThreshold: { method: 'CALENDAR_DAYS', numberOfDays: 5 } } },
    'INVALID_PARAMETERS interestSettings.pmtAdjustmentThreshold',
  ],
  [
    'a fee applied on due dates although it is owed from the disbursement on',
    { feesSettings: { fees: [fee({ id: 'due', trigger: 'PAYMENT_DUE_APPLIED_ON_DUE_DATES', amount: money(1) })] } },
    'FEE_NOT_ALLOWED feesSettings.fees[0].trigger',
  ],
  [
    'a fee for each late installment without an amount',
    { feesSettings: { fees: [fee({ id: 'late', trigger: 'LATE_REPAYMENT', feeApplication: 'REQUIRED' })] } },
    'MANDATORY_FEE_AMOUNT feesSettings.fees[0].amount',
  ],
  [
    'a fee for being late outside the installments',
    {
      feesSettings: {
        fees: [fee({ id: 'late', trigger: 'LATE_REPAYMENT', amount: money(1), allocation: 'NO_ALLOCATION' })],
      },
    },
    'FEE_NOT_ALLOWED feesSettings.fees[0].allocation',
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
  ['a tax above 100 percent', { taxSettings: { taxRate: money(101) } }, 'INVALID_PARAMETERS taxSettings.taxRate'],
];

describe('the rules of products', () => {
  it('accept a product with consistent settings, and return it', () => {
    const accepted = product(fees(fee({ id: 'outside', allocation: 'NO_ALLOCATION' })));
    expect(createProduct(accepted)).to.equal(accepted);
    expect(faultsOf({}, dynamicProduct)).to.deep.equal([]);
  });

  for (const [what, settings, fault] of refused) {
    it(`refuse ${what}`, () => {
      expect(faultsOf(settings)).to.include(fault);
    });
  }

  it('refuse flat interest and a reduced level payment on a dynamic loan without a level payment', () => {
    expect(faultsOf({ interestSettings: { interestCalculationMethod: 'FLAT' } }, dynamicProduct)).to.deep.equal([
      'INVALID_PARAMETERS interestSettings.interestCalculationMethod',
    ]);
    const reduced = { prepaymentRecalculationMethod: 'REDUCE_AMOUNT_PER_INSTALLMENT' };
    expect(faultsOf({ paymentSettings: { prepaymentSettings: reduced } }, dynamicProduct)).to.have.length(1);
  });

  describe('at their limits', () => {
    const loanAmount = (bounds: object): Settings => ({ loanAmountSettings: { loanAmount: bounds } });
    const count = (bounds: object): Settings => ({ scheduleSettings: { numInstallments: bounds } });
    const offset = (bounds: object): Settings => ({ scheduleSettings: { firstRepaymentDueDateOffset: bounds } });
    const frequency = (interestChargeFrequency: string, interestChargeFrequencyCount: number): Settings => ({
      interestSettings: { interestChargeFrequency, interestChargeFrequencyCount },
    });
    const grace = (gracePeriodType: string, gracePeriod: object): Settings => ({
      gracePeriodSettings: { gracePeriodType, gracePeriod },
    });
    const schedule = (scheduleSettings: object): Settings => ({ scheduleSettings });
    const oneFee = (settings: object): Settings => fees(fee({ id: 'f', ...settings }));
    const tax = (taxRate: string): Settings => ({ taxSettings: { taxRate: money(taxRate) } });
    const isNothing: readonly string[] = [];
    const amount = ['INVALID_AMOUNT loanAmountSettings.loanAmount'];
    const installments = ['INVALID_INSTALLMENTS scheduleSettings.numInstallments'];
    const firstOffset = ['INVALID_INSTALLMENTS scheduleSettings.firstRepaymentDueDateOffset'];
    const frequencyCount = ['INVALID_PARAMETERS interestSettings.interestChargeFrequencyCount'];
    const gracePeriod = ['INVALID_GRACE_PERIOD gracePeriodSettings.gracePeriod'];
    const fixedDays = ['INCONSISTENT_WITH_FIXED_DAYS_OF_MONTH scheduleSettings.fixedDaysOfMonth'];
    const periodCount = ['INVALID_REPAYMENT_FREQUENCY scheduleSettings.defaultRepaymentPeriodCount'];
    const interval = ['INVALID_PRINCIPAL_REPAYMENT_INTERVAL scheduleSettings.defaultPrincipalRepaymentInterval'];
    const notPositive = (name: string): string[] => [
      `FEE_AMOUNT_MUST_BE_STRICTLY_POSITIVE feesSettings.fees[0].${name}`,
    ];
    const missing = (name: string): string[] => [`MANDATORY_FEE_AMOUNT feesSettings.fees[0].${name}`];
    const required = { trigger: 'DISBURSEMENT', feeApplication: 'REQUIRED' };
    const rate = { amountCalculationMethod: 'LOAN_AMOUNT_PERCENTAGE' };
    const perRow = { amountCalculationMethod: 'FLAT_NUMBER_OF_INSTALLMENTS' };

    const limits: readonly (readonly [what: string, settings: Settings, faults: readonly string[]])[] = [
      [
        'equal bounds and default',
        loanAmount({ minValue: money(5), defaultValue: money(5), maxValue: money(5) }),
        isNothing,
      ],
      ['amounts of zero', loanAmount({ minValue: money(0), defaultValue: money(0), maxValue: money(0) }), isNothing],
      ['a least amount below zero', loanAmount({ minValue: money('-0.01') }), amount],
      ['a default amount below zero', loanAmount({ defaultValue: money('-0.01') }), amount],
      ['a most amount below zero', loanAmount({ maxValue: money('-0.01') }), amount],
      [
        'a default amount a cent below the least',
        loanAmount({ minValue: money(5), defaultValue: money('4.99') }),
        amount,
      ],
      [
        'a default amount a cent above the most',
        loanAmount({ maxValue: money(5), defaultValue: money('5.01') }),
        amount,
      ],
      ['a most amount a cent below the least', loanAmount({ minValue: money(5), maxValue: money('4.99') }), amount],
      ['one installment', count({ minValue: 1, defaultValue: 1, maxValue: 1 }), isNothing],
      ['the maximum number of installments', count({ defaultValue: installmentsMaximum }), isNothing],
      ['zero installments', count({ defaultValue: 0 }), installments],
      ['one installment too many', count({ defaultValue: 4, maxValue: installmentsMaximum + 1 }), installments],
      ['half an installment', count({ defaultValue: 1.5 }), installments],
      ['a default above the most installments', count({ defaultValue: 13, maxValue: 12 }), installments],
      ['a default below the least installments', count({ minValue: 3, defaultValue: 2 }), installments],
      ['a maximum of installments below the minimum', count({ minValue: 12, maxValue: 11 }), installments],
      ['an offset of zero days', offset({ defaultValue: 0 }), isNothing],
      ['a negative offset', offset({ defaultValue: -1 }), firstOffset],
      ['interest every second day', frequency('EVERY_X_DAYS', 2), isNothing],
      ['interest every day', frequency('EVERY_X_DAYS', 1), isNothing],
      ['interest every zero days', frequency('EVERY_X_DAYS', 0), frequencyCount],
      ['interest every second month', frequency('EVERY_MONTH', 2), frequencyCount],
      [
        'a grace period one installment shorter than the loan',
        grace('PAY_INTEREST_ONLY', { defaultValue: 3 }),
        isNothing,
      ],
      ['a least grace as long as the loan', grace('PAY_INTEREST_ONLY', { minValue: 4 }), gracePeriod],
      ['a negative grace period', grace('PAY_INTEREST_ONLY', { defaultValue: -1 }), gracePeriod],
      ['a grace period of zero without a type', grace('NONE', { defaultValue: 0 }), isNothing],
      [
        'any grace period while the number of installments is open',
        { ...grace('PAY_INTEREST_ONLY', { defaultValue: 999 }), ...count({ defaultValue: undefined }) },
        isNothing,
      ],
      ['a fixed day without the fixed-days method', schedule({ fixedDaysOfMonth: [1] }), fixedDays],
      [
        'a short month without fixed days',
        schedule({ shortMonthHandlingMethod: 'LAST_DAY_IN_MONTH' }),
        ['INCONSISTENT_WITH_FIXED_DAYS_OF_MONTH scheduleSettings.shortMonthHandlingMethod'],
      ],
      [
        'a short month with fixed days',
        schedule({
          scheduleDueDatesMethod: 'FIXED_DAYS_OF_MONTH',
          fixedDaysOfMonth: [31],
          shortMonthHandlingMethod: 'FIRST_DAY_OF_NEXT_MONTH',
        }),
        isNothing,
      ],
      ['a period of zero', schedule({ defaultRepaymentPeriodCount: 0 }), periodCount],
      ['principal every zero installments', schedule({ defaultPrincipalRepaymentInterval: 0 }), interval],
      ['no tax', tax('0'), isNothing],
      ['a tax of 100 percent', tax('100'), isNothing],
      ['a tax just above 100 percent', tax('100.01'), ['INVALID_PARAMETERS taxSettings.taxRate']],
      ['a negative tax', tax('-0.01'), ['INVALID_PARAMETERS taxSettings.taxRate']],
      ['a fee of a cent', oneFee({ amount: money('0.01') }), isNothing],
      ['a fee of less than a cent', oneFee({ amount: money('0.001') }), ['INVALID_AMOUNT feesSettings.fees[0].amount']],
      ['a rate of less than a cent', oneFee({ ...rate, percentageAmount: money('0.001') }), isNothing],
      ['a rate of zero', oneFee({ ...rate, percentageAmount: money(0) }), notPositive('percentageAmount')],
      ['a rate with an amount', oneFee({ ...rate, amount: money(1) }), ['INVALID_FEE feesSettings.fees[0].amount']],
      ['an optional flat fee without an amount', oneFee({ trigger: 'DISBURSEMENT' }), isNothing],
      ['a required flat fee without an amount', oneFee(required), missing('amount')],
      ['a required manual fee without an amount', oneFee({ feeApplication: 'REQUIRED' }), isNothing],
      ['a required arbitrary fee without an amount', oneFee({ ...required, trigger: 'ARBITRARY' }), isNothing],
      [
        'an optional fee per installment without an amount',
        oneFee({ ...perRow, trigger: 'DISBURSEMENT' }),
        missing('amount'),
      ],
      ['a manual fee per installment without an amount', oneFee(perRow), isNothing],
      ['a manual percentage fee without a percentage', oneFee(rate), missing('percentageAmount')],
      ['a fee whose key is its id', oneFee({ encodedKey: 'f' }), isNothing],
      [
        "two fees where one has the other's id as its key",
        fees(fee({ id: 'f' }), fee({ id: 'g', encodedKey: 'f' })),
        ['INVALID_FEE_KEY feesSettings.fees[0]', 'INVALID_FEE_KEY feesSettings.fees[1]'],
      ],
      [
        'an arbitrary fee outside the installments',
        oneFee({ allocation: 'NO_ALLOCATION', trigger: 'ARBITRARY' }),
        isNothing,
      ],
    ];
    for (const [what, settings, faults] of limits) {
      it(`${faults.length === 0 ? 'accept' : 'refuse'} ${what}`, () => {
        expect(faultsOf(settings)).to.deep.equal(faults);
      });
    }
  });

  const days: readonly (readonly [days: readonly number[], areUsed: boolean, areFixed: boolean])[] = [
    [[1, 31], true, true],
    [[15], true, true],
    [[], true, false],
    [[0, 15], true, false],
    [[15, 32], true, false],
    [[1.5], true, false],
    [[15, 15], true, false],
    [[15, 1], true, false],
    [[1, 15, 10], true, false],
    [[], false, true],
    [[1], false, false],
  ];
  for (const [list, areUsed, areFixed] of days) {
    it(`${areFixed ? 'accept' : 'refuse'} [${list.join(', ')}] as fixed days that are ${areUsed ? '' : 'not '}used`, () => {
      expect(areFixedDays(list, areUsed)).to.equal(areFixed);
    });
  }

  const counts: readonly (readonly [minimum: number, count: number, isCount: boolean])[] = [
    [1, 0, false],
    [1, 1, true],
    [0, 0, true],
    [0, -1, false],
    [0, 1.5, false],
    [0, installmentsMaximum, true],
    [0, installmentsMaximum + 1, false],
  ];
  for (const [minimum, count, isCount] of counts) {
    it(`${isCount ? 'accept' : 'refuse'} ${count} as a count from ${minimum}`, () => {
      expect(isCountFrom(minimum, count)).to.equal(isCount);
    });
  }

  it('allow at most ten years of daily installments', () => {
    expect(installmentsMaximum).to.equal(3_660);
  });
});
