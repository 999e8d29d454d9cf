import type { AdditionalFields, FieldValue } from '../additional-fields.ts';
import type { CreateLoan, DeleteLoan, RequestedLoan, UpdateLoan } from '../commands.ts';
import { decideCreation } from './creation.ts';
import { type Decision, type DecisionContext, refuse } from './decision.ts';
import { withFeeKeys } from '../fees/disbursement-fees.ts';
import { dayOf } from '../instants.ts';
import type { Loan } from '../loan.ts';
import { Decimal } from '../money.ts';
import { refusalsOfSettings } from '../products/repeated-settings.ts';
import { type Refusal, refusal } from '../refusals.ts';
import { rateAfter } from '../schedule/interest-rates.ts';

/** Whether the account waits for its approval: then all its terms may change, and it may be deleted. */
function isApplication({ position: { accountState } }: Loan): boolean {
  return accountState === 'PARTIAL_APPLICATION' || accountState === 'PENDING_APPROVAL';
}

/**
 * Changes an account to what is requested, all of it. Before approval, it is checked like a new account. Afterwards its
 * name, notes, branch, centre and officer may change, and its custom fields.
 *
 * Refused: LOAN_PRODUCT_MISMATCH and, before approval, all that opening an account refuses; afterwards
 * LOAN_ACCOUNT_FIELD_NOT_EDITABLE, with the path of each field.
 */
export function decideUpdate(loan: Loan, command: UpdateLoan, context: DecisionContext): Decision {
  return isApplication(loan) ? changeApplication(loan, command, context) : changeAccount(loan, command);
}

/**
 * Deletes an account that was not approved.
 *
 * Refused: INVALID_ACCOUNT_STATE for any other account, and for one that has transactions.
 */
export function decideDeletion(loan: Loan, _command: DeleteLoan): Decision {
  return isApplication(loan) && loan.transactionCount === 0
    ? { fact: { type: 'LOAN_DELETED' } }
    : refuse('INVALID_ACCOUNT_STATE');
}

function changeApplication(loan: Loan, { requested, ...header }: UpdateLoan, context: DecisionContext): Decision {
  // The account keeps the product as it was when the account was opened, also one that is retired by now.
  const opening: CreateLoan = {
    ...header,
    ...requested,
    type: 'CREATE_LOAN',
    product: { ...loan.product, state: 'ACTIVE' },
  };
  const decision = decideCreation(opening, context);
  if (!('fact' in decision) || decision.fact.type !== 'LOAN_CREATED') return decision;
  const { terms, position, ...fresh } = decision.fact.loan;
  const { id, encodedKey, product, createdAt, modifiedAt, disbursementFees: _replaced, ...others } = loan;
  const changed: Loan = {
    ...others,
    terms,
    loanAmount: fresh.loanAmount,
    loanName: nameOf(loan, fresh.loanName),
    accountHolderKey: fresh.accountHolderKey,
    accountHolderType: fresh.accountHolderType,
    penaltyRate: fresh.penaltyRate,
    expectedDisbursementDate: fresh.expectedDisbursementDate,
    firstRepaymentDate: fresh.firstRepaymentDate,
    notes: fresh.notes,
    ...(fresh.disbursementFees === undefined ? {} : { disbursementFees: fresh.disbursementFees }),
    arrearsTolerancePeriod: fresh.arrearsTolerancePeriod,
    additionalFields: fresh.additionalFields,
    position: { ...loan.position, rateSegments: position.rateSegments },
    id,
    encodedKey,
    product,
    createdAt,
    modifiedAt: header.receivedAt > modifiedAt ? header.receivedAt : modifiedAt,
  };
  return { fact: { type: 'LOAN_CHANGED', loan: changed } };
}

/** The name to store: a response shows the product's where the account has none. */
function nameOf(loan: Loan, requested: string | null): string | null {
  return loan.loanName === null && requested === loan.product.name ? null : requested;
}

type Compared = string | number | Decimal | null | readonly number[];

function changeAccount(loan: Loan, { requested, receivedAt }: UpdateLoan): Decision {
  const { terms, position } = loan;
  const { dueDates } = terms;
  const isInterval = dueDates.scheduleDueDatesMethod === 'INTERVAL';
  const [disbursement] = position.disbursements;
  const fixed: readonly (readonly [path: string, requested: Compared | undefined, present: Compared])[] = [
    ['loanAmount', requested.loanAmount, loan.loanAmount],
    ['accountHolderKey', requested.accountHolderKey, loan.accountHolderKey],
    ['accountHolderType', requested.accountHolderType, loan.accountHolderType],
    ['arrearsTolerancePeriod', requested.arrearsTolerancePeriod, loan.arrearsTolerancePeriod],
    [
      'interestSettings.interestRate',
      requested.interestRate,
      rateAfter(position.rateSegments, position.asOf ?? dayOf(loan.createdAt)),
    ],
    ['scheduleSettings.repaymentInstallments', requested.repaymentInstallments, terms.repaymentInstallments],
    ['scheduleSettings.gracePeriod', requested.gracePeriod, terms.gracePeriod],
    [
      'scheduleSettings.principalRepaymentInterval',
      requested.principalRepaymentInterval,
      terms.principalRepaymentInterval,
    ],
    [
      'scheduleSettings.defaultFirstRepaymentDueDateOffset',
      requested.firstRepaymentDueDateOffset,
      dueDates.firstRepaymentDueDateOffset,
    ],
    ...(isInterval
      ? ([
          ['scheduleSettings.repaymentPeriodCount', requested.repaymentPeriodCount, dueDates.repaymentPeriodCount],
          ['scheduleSettings.repaymentPeriodUnit', requested.repaymentPeriodUnit, dueDates.repaymentPeriodUnit],
        ] as const)
      : []),
    ['scheduleSettings.fixedDaysOfMonth', requested.fixedDaysOfMonth, isInterval ? [] : dueDates.fixedDaysOfMonth],
    ['disbursementDetails.expectedDisbursementDate', requested.expectedDisbursementDate, loan.expectedDisbursementDate],
    [
      'disbursementDetails.firstRepaymentDate',
      requested.firstRepaymentDate,
      disbursement?.firstRepaymentDate ?? loan.firstRepaymentDate,
    ],
    ['penaltySettings.penaltyRate', requested.penaltyRate, loan.penaltyRate],
  ];
  const refusals = [
    ...refusalsOfSettings(loan.product, requested.repeatedSettings ?? []),
    ...fixed
      .filter(([, wanted, present]) => wanted !== undefined && !isSame(wanted, present))
      .map(([path]) => notEditable(path)),
    ...feeRefusals(loan, requested.disbursementFees),
    ...additionalRefusals(loan.additionalFields, requested.additionalFields ?? {}),
  ];
  if (refusals.length > 0) return { refusals };
  const changed: Loan = {
    ...loan,
    loanName: nameOf(loan, requested.loanName ?? null),
    notes: requested.notes ?? null,
    additionalFields: changedFields(loan.additionalFields, requested.additionalFields ?? {}),
    modifiedAt: receivedAt,
  };
  return { fact: { type: 'LOAN_CHANGED', loan: changed } };
}

function feeRefusals(
  { product, disbursementFees = [] }: Loan,
  requested: RequestedLoan['disbursementFees'],
): Refusal[] {
  const isUnchanged = requested === undefined || isSame(withFeeKeys(product, requested), disbursementFees);
  return isUnchanged ? [] : [notEditable('disbursementDetails.fees')];
}

/** What was sent with an account and may change at any time: no rule reads it. */
function isEditable(name: string): boolean {
  return name.startsWith('_') || ['assignedBranchKey', 'assignedCentreKey', 'assignedUserKey'].includes(name);
}

function additionalRefusals(present: AdditionalFields, requested: AdditionalFields): Refusal[] {
  return Object.entries(requested).flatMap(([name, value]) => {
    if (isEditable(name)) return [];
    if (name === 'disbursementDetails') {
      const [was, will] = [present[name], value].map((fields) => fixedPart(fields));
      return isSame(was, will) ? [] : [notEditable(name)];
    }
    return isSame(value, present[name]) ? [] : [notEditable(name)];
  });
}

/** The fields of an object without its custom field sets. */
function fixedPart(fields: FieldValue | undefined): FieldValue {
  return Object.fromEntries(Object.entries((fields ?? {}) as AdditionalFields).filter(([name]) => !isEditable(name)));
}

/** Those that may change as requested, and the others as they are. */
function changedFields(present: AdditionalFields, requested: AdditionalFields): AdditionalFields {
  const fixed = Object.entries(present).filter(([name]) => !isEditable(name) && name !== 'disbursementDetails');
  const editable = Object.entries(requested).filter(([name]) => isEditable(name) || name === 'disbursementDetails');
  return { ...Object.fromEntries(fixed), ...Object.fromEntries(editable) };
}

function notEditable(path: string): Refusal {
  return refusal('LOAN_ACCOUNT_FIELD_NOT_EDITABLE', path);
}

/** Whether two values are the same, numbers by their amount. */
function isSame(one: unknown, other: unknown): boolean {
  if (one instanceof Decimal || other instanceof Decimal) {
    const isNumber = (value: unknown): value is Decimal | number =>
      value instanceof Decimal || typeof value === 'number';
    return isNumber(one) && isNumber(other) && new Decimal(one).equals(other);
  }
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other;
  const [left, right] = [one as Record<string, unknown>, other as Record<string, unknown>];
  const names = Object.keys(left);
  return names.length === Object.keys(right).length && names.every((name) => isSame(left[name], right[name]));
}
