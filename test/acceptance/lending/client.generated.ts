/* Generated from contract.json by `npm run generate`. Do not edit. */

/**
 * The bodies of requests and responses.
 */
interface Bodies {
  createProductRequest: LoanProduct;
  createProductResponse: LoanProduct;
  getProductResponse: LoanProduct;
  patchProductRequest: PatchOperation[];
  createLoanRequest: LoanAccount;
  createLoanResponse: LoanAccount;
  getLoanResponse: LoanAccount;
  patchLoanRequest: PatchOperation[];
  changeLoanStateRequest: LoanAccountAction;
  changeLoanStateResponse: LoanAccount;
  listLoansResponse: LoanAccount[];
  searchLoansRequest: LoanAccountSearchCriteria;
  searchLoansResponse: LoanAccount[];
  getBalancesResponse: LoanAccountBalances;
  previewPayOffAmountsRequest: PreviewPayOffDueAmountsInAFutureDateInput;
  previewPayOffAmountsResponse: PreviewPayOffDueAmountsInAFutureDateWrapper;
  payOffRequest: LoanAccountPayOffInput;
  disburseRequest: DisbursementLoanTransactionInput;
  disburseResponse: LoanTransaction;
  applyFeeRequest: FeeLoanTransactionInput;
  applyFeeResponse: LoanTransaction;
  repayRequest: RepaymentLoanTransactionInput;
  repayResponse: LoanTransaction;
  adjustTransactionRequest: LoanTransactionAdjustmentDetails;
  adjustTransactionResponse: LoanTransaction;
  getTransactionResponse: LoanTransaction;
  listTransactionsResponse: LoanTransaction[];
  searchTransactionsRequest: LoanTransactionSearchCriteria;
  searchTransactionsResponse: LoanTransaction[];
  getScheduleResponse: LoanAccountSchedule;
  previewScheduleRequest: PreviewLoanAccountSchedule;
  previewScheduleResponse: LoanAccountSchedule;
  listInstallmentsResponse: Installment[];
  getOrganizationResponse: OrganizationSetup;
  listBranchesResponse: Branch[];
}
interface LoanProduct {
  accountingSettings?: AccountingSettings;
  accountLinkSettings?: AccountLinkSettings;
  adjustInterestForFirstInstallment?: boolean;
  adjustTotalDueForInstallmentsWithDifferentInterval?: boolean;
  allowCustomRepaymentAllocation?: boolean;
  arrearsSettings?: ProductArrearsSettings;
  availabilitySettings?: ProductAvailabilitySettings;
  category?:
    | 'PERSONAL_LENDING'
    | 'PURCHASE_FINANCING'
    | 'RETAIL_MORTGAGES'
    | 'SME_LENDING'
    | 'COMMERCIAL'
    | 'UNCATEGORIZED';
  creationDate?: string;
  creditArrangementSettings: CreditArrangementSettings;
  currency?: Currency;
  encodedKey?: string;
  feesSettings?: FeesSettings;
  fundingSettings?: FundingSettings;
  gracePeriodSettings?: GracePeriodSettings;
  id: string;
  interestSettings?: ProductInterestSettings;
  internalControls?: InternalControls;
  lastModifiedDate?: string;
  loanAmountSettings?: LoanAmountSettings;
  name: string;
  newAccountSettings?: NewAccountSettings;
  notes?: string;
  offsetSettings?: OffsetSettings;
  paymentSettings?: PaymentSettings;
  penaltySettings?: ProductPenaltySettings;
  redrawSettings?: ProductRedrawSettings;
  scheduleSettings?: LoanProductScheduleSettings;
  securitySettings?: SecuritySettings;
  state?: 'ACTIVE' | 'INACTIVE';
  taxSettings?: TaxSettings;
  templates?: DocumentTemplate[];
  type:
    | 'FIXED_TERM_LOAN'
    | 'DYNAMIC_TERM_LOAN'
    | 'INTEREST_FREE_LOAN'
    | 'TRANCHED_LOAN'
    | 'REVOLVING_CREDIT'
    | 'INTEREST_ONLY_EQUAL_INSTALLMENTS'
    | 'DYNAMIC_MORTGAGE';
  useFeeIncludedInPMT?: boolean;
}
interface AccountingSettings {
  accountingMethod: 'NONE' | 'CASH' | 'ACCRUAL';
  accountingRules?: GLAccountingRule[];
  interestAccrualCalculation?: 'NONE' | 'AGGREGATED_AMOUNT' | 'BREAKDOWN_PER_ACCOUNT';
  interestAccruedAccountingMethod?: 'NONE' | 'DAILY' | 'END_OF_MONTH';
}
interface GLAccountingRule {
  encodedKey?: string;
  financialResource:
    | 'PORTFOLIO_CONTROL'
    | 'FUND_SOURCE'
    | 'WRITE_OFF_EXPENSE'
    | 'INTEREST_INCOME'
    | 'PAYMENT_HOLIDAY_INTEREST_INCOME'
    | 'TAXES_PAYABLE'
    | 'FEE_INCOME'
    | 'PENALTY_INCOME'
    | 'NEGATIVE_INTEREST_PAYABLE_RECEIVABLE'
    | 'NEGATIVE_INTEREST_PAYABLE'
    | 'INTEREST_RECEIVABLE'
    | 'PAYMENT_HOLIDAY_INTEREST_RECEIVABLE'
    | 'FEE_RECEIVABLE'
    | 'PENALTY_RECEIVABLE'
    | 'TAXES_RECEIVABLE'
    | 'DEFERRED_INTERESTS_INCOME'
    | 'DEFERRED_FEE_INCOME'
    | 'DEFERRED_TAXES'
    | 'DEPOSIT_REFERENCE'
    | 'SAVINGS_CONTROL'
    | 'INTEREST_EXPENSE'
    | 'INTEREST_PAYABLE'
    | 'NEGATIVE_INTEREST_INCOME'
    | 'NEGATIVE_INTEREST_RECEIVABLE'
    | 'OVERDRAFT_PORTFOLIO_CONTROL'
    | 'OVERDRAFT_INTEREST_INCOME'
    | 'OVERDRAFT_WRITE_OFF_EXPENSE'
    | 'OVERDRAFT_INTEREST_RECEIVABLE'
    | 'INTER_BRANCH_TRANSFER'
    | 'INTEREST_FROM_ARREARS_INCOME'
    | 'INTEREST_FROM_ARREARS_RECEIVABLE'
    | 'INTEREST_FROM_ARREARS_WRITE_OFF_EXPENSE'
    | 'PROFIT_EXPENSE'
    | 'PROFIT_PAYABLE'
    | 'MUDARIB_SHARE'
    | 'DISTRIBUTABLE_PROFIT'
    | 'INTEREST_FROM_FEES_INCOME'
    | 'INTEREST_FROM_FEES_RECEIVABLE'
    | 'INTEREST_FROM_FEES_WRITE_OFF_EXPENSE';
  glAccountKey: string;
  transactionChannelKey?: string;
}
interface AccountLinkSettings {
  enabled: boolean;
  linkableDepositProductKey?: string;
  linkedAccountOptions?: ('AUTO_LINK_ACCOUNTS' | 'AUTO_CREATE_LINKED_ACCOUNTS')[];
  settlementMethod?: 'FULL_DUE_AMOUNTS' | 'PARTIAL_DUE_AMOUNTS' | 'NO_AUTOMATED_TRANSFERS';
}
interface ProductArrearsSettings {
  dateCalculationMethod?:
    | 'ACCOUNT_FIRST_WENT_TO_ARREARS'
    | 'LAST_LATE_REPAYMENT'
    | 'ACCOUNT_FIRST_BREACHED_MATERIALITY_THRESHOLD';
  encodedKey?: string;
  monthlyToleranceDay?: number;
  nonWorkingDaysMethod?: 'INCLUDED' | 'EXCLUDED';
  toleranceCalculationMethod?: 'ARREARS_TOLERANCE_PERIOD' | 'MONTHLY_ARREARS_TOLERANCE_DAY';
  toleranceFloorAmount?: number;
  tolerancePercentageOfOutstandingPrincipal?: DecimalInterval;
  tolerancePeriod?: IntegerIntervalConstraints;
}
interface DecimalInterval {
  defaultValue?: number;
  maxValue?: number;
  minValue?: number;
}
interface IntegerIntervalConstraints {
  defaultValue?: number;
  encodedKey?: string;
  maxValue?: number;
  minValue?: number;
}
interface ProductAvailabilitySettings {
  availableFor?: ('INDIVIDUALS' | 'PURE_GROUPS' | 'SOLIDARITY_GROUPS')[];
  branchSettings?: BranchSettings;
}
interface BranchSettings {
  availableProductBranches?: string[];
  forAllBranches?: boolean;
}
interface CreditArrangementSettings {
  creditArrangementRequirement?: 'OPTIONAL' | 'REQUIRED' | 'NOT_REQUIRED';
}
interface Currency {
  code?:
    | 'AED'
    | 'AFN'
    | 'ALL'
    | 'AMD'
    | 'ANG'
    | 'AOA'
    | 'ARS'
    | 'AUD'
    | 'AWG'
    | 'AZN'
    | 'BAM'
    | 'BBD'
    | 'BDT'
    | 'BGN'
    | 'BHD'
    | 'BIF'
    | 'BMD'
    | 'BND'
    | 'BOB'
    | 'BOV'
    | 'BRL'
    | 'BSD'
    | 'BTN'
    | 'BWP'
    | 'BYR'
    | 'BYN'
    | 'BZD'
    | 'CAD'
    | 'CDF'
    | 'CHE'
    | 'CHF'
    | 'CHW'
    | 'CLF'
    | 'CLP'
    | 'CNY'
    | 'COP'
    | 'COU'
    | 'CRC'
    | 'CUC'
    | 'CUP'
    | 'CVE'
    | 'CZK'
    | 'DJF'
    | 'DKK'
    | 'DOP'
    | 'DZD'
    | 'EGP'
    | 'ERN'
    | 'ETB'
    | 'EUR'
    | 'FJD'
    | 'FKP'
    | 'GBP'
    | 'GEL'
    | 'GHS'
    | 'GIP'
    | 'GMD'
    | 'GNF'
    | 'GTQ'
    | 'GYD'
    | 'HKD'
    | 'HNL'
    | 'HRK'
    | 'HTG'
    | 'HUF'
    | 'IDR'
    | 'ILS'
    | 'INR'
    | 'IQD'
    | 'IRR'
    | 'ISK'
    | 'JMD'
    | 'JOD'
    | 'JPY'
    | 'KES'
    | 'KGS'
    | 'KHR'
    | 'KMF'
    | 'KPW'
    | 'KRW'
    | 'KWD'
    | 'KYD'
    | 'KZT'
    | 'LAK'
    | 'LBP'
    | 'LKR'
    | 'LRD'
    | 'LSL'
    | 'LTL'
    | 'LVL'
    | 'LYD'
    | 'MAD'
    | 'MDL'
    | 'MGA'
    | 'MKD'
    | 'MMK'
    | 'MNT'
    | 'MOP'
    | 'MRO'
    | 'MRU'
    | 'MUR'
    | 'MVR'
    | 'MWK'
    | 'MXN'
    | 'MXV'
    | 'MYR'
    | 'MZN'
    | 'NAD'
    | 'NGN'
    | 'NIO'
    | 'NOK'
    | 'NPR'
    | 'NZD'
    | 'OMR'
    | 'PAB'
    | 'PEN'
    | 'PGK'
    | 'PHP'
    | 'PKR'
    | 'PLN'
    | 'PYG'
    | 'QAR'
    | 'RON'
    | 'RSD'
    | 'RUB'
    | 'RWF'
    | 'SAR'
    | 'SBD'
    | 'SCR'
    | 'SDG'
    | 'SEK'
    | 'SGD'
    | 'SHP'
    | 'SLL'
    | 'SLE'
    | 'SOS'
    | 'SRD'
    | 'STD'
    | 'STN'
    | 'SVC'
    | 'SYP'
    | 'SZL'
    | 'THB'
    | 'TJS'
    | 'TMT'
    | 'TND'
    | 'TOP'
    | 'TRY'
    | 'TTD'
    | 'TWD'
    | 'TZS'
    | 'UAH'
    | 'UGX'
    | 'USD'
    | 'USN'
    | 'UYI'
    | 'UYU'
    | 'UYW'
    | 'UZS'
    | 'VED'
    | 'VEF'
    | 'VES'
    | 'VND'
    | 'VUV'
    | 'WST'
    | 'XAG'
    | 'XAU'
    | 'XAF'
    | 'XBA'
    | 'XBB'
    | 'XBC'
    | 'XBD'
    | 'XCD'
    | 'XCG'
    | 'XDR'
    | 'XOF'
    | 'XPD'
    | 'XPF'
    | 'XPT'
    | 'XSU'
    | 'XTS'
    | 'XUA'
    | 'XXX'
    | 'YER'
    | 'ZAR'
    | 'ZIG'
    | 'ZWG'
    | 'ZMK'
    | 'ZWL'
    | 'ZMW'
    | 'SSP'
    | 'NON_FIAT';
  currencyCode?: string;
}
interface FeesSettings {
  allowArbitraryFees?: boolean;
  fees?: PredefinedFee[];
}
interface PredefinedFee {
  accountingRules?: GLAccountingRule[];
  amortizationSettings?: PeriodIntervalSettings;
  amount?: number;
  amountCalculationFunctionName?: string;
  amountCalculationMethod?:
    | 'FLAT'
    | 'LOAN_AMOUNT_PERCENTAGE'
    | 'REPAYMENT_PRINCIPAL_AMOUNT_PERCENTAGE'
    | 'LOAN_AMOUNT_PERCENTAGE_NUMBER_OF_INSTALLMENTS'
    | 'FLAT_NUMBER_OF_INSTALLMENTS'
    | 'IOF_PERCENTAGE_OF_DISBURSED_AMOUNT'
    | 'IOF_PERCENTAGE_OF_INSTALLMENT_PRINCIPAL'
    | 'IOF_PERCENTAGE_OF_LATE_INSTALLMENT_PRINCIPAL'
    | 'MAMBU_FUNCTION'
    | 'FEE_RATE_ON_OUTSTANDING_PRINCIPAL';
  applyDateMethod?: 'MONTHLY_FROM_ACTIVATION' | 'FIRST_OF_EVERY_MONTH';
  creationDate?: string;
  defaultFeeRate?: number;
  encodedKey?: string;
  feeApplication: 'REQUIRED' | 'OPTIONAL';
  id?: string;
  interestBearing?: boolean;
  lastModifiedDate?: string;
  name?: string;
  percentageAmount?: number;
  scheduleAllocationMethod?: 'ON_INSTALLMENT' | 'NO_ALLOCATION';
  state: 'ACTIVE' | 'INACTIVE';
  taxSettings?: FeeTaxSettings;
  trigger:
    | 'MANUAL'
    | 'MANUAL_PLANNED'
    | 'DISBURSEMENT'
    | 'CAPITALIZED_DISBURSEMENT'
    | 'UPFRONT_DISBURSEMENT'
    | 'LATE_REPAYMENT'
    | 'PAYMENT_DUE'
    | 'PAYMENT_DUE_APPLIED_ON_DUE_DATES'
    | 'ARBITRARY'
    | 'IOF'
    | 'EARLY_REPAYMENT_CHARGE'
    | 'FEE_INCLUDED_IN_PMT';
}
interface PeriodIntervalSettings {
  amortizationProfile?: 'NONE' | 'SUM_OF_YEARS_DIGITS' | 'STRAIGHT_LINE' | 'EFFECTIVE_INTEREST_RATE';
  encodedKey?: string;
  feeAmortizationUponRescheduleRefinanceOption?:
    | 'END_AMORTIZATION_ON_THE_ORIGINAL_ACCOUNT'
    | 'CONTINUE_AMORTIZATION_ON_THE_RESCHEDULED_REFINANCED_ACCOUNT';
  frequency?: 'ACCOUNT_INSTALLMENTS_DUE_DATES' | 'ACCOUNT_INSTALLMENTS_DUE_DATES_DAILY_BOOKING' | 'CUSTOM_INTERVAL';
  intervalCount?: number;
  intervalType?: 'PREDEFINED_INTERVALS' | 'FULL_TERM';
  periodCount?: number;
  periodUnit?: 'DAYS' | 'WEEKS' | 'MONTHS' | 'YEARS';
}
interface FeeTaxSettings {
  taxableCalculationMethod?: 'DEFAULT' | 'NON_TAXABLE' | 'CUSTOM_TAX';
}
interface FundingSettings {
  enabled?: boolean;
  funderInterestCommission?: DecimalConstraints;
  funderInterestCommissionAllocationType?: 'PERCENTAGE_OF_LOAN_FUNDING' | 'FIXED_INTEREST_COMMISSIONS';
  lockFundsAtApproval?: boolean;
  organizationInterestCommission?: DecimalConstraints;
  requiredFunds?: number;
}
interface DecimalConstraints {
  defaultValue?: number;
  encodedKey?: string;
  maxValue?: number;
  minValue?: number;
}
interface GracePeriodSettings {
  gracePeriod?: IntegerIntervalConstraints;
  gracePeriodType?: 'NONE' | 'PAY_INTEREST_ONLY' | 'INTEREST_FORGIVENESS';
}
interface ProductInterestSettings {
  accrueLateInterest?: boolean;
  compoundingFrequency?: 'DAILY' | 'SEMI_ANNUALLY';
  daysInYear:
    | 'ACTUAL_365_FIXED'
    | 'ACTUAL_364'
    | 'ACTUAL_360'
    | 'ACTUAL_ACTUAL_ISDA'
    | 'E30_360'
    | 'BUS_252'
    | 'E30_42_365';
  decoupleInterestFromArrears?: boolean;
  indexRateSettings?: InterestProductSettings;
  interestApplicationMethod?: 'AFTER_DISBURSEMENT' | 'REPAYMENT_DUE_DATE' | 'FIXED_DAYS_OF_MONTH';
  interestBalanceCalculationMethod?:
    | 'ONLY_PRINCIPAL'
    | 'PRINCIPAL_AND_INTEREST'
    | 'PRINCIPAL_AND_FEE'
    | 'PRINCIPAL_INTEREST_AND_FEE';
  interestCalculationMethod: 'FLAT' | 'DECLINING_BALANCE' | 'DECLINING_BALANCE_DISCOUNTED' | 'EQUAL_INSTALLMENTS';
  interestRateSettings?: ProductInterestRateSettings[];
  interestType?: 'SIMPLE_INTEREST' | 'CAPITALIZED_INTEREST' | 'COMPOUNDING_INTEREST';
  pmtAdjustmentThreshold?: PMTAdjustmentThreshold;
  scheduleInterestDaysCountMethod: 'REPAYMENT_PERIODICITY' | 'ACTUAL_DAYS_COUNT';
}
interface InterestProductSettings {
  accrueInterestAfterMaturity?: boolean;
  allowNegativeInterestRate?: boolean;
  encodedKey?: string;
  indexSourceKey?: string;
  interestChargeFrequency?:
    | 'ANNUALIZED'
    | 'EVERY_MONTH'
    | 'EVERY_FOUR_WEEKS'
    | 'EVERY_WEEK'
    | 'EVERY_DAY'
    | 'EVERY_X_DAYS';
  interestChargeFrequencyCount?: number;
  interestRate?: DecimalInterval;
  interestRateCeilingValue?: number;
  interestRateFloorValue?: number;
  interestRateReviewCount?: number;
  interestRateReviewUnit?: 'DAYS' | 'WEEKS' | 'MONTHS';
  interestRateSource?: 'FIXED_INTEREST_RATE' | 'INDEX_INTEREST_RATE';
  interestRateTerms?: 'FIXED' | 'TIERED' | 'TIERED_PERIOD' | 'TIERED_BAND';
  interestRateTiers?: InterestRateTier[];
}
interface InterestRateTier {
  encodedKey?: string;
  endingBalance?: number;
  interestRate: number;
}
interface ProductInterestRateSettings {
  encodedKey?: string;
  indexSourceKey?: string;
  interestRate?: DecimalInterval;
  interestRateCeilingValue?: number;
  interestRateFloorValue?: number;
  interestRateReviewCount?: number;
  interestRateReviewUnit?: 'DAYS' | 'WEEKS' | 'MONTHS';
  interestRateSource: 'FIXED_INTEREST_RATE' | 'INDEX_INTEREST_RATE';
}
interface PMTAdjustmentThreshold {
  method?: 'WORKING_DAYS' | 'CALENDAR_DAYS';
  numberOfDays?: number;
}
interface InternalControls {
  dormancyPeriodDays?: number;
  fourEyesPrinciple?: FourEyesPrinciple;
  lockSettings?: LockSettings;
}
interface FourEyesPrinciple {
  activeForLoanApproval?: boolean;
}
interface LockSettings {
  cappingConstraintType?: 'SOFT_CAP' | 'HARD_CAP';
  cappingMethod?: 'OUTSTANDING_PRINCIPAL_PERCENTAGE' | 'ORIGINAL_PRINCIPAL_PERCENTAGE';
  cappingPercentage?: number;
  lockPeriodDays?: number;
}
interface LoanAmountSettings {
  loanAmount?: AmountDecimalConstraints;
  trancheSettings?: TrancheSettings;
}
interface AmountDecimalConstraints {
  defaultValue?: number;
  encodedKey?: string;
  maxValue?: number;
  minValue?: number;
}
interface TrancheSettings {
  maxNumberOfTranches?: number;
}
interface NewAccountSettings {
  accountInitialState:
    | 'PARTIAL_APPLICATION'
    | 'PENDING_APPROVAL'
    | 'APPROVED'
    | 'ACTIVE'
    | 'ACTIVE_IN_ARREARS'
    | 'CLOSED'
    | 'CLOSED_WRITTEN_OFF'
    | 'CLOSED_REJECTED';
  idGeneratorType: 'INCREMENTAL_NUMBER' | 'RANDOM_PATTERN';
  idPattern: string;
}
interface OffsetSettings {
  allowOffset?: boolean;
}
interface PaymentSettings {
  amortizationMethod?: 'STANDARD_PAYMENTS' | 'BALLOON_PAYMENTS' | 'OPTIMIZED_PAYMENTS' | 'PAYMENT_PLAN';
  latePaymentsRecalculationMethod: 'OVERDUE_INSTALLMENTS_INCREASE' | 'LAST_INSTALLMENT_INCREASE' | 'NO_RECALCULATION';
  paymentMethod: 'HORIZONTAL' | 'VERTICAL';
  prepaymentSettings?: ProductPrepaymentSettings;
  principalPaymentSettings?: PrincipalPaymentProductSettings;
  repaymentAllocationOrder: ('PRINCIPAL' | 'INTEREST' | 'FEE' | 'PENALTY')[];
}
interface ProductPrepaymentSettings {
  applyInterestOnPrepaymentMethod?: 'AUTOMATIC' | 'MANUAL';
  elementsRecalculationMethod?: 'PRINCIPAL_EXPECTED_FIXED' | 'TOTAL_EXPECTED_FIXED';
  ercFreeAllowance?: number;
  futurePaymentsAcceptance: 'NO_FUTURE_PAYMENTS' | 'ACCEPT_FUTURE_PAYMENTS' | 'ACCEPT_OVERPAYMENTS';
  prepaymentAcceptance?: 'ACCEPT_PREPAYMENTS' | 'NO_PREPAYMENTS';
  prepaymentRecalculationMethod?:
    | 'NO_RECALCULATION'
    | 'RESCHEDULE_REMAINING_REPAYMENTS'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_TOTAL_REPAYMENT_AMOUNT'
    | 'REDUCE_AMOUNT_PER_INSTALLMENT'
    | 'REDUCE_NUMBER_OF_INSTALLMENTS'
    | 'REDUCE_NUMBER_OF_INSTALLMENTS_NEW';
  principalPaidInstallmentStatus?: 'PARTIALLY_PAID' | 'PAID' | 'ORIGINAL_TOTAL_EXPECTED_PAID';
}
interface PrincipalPaymentProductSettings {
  amount?: AmountDecimalConstraints;
  defaultPrincipalRepaymentInterval?: number;
  encodedKey?: string;
  includeFeesInFloorAmount?: boolean;
  includeInterestInFloorAmount?: boolean;
  percentage?: DecimalConstraints;
  principalCeilingValue?: number;
  principalFloorValue?: number;
  principalPaymentMethod?:
    | 'FLAT'
    | 'OUTSTANDING_PRINCIPAL_PERCENTAGE'
    | 'PRINCIPAL_PERCENTAGE_LAST_DISB'
    | 'TOTAL_BALANCE_PERCENTAGE'
    | 'TOTAL_BALANCE_FLAT'
    | 'TOTAL_PRINCIPAL_PERCENTAGE';
  totalDueAmountFloor?: number;
  totalDuePayment?:
    | 'FLAT'
    | 'OUTSTANDING_PRINCIPAL_PERCENTAGE'
    | 'PRINCIPAL_PERCENTAGE_LAST_DISB'
    | 'TOTAL_BALANCE_PERCENTAGE'
    | 'TOTAL_BALANCE_FLAT'
    | 'TOTAL_PRINCIPAL_PERCENTAGE';
}
interface ProductPenaltySettings {
  loanPenaltyCalculationMethod:
    | 'NONE'
    | 'OVERDUE_BALANCE'
    | 'OVERDUE_BALANCE_AND_INTEREST'
    | 'OVERDUE_BALANCE_INTEREST_AND_FEE'
    | 'OUTSTANDING_PRINCIPAL';
  loanPenaltyGracePeriod?: number;
  penaltyRate?: DecimalConstraints;
}
interface ProductRedrawSettings {
  allowRedraw: boolean;
}
interface LoanProductScheduleSettings {
  amortizationPeriod?: ProductAmortizationPeriod;
  billingCycles?: BillingCyclesProductSettings;
  defaultRepaymentPeriodCount?: number;
  firstRepaymentDueDateOffset?: IntegerIntervalConstraints;
  fixedDaysOfMonth?: number[];
  interestAccrualSince?: 'DISBURSEMENT' | 'DUE_DATE';
  keepInstallmentsEqualIfLongFirstPeriod?: boolean;
  numInstallments?: IntegerIntervalConstraints;
  previewSchedule?: PreviewScheduleSettings;
  repaymentMethod?: 'AMOUNT' | 'INSTALLMENTS';
  repaymentPeriodUnit?: 'DAYS' | 'WEEKS' | 'MONTHS' | 'YEARS';
  repaymentReschedulingMethod: 'NONE' | 'NEXT_WORKING_DAY' | 'PREVIOUS_WORKING_DAY' | 'EXTEND_SCHEDULE';
  repaymentScheduleEditOptions?: (
    | 'ADJUST_PAYMENT_DATES'
    | 'ADJUST_PRINCIPAL_PAYMENT_SCHEDULE'
    | 'ADJUST_INTEREST_PAYMENT_SCHEDULE'
    | 'ADJUST_FEE_PAYMENT_SCHEDULE'
    | 'ADJUST_PENALTY_PAYMENT_SCHEDULE'
    | 'ADJUST_NUMBER_OF_INSTALLMENTS'
    | 'ADJUST_PAYMENT_HOLIDAYS'
  )[];
  repaymentScheduleMethod: 'NONE' | 'FIXED' | 'DYNAMIC';
  roundingSettings?: RoundingSettings;
  scheduleDueDatesMethod: 'INTERVAL' | 'FIXED_DAYS_OF_MONTH';
  scheduleEditOptionDetails?: RepaymentScheduleEditOptionDetails;
  shortMonthHandlingMethod?: 'LAST_DAY_IN_MONTH' | 'FIRST_DAY_OF_NEXT_MONTH';
}
interface ProductAmortizationPeriod {
  defaultValue?: number;
  maxValue?: number;
  minValue?: number;
}
interface BillingCyclesProductSettings {
  enabled?: boolean;
  startDays?: number[];
}
interface PreviewScheduleSettings {
  numberOfPreviewedInstalments?: number;
  previewScheduleEnabled?: boolean;
}
interface RoundingSettings {
  repaymentCurrencyRounding: 'NO_ROUNDING' | 'ROUND_TO_NEAREST_WHOLE_UNIT' | 'ROUND_UP_TO_NEAREST_WHOLE_UNIT';
  repaymentElementsRoundingMethod: 'NO_ROUNDING' | 'ROUND_ALL' | 'PAYMENT_DUE';
  roundingRepaymentScheduleMethod:
    | 'NO_ROUNDING'
    | 'ROUND_REMAINDER_INTO_LAST_REPAYMENT'
    | 'ROUND_PRINCIPAL_AND_INTEREST_REMAINDER_INTO_LAST_REPAYMENT';
}
interface RepaymentScheduleEditOptionDetails {
  paymentHolidaysSettings?: PaymentHolidaysSettings;
}
interface PaymentHolidaysSettings {
  paymentHolidaysLoanTermOption?: 'EXTEND_LOAN_TERM' | 'KEEP_THE_SAME_LOAN_TERM';
}
interface SecuritySettings {
  isCollateralEnabled?: boolean;
  isGuarantorsEnabled?: boolean;
  requiredGuaranties?: number;
}
interface TaxSettings {
  taxCalculationMethod?: 'INCLUSIVE' | 'EXCLUSIVE';
  taxesOnFeesEnabled?: boolean;
  taxesOnInterestEnabled?: boolean;
  taxesOnPenaltyEnabled?: boolean;
  taxSourceKey?: string;
}
interface DocumentTemplate {
  creationDate?: string;
  encodedKey?: string;
  lastModifiedDate?: string;
  name?: string;
  type?: 'ACCOUNT' | 'TRANSACTION' | 'ACCOUNT_WITH_TRANSACTIONS';
}
interface PatchOperation {
  from?: string;
  op: 'ADD' | 'REPLACE' | 'REMOVE' | 'MOVE';
  path: string;
  value?: unknown;
}
interface LoanAccount {
  accountArrearsSettings?: AccountArrearsSettings;
  accountHolderKey: string;
  accountHolderType: 'CLIENT' | 'GROUP';
  accountState?:
    | 'PARTIAL_APPLICATION'
    | 'PENDING_APPROVAL'
    | 'APPROVED'
    | 'ACTIVE'
    | 'ACTIVE_IN_ARREARS'
    | 'CLOSED'
    | 'CLOSED_WRITTEN_OFF'
    | 'CLOSED_REJECTED';
  accountSubState?:
    | 'PARTIALLY_DISBURSED'
    | 'LOCKED'
    | 'LOCKED_CAPPING'
    | 'REFINANCED'
    | 'RESCHEDULED'
    | 'WITHDRAWN'
    | 'REPAID'
    | 'REJECTED'
    | 'WRITTEN_OFF'
    | 'TERMINATED';
  accruedInterest?: number;
  accruedPenalty?: number;
  activationTransactionKey?: string;
  adjustTotalDueForInstallmentsWithDifferentInterval?: boolean;
  allowOffset?: boolean;
  approvedDate?: string;
  arrearsTolerancePeriod?: number;
  assets?: Asset[];
  assignedBranchKey?: string;
  assignedCentreKey?: string;
  assignedUserKey?: string;
  balances?: Balances;
  closedDate?: string;
  creationDate?: string;
  creditArrangementKey?: string;
  currency?: Currency;
  daysInArrears?: number;
  daysLate?: number;
  disbursementDetails?: DisbursementDetails;
  encodedKey?: string;
  feesSettings?: FeesAccountSettings;
  fundingSources?: InvestorFund[];
  futurePaymentsAcceptance?: 'NO_FUTURE_PAYMENTS' | 'ACCEPT_FUTURE_PAYMENTS' | 'ACCEPT_OVERPAYMENTS';
  guarantors?: Guarantor[];
  id?: string;
  interestAccruedInBillingCycle?: number;
  interestCommission?: number;
  interestFromArrearsAccrued?: number;
  interestSettings?: InterestSettings;
  lastAccountAppraisalDate?: string;
  lastInterestAppliedDate?: string;
  lastInterestReviewDate?: string;
  lastLockedDate?: string;
  lastModifiedDate?: string;
  lastSetToArrearsDate?: string;
  lastTaxRateReviewDate?: string;
  latePaymentsRecalculationMethod?: 'OVERDUE_INSTALLMENTS_INCREASE' | 'LAST_INSTALLMENT_INCREASE' | 'NO_RECALCULATION';
  loanAmount: number;
  loanName?: string;
  lockedAccountTotalDueType?: 'BALANCE_AMOUNT' | 'DUE_AMOUNT_ON_LATE_INSTALLMENTS';
  lockedOperations?: ('APPLY_INTEREST' | 'APPLY_FEES' | 'APPLY_PENALTIES')[];
  migrationEventKey?: string;
  modifyInterestForFirstInstallment?: boolean;
  notes?: string;
  originalAccountKey?: string;
  paymentHolidaysAccruedInterest?: number;
  paymentMethod?: 'HORIZONTAL' | 'VERTICAL';
  penaltySettings?: PenaltySettings;
  plannedInstallmentFees?: PlannedInstallmentFee[];
  prepaymentSettings?: PrepaymentSettings;
  principalPaymentSettings?: PrincipalPaymentAccountSettings;
  productTypeKey: string;
  redrawSettings?: LoanAccountRedrawSettings;
  rescheduledAccountKey?: string;
  scheduleSettings: ScheduleSettings;
  settlementAccountKey?: string;
  taxRate?: number;
  terminationDate?: string;
  tranches?: LoanTranche[];
}
interface AccountArrearsSettings {
  dateCalculationMethod?:
    | 'ACCOUNT_FIRST_WENT_TO_ARREARS'
    | 'LAST_LATE_REPAYMENT'
    | 'ACCOUNT_FIRST_BREACHED_MATERIALITY_THRESHOLD';
  encodedKey?: string;
  monthlyToleranceDay?: number;
  nonWorkingDaysMethod?: 'INCLUDED' | 'EXCLUDED';
  toleranceCalculationMethod?: 'ARREARS_TOLERANCE_PERIOD' | 'MONTHLY_ARREARS_TOLERANCE_DAY';
  toleranceFloorAmount?: number;
  tolerancePercentageOfOutstandingPrincipal?: number;
  tolerancePeriod?: number;
}
interface Asset {
  amount: number;
  assetName: string;
  depositAccountKey?: string;
  encodedKey?: string;
  guarantorKey?: string;
  guarantorType?: 'CLIENT' | 'GROUP';
  originalAmount?: number;
  originalCurrency?: Currency;
}
interface Balances {
  feesBalance?: number;
  feesDue?: number;
  feesPaid?: number;
  holdBalance?: number;
  interestBalance?: number;
  interestDue?: number;
  interestFromArrearsBalance?: number;
  interestFromArrearsDue?: number;
  interestFromArrearsPaid?: number;
  interestPaid?: number;
  penaltyBalance?: number;
  penaltyDue?: number;
  penaltyPaid?: number;
  principalBalance?: number;
  principalDue?: number;
  principalPaid?: number;
  redrawBalance?: number;
}
interface DisbursementDetails {
  disbursementDate?: string;
  encodedKey?: string;
  expectedDisbursementDate?: string;
  fees?: CustomPredefinedFee[];
  firstRepaymentDate?: string;
  transactionDetails?: LoanTransactionDetails;
}
interface CustomPredefinedFee {
  amount?: number;
  encodedKey?: string;
  percentage?: number;
  predefinedFeeEncodedKey?: string;
}
interface LoanTransactionDetails {
  encodedKey?: string;
  internalTransfer?: boolean;
  targetDepositAccountKey?: string;
  transactionChannelId?: string;
  transactionChannelKey?: string;
}
interface FeesAccountSettings {
  accruedFee?: number;
  accruedFeeFromArrears?: number;
  feeRate?: number;
}
interface InvestorFund {
  amount: number;
  assetName?: string;
  depositAccountKey?: string;
  encodedKey?: string;
  guarantorKey: string;
  guarantorType: 'CLIENT' | 'GROUP';
  id?: string;
  interestCommission?: number;
  sharePercentage?: number;
}
interface Guarantor {
  amount: number;
  assetName?: string;
  depositAccountKey?: string;
  encodedKey?: string;
  guarantorKey: string;
  guarantorType: 'CLIENT' | 'GROUP';
}
interface InterestSettings {
  accountInterestRateSettings?: AccountInterestRateSettings[];
  accrueInterestAfterMaturity?: boolean;
  accrueLateInterest?: boolean;
  effectiveInterestRate?: number;
  interestApplicationMethod?: 'AFTER_DISBURSEMENT' | 'REPAYMENT_DUE_DATE' | 'FIXED_DAYS_OF_MONTH';
  interestBalanceCalculationMethod?:
    | 'ONLY_PRINCIPAL'
    | 'PRINCIPAL_AND_INTEREST'
    | 'PRINCIPAL_AND_FEE'
    | 'PRINCIPAL_INTEREST_AND_FEE';
  interestCalculationMethod?: 'FLAT' | 'DECLINING_BALANCE' | 'DECLINING_BALANCE_DISCOUNTED' | 'EQUAL_INSTALLMENTS';
  interestChargeFrequency?:
    | 'ANNUALIZED'
    | 'EVERY_MONTH'
    | 'EVERY_FOUR_WEEKS'
    | 'EVERY_WEEK'
    | 'EVERY_DAY'
    | 'EVERY_X_DAYS';
  interestRate?: number;
  interestRateReviewCount?: number;
  interestRateReviewUnit?: 'DAYS' | 'WEEKS' | 'MONTHS';
  interestRateSource?: 'FIXED_INTEREST_RATE' | 'INDEX_INTEREST_RATE';
  interestSpread?: number;
  interestType?: 'SIMPLE_INTEREST' | 'CAPITALIZED_INTEREST' | 'COMPOUNDING_INTEREST';
  pmtAdjustmentThreshold?: PMTAdjustmentThreshold;
}
interface AccountInterestRateSettings {
  encodedKey?: string;
  indexSourceKey?: string;
  interestRate?: number;
  interestRateCeilingValue?: number;
  interestRateFloorValue?: number;
  interestRateReviewCount?: number;
  interestRateReviewUnit?: 'DAYS' | 'WEEKS' | 'MONTHS';
  interestRateSource: 'FIXED_INTEREST_RATE' | 'INDEX_INTEREST_RATE';
  interestSpread?: number;
  validFrom: string;
}
interface PenaltySettings {
  loanPenaltyCalculationMethod?:
    | 'NONE'
    | 'OVERDUE_BALANCE'
    | 'OVERDUE_BALANCE_AND_INTEREST'
    | 'OVERDUE_BALANCE_INTEREST_AND_FEE'
    | 'OUTSTANDING_PRINCIPAL';
  penaltyRate?: number;
}
interface PlannedInstallmentFee {
  amount?: number;
  applyOnDate?: string;
  encodedKey?: string;
  installmentKey?: string;
  installmentNumber?: number;
  predefinedFeeKey: string;
}
interface PrepaymentSettings {
  applyInterestOnPrepaymentMethod?: 'AUTOMATIC' | 'MANUAL';
  elementsRecalculationMethod?: 'PRINCIPAL_EXPECTED_FIXED' | 'TOTAL_EXPECTED_FIXED';
  ercFreeAllowanceAmount?: number;
  ercFreeAllowancePercentage?: number;
  prepaymentRecalculationMethod?:
    | 'NO_RECALCULATION'
    | 'RESCHEDULE_REMAINING_REPAYMENTS'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_TOTAL_REPAYMENT_AMOUNT'
    | 'REDUCE_AMOUNT_PER_INSTALLMENT'
    | 'REDUCE_NUMBER_OF_INSTALLMENTS'
    | 'REDUCE_NUMBER_OF_INSTALLMENTS_NEW';
  principalPaidInstallmentStatus?: 'PARTIALLY_PAID' | 'PAID' | 'ORIGINAL_TOTAL_EXPECTED_PAID';
}
interface PrincipalPaymentAccountSettings {
  amount?: number;
  encodedKey?: string;
  includeFeesInFloorAmount?: boolean;
  includeInterestInFloorAmount?: boolean;
  percentage?: number;
  principalCeilingValue?: number;
  principalFloorValue?: number;
  principalPaymentMethod?:
    | 'FLAT'
    | 'OUTSTANDING_PRINCIPAL_PERCENTAGE'
    | 'PRINCIPAL_PERCENTAGE_LAST_DISB'
    | 'TOTAL_BALANCE_PERCENTAGE'
    | 'TOTAL_BALANCE_FLAT'
    | 'TOTAL_PRINCIPAL_PERCENTAGE';
  totalDueAmountFloor?: number;
  totalDuePayment?:
    | 'FLAT'
    | 'OUTSTANDING_PRINCIPAL_PERCENTAGE'
    | 'PRINCIPAL_PERCENTAGE_LAST_DISB'
    | 'TOTAL_BALANCE_PERCENTAGE'
    | 'TOTAL_BALANCE_FLAT'
    | 'TOTAL_PRINCIPAL_PERCENTAGE';
}
interface LoanAccountRedrawSettings {
  restrictNextDueWithdrawal: boolean;
}
interface ScheduleSettings {
  amortizationPeriod?: number;
  billingCycle?: BillingCycleDays;
  defaultFirstRepaymentDueDateOffset?: number;
  fixedDaysOfMonth?: number[];
  gracePeriod: number;
  gracePeriodType?: 'NONE' | 'PAY_INTEREST_ONLY' | 'INTEREST_FORGIVENESS';
  hasCustomSchedule?: boolean;
  paymentPlan?: PeriodicPayment[];
  periodicPayment?: number;
  previewSchedule?: RevolvingAccountSettings;
  principalRepaymentInterval?: number;
  repaymentInstallments?: number;
  repaymentPeriodCount?: number;
  repaymentPeriodUnit?: 'DAYS' | 'WEEKS' | 'MONTHS' | 'YEARS';
  repaymentScheduleMethod?: 'NONE' | 'FIXED' | 'DYNAMIC';
  scheduleDueDatesMethod?: 'INTERVAL' | 'FIXED_DAYS_OF_MONTH';
  shortMonthHandlingMethod?: 'LAST_DAY_IN_MONTH' | 'FIRST_DAY_OF_NEXT_MONTH';
}
interface BillingCycleDays {
  days?: number[];
}
interface PeriodicPayment {
  amount: number;
  encodedKey?: string;
  toInstallment: number;
}
interface RevolvingAccountSettings {
  numberOfPreviewedInstalments?: number;
}
interface LoanTranche {
  amount: number;
  disbursementDetails?: TrancheDisbursementDetails;
  encodedKey?: string;
  fees?: CustomPredefinedFee[];
  trancheNumber?: number;
}
interface TrancheDisbursementDetails {
  disbursementTransactionKey?: string;
  expectedDisbursementDate?: string;
}
interface LoanAccountAction {
  action:
    | 'REQUEST_APPROVAL'
    | 'SET_INCOMPLETE'
    | 'APPROVE'
    | 'UNDO_APPROVE'
    | 'REJECT'
    | 'WITHDRAW'
    | 'CLOSE'
    | 'UNDO_REJECT'
    | 'UNDO_WITHDRAW'
    | 'UNDO_CLOSE';
  notes?: string;
}
interface LoanAccountSearchCriteria {
  filterCriteria?: LoanAccountFilterCriteria[];
  sortingCriteria?: LoanAccountSortingCriteria;
}
interface LoanAccountFilterCriteria {
  field: string;
  operator:
    | 'EQUALS'
    | 'EQUALS_CASE_SENSITIVE'
    | 'DIFFERENT_THAN'
    | 'MORE_THAN'
    | 'LESS_THAN'
    | 'BETWEEN'
    | 'ON'
    | 'AFTER'
    | 'AFTER_INCLUSIVE'
    | 'BEFORE'
    | 'BEFORE_INCLUSIVE'
    | 'STARTS_WITH'
    | 'STARTS_WITH_CASE_SENSITIVE'
    | 'IN'
    | 'TODAY'
    | 'THIS_WEEK'
    | 'THIS_MONTH'
    | 'THIS_YEAR'
    | 'LAST_DAYS'
    | 'EMPTY'
    | 'NOT_EMPTY';
  secondValue?: string;
  value?: string;
  values?: string[];
}
interface LoanAccountSortingCriteria {
  field:
    | 'encodedKey'
    | 'loanName'
    | 'id'
    | 'accountHolderId'
    | 'recipient'
    | 'creationDate'
    | 'approvedDate'
    | 'lastModifiedDate'
    | 'lastSetToArrearsDate'
    | 'lastLockedDate'
    | 'closedDate'
    | 'daysInArrears'
    | 'daysLate'
    | 'loanAmount'
    | 'tranches.amount'
    | 'numInstallments'
    | 'accruedInterest'
    | 'accruedPenalty'
    | 'penaltySettings.penaltyRate'
    | 'arrearsTolerancePeriod'
    | 'interestSettings.interestSpread'
    | 'totalPaid'
    | 'totalBalance'
    | 'totalDue'
    | 'firstRepaymentDate'
    | 'lastPaymentDate'
    | 'lastPaymentAmount'
    | 'expectedMaturity'
    | 'rescheduledAccountKey'
    | 'refinancedAccountId'
    | 'originalAccountKey'
    | 'taxRate'
    | 'taxPaid'
    | 'taxDue'
    | 'settlementAccountKey'
    | 'interestCommission'
    | 'numberOfFunds'
    | 'fundsEnabled'
    | 'availableAmount'
    | 'wasRescheduled'
    | 'wasRefinanced'
    | 'expectedPrincipalRedraw'
    | 'balances.principalDue'
    | 'balances.principalPaid'
    | 'balances.principalBalance'
    | 'balances.interestDue'
    | 'balances.interestPaid'
    | 'balance.interestBalance'
    | 'balances.redrawBalance'
    | 'balances.feesDue'
    | 'balances.feesBalance'
    | 'balances.feesPaid'
    | 'balances.penaltyDue'
    | 'balances.penaltyPaid'
    | 'balances.penaltyBalance'
    | 'fundingSources.amount'
    | 'fundingSources.sharePercentage';
  order?: 'ASC' | 'DESC';
}
interface LoanAccountBalances {
  balances?: {
    [k: string]: unknown;
  };
}
interface PreviewPayOffDueAmountsInAFutureDateInput {
  valueDate: string;
}
interface PreviewPayOffDueAmountsInAFutureDateWrapper {
  carriedForwardInterestBalance?: number;
  carriedForwardInterestFromArrearsBalance?: number;
  carriedForwardPrincipalInArrears?: number;
  earlyRepaymentCharge?: number;
  feeBalance?: number;
  interestBalance?: number;
  interestBearingFeeBalance?: number;
  interestBearingFeeInterestBalance?: number;
  interestFromArrearsBalance?: number;
  penaltyBalance?: number;
  principalBalance?: number;
  totalBalance?: number;
}
interface LoanAccountPayOffInput {
  externalId?: string;
  notes?: string;
  payOffAdjustableAmounts?: PayOffAdjustableAmounts;
  transactionDetails?: TransactionDetails;
}
interface PayOffAdjustableAmounts {
  carriedForwardInterestAmount?: number;
  carriedForwardInterestFromArrearsAmount?: number;
  carriedForwardPrincipalInArrearsAmount?: number;
  feesPaid?: number;
  interestBearingFeeAmount?: number;
  interestBearingFeeInterestAmount?: number;
  interestFromArrearsPaid?: number;
  interestPaid?: number;
  nonScheduledFeeAmount?: number;
  penaltyPaid?: number;
}
interface TransactionDetails {
  transactionChannelId?: string;
  transactionChannelKey?: string;
}
interface DisbursementLoanTransactionInput {
  amount?: number;
  bookingDate?: string;
  externalId?: string;
  fees?: FeeInput[];
  firstRepaymentDate?: string;
  notes?: string;
  originalCurrencyCode?: string;
  shiftAdjustableInterestPeriods?: boolean;
  transactionDetails?: TransactionDetailsInput;
  transferDetails?: DisbursementTransferDetailsInput;
  valueDate?: string;
}
interface FeeInput {
  amount?: number;
  percentage?: number;
  predefinedFeeKey: string;
}
interface TransactionDetailsInput {
  transactionChannelId?: string;
  transactionChannelKey?: string;
}
interface DisbursementTransferDetailsInput {
  linkedAccountId?: string;
  linkedAccountKey?: string;
}
interface LoanTransaction {
  accountBalances?: TransactionBalances;
  adjustmentTransactionKey?: string;
  affectedAmounts?: LoanAffectedAmounts;
  amount?: number;
  bookingDate?: string;
  branchKey?: string;
  cardTransaction?: CardTransaction;
  centreKey?: string;
  creationDate?: string;
  currency?: Currency;
  customPaymentAmounts?: CustomPaymentAmount[];
  encodedKey?: string;
  externalId?: string;
  feeIncludedInPmt?: boolean;
  fees?: Fee[];
  id?: string;
  installmentEncodedKey?: string;
  lateFeeIncludedInPmt?: boolean;
  linkedPrincipalOverpaymentTransactionKey?: string;
  migrationEventKey?: string;
  notes?: string;
  originalAmount?: number;
  originalCurrencyCode?: string;
  originalTransactionKey?: string;
  parentAccountKey?: string;
  parentLoanTransactionKey?: string;
  prepaymentRecalculationMethod?:
    | 'NO_RECALCULATION'
    | 'RESCHEDULE_REMAINING_REPAYMENTS'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_TOTAL_REPAYMENT_AMOUNT'
    | 'REDUCE_AMOUNT_PER_INSTALLMENT'
    | 'REDUCE_NUMBER_OF_INSTALLMENTS'
    | 'REDUCE_NUMBER_OF_INSTALLMENTS_NEW';
  taxes?: Taxes;
  terms?: LoanTerms;
  tillKey?: string;
  transactionDetails?: TransactionDetails;
  transferDetails?: TransferDetails;
  type?:
    | 'IMPORT'
    | 'DISBURSEMENT'
    | 'DISBURSEMENT_ADJUSTMENT'
    | 'WRITE_OFF'
    | 'WRITE_OFF_ADJUSTMENT'
    | 'REPAYMENT'
    | 'PAYMENT_MADE'
    | 'WITHDRAWAL_REDRAW'
    | 'WITHDRAWAL_REDRAW_ADJUSTMENT'
    | 'FEE_APPLIED'
    | 'FEE_CHARGED'
    | 'FEE_CAPITALISED'
    | 'SCHEDULE_FIX_APPLIED'
    | 'FEES_DUE_REDUCED'
    | 'FEE_REFUND'
    | 'FEE_REFUND_ADJUSTMENT'
    | 'FEE_ADJUSTMENT'
    | 'PENALTY_APPLIED'
    | 'PENALTY_ADJUSTMENT'
    | 'PENALTIES_DUE_REDUCED'
    | 'REPAYMENT_ADJUSTMENT'
    | 'FEE_CAPITALISED_ADJUSTMENT'
    | 'PAYMENT_MADE_ADJUSTMENT'
    | 'INTEREST_RATE_CHANGED'
    | 'TAX_RATE_CHANGED'
    | 'PENALTY_RATE_CHANGED'
    | 'INTEREST_APPLIED'
    | 'IBF_INTEREST_APPLIED'
    | 'IBF_INTEREST_APPLIED_ADJUSTMENT'
    | 'INTEREST_APPLIED_ADJUSTMENT'
    | 'INTEREST_DUE_REDUCED'
    | 'PENALTY_REDUCTION_ADJUSTMENT'
    | 'FEE_REDUCTION_ADJUSTMENT'
    | 'INTEREST_REDUCTION_ADJUSTMENT'
    | 'DEFERRED_INTEREST_APPLIED'
    | 'DEFERRED_INTEREST_APPLIED_ADJUSTMENT'
    | 'DEFERRED_INTEREST_PAID'
    | 'DEFERRED_INTEREST_PAID_ADJUSTMENT'
    | 'INTEREST_LOCKED'
    | 'FEE_LOCKED'
    | 'PENALTY_LOCKED'
    | 'INTEREST_UNLOCKED'
    | 'FEE_UNLOCKED'
    | 'PENALTY_UNLOCKED'
    | 'REDRAW_TRANSFER'
    | 'REDRAW_REPAYMENT'
    | 'REDRAW_TRANSFER_ADJUSTMENT'
    | 'REDRAW_REPAYMENT_ADJUSTMENT'
    | 'TRANSFER'
    | 'TRANSFER_ADJUSTMENT'
    | 'BRANCH_CHANGED'
    | 'TERMS_CHANGED'
    | 'CARD_TRANSACTION_REVERSAL'
    | 'CARD_TRANSACTION_REVERSAL_ADJUSTMENT'
    | 'DUE_DATE_CHANGED'
    | 'DUE_DATE_CHANGED_ADJUSTMENT'
    | 'ACCOUNT_TERMINATED'
    | 'ACCOUNT_TERMINATED_ADJUSTMENT'
    | 'REFUND'
    | 'REFUND_ADJUSTMENT'
    | 'REDUCE_BALANCE'
    | 'REDUCE_BALANCE_ADJUSTMENT'
    | 'PRINCIPAL_OVERPAYMENT'
    | 'PRINCIPAL_OVERPAYMENT_ADJUSTMENT';
  userKey?: string;
  valueDate?: string;
}
interface TransactionBalances {
  advancePosition?: number;
  arrearsPosition?: number;
  expectedPrincipalRedraw?: number;
  principalBalance?: number;
  redrawBalance?: number;
  totalBalance?: number;
}
interface LoanAffectedAmounts {
  deferredInterestAmount?: number;
  feesAmount?: number;
  fundersInterestAmount?: number;
  interestAmount?: number;
  interestFromArrearsAmount?: number;
  organizationCommissionAmount?: number;
  paymentHolidaysInterestAmount?: number;
  penaltyAmount?: number;
  principalAmount?: number;
}
interface CardTransaction {
  advice: boolean;
  amount: number;
  cardAcceptor?: CardAcceptor;
  cardToken?: string;
  currencyCode?: string;
  encodedKey?: string;
  externalAuthorizationReferenceId?: string;
  externalReferenceId: string;
  userTransactionTime?: string;
}
interface CardAcceptor {
  city?: string;
  country?: string;
  mcc?: number;
  name?: string;
  state?: string;
  street?: string;
  zip?: string;
}
interface CustomPaymentAmount {
  amount: number;
  customPaymentAmountType:
    | 'PRINCIPAL'
    | 'INTEREST'
    | 'MANUAL_FEE'
    | 'UPFRONT_DISBURSEMENT_FEE'
    | 'LATE_REPAYMENT_FEE'
    | 'PAYMENT_DUE_FEE'
    | 'PENALTY'
    | 'INTEREST_FROM_ARREARS'
    | 'NON_SCHEDULED_FEE'
    | 'INTEREST_BEARING_FEE'
    | 'INTEREST_BEARING_FEE_INTEREST'
    | 'CF_PRINCIPAL_IN_ARREARS'
    | 'CF_INTEREST'
    | 'CF_INTEREST_FROM_ARREARS'
    | 'FEE_INCLUDED_IN_PMT';
  predefinedFeeKey?: string;
  taxOnAmount?: number;
}
interface Fee {
  amount?: number;
  name?: string;
  predefinedFeeKey: string;
  taxAmount?: number;
  trigger?:
    | 'MANUAL'
    | 'MANUAL_PLANNED'
    | 'DISBURSEMENT'
    | 'CAPITALIZED_DISBURSEMENT'
    | 'UPFRONT_DISBURSEMENT'
    | 'LATE_REPAYMENT'
    | 'PAYMENT_DUE'
    | 'PAYMENT_DUE_APPLIED_ON_DUE_DATES'
    | 'ARBITRARY'
    | 'IOF'
    | 'EARLY_REPAYMENT_CHARGE'
    | 'FEE_INCLUDED_IN_PMT';
}
interface Taxes {
  deferredTaxOnInterestAmount?: number;
  taxOnFeesAmount?: number;
  taxOnInterestAmount?: number;
  taxOnInterestFromArrearsAmount?: number;
  taxOnPaymentHolidaysInterest?: number;
  taxOnPenaltyAmount?: number;
  taxRate?: number;
}
interface LoanTerms {
  interestSettings?: TransactionInterestSettings;
  periodicPayment?: number;
  principalPaymentAmount?: number;
  principalPaymentPercentage?: number;
}
interface TransactionInterestSettings {
  indexInterestRate?: number;
  interestRate?: number;
}
interface TransferDetails {
  linkedDepositTransactionKey?: string;
  linkedLoanTransactionKey?: string;
}
interface FeeLoanTransactionInput {
  amount?: number;
  bookingDate?: string;
  externalId?: string;
  feeCapitalisation?: boolean;
  firstRepaymentDate?: string;
  installmentNumber?: number;
  notes?: string;
  predefinedFeeKey?: string;
  valueDate?: string;
}
interface RepaymentLoanTransactionInput {
  amount: number;
  bookingDate?: string;
  customPaymentAmounts?: CustomPaymentAmount[];
  externalId?: string;
  installmentEncodedKey?: string;
  notes?: string;
  originalCurrencyCode?: string;
  prepaymentRecalculationMethod?:
    | 'NO_RECALCULATION'
    | 'RESCHEDULE_REMAINING_REPAYMENTS'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT'
    | 'RECALCULATE_SCHEDULE_KEEP_SAME_TOTAL_REPAYMENT_AMOUNT'
    | 'REDUCE_AMOUNT_PER_INSTALLMENT'
    | 'REDUCE_NUMBER_OF_INSTALLMENTS'
    | 'REDUCE_NUMBER_OF_INSTALLMENTS_NEW';
  principalOverpaymentAmount?: number;
  transactionDetails?: LoanTransactionDetailsInput;
  valueDate?: string;
}
interface LoanTransactionDetailsInput {
  transactionChannelId?: string;
  transactionChannelKey?: string;
}
interface LoanTransactionAdjustmentDetails {
  bookingDate?: string;
  installments?: AdjustTransactionInstallmentDetailsDTO[];
  notes: string;
}
interface AdjustTransactionInstallmentDetailsDTO {
  amountToAdd?: number;
  installmentKey?: string;
}
interface LoanTransactionSearchCriteria {
  filterCriteria?: LoanTransactionFilterCriteria[];
  sortingCriteria?: LoanTransactionSortingCriteria;
}
interface LoanTransactionFilterCriteria {
  field: string;
  operator:
    | 'EQUALS'
    | 'EQUALS_CASE_SENSITIVE'
    | 'DIFFERENT_THAN'
    | 'MORE_THAN'
    | 'LESS_THAN'
    | 'BETWEEN'
    | 'ON'
    | 'AFTER'
    | 'AFTER_INCLUSIVE'
    | 'BEFORE'
    | 'BEFORE_INCLUSIVE'
    | 'STARTS_WITH'
    | 'STARTS_WITH_CASE_SENSITIVE'
    | 'IN'
    | 'TODAY'
    | 'THIS_WEEK'
    | 'THIS_MONTH'
    | 'THIS_YEAR'
    | 'LAST_DAYS'
    | 'EMPTY'
    | 'NOT_EMPTY';
  secondValue?: string;
  value?: string;
  values?: string[];
}
interface LoanTransactionSortingCriteria {
  field:
    | 'id'
    | 'externalId'
    | 'creationDate'
    | 'valueDate'
    | 'parentAccountId'
    | 'productId'
    | 'amount'
    | 'originalAmount'
    | 'originalCurrencyCode'
    | 'branchId'
    | 'centreId'
    | 'tillId'
    | 'terms.interestSettings.interestRate'
    | 'transactionDetails.transactionChannelId'
    | 'fees.name'
    | 'accountBalances.totalBalance'
    | 'accountBalances.principalBalance'
    | 'accountBalances.redrawBalance'
    | 'accountBalances.expectedPrincipalRedraw'
    | 'accountBalances.advancePosition'
    | 'accountBalances.arrearsPosition'
    | 'affectedAmounts.principalAmount'
    | 'affectedAmounts.interestAmount'
    | 'affectedAmounts.interestFromArrearsAmount'
    | 'affectedAmounts.deferredInterestAmount'
    | 'affectedAmounts.feesAmount'
    | 'affectedAmounts.penaltyAmount'
    | 'affectedAmounts.organizationCommissionAmount'
    | 'affectedAmounts.fundersInterestAmount'
    | 'taxes.taxRate';
  order?: 'ASC' | 'DESC';
}
interface LoanAccountSchedule {
  currency?: Currency;
  installments?: Installment[];
}
interface Installment {
  carryForwardInterestSplit?: CarryForwardInterestSplit;
  customSettingDetails?: CustomSettingDetails[];
  dueDate?: string;
  encodedKey?: string;
  expectedClosingBalance?: number;
  fee?: InstallmentFee;
  feeDetails?: InstallmentFeeDetails[];
  fundersInterestDue?: number;
  interest?: InstallmentAllocationElementTaxableAmount;
  interestAccrued?: number;
  isPaymentHoliday?: boolean;
  lastPaidDate?: string;
  lastPenaltyAppliedDate?: string;
  nonScheduledPrincipalBalanceOverpayment?: number;
  notes?: string;
  number?: string;
  organizationCommissionDue?: number;
  parentAccountKey?: string;
  penalty?: InstallmentAllocationElementTaxableAmount;
  principal?: InstallmentAllocationElementAmount;
  repaidDate?: string;
  state?: 'PENDING' | 'LATE' | 'PAID' | 'PARTIALLY_PAID' | 'GRACE';
}
interface CarryForwardInterestSplit {
  amount?: number;
  tax?: number;
}
interface CustomSettingDetails {
  loanTransactionKey?: string;
  source?: string;
  type?: string;
}
interface InstallmentFee {
  amount?: FeeAmount;
  tax?: Amount;
}
interface FeeAmount {
  due?: number;
  expected?: number;
  expectedUnapplied?: number;
  paid?: number;
}
interface Amount {
  due?: number;
  expected?: number;
  paid?: number;
}
interface InstallmentFeeDetails {
  amount?: AmountWithReduced;
  encodedKey?: string;
  id?: string;
  name?: string;
  tax?: AmountWithReduced;
}
interface AmountWithReduced {
  due?: number;
  expected?: number;
  paid?: number;
  reduced?: number;
}
interface InstallmentAllocationElementTaxableAmount {
  amount?: Amount;
  tax?: Amount;
}
interface InstallmentAllocationElementAmount {
  amount?: Amount;
}
interface PreviewLoanAccountSchedule {
  disbursementDetails?: DisbursementDetailsForSchedulePreview;
  feeRateSettings?: FeesSettingsForSchedulePreview;
  interestCommission?: number;
  interestSettings?: InterestSettingsForSchedulePreview;
  loanAmount: number;
  plannedInstallmentFees?: PlannedInstallmentFee[];
  productTypeKey: string;
  scheduleSettings?: ScheduleSettingsForSchedulePreview;
  topUpAmount?: number;
  tranches?: LoanTranche[];
}
interface DisbursementDetailsForSchedulePreview {
  expectedDisbursementDate?: string;
  fees?: CustomPredefinedFee[];
  firstRepaymentDate?: string;
}
interface FeesSettingsForSchedulePreview {
  feeRate?: number;
}
interface InterestSettingsForSchedulePreview {
  accountInterestRateSettings?: AccountInterestRateSettings[];
  interestRate?: number;
  interestSpread?: number;
}
interface ScheduleSettingsForSchedulePreview {
  amortizationPeriod?: number;
  fixedDaysOfMonth?: number[];
  gracePeriod?: number;
  paymentPlan?: PeriodicPaymentForSchedulePreview[];
  periodicPayment?: number;
  principalRepaymentInterval?: number;
  repaymentInstallments?: number;
  repaymentPeriodCount?: number;
  repaymentPeriodUnit?: 'DAYS' | 'WEEKS' | 'MONTHS' | 'YEARS';
}
interface PeriodicPaymentForSchedulePreview {
  amount: number;
  toInstallment: number;
}
interface OrganizationSetup {
  address?: Address;
  creationDate?: string;
  currency?: string;
  dateFormat: string;
  dateTimeFormat: string;
  decimalSeparator: 'COMMA' | 'POINT';
  emailAddress?: string;
  institutionName: string;
  lastModifiedDate?: string;
  phoneNumber?: string;
  timeZoneID?: string;
}
interface Address {
  city?: string;
  country?: string;
  encodedKey?: string;
  indexInList?: number;
  latitude?: number;
  line1?: string;
  line2?: string;
  longitude?: number;
  parentKey?: string;
  postcode?: string;
  region?: string;
}
interface Branch {
  addresses?: Address[];
  branchHolidays?: Holiday[];
  creationDate?: string;
  emailAddress?: string;
  encodedKey?: string;
  id: string;
  lastModifiedDate?: string;
  name: string;
  notes?: string;
  phoneNumber?: string;
  state?: 'ACTIVE' | 'INACTIVE';
}
interface Holiday {
  creationDate?: string;
  date?: string;
  encodedKey?: string;
  id?: number;
  isAnnuallyRecurring?: boolean;
  name?: string;
}

/** Sends the request of an operation, and returns the body of its response. */
export type Send = (
  operation: string,
  path: string,
  body?: unknown,
  query?: Record<string, string>,
) => Promise<unknown>;

export function createClient(send: Send) {
  return {
    createProduct: (body: Bodies['createProductRequest']) =>
      send('createProduct', '/loanproducts', body) as Promise<Bodies['createProductResponse']>,
    getProduct: (loanProductId: string, query?: { detailsLevel?: string }) =>
      send('getProduct', `/loanproducts/${encodeURIComponent(loanProductId)}`, undefined, query) as Promise<
        Bodies['getProductResponse']
      >,
    patchProduct: (loanProductId: string, body: Bodies['patchProductRequest']) =>
      send('patchProduct', `/loanproducts/${encodeURIComponent(loanProductId)}`, body) as Promise<void>,
    createLoan: (body: Bodies['createLoanRequest']) =>
      send('createLoan', '/loans', body) as Promise<Bodies['createLoanResponse']>,
    getLoan: (loanAccountId: string, query?: { detailsLevel?: string }) =>
      send('getLoan', `/loans/${encodeURIComponent(loanAccountId)}`, undefined, query) as Promise<
        Bodies['getLoanResponse']
      >,
    patchLoan: (loanAccountId: string, body: Bodies['patchLoanRequest']) =>
      send('patchLoan', `/loans/${encodeURIComponent(loanAccountId)}`, body) as Promise<void>,
    changeLoanState: (loanAccountId: string, body: Bodies['changeLoanStateRequest']) =>
      send('changeLoanState', `/loans/${encodeURIComponent(loanAccountId)}:changeState`, body) as Promise<
        Bodies['changeLoanStateResponse']
      >,
    listLoans: (query?: {
      offset?: string;
      limit?: string;
      paginationDetails?: string;
      detailsLevel?: string;
      creditOfficerUsername?: string;
      branchId?: string;
      centreId?: string;
      accountState?: string;
      accountHolderType?: string;
      accountHolderId?: string;
      sortBy?: string;
    }) => send('listLoans', '/loans', undefined, query) as Promise<Bodies['listLoansResponse']>,
    searchLoans: (
      body: Bodies['searchLoansRequest'],
      query?: { offset?: string; limit?: string; paginationDetails?: string; cursor?: string; detailsLevel?: string },
    ) => send('searchLoans', '/loans:search', body, query) as Promise<Bodies['searchLoansResponse']>,
    getBalances: (loanAccountId: string) =>
      send('getBalances', `/loans/${encodeURIComponent(loanAccountId)}/balances`) as Promise<
        Bodies['getBalancesResponse']
      >,
    previewPayOffAmounts: (loanAccountId: string, body: Bodies['previewPayOffAmountsRequest']) =>
      send('previewPayOffAmounts', `/loans/${encodeURIComponent(loanAccountId)}:previewPayOffAmounts`, body) as Promise<
        Bodies['previewPayOffAmountsResponse']
      >,
    payOff: (loanAccountId: string, body: Bodies['payOffRequest']) =>
      send('payOff', `/loans/${encodeURIComponent(loanAccountId)}:payOff`, body) as Promise<void>,
    disburse: (loanAccountId: string, body: Bodies['disburseRequest']) =>
      send('disburse', `/loans/${encodeURIComponent(loanAccountId)}/disbursement-transactions`, body) as Promise<
        Bodies['disburseResponse']
      >,
    applyFee: (loanAccountId: string, body: Bodies['applyFeeRequest']) =>
      send('applyFee', `/loans/${encodeURIComponent(loanAccountId)}/fee-transactions`, body) as Promise<
        Bodies['applyFeeResponse']
      >,
    repay: (loanAccountId: string, body: Bodies['repayRequest']) =>
      send('repay', `/loans/${encodeURIComponent(loanAccountId)}/repayment-transactions`, body) as Promise<
        Bodies['repayResponse']
      >,
    adjustTransaction: (loanTransactionId: string, body: Bodies['adjustTransactionRequest']) =>
      send('adjustTransaction', `/loans/transactions/${encodeURIComponent(loanTransactionId)}:adjust`, body) as Promise<
        Bodies['adjustTransactionResponse']
      >,
    getTransaction: (loanTransactionId: string, query?: { detailsLevel?: string }) =>
      send(
        'getTransaction',
        `/loans/transactions/${encodeURIComponent(loanTransactionId)}`,
        undefined,
        query,
      ) as Promise<Bodies['getTransactionResponse']>,
    listTransactions: (
      loanAccountId: string,
      query?: { offset?: string; limit?: string; paginationDetails?: string; detailsLevel?: string },
    ) =>
      send('listTransactions', `/loans/${encodeURIComponent(loanAccountId)}/transactions`, undefined, query) as Promise<
        Bodies['listTransactionsResponse']
      >,
    searchTransactions: (
      body: Bodies['searchTransactionsRequest'],
      query?: { offset?: string; limit?: string; paginationDetails?: string; cursor?: string; detailsLevel?: string },
    ) =>
      send('searchTransactions', '/loans/transactions:search', body, query) as Promise<
        Bodies['searchTransactionsResponse']
      >,
    getSchedule: (loanAccountId: string, query?: { detailsLevel?: string }) =>
      send('getSchedule', `/loans/${encodeURIComponent(loanAccountId)}/schedule`, undefined, query) as Promise<
        Bodies['getScheduleResponse']
      >,
    previewSchedule: (body: Bodies['previewScheduleRequest']) =>
      send('previewSchedule', '/loans:previewSchedule', body) as Promise<Bodies['previewScheduleResponse']>,
    listInstallments: (query?: {
      offset?: string;
      limit?: string;
      paginationDetails?: string;
      dueFrom?: string;
      dueTo?: string;
      productTypeKey?: string;
      accountState?: string;
      installmentState?: string;
    }) => send('listInstallments', '/installments', undefined, query) as Promise<Bodies['listInstallmentsResponse']>,
    getOrganization: () => send('getOrganization', '/setup/organization') as Promise<Bodies['getOrganizationResponse']>,
    listBranches: (query?: {
      offset?: string;
      limit?: string;
      paginationDetails?: string;
      detailsLevel?: string;
      sortBy?: string;
    }) => send('listBranches', '/branches', undefined, query) as Promise<Bodies['listBranchesResponse']>,
  };
}
