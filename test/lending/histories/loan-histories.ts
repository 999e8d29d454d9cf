import { accountOf } from '../../../src/lending/views/accounts.ts';
import { accrueTo } from '../../../src/lending/accrual.ts';
import { figuresOf } from '../../../src/lending/balances.ts';
import type { LoanEvent } from '../../../src/lending/events.ts';
import { scheduleOf } from '../../../src/lending/views/schedules.ts';
import { Decimal } from '../../../src/lending/money.ts';
import type { LoanProduct } from '../../../src/lending/products/product.ts';
import { transactionView } from '../../../src/lending/views/transactions.ts';
import {
  adjust,
  applyFee,
  applyInterest,
  applyPenalty,
  approve,
  type AskedCommand,
  create,
  disburse,
  dynamicProduct,
  fee,
  loanOf,
  lock,
  money,
  nothingYet,
  overpay,
  payOff,
  product,
  reasons,
  reduce,
  repay,
  type Story,
  under,
  undoWriteOff,
  unlock,
  when,
  writeOff,
} from '../loan-fixtures.ts';
import type { Toggles } from '../../../src/lending/toggle-names.ts';

/** A loan from its first command to its last. */
export interface History {
  readonly title: string;
  readonly toggles?: Partial<Toggles>;
  readonly commands: readonly (AskedCommand | ((story: Story) => AskedCommand))[];
}

const change = (action: 'REQUEST_APPROVAL' | 'REJECT' | 'UNDO_REJECT' | 'UNDO_APPROVE'): AskedCommand => ({
  type: 'CHANGE_STATE',
  action,
});

const custom = (
  parts: readonly (readonly [string, number, string?])[],
  date: string,
  more: object = {},
): AskedCommand =>
  repay(
    parts.reduce((sum, [, amount]) => sum + amount, 0),
    date,
    {
      customPaymentAmounts: parts.map(([customPaymentAmountType, amount, predefinedFeeKey]) => ({
        customPaymentAmountType,
        amount: money(amount),
        ...(predefinedFeeKey === undefined ? {} : { predefinedFeeKey }),
      })),
      ...more,
    },
  );

/** Pays everything that is due on that day, except fees outside of the installments. */
function repayAll(valueDate: string): (story: Story) => AskedCommand {
  return (story) => {
    const loan = loanOf(story);
    return repay(figuresOf(loan, accrueTo(loan, loan.position, valueDate)).total, valueDate);
  };
}

const taxed = {
  taxRate: money(19),
  taxesOnInterestEnabled: true,
  taxesOnFeesEnabled: true,
  taxesOnPenaltyEnabled: true,
};

const feesOfEachKind = [
  fee({
    id: 'deducted',
    trigger: 'DISBURSEMENT',
    amountCalculationMethod: 'LOAN_AMOUNT_PERCENTAGE',
    percentageAmount: money(2),
    feeApplication: 'REQUIRED',
  }),
  fee({ id: 'capitalised', trigger: 'CAPITALIZED_DISBURSEMENT', amount: money(15), feeApplication: 'REQUIRED' }),
  fee({ id: 'upfront', trigger: 'UPFRONT_DISBURSEMENT', amount: money('7.77'), feeApplication: 'REQUIRED' }),
  fee({
    id: 'each',
    trigger: 'PAYMENT_DUE',
    amountCalculationMethod: 'FLAT_NUMBER_OF_INSTALLMENTS',
    amount: money(60),
    feeApplication: 'REQUIRED',
  }),
  fee({
    id: 'share',
    trigger: 'PAYMENT_DUE',
    amountCalculationMethod: 'REPAYMENT_PRINCIPAL_AMOUNT_PERCENTAGE',
    percentageAmount: money('1.5'),
    feeApplication: 'REQUIRED',
  }),
  fee({ id: 'manual', amount: money('3.33') }),
  fee({ id: 'outside', allocation: 'NO_ALLOCATION' }),
];

/** The same payments on a loan whose installments are recalculated by each of the methods. */
function paidAhead(method: LoanProduct['paymentSettings']['prepaymentSettings']['prepaymentRecalculationMethod']) {
  const isShares = method === 'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT';
  const interestCalculationMethod = isShares ? 'DECLINING_BALANCE' : 'DECLINING_BALANCE_DISCOUNTED';
  const loanProduct = dynamicProduct({
    interestSettings: { interestCalculationMethod, daysInYear: 'ACTUAL_365_FIXED' },
    paymentSettings: {
      amortizationMethod: 'OPTIMIZED_PAYMENTS',
      prepaymentSettings: { prepaymentRecalculationMethod: method },
    },
    taxSettings: { ...taxed, taxCalculationMethod: 'EXCLUSIVE' },
    feesSettings: { fees: feesOfEachKind },
  });
  return {
    title: `a dynamic loan paid ahead in the middle of a period, with ${method}`,
    commands: [
      create(loanProduct, 1000),
      approve,
      disburse('2011-01-23'),
      repay(300, '2011-02-10'),
      repay('55.55', '2011-03-01', {
        prepaymentRecalculationMethod: 'NO_RECALCULATION',
        notes: 'late',
        externalId: 'x-1',
        bookingDate: '2011-03-02',
      }),
      repay(250, '2011-04-10'),
      adjust(4),
      repay(120, '2011-04-23'),
      applyPenalty('4.44', { valueDate: '2011-05-01' }),
      repay(2000, '2011-05-02'),
      repayAll('2011-05-10'),
      adjust(8),
    ],
  };
}

/** A loan with taxes of which principal is overpaid in the middle of a period, before, at and after due dates. */
function overpaid(loanProduct: LoanProduct): History {
  return {
    title: `a loan of which principal is overpaid: ${loanProduct.name}`,
    toggles: { PRINCIPAL_OVERPAYMENT: true },
    commands: [
      create(loanProduct, 10_000),
      approve,
      disburse('2011-01-23'),
      overpay(1_500, '2011-02-08'),
      repay(100, '2011-02-09'),
      overpay(700, '2011-02-23'),
      overpay(900, '2011-03-10'),
      adjust(4),
      overpay(250, '2011-04-11'),
      repayAll('2011-04-30'),
    ],
  };
}

const overpayable = {
  taxSettings: { ...taxed, taxCalculationMethod: 'EXCLUSIVE' },
  paymentSettings: { amortizationMethod: 'OPTIMIZED_PAYMENTS' },
} as const;

export const histories: readonly History[] = [
  {
    title: 'a fixed loan with fees of each kind and taxes in the amounts',
    commands: [
      create(
        product({
          feesSettings: { fees: feesOfEachKind },
          taxSettings: { ...taxed, taxCalculationMethod: 'INCLUSIVE' },
          newAccountSettings: { accountInitialState: 'PARTIAL_APPLICATION' },
        }),
        1200,
      ),
      change('REQUEST_APPROVAL'),
      approve,
      change('UNDO_APPROVE'),
      approve,
      disburse('2011-01-31'),
      applyFee('3.33', { predefinedFeeKey: 'manual', installmentNumber: 3, valueDate: '2011-02-01' }),
      applyFee('12.34', { installmentNumber: 2, valueDate: '2011-02-01', notes: 'as agreed' }),
      applyPenalty('5.67', { installmentNumber: 1, valueDate: '2011-03-01' }),
      repay('33.33', '2011-03-02'),
      repay('400', '2011-03-31'),
      adjust(6),
      adjust(5),
      custom(
        [
          ['INTEREST', 20],
          ['PRINCIPAL', 100],
        ],
        '2011-04-01',
      ),
      custom(
        [
          ['PENALTY', 1],
          ['MANUAL_FEE', 2],
          ['PAYMENT_DUE_FEE', 3],
          ['UPFRONT_DISBURSEMENT_FEE', 4],
        ],
        '2011-04-02',
      ),
      adjust(3),
      repay('1000000', '2011-04-03'),
      adjust(10),
      adjust(9),
      adjust(4),
      adjust(3),
      adjust(2),
      adjust(1),
    ],
  },
  {
    title: 'a loan with all that its opening can say',
    commands: [
      {
        type: 'CREATE_LOAN',
        product: product({ adjustInterestForFirstInstallment: true }),
        loanAmount: money('2500.50'),
        loanName: 'House',
        accountHolderKey: 'b'.repeat(32),
        accountHolderType: 'GROUP',
        interestRate: money('1.25'),
        repaymentInstallments: 5,
        repaymentPeriodCount: 2,
        principalRepaymentInterval: 1,
        firstRepaymentDueDateOffset: 3,
        expectedDisbursementDate: '2011-02-14',
        firstRepaymentDate: '2011-05-02',
        penaltyRate: money('0.5'),
        notes: 'first',
      },
      change('REJECT'),
      change('UNDO_REJECT'),
      approve,
      {
        type: 'DISBURSE',
        valueDate: '2011-02-15',
        bookingDate: '2011-02-16',
        firstRepaymentDate: '2011-05-03',
        externalId: 'd-1',
        notes: 'paid out',
        transactionDetails: { transactionChannelId: 'cash', transactionChannelKey: 'c'.repeat(32) },
        fees: [],
      },
      repay(100, '2011-03-01'),
    ],
  },
  {
    title: 'a loan by weeks on which nothing was paid yet',
    commands: [
      create(
        product({
          interestSettings: {
            interestRate: { defaultValue: money('0.35') },
            interestChargeFrequency: 'EVERY_WEEK',
            interestType: 'COMPOUNDING_INTEREST',
          },
          scheduleSettings: {
            repaymentPeriodUnit: 'WEEKS',
            defaultRepaymentPeriodCount: 2,
            numInstallments: { defaultValue: 6 },
          },
        }),
        '777.77',
      ),
      approve,
      disburse('2011-03-03'),
    ],
  },
  {
    title: 'a loan on fixed days of months too short for them, first interest alone',
    commands: [
      create(
        product({
          interestSettings: {
            interestCalculationMethod: 'DECLINING_BALANCE',
            daysInYear: 'ACTUAL_ACTUAL_ISDA',
            interestChargeFrequency: 'ANNUALIZED',
            interestRate: { defaultValue: money('7.5') },
          },
          scheduleSettings: {
            scheduleDueDatesMethod: 'FIXED_DAYS_OF_MONTH',
            fixedDaysOfMonth: [1, 15, 30],
            shortMonthHandlingMethod: 'FIRST_DAY_OF_NEXT_MONTH',
            numInstallments: { defaultValue: 9 },
            firstRepaymentDueDateOffset: { defaultValue: 2 },
            defaultPrincipalRepaymentInterval: 2,
          },
          gracePeriodSettings: { gracePeriodType: 'PAY_INTEREST_ONLY', gracePeriod: { defaultValue: 3 } },
        }),
        5000,
      ),
      approve,
      disburse('2011-12-20'),
      repay(600, '2012-02-29'),
      repay(2000, '2012-03-15'),
      repayAll('2012-04-30'),
    ],
  },
  {
    title: 'a loan in whole units at a flat rate, the remainder in its last installment',
    toggles: { ALLOW_NON_SCHEDULED_FEES: true, fixInstallmentTaxOnPenalty: true },
    commands: [
      create(
        product({
          interestSettings: { interestCalculationMethod: 'FLAT', interestChargeFrequency: 'EVERY_FOUR_WEEKS' },
          scheduleSettings: {
            roundingSettings: {
              repaymentCurrencyRounding: 'ROUND_UP_TO_NEAREST_WHOLE_UNIT',
              repaymentElementsRoundingMethod: 'ROUND_ALL',
              roundingRepaymentScheduleMethod: 'ROUND_PRINCIPAL_AND_INTEREST_REMAINDER_INTO_LAST_REPAYMENT',
            },
          },
          taxSettings: { ...taxed, taxCalculationMethod: 'EXCLUSIVE' },
          feesSettings: { fees: feesOfEachKind },
        }),
        '1234.56',
      ),
      approve,
      disburse('2011-01-23'),
      applyFee(20, { predefinedFeeKey: 'outside', valueDate: '2011-02-01' }),
      applyPenalty(7, { installmentNumber: 2, valueDate: '2011-02-02' }),
      custom(
        [
          ['NON_SCHEDULED_FEE', 5],
          ['INTEREST', 10],
        ],
        '2011-02-03',
      ),
      repay(500, '2011-03-23'),
      adjust(5),
      repay(3000, '2011-06-01'),
      repayAll('2011-06-01'),
      custom([['NON_SCHEDULED_FEE', 18.8]], '2011-06-02'),
      adjust(8),
    ],
  },
  overpaid(product({ ...overpayable, name: 'fixed, level payments' })),
  overpaid(
    product({ ...overpayable, name: 'fixed, flat interest', interestSettings: { interestCalculationMethod: 'FLAT' } }),
  ),
  ...(['RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS', 'REDUCE_NUMBER_OF_INSTALLMENTS_NEW'] as const).map((method) =>
    overpaid(
      dynamicProduct({
        ...overpayable,
        name: `dynamic, ${method}`,
        interestSettings: { interestCalculationMethod: 'DECLINING_BALANCE_DISCOUNTED', daysInYear: 'ACTUAL_360' },
        paymentSettings: {
          ...overpayable.paymentSettings,
          prepaymentSettings: { prepaymentRecalculationMethod: method },
        },
      }),
    ),
  ),
  paidAhead('NO_RECALCULATION'),
  paidAhead('RESCHEDULE_REMAINING_REPAYMENTS'),
  paidAhead('RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS'),
  paidAhead('RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT'),
  paidAhead('REDUCE_AMOUNT_PER_INSTALLMENT'),
  paidAhead('REDUCE_NUMBER_OF_INSTALLMENTS_NEW'),
  {
    title: 'a dynamic loan paid late, whose overdue principal earns nothing, with principal overpaid',
    toggles: { PRINCIPAL_OVERPAYMENT: true },
    commands: [
      create(dynamicProduct({ interestSettings: { accrueLateInterest: false } })),
      approve,
      disburse('2011-01-23'),
      repay(50, '2011-03-10'),
      overpay(200, '2011-03-20', { prepaymentRecalculationMethod: 'RESCHEDULE_REMAINING_REPAYMENTS' }),
      overpay(100, '2011-04-23'),
      adjust(4),
      repay(100, '2011-05-24'),
      repayAll('2011-05-30'),
    ],
  },
  ...[product(), dynamicProduct({ taxSettings: { ...taxed, taxCalculationMethod: 'EXCLUSIVE' } })].map(
    (loanProduct): History => ({
      title: `a loan whose interest is applied as it falls due: ${loanProduct.type}`,
      commands: [
        create(loanProduct),
        approve,
        disburse('2011-01-23'),
        applyInterest('2011-02-10'),
        applyInterest('2011-02-23'),
        repay(100, '2011-03-10'),
        applyInterest('2011-03-23'),
        applyInterest('2011-03-23'),
        applyInterest('2011-04-30'),
        (story) => adjust(story.transactions.length),
        (story) => applyInterest(story.loan?.position.asOf ?? ''),
        repayAll('2011-05-10'),
        applyInterest('2011-05-11'),
      ],
    }),
  ),
  ...[product, dynamicProduct].map((made): History => {
    const loanProduct = made({
      taxSettings: { ...taxed, taxCalculationMethod: 'EXCLUSIVE' },
      feesSettings: { fees: feesOfEachKind },
    });
    const named = loanProduct.type === 'FIXED_TERM_LOAN' ? { installmentNumber: 3 } : {};
    return {
      title: `a loan that is forgiven in parts, written off and paid off: ${loanProduct.type}`,
      toggles: { ALLOW_NON_SCHEDULED_FEES: true },
      commands: [
        create(loanProduct),
        approve,
        disburse('2011-01-23'),
        applyFee('10.01', { ...named, valueDate: '2011-02-10' }),
        applyFee(20, { predefinedFeeKey: 'outside', valueDate: '2011-02-10' }),
        applyPenalty('5.05', { valueDate: '2011-02-10' }),
        reduce('REDUCE_INTEREST', '0.5', '2011-02-20', { installmentNumber: 1 }),
        reduce('REDUCE_FEES', '5.55', '2011-02-20'),
        reduce('REDUCE_PENALTIES', '1.01', '2011-02-20', { installmentNumber: 1 }),
        repay(50, '2011-02-25'),
        writeOff('2011-03-10'),
        undoWriteOff,
        undoWriteOff,
        payOff('2011-03-10', { interestPaid: money('1.11'), feesPaid: money(0), nonScheduledFeeAmount: money('4.5') }),
        (story) => adjust(story.transactions.length),
        (story) => adjust(story.transactions.length - 2),
        payOff('2011-03-10'),
      ],
    };
  }),
  {
    title: 'a dynamic loan that is locked, repaid, unlocked, closed and opened again',
    commands: [
      create(dynamicProduct({ feesSettings: { fees: feesOfEachKind } })),
      approve,
      disburse('2011-01-23'),
      lock('2011-02-10', 'APPLY_INTEREST', 'APPLY_FEES'),
      lock('2011-02-12'),
      applyPenalty(5, { valueDate: '2011-02-12' }),
      applyFee(5, { valueDate: '2011-02-12' }),
      applyInterest('2011-02-12'),
      repay(100, '2011-03-01'),
      unlock('2011-03-10'),
      unlock('2011-03-10'),
      (story) => adjust(story.transactions.length),
      (story) => adjust(story.transactions.length),
      (story) => unlock(story.loan?.position.asOf ?? ''),
      { type: 'CHANGE_STATE', action: 'CLOSE' },
      payOff('2011-03-20'),
      { type: 'CHANGE_STATE', action: 'UNDO_CLOSE' },
      { type: 'CHANGE_STATE', action: 'CLOSE' },
      (story) => adjust(story.transactions.length),
      { type: 'CHANGE_STATE', action: 'UNDO_CLOSE' },
      (story) => adjust(story.transactions.length),
    ],
  },
];

/** The state after each command. */
export function storiesOf({ toggles = {}, commands }: History): Story[] {
  let story = under(toggles);
  return commands.map((command) => (story = when(story, typeof command === 'function' ? command(story) : command)));
}

/** The result of a history: what each command changed, then the account, its installments and transactions. */
export function linesOf(history: History): string[] {
  const lines = [`# ${history.title}`];
  let earlier = 0;
  let story = nothingYet;
  for (story of storiesOf(history)) {
    lines.push(`${story.outcome ?? ''} ${reasons(story).join(', ')}`.trimEnd());
    if (earlier === 0) lines.push(`  due ${dueDatesOf(story).join(' ')}`);
    lines.push(...story.events.slice(earlier).map((event) => `  ${lineOf(event)}`));
    earlier = story.events.length;
  }
  const loan = loanOf(story);
  const { installments, ...schedule } = scheduleOf(loan, story.toggles);
  return [
    ...lines,
    `account ${textOf(accountOf(loan))}`,
    `schedule ${textOf(schedule)}`,
    ...installments.map((row) => `installment ${textOf(row)}`),
    ...story.transactions.map((transaction) => `transaction ${textOf(transactionView(loan, transaction))}`),
  ];
}

function dueDatesOf(story: Story): string[] {
  return scheduleOf(loanOf(story), story.toggles).installments.map(({ dueDate }) => dueDate.slice(0, 10));
}

/** An event in short, without what the account, the installments and the transactions show at the end. */
function lineOf(event: LoanEvent): string {
  switch (event.eventType) {
    case 'loan_transaction_posted': {
      const { amount, affectedAmounts, taxes } = event.transaction;
      return `${event.sequence} ${event.name} ${textOf({ amount, affectedAmounts, taxes })}`;
    }
    case 'loan_fee_event': {
      const { feeEvent, adjusts, feeName, amount, tax, installmentNumber, balances } = event;
      return `${event.sequence} fee ${textOf({ feeEvent, adjusts, feeName, amount, tax, installmentNumber, balances })}`;
    }
    case 'loan_balance_changed':
      return `${event.sequence} balances ${event.changes.map(({ type, amount }) => `${type} ${amount.toFixed(2)}`).join(' ')}`;
    case 'loan_schedule_changed': {
      const { reason, scheduleVersion, changedInstallments, removedInstallmentKeys, summary } = event;
      const changed = changedInstallments.map(({ number }) => number).join(' ');
      const rest = { changed, removed: removedInstallmentKeys.length, ...summary };
      return `${event.sequence} schedule ${scheduleVersion} ${reason} ${textOf(rest)}`;
    }
    case 'loan_account_changed':
      return `${event.sequence} account ${textOf({ account: event.account })}`;
    case 'loan_state_changed':
      break;
  }
  const { name, accountState, accountSubState, previousAccountState, previousAccountSubState } = event;
  const states = { accountState, accountSubState, previousAccountState, previousAccountSubState };
  return `${event.sequence} ${name} ${textOf(states)}`;
}

/** JSON in which amounts are texts with all digits; fields that are null or zero are left out. */
function textOf(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, name, written: unknown) {
    const original = name === '' ? value : this[name];
    if (original instanceof Decimal) return original.isZero() ? undefined : original.toFixed();
    return written ?? undefined;
  });
}
