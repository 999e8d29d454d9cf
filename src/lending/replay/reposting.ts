import type {
  ApplyFee,
  ApplyInterest,
  ApplyPenalty,
  CommandHeader,
  Lock,
  LoanCommand,
  PrincipalOverpayment,
  RecalculateDueDates,
  Refund,
  Repay,
  TransactionDetails,
  Unlock,
} from '../commands.ts';
import { installmentEncodedKey } from '../identifiers.ts';
import { findInstallment } from '../installments.ts';
import type { Loan, LoanTransaction } from '../loan.ts';
import type { Decimal } from '../money.ts';
import { findFee } from '../products/product.ts';
import type { Refusal } from '../refusals.ts';
import type { LoanTransactionType } from '../transaction-types.ts';

/** The commands that are decided on the loan as it was on their value date, whatever was posted since. */
export type DatedEntry = Repay | ApplyFee | ApplyPenalty | PrincipalOverpayment | ApplyInterest | Refund;

/** Whether a command is decided on the loan as it was on its value date. */
export function isDatedEntry(command: LoanCommand): command is DatedEntry {
  return datedEntries.has(command.type);
}

const datedEntries: ReadonlySet<LoanCommand['type']> = new Set<DatedEntry['type']>([
  'REPAY',
  'APPLY_FEE',
  'APPLY_PENALTY',
  'PRINCIPAL_OVERPAYMENT',
  'APPLY_INTEREST',
  'REFUND',
]);

/** The beginning and the end of a lock that the end of a day posted. What a person locks is not decided again. */
type ArrearsLockType =
  | 'INTEREST_LOCKED'
  | 'FEE_LOCKED'
  | 'PENALTY_LOCKED'
  | 'INTEREST_UNLOCKED'
  | 'FEE_UNLOCKED'
  | 'PENALTY_UNLOCKED';

/** The transactions that can be taken back and posted again from what was asked for. */
type RepostableType =
  | ArrearsLockType
  | 'REPAYMENT'
  | 'FEE_CHARGED'
  | 'PENALTY_APPLIED'
  | 'PRINCIPAL_OVERPAYMENT'
  | 'INTEREST_APPLIED'
  | 'REFUND'
  | 'DUE_DATE_CHANGED';

/** Whether a transaction can be taken back and posted again from what was asked for. */
export function isRepostable({ type, isSystemPosted }: LoanTransaction): boolean {
  return isRepostableType(type) && (isSystemPosted || !isLockType(type));
}

function isLockType(type: RepostableType): type is ArrearsLockType {
  return type.endsWith('_LOCKED') || type.endsWith('_UNLOCKED');
}

function isRepostableType(type: LoanTransactionType): type is RepostableType {
  return Object.hasOwn(askedFor, type);
}

/**
 * The command that posts a transaction again, with all that its sender asked for. `header` is that of the command now
 * decided, whose id and time the new transaction gets.
 * @param loan The account to which it will be posted.
 * @throws Error for a transaction that cannot be posted again
 */
export function repostingCommand(loan: Loan, transaction: LoanTransaction, header: CommandHeader): LoanCommand {
  const { type } = transaction;
  if (!isRepostableType(type)) throw new Error(`${type} cannot be posted again`);
  return {
    ...headerOf(header),
    ...(transaction.isSystemPosted ? { isSystemPosted: true } : {}),
    loanAccountId: loan.id,
    ...detailsOf(transaction),
    ...askedFor[type](loan, transaction),
  };
}

/** A repayment as its sender asked for it, without what identifies a command. */
export type RequestedRepayment = Omit<Repay, keyof CommandHeader | 'loanAccountId'>;

/** What the sender of a repayment asked for. @param loan The account to which it will be posted. */
export function requestedRepayment(loan: Loan, transaction: LoanTransaction): RequestedRepayment {
  return { ...detailsOf(transaction), ...repaymentOf(loan, transaction) };
}

function detailsOf({
  valueDate,
  bookingDate,
  externalId,
  notes,
  transactionDetails,
  additionalFields,
}: LoanTransaction): TransactionDetails {
  return {
    valueDate,
    bookingDate,
    additionalFields,
    ...(externalId === null ? {} : { externalId }),
    ...(notes === null ? {} : { notes }),
    ...(transactionDetails === null ? {} : { transactionDetails }),
  };
}

/** The header of a command alone: what it posts on behalf of others has its id, time and day. */
export function headerOf({ commandId, digest, receivedAt, receivedOn }: CommandHeader): CommandHeader {
  return { commandId, digest, receivedAt, ...(receivedOn === undefined ? {} : { receivedOn }) };
}

/** The commands that post transactions again. */
type PostedAgain = DatedEntry | Lock | Unlock | RecalculateDueDates;

type AskedFor = {
  readonly [Type in PostedAgain['type']]: Omit<
    Extract<PostedAgain, { readonly type: Type }>,
    keyof CommandHeader | 'loanAccountId'
  >;
}[PostedAgain['type']];

const askedFor: Readonly<Record<RepostableType, (loan: Loan, transaction: LoanTransaction) => AskedFor>> = {
  REPAYMENT: repaymentOf,
  FEE_CHARGED: (loan, transaction) => {
    const predefinedFeeKey = transaction.fees[0]?.predefinedFeeKey ?? null;
    const fee = predefinedFeeKey === null ? undefined : findFee(loan.product, predefinedFeeKey);
    const isAmountOfProduct = fee?.amount !== undefined || fee?.percentageAmount !== undefined;
    return {
      type: 'APPLY_FEE',
      ...(predefinedFeeKey === null ? {} : { predefinedFeeKey }),
      ...(isAmountOfProduct ? {} : { amount: withoutAddedTax(loan, transaction.amount, transaction.taxes.fees) }),
      ...installmentOf(loan, transaction),
    };
  },
  PENALTY_APPLIED: (loan, transaction) => ({
    type: 'APPLY_PENALTY',
    amount: withoutAddedTax(loan, transaction.amount, transaction.taxes.penalty),
    ...installmentOf(loan, transaction),
  }),
  PRINCIPAL_OVERPAYMENT: (_loan, transaction) => ({
    type: 'PRINCIPAL_OVERPAYMENT',
    amount: transaction.amount,
    ...recalculationOf(transaction),
  }),
  INTEREST_APPLIED: () => ({ type: 'APPLY_INTEREST' }),
  REFUND: (loan, transaction) => ({
    type: 'REFUND',
    amount: transaction.amount,
    linkedDisbursementKey: loan.position.disbursements[0]?.transactionKey ?? '',
  }),
  INTEREST_LOCKED: () => ({ type: 'LOCK', lockedOperations: ['APPLY_INTEREST'] }),
  FEE_LOCKED: () => ({ type: 'LOCK', lockedOperations: ['APPLY_FEES'] }),
  PENALTY_LOCKED: () => ({ type: 'LOCK', lockedOperations: ['APPLY_PENALTIES'] }),
  INTEREST_UNLOCKED: () => ({ type: 'UNLOCK' }),
  FEE_UNLOCKED: () => ({ type: 'UNLOCK' }),
  PENALTY_UNLOCKED: () => ({ type: 'UNLOCK' }),
  // On the calendar of now: that of its time is not kept.
  DUE_DATE_CHANGED: () => ({ type: 'RECALCULATE_DUE_DATES' }),
};

function repaymentOf(loan: Loan, transaction: LoanTransaction): RequestedRepayment {
  return {
    type: 'REPAY',
    amount: transaction.amount,
    customPaymentAmounts: transaction.customPaymentAmounts,
    ...(transaction.isInstallmentNamed && transaction.installmentKey !== null
      ? { installmentEncodedKey: installmentEncodedKey(loan, transaction.installmentKey) }
      : {}),
    ...recalculationOf(transaction),
  };
}

/**
 * Whether a transaction that the loan refuses to post again may be left out: there is no interest left to apply, or the
 * system posted it for a state that the loan is no longer in.
 */
export function isLeftOut({ type, isSystemPosted }: LoanTransaction, refusals: readonly Refusal[]): boolean {
  return (
    isSystemPosted ||
    (type === 'INTEREST_APPLIED' &&
      refusals.every(({ errorReason }) => errorReason === 'ACCOUNT_HAS_NO_ACCRUED_INTEREST'))
  );
}

function recalculationOf({
  prepaymentRecalculationMethod,
}: LoanTransaction): Pick<Repay, 'prepaymentRecalculationMethod'> {
  return prepaymentRecalculationMethod === null ? {} : { prepaymentRecalculationMethod };
}

/** What was asked for: tax that was added to it comes on top of it again. */
function withoutAddedTax({ product }: Loan, amount: Decimal, tax: Decimal): Decimal {
  return product.taxSettings.taxCalculationMethod === 'EXCLUSIVE' ? amount.minus(tax) : amount;
}

/** The number that the named installment has now. Zero, which no installment has, when it is gone. */
function installmentOf(
  { position }: Loan,
  { installmentKey, isInstallmentNamed }: LoanTransaction,
): Pick<ApplyFee, 'installmentNumber'> {
  if (!isInstallmentNamed || installmentKey === null) return {};
  return { installmentNumber: findInstallment(position.installments, installmentKey)?.number ?? 0 };
}
