import {
  type ElementsRecalculationMethod,
  type InterestOnPrepaymentMethod,
  type PrepaymentRecalculationMethod,
  type PrincipalPaidStatus,
  elementsRecalculationMethods,
  interestOnPrepaymentMethods,
  prepaymentRecalculationMethods,
  principalPaidStatuses,
} from '../../lending/payment-options.ts';
import type { LoanProduct } from '../../lending/products/product.ts';
import { type FieldReader, present } from './field-reader.ts';

const prepaymentAcceptances = ['ACCEPT_PREPAYMENTS', 'NO_PREPAYMENTS'] as const;

type PrepaymentSettings = LoanProduct['paymentSettings']['prepaymentSettings'];

/** What a payment ahead of the schedule does. */
export function readPrepaymentSettings(reader: FieldReader): PrepaymentSettings {
  return {
    prepaymentAcceptance: reader.choice('prepaymentAcceptance', prepaymentAcceptances) ?? 'ACCEPT_PREPAYMENTS',
    prepaymentRecalculationMethod:
      reader.choice<PrepaymentRecalculationMethod>('prepaymentRecalculationMethod', prepaymentRecalculationMethods) ??
      'NO_RECALCULATION',
    ...present({
      elementsRecalculationMethod: reader.choice<ElementsRecalculationMethod>(
        'elementsRecalculationMethod',
        elementsRecalculationMethods,
      ),
      applyInterestOnPrepaymentMethod: reader.choice<InterestOnPrepaymentMethod>(
        'applyInterestOnPrepaymentMethod',
        interestOnPrepaymentMethods,
      ),
      principalPaidInstallmentStatus: reader.choice<PrincipalPaidStatus>(
        'principalPaidInstallmentStatus',
        principalPaidStatuses,
      ),
    }),
  };
}

/** Within how many days of a due date its level payment stays; undefined when it never does. */
export function readPaymentThreshold(
  interest: FieldReader,
): LoanProduct['interestSettings']['pmtAdjustmentThreshold'] | undefined {
  const reader = interest.object('pmtAdjustmentThreshold');
  // Working days would need the holidays of the organisation.
  const method = reader.choice('method', ['CALENDAR_DAYS']) ?? 'CALENDAR_DAYS';
  const numberOfDays = reader.count('numberOfDays');
  return numberOfDays === undefined ? undefined : { method, numberOfDays };
}
