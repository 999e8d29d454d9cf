import { type PaymentMethod, paymentMethods } from '../../lending/payment-options.ts';
import type { ProductChanges } from '../../lending/commands.ts';
import { type Currency, zero } from '../../lending/money.ts';
import { loanProductTypes } from '../../lending/products/product-behaviour.ts';
import type { AllocationElement, LoanProduct, ProductFee } from '../../lending/products/product.ts';
import { boundedCount, boundedDecimal } from './bounded-values.ts';
import { digitsOfCurrency } from './currency-digits.ts';
import { type FieldReader, present } from './field-reader.ts';
import { readArrearsSettings, readPenaltySettings } from './lateness-payload.ts';
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

/**
 * A requested product, with defaults for the fields that were left out. Only the form is checked here; the lending
 * rules decide whether the settings fit together.
 * @param newKey Makes the encodedKeys that the sender did not choose.
 */
export function readProduct(
  reader: FieldReader,
  loanProductId: string,
  newKey: (purpose: string) => string,
): LoanProduct {
  reader.ignore('creationDate', 'lastModifiedDate');
  const id = reader.text('id');
  if ((id !== undefined && id !== loanProductId) || hasEncodedKeyForm(loanProductId)) reader.refuse('id');
  const interest = reader.object('interestSettings');
  const schedule = reader.object('scheduleSettings');
  const rounding = schedule.object('roundingSettings');
  const grace = reader.object('gracePeriodSettings');
  const payment = reader.object('paymentSettings');
  const fees = reader.object('feesSettings');
  const tax = reader.object('taxSettings');
  const order = payment.choices('repaymentAllocationOrder', allocationElements) ?? [...allocationElements];
  if (order.length !== allocationElements.length) payment.refuse('repaymentAllocationOrder');
  const fixedDaysOfMonth = schedule.counts('fixedDaysOfMonth') ?? [];
  return {
    encodedKey: reader.encodedKey('encodedKey') ?? newKey('product'),
    id: loanProductId,
    name: reader.require('name', reader.text('name')) ?? '',
    type: reader.require('type', reader.choice('type', loanProductTypes)) ?? 'FIXED_TERM_LOAN',
    state: reader.choice('state', states) ?? 'ACTIVE',
    currency: readCurrency(reader.object('currency')),
    loanAmountSettings: { loanAmount: boundedDecimal(reader.object('loanAmountSettings').object('loanAmount')) },
    interestSettings: {
      interestRate: boundedDecimal(interest.object('interestRate')),
      interestChargeFrequency: interest.choice('interestChargeFrequency', interestChargeFrequencies) ?? 'ANNUALIZED',
      interestChargeFrequencyCount: interest.count('interestChargeFrequencyCount') ?? 1,
      interestType: interest.choice('interestType', interestTypes) ?? 'SIMPLE_INTEREST',
      interestCalculationMethod:
        interest.choice('interestCalculationMethod', interestCalculationMethods) ?? 'DECLINING_BALANCE_DISCOUNTED',
      daysInYear: interest.choice('daysInYear', daysInYear) ?? 'ACTUAL_365_FIXED',
      scheduleInterestDaysCountMethod:
        interest.choice('scheduleInterestDaysCountMethod', interestDaysCountMethods) ?? 'ACTUAL_DAYS_COUNT',
      accrueLateInterest: interest.flag('accrueLateInterest') ?? false,
      ...present({ pmtAdjustmentThreshold: readPaymentThreshold(interest) }),
    },
    adjustInterestForFirstInstallment: reader.flag('adjustInterestForFirstInstallment') ?? false,
    scheduleSettings: {
      scheduleDueDatesMethod: schedule.choice('scheduleDueDatesMethod', dueDatesMethods) ?? 'INTERVAL',
      repaymentPeriodUnit: schedule.choice('repaymentPeriodUnit', periodUnits) ?? 'MONTHS',
      defaultRepaymentPeriodCount: schedule.count('defaultRepaymentPeriodCount') ?? 1,
      fixedDaysOfMonth,
      ...present({ shortMonthHandlingMethod: schedule.choice('shortMonthHandlingMethod', shortMonthHandlings) }),
      numInstallments: boundedCount(schedule.object('numInstallments')),
      firstRepaymentDueDateOffset: boundedCount(schedule.object('firstRepaymentDueDateOffset')),
      defaultPrincipalRepaymentInterval: schedule.count('defaultPrincipalRepaymentInterval') ?? 1,
      roundingSettings: {
        roundingMode: rounding.choice('roundingMode', roundingModes) ?? 'HALF_UP',
        repaymentCurrencyRounding: rounding.choice('repaymentCurrencyRounding', currencyRoundings) ?? 'NO_ROUNDING',
        repaymentElementsRoundingMethod:
          rounding.choice('repaymentElementsRoundingMethod', elementsRoundings) ?? 'NO_ROUNDING',
        roundingRepaymentScheduleMethod:
          rounding.choice('roundingRepaymentScheduleMethod', scheduleRoundings) ??
          'ROUND_REMAINDER_INTO_LAST_REPAYMENT',
      },
    },
    gracePeriodSettings: {
      gracePeriodType: grace.choice('gracePeriodType', gracePeriodTypes) ?? 'NONE',
      gracePeriod: boundedCount(grace.object('gracePeriod')),
    },
    paymentSettings: {
      amortizationMethod: payment.choice('amortizationMethod', amortizationMethods) ?? 'STANDARD_PAYMENTS',
      paymentMethod: payment.choice<PaymentMethod>('paymentMethod', paymentMethods) ?? 'HORIZONTAL',
      repaymentAllocationOrder: order,
      prepaymentSettings: readPrepaymentSettings(payment.object('prepaymentSettings')),
    },
    feesSettings: {
      allowArbitraryFees: fees.flag('allowArbitraryFees') ?? false,
      fees: fees.objects('fees').map((fee, index) => readFee(fee, () => newKey(`fee ${index}`))),
    },
    taxSettings: {
      taxRate: tax.decimal('taxRate') ?? zero,
      taxCalculationMethod: tax.choice('taxCalculationMethod', taxMethods) ?? 'INCLUSIVE',
      taxesOnInterestEnabled: tax.flag('taxesOnInterestEnabled') ?? false,
      taxesOnFeesEnabled: tax.flag('taxesOnFeesEnabled') ?? false,
      taxesOnPenaltyEnabled: tax.flag('taxesOnPenaltyEnabled') ?? false,
    },
    newAccountSettings: {
      accountInitialState:
        reader.object('newAccountSettings').choice('accountInitialState', initialStates) ?? 'PENDING_APPROVAL',
    },
    allowCustomRepaymentAllocation: reader.flag('allowCustomRepaymentAllocation') ?? false,
    ...present({
      notes: reader.notes('notes'),
      arrearsSettings: readArrearsSettings(reader),
      penaltySettings: readPenaltySettings(reader),
    }),
  };
}

/** The changes of a product. At least one is required. */
export function readUpdateProduct(reader: FieldReader): ProductChanges {
  const changes = present({
    state: reader.choice('state', states),
    name: reader.text('name'),
    notes: reader.notes('notes'),
  });
  if (!['state', 'name', 'notes'].some((name) => reader.has(name))) reader.refuse('payload');
  return changes;
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

function readFee(reader: FieldReader, newKey: () => string): ProductFee {
  const encodedKey = reader.encodedKey('encodedKey') ?? newKey();
  const id = reader.text('id') ?? encodedKey;
  // A fee without an id of its own is shown with its key as the id, and a client may send it back like that.
  if (id !== encodedKey && hasEncodedKeyForm(id)) reader.refuse('id');
  return {
    encodedKey,
    id,
    name: reader.require('name', reader.text('name')) ?? '',
    trigger: reader.require('trigger', reader.choice('trigger', feeTriggers)) ?? 'MANUAL',
    amountCalculationMethod: reader.choice('amountCalculationMethod', feeCalculationMethods) ?? 'FLAT',
    feeApplication: reader.choice('feeApplication', ['REQUIRED', 'OPTIONAL']) ?? 'OPTIONAL',
    state: reader.choice('state', states) ?? 'ACTIVE',
    allocation: reader.choice('allocation', ['INSTALLMENT', 'NO_ALLOCATION']) ?? 'INSTALLMENT',
    ...present({ amount: reader.decimal('amount'), percentageAmount: reader.decimal('percentageAmount') }),
  };
}
