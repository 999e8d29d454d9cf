import { type AdditionalFields, noAdditionalFields, withAdditionalFields } from '../additional-fields.ts';
import { behaviourOf } from '../products/product-behaviour.ts';
import type { LoanProduct, ProductFee } from '../products/product.ts';

/**
 * A product as GET /loanproducts/{id} shows it: all its settings, in the lending API's names and at its places. What it
 * shows can be sent back as it is.
 */
export function productView({ additionalFields, ...product }: LoanProduct) {
  const { interestRate, interestChargeFrequency, interestChargeFrequencyCount, ...interestSettings } =
    product.interestSettings;
  const { defaultPrincipalRepaymentInterval, ...scheduleSettings } = product.scheduleSettings;
  const view = {
    ...product,
    interestSettings: {
      ...interestSettings,
      indexRateSettings: { interestRate, interestChargeFrequency, interestChargeFrequencyCount },
    },
    scheduleSettings,
    paymentSettings: { ...product.paymentSettings, principalPaymentSettings: { defaultPrincipalRepaymentInterval } },
    feesSettings: { ...product.feesSettings, fees: product.feesSettings.fees.map(feeView) },
  };
  const shown = withAdditionalFields(view, additionalFields ?? noAdditionalFields);
  return withAdditionalFields(shown, settingsInForce(product)) as typeof view & SettingsInForce;
}

function feeView({ allocation, ...fee }: ProductFee) {
  const scheduleAllocationMethod = allocation === 'INSTALLMENT' ? ('ON_INSTALLMENT' as const) : allocation;
  return { ...fee, scheduleAllocationMethod };
}

/** What every answer has, although no account has another value: clients made from the contract require it. */
function settingsInForce({ type }: Pick<LoanProduct, 'type'>) {
  const { interest, rows } = behaviourOf({ type });
  return {
    interestSettings: {
      indexRateSettings: { interestRateSource: 'FIXED_INTEREST_RATE', interestRateTerms: 'FIXED' },
    },
    scheduleSettings: {
      repaymentScheduleMethod: rows === 'AGREED' ? 'FIXED' : 'DYNAMIC',
      repaymentReschedulingMethod: 'NONE',
    },
    paymentSettings: {
      latePaymentsRecalculationMethod: 'OVERDUE_INSTALLMENTS_INCREASE',
      prepaymentSettings: {
        futurePaymentsAcceptance: interest === 'ACCRUED' ? 'NO_FUTURE_PAYMENTS' : 'ACCEPT_FUTURE_PAYMENTS',
      },
    },
    creditArrangementSettings: { creditArrangementRequirement: 'OPTIONAL' },
  } as const satisfies AdditionalFields;
}

type SettingsInForce = ReturnType<typeof settingsInForce>;
