import * as fc from 'fast-check';
import {
  type ElementsRecalculationMethod,
  type PrepaymentRecalculationMethod,
  elementsRecalculationMethods,
  interestOnPrepaymentMethods,
  latePaymentsRecalculationMethods,
  prepaymentRecalculationMethods,
} from '../../src/lending/payment-options.ts';
import { addDays } from '../../src/lending/dates.ts';
import { figuresOf } from '../../src/lending/balances.ts';
import { accrueTo } from '../../src/lending/accrual.ts';
import { fitsProduct } from '../../src/lending/prepayment.ts';
import type { WorkingCalendar } from '../../src/lending/organization.ts';
import type { LoanProduct } from '../../src/lending/products/product.ts';
import type { Toggles } from '../../src/lending/toggle-names.ts';
import { act, undoOfReplacement } from './commands/agreements/replacements.ts';
import {
  type AskedCommand,
  type Story,
  applyFee,
  applyInterest,
  applyPenalty,
  approve,
  withCalendar,
  create,
  dynamicProduct,
  fee,
  loanOf,
  lock,
  money,
  overpay,
  payOff,
  reduce,
  product,
  refund,
  repay,
  terminate,
  under,
  undoWriteOff,
  unlock,
  when,
  writeOff,
} from './loan-fixtures.ts';

export const anyToggles: fc.Arbitrary<Toggles> = fc.record({
  ALLOW_NON_SCHEDULED_FEES: fc.boolean(),
  PRINCIPAL_OVERPAYMENT: fc.boolean(),
  fixInstallmentTaxOnPenalty: fc.boolean(),
});

const fees = [
  fee({
    id: 'deducted',
    trigger: 'DISBURSEMENT',
    amountCalculationMethod: 'LOAN_AMOUNT_PERCENTAGE',
    percentageAmount: money(2),
  }),
  fee({ id: 'capitalised', trigger: 'CAPITALIZED_DISBURSEMENT', amount: money(15) }),
  fee({ id: 'upfront', trigger: 'UPFRONT_DISBURSEMENT', amount: money('7.77') }),
  fee({
    id: 'each',
    trigger: 'PAYMENT_DUE',
    amountCalculationMethod: 'FLAT_NUMBER_OF_INSTALLMENTS',
    amount: money(10),
  }),
  fee({ id: 'manual', amount: money('3.33') }),
  fee({ id: 'outside', allocation: 'NO_ALLOCATION' }),
];

export const anyProduct: fc.Arbitrary<LoanProduct> = fc
  .record({
    isDynamic: fc.boolean(),
    interestCalculationMethod: fc.constantFrom('FLAT', 'DECLINING_BALANCE', 'DECLINING_BALANCE_DISCOUNTED'),
    daysInYear: fc.constantFrom('ACTUAL_365_FIXED', 'ACTUAL_360', 'ACTUAL_ACTUAL_ISDA', 'E30_360'),
    count: fc.constantFrom('REPAYMENT_PERIODICITY', 'ACTUAL_DAYS_COUNT'),
    rate: fc.integer({ min: 0, max: 4000 }),
    accrueLateInterest: fc.boolean(),
    accrueInterestAfterMaturity: fc.constantFrom(false, false, true),
    late: fc.constantFrom(...latePaymentsRecalculationMethods),
    installments: fc.integer({ min: 1, max: 9 }),
    grace: fc.integer({ min: 0, max: 2 }),
    interval: fc.integer({ min: 1, max: 2 }),
    unit: fc.constantFrom('WEEKS', 'MONTHS'),
    amortizationMethod: fc.constantFrom('STANDARD_PAYMENTS', 'OPTIMIZED_PAYMENTS'),
    wholeUnits: fc.constantFrom('NO_ROUNDING', 'ROUND_ALL', 'PAYMENT_DUE'),
    isVertical: fc.boolean(),
    elements: fc.constantFrom(...elementsRecalculationMethods),
    applied: fc.constantFrom(...interestOnPrepaymentMethods),
    thresholdDays: fc.constantFrom(0, 20, 40),
    order: fc.shuffledSubarray(['FEE', 'PENALTY', 'INTEREST', 'PRINCIPAL'] as const, { minLength: 4 }),
    method: fc.constantFrom(...prepaymentRecalculationMethods),
    taxRate: fc.constantFrom(0, 16, 19, '7.5'),
    taxCalculationMethod: fc.constantFrom('INCLUSIVE', 'EXCLUSIVE'),
    taxed: fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()),
    remainder: fc.constantFrom(
      'ROUND_REMAINDER_INTO_LAST_REPAYMENT',
      'ROUND_PRINCIPAL_AND_INTEREST_REMAINDER_INTO_LAST_REPAYMENT',
    ),
    adjustsFirst: fc.boolean(),
    charged: fc.subarray(fees),
    rescheduling: fc.constantFrom('NONE', 'NONE', 'NEXT_WORKING_DAY', 'PREVIOUS_WORKING_DAY', 'EXTEND_SCHEDULE'),
    dormancyPeriodDays: fc.constantFrom(0, 0, 20, 400),
    futurePaymentsAcceptance: fc.constantFrom('NO_FUTURE_PAYMENTS', 'ACCEPT_FUTURE_PAYMENTS', 'ACCEPT_OVERPAYMENTS'),
  })
  .map((drawn) => {
    const installments = Math.max(drawn.installments, drawn.interval);
    const gracePeriod = Math.min(drawn.grace, installments - 1);
    const isFlat = drawn.interestCalculationMethod === 'FLAT';
    const settings = {
      adjustInterestForFirstInstallment: drawn.adjustsFirst,
      interestSettings: {
        interestRate: { defaultValue: money(drawn.rate).dividedBy(100) },
        interestChargeFrequency: 'ANNUALIZED',
        interestCalculationMethod: isFlat && drawn.isDynamic ? 'DECLINING_BALANCE' : drawn.interestCalculationMethod,
        daysInYear: drawn.daysInYear,
        scheduleInterestDaysCountMethod: drawn.count,
        accrueLateInterest: drawn.accrueLateInterest,
        ...(drawn.isDynamic && drawn.accrueInterestAfterMaturity ? { accrueInterestAfterMaturity: true } : {}),
        ...(drawn.isDynamic && drawn.thresholdDays > 0
          ? { pmtAdjustmentThreshold: { method: 'CALENDAR_DAYS', numberOfDays: drawn.thresholdDays } }
          : {}),
      },
      scheduleSettings: {
        repaymentPeriodUnit: drawn.unit,
        numInstallments: { defaultValue: installments },
        defaultPrincipalRepaymentInterval: drawn.interval,
        ...(drawn.rescheduling === 'NONE' ? {} : { repaymentReschedulingMethod: drawn.rescheduling }),
        roundingSettings: {
          repaymentCurrencyRounding: drawn.wholeUnits === 'NO_ROUNDING' ? 'NO_ROUNDING' : 'ROUND_TO_NEAREST_WHOLE_UNIT',
          repaymentElementsRoundingMethod: drawn.wholeUnits,
          roundingRepaymentScheduleMethod: drawn.remainder,
        },
      },
      gracePeriodSettings: {
        gracePeriodType: gracePeriod === 0 ? 'NONE' : 'PAY_INTEREST_ONLY',
        gracePeriod: { defaultValue: gracePeriod },
      },
      paymentSettings: {
        amortizationMethod: drawn.amortizationMethod,
        paymentMethod: drawn.isVertical && drawn.isDynamic ? 'VERTICAL' : 'HORIZONTAL',
        repaymentAllocationOrder: drawn.order,
        ...(drawn.late === (drawn.accrueLateInterest ? 'LAST_INSTALLMENT_INCREASE' : 'NO_RECALCULATION') &&
        (drawn.isDynamic || drawn.late === 'NO_RECALCULATION')
          ? { latePaymentsRecalculationMethod: drawn.late }
          : {}),
        ...(drawn.isDynamic
          ? {
              prepaymentSettings: {
                elementsRecalculationMethod: drawn.elements,
                applyInterestOnPrepaymentMethod: drawn.applied,
              },
            }
          : {}),
      },
      feesSettings: {
        fees: fees.map((known) => (drawn.charged.includes(known) ? { ...known, feeApplication: 'REQUIRED' } : known)),
      },
      taxSettings: {
        taxRate: money(drawn.taxRate),
        taxCalculationMethod: drawn.taxCalculationMethod,
        taxesOnInterestEnabled: drawn.taxed[0],
        taxesOnFeesEnabled: drawn.taxed[1],
        taxesOnPenaltyEnabled: drawn.taxed[2],
      },
      additionalFields: {
        paymentSettings: { prepaymentSettings: { futurePaymentsAcceptance: drawn.futurePaymentsAcceptance } },
      },
      ...(drawn.dormancyPeriodDays === 0 ? {} : { internalControls: { dormancyPeriodDays: drawn.dormancyPeriodDays } }),
    };
    const made = drawn.isDynamic ? dynamicProduct(settings) : product(settings);
    return withMethod(made, drawn.method);
  });

/** The product with that recalculation method, or with none where it is not allowed. */
export function withMethod(
  loanProduct: LoanProduct,
  method: PrepaymentRecalculationMethod,
  elementsRecalculationMethod?: ElementsRecalculationMethod,
): LoanProduct {
  const { paymentSettings } = loanProduct;
  const elements = elementsRecalculationMethod === undefined ? {} : { elementsRecalculationMethod };
  const prepaymentRecalculationMethod = fitsProduct(method, loanProduct) ? method : 'NO_RECALCULATION';
  return {
    ...loanProduct,
    paymentSettings: {
      ...paymentSettings,
      prepaymentSettings: { ...paymentSettings.prepaymentSettings, prepaymentRecalculationMethod, ...elements },
    },
  };
}

const stepKinds = [
  'repay',
  'repayAll',
  'repayAhead',
  'overpay',
  'fee',
  'feeOutside',
  'penalty',
  'applyInterest',
  'payOff',
  'reduceInterest',
  'reduceFees',
  'reducePenalties',
  'writeOff',
  'lock',
  'refund',
  'terminate',
  'replace',
  'adjust',
  'custom',
  'update',
  'toggle',
] as const;

/** The next step, described so that it can be generated before the loan is known. */
export interface Step {
  readonly kind: (typeof stepKinds)[number];
  /** Hundredths of the payable amount, or of the charged amount. */
  readonly share: number;
  readonly daysLater: number;
  readonly installment: number;
  readonly toggles: Toggles;
  /** The product of an account that replaces another one; null for the same. */
  readonly product: LoanProduct | null;
}

export const anyStep: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('repay', 'repay', 'adjust', 'replace', 'replace', ...stepKinds),
  share: fc.integer({ min: 1, max: 100 }),
  /** A few entries are dated before others. */
  daysLater: fc.integer({ min: -9, max: 45 }),
  installment: fc.integer({ min: 1, max: 9 }),
  toggles: anyToggles,
  product: fc.option(anyProduct),
});

/** The command of a step for this loan in its current state; null when it only switches toggles. */
export function commandOf(story: Story, step: Step): AskedCommand | null {
  const loan = loanOf(story);
  const { position } = loan;
  const asOf = position.asOf ?? '2011-01-23';
  const valueDate = addDays(asOf, step.daysLater);
  const isBackdated = position.asOf === null || step.daysLater < 0;
  const accrued = isBackdated ? position : accrueTo(loan, position, valueDate);
  const figures = figuresOf(loan, accrued);
  const partOf = (amount: ReturnType<typeof money>): ReturnType<typeof money> =>
    amount.times(step.share).dividedBy(100).toDecimalPlaces(2);
  const target = loan.product.type === 'FIXED_TERM_LOAN' ? { installmentNumber: step.installment } : {};
  switch (step.kind) {
    case 'repay':
      return repay(partOf(figures.total), valueDate);
    case 'repayAll':
      return repay(figures.total, valueDate);
    case 'repayAhead': {
      const ahead = addDays(asOf, Math.abs(step.daysLater) + 1);
      return repay(partOf(figures.total), ahead, { receivedAt: Date.parse(`${asOf}T12:00:00Z`) });
    }
    case 'overpay':
      return overpay(partOf(figures.principal.balance), valueDate);
    case 'fee':
      return applyFee(money(step.share).dividedBy(7).toDecimalPlaces(2), { ...target, valueDate });
    case 'feeOutside':
      return applyFee(step.share, { predefinedFeeKey: 'outside', valueDate });
    case 'penalty':
      return applyPenalty(money(step.share).dividedBy(9).toDecimalPlaces(2), { ...target, valueDate });
    case 'applyInterest':
      return applyInterest(valueDate);
    case 'payOff':
      return payOff(valueDate, {
        interestPaid: partOf(figures.interest.balance),
        ...(step.installment < 5 ? { feesPaid: partOf(figures.fees.balance) } : {}),
        ...(step.installment < 3 ? { nonScheduledFeeAmount: partOf(figures.nonScheduledFees.balance) } : {}),
        ...(step.installment > 3 ? { penaltyPaid: partOf(figures.penalty.balance) } : {}),
      });
    case 'reduceInterest':
      return reduce('REDUCE_INTEREST', partOf(figures.interest.balance), valueDate);
    case 'reduceFees':
      return reduce('REDUCE_FEES', partOf(figuresOf(loan).fees.balance), valueDate);
    case 'reducePenalties':
      return reduce('REDUCE_PENALTIES', partOf(figures.penalty.balance), valueDate);
    case 'writeOff':
      return position.accountSubState === 'WRITTEN_OFF' ? undoWriteOff : writeOff(valueDate);
    case 'lock': {
      const operation = (['APPLY_INTEREST', 'APPLY_FEES', 'APPLY_PENALTIES'] as const)[step.installment % 4];
      const isLocked = position.lockedOperations.length > 0;
      return isLocked ? unlock(valueDate) : lock(valueDate, ...(operation === undefined ? [] : [operation]));
    }
    case 'refund':
      return refund(partOf(figures.principal.balance), valueDate, position.disbursements[0]?.transactionKey);
    case 'terminate':
      return terminate(valueDate);
    case 'replace':
      return {
        type: step.installment < 5 ? 'RESCHEDULE' : 'REFINANCE',
        newAccountId: `L${story.others.length + 2}`,
        valueDate,
        product: step.product ?? loan.product,
        account: step.installment % 2 === 0 ? {} : { firstRepaymentDate: addDays(valueDate, step.share) },
        topUpAmount: money(step.installment < 5 ? 0 : step.share),
        writeOffAmounts:
          step.installment % 3 > 0
            ? {}
            : {
                principal: partOf(figures.principal.balance),
                interest: partOf(figures.interest.balance),
                fee: partOf(figures.fees.balance.plus(figures.nonScheduledFees.balance)),
                penalty: partOf(figures.penalty.balance),
              },
      };
    case 'adjust': {
      const undoing = undoOfReplacement(story);
      if (undoing !== null) return undoing;
      const waiting = loan.futurePayments?.at(-1);
      if (waiting !== undefined && step.share > 50) {
        return { type: 'ADJUST_TRANSACTION', transactionId: waiting.transactionKey };
      }
      const last = story.transactions.findLast(({ type, undo }) => undo !== null && type !== 'DUE_DATE_CHANGED');
      return { type: 'ADJUST_TRANSACTION', transactionId: last?.encodedKey ?? 'none' };
    }
    case 'update': {
      const { loanAmount, loanName, additionalFields } = loan;
      const named = { ...(loanName === null ? {} : { loanName }), additionalFields, notes: `${step.share}` };
      return { type: 'UPDATE_LOAN', requested: { loanAmount, ...named } };
    }
    case 'custom': {
      const outside = partOf(figures.nonScheduledFees.balance);
      const interest = partOf(figures.interest.balance);
      const principal = partOf(figures.principal.balance);
      const parts = [
        { customPaymentAmountType: 'NON_SCHEDULED_FEE', amount: outside },
        { customPaymentAmountType: 'INTEREST', amount: interest },
        { customPaymentAmountType: 'PRINCIPAL', amount: principal },
      ].filter(({ amount }) => amount.greaterThan(0));
      return repay(outside.plus(interest).plus(principal), valueDate, { customPaymentAmounts: parts });
    }
    case 'toggle':
      break;
  }
  return null;
}

/** The story after a step. */
export function walk(story: Story, step: Step): Story {
  if (step.kind === 'toggle') return under(step.toggles, story);
  const command = commandOf(story, step);
  return command === null ? story : act(story, command);
}

/** Closed at weekends, on one day of each year, and for seven weeks from March 2011 on. */
export const weekendsAndSpring: WorkingCalendar = {
  nonWorkingDays: ['SATURDAY', 'SUNDAY'],
  holidays: Array.from({ length: 50 }, (_, index) => ({
    id: index + 1,
    name: 'Closed',
    date: addDays('2011-03-01', index),
    isAnnuallyRecurring: index === 0,
  })),
};

/** Closed on other days of the week, and for some weeks of each spring. */
export const mondaysAndSpring: WorkingCalendar = {
  nonWorkingDays: ['MONDAY', 'WEDNESDAY'],
  holidays: Array.from({ length: 20 }, (_, index) => ({
    id: index + 1,
    name: 'Closed',
    date: addDays('2011-02-15', index),
    isAnnuallyRecurring: true,
  })),
};

/** The story of a generated product, disbursed on 2011-01-23, under generated toggles. */
export const anyStart: fc.Arbitrary<Story> = fc
  .record({ product: anyProduct, amount: fc.integer({ min: 2000, max: 500_000 }), toggles: anyToggles })
  .map(({ product: drawn, amount, toggles }) => {
    const opened = when(withCalendar(weekendsAndSpring, under(toggles)), create(drawn, money(amount).dividedBy(100)));
    return when(when(opened, approve), { type: 'DISBURSE', valueDate: '2011-01-23', fees: [] });
  });

export const anySteps: fc.Arbitrary<readonly Step[]> = fc.array(anyStep, { maxLength: 9 });
