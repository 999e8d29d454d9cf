import { type AdditionalFields, noAdditionalFields, withAdditionalFields } from '../additional-fields.ts';
import type { CreateLoan } from '../commands.ts';
import type { Decision, DecisionContext } from './decision.ts';
import { isUsableDate } from './transaction-days.ts';
import type { Loan } from '../loan.ts';
import { type Decimal, isPostable, zero } from '../money.ts';
import type { Bounded, LoanProduct } from '../products/product.ts';
import { areFixedDays, isCountFrom } from '../products/product-rules.ts';
import { refusalsOfSecurities, refusalsOfSettings } from '../products/repeated-settings.ts';
import { type Refusal, refusal } from '../refusals.ts';
import { refusalsOfAgreedFees, withFeeKeys } from '../fees/disbursement-fees.ts';
import { noSettledFees } from '../fees/settled-fees.ts';
import { defaultOf, termsOf } from '../agreed-terms.ts';
import type { AgreedTerms, DueDateTerms } from '../terms.ts';

/** The longest a schedule may run, so that its last due date stays within the calendar. Days. */
const scheduleDaysMaximum = 365 * 200;

/**
 * Opens an account. Values that the command leaves out come from the product; values that it gives must lie within the
 * product's bounds.
 *
 * Refused: LOAN_PRODUCT_MISMATCH (no such product) or LOAN_PRODUCT_NOT_ACTIVE alone; else all that apply, in the order
 * of the account's fields: INVALID_AMOUNT, INVALID_INTEREST_RATE, INVALID_INSTALLMENTS, INVALID_REPAYMENT_FREQUENCY,
 * INVALID_GRACE_PERIOD, INVALID_PRINCIPAL_REPAYMENT_INTERVAL, INCONSISTENT_WITH_FIXED_DAYS_OF_MONTH,
 * INCONSISTENT_FIRST_REPAYMENT_DATE_WITH_PRODUCT_OFFSET, INVALID_DISBURSEMENT_DATE, INVALID_FIRST_REPAYMENT_DUE_DATE,
 * FIRST_REPAYMENT_DATE_BEFORE_EXPECTED_DISBURSEMENT_DATE, INVALID_PENALTY_RATE,
 * ARREARS_TOLERANCE_PERIOD_OUTSIDE_CONSTRAINTS, LOAN_PRODUCT_MISMATCH (a setting that is not the product's, or a
 * security that the product does not allow). Without any of these, the reasons of the fees
 * that the account agrees, see {@link refusalsOfAgreedFees}.
 */
export function decideCreation(command: CreateLoan, { newKey }: Pick<DecisionContext, 'newKey'>): Decision {
  const { product, loanAccountId, receivedAt } = command;
  if (product === null) return { refusals: [refusal('LOAN_PRODUCT_MISMATCH', 'productTypeKey')] };
  if (product.state !== 'ACTIVE') return { refusals: [refusal('LOAN_PRODUCT_NOT_ACTIVE', 'productTypeKey')] };
  const terms = termsOf(command, product);
  const interestRate = command.interestRate ?? defaultOf(product.interestSettings.interestRate) ?? zero;
  const refusals = [
    ...amountRefusals(command, product),
    ...termsRefusals(terms, interestRate, command, product),
    ...dateRefusals(command),
  ];
  refusals.push(
    ...latenessRefusals(command, product),
    ...refusalsOfSettings(product, command.repeatedSettings ?? []),
    ...refusalsOfSecurities(product, command.additionalFields ?? noAdditionalFields),
  );
  if (refusals.length > 0) return { refusals };

  const disbursementFees = withFeeKeys(product, command.disbursementFees ?? []);
  const loan: Loan = {
    id: loanAccountId,
    encodedKey: newKey('loan'),
    product,
    terms,
    loanName: command.loanName ?? null,
    accountHolderKey: command.accountHolderKey ?? null,
    accountHolderType: command.accountHolderType ?? null,
    loanAmount: command.loanAmount,
    penaltyRate: command.penaltyRate ?? null,
    expectedDisbursementDate: command.expectedDisbursementDate ?? null,
    firstRepaymentDate: command.firstRepaymentDate ?? null,
    notes: command.notes ?? null,
    ...(disbursementFees.length === 0 ? {} : { disbursementFees }),
    arrearsTolerancePeriod: command.arrearsTolerancePeriod ?? null,
    businessDate: null,
    additionalFields: additionalFieldsOf(command, terms),
    createdAt: receivedAt,
    modifiedAt: receivedAt,
    position: {
      accountState: product.newAccountSettings.accountInitialState,
      accountSubState: null,
      stateBeforeClosure: null,
      lockedOperations: [],
      arrearsLock: null,
      approvedAt: null,
      closedAt: null,
      arrearsSince: null,
      disbursements: [],
      rateSegments: [{ from: null, interestRate }],
      principalLent: zero,
      asOf: null,
      lastValueDate: null,
      periodicPayment: null,
      installments: [],
      charges: [],
      chargeCount: 0,
      settledFees: noSettledFees,
      rescheduledTo: null,
    },
    transactionCount: 0,
    adjustableTransactionKey: null,
    eventSequence: 0,
    scheduleVersion: 0,
    publishedUnder: null,
    ...(command.originalAccount === undefined ? {} : { originalAccount: command.originalAccount }),
  };
  const feeRefusals = refusalsOfAgreedFees(loan);
  return feeRefusals.length > 0 ? { refusals: feeRefusals } : { fact: { type: 'LOAN_CREATED', loan } };
}

/** What is stored beside the terms. Periods mean nothing with fixed days of the month, and are only given back. */
function additionalFieldsOf(
  { additionalFields = noAdditionalFields, repaymentPeriodCount, repaymentPeriodUnit }: CreateLoan,
  { dueDates }: AgreedTerms,
): AdditionalFields {
  const isPeriodGiven = repaymentPeriodCount !== undefined || repaymentPeriodUnit !== undefined;
  if (dueDates.scheduleDueDatesMethod === 'INTERVAL' || !isPeriodGiven) return additionalFields;
  const scheduleSettings = {
    ...(repaymentPeriodCount === undefined ? {} : { repaymentPeriodCount }),
    ...(repaymentPeriodUnit === undefined ? {} : { repaymentPeriodUnit }),
  };
  return withAdditionalFields<AdditionalFields>({ scheduleSettings }, additionalFields);
}

function amountRefusals({ loanAmount }: CreateLoan, { loanAmountSettings, currency }: LoanProduct): Refusal[] {
  const inBounds = isWithin(loanAmountSettings.loanAmount, loanAmount);
  return isPostable(loanAmount, currency.digits) && inBounds ? [] : [refusal('INVALID_AMOUNT', 'loanAmount')];
}

function isWithin({ minValue, maxValue }: Bounded<Decimal>, value: Decimal): boolean {
  return minValue?.greaterThan(value) !== true && maxValue?.lessThan(value) !== true;
}

function isCountWithin({ minValue, maxValue }: Bounded<number>, value: number): boolean {
  return (minValue === undefined || value >= minValue) && (maxValue === undefined || value <= maxValue);
}

/** Of what is owed late. An account of a product without bounds may choose any rate that is not negative. */
function latenessRefusals({ penaltyRate, arrearsTolerancePeriod }: CreateLoan, product: LoanProduct): Refusal[] {
  const { penaltySettings, arrearsSettings } = product;
  const isRate =
    penaltyRate === undefined ||
    (!penaltyRate.isNegative() && isWithin(penaltySettings?.penaltyRate ?? {}, penaltyRate));
  const isPeriod =
    arrearsTolerancePeriod === undefined ||
    isCountWithin(arrearsSettings?.tolerancePeriod ?? {}, arrearsTolerancePeriod);
  return [
    ...(isRate ? [] : [refusal('INVALID_PENALTY_RATE', 'penaltySettings.penaltyRate')]),
    ...(isPeriod ? [] : [refusal('ARREARS_TOLERANCE_PERIOD_OUTSIDE_CONSTRAINTS', 'arrearsTolerancePeriod')]),
  ];
}

function termsRefusals(
  terms: AgreedTerms,
  interestRate: Decimal,
  command: CreateLoan,
  product: LoanProduct,
): Refusal[] {
  const refusals: Refusal[] = [];
  const { numInstallments, firstRepaymentDueDateOffset } = product.scheduleSettings;
  if (interestRate.isNegative() || !isWithin(product.interestSettings.interestRate, interestRate)) {
    refusals.push(refusal('INVALID_INTEREST_RATE', 'interestSettings.interestRate'));
  }
  const { repaymentInstallments: installments, dueDates, gracePeriod, principalRepaymentInterval: interval } = terms;
  const isCount = isCountFrom(1, installments) && isCountWithin(numInstallments, installments);
  if (!isCount || installments * longestPeriodDays(dueDates) > scheduleDaysMaximum) {
    refusals.push(refusal('INVALID_INSTALLMENTS', 'scheduleSettings.repaymentInstallments'));
  }
  if (dueDates.scheduleDueDatesMethod === 'INTERVAL' && !isCountFrom(1, dueDates.repaymentPeriodCount)) {
    refusals.push(refusal('INVALID_REPAYMENT_FREQUENCY', 'scheduleSettings.repaymentPeriodCount'));
  }
  const graceLimit = terms.gracePeriodType === 'NONE' ? 1 : installments;
  const isGrace = Number.isInteger(gracePeriod) && gracePeriod >= 0 && gracePeriod < graceLimit;
  if (!isGrace || !isCountWithin(product.gracePeriodSettings.gracePeriod, gracePeriod)) {
    refusals.push(refusal('INVALID_GRACE_PERIOD', 'scheduleSettings.gracePeriod'));
  }
  if (!isCountFrom(1, interval) || interval > installments) {
    refusals.push(refusal('INVALID_PRINCIPAL_REPAYMENT_INTERVAL', 'scheduleSettings.principalRepaymentInterval'));
  }
  const isFixedDays = dueDates.scheduleDueDatesMethod === 'FIXED_DAYS_OF_MONTH';
  const days = isFixedDays ? dueDates.fixedDaysOfMonth : (command.fixedDaysOfMonth ?? []);
  if (!areFixedDays(days, isFixedDays)) {
    refusals.push(refusal('INCONSISTENT_WITH_FIXED_DAYS_OF_MONTH', 'scheduleSettings.fixedDaysOfMonth'));
  }
  const offset = dueDates.firstRepaymentDueDateOffset;
  if (!isCountFrom(0, offset) || !isCountWithin(firstRepaymentDueDateOffset, offset)) {
    const field = 'scheduleSettings.defaultFirstRepaymentDueDateOffset';
    refusals.push(refusal('INCONSISTENT_FIRST_REPAYMENT_DATE_WITH_PRODUCT_OFFSET', field));
  }
  return refusals;
}

const longestUnitDays = { DAYS: 1, WEEKS: 7, MONTHS: 31, YEARS: 366 } as const;

function longestPeriodDays(dueDates: DueDateTerms): number {
  return dueDates.scheduleDueDatesMethod === 'INTERVAL'
    ? dueDates.repaymentPeriodCount * longestUnitDays[dueDates.repaymentPeriodUnit]
    : longestUnitDays.MONTHS;
}

function dateRefusals({ expectedDisbursementDate: expected, firstRepaymentDate: first }: CreateLoan): Refusal[] {
  const refusals: Refusal[] = [];
  if (expected !== undefined && !isUsableDate(expected)) {
    refusals.push(refusal('INVALID_DISBURSEMENT_DATE', 'disbursementDetails.expectedDisbursementDate'));
  }
  if (first !== undefined && !isUsableDate(first)) {
    refusals.push(refusal('INVALID_FIRST_REPAYMENT_DUE_DATE', 'disbursementDetails.firstRepaymentDate'));
  }
  if (first !== undefined && expected !== undefined && first <= expected) {
    const field = 'disbursementDetails.firstRepaymentDate';
    refusals.push(refusal('FIRST_REPAYMENT_DATE_BEFORE_EXPECTED_DISBURSEMENT_DATE', field));
  }
  return refusals;
}
