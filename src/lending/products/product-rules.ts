import { type Decimal, isPostable } from '../money.ts';
import { fitsProduct } from '../prepayment.ts';
import { behaviourOf } from './product-behaviour.ts';
import { type Bounded, type LoanProduct, type ProductFee, isChargedByHand } from './product.ts';
import { type Refusal, refusal } from '../refusals.ts';
import { defaultOf } from '../agreed-terms.ts';

/** The most installments a loan may have: ten years of daily ones. */
export const installmentsMaximum = 3_660;

const allocationElementCount = 4;

/**
 * Checks that the settings of a product are consistent. Returns the product itself when they are. Otherwise returns
 * every rule that is broken, in the order of the product's sections.
 *
 * A fee that joins no installment can only be paid by a custom repayment, so a product with such a fee must allow
 * those: CUSTOM_PAYMENT_NOT_ALLOWED_BY_PRODUCT names the fee (`feesSettings.fees[0]`).
 */
export function createProduct(product: LoanProduct): LoanProduct | Refusal[] {
  const refusals = [
    ...boundsRefusals(product),
    ...interestRefusals(product),
    ...scheduleRefusals(product),
    ...graceRefusals(product),
    ...paymentRefusals(product),
    ...feeRefusals(product),
    ...taxRefusals(product),
    ...idPatternRefusals(product),
  ];
  return refusals.length === 0 ? product : refusals;
}

/** A rule's requirement in words, for rules that involve more than the field they name. */
export const productRuleMessages: Readonly<Partial<Record<Refusal['errorReason'], string>>> = {
  CUSTOM_PAYMENT_NOT_ALLOWED_BY_PRODUCT:
    'A fee whose allocation is NO_ALLOCATION can only be paid by a custom repayment: set allowCustomRepaymentAllocation to true.',
};

function boundsRefusals({
  loanAmountSettings,
  interestSettings,
  scheduleSettings,
  arrearsSettings,
  penaltySettings,
  internalControls,
}: LoanProduct): Refusal[] {
  const { numInstallments, firstRepaymentDueDateOffset } = scheduleSettings;
  return [
    ...boundedDecimal(loanAmountSettings.loanAmount, 'loanAmountSettings.loanAmount', 'INVALID_AMOUNT'),
    ...boundedDecimal(interestSettings.interestRate, 'interestSettings.interestRate', 'INVALID_INTEREST_RATE'),
    ...installmentsRefusals(numInstallments),
    ...boundedCount(firstRepaymentDueDateOffset, 'scheduleSettings.firstRepaymentDueDateOffset', 0),
    ...boundedDecimal(penaltySettings?.penaltyRate ?? {}, 'penaltySettings.penaltyRate', 'INVALID_PENALTY_RATE'),
    ...boundedCount(
      arrearsSettings?.tolerancePeriod ?? {},
      'arrearsSettings.tolerancePeriod',
      0,
      'ARREARS_TOLERANCE_PERIOD_OUTSIDE_CONSTRAINTS',
    ),
    ...boundedDecimal(
      arrearsSettings?.tolerancePercentageOfOutstandingPrincipal ?? {},
      'arrearsSettings.tolerancePercentageOfOutstandingPrincipal',
      'INVALID_PARAMETERS',
    ),
    ...(internalControls?.lockSettings?.cappingPercentage?.isNegative() === true
      ? [refusal('INVALID_PARAMETERS', 'internalControls.lockSettings.cappingPercentage')]
      : []),
  ];
}

/** The least number may be 0, as every account has one at least. The default is a number that an account can have. */
function installmentsRefusals(numInstallments: Bounded<number>): Refusal[] {
  const field = 'scheduleSettings.numInstallments';
  const { defaultValue, maxValue } = numInstallments;
  const isUsable = [defaultValue, maxValue].every((value) => value === undefined || value >= 1);
  return isUsable ? boundedCount(numInstallments, field, 0) : [refusal('INVALID_INSTALLMENTS', field)];
}

function boundedDecimal(
  { defaultValue, minValue, maxValue }: Bounded<Decimal>,
  field: string,
  reason: Refusal['errorReason'],
): Refusal[] {
  const negative = [minValue, defaultValue, maxValue].some((value) => value?.isNegative() === true);
  const upsideDown = minValue !== undefined && maxValue?.lessThan(minValue) === true;
  const outside =
    (minValue !== undefined && defaultValue?.lessThan(minValue) === true) ||
    (maxValue !== undefined && defaultValue?.greaterThan(maxValue) === true);
  return negative || upsideDown || outside ? [refusal(reason, field)] : [];
}

function boundedCount(
  { defaultValue, minValue, maxValue }: Bounded<number>,
  field: string,
  minimum: number,
  reason: Refusal['errorReason'] = 'INVALID_INSTALLMENTS',
): Refusal[] {
  const values = [minValue, defaultValue, maxValue].filter((value) => value !== undefined);
  const ascending = values.every((value, index) => index === 0 || value >= (values[index - 1] ?? value));
  const inRange = values.every((value) => Number.isInteger(value) && value >= minimum && value <= installmentsMaximum);
  return ascending && inRange ? [] : [refusal(reason, field)];
}

function interestRefusals(product: LoanProduct): Refusal[] {
  const refusals: Refusal[] = [];
  const { interestSettings } = product;
  const { interestChargeFrequency, interestChargeFrequencyCount } = interestSettings;
  const needsOne = interestChargeFrequency !== 'EVERY_X_DAYS';
  if (interestChargeFrequencyCount < 1 || (needsOne && interestChargeFrequencyCount !== 1)) {
    refusals.push(refusal('INVALID_PARAMETERS', 'interestSettings.interestChargeFrequencyCount'));
  }
  // FLAT interest is charged on the amount lent, whatever has been repaid; accrued interest on what is outstanding.
  const isAccrued = behaviourOf(product).interest === 'ACCRUED';
  if (isAccrued && interestSettings.interestCalculationMethod === 'FLAT') {
    refusals.push(refusal('INVALID_PARAMETERS', 'interestSettings.interestCalculationMethod'));
  }
  // Scheduled interest is that of the schedule, which ends with it.
  if (!isAccrued && interestSettings.accrueInterestAfterMaturity === true) {
    refusals.push(refusal('INVALID_PARAMETERS', 'interestSettings.indexRateSettings.accrueInterestAfterMaturity'));
  }
  return refusals;
}

function scheduleRefusals({ scheduleSettings }: LoanProduct): Refusal[] {
  const refusals: Refusal[] = [];
  const { scheduleDueDatesMethod, fixedDaysOfMonth, shortMonthHandlingMethod } = scheduleSettings;
  if (!areFixedDays(fixedDaysOfMonth, scheduleDueDatesMethod === 'FIXED_DAYS_OF_MONTH')) {
    refusals.push(refusal('INCONSISTENT_WITH_FIXED_DAYS_OF_MONTH', 'scheduleSettings.fixedDaysOfMonth'));
  }
  if (scheduleDueDatesMethod === 'INTERVAL' && shortMonthHandlingMethod !== undefined) {
    refusals.push(refusal('INCONSISTENT_WITH_FIXED_DAYS_OF_MONTH', 'scheduleSettings.shortMonthHandlingMethod'));
  }
  if (!isCountFrom(1, scheduleSettings.defaultRepaymentPeriodCount)) {
    refusals.push(refusal('INVALID_REPAYMENT_FREQUENCY', 'scheduleSettings.defaultRepaymentPeriodCount'));
  }
  if (!isCountFrom(1, scheduleSettings.defaultPrincipalRepaymentInterval)) {
    refusals.push(
      refusal('INVALID_PRINCIPAL_REPAYMENT_INTERVAL', 'scheduleSettings.defaultPrincipalRepaymentInterval'),
    );
  }
  return refusals;
}

/** Whether the days suit their use: if used, days 1 to 31, at least one, ascending without repeats; if not, none. */
export function areFixedDays(days: readonly number[], areUsed: boolean): boolean {
  if (!areUsed) return days.length === 0;
  const inMonth = days.every((day) => Number.isInteger(day) && day >= 1 && day <= 31);
  return days.length > 0 && inMonth && days.every((day, index) => index === 0 || day > (days[index - 1] ?? 0));
}

/** Whether the count is a whole number from `minimum` up to {@link installmentsMaximum}. */
export function isCountFrom(minimum: number, count: number): boolean {
  return Number.isInteger(count) && count >= minimum && count <= installmentsMaximum;
}

function graceRefusals({ gracePeriodSettings, scheduleSettings }: LoanProduct): Refusal[] {
  const { gracePeriod, gracePeriodType } = gracePeriodSettings;
  const { numInstallments } = scheduleSettings;
  const field = 'gracePeriodSettings.gracePeriod';
  const refusals = boundedCount(gracePeriod, field, 0).map(() => refusal('INVALID_GRACE_PERIOD', field));
  if (refusals.length > 0) return refusals;
  const grace = defaultOf(gracePeriod) ?? 0;
  const unusable = gracePeriodType === 'NONE' ? grace > 0 : grace >= (numInstallments.defaultValue ?? Infinity);
  return unusable ? [refusal('INVALID_GRACE_PERIOD', field)] : [];
}

function paymentRefusals(product: LoanProduct): Refusal[] {
  const refusals: Refusal[] = [];
  const { repaymentAllocationOrder, paymentMethod, prepaymentSettings } = product.paymentSettings;
  const isPermutation =
    repaymentAllocationOrder.length === allocationElementCount &&
    new Set(repaymentAllocationOrder).size === allocationElementCount;
  if (!isPermutation) refusals.push(refusal('INVALID_PARAMETERS', 'paymentSettings.repaymentAllocationOrder'));
  // Where all interest of the schedule is owed, one element of all rows would be the interest of the whole loan.
  if (paymentMethod === 'VERTICAL' && behaviourOf(product).interest !== 'ACCRUED') {
    refusals.push(refusal('INVALID_PARAMETERS', 'paymentSettings.paymentMethod'));
  }
  refusals.push(...latePaymentRefusals(product), ...prepaymentRefusals(product));
  if (!fitsProduct(prepaymentSettings.prepaymentRecalculationMethod, product)) {
    refusals.push(
      refusal(
        'LOAN_PRODUCT_PREPAYMENT_OPTIONS_MISMATCH',
        'paymentSettings.prepaymentSettings.prepaymentRecalculationMethod',
      ),
    );
  }
  return refusals;
}

/**
 * Interest of late principal needs a row that asks for it, and a last row that is raised needs late principal that may
 * earn interest: that of a fixed loan never does.
 */
function latePaymentRefusals(product: LoanProduct): Refusal[] {
  const { latePaymentsRecalculationMethod: method } = product.paymentSettings;
  const isAccrued = behaviourOf(product).interest === 'ACCRUED';
  const isWrong =
    (method === 'NO_RECALCULATION' && isAccrued && product.interestSettings.accrueLateInterest) ||
    (method === 'LAST_INSTALLMENT_INCREASE' && !isAccrued);
  return isWrong ? [refusal('INVALID_PARAMETERS', 'paymentSettings.latePaymentsRecalculationMethod')] : [];
}

/** Where rows stay as agreed and owe all their interest, nothing is left to decide about interest not yet earned. */
function prepaymentRefusals(product: LoanProduct): Refusal[] {
  const { prepaymentSettings } = product.paymentSettings;
  const { interestCalculationMethod, pmtAdjustmentThreshold } = product.interestSettings;
  const isAccrued = behaviourOf(product).interest === 'ACCRUED';
  const isLevel = interestCalculationMethod === 'DECLINING_BALANCE_DISCOUNTED';
  const wrong = (isAccrued ? [] : offByDefault)
    .filter(([name, off]) => (prepaymentSettings[name] ?? off) !== off)
    .map(([name]) => `paymentSettings.prepaymentSettings.${name}`);
  if ((pmtAdjustmentThreshold?.numberOfDays ?? 0) > 0 && !(isAccrued && isLevel)) {
    wrong.push('interestSettings.pmtAdjustmentThreshold');
  }
  return wrong.map((field) => refusal('INVALID_PARAMETERS', field));
}

const offByDefault = [
  ['elementsRecalculationMethod', 'PRINCIPAL_EXPECTED_FIXED'],
  ['applyInterestOnPrepaymentMethod', 'AUTOMATIC'],
  ['principalPaidInstallmentStatus', 'PARTIALLY_PAID'],
] as const;

function feeRefusals(product: LoanProduct): Refusal[] {
  const { feesSettings, allowCustomRepaymentAllocation, currency } = product;
  const names = feesSettings.fees.flatMap(({ encodedKey, id }) => (encodedKey === id ? [id] : [encodedKey, id]));
  return feesSettings.fees.flatMap((fee, index) => {
    const field = `feesSettings.fees[${index}]`;
    const isRepeated = [fee.encodedKey, fee.id].some((name) => names.indexOf(name) !== names.lastIndexOf(name));
    if (isRepeated) return [refusal('INVALID_FEE_KEY', field)];
    // Where fees are owed from the disbursement on, none is applied on its due date.
    const isPlanned = behaviourOf(product).dueDateFees === 'FROM_DUE_DATE';
    if (fee.trigger === 'PAYMENT_DUE_APPLIED_ON_DUE_DATES' && !isPlanned) {
      return [refusal('FEE_NOT_ALLOWED', `${field}.trigger`)];
    }
    if (fee.allocation === 'NO_ALLOCATION' && !isChargedByHand(fee))
      return [refusal('FEE_NOT_ALLOWED', `${field}.allocation`)];
    if (fee.allocation === 'NO_ALLOCATION' && !allowCustomRepaymentAllocation) {
      return [refusal('CUSTOM_PAYMENT_NOT_ALLOWED_BY_PRODUCT', field)];
    }
    return amountRefusals(fee, field, currency.digits);
  });
}

function amountRefusals(fee: ProductFee, field: string, currencyDigits: number): Refusal[] {
  const isFlat =
    fee.amountCalculationMethod === 'FLAT' || fee.amountCalculationMethod === 'FLAT_NUMBER_OF_INSTALLMENTS';
  const [own, ownName] = isFlat ? [fee.amount, 'amount'] : [fee.percentageAmount, 'percentageAmount'];
  const [other, otherName] = isFlat ? [fee.percentageAmount, 'percentageAmount'] : [fee.amount, 'amount'];
  if (other !== undefined) return [refusal('INVALID_FEE', `${field}.${otherName}`)];
  if (own === undefined) {
    // A flat fee may leave its amount to the command that applies it. A fee charged automatically has no such command.
    const isAmountOptional = fee.amountCalculationMethod === 'FLAT' && fee.feeApplication === 'OPTIONAL';
    return isAmountOptional || (isChargedByHand(fee) && isFlat)
      ? []
      : [refusal('MANDATORY_FEE_AMOUNT', `${field}.${ownName}`)];
  }
  if (!own.greaterThan(0)) return [refusal('FEE_AMOUNT_MUST_BE_STRICTLY_POSITIVE', `${field}.${ownName}`)];
  return isFlat && !isPostable(own, currencyDigits) ? [refusal('INVALID_AMOUNT', `${field}.amount`)] : [];
}

function taxRefusals({ taxSettings }: LoanProduct): Refusal[] {
  return taxSettings.taxRate.isNegative() || taxSettings.taxRate.greaterThan(100)
    ? [refusal('INVALID_PARAMETERS', 'taxSettings.taxRate')]
    : [];
}

/** Ids of accounts are made by the pattern: an id's characters, and enough of them by chance to differ. */
function idPatternRefusals({ newAccountSettings }: LoanProduct): Refusal[] {
  const { idGeneratorType, idPattern } = newAccountSettings;
  const isPattern = idPattern.length !== keyCharacters && /^[A-Za-z0-9@#$][A-Za-z0-9@#$._-]{0,63}$/.test(idPattern);
  const chances = idPattern.match(/[@#$]/g)?.length ?? 0;
  return idGeneratorType === 'INCREMENTAL_NUMBER' || (isPattern && chances >= idChancesMinimum)
    ? []
    : [refusal('INVALID_PARAMETERS', 'newAccountSettings.idPattern')];
}

/** An id of as many characters could have the form of a key. */
const keyCharacters = 32;

/** The fewest places of an id that are chosen by chance. */
const idChancesMinimum = 4;
