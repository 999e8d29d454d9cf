import { type AdditionalFields, noAdditionalFields, withAdditionalFields } from '../additional-fields.ts';
import type { LatePaymentsRecalculationMethod } from '../payment-options.ts';
import { behaviourOf } from '../products/product-behaviour.ts';
import type { LoanProduct, ProductFee } from '../products/product.ts';
import type { RepaymentReschedulingMethod } from '../terms.ts';

/**
 * A product as GET /loanproducts/{id} shows it: all its settings, in the lending API's names and at its places. What it
 * shows can be sent back as it is.
 */
export function productView({ additionalFields, ...product }: LoanProduct) {
  const {
    interestRate,
    interestChargeFrequency,
    interestChargeFrequencyCount,
    accrueInterestAfterMaturity,
    ...interestSettings
  } = product.interestSettings;
  const { defaultPrincipalRepaymentInterval, repaymentReschedulingMethod, ...scheduleSettings } =
    product.scheduleSettings;
  const { latePaymentsRecalculationMethod, ...paymentSettings } = product.paymentSettings;
  const view = {
    ...product,
    interestSettings: {
      ...interestSettings,
      indexRateSettings: {
        interestRate,
        interestChargeFrequency,
        interestChargeFrequencyCount,
        ...(accrueInterestAfterMaturity === undefined ? {} : { accrueInterestAfterMaturity }),
      },
    },
    scheduleSettings,
    paymentSettings: { ...paymentSettings, principalPaymentSettings: { defaultPrincipalRepaymentInterval } },
    feesSettings: { ...product.feesSettings, fees: product.feesSettings.fees.map(feeView) },
  };
  const shown = withAdditionalFields(view, additionalFields ?? noAdditionalFields);
  const inForce = settingsInForce(product.type, repaymentReschedulingMethod, latePaymentsRecalculationMethod);
  return withAdditionalFields(shown, inForce) as typeof view & SettingsInForce;
}

function feeView({ allocation, ...fee }: ProductFee) {
  const scheduleAllocationMethod = allocation === 'INSTALLMENT' ? ('ON_INSTALLMENT' as const) : allocation;
  return { ...fee, scheduleAllocationMethod };
}

/** What every response has, also where the product does not say it: clients made from the contract require it. */
function settingsInForce(
  type: LoanProduct['type'],
  repaymentReschedulingMethod: RepaymentReschedulingMethod | 'NONE' = 'NONE',
  latePaymentsRecalculationMethod: LatePaymentsRecalculationMethod = 'OVERDUE_INSTALLMENTS_INCREASE',
) {
  const { rows } = behaviourOf({ type });
  return {
    interestSettings: {
      indexRateSettings: { interestRateSource: 'FIXED_INTEREST_RATE', interestRateTerms: 'FIXED' },
    },
    scheduleSettings: {
      repaymentScheduleMethod: rows === 'AGREED' ? 'FIXED' : 'DYNAMIC',
      repaymentReschedulingMethod,
    },
    paymentSettings: {
      latePaymentsRecalculationMethod,
      prepaymentSettings: {
        futurePaymentsAcceptance: 'NO_FUTURE_PAYMENTS',
      },
    },
    creditArrangementSettings: { creditArrangementRequirement: 'OPTIONAL' },
  } as const satisfies AdditionalFields;
}

type SettingsInForce = ReturnType<typeof settingsInForce>;
