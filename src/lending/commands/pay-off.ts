import { accrueTo } from '../accrual.ts';
import { dueNow } from '../allocation.ts';
import { type Figures, figuresOf } from '../balances.ts';
import type { PayOff, PayOffAdjustableAmounts } from '../commands.ts';
import { closeOut } from './closing.ts';
import { type Decision, type DecisionContext, post, refuse } from './decision.ts';
import type { TransactionPosted } from './facts.ts';
import { isUsableDate, refusalOfDays } from './transaction-days.ts';
import { interestApplied } from './interest-application.ts';
import { type Ledger, openLedger } from '../ledger.ts';
import { type ElementAmounts, type Loan, type LoanPosition, isActive } from '../loan.ts';
import { dayOfCommand } from '../instants.ts';
import { type Decimal, isPostable, sum } from '../money.ts';
import { pay, payCharges, payable } from '../payments.ts';
import { reduceCharges, reduceRows } from '../reduced-rows-and-fees.ts';
import { reduced } from './reductions.ts';
import { type Refusal, type RefusalReason, refusal } from '../refusals.ts';
import { type Step, inSteps } from './transactions-in-steps.ts';
import type { LocalDate } from '../terms.ts';

/**
 * Pays all that is owed on the value date, fees outside the schedule included, and so closes the loan. It posts, as far
 * as there is something to post: INTEREST_APPLIED; INTEREST_DUE_REDUCED, FEES_DUE_REDUCED and PENALTIES_DUE_REDUCED for
 * what the adjustable amounts leave unpaid; REPAYMENT of the rest.
 *
 * Refused, with the first of these that applies: INVALID_ACCOUNT_STATE_FOR_REPAYMENTS (nothing is owed, too);
 * INVALID_DATE; REPAYMENT_DATE_IN_THE_FUTURE_ERROR; ENTRY_DATE_BEFORE_OTHER_TRANSACTION; PAY_OFF_INVALID_INTEREST_PAID,
 * PAY_OFF_INVALID_FEES_PAID, PAY_OFF_INVALID_PENALTY_PAID (more than is owed, below zero, or not in whole minor units);
 * PREPAYMENT_NOT_ALLOWED_ERROR (more than is due, where the product accepts no prepayment).
 */
export function decidePayOff(loan: Loan, command: PayOff, context: DecisionContext): Decision {
  const fault = refusalOfPayOff(loan, command);
  if (fault !== null) return { refusals: [fault] };
  const valueDate = command.valueDate ?? dayOfCommand(command);
  const accrued = accrueTo(loan, loan.position, valueDate);
  const figures = figuresOf(loan, accrued);
  const forgiven = forgivenOf(loan, figures, command.payOffAdjustableAmounts);
  if ('errorReason' in forgiven) return { refusals: [forgiven] };
  const { prepaymentAcceptance } = loan.product.paymentSettings.prepaymentSettings;
  const due = dueNow(openLedger(loan, accrued, valueDate));
  if (prepaymentAcceptance === 'NO_PREPAYMENTS' && figures.total.greaterThan(due)) {
    return refuse('PREPAYMENT_NOT_ALLOWED_ERROR');
  }

  const { interest, fees, penalty, nonScheduledFees } = forgiven;
  const { externalId: _ofThePayment, ...shared } = command;
  const forgive =
    (
      type: 'INTEREST_DUE_REDUCED' | 'FEES_DUE_REDUCED' | 'PENALTIES_DUE_REDUCED',
      amount: Decimal,
      reduce: (ledger: Ledger) => void,
    ): Step =>
    (current, own) =>
      amount.isZero() ? null : reduced(movedTo(current, valueDate), shared, own, type, valueDate, reduce);
  const paidOff = inSteps(loan, context, [
    (current, own) => interestApplied(current, shared, own, valueDate),
    forgive('INTEREST_DUE_REDUCED', interest, (ledger) => reduceRows(ledger, 'INTEREST', interest)),
    forgive('FEES_DUE_REDUCED', fees.plus(nonScheduledFees), (ledger) => {
      reduceCharges(ledger, fees, ({ allocation }) => allocation !== 'NO_ALLOCATION');
      reduceCharges(ledger, nonScheduledFees, ({ allocation }) => allocation === 'NO_ALLOCATION');
    }),
    forgive('PENALTIES_DUE_REDUCED', penalty, (ledger) => reduceRows(ledger, 'PENALTY', penalty)),
    (current, own) => paidInFull(current, command, own, valueDate),
  ]);
  return paidOff ?? refuse('INVALID_ACCOUNT_STATE_FOR_REPAYMENTS');
}

/** What a loan would have to pay on a day, today or later, to be paid off; the refusal of a pay-off on that day. */
export function payOffFigures(loan: Loan, valueDate: LocalDate): Figures | Refusal {
  const fault = refusalOfState(loan, valueDate);
  if (fault !== null) return fault;
  return figuresOf(loan, accrueTo(loan, loan.position, valueDate));
}

function refusalOfPayOff(loan: Loan, command: PayOff): Refusal | null {
  const valueDate = command.valueDate ?? dayOfCommand(command);
  return (
    refusalOfState(loan, valueDate) ?? refusalOfDays(command, 'INVALID_DATE', 'REPAYMENT_DATE_IN_THE_FUTURE_ERROR')
  );
}

function refusalOfState({ position }: Loan, valueDate: LocalDate): Refusal | null {
  if (!isActive(position) || position.asOf === null) return refusal('INVALID_ACCOUNT_STATE_FOR_REPAYMENTS');
  if (!isUsableDate(valueDate)) return refusal('INVALID_DATE', 'valueDate');
  return valueDate < position.asOf ? refusal('ENTRY_DATE_BEFORE_OTHER_TRANSACTION', 'valueDate') : null;
}

interface Forgiven {
  readonly interest: Decimal;
  readonly fees: Decimal;
  readonly penalty: Decimal;
  readonly nonScheduledFees: Decimal;
}

/** What is owed less what is to be paid of it; the refusal of the first amount that cannot be paid. */
function forgivenOf(
  { product }: Loan,
  { interest, fees, penalty, nonScheduledFees }: Figures,
  { interestPaid, feesPaid, penaltyPaid, nonScheduledFeeAmount }: PayOffAdjustableAmounts,
): Forgiven | Refusal {
  const parts = [
    ['interestPaid', interestPaid, interest.balance, 'PAY_OFF_INVALID_INTEREST_PAID'],
    ['feesPaid', feesPaid, fees.balance, 'PAY_OFF_INVALID_FEES_PAID'],
    ['penaltyPaid', penaltyPaid, penalty.balance, 'PAY_OFF_INVALID_PENALTY_PAID'],
    ['nonScheduledFeeAmount', nonScheduledFeeAmount, nonScheduledFees.balance, 'PAY_OFF_INVALID_FEES_PAID'],
  ] as const satisfies readonly (readonly [string, Decimal | undefined, Decimal, RefusalReason])[];
  for (const [name, paid, owed, reason] of parts) {
    if (paid === undefined || paid.isZero()) continue;
    const isPayable = isPostable(paid, product.currency.digits) && paid.lessThanOrEqualTo(owed);
    if (!isPayable) return refusal(reason, `payOffAdjustableAmounts.${name}`);
  }
  return {
    interest: interest.balance.minus(interestPaid ?? interest.balance),
    fees: fees.balance.minus(feesPaid ?? fees.balance),
    penalty: penalty.balance.minus(penaltyPaid ?? penalty.balance),
    nonScheduledFees: nonScheduledFees.balance.minus(nonScheduledFeeAmount ?? nonScheduledFees.balance),
  };
}

function movedTo(loan: Loan, date: LocalDate): Loan {
  return { ...loan, position: accrueTo(loan, loan.position, date) };
}

/** The repayment of all that is owed; null when nothing is. It passes over all rows once, and over all fees once. */
function paidInFull(
  loan: Loan,
  command: PayOff,
  context: DecisionContext,
  valueDate: LocalDate,
): { readonly fact: TransactionPosted } | null {
  const settled = settledInFull(loan, valueDate, command.receivedAt);
  if (settled === null) return null;
  const { position, amount, affected, taxes } = settled;
  return post(loan, command, context, 'REPAYMENT', position, { amount, valueDate, affected, taxes });
}

/** A payment of all that is owed, and the position that it leads to. */
interface Settlement {
  readonly position: LoanPosition;
  readonly amount: Decimal;
  readonly affected: ElementAmounts;
  readonly taxes: ElementAmounts;
}

/**
 * Pays all that is owed on a day, fees outside the schedule included; null when nothing is.
 * @param now Milliseconds since the epoch.
 */
export function settledInFull(loan: Loan, valueDate: LocalDate, now: number): Settlement | null {
  const ledger = openLedger(loan, accrueTo(loan, loan.position, valueDate), valueDate);
  for (const index of ledger.rows.keys()) {
    for (const element of ['INTEREST', 'PENALTY', 'PRINCIPAL'] as const) {
      pay(ledger, index, element, payable(ledger, index, element));
    }
  }
  const { fees, nonScheduledFees } = figuresOf(loan, ledger.position);
  payCharges(ledger, fees.balance.plus(nonScheduledFees.balance), () => true);
  const { affected, taxes } = ledger;
  const amount = sum(Object.values(affected) as Decimal[]);
  if (amount.isZero()) return null;
  return { position: closeOut(loan, ledger, ledger.position.periodicPayment, now), amount, affected, taxes };
}
