import type { ToggleName } from '../../../src/lending/toggle-names.ts';

export type Json = Record<string, unknown>;

/** A sentence of the specification with a worked example: what is sent, and what is shown and told afterwards. */
export interface Example {
  readonly sentence: string;
  readonly toggles?: Partial<Readonly<Record<ToggleName, boolean>>>;
  readonly holidays?: readonly Json[];
  /** Settings of its product, beside those of the annuity of 1000 over four months. */
  readonly product?: Json;
  /** Commands by type, with their payloads; only the last one may be refused. */
  readonly steps?: readonly (readonly [string, Json])[];
  /** Each command is sent twice under one id. */
  readonly sentTwice?: boolean;
  /** Reason and source of the refusal of the last step. */
  readonly refused?: readonly [string, string | null];
  /** Values by path: `loan`, `schedule`, `balances` and `transactions` are the responses of GET. */
  readonly shows?: Json;
  /** Values by path in the last event of a type. */
  readonly tells?: Readonly<Record<string, Json>>;
  /** Names that the balances do not have. */
  readonly hasNo?: readonly string[];
}

/** A loan with ten thousand fees is paid off in the tests of pay-off. */
const manyFees = 20;

const open = (loan: Json = {}): readonly [string, Json] => [
  'CREATE_LOAN',
  { productTypeKey: 'the product', loanAmount: 1000, ...loan },
];
const approve: readonly [string, Json] = ['CHANGE_STATE', { action: 'APPROVE' }];
const payOut = (details: Json = {}): readonly [string, Json] => ['DISBURSE', { valueDate: '2024-01-15', ...details }];
export const active = (loan: Json = {}, details: Json = {}) => [open(loan), approve, payOut(details)] as const;
export const repay = (amount: number, valueDate: string, further: Json = {}): readonly [string, Json] => [
  'REPAY',
  { amount, valueDate, ...further },
];
export const custom = (...parts: readonly (readonly [string, number])[]): Json => ({
  customPaymentAmounts: parts.map(([customPaymentAmountType, amount]) => ({ customPaymentAmountType, amount })),
});
export const feeOf = (amount: number, further: Json = { installmentNumber: 1 }): readonly [string, Json] => [
  'APPLY_FEE',
  { amount, valueDate: '2024-01-16', ...further },
];

/** A fee that belongs to no installment, and the repayments that can pay it. */
export const withOutsideFee: Json = {
  allowCustomRepaymentAllocation: true,
  feesSettings: {
    allowArbitraryFees: true,
    fees: [
      {
        id: 'outside',
        name: 'Outside the schedule',
        trigger: 'MANUAL',
        feeApplication: 'OPTIONAL',
        scheduleAllocationMethod: 'NO_ALLOCATION',
      },
    ],
  },
};
const outsideFee = feeOf(15, { predefinedFeeKey: 'outside' });

/** The published example of prepayments: 600 are paid when 350 are due. */
export const prepaid = (
  prepaymentRecalculationMethod: string,
  interestCalculationMethod = 'DECLINING_BALANCE',
): Pick<Example, 'product' | 'steps'> => ({
  product: {
    type: 'DYNAMIC_TERM_LOAN',
    interestSettings: {
      interestRate: { defaultValue: 10 },
      interestChargeFrequency: 'ANNUALIZED',
      interestCalculationMethod,
      scheduleInterestDaysCountMethod: 'ACTUAL_DAYS_COUNT',
      daysInYear: 'E30_360',
      accrueLateInterest: true,
    },
    scheduleSettings: { repaymentPeriodUnit: 'MONTHS', numInstallments: { defaultValue: 6 } },
    paymentSettings: { prepaymentSettings: { prepaymentRecalculationMethod } },
  },
  steps: [...active({}, { valueDate: '2017-01-21' }), repay(600, '2017-03-21')],
});
/** The product of {@link prepaid} that says what late payments change. */
const lateBy = (latePaymentsRecalculationMethod: string, accrueLateInterest: boolean): Json => {
  const { product } = prepaid('NO_RECALCULATION');
  const interestSettings = { ...(product?.['interestSettings'] as Json), accrueLateInterest };
  return { ...product, interestSettings, paymentSettings: { latePaymentsRecalculationMethod } };
};
const expectedPrincipal = (...amounts: readonly number[]): Json =>
  Object.fromEntries(amounts.map((amount, index) => [`schedule[${index + 2}].principal.amount.expected`, amount]));

/**
 * Five rows of 200 and, in the first one, 1000 * 6 % * 30/360 = 5.00 of interest. On 20 January the 200 are paid: the
 * row then expects 1000 * 6 % * 19/360 + 800 * 6 % * 11/360 = 3.1667 + 1.4667 = 4.63 of interest.
 */
const paidByPrincipal = (
  principalPaidInstallmentStatus: string,
  ...further: readonly (readonly [string, Json])[]
): Pick<Example, 'product' | 'steps'> => ({
  product: {
    type: 'DYNAMIC_TERM_LOAN',
    allowCustomRepaymentAllocation: true,
    interestSettings: {
      interestRate: { defaultValue: 6 },
      interestChargeFrequency: 'ANNUALIZED',
      interestCalculationMethod: 'DECLINING_BALANCE',
      scheduleInterestDaysCountMethod: 'ACTUAL_DAYS_COUNT',
      daysInYear: 'E30_360',
    },
    scheduleSettings: { repaymentPeriodUnit: 'MONTHS', numInstallments: { defaultValue: 5 } },
    paymentSettings: { prepaymentSettings: { principalPaidInstallmentStatus } },
  },
  steps: [...active({}, { valueDate: '2024-01-01' }), repay(200, '2024-01-20', custom(['PRINCIPAL', 200])), ...further],
});
const firstRow = (state: string, interestPaid: number): Pick<Example, 'shows' | 'tells'> => ({
  shows: {
    'schedule[0].state': state,
    'schedule[0].principal.amount': { expected: 200, paid: 200, due: 0 },
    'schedule[0].interest.amount': { expected: 4.63, paid: interestPaid, due: interestPaid === 0 ? 4.63 : 0 },
    'schedule[1].state': 'PENDING',
  },
  tells: { loan_schedule_changed: { 'changedInstallments[0].state': state } },
});

/** The published example of a first period of 45 days. */
const longFirst = (adjustInterestForFirstInstallment: boolean): Pick<Example, 'product' | 'steps'> => ({
  product: {
    adjustInterestForFirstInstallment,
    interestSettings: {
      interestRate: { defaultValue: 12 },
      interestChargeFrequency: 'ANNUALIZED',
      interestCalculationMethod: 'DECLINING_BALANCE_DISCOUNTED',
      scheduleInterestDaysCountMethod: 'ACTUAL_DAYS_COUNT',
      daysInYear: 'E30_360',
    },
    scheduleSettings: { repaymentPeriodUnit: 'MONTHS', numInstallments: { defaultValue: 12 } },
  },
  steps: active({}, { valueDate: '2024-01-01', firstRepaymentDate: '2024-02-16' }),
});

const penalties = (isOn: boolean): Pick<Example, 'toggles' | 'product' | 'steps'> => ({
  toggles: { fixInstallmentTaxOnPenalty: isOn },
  product: {
    taxSettings: { taxRate: 19, taxCalculationMethod: 'EXCLUSIVE', taxesOnPenaltyEnabled: true },
  },
  steps: [
    ...active(),
    ...[1, 2, 3].map(() => ['APPLY_PENALTY', { amount: 0.13, installmentNumber: 1, valueDate: '2024-01-16' }] as const),
  ],
});

/** The rows of the specification about lending, in its order. */
export const examples: readonly Example[] = [
  {
    sentence: '§2: nonScheduledPrincipalBalanceOverpayment is returned when PRINCIPAL_OVERPAYMENT is enabled',
    toggles: { PRINCIPAL_OVERPAYMENT: true },
    steps: [...active(), ['PRINCIPAL_OVERPAYMENT', { amount: 100, valueDate: '2024-01-15' }]],
    shows: {
      'schedule[0].nonScheduledPrincipalBalanceOverpayment': 100,
      'schedule[1].nonScheduledPrincipalBalanceOverpayment': 0,
      'balances.principalBalance': 900,
    },
    tells: {
      loan_schedule_changed: { 'changedInstallments[0].nonScheduledPrincipalBalanceOverpayment': 100 },
    },
  },
  {
    sentence: '§2: fee fields have their default names while ALLOW_NON_SCHEDULED_FEES is off',
    product: withOutsideFee,
    steps: [...active(), feeOf(50), repay(20, '2024-01-16', custom(['MANUAL_FEE', 20]))],
    shows: { 'balances.feesDue': 30, 'balances.feesBalance': 30, 'balances.feesPaid': 20 },
    tells: { loan_balance_changed: { 'balances.feesBalance': 30 } },
    hasNo: ['scheduledFeesDue', 'scheduledFeesBalance', 'scheduledFeesPaid'],
  },
  {
    sentence: '§2: fee fields are named scheduledFees... when the toggle ALLOW_NON_SCHEDULED_FEES is on',
    toggles: { ALLOW_NON_SCHEDULED_FEES: true },
    product: withOutsideFee,
    steps: [...active(), feeOf(50), outsideFee, repay(20, '2024-01-16', custom(['MANUAL_FEE', 20]))],
    shows: {
      'balances.scheduledFeesDue': 30,
      'balances.scheduledFeesBalance': 30,
      'balances.scheduledFeesPaid': 20,
      'balances.nonScheduledFeeBalance': 15,
      'balances.nonScheduledFeePaidBalance': 0,
    },
    tells: { loan_balance_changed: { 'balances.scheduledFeesBalance': 30 } },
    hasNo: ['feesDue', 'feesBalance', 'feesPaid'],
  },
  {
    sentence: '§2: taxOnPenalty is derived from the overall penaltyDue, under fixInstallmentTaxOnPenalty',
    ...penalties(true),
    shows: { 'schedule[0].penalty.tax.due': 0.07 },
    tells: { loan_schedule_changed: { 'changedInstallments[0].penalty.tax.due': 0.07 } },
  },
  {
    sentence: '§2: taxOnPenalty is the sum of the individual penalty transactions without fixInstallmentTaxOnPenalty',
    ...penalties(false),
    shows: { 'schedule[0].penalty.tax.due': 0.06 },
    tells: { loan_schedule_changed: { 'changedInstallments[0].penalty.tax.due': 0.06 } },
  },
  {
    sentence: '§2: PrepaymentRecalculationMethod NO_RECALCULATION pays the next rows',
    ...prepaid('NO_RECALCULATION'),
    shows: { 'balances.principalBalance': 416.66, ...expectedPrincipal(166.67, 166.67, 166.67, 166.65) },
  },
  {
    sentence: '§2: PrepaymentRecalculationMethod RESCHEDULE_REMAINING_REPAYMENTS lowers the remaining rows',
    ...prepaid('RESCHEDULE_REMAINING_REPAYMENTS'),
    shows: { 'balances.principalBalance': 416.66, ...expectedPrincipal(104.17, 104.17, 104.17, 104.15) },
  },
  ...[
    'RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS',
    'RECALCULATE_SCHEDULE_KEEP_SAME_PRINCIPAL_AMOUNT',
    'REDUCE_AMOUNT_PER_INSTALLMENT',
    'REDUCE_NUMBER_OF_INSTALLMENTS',
    'REDUCE_NUMBER_OF_INSTALLMENTS_NEW',
  ].map((method): Example => ({
    sentence: `§2: PrepaymentRecalculationMethod ${method} redraws the remaining rows`,
    ...prepaid(method, method.startsWith('REDUCE') ? 'DECLINING_BALANCE_DISCOUNTED' : 'DECLINING_BALANCE'),
    shows: { 'balances.principalBalance': 416.66 },
    tells: { loan_balance_changed: { 'balances.principalBalance': 416.66 } },
  })),
  {
    // 200 paid ahead with row 2 leave 472.18, for which three rows of 171.56 are enough: 167.63 and 3.93 in row 3. Then
    // 50 are paid ahead by the method of the product, so that 254.55 are left for two equal rows of 128.87.
    sentence: '§2: PrepaymentRecalculationMethod of a repayment counts for this repayment alone',
    ...prepaid('REDUCE_AMOUNT_PER_INSTALLMENT', 'DECLINING_BALANCE_DISCOUNTED'),
    steps: [
      ...active({}, { valueDate: '2017-01-21' }),
      repay(171.56, '2017-02-21'),
      repay(171.56, '2017-03-21'),
      repay(200, '2017-03-21', { prepaymentRecalculationMethod: 'REDUCE_NUMBER_OF_INSTALLMENTS_NEW' }),
      repay(221.56, '2017-04-21'),
    ],
    shows: {
      'loan.prepaymentSettings.prepaymentRecalculationMethod': 'REDUCE_AMOUNT_PER_INSTALLMENT',
      'transactions[3].prepaymentRecalculationMethod': 'REDUCE_NUMBER_OF_INSTALLMENTS_NEW',
      'schedule.length': 5,
      'schedule[2].interest.amount.expected': 3.93,
      ...expectedPrincipal(217.63, 126.75, 127.8),
      'schedule[3].interest.amount.expected': 2.12,
      'schedule[4].interest.amount.expected': 1.07,
    },
    tells: { loan_transaction_posted: { 'transaction.terms.periodicPayment': 128.87 } },
  },
  {
    // The totals of rows 3 and 4 stay, 166.67 + 5.56 and 166.67 + 4.17: what 416.66 earn in a month leaves
    // 172.23 - 3.47, what 247.90 earn leaves 170.84 - 2.07, and 79.13 are left for row 5.
    sentence:
      '§2: PrepaymentRecalculationMethod RECALCULATE_SCHEDULE_KEEP_SAME_TOTAL_REPAYMENT_AMOUNT keeps the totals of rows',
    ...prepaid('RECALCULATE_SCHEDULE_KEEP_SAME_TOTAL_REPAYMENT_AMOUNT'),
    shows: {
      'balances.principalBalance': 416.66,
      'schedule.length': 5,
      ...expectedPrincipal(168.76, 168.77, 79.13),
      ...Object.fromEntries(
        [3.47, 2.07, 0.66].map((interest, index) => [`schedule[${index + 2}].interest.amount.expected`, interest]),
      ),
    },
    tells: { loan_balance_changed: { 'balances.principalBalance': 416.66 } },
  },
  {
    sentence: '§2: FullDueIsPaid: a row without its interest is PARTIALLY_PAID under principalPaidInstallmentStatus',
    ...paidByPrincipal('PARTIALLY_PAID'),
    ...firstRow('PARTIALLY_PAID', 0),
  },
  {
    sentence: '§2: FullDueIsPaid: the row is PAID once its interest is paid on its due date',
    ...paidByPrincipal('PARTIALLY_PAID', repay(4.63, '2024-02-01')),
    ...firstRow('PAID', 4.63),
  },
  {
    sentence: '§2: FullDueIsPaid: with PAID the row is PAID as soon as its principal is',
    ...paidByPrincipal('PAID'),
    ...firstRow('PAID', 0),
  },
  {
    // Row 2 was to have 833.33 * 10 % / 12 = 6.94; the principal of row 1 is late, so that 1000 earn in its period.
    sentence: '§2: late payments: OVERDUE_INSTALLMENTS_INCREASE adds the interest on what is late to the next row',
    product: {
      ...prepaid('NO_RECALCULATION').product,
      paymentSettings: { latePaymentsRecalculationMethod: 'OVERDUE_INSTALLMENTS_INCREASE' },
    },
    steps: [
      ...active({}, { valueDate: '2017-01-21' }),
      ['APPLY_INTEREST', { interestApplicationDate: '2017-03-21' }],
      repay(350, '2017-03-21'),
    ],
    shows: {
      'schedule[0].interest.amount.expected': 8.33,
      'schedule[1].interest.amount.expected': 8.33,
      'schedule[1].state': 'PAID',
      'schedule[2].interest.amount.expected': 5.56,
      'balances.interestPaid': 16.66,
      'balances.principalPaid': 333.34,
    },
    tells: { loan_balance_changed: { 'balances.interestPaid': 16.66 } },
  },
  {
    // As above, but the 1.39 that the 166.67 of row 1 earn in the period of row 2 join the 1.39 of row 6.
    sentence: '§2: late payments: LAST_INSTALLMENT_INCREASE adds the interest on what is late to the last row',
    product: lateBy('LAST_INSTALLMENT_INCREASE', true),
    steps: [...active({}, { valueDate: '2017-01-21' }), repay(348.61, '2017-03-21')],
    shows: {
      'schedule[0].interest.amount.expected': 8.33,
      'schedule[1].interest.amount.expected': 6.94,
      'schedule[1].state': 'PAID',
      'schedule[2].interest.amount.expected': 5.56,
      'schedule[5].interest.amount.expected': 2.78,
      'balances.interestPaid': 15.27,
      'balances.interestBalance': 1.39,
      'balances.interestDue': 0,
    },
    tells: { loan_balance_changed: { 'balances.interestPaid': 15.27 } },
  },
  {
    sentence: '§2: late payments: NO_RECALCULATION leaves the interest of all rows as it is',
    product: lateBy('NO_RECALCULATION', false),
    steps: [...active({}, { valueDate: '2017-01-21' }), repay(348.61, '2017-03-21')],
    shows: {
      'schedule[0].interest.amount.expected': 8.33,
      'schedule[1].interest.amount.expected': 6.94,
      'schedule[1].state': 'PAID',
      'schedule[2].interest.amount.expected': 5.56,
      'schedule[5].interest.amount.expected': 1.39,
      'balances.interestPaid': 15.27,
      'balances.interestBalance': 0,
    },
    tells: { loan_balance_changed: { 'balances.interestPaid': 15.27 } },
  },
  {
    sentence: '§2: custom repayment option: the parts of a repayment must be the whole of it',
    product: withOutsideFee,
    steps: [...active(), repay(100, '2024-01-16', custom(['INTEREST', 40], ['PRINCIPAL', 50]))],
    refused: ['CUSTOM_PAYMENT_AMOUNT_DIFFERENT_THAN_TOTAL_PAYMENT_AMOUNT', 'customPaymentAmounts'],
  },
  {
    sentence: '§2: custom repayment option: interest alone is paid in full, and nothing else',
    product: withOutsideFee,
    steps: [...active(), repay(100, '2024-02-15', custom(['INTEREST', 100]))],
    shows: {
      'balances.interestPaid': 100,
      'balances.principalPaid': 0,
      'transactions[1].affectedAmounts.interestAmount': 100,
    },
    tells: { loan_balance_changed: { 'balances.interestPaid': 100 } },
  },
  {
    sentence: '§2: the total due of the first repayment is adjusted for its period when the product says so',
    ...longFirst(true),
    shows: { 'schedule[0].principal.amount.expected': 78.85, 'schedule[0].interest.amount.expected': 15 },
    tells: { loan_schedule_changed: { 'changedInstallments[0].principal.amount.expected': 78.85 } },
  },
  {
    sentence: '§2: the total due of the first repayment is that of the others otherwise',
    ...longFirst(false),
    shows: { 'schedule[0].principal.amount.expected': 73.85, 'schedule[0].interest.amount.expected': 15 },
    tells: { loan_schedule_changed: { 'changedInstallments[0].principal.amount.expected': 73.85 } },
  },
  {
    sentence: '§2: allocation: a repayment pays row by row, or by VERTICAL element by element',
    product: {
      type: 'DYNAMIC_TERM_LOAN',
      paymentSettings: {
        paymentMethod: 'VERTICAL',
        repaymentAllocationOrder: ['PENALTY', 'FEE', 'INTEREST', 'PRINCIPAL'],
      },
    },
    steps: [...active(), repay(250, '2024-03-15')],
    shows: { 'balances.interestPaid': 178.45 },
    tells: { loan_balance_changed: { 'balances.interestPaid': 178.45 } },
  },
  {
    sentence: '§2: loan transactions carry LoanTransactionTerms details',
    steps: [...active(), feeOf(5), repay(5, '2024-01-17')],
    shows: Object.fromEntries(
      [0, 1, 2].map((number) => [
        `transactions[${number}].terms`,
        { interestSettings: { interestRate: 10 }, periodicPayment: 315.47 },
      ]),
    ),
    tells: {
      loan_transaction_posted: {
        'transaction.terms': { interestSettings: { interestRate: 10 }, periodicPayment: 315.47 },
      },
    },
  },
  {
    sentence: '§2: non-allocated fees paid are shown',
    toggles: { ALLOW_NON_SCHEDULED_FEES: true },
    product: withOutsideFee,
    steps: [...active(), outsideFee, repay(6, '2024-01-17', custom(['NON_SCHEDULED_FEE', 6]))],
    shows: {
      'balances.nonScheduledFeeBalance': 9,
      'balances.nonScheduledFeePaidBalance': 6,
      'balances.scheduledFeesPaid': 0,
    },
    tells: { loan_balance_changed: { 'balances.nonScheduledFeePaidBalance': 6 } },
  },
  {
    sentence: '§4: GET and search have one body, with the custom field of the disbursement details',
    steps: active({ disbursementDetails: { expectedDisbursementDate: '2024-01-15', _disb: { purpose: 'CAR' } } }),
    shows: { 'loan.disbursementDetails._disb': { purpose: 'CAR' } },
  },
  {
    sentence: '§4: PATCH of a product works when its Payment Interval Method is Fixed Days of Months',
    product: {
      scheduleSettings: {
        scheduleDueDatesMethod: 'FIXED_DAYS_OF_MONTH',
        fixedDaysOfMonth: [1, 15],
        numInstallments: { defaultValue: 4 },
      },
    },
    steps: [
      [
        'PATCH_PRODUCT',
        { operations: [{ op: 'REPLACE', path: '/scheduleSettings/fixedDaysOfMonth', value: [5, 20] }] },
      ],
      ...active(),
    ],
    shows: { 'schedule[0].dueDate': '2024-01-20T00:00:00Z', 'schedule[1].dueDate': '2024-02-05T00:00:00Z' },
  },
  {
    sentence: '§4: PATCH of custom fields of an active account succeeds',
    steps: [...active(), ['UPDATE_LOAN', { operations: [{ op: 'ADD', path: '/_risk/score', value: '7' }] }]],
    shows: { 'loan._risk': { score: '7' } },
    tells: { loan_account_changed: { 'account._risk': { score: '7' } } },
  },
  {
    sentence: '§4: a pay-off handles an account with many applied fees',
    steps: [...active(), ...Array.from({ length: manyFees }, () => feeOf(0.5)), ['PAY_OFF', {}]],
    shows: {
      'loan.accountState': 'CLOSED',
      'loan.accountSubState': 'REPAID',
      'balances.feesPaid': manyFees / 2,
      'balances.feesBalance': 0,
      'balances.principalBalance': 0,
    },
    tells: { loan_balance_changed: { 'balances.feesPaid': manyFees / 2 } },
  },
  {
    sentence: '§7: a repayment amount that exceeds the balance it is meant to reduce is rejected',
    steps: [...active(), repay(1261.89, '2024-01-16')],
    refused: ['EXCESS_REPAYMENT_ERROR', 'amount'],
    shows: { 'balances.principalBalance': 1000 },
  },
  {
    sentence: '§7: a custom part that exceeds the balance it is meant to reduce is rejected',
    product: withOutsideFee,
    steps: [...active(), repay(261.89, '2024-01-16', custom(['INTEREST', 261.89]))],
    refused: ['EXCESS_REPAYMENT_ERROR', 'customPaymentAmounts[0].amount'],
    shows: { 'balances.interestPaid': 0 },
  },
  {
    sentence: '§7: a product without allocation fees and without the custom repayment option gets an explicit error',
    product: { ...withOutsideFee, allowCustomRepaymentAllocation: false },
    refused: ['CUSTOM_PAYMENT_NOT_ALLOWED_BY_PRODUCT', 'feesSettings.fees[0]'],
  },
  {
    sentence: '§7: adjusting a repayment transaction does not fail validation',
    steps: [
      ...active(),
      repay(500, '2024-02-20'),
      ['ADJUST_TRANSACTION', { transactionId: 'the last', notes: 'Wrong' }],
    ],
    shows: { 'balances.principalBalance': 1000, 'balances.principalPaid': 0, 'transactions[2].amount': -500 },
    tells: { loan_balance_changed: { 'balances.principalBalance': 1000 } },
  },
  {
    sentence: '§7: the schedule of a fixed-term loan with a holiday period has no negative principal',
    holidays: [{ name: 'Closed', date: '2024-06-01', isAnnuallyRecurring: false }],
    product: {
      interestSettings: {
        interestRate: { defaultValue: 36 },
        interestChargeFrequency: 'ANNUALIZED',
        interestCalculationMethod: 'DECLINING_BALANCE_DISCOUNTED',
        scheduleInterestDaysCountMethod: 'ACTUAL_DAYS_COUNT',
        daysInYear: 'ACTUAL_365_FIXED',
      },
      scheduleSettings: {
        repaymentPeriodUnit: 'MONTHS',
        numInstallments: { defaultValue: 24 },
        repaymentReschedulingMethod: 'EXTEND_SCHEDULE',
      },
    },
    steps: active({ loanAmount: 10_000 }, { valueDate: '2024-05-01' }),
    shows: {
      'schedule[0].dueDate': '2024-07-01T00:00:00Z',
      'schedule[0].principal.amount.expected': 0,
      'schedule[0].interest.amount.expected': 601.64,
    },
    tells: { loan_schedule_changed: { 'changedInstallments[0].principal.amount.expected': 0 } },
  },
  {
    sentence: '§7: patching a group custom field with an invalid group index is an error',
    steps: [
      ...active({ _cars: [{ brand: 'A' }, { brand: 'B' }] }),
      ['UPDATE_LOAN', { operations: [{ op: 'REPLACE', path: '/_cars/2/brand', value: 'C' }] }],
    ],
    refused: ['INVALID_CUSTOM_FIELD_GROUP_INDEX', '/_cars/2/brand'],
  },
  {
    sentence: '§9: what is sent twice is done once',
    steps: [...active(), feeOf(5), repay(100, '2024-02-15')],
    sentTwice: true,
    shows: { 'balances.feesPaid': 5, 'transactions.length': 3 },
  },
];
