import { accrueTo } from '../accrual.ts';
import { lateRows } from '../business-days/arrears.ts';
import type { WorkingCalendar } from '../organization.ts';
import { leftUnderHardCap } from '../business-days/charge-cap.ts';
import { firstLateFeeDay } from '../business-days/late-fees.ts';
import type { ApplyFee } from '../commands.ts';
import { type Decision, type DecisionContext, post, refuse } from './decision.ts';
import { refusalOfDays } from './transaction-days.ts';
import { addCharge, closeLedger, hasPostableTotals, noAmounts, openLedger } from '../ledger.ts';
import { type Loan, isActive } from '../loan.ts';
import { type Installment, indexOfInstallment, isPaid, nextDueRow, rowAt } from '../installments.ts';
import { feeAmount } from '../fees/amounts.ts';
import { cutCharge, newCharge, transactionFee } from '../fees/charges.ts';
import { dayOfCommand } from '../instants.ts';
import { zero } from '../money.ts';
import { behaviourOf } from '../products/product-behaviour.ts';
import { type ProductFee, findFee, isChargedByHand } from '../products/product.ts';
import { type Refusal, refusal } from '../refusals.ts';
import type { LocalDate } from '../terms.ts';

/**
 * Charges a fee by hand: one of the product's manual fees, or an arbitrary one. It joins the named installment (fixed
 * loans) or the next one due (dynamic loans). A fee for being late joins the late installment that is named. A
 * NO_ALLOCATION fee joins none, and only custom repayments can pay it.
 *
 * Refused, with the first of these that applies: INVALID_ACCOUNT_STATE (locked, too); ARBITRARY_FEE_NOT_ALLOWED,
 * INVALID_FEE_KEY, FEE_NOT_ACTIVE, FEE_NOT_ALLOWED (charged at disbursement only); FEATURE_DISABLED (a NO_ALLOCATION
 * fee while ALLOW_NON_SCHEDULED_FEES is off); INVALID_PARAMETERS (such a fee with an installment); INVALID_DATE
 * (before the disbursement or in the future); INSTALLMENT_NUMBER_MANDATORY_FOR_FIXED_ACCOUNTS,
 * INSTALLMENT_NUMBER_NOT_ALLOWED_FOR_DYNAMIC_ACCOUNTS, INVALID_REPAYMENT_NUMBER, CANNOT_APPLY_FEE_ON_PAID_INSTALLMENT;
 * INVALID_DATE (a fee for being late of an installment that is not late for longer than is tolerated); then the amount
 * (see {@link feeAmount}), and FEE_AMOUNT_MUST_BE_STRICTLY_POSITIVE when it comes to nothing; INVALID_AMOUNT (above a
 * hard cap of the charges in arrears; one by the end of a day is cut to what is left).
 */
export function decideFee(loan: Loan, command: ApplyFee, context: DecisionContext): Decision {
  const { position } = loan;
  const [disbursement] = position.disbursements;
  if (!isActive(position) || disbursement === undefined) return refuse('INVALID_ACCOUNT_STATE');
  if (position.lockedOperations.includes('APPLY_FEES')) return refuse('INVALID_ACCOUNT_STATE');
  const found = findManualFee(loan, command.predefinedFeeKey);
  if ('errorReason' in found) return { refusals: [found] };
  const { fee } = found;
  const allocation = fee?.allocation ?? 'INSTALLMENT';
  if (allocation === 'NO_ALLOCATION') {
    if (!context.toggles.ALLOW_NON_SCHEDULED_FEES) return refuse('FEATURE_DISABLED', 'predefinedFeeKey');
    if (command.installmentNumber !== undefined) return refuse('INVALID_PARAMETERS', 'installmentNumber');
  }
  const fault = refusalOfDays(command);
  if (fault !== null) return { refusals: [fault] };
  const valueDate = command.valueDate ?? dayOfCommand(command);
  if (valueDate < disbursement.date) return refuse('INVALID_DATE', 'valueDate');
  const row = allocation === 'NO_ALLOCATION' ? null : rowForFee(loan, fee, command, valueDate);
  if (row !== null && 'errorReason' in row) return { refusals: [row] };
  const isForLateness = fee?.trigger === 'LATE_REPAYMENT';
  if (isForLateness && row !== null && !isLate(loan, row, valueDate, context.calendar))
    return refuse('INVALID_DATE', 'valueDate');
  const amount = feeAmount(loan, fee, command.amount, row?.principal.expected ?? zero);
  if ('errorReason' in amount) return { refusals: [amount] };
  if (amount.isZero()) return refuse('FEE_AMOUNT_MUST_BE_STRICTLY_POSITIVE', 'amount');

  const ledger = openLedger(loan, position, valueDate);
  const asked = newCharge(loan, {
    encodedKey: context.newKey('fee'),
    fee,
    allocation,
    net: amount,
    installmentKey: row?.key ?? null,
  });
  const left = leftUnderHardCap(loan, valueDate, context.calendar);
  const isTooMuch = left !== null && asked.amount.expected.greaterThan(left);
  if (isTooMuch && (left.isZero() || command.isSystemPosted !== true)) return refuse('INVALID_AMOUNT', 'amount');
  const added = isTooMuch ? cutCharge(loan, asked, left) : asked;
  addCharge(ledger, added);
  if (isForLateness && row !== null && fee.feeApplication === 'REQUIRED') {
    const index = indexOfInstallment(ledger.rows, row.key);
    ledger.rows[index] = { ...rowAt(ledger.rows, index), lateFeesDecidedOn: valueDate };
  }
  if (!hasPostableTotals(ledger)) return refuse('INVALID_AMOUNT', 'amount');
  return post(loan, command, context, 'FEE_CHARGED', closeLedger(ledger), {
    amount: added.amount.expected,
    valueDate,
    affected: { ...noAmounts, fees: added.amount.expected },
    taxes: { ...noAmounts, fees: added.tax.expected },
    fees: [transactionFee(added)],
    installmentKey: row?.key ?? null,
    isInstallmentNamed: command.installmentNumber !== undefined,
  });
}

function findManualFee(loan: Loan, key: string | undefined): { readonly fee: ProductFee | null } | Refusal {
  const { product } = loan;
  if (key === undefined) {
    return product.feesSettings.allowArbitraryFees ? { fee: null } : refusal('ARBITRARY_FEE_NOT_ALLOWED');
  }
  const fee = findFee(product, key);
  if (fee === undefined) return refusal('INVALID_FEE_KEY', 'predefinedFeeKey');
  if (fee.state !== 'ACTIVE') return refusal('FEE_NOT_ACTIVE', 'predefinedFeeKey');
  return isChargedByHand(fee) || fee.trigger === 'LATE_REPAYMENT'
    ? { fee }
    : refusal('FEE_NOT_ALLOWED', 'predefinedFeeKey');
}

/** Whether the row still owes on the day, after its tolerated days. The account has reached no later day. */
function isLate(loan: Loan, row: Installment, on: LocalDate, calendar: WorkingCalendar): boolean {
  if (on < firstLateFeeDay(loan, row, calendar)) return false;
  const { installments } = accrueTo(loan, loan.position, on);
  return lateRows(installments, on).some(({ key }) => key === row.key);
}

/** A fee for being late is always about a row that the command names. */
function rowForFee(
  loan: Loan,
  fee: ProductFee | null,
  { installmentNumber }: ApplyFee,
  valueDate: string,
): Installment | Refusal {
  const isNamed = fee?.trigger === 'LATE_REPAYMENT' && installmentNumber !== undefined;
  if (behaviourOf(loan.product).manualFees === 'NEXT_DUE_ROW' && !isNamed) {
    if (fee?.trigger === 'LATE_REPAYMENT') return refusal('INVALID_REPAYMENT_NUMBER', 'installmentNumber');
    return installmentNumber === undefined
      ? nextDueRow(loan.position.installments, valueDate)
      : refusal('INSTALLMENT_NUMBER_NOT_ALLOWED_FOR_DYNAMIC_ACCOUNTS', 'installmentNumber');
  }
  if (installmentNumber === undefined) {
    return refusal('INSTALLMENT_NUMBER_MANDATORY_FOR_FIXED_ACCOUNTS', 'installmentNumber');
  }
  const row = loan.position.installments.find(({ number }) => number === installmentNumber);
  if (row === undefined) return refusal('INVALID_REPAYMENT_NUMBER', 'installmentNumber');
  return isPaid(row) ? refusal('CANNOT_APPLY_FEE_ON_PAID_INSTALLMENT', 'installmentNumber') : row;
}
