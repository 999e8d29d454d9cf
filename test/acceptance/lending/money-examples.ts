import { type Example, type Json, active, custom, feeOf, prepaid, repay, withOutsideFee } from './examples.ts';

const takenBack: readonly [string, Json] = ['ADJUST_TRANSACTION', { transactionId: 'the last', notes: 'Wrong' }];
/** 1000 over four months at ten percent a month, whose interest is earned from day to day. */
const daily: Json = { type: 'DYNAMIC_TERM_LOAN' };
const replacement: Json = {
  productTypeKey: 'the product',
  scheduleSettings: { repaymentInstallments: 12 },
  disbursementDetails: { firstRepaymentDate: '2090-01-15' },
};
const untouched: Json = { 'loan.accountState': 'ACTIVE', 'balances.principalBalance': 1000 };
const typesOf = (...types: readonly string[]): Json => ({
  'transactions.length': types.length,
  ...Object.fromEntries(types.map((type, index) => [`transactions[${index}].type`, type])),
});
const penaltyOf = (amount: number): readonly [string, Json] => [
  'APPLY_PENALTY',
  { amount, installmentNumber: 1, valueDate: '2024-01-16' },
];
const written: readonly [string, Json] = ['WRITE_OFF', { notes: 'Lost' }];
const locked: readonly [string, Json] = ['LOCK', { lockedOperations: ['APPLY_FEES', 'APPLY_PENALTIES'] }];
const refunded: readonly [string, Json] = [
  'REFUND',
  { amount: 100, valueDate: '2024-01-20', linkedDisbursementKey: 'the first' },
];

/** What the lending API's origin does with money, by its words: each command, and what takes it back. */
export const moneyExamples: readonly Example[] = [
  {
    sentence: 'pay-off: what payOffAdjustableAmounts leave out is forgiven',
    steps: [...active(), feeOf(30), ['PAY_OFF', { payOffAdjustableAmounts: { feesPaid: 10, interestPaid: 61.88 } }]],
    shows: {
      'loan.accountState': 'CLOSED',
      'loan.accountSubState': 'REPAID',
      'balances.feesPaid': 10,
      'balances.interestPaid': 61.88,
      'balances.principalBalance': 0,
      ...typesOf(
        'DISBURSEMENT',
        'FEE_CHARGED',
        'INTEREST_APPLIED',
        'INTEREST_DUE_REDUCED',
        'FEES_DUE_REDUCED',
        'REPAYMENT',
      ),
    },
    tells: { loan_state_changed: { accountState: 'CLOSED', accountSubState: 'REPAID' } },
  },
  {
    sentence: 'pay-off: more fees than are owed are refused',
    steps: [...active(), feeOf(30), ['PAY_OFF', { payOffAdjustableAmounts: { feesPaid: 31 } }]],
    refused: ['PAY_OFF_INVALID_FEES_PAID', 'payOffAdjustableAmounts.feesPaid'],
    shows: { 'balances.feesBalance': 30 },
  },
  {
    // 1000 * 10 % * 15 of the 31 days of the first month.
    sentence: 'apply interest: what was earned up to a day is applied, and owed as before',
    product: daily,
    steps: [...active(), ['APPLY_INTEREST', { interestApplicationDate: '2024-01-30' }]],
    shows: { 'transactions[1].amount': 48.39, 'balances.interestBalance': 48.39, 'balances.interestDue': 0 },
    tells: { loan_transaction_posted: { 'transaction.type': 'INTEREST_APPLIED', 'transaction.amount': 48.39 } },
  },
  {
    sentence: 'apply interest: adjusting it takes it back',
    product: daily,
    steps: [...active(), ['APPLY_INTEREST', { interestApplicationDate: '2024-01-30' }], takenBack],
    shows: {
      'balances.interestBalance': 0,
      ...typesOf('DISBURSEMENT', 'INTEREST_APPLIED', 'INTEREST_APPLIED_ADJUSTMENT'),
    },
  },
  {
    sentence: 'write off: nothing is owed any more, and the account is closed',
    steps: [...active(), written],
    shows: {
      'loan.accountState': 'CLOSED',
      'loan.accountSubState': 'WRITTEN_OFF',
      'balances.principalBalance': 0,
      'balances.principalPaid': 0,
      ...typesOf('DISBURSEMENT', 'WRITE_OFF'),
    },
    tells: { loan_balance_changed: { 'balances.principalBalance': 0 } },
  },
  {
    sentence: 'write off: its undoing opens the account as it was',
    steps: [...active(), written, ['UNDO_WRITE_OFF', {}]],
    shows: { ...untouched, ...typesOf('DISBURSEMENT', 'WRITE_OFF', 'WRITE_OFF_ADJUSTMENT') },
    tells: { loan_balance_changed: { 'balances.principalBalance': 1000 } },
  },
  {
    sentence: 'lock: what is locked is shown, and refused',
    steps: [...active(), locked, ['APPLY_FEE', { amount: 5, installmentNumber: 1 }]],
    refused: ['INVALID_ACCOUNT_STATE', 'loanAccountId'],
    shows: {
      'loan.accountSubState': 'LOCKED',
      'loan.lockedOperations': ['APPLY_FEES', 'APPLY_PENALTIES'],
      ...typesOf('DISBURSEMENT', 'FEE_LOCKED', 'PENALTY_LOCKED'),
    },
  },
  {
    sentence: 'unlock: every lock ends, with a transaction for each',
    steps: [...active(), locked, ['UNLOCK', {}]],
    shows: {
      ...untouched,
      ...typesOf('DISBURSEMENT', 'FEE_LOCKED', 'PENALTY_LOCKED', 'FEE_UNLOCKED', 'PENALTY_UNLOCKED'),
    },
  },
  {
    sentence: 'reductions of fees: a part of them is forgiven',
    steps: [...active(), feeOf(30), ['REDUCE_FEES', { amount: 20, valueDate: '2024-01-17' }]],
    shows: { 'balances.feesBalance': 10, 'balances.feesPaid': 0, 'transactions[2].type': 'FEES_DUE_REDUCED' },
    tells: { loan_balance_changed: { 'balances.feesBalance': 10 } },
  },
  {
    sentence: 'reductions of penalties: a part of them is forgiven',
    steps: [...active(), penaltyOf(30), ['REDUCE_PENALTIES', { amount: 20, valueDate: '2024-01-17' }]],
    shows: { 'balances.penaltyBalance': 10, 'transactions[2].type': 'PENALTIES_DUE_REDUCED' },
    tells: { loan_balance_changed: { 'balances.penaltyBalance': 10 } },
  },
  {
    sentence: 'reductions of interest: a part of it is forgiven, and adjusting that takes it back',
    steps: [...active(), ['REDUCE_INTEREST', { amount: 61.88, valueDate: '2024-01-17' }], takenBack],
    shows: { 'balances.interestBalance': 261.88, 'transactions[1].type': 'INTEREST_DUE_REDUCED' },
    tells: { loan_balance_changed: { 'balances.interestBalance': 261.88 } },
  },
  {
    sentence: 'reductions: more than is owed is refused',
    steps: [...active(), feeOf(30), ['REDUCE_FEES', { amount: 30.01, valueDate: '2024-01-17' }]],
    refused: ['INVALID_AMOUNT', 'amount'],
    shows: { 'balances.feesBalance': 30 },
  },
  {
    sentence: 'refunds: principal goes back to the lender',
    steps: [...active(), refunded],
    shows: { 'balances.principalBalance': 900, 'transactions[1].type': 'REFUND' },
    tells: { loan_balance_changed: { 'balances.principalBalance': 900 } },
  },
  {
    sentence: 'refunds: adjusting one takes it back',
    steps: [...active(), refunded, takenBack],
    shows: untouched,
    tells: { loan_balance_changed: { 'balances.principalBalance': 1000 } },
  },
  {
    sentence: 'close: an account that still owes something is not closed by hand',
    steps: [...active(), ['CHANGE_STATE', { action: 'CLOSE' }]],
    refused: ['INVALID_STATE_TRANSITION', 'action'],
    shows: untouched,
  },
  {
    sentence: 'close and reopen: an account that is paid is opened again, and closed by hand',
    steps: [
      ...active(),
      ['PAY_OFF', {}],
      ['CHANGE_STATE', { action: 'UNDO_CLOSE' }],
      ['CHANGE_STATE', { action: 'CLOSE' }],
    ],
    shows: { 'loan.accountState': 'CLOSED', 'loan.accountSubState': 'REPAID', 'balances.principalBalance': 0 },
  },
  {
    sentence: 'reschedule: another account takes over what is owed',
    steps: [...active(), ['RESCHEDULE', { loanAccount: replacement, writeOffAmounts: { principal: 100 } }]],
    shows: {
      'loan.accountState': 'CLOSED',
      'loan.accountSubState': 'RESCHEDULED',
      'balances.principalBalance': 0,
      ...typesOf('DISBURSEMENT', 'INTEREST_APPLIED', 'WRITE_OFF', 'TRANSFER'),
      'transactions[2].amount': 100,
    },
  },
  {
    sentence: 'reschedule: its undoing opens the account as it was',
    steps: [...active(), ['RESCHEDULE', { loanAccount: replacement }], ['UNDO_RESCHEDULE', {}]],
    shows: untouched,
  },
  {
    sentence: 'refinance: another account takes over what is owed and lends more',
    steps: [...active(), ['REFINANCE', { loanAccount: replacement, topUpAmount: 500 }]],
    shows: { 'loan.accountState': 'CLOSED', 'loan.accountSubState': 'REFINANCED', 'balances.principalBalance': 0 },
  },
  {
    sentence: 'refinance: its undoing opens the account as it was',
    steps: [...active(), ['REFINANCE', { loanAccount: replacement, topUpAmount: 500 }], ['UNDO_REFINANCE', {}]],
    shows: untouched,
  },
  {
    sentence: 'terminate: one installment asks for all that is owed',
    product: daily,
    steps: [...active(), ['TERMINATE', { valueDate: '2024-01-20' }]],
    shows: {
      'loan.accountSubState': 'TERMINATED',
      'schedule.length': 1,
      'schedule[0].dueDate': '2024-01-20T00:00:00Z',
      'schedule[0].principal.amount.due': 1000,
    },
  },
  {
    sentence: 'terminate: adjusting it brings the installments back',
    product: daily,
    steps: [...active(), ['TERMINATE', { valueDate: '2024-01-20' }], takenBack],
    shows: { ...untouched, 'schedule.length': 4, 'schedule[0].dueDate': '2024-02-15T00:00:00Z' },
  },
  {
    sentence: 'target installments: a repayment pays the installment that it names, and no other',
    steps: [...active(), repay(100, '2024-01-20', { installmentEncodedKey: 'row 3' })],
    shows: {
      'schedule[0].interest.amount.paid': 0,
      'schedule[2].interest.amount.paid': 54.75,
      'schedule[2].principal.amount.paid': 45.25,
      'schedule[2].state': 'PARTIALLY_PAID',
    },
  },
  {
    sentence: 'backdated entries: what followed is posted again behind an entry dated before it',
    steps: [...active(), repay(400, '2024-03-15'), repay(315.47, '2024-02-15')],
    shows: {
      ...typesOf('DISBURSEMENT', 'REPAYMENT', 'REPAYMENT_ADJUSTMENT', 'REPAYMENT', 'REPAYMENT'),
      'schedule[0].lastPaidDate': '2024-02-15T00:00:00Z',
      'schedule[0].state': 'PAID',
      'schedule[1].lastPaidDate': '2024-03-15T00:00:00Z',
      'schedule[1].state': 'PAID',
    },
  },
  {
    // Three rows of 166.67 follow the 600 that pay rows 1 to 3 in part: 168.76 and 3.47 instead of 166.67 and 5.56.
    sentence: 'elementsRecalculationMethod TOTAL_EXPECTED_FIXED keeps the total of a row whose interest drops',
    product: {
      ...prepaid('NO_RECALCULATION').product,
      paymentSettings: {
        prepaymentSettings: {
          prepaymentRecalculationMethod: 'NO_RECALCULATION',
          elementsRecalculationMethod: 'TOTAL_EXPECTED_FIXED',
        },
      },
    },
    steps: prepaid('NO_RECALCULATION').steps ?? [],
    shows: {
      'schedule[2].principal.amount.expected': 168.76,
      'schedule[2].interest.amount.expected': 3.47,
    },
  },
  {
    sentence: 'applyInterestOnPrepaymentMethod MANUAL pays before the due date only interest that was applied',
    product: {
      ...prepaid('NO_RECALCULATION').product,
      paymentSettings: { prepaymentSettings: { applyInterestOnPrepaymentMethod: 'MANUAL' } },
    },
    steps: [...active({}, { valueDate: '2017-01-21' }), repay(100, '2017-02-05')],
    shows: { 'balances.principalPaid': 100, 'balances.interestPaid': 0 },
  },
  {
    sentence: 'futurePaymentsAcceptance: a repayment dated ahead waits for its day, and changes nothing until then',
    product: {
      paymentSettings: { prepaymentSettings: { futurePaymentsAcceptance: 'ACCEPT_FUTURE_PAYMENTS' } },
    },
    steps: [...active(), repay(315.47, '2090-01-15')],
    shows: {
      ...untouched,
      'loan.futurePayments[0].amount': 315.47,
      'loan.futurePayments[0].valueDate': '2090-01-15T00:00:00Z',
    },
    tells: { loan_account_changed: { 'account.futurePayments[0].amount': 315.47 } },
  },
  {
    sentence: 'futurePaymentsAcceptance: a repayment dated ahead is refused by default',
    steps: [...active(), repay(315.47, '2090-01-15')],
    refused: ['REPAYMENT_DATE_IN_THE_FUTURE_ERROR', 'valueDate'],
    shows: untouched,
  },
  {
    sentence: 'fees applied on due dates are expected by their installment, and owed from its due date on',
    product: {
      ...daily,
      feesSettings: {
        fees: [
          {
            id: 'service',
            name: 'Service',
            trigger: 'PAYMENT_DUE_APPLIED_ON_DUE_DATES',
            feeApplication: 'REQUIRED',
            amountCalculationMethod: 'FLAT',
            amount: 5,
          },
        ],
      },
    },
    steps: [...active(), ['APPLY_INTEREST', { interestApplicationDate: '2024-02-15' }]],
    shows: { 'balances.feesBalance': 5, 'balances.feesDue': 5, 'schedule[1].fee.amount.expectedUnapplied': 5 },
  },
  {
    sentence: 'late fees: a fee for a late repayment joins the installment that is late',
    product: {
      feesSettings: {
        fees: [{ id: 'late', name: 'Late', trigger: 'LATE_REPAYMENT', feeApplication: 'OPTIONAL', amount: 7 }],
      },
    },
    steps: [...active(), ['APPLY_FEE', { predefinedFeeKey: 'late', installmentNumber: 1, valueDate: '2024-02-16' }]],
    shows: { 'schedule[0].fee.amount.expected': 7, 'balances.feesDue': 7 },
    tells: { loan_balance_changed: { 'balances.feesBalance': 7 } },
  },
  {
    sentence: 'late fees: none for an installment that is not late yet',
    product: {
      feesSettings: {
        fees: [{ id: 'late', name: 'Late', trigger: 'LATE_REPAYMENT', feeApplication: 'OPTIONAL', amount: 7 }],
      },
    },
    steps: [...active(), ['APPLY_FEE', { predefinedFeeKey: 'late', installmentNumber: 1, valueDate: '2024-02-15' }]],
    refused: ['INVALID_DATE', 'valueDate'],
    shows: { 'balances.feesBalance': 0 },
  },
  {
    sentence: 'LoanTransactionTerms of the first transaction, which activates the account and charges a fee',
    product: {
      feesSettings: {
        fees: [
          {
            id: 'opening',
            name: 'Opening',
            trigger: 'UPFRONT_DISBURSEMENT',
            feeApplication: 'REQUIRED',
            amountCalculationMethod: 'FLAT',
            amount: 20,
          },
        ],
      },
    },
    steps: active(),
    shows: {
      'transactions.length': 1,
      'transactions[0].fees[0].amount': 20,
      'transactions[0].terms': { interestSettings: { interestRate: 10 }, periodicPayment: 315.47 },
    },
    tells: {
      loan_transaction_posted: {
        'transaction.terms': { interestSettings: { interestRate: 10 }, periodicPayment: 315.47 },
      },
    },
  },
  {
    sentence: 'a fee before the disbursement activates no fixed or dynamic loan, and is refused',
    product: withOutsideFee,
    steps: [...active().slice(0, 2), feeOf(5)],
    refused: ['INVALID_ACCOUNT_STATE', 'loanAccountId'],
    shows: { 'loan.accountState': 'APPROVED', 'transactions.length': 0 },
  },
  {
    sentence: 'adjusting needs no notes, other than in the original',
    steps: [...active(), repay(100, '2024-02-15'), ['ADJUST_TRANSACTION', { transactionId: 'the last' }]],
    shows: { ...untouched, ...typesOf('DISBURSEMENT', 'REPAYMENT', 'REPAYMENT_ADJUSTMENT') },
  },
  {
    sentence: 'a custom part pays interest that is earned and not applied yet, and no cent more',
    product: { ...daily, allowCustomRepaymentAllocation: true },
    steps: [
      ...active(),
      repay(48.39, '2024-01-30', custom(['INTEREST', 48.39])),
      repay(0.01, '2024-01-30', custom(['INTEREST', 0.01])),
    ],
    refused: ['EXCESS_REPAYMENT_ERROR', 'customPaymentAmounts[0].amount'],
    shows: { 'balances.interestPaid': 48.39, 'balances.principalPaid': 0 },
  },
];
