import type { Disburse } from '../commands.ts';
import { withInterestTax } from '../accrual.ts';
import { type Decision, type DecisionContext, post, refuse } from './decision.ts';
import { isUsableDate, refusalOfDays } from './transaction-days.ts';
import { feeAmount } from '../fees/amounts.ts';
import { type FeeToCharge, feesToCharge } from '../fees/disbursement-fees.ts';
import { type UnnumberedCharge, newCharge, transactionFee } from '../fees/charges.ts';
import { addCharge, closeLedger, hasPostableTotals, noAmounts, openLedger } from '../ledger.ts';
import type { Loan, LoanPosition } from '../loan.ts';
import { type Installment, type Portion, newInstallment, unpaid } from '../installments.ts';
import { dayOfCommand } from '../instants.ts';
import type { WorkingCalendar } from '../organization.ts';
import { type Decimal, sum } from '../money.ts';
import { type FeeTrigger, isForDueDates } from '../products/product.ts';
import { type Refusal, refusal } from '../refusals.ts';
import { buildSchedule } from '../schedule/build-schedule.ts';
import { isAnnuity, periodicPayment } from '../schedule/level-payment.ts';
import type { ScheduleRequest } from '../schedule/open-rows.ts';
import { termsInForce } from '../agreed-terms.ts';
import type { LocalDate, ScheduleRow } from '../terms.ts';

/**
 * Pays the loan out: its schedule starts, the account becomes ACTIVE, and the product's disbursement fees are charged.
 * Required fees are always charged, optional ones when the account or the command asks for them.
 * - DISBURSEMENT is deducted from what is paid out, and so paid at once; the principal stays the loan amount.
 * - CAPITALIZED_DISBURSEMENT is added to the principal, which the schedule then repays.
 * - UPFRONT_DISBURSEMENT joins the first installment. PAYMENT_DUE and
 *   PAYMENT_DUE_APPLIED_ON_DUE_DATES join each installment. Only these two are charged on what another account owed.
 *
 * Refused, with the first of these that applies: ACCOUNT_ALREADY_DISBURSED, INVALID_ACCOUNT_STATE; INVALID_AMOUNT (not
 * the amount of the loan); INVALID_DISBURSEMENT_DATE (in the future too); INVALID_DATE (of the booking);
 * INVALID_FIRST_REPAYMENT_DUE_DATE (not
 * after the disbursement); for each fee asked for INVALID_FEE_KEY, FEE_NOT_ACTIVE, FEE_NOT_ALLOWED,
 * DUPLICATE_DISBURSEMENT_FEE and its amount; DISBURSEMENT_FEES_EXCEED_LOAN_AMOUNT; INVALID_AMOUNT (all that the
 * schedule asks for has more digits than can be read).
 */
export function decideDisbursement(loan: Loan, command: Disburse, context: DecisionContext): Decision {
  const { position } = loan;
  if (position.disbursements.length > 0) return refuse('ACCOUNT_ALREADY_DISBURSED');
  if (position.accountState !== 'APPROVED') return refuse('INVALID_ACCOUNT_STATE');
  if (command.amount?.equals(loan.loanAmount) === false) return refuse('INVALID_AMOUNT', 'amount');
  const fault = refusalOfDays(command, 'INVALID_DISBURSEMENT_DATE');
  if (fault !== null) return { refusals: [fault] };
  const date = command.valueDate ?? dayOfCommand(command);
  const firstRepaymentDate = command.firstRepaymentDate ?? loan.firstRepaymentDate;
  if (firstRepaymentDate !== null && (firstRepaymentDate <= date || !isUsableDate(firstRepaymentDate))) {
    return refuse('INVALID_FIRST_REPAYMENT_DUE_DATE', 'firstRepaymentDate');
  }
  const asked = feesToCharge(loan, command.fees);
  if ('refusals' in asked) return asked;
  const fees = command.isTransfer === true ? asked.filter(({ fee }) => isForDueDates(fee)) : asked;

  const transactionKey = context.newKey('transaction');
  const outcome = disburse(loan, {
    date,
    firstRepaymentDate,
    calendar: context.calendar,
    fees,
    transactionKey,
    newKey: context.newKey,
  });
  if ('refusals' in outcome) return outcome;
  const { position: next, charges } = outcome;
  const paidAtOnce = charges.filter((added) => !added.amount.paid.isZero());
  return post(loan, command, context, 'DISBURSEMENT', next, {
    encodedKey: transactionKey,
    amount: loan.loanAmount,
    valueDate: date,
    affected: {
      ...noAmounts,
      principal: next.principalLent,
      fees: sum(paidAtOnce.map(({ amount }) => amount.expected)),
    },
    taxes: { ...noAmounts, fees: sum(paidAtOnce.map(({ tax }) => tax.expected)) },
    fees: charges.map(transactionFee),
  });
}

export interface DisbursementPlan {
  readonly date: LocalDate;
  readonly firstRepaymentDate: LocalDate | null;
  readonly calendar: WorkingCalendar;
  readonly fees: readonly FeeToCharge[];
  readonly transactionKey: string;
  readonly newKey: (purpose: string) => string;
}

/**
 * The state of a loan right after its disbursement, and the fees charged with it. Checks neither the account state nor
 * the dates.
 */
export function disburse(
  loan: Loan,
  { date, firstRepaymentDate, calendar, fees, transactionKey, newKey }: DisbursementPlan,
): { readonly position: LoanPosition; readonly charges: UnnumberedCharge[] } | { readonly refusals: Refusal[] } {
  const refusals: Refusal[] = [];
  /** The charges of one fee: one, or one for each row. */
  const chargesOf = (trigger: FeeTrigger, rows: readonly (Installment | null)[], isPaid = false): UnnumberedCharge[] =>
    fees.flatMap(({ fee, requestedAmount, errorSource }, feeIndex) => {
      if (fee.trigger !== trigger) return [];
      return rows.flatMap((row) => {
        const net = feeAmount(loan, fee, requestedAmount, row?.principal.expected ?? loan.loanAmount, errorSource);
        if ('errorReason' in net) {
          if (row === rows[0]) refusals.push(net);
          return [];
        }
        if (net.isZero()) return [];
        const installmentKey = row?.key ?? null;
        const encodedKey = newKey(`fee/${feeIndex}/${installmentKey ?? 0}`);
        const added = newCharge(loan, { encodedKey, fee, allocation: 'INSTALLMENT', net, installmentKey });
        return [isPaid ? { ...added, amount: paidInFull(added.amount), tax: paidInFull(added.tax) } : added];
      });
    });

  const deducted = chargesOf('DISBURSEMENT', [null], true);
  const capitalised = chargesOf('CAPITALIZED_DISBURSEMENT', [null], true);
  const totalOf = (charges: readonly UnnumberedCharge[]): Decimal => sum(charges.map(({ amount }) => amount.expected));
  const paidOut = loan.loanAmount.minus(totalOf(deducted));
  if (paidOut.isNegative()) refusals.push(refusal('DISBURSEMENT_FEES_EXCEED_LOAN_AMOUNT', 'fees'));

  const principalLent = loan.loanAmount.plus(totalOf(capitalised));
  const method = loan.product.scheduleSettings.repaymentReschedulingMethod;
  const request: ScheduleRequest = {
    terms: termsInForce(loan, loan.position),
    principal: principalLent,
    disbursementDate: date,
    ...(firstRepaymentDate === null ? {} : { firstRepaymentDate }),
    ...(method === undefined ? {} : { rescheduling: { method, calendar } }),
  };
  const payment = isAnnuity(request.terms) ? periodicPayment(request) : null;
  const rows = buildSchedule(request, payment ?? undefined).map((row) => unpaidInstallment(loan, row));
  const upfront = chargesOf('UPFRONT_DISBURSEMENT', rows.slice(0, 1));
  const paymentDue = [...chargesOf('PAYMENT_DUE', rows), ...chargesOf('PAYMENT_DUE_APPLIED_ON_DUE_DATES', rows)];
  if (refusals.length > 0) return { refusals };

  const position: LoanPosition = {
    ...loan.position,
    accountState: 'ACTIVE',
    accountSubState: null,
    disbursements: [{ date, firstRepaymentDate, transactionKey, paidOut }],
    principalLent,
    asOf: date,
    periodicPayment: payment,
    installments: rows,
  };
  const charges = [...deducted, ...capitalised, ...upfront, ...paymentDue];
  const ledger = openLedger(loan, position, date);
  for (const added of charges) addCharge(ledger, added);
  if (!hasPostableTotals(ledger)) return { refusals: [refusal('INVALID_AMOUNT', 'loanAmount')] };
  return { position: closeLedger(ledger), charges };
}

function paidInFull({ expected }: Portion): Portion {
  return { expected, paid: expected };
}

function unpaidInstallment(
  loan: Loan,
  { number, accruesAfter, dueDate, unmoved = null, principal, interest }: ScheduleRow,
): Installment {
  const gross = withInterestTax(loan, interest);
  return newInstallment({
    key: number,
    number,
    accruesAfter,
    dueDate,
    unmoved,
    principal: unpaid(principal),
    interest: { amount: unpaid(gross.amount), tax: unpaid(gross.tax) },
  });
}
