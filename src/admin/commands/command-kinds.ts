/** The commands for loans, with an example of each. */

/** What the example of a command is made from. */
export interface LoanFacts {
  readonly state: string;
  /** Decimals as texts. */
  readonly amountDue: string;
  readonly today: string;
  /** The product of the loan. */
  readonly productTypeKey: string;
  /** The transaction to act on; empty while there is none. */
  readonly transactionKey: string;
  readonly disbursementKey: string;
}

export interface CommandKind {
  readonly type: string;
  readonly title: string;
  /** What it does, in a sentence. */
  readonly effect: string;
  /** In which states and substates of a loan it is usual. */
  readonly usualIn: readonly string[];
  /** A payload, as JSON. */
  readonly example: (facts: LoanFacts) => string;
}

const applications = ['PARTIAL_APPLICATION', 'PENDING_APPROVAL'];
const running = ['ACTIVE', 'ACTIVE_IN_ARREARS'];
const nothing = (): string => '{}';

/** In the order in which a loan usually gets them. */
export const loanCommandKinds: readonly CommandKind[] = [
  {
    type: 'CHANGE_STATE',
    title: 'Change state',
    effect: 'Approves, rejects, withdraws or closes the loan, or undoes that.',
    usualIn: applications,
    example: ({ state }) => `{"action": "${stateActions[state] ?? 'CLOSE'}"}`,
  },
  {
    type: 'UPDATE_LOAN',
    title: 'Change terms',
    effect: 'Changes fields of the loan with a JSON Patch, or replaces them with a whole account.',
    usualIn: applications,
    example: () => '{"operations": [{"op": "REPLACE", "path": "/loanName", "value": "Another name"}]}',
  },
  {
    type: 'DELETE_LOAN',
    title: 'Delete',
    effect: 'Deletes a loan that was never paid out.',
    usualIn: [],
    example: nothing,
  },
  {
    type: 'DISBURSE',
    title: 'Disburse',
    effect: 'Pays the loan out and makes its schedule.',
    usualIn: ['APPROVED'],
    example: nothing,
  },
  {
    type: 'REPAY',
    title: 'Repay',
    effect: 'Takes a payment, which is allocated to what is due.',
    usualIn: running,
    example: ({ amountDue }) => `{"amount": ${amountDue}}`,
  },
  {
    type: 'APPLY_FEE',
    title: 'Charge a fee',
    effect: 'Adds a fee to an installment.',
    usualIn: running,
    example: () => '{"amount": 10.00, "installmentNumber": 1}',
  },
  {
    type: 'APPLY_PENALTY',
    title: 'Charge a penalty',
    effect: 'Adds a penalty to an installment.',
    usualIn: ['ACTIVE_IN_ARREARS'],
    example: () => '{"amount": 5.00, "installmentNumber": 1}',
  },
  {
    type: 'ADJUST_TRANSACTION',
    title: 'Undo a transaction',
    effect: 'Reverses a transaction, and those that depend on it.',
    usualIn: running,
    example: ({ transactionKey }) =>
      `{"transactionId": ${JSON.stringify(transactionKey)}, "notes": "entered by mistake"}`,
  },
  {
    type: 'PAY_OFF',
    title: 'Pay off',
    effect: 'Takes everything that is outstanding and closes the loan.',
    usualIn: running,
    example: nothing,
  },
  {
    type: 'PRINCIPAL_OVERPAYMENT',
    title: 'Overpay principal',
    effect: 'Takes a payment for principal that is not due yet.',
    usualIn: [],
    example: () => '{"amount": 10.00}',
  },
  {
    type: 'APPLY_INTEREST',
    title: 'Apply interest',
    effect: 'Makes accrued interest due.',
    usualIn: [],
    example: ({ today }) => `{"interestApplicationDate": "${today}"}`,
  },
  {
    type: 'REDUCE_INTEREST',
    title: 'Reduce interest',
    effect: 'Forgives interest of an installment.',
    usualIn: [],
    example: () => '{"amount": 1.00, "installmentNumber": 1}',
  },
  {
    type: 'REDUCE_FEES',
    title: 'Reduce fees',
    effect: 'Forgives fees of an installment.',
    usualIn: [],
    example: () => '{"amount": 1.00, "installmentNumber": 1}',
  },
  {
    type: 'REDUCE_PENALTIES',
    title: 'Reduce penalties',
    effect: 'Forgives penalties of an installment.',
    usualIn: [],
    example: () => '{"amount": 1.00, "installmentNumber": 1}',
  },
  {
    type: 'REFUND',
    title: 'Refund',
    effect: 'Takes back a part of a disbursement.',
    usualIn: [],
    example: ({ disbursementKey }) => `{"amount": 10.00, "linkedDisbursementKey": ${JSON.stringify(disbursementKey)}}`,
  },
  {
    type: 'LOCK',
    title: 'Lock',
    effect: 'Stops interest, fees and penalties.',
    usualIn: ['ACTIVE_IN_ARREARS'],
    example: nothing,
  },
  { type: 'UNLOCK', title: 'Unlock', effect: 'Lets them be charged again.', usualIn: [], example: nothing },
  {
    type: 'RECALCULATE_DUE_DATES',
    title: 'Recalculate due dates',
    effect: 'Moves due dates that fall on holidays.',
    usualIn: [],
    example: nothing,
  },
  {
    type: 'ERASE_PERSONAL_DATA',
    title: 'Erase personal data',
    effect: 'Removes names, notes and personal fields for good.',
    usualIn: [],
    example: nothing,
  },
  {
    type: 'TERMINATE',
    title: 'Terminate',
    effect: 'Makes everything outstanding due on a day.',
    usualIn: [],
    example: ({ today }) => `{"valueDate": "${today}"}`,
  },
  {
    type: 'WRITE_OFF',
    title: 'Write off',
    effect: 'Closes the loan with a loss.',
    usualIn: ['ACTIVE_IN_ARREARS'],
    example: nothing,
  },
  {
    type: 'UNDO_WRITE_OFF',
    title: 'Undo the write-off',
    effect: 'Opens the loan again.',
    usualIn: ['WRITTEN_OFF'],
    example: nothing,
  },
  {
    type: 'RESCHEDULE',
    title: 'Reschedule',
    effect: 'Continues the loan as a new account with other terms.',
    usualIn: [],
    example: (facts) => `{"loanAccount": ${newTerms(facts)}}`,
  },
  {
    type: 'UNDO_RESCHEDULE',
    title: 'Undo the rescheduling',
    effect: 'Goes back to the account that this one continues.',
    usualIn: [],
    example: nothing,
  },
  {
    type: 'REFINANCE',
    title: 'Refinance',
    effect: 'Continues the loan as a new account with more principal.',
    usualIn: [],
    example: (facts) => `{"topUpAmount": 100.00, "loanAccount": ${newTerms(facts)}}`,
  },
  {
    type: 'UNDO_REFINANCE',
    title: 'Undo the refinancing',
    effect: 'Goes back to the account that this one continues.',
    usualIn: [],
    example: nothing,
  },
  {
    type: 'START_BUSINESS_DAY',
    title: 'Start a business day',
    effect: 'Brings this loan alone to a day, with the interest, fees and penalties of the days before.',
    usualIn: [],
    example: ({ today }) => `{"businessDate": "${today}"}`,
  },
];

/** What an application usually gets next. */
const stateActions: Readonly<Record<string, string>> = {
  PARTIAL_APPLICATION: 'REQUEST_APPROVAL',
  PENDING_APPROVAL: 'APPROVE',
  APPROVED: 'UNDO_APPROVE',
};

/** The terms of an account that continues another one, with a first due date a month after today. */
function newTerms({ productTypeKey, today }: LoanFacts): string {
  const due = new Date(`${today}T00:00:00Z`);
  due.setUTCDate(due.getUTCDate() + 30);
  const firstRepaymentDate = due.toISOString().slice(0, 10);
  return JSON.stringify({ productTypeKey, disbursementDetails: { firstRepaymentDate } });
}
