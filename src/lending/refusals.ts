/**
 * Refusals: what the rules of lending say no to. A refusal is a value, not an exception. Names and numbers are those of
 * the lending API; the name is the contract, the number is data.
 */
export const refusalCodes = {
  INVALID_PARAMETERS: 4,
  INVALID_PAGINATION_OFFSET_VALUE: 11,
  INVALID_PAGINATION_LIMIT_VALUE: 13,
  OUT_OF_BOUNDS_PAGINATION_LIMIT_VALUE: 14,
  INVALID_LOAN_ACCOUNT_ID: 100,
  INVALID_AMOUNT: 101,
  INVALID_DATE: 102,
  INVALID_ACCOUNT_STATE: 105,
  INVALID_FEE: 106,
  LOAN_PRODUCT_MISMATCH: 107,
  EXCESS_REPAYMENT_ERROR: 110,
  INVALID_STATE_TRANSITION: 116,
  INVALID_FIRST_REPAYMENT_DUE_DATE: 118,
  INVALID_INTEREST_RATE: 120,
  INVALID_INSTALLMENTS: 121,
  PREPAYMENT_NOT_ALLOWED_ERROR: 123,
  INVALID_DISBURSEMENT_DATE: 125,
  INVALID_ACCOUNT_STATE_FOR_REPAYMENTS: 128,
  DISBURSEMENT_FEES_EXCEED_LOAN_AMOUNT: 129,
  ENTRY_DATE_BEFORE_OTHER_TRANSACTION: 131,
  INCONSISTENT_WITH_FIXED_DAYS_OF_MONTH: 135,
} as const;

export type RefusalReason = keyof typeof refusalCodes;

export interface Refusal {
  readonly errorReason: RefusalReason;
  /** The field or resource that is wrong, as the caller wrote it, e.g. `amount` or `feesSettings.fees[0]`. */
  readonly errorSource: string | null;
}

export function refusal(errorReason: RefusalReason, errorSource: string | null = null): Refusal {
  return { errorReason, errorSource };
}
