import { type PaymentMethod, latePaymentsRecalculationMethods, paymentMethods } from '../../lending/payment-options.ts';
import { type Currency, type Decimal, zero } from '../../lending/money.ts';
import { type LoanProductType, behaviourOf, loanProductTypes } from '../../lending/products/product-behaviour.ts';
import type { AllocationElement, Bounded, LoanProduct, ProductFee } from '../../lending/products/product.ts';
import type { RepaymentReschedulingMethod } from '../../lending/terms.ts';
import { boundedCount, boundedDecimal } from './bounded-values.ts';
import { digitsOfCurrency } from './currency-digits.ts';
import { type FieldReader, present } from './field-reader.ts';
import { readArrearsSettings, readInternalControls, readPenaltySettings } from './lateness-payload.ts';
import { hasEncodedKeyForm } from './id-forms.ts';
import { readPaymentThreshold, readPrepaymentSettings } from './prepayment-payload.ts';

const states = ['ACTIVE', 'INACTIVE'] as const;
const interestCalculationMethods = ['FLAT', 'DECLINING_BALANCE', 'DECLINING_BALANCE_DISCOUNTED'] as const;
const interestChargeFrequencies = [
  'ANNUALIZED',
  'EVERY_MONTH',
  'EVERY_FOUR_WEEKS',
  'EVERY_WEEK',
  'EVERY_DAY',
  'EVERY_X_DAYS',
] as const;
const interestTypes = ['SIMPLE_INTEREST', 'COMPOUNDING_INTEREST'] as const;
const daysInYear = [
  'ACTUAL_365_FIXED',
  'ACTUAL_364',
  'ACTUAL_360',
  'ACTUAL_ACTUAL_ISDA',
  'E30_360',
  'E30_42_365',
] as const;
const interestDaysCountMethods = ['REPAYMENT_PERIODICITY', 'ACTUAL_DAYS_COUNT'] as const;
const dueDatesMethods = ['INTERVAL', 'FIXED_DAYS_OF_MONTH'] as const;
const periodUnits = ['DAYS', 'WEEKS', 'MONTHS', 'YEARS'] as const;
const shortMonthHandlings = ['LAST_DAY_IN_MONTH', 'FIRST_DAY_OF_NEXT_MONTH'] as const;
const reschedulingMethods = ['NONE', 'NEXT_WORKING_DAY', 'PREVIOUS_WORKING_DAY', 'EXTEND_SCHEDULE'] as const;
const roundingModes = ['HALF_UP', 'HALF_EVEN'] as const;
const currencyRoundings = ['NO_ROUNDING', 'ROUND_TO_NEAREST_WHOLE_UNIT', 'ROUND_UP_TO_NEAREST_WHOLE_UNIT'] as const;
const elementsRoundings = ['NO_ROUNDING', 'ROUND_ALL', 'PAYMENT_DUE'] as const;
const scheduleRoundings = [
  'NO_ROUNDING',
  'ROUND_REMAINDER_INTO_LAST_REPAYMENT',
  'ROUND_PRINCIPAL_AND_INTEREST_REMAINDER_INTO_LAST_REPAYMENT',
] as const;
const gracePeriodTypes = ['NONE', 'PAY_INTEREST_ONLY'] as const;
const amortizationMethods = ['STANDARD_PAYMENTS', 'OPTIMIZED_PAYMENTS'] as const;
const allocationElements = ['FEE', 'PENALTY', 'INTEREST', 'PRINCIPAL'] as const satisfies readonly AllocationElement[];
const feeTriggers = [
  'MANUAL',
  'DISBURSEMENT',
  'CAPITALIZED_DISBURSEMENT',
  'UPFRONT_DISBURSEMENT',
  'PAYMENT_DUE',
  'PAYMENT_DUE_APPLIED_ON_DUE_DATES',
  'LATE_REPAYMENT',
  'ARBITRARY',
] as const;
const feeCalculationMethods = [
  'FLAT',
  'LOAN_AMOUNT_PERCENTAGE',
  'REPAYMENT_PRINCIPAL_AMOUNT_PERCENTAGE',
  'LOAN_AMOUNT_PERCENTAGE_NUMBER_OF_INSTALLMENTS',
  'FLAT_NUMBER_OF_INSTALLMENTS',
] as const;
const taxMethods = ['INCLUSIVE', 'EXCLUSIVE'] as const;
const initialStates = ['PARTIAL_APPLICATION', 'PENDING_APPROVAL'] as const;
const categories = [
  'PERSONAL_LENDING',
  'PURCHASE_FINANCING',
  'RETAIL_MORTGAGES',
  'SME_LENDING',
  'COMMERCIAL',
  'UNCATEGORIZED',
] as const;
const scheduleEditOptions = [
  'ADJUST_PAYMENT_DATES',
  'ADJUST_PRINCIPAL_PAYMENT_SCHEDULE',
  'ADJUST_INTEREST_PAYMENT_SCHEDULE',
  'ADJUST_FEE_PAYMENT_SCHEDULE',
  'ADJUST_PENALTY_PAYMENT_SCHEDULE',
  'ADJUST_NUMBER_OF_INSTALLMENTS',
  'ADJUST_PAYMENT_HOLIDAYS',
] as const;
/** The pattern of ids where a product names none, and the longest pattern: an id has at most 64 characters. */
const idPatternDefault = '@@@@###';
const idPatternCharactersMaximum = 64;

/**
 * A requested product, with defaults for the fields that were left out. Only the form is checked here; the lending
 * rules decide whether the settings fit together.
 *
 * A setting that no rule reads is kept while it means "off" or repeats what holds anyway, and is given back; any other
 * value is refused. What the service itself decides (keys of settings, dates, the version) may be sent back, and is not
 * read.
 * @param newKey Makes the encodedKeys that the sender did not choose.
 */
export function readProduct(
  reader: FieldReader,
  loanProductId: string,
  newKey: (purpose: string) => string,
): LoanProduct {
  reader.ignore('creationDate', 'lastModifiedDate', 'version');
  const id = reader.text('id');
  if ((id !== undefined && id !== loanProductId) || hasEncodedKeyForm(loanProductId)) reader.refuse('id');
  const type = reader.require('type', reader.choice('type', loanProductTypes)) ?? 'FIXED_TERM_LOAN';
  const product = {
    encodedKey: reader.encodedKey('encodedKey') ?? newKey('product'),
    id: loanProductId,
    name: reader.require('name', reader.text('name')) ?? '',
    type,
    state: reader.choice('state', states) ?? 'ACTIVE',
    currency: readCurrency(reader.object('currency')),
    loanAmountSettings: readLoanAmountSettings(reader.object('loanAmountSettings')),
    interestSettings: readInterestSettings(reader.object('interestSettings'), type),
    adjustInterestForFirstInstallment: reader.flag('adjustInterestForFirstInstallment') ?? false,
    scheduleSettings: readScheduleSettings(reader, type),
    gracePeriodSettings: readGracePeriodSettings(reader.object('gracePeriodSettings')),
    paymentSettings: readPaymentSettings(reader.object('paymentSettings')),
    feesSettings: readFeesSettings(reader, newKey),
    taxSettings: readTaxSettings(reader.object('taxSettings')),
    newAccountSettings: readNewAccountSettings(reader.object('newAccountSettings')),
    allowCustomRepaymentAllocation: reader.flag('allowCustomRepaymentAllocation') ?? false,
    ...present({
      notes: reader.notes('notes'),
      arrearsSettings: readArrearsSettings(reader),
      penaltySettings: readPenaltySettings(reader),
      internalControls: readInternalControls(reader.object('internalControls')),
    }),
  };
  readDescription(reader);
  keepUnusedSettings(reader);
  const additionalFields = reader.keptFields();
  return Object.keys(additionalFields).length === 0 ? product : { ...product, additionalFields };
}

function readLoanAmountSettings(reader: FieldReader): LoanProduct['loanAmountSettings'] {
  reader.object('trancheSettings').keepOnly('maxNumberOfTranches', 1);
  return { loanAmount: boundedDecimal(reader.object('loanAmount')) };
}

function readInterestSettings(reader: FieldReader, type: LoanProductType): LoanProduct['interestSettings'] {
  const rate = reader.object('indexRateSettings');
  rate.ignore('encodedKey');
  rate.keepOnly('interestRateSource', 'FIXED_INTEREST_RATE');
  rate.keepOnly('interestRateTerms', 'FIXED');
  rate.keepEmpty('interestRateTiers');
  rate.keepOnly('allowNegativeInterestRate', false);
  reader.keepEmpty('interestRateSettings');
  reader.keepOnly('decoupleInterestFromArrears', false);
  reader.keepOnly('compoundingFrequency', 'DAILY');
  reader.keepOnly('interestBalanceCalculationMethod', 'ONLY_PRINCIPAL');
  // Scheduled interest is owed from the disbursement on; accrued interest is applied as its due date comes.
  const isScheduled = behaviourOf({ type }).interest === 'SCHEDULED';
  reader.keepOnly('interestApplicationMethod', isScheduled ? 'AFTER_DISBURSEMENT' : 'REPAYMENT_DUE_DATE');
  return {
    interestRate: readInterestRate(reader, rate),
    interestChargeFrequency:
      sameInBoth(reader, rate, 'interestChargeFrequency', (place, name) =>
        place.choice(name, interestChargeFrequencies),
      ) ?? 'ANNUALIZED',
    interestChargeFrequencyCount:
      sameInBoth(reader, rate, 'interestChargeFrequencyCount', (place, name) => place.count(name)) ?? 1,
    interestType: reader.choice('interestType', interestTypes) ?? 'SIMPLE_INTEREST',
    interestCalculationMethod:
      reader.choice('interestCalculationMethod', interestCalculationMethods) ?? 'DECLINING_BALANCE_DISCOUNTED',
    daysInYear: reader.choice('daysInYear', daysInYear) ?? 'ACTUAL_365_FIXED',
    scheduleInterestDaysCountMethod:
      reader.choice('scheduleInterestDaysCountMethod', interestDaysCountMethods) ?? 'ACTUAL_DAYS_COUNT',
    accrueLateInterest: reader.flag('accrueLateInterest') ?? false,
    ...present({
      accrueInterestAfterMaturity: rate.flag('accrueInterestAfterMaturity'),
      pmtAdjustmentThreshold: readPaymentThreshold(reader),
    }),
  };
}

/** The rate, from its own place or from the short one in `interestSettings`; the same bounds if both are sent. */
function readInterestRate(interest: FieldReader, rate: FieldReader): Bounded<Decimal> {
  const [own, short] = [boundedDecimal(rate.object('interestRate')), boundedDecimal(interest.object('interestRate'))];
  const names = ['defaultValue', 'minValue', 'maxValue'] as const;
  const isSame = names.every((name) => own[name]?.toFixed() === short[name]?.toFixed());
  if (rate.has('interestRate') && interest.has('interestRate') && !isSame) interest.refuse('interestRate');
  return rate.has('interestRate') ? own : short;
}

/** A field from the contract's place or from a second one, which must have the same value if both are sent. */
function sameInBoth<Value extends string | number>(
  second: FieldReader,
  contract: FieldReader,
  name: string,
  read: (place: FieldReader, name: string) => Value | undefined,
): Value | undefined {
  const [own, other] = [read(contract, name), read(second, name)];
  if (own !== undefined && other !== undefined && own !== other) second.refuse(name);
  return own ?? other;
}

function readScheduleSettings(product: FieldReader, type: LoanProductType): LoanProduct['scheduleSettings'] {
  const reader = product.object('scheduleSettings');
  const rounding = reader.object('roundingSettings');
  const principal = product.object('paymentSettings').object('principalPaymentSettings');
  reader.keepOnly('repaymentScheduleMethod', behaviourOf({ type }).rows === 'AGREED' ? 'FIXED' : 'DYNAMIC');
  reader.keepOnly('repaymentMethod', 'INSTALLMENTS');
  reader.keepOnly('interestAccrualSince', 'DISBURSEMENT');
  reader.keepOnly('keepInstallmentsEqualIfLongFirstPeriod', false);
  reader.keepEmpty('amortizationPeriod');
  const cycles = reader.object('billingCycles');
  cycles.keepOnly('enabled', false);
  cycles.keepEmpty('startDays');
  const preview = reader.object('previewSchedule');
  preview.keepOnly('previewScheduleEnabled', false);
  preview.keep('numberOfPreviewedInstalments');
  // They say what an edit of a schedule may change, and no schedule can be edited.
  reader.keepChoices('repaymentScheduleEditOptions', ...scheduleEditOptions);
  reader
    .object('scheduleEditOptionDetails')
    .object('paymentHolidaysSettings')
    .keepOnly('paymentHolidaysLoanTermOption', 'EXTEND_LOAN_TERM', 'KEEP_THE_SAME_LOAN_TERM');
  return {
    scheduleDueDatesMethod: reader.choice('scheduleDueDatesMethod', dueDatesMethods) ?? 'INTERVAL',
    repaymentPeriodUnit: reader.choice('repaymentPeriodUnit', periodUnits) ?? 'MONTHS',
    defaultRepaymentPeriodCount: reader.count('defaultRepaymentPeriodCount') ?? 1,
    fixedDaysOfMonth: reader.counts('fixedDaysOfMonth') ?? [],
    ...present({
      shortMonthHandlingMethod: reader.choice('shortMonthHandlingMethod', shortMonthHandlings),
      repaymentReschedulingMethod: readReschedulingMethod(reader),
    }),
    numInstallments: boundedCount(reader.object('numInstallments')),
    firstRepaymentDueDateOffset: boundedCount(reader.object('firstRepaymentDueDateOffset')),
    defaultPrincipalRepaymentInterval:
      sameInBoth(reader, principal, 'defaultPrincipalRepaymentInterval', (place, name) => place.count(name)) ?? 1,
    roundingSettings: {
      roundingMode: rounding.choice('roundingMode', roundingModes) ?? 'HALF_UP',
      repaymentCurrencyRounding: rounding.choice('repaymentCurrencyRounding', currencyRoundings) ?? 'NO_ROUNDING',
      repaymentElementsRoundingMethod:
        rounding.choice('repaymentElementsRoundingMethod', elementsRoundings) ?? 'NO_ROUNDING',
      roundingRepaymentScheduleMethod:
        rounding.choice('roundingRepaymentScheduleMethod', scheduleRoundings) ?? 'ROUND_REMAINDER_INTO_LAST_REPAYMENT',
    },
  };
}

/** Where due dates go that fall on days on which the institution is closed; undefined when they stay. */
function readReschedulingMethod(reader: FieldReader): RepaymentReschedulingMethod | undefined {
  const method = reader.choice('repaymentReschedulingMethod', reschedulingMethods);
  return method === 'NONE' ? undefined : method;
}

function readGracePeriodSettings(reader: FieldReader): LoanProduct['gracePeriodSettings'] {
  return {
    gracePeriodType: reader.choice('gracePeriodType', gracePeriodTypes) ?? 'NONE',
    gracePeriod: boundedCount(reader.object('gracePeriod')),
  };
}

function readPaymentSettings(reader: FieldReader): LoanProduct['paymentSettings'] {
  const prepayment = reader.object('prepaymentSettings');
  const order = reader.choices('repaymentAllocationOrder', allocationElements) ?? [...allocationElements];
  if (order.length !== allocationElements.length) reader.refuse('repaymentAllocationOrder');
  const lateMethod = reader.choice('latePaymentsRecalculationMethod', latePaymentsRecalculationMethods);
  // Read where a payment is dated ahead, see `future-payments.ts`.
  prepayment.keepOnly(
    'futurePaymentsAcceptance',
    'NO_FUTURE_PAYMENTS',
    'ACCEPT_FUTURE_PAYMENTS',
    'ACCEPT_OVERPAYMENTS',
  );
  prepayment.keepOnly('ercFreeAllowance', 0);
  readPrincipalPaymentSettings(reader.object('principalPaymentSettings'));
  return {
    amortizationMethod: reader.choice('amortizationMethod', amortizationMethods) ?? 'STANDARD_PAYMENTS',
    paymentMethod: reader.choice<PaymentMethod>('paymentMethod', paymentMethods) ?? 'HORIZONTAL',
    repaymentAllocationOrder: order,
    ...present({
      latePaymentsRecalculationMethod: lateMethod === 'OVERDUE_INSTALLMENTS_INCREASE' ? undefined : lateMethod,
    }),
    prepaymentSettings: readPrepaymentSettings(prepayment),
  };
}

/** Settings of revolving credits; {@link readScheduleSettings} reads the interval of principal. */
function readPrincipalPaymentSettings(reader: FieldReader): void {
  reader.ignore('encodedKey', 'defaultPrincipalRepaymentInterval');
  reader.keepEmpty('amount', 'percentage');
  reader.keepOnly('includeFeesInFloorAmount', false);
  reader.keepOnly('includeInterestInFloorAmount', false);
}

function readFeesSettings(product: FieldReader, newKey: (purpose: string) => string): LoanProduct['feesSettings'] {
  const reader = product.object('feesSettings');
  const areTaxed = product.object('taxSettings').flag('taxesOnFeesEnabled') ?? false;
  return {
    allowArbitraryFees: reader.flag('allowArbitraryFees') ?? false,
    fees: reader.objects('fees').map((fee, index) => readFee(fee, areTaxed, () => newKey(`fee ${index}`))),
  };
}

function readTaxSettings(reader: FieldReader): LoanProduct['taxSettings'] {
  const taxSettings = {
    taxRate: reader.decimal('taxRate') ?? zero,
    taxCalculationMethod: reader.choice('taxCalculationMethod', taxMethods) ?? 'INCLUSIVE',
    taxesOnInterestEnabled: reader.flag('taxesOnInterestEnabled') ?? false,
    taxesOnFeesEnabled: reader.flag('taxesOnFeesEnabled') ?? false,
    taxesOnPenaltyEnabled: reader.flag('taxesOnPenaltyEnabled') ?? false,
  };
  const { taxesOnInterestEnabled, taxesOnFeesEnabled, taxesOnPenaltyEnabled } = taxSettings;
  // A source of tax rates would change the tax of what is taxed.
  if (!taxesOnInterestEnabled && !taxesOnFeesEnabled && !taxesOnPenaltyEnabled) reader.keepText('taxSourceKey');
  return taxSettings;
}

function readNewAccountSettings(reader: FieldReader): LoanProduct['newAccountSettings'] {
  return {
    accountInitialState: reader.choice('accountInitialState', initialStates) ?? 'PENDING_APPROVAL',
    idGeneratorType: reader.choice('idGeneratorType', ['INCREMENTAL_NUMBER', 'RANDOM_PATTERN']) ?? 'RANDOM_PATTERN',
    idPattern: reader.text('idPattern', idPatternCharactersMaximum) ?? idPatternDefault,
  };
}

/** What describes a product to people, and says to whom it is offered: no rule of an account depends on it. */
function readDescription(reader: FieldReader): void {
  reader.keepOnly('category', ...categories);
  reader.keep('templates');
  const availability = reader.object('availabilitySettings');
  availability.keepChoices('availableFor', 'INDIVIDUALS', 'PURE_GROUPS', 'SOLIDARITY_GROUPS');
  const branches = availability.object('branchSettings');
  branches.keepOnly('forAllBranches', true, false);
  branches.keepTexts('availableProductBranches');
}

/** Settings of what accounts do not have, as long as they are off. */
function keepUnusedSettings(reader: FieldReader): void {
  reader.keepOnly('adjustTotalDueForInstallmentsWithDifferentInterval', false);
  reader.keepOnly('useFeeIncludedInPMT', false);
  const accounting = reader.object('accountingSettings');
  for (const name of ['accountingMethod', 'interestAccrualCalculation', 'interestAccruedAccountingMethod']) {
    accounting.keepOnly(name, 'NONE');
  }
  requireWith(reader, 'accountingSettings', accounting, 'accountingMethod');
  accounting.keepEmpty('accountingRules');
  const link = reader.object('accountLinkSettings');
  link.keepOnly('enabled', false);
  requireWith(reader, 'accountLinkSettings', link, 'enabled');
  link.keepText('linkableDepositProductKey');
  link.keepChoices('linkedAccountOptions', 'AUTO_LINK_ACCOUNTS', 'AUTO_CREATE_LINKED_ACCOUNTS');
  link.keepOnly('settlementMethod', 'FULL_DUE_AMOUNTS', 'PARTIAL_DUE_AMOUNTS', 'NO_AUTOMATED_TRANSFERS');
  const funding = reader.object('fundingSettings');
  funding.keepOnly('enabled', false);
  funding.keepEmpty('funderInterestCommission', 'organizationInterestCommission');
  funding.keepOnly(
    'funderInterestCommissionAllocationType',
    'PERCENTAGE_OF_LOAN_FUNDING',
    'FIXED_INTEREST_COMMISSIONS',
  );
  funding.keepOnly('lockFundsAtApproval', true, false);
  funding.keepOnly('requiredFunds', 0);
  const security = reader.object('securitySettings');
  security.keepOnly('isCollateralEnabled', false);
  security.keepOnly('isGuarantorsEnabled', false);
  security.keepOnly('requiredGuaranties', 0);
  reader.object('creditArrangementSettings').keepOnly('creditArrangementRequirement', 'OPTIONAL', 'NOT_REQUIRED');
  reader.object('offsetSettings').keepOnly('allowOffset', false);
  const redraw = reader.object('redrawSettings');
  redraw.keepOnly('allowRedraw', false);
  requireWith(reader, 'redrawSettings', redraw, 'allowRedraw');
  reader.object('internalControls').object('fourEyesPrinciple').keepOnly('activeForLoanApproval', false);
}

/** Refuses settings without the field that every response must have in them. */
function requireWith(parent: FieldReader, name: string, settings: FieldReader, field: string): void {
  if (parent.has(name) && settings.names().length > 0 && !settings.has(field)) settings.refuse(field);
}

function readCurrency(reader: FieldReader): Currency {
  const code = reader.require('code', reader.text('code')) ?? '';
  if (code !== '' && !/^[A-Z]{3}$/.test(code)) reader.refuse('code');
  const digits = digitsOfCurrency(code);
  // Both repeat what the code says. A difference would round amounts in another way than the sender expects.
  if ((reader.text('currencyCode') ?? code) !== code) reader.refuse('currencyCode');
  if ((reader.count('digits') ?? digits) !== digits) reader.refuse('digits');
  return { code, digits };
}

function readFee(reader: FieldReader, areFeesTaxed: boolean, newKey: () => string): ProductFee {
  reader.ignore('creationDate', 'lastModifiedDate');
  const encodedKey = reader.encodedKey('encodedKey') ?? newKey();
  const id = reader.text('id') ?? encodedKey;
  // A fee without an id of its own is shown with its key as the id, and a client may send it back like that.
  if (id !== encodedKey && hasEncodedKeyForm(id)) reader.refuse('id');
  reader.keepOnly('interestBearing', false);
  reader.keepEmpty('accountingRules');
  readFeeAmortization(reader.object('amortizationSettings'));
  const taxMethodsAllowed = areFeesTaxed ? ['DEFAULT'] : ['DEFAULT', 'NON_TAXABLE', 'CUSTOM_TAX'];
  reader.object('taxSettings').keepOnly('taxableCalculationMethod', ...taxMethodsAllowed);
  return {
    encodedKey,
    id,
    name: reader.require('name', reader.text('name')) ?? '',
    trigger: reader.require('trigger', reader.choice('trigger', feeTriggers)) ?? 'MANUAL',
    amountCalculationMethod: reader.choice('amountCalculationMethod', feeCalculationMethods) ?? 'FLAT',
    feeApplication: reader.choice('feeApplication', ['REQUIRED', 'OPTIONAL']) ?? 'OPTIONAL',
    state: reader.choice('state', states) ?? 'ACTIVE',
    allocation: readFeeAllocation(reader),
    ...present({ amount: reader.decimal('amount'), percentageAmount: reader.decimal('percentageAmount') }),
  };
}

/** The contract's `scheduleAllocationMethod` and the events' `allocation` are one setting, with a word that differs. */
function readFeeAllocation(reader: FieldReader): ProductFee['allocation'] {
  const method = reader.choice('scheduleAllocationMethod', ['ON_INSTALLMENT', 'NO_ALLOCATION']);
  const own = method === 'ON_INSTALLMENT' ? 'INSTALLMENT' : method;
  const allocation = reader.choice('allocation', ['INSTALLMENT', 'NO_ALLOCATION']);
  if (own !== undefined && allocation !== undefined && own !== allocation) reader.refuse('allocation');
  return own ?? allocation ?? 'INSTALLMENT';
}

/** How the income of a fee is spread over time in a ledger: not at all. */
function readFeeAmortization(reader: FieldReader): void {
  reader.ignore('encodedKey');
  reader.keepOnly('amortizationProfile', 'NONE');
}
