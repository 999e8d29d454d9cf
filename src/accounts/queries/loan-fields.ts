import { type Installment, dueOf } from '../../lending/installments.ts';
import type { Loan } from '../../lending/loan.ts';
import { type Decimal, sum } from '../../lending/money.ts';
import type { AccountView } from '../../lending/views/accounts.ts';
import type { FieldKind } from './conditions.ts';
import { customFieldPath, type SearchColumn, type SearchField, type SearchFields, valueAt } from './search-field.ts';

/** An account that a search looks at: as stored, and as clients see it. */
export interface ExaminedLoan {
  readonly loan: Loan;
  readonly view: AccountView;
  /** The amount of its last repayment that was not adjusted. */
  readonly lastPaymentAmount: () => Decimal | undefined;
}

type LoanField = SearchField<ExaminedLoan>;

/** The states that accounts can be filtered by. */
export const accountStates = [
  'PARTIAL_APPLICATION',
  'PENDING_APPROVAL',
  'APPROVED',
  'ACTIVE',
  'ACTIVE_IN_ARREARS',
  'CLOSED',
] as const;

/** Clients of the lending API also ask for the states that accounts of its first version had. */
const knownStates: readonly string[] = [...accountStates, 'CLOSED_WRITTEN_OFF', 'CLOSED_REJECTED'];

/** The fields that GET /loans can sort by: those that are read without looking at each account. */
export const loanSortFields: readonly string[] = [
  'id',
  'encodedKey',
  'loanName',
  'accountHolderKey',
  'productTypeKey',
  'accountState',
  'loanAmount',
  'creationDate',
  'approvedDate',
  'closedDate',
  'lastModifiedDate',
];

function column(sql: string, isOptional = false): { readonly column: SearchColumn } {
  return { column: { sql, isOptional } };
}

/** The fields in columns of the table of loans. */
const columns: Readonly<Record<string, Pick<LoanField, 'kind' | 'column' | 'words'>>> = {
  id: {
    kind: 'text',
    column: {
      sql: 'loans.loan_id',
      sqlWithoutCase: 'lower(loans.loan_id)',
      isOptional: false,
      isIdentity: true,
    },
  },
  loanName: {
    kind: 'text',
    column: { sql: 'loans.loan_name', sqlWithoutCase: 'without_case(loans.loan_name)', isOptional: false },
  },
  encodedKey: { kind: 'key', ...column('loans.encoded_key') },
  accountHolderKey: { kind: 'key', ...column('loans.account_holder_key', true) },
  productTypeKey: { kind: 'key', ...column('loans.product_type_key') },
  accountState: { kind: 'key', ...column('loans.account_state'), words: knownStates },
  loanAmount: { kind: 'number', ...column('loans.loan_amount') },
  creationDate: { kind: 'instant', ...column('loans.creation_date') },
  approvedDate: { kind: 'instant', ...column('loans.approved_date', true) },
  closedDate: { kind: 'instant', ...column('loans.closed_date', true) },
  lastModifiedDate: { kind: 'instant', ...column('loans.last_modified_date') },
  // An account is looked at with each of its changes.
  lastAccountAppraisalDate: { kind: 'instant', ...column('loans.last_modified_date') },
};

/** The fields that are read from the account as clients see it, at the path that they name. */
const viewed: Readonly<Record<FieldKind, readonly string[]>> = {
  text: ['notes', 'recipient'],
  key: [
    'accountHolderType',
    'accountSubState',
    'activationTransactionKey',
    'assignedBranchKey',
    'assignedCentreKey',
    'assignedUserKey',
    'creditArrangementKey',
    'currency.code',
    'futurePaymentsAcceptance',
    'interestSettings.interestCalculationMethod',
    'interestSettings.interestType',
    'latePaymentsRecalculationMethod',
    'loanRiskLevelKey',
    'migrationEventKey',
    'originalAccountKey',
    'paymentMethod',
    'penaltySettings.loanPenaltyCalculationMethod',
    'prepaymentSettings.applyInterestOnPrepaymentMethod',
    'prepaymentSettings.prepaymentRecalculationMethod',
    'refinancedAccountId',
    'rescheduledAccountKey',
    'settlementAccountKey',
    'tranches.disbursementDetails.disbursementTransactionKey',
    'tranches.parentAccountKey',
  ],
  number: [
    'accruedInterest',
    'accruedPenalty',
    'arrearsTolerancePeriod',
    'availableAmount',
    ...['principal', 'interest', 'fees', 'penalty'].flatMap((element) =>
      ['Due', 'Paid', 'Balance'].map((figure) => `balances.${element}${figure}`),
    ),
    'balances.holdBalance',
    'balances.redrawBalance',
    'daysInArrears',
    'daysLate',
    'expectedPrincipalRedraw',
    'fundingSources.amount',
    'fundingSources.sharePercentage',
    'interestCommission',
    'interestFromArrearsAccrued',
    'interestSettings.interestRate',
    'interestSettings.interestSpread',
    'numberOfFunds',
    'penaltySettings.penaltyRate',
    'scheduleSettings.gracePeriod',
    'taxRate',
    'tranches.amount',
  ],
  instant: ['lastInterestReviewDate', 'lastLockedDate', 'lastSetToArrearsDate', 'terminationDate'],
  day: [
    'disbursementDetails.disbursementDate',
    'disbursementDetails.expectedDisbursementDate',
    'disbursementDetails.firstRepaymentDate',
    'lastInterestAppliedDate',
    'tranches.disbursementDetails.expectedDisbursementDate',
  ],
  flag: ['fundsEnabled', 'wasRefinanced', 'wasRescheduled'],
};

/** Other names of fields: that of a holder's id, and those that the API writes in two ways. */
const otherNames: Readonly<Record<string, string>> = {
  accountHolderId: 'accountHolderKey',
  'balance.interestBalance': 'balances.interestBalance',
  expectedMaturity: 'expectedMaturityDate',
};

/** The fields that are worked out from others. */
const derived: Readonly<Record<string, LoanField>> = {
  totalPaid: { kind: 'number', valueOf: ({ view }) => totalOf(view, 'Paid') },
  totalBalance: { kind: 'number', valueOf: ({ view }) => totalOf(view, 'Balance') },
  totalDue: { kind: 'number', valueOf: ({ view }) => totalOf(view, 'Due') },
  numInstallments: {
    kind: 'number',
    valueOf: ({ loan, view }) => loan.position.installments.length || view.scheduleSettings.repaymentInstallments,
  },
  firstRepaymentDate: {
    kind: 'day',
    valueOf: ({ loan, view }) => loan.position.installments[0]?.dueDate ?? view.disbursementDetails.firstRepaymentDate,
  },
  expectedMaturityDate: { kind: 'day', valueOf: ({ loan }) => loan.position.installments.at(-1)?.dueDate },
  lastPaymentAmount: { kind: 'number', valueOf: ({ lastPaymentAmount }) => lastPaymentAmount() },
  taxDue: {
    kind: 'number',
    valueOf: ({ loan }) => sum(loan.position.installments.filter((row) => isDue(loan, row)).map(taxDueOf)),
  },
  taxPaid: { kind: 'number', valueOf: ({ loan }) => sum(loan.position.installments.map(taxPaidOf)) },
  lastPaymentDate: {
    kind: 'day',
    valueOf: ({ loan }) => loan.position.installments.reduce((last, row) => laterOf(last, row.lastPaidDate), ''),
  },
};

const byName = new Map<string, LoanField>([
  ...Object.entries(viewed).flatMap(([kind, names]) =>
    names.map((name): [string, LoanField] => [name, viewedField(kind as FieldKind, name)]),
  ),
  ...Object.entries(columns).map(([name, field]): [string, LoanField] => [
    name,
    { ...field, valueOf: ({ view }) => valueAt(view, [name]) },
  ]),
  ...Object.entries(derived),
]);

/** The fields of loan accounts. */
export const loanFields: SearchFields<ExaminedLoan> = {
  find(name) {
    const found = byName.get(otherNames[name] ?? name);
    if (found !== undefined) return found;
    const path = customFieldPath(name);
    if (path === undefined) return undefined;
    return { kind: 'text', isCustom: true, valueOf: ({ view }) => customValues(view, path) };
  },
};

function viewedField(kind: FieldKind, name: string): LoanField {
  const path = name.split('.');
  return { kind, valueOf: ({ view }) => valueAt(view, path) };
}

/** A set is a part of the account or of its disbursement details. */
function customValues(view: AccountView, path: readonly string[]): unknown {
  return [valueAt(view, path), valueAt(view.disbursementDetails, path)].flat();
}

function totalOf({ balances }: AccountView, figure: 'Paid' | 'Balance' | 'Due'): Decimal {
  return sum([
    balances[`principal${figure}`],
    balances[`interest${figure}`],
    balances[`fees${figure}`],
    balances[`penalty${figure}`],
  ]);
}

/** Whether a row has fallen due on the day that the balances show. */
function isDue({ position: { asOf } }: Loan, { dueDate }: Installment): boolean {
  return asOf !== null && dueDate <= asOf;
}

function taxDueOf({ interest, fee, penalty }: Installment): Decimal {
  return sum([dueOf(interest.tax), dueOf(fee.tax), dueOf(penalty.tax)]);
}

function taxPaidOf({ interest, fee, penalty }: Installment): Decimal {
  return sum([interest.tax.paid, fee.tax.paid, penalty.tax.paid]);
}

function laterOf(one: string, other: string | null): string {
  return other !== null && other > one ? other : one;
}
