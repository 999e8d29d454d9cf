import type { Installment, Loan, LoanPosition } from './loan.ts';

/**
 * Copies of the parts of a loan, with some fields replaced. They do not use a spread: the engine gives each copy of a
 * copy its own object layout. After a few commands on a loan, code that reads such objects takes several times as long.
 */

/** The fields of a loan that commands change. */
type LoanChanges = Partial<
  Pick<Loan, 'modifiedAt' | 'position' | 'transactions' | 'eventSequence' | 'scheduleVersion' | 'publishedUnder'>
>;

/** A copy of the loan with `changes` applied. */
export function loanWith(loan: Loan, changes: LoanChanges): Loan {
  const {
    modifiedAt = loan.modifiedAt,
    position = loan.position,
    transactions = loan.transactions,
    eventSequence = loan.eventSequence,
    scheduleVersion = loan.scheduleVersion,
    publishedUnder = loan.publishedUnder,
  } = changes;
  return {
    id: loan.id,
    encodedKey: loan.encodedKey,
    product: loan.product,
    terms: loan.terms,
    loanName: loan.loanName,
    accountHolderKey: loan.accountHolderKey,
    accountHolderType: loan.accountHolderType,
    loanAmount: loan.loanAmount,
    penaltyRate: loan.penaltyRate,
    expectedDisbursementDate: loan.expectedDisbursementDate,
    firstRepaymentDate: loan.firstRepaymentDate,
    notes: loan.notes,
    createdAt: loan.createdAt,
    modifiedAt,
    position,
    transactions,
    eventSequence,
    scheduleVersion,
    publishedUnder,
  };
}

/** A copy of the position with `changes` applied. */
export function positionWith(position: LoanPosition, changes: Partial<LoanPosition>): LoanPosition {
  const {
    accountState = position.accountState,
    accountSubState = position.accountSubState,
    stateBeforeClosure = position.stateBeforeClosure,
    approvedAt = position.approvedAt,
    closedAt = position.closedAt,
    disbursement = position.disbursement,
    principalLent = position.principalLent,
    asOf = position.asOf,
    periodicPayment = position.periodicPayment,
    installments = position.installments,
    charges = position.charges,
  } = changes;
  return {
    accountState,
    accountSubState,
    stateBeforeClosure,
    approvedAt,
    closedAt,
    disbursement,
    principalLent,
    asOf,
    periodicPayment,
    installments,
    charges,
  };
}

/** A copy of the installment with `changes` applied. */
export function rowWith(row: Installment, changes: Partial<Installment>): Installment {
  const {
    number = row.number,
    accruesAfter = row.accruesAfter,
    dueDate = row.dueDate,
    principal = row.principal,
    interest = row.interest,
    fee = row.fee,
    penalty = row.penalty,
    interestAccrued = row.interestAccrued,
    principalOverpaid = row.principalOverpaid,
    lastPaidDate = row.lastPaidDate,
    repaidDate = row.repaidDate,
    lastPenaltyAppliedDate = row.lastPenaltyAppliedDate,
  } = changes;
  return {
    number,
    accruesAfter,
    dueDate,
    principal,
    interest,
    fee,
    penalty,
    interestAccrued,
    principalOverpaid,
    lastPaidDate,
    repaidDate,
    lastPenaltyAppliedDate,
  };
}
