/** Product bodies as an admin would post them. */

/**
 * The fixed-term annuity product of the published example: 1000 over four months at ten percent a month gives
 * installments of 315.47.
 */
export function annuityProduct(id: string): Record<string, unknown> {
  return {
    id,
    name: 'Annuity over four months',
    type: 'FIXED_TERM_LOAN',
    currency: { code: 'EUR' },
    interestSettings: {
      interestRate: { defaultValue: 10 },
      interestChargeFrequency: 'EVERY_MONTH',
      interestCalculationMethod: 'DECLINING_BALANCE_DISCOUNTED',
      daysInYear: 'ACTUAL_365_FIXED',
      scheduleInterestDaysCountMethod: 'REPAYMENT_PERIODICITY',
    },
    scheduleSettings: { repaymentPeriodUnit: 'MONTHS', numInstallments: { defaultValue: 4 } },
    feesSettings: { allowArbitraryFees: true },
  };
}
