/** The elements that a custom repayment can name. */
export const customPaymentAmountTypes = [
  'PRINCIPAL',
  'INTEREST',
  'MANUAL_FEE',
  'UPFRONT_DISBURSEMENT_FEE',
  'PAYMENT_DUE_FEE',
  'LATE_REPAYMENT_FEE',
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
  'RECALCULATE_SCHEDULE_KEEP_SAME_TOTAL_REPAYMENT_AMOUNT',
  'REDUCE_AMOUNT_PER_INSTALLMENT',
  'REDUCE_NUMBER_OF_INSTALLMENTS',
  'REDUCE_NUMBER_OF_INSTALLMENTS_NEW',
] as const;
export type PrepaymentRecalculationMethod = (typeof prepaymentRecalculationMethods)[number];

/** What a row keeps, when it is paid ahead without a recalculation and earns less interest: principal or total. */
export const elementsRecalculationMethods = ['PRINCIPAL_EXPECTED_FIXED', 'TOTAL_EXPECTED_FIXED'] as const;
export type ElementsRecalculationMethod = (typeof elementsRecalculationMethods)[number];

/**
 * Whether a repayment pays the interest that a row has earned before its due date. MANUAL: only as far as it was
 * applied, and the rest after all principal.
 */
export const interestOnPrepaymentMethods = ['AUTOMATIC', 'MANUAL'] as const;
export type InterestOnPrepaymentMethod = (typeof interestOnPrepaymentMethods)[number];

/** The state of a row before its due date of which only interest is left to pay. */
export const principalPaidStatuses = ['PARTIALLY_PAID', 'PAID'] as const;
export type PrincipalPaidStatus = (typeof principalPaidStatuses)[number];

/** The row that asks for the interest that late principal earns; none with NO_RECALCULATION, as it earns none. */
export const latePaymentsRecalculationMethods = [
  'OVERDUE_INSTALLMENTS_INCREASE',
  'LAST_INSTALLMENT_INCREASE',
  'NO_RECALCULATION',
] as const;
export type LatePaymentsRecalculationMethod = (typeof latePaymentsRecalculationMethods)[number];
