/** The product of the loans whose commands are measured: four installments, and fees that a command chooses. */
export const feeProduct = {
  name: 'Benchmark',
  type: 'FIXED_TERM_LOAN',
  currency: { code: 'EUR' },
  interestSettings: { interestRate: { defaultValue: 10 } },
  scheduleSettings: { numInstallments: { defaultValue: 4 } },
  feesSettings: { allowArbitraryFees: true },
};
