import { accrueTo } from '../accrual.ts';
import type { ReduceFees, ReduceInterest, ReducePenalties } from '../commands.ts';
import { closeOutInTime } from './closing.ts';
import { type Decision, type DecisionContext, type TransactionCommand, post, refuse } from './decision.ts';
import type { TransactionPosted } from './facts.ts';
import { refusalOfDays } from './transaction-days.ts';
import { type Ledger, openLedger } from '../ledger.ts';
import { type Loan, type LoanPosition, isActive } from '../loan.ts';
import { dayOfCommand } from '../instants.ts';
import { type Decimal, isPostable } from '../money.ts';
import { reduceCharges, reduceRows } from '../reduced-rows-and-fees.ts';
import { type Refusal, refusal } from '../refusals.ts';
import type { LocalDate } from '../terms.ts';

/**
 * Forgives interest that is owed on the value date: of the named installment, or else of those due first. A dynamic
 * loan owes what it has earned, and the position moves forward to the date. The rows ask for that much less. A loan
 * that then owes nothing is closed.
 *
 * Refused, with the first of these that applies: INVALID_ACCOUNT_STATE; INVALID_AMOUNT; INVALID_DATE (before the
 * disbursement or in the future); ENTRY_DATE_BEFORE_OTHER_TRANSACTION (before the last disbursement, repayment,
 * overpayment or application of interest); INVALID_REPAYMENT_NUMBER; INVALID_AMOUNT (more than is owed).
 */
export function decideInterestReduction(loan: Loan, command: ReduceInterest, context: DecisionContext): Decision {
  const { position } = loan;
  const fault = refusalOfReduction(loan, command);
  if (fault !== null) return { refusals: [fault] };
  const valueDate = command.valueDate ?? dayOfCommand(command);
  if (position.asOf !== null && valueDate < position.asOf) {
    return refuse('ENTRY_DATE_BEFORE_OTHER_TRANSACTION', 'valueDate');
  }
  const key = keyOfRow(position, command);
  const accrued = { ...loan, position: accrueTo(loan, position, valueDate) };
  return ifAll(
    command,
    reduced(accrued, command, context, 'INTEREST_DUE_REDUCED', valueDate, (ledger) => {
      reduceRows(ledger, 'INTEREST', command.amount, (rowKey) => key === undefined || rowKey === key);
    }),
  );
}

/**
 * Forgives fees of the schedule, those charged first first: of the named installment, or else of all. Fees that are
 * only planned, and fees outside the schedule, stay. A loan that then owes nothing is closed.
 *
 * Refused as a reduction of interest is, without ENTRY_DATE_BEFORE_OTHER_TRANSACTION.
 */
export function decideFeeReduction(loan: Loan, command: ReduceFees, context: DecisionContext): Decision {
  const fault = refusalOfReduction(loan, command);
  if (fault !== null) return { refusals: [fault] };
  const valueDate = command.valueDate ?? dayOfCommand(command);
  const key = keyOfRow(loan.position, command);
  return ifAll(
    command,
    reduced(loan, command, context, 'FEES_DUE_REDUCED', valueDate, (ledger) => {
      reduceCharges(ledger, command.amount, ({ installmentKey }) =>
        key === undefined ? installmentKey !== null : installmentKey === key,
      );
    }),
  );
}

/**
 * Forgives penalties: of the named installment, or else of those due first. A loan that then owes nothing is closed.
 *
 * Refused as a reduction of interest is, without ENTRY_DATE_BEFORE_OTHER_TRANSACTION.
 */
export function decidePenaltyReduction(loan: Loan, command: ReducePenalties, context: DecisionContext): Decision {
  const fault = refusalOfReduction(loan, command);
  if (fault !== null) return { refusals: [fault] };
  const valueDate = command.valueDate ?? dayOfCommand(command);
  const key = keyOfRow(loan.position, command);
  return ifAll(
    command,
    reduced(loan, command, context, 'PENALTIES_DUE_REDUCED', valueDate, (ledger) => {
      reduceRows(ledger, 'PENALTY', command.amount, (rowKey) => key === undefined || rowKey === key);
    }),
  );
}

type ReductionType = 'INTEREST_DUE_REDUCED' | 'FEES_DUE_REDUCED' | 'PENALTIES_DUE_REDUCED';

/**
 * The decision that posts a reduction.
 * @param loan Its position moved forward to the value date where interest is reduced.
 * @param reduce Takes the amounts off the ledger.
 */
export function reduced(
  loan: Loan,
  command: TransactionCommand,
  context: DecisionContext,
  type: ReductionType,
  valueDate: LocalDate,
  reduce: (ledger: Ledger) => void,
): { readonly fact: TransactionPosted } {
  const ledger = openLedger(loan, loan.position, valueDate);
  reduce(ledger);
  const { affected, taxes } = ledger;
  const position = closeOutInTime(loan, ledger, loan.position.periodicPayment, command.receivedAt);
  const amount = affected.interest.plus(affected.fees).plus(affected.penalty);
  return post(loan, command, context, type, position, { amount, valueDate, affected, taxes });
}

/** The decision, if the whole amount could be taken off. */
function ifAll({ amount }: { readonly amount: Decimal }, decision: { readonly fact: TransactionPosted }): Decision {
  return decision.fact.transaction.amount.equals(amount) ? decision : refuse('INVALID_AMOUNT', 'amount');
}

function refusalOfReduction(
  { position, product }: Loan,
  command: ReduceInterest | ReduceFees | ReducePenalties,
): Refusal | null {
  const [disbursement] = position.disbursements;
  if (!isActive(position) || disbursement === undefined) return refusal('INVALID_ACCOUNT_STATE');
  if (!isPostable(command.amount, product.currency.digits)) return refusal('INVALID_AMOUNT', 'amount');
  const fault = refusalOfDays(command);
  if (fault !== null) return fault;
  const valueDate = command.valueDate ?? dayOfCommand(command);
  if (valueDate < disbursement.date) return refusal('INVALID_DATE', 'valueDate');
  return command.installmentNumber !== undefined && keyOfRow(position, command) === undefined
    ? refusal('INVALID_REPAYMENT_NUMBER', 'installmentNumber')
    : null;
}

function keyOfRow(
  { installments }: LoanPosition,
  { installmentNumber }: { readonly installmentNumber?: number },
): number | undefined {
  return installments.find(({ number }) => number === installmentNumber)?.key;
}
