import type { Requests } from '../contract.ts';

/**
 * The loan product of the demo, and of tests and documents that need any product: an annuity at ten percent a month. In
 * the published example, 1000 is repaid over four months by 315.47 a month.
 */
export function annuityProduct(id: string, months = 4) {
  return {
    id,
    name: `Annuity over ${months} months`,
    type: 'FIXED_TERM_LOAN',
    currency: { code: 'EUR' },
    interestSettings: {
      interestRate: { defaultValue: 10 },
      interestChargeFrequency: 'EVERY_MONTH',
      interestCalculationMethod: 'DECLINING_BALANCE_DISCOUNTED',
      scheduleInterestDaysCountMethod: 'REPAYMENT_PERIODICITY',
    },
    scheduleSettings: { repaymentPeriodUnit: 'MONTHS', numInstallments: { defaultValue: months } },
    feesSettings: { allowArbitraryFees: true },
  } satisfies Requests['createLoanProduct'];
}
