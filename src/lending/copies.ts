import type { Installment, Loan, LoanPosition } from './loan.ts';

/**
 * Copies of what a loan consists of, with some fields replaced. Not by a spread: the engine gives a copy of a copy a
 * layout of its own each time, so that after a few commands on a loan whatever looks at one of them takes several times
 * as long.
 */

/** What commands change of a loan. */
type LoanChanges = Partial<
  Pick<Loan, 'modifiedAt' | 'position' | 'transactions' | 'eventSequence' | 'scheduleVersion' | 'publishedUnder'>
>;

export function changedLoan(loan: Loan, changes: LoanChanges): Loan {
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

export function changedPosition(position: LoanPosition, changes: Partial<LoanPosition>): LoanPosition {
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

export function changedRow(row: Installment, changes: Partial<Installment>): Installment {
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
