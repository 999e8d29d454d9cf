/** The elements that a custom repayment can name. */
export const customPaymentAmountTypes = [
  'PRINCIPAL',
  'INTEREST',
  'MANUAL_FEE',
  'UPFRONT_DISBURSEMENT_FEE',
  'PAYMENT_DUE_FEE',
  'PENALTY',
  'NON_SCHEDULED_FEE',
] as const;
export type CustomPaymentAmountType = (typeof customPaymentAmountTypes)[number];

/** Whether a repayment pays row by row, or one element of all rows after the other. */
export const paymentMethods = ['HORIZONTAL', 'VERTICAL'] as const;
export type PaymentMethod = (typeof paymentMethods)[number];

/** How a payment beyond what is due changes the remaining installments. */
export const prepaymentRecalculationMethods = [
  'NO_RECALCULATION',
  'RESCHEDULE_REMAINING_REPAYMENTS',
  'RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS',
  'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT',
  'REDUCE_AMOUNT_PER_INSTALLMENT',
  'REDUCE_NUMBER_OF_INSTALLMENTS_NEW',
] as const;
export type PrepaymentRecalculationMethod = (typeof prepaymentRecalculationMethods)[number];
