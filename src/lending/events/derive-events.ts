import { figuresOf } from '../balances.ts';
import { futurePaymentsOf } from '../business-days/future-payments.ts';
import { type Balances, balanceNames, balancesOf } from '../views/balances.ts';
import { feeBalancesOf } from '../views/fee-balance-names.ts';
import { isPlanned, type FeeCharge } from '../fees/charges.ts';
import type { LoanCommand } from '../commands.ts';
import type { BalanceChange, LoanEvent, LoanEventHeader, LoanFeeEvent } from '../events.ts';
import type { LoanFact, StateEventName } from '../commands/facts.ts';
import { type InstallmentView, changedInstallments } from '../views/schedules.ts';
import { dayOfCommand, startOfDay, toInstant } from '../instants.ts';
import { type Loan, type LoanPosition, type LoanTransaction, isActive } from '../loan.ts';
import { findInstallment, rowDue } from '../installments.ts';
import { installmentEncodedKey } from '../identifiers.ts';
import { type Decimal, sum, zero } from '../money.ts';
import { behaviourOf } from '../products/product-behaviour.ts';
import { type LoanTransactionType, type ScheduleChangeReason, eventNamesOf } from '../transaction-types.ts';
import type { LocalDate } from '../terms.ts';
import { type Toggles, areSameToggles } from '../toggle-names.ts';
import { accountOf } from '../views/accounts.ts';
import { transactionView } from '../views/transactions.ts';

/** An event without the fields that all events have. Its position in the list determines its sequence number. */
type Body = LoanEvent extends infer Event
  ? Event extends LoanEvent
    ? Omit<Event, keyof LoanEventHeader>
    : never
  : never;

/**
 * The events of one command, found by comparing what the views showed before with what they show after. By
 * construction, folding the events therefore gives what the views show. "Before" is what was last published, under the
 * toggles of that time. Rows that look different because a toggle changed since are published again. A balance that a
 * toggle renamed since is taken to zero under its old name and published in full under its new one.
 * @param posted The transaction that the fact posted; null when it posted none.
 */
export function eventsBetween(
  before: Loan | null,
  after: Loan,
  fact: LoanFact,
  posted: LoanTransaction | null,
  command: LoanCommand,
  toggles: Toggles,
): LoanEvent[] {
  const isOfWaiting = fact.type === 'FUTURE_PAYMENT_RECORDED' || fact.type === 'FUTURE_PAYMENT_TAKEN_BACK';
  const changedOn = fact.type === 'BUSINESS_DAY_STARTED' ? fact.businessDate : dayOfChange(after, command);
  const bodies: Body[] = [];
  if (before !== null && posted !== null && !isOfWaiting) {
    bodies.push(...transactionBodies(before, after, posted, command, toggles));
  } else if (before !== null && changedOn !== null) {
    bodies.push(...shownBodies(before, after, changedOn, command, toggles));
  }
  const isOtherWaiting = before !== null && futurePaymentsOf(before) !== futurePaymentsOf(after);
  if (fact.type === 'PERSONAL_DATA_ERASED') {
    bodies.push({ eventType: 'loan_account_changed', account: accountOf(after), personalDataErased: true });
  } else if (fact.type === 'LOAN_CHANGED' || isOtherWaiting) {
    bodies.push({ eventType: 'loan_account_changed', account: accountOf(after) });
  }
  bodies.push(...stateBodies(before, after, fact));
  const creationDate = toInstant(command.receivedAt);
  return bodies.map((body, index) => {
    const header: LoanEventHeader = {
      schemaVersion: 1,
      loanAccountId: after.id,
      loanAccountEncodedKey: after.encodedKey,
      productTypeKey: after.product.encodedKey,
      sequence: after.eventSequence + index + 1,
      causationCommandId: command.commandId,
      transactionEncodedKey: posted?.encodedKey ?? null,
      transactionType: posted?.type ?? null,
      valueDate: fact.type === 'BUSINESS_DAY_STARTED' ? fact.businessDate : (posted?.valueDate ?? null),
      bookingDate: posted?.bookingDate ?? null,
      creationDate,
      toggles,
    };
    // Bodies have many shapes. Adding fields to such an object one by one takes five times as long.
    return { ...body, ...header };
  });
}

/** The day of a change without a transaction; null while the account has published neither balances nor rows. */
function dayOfChange({ position, transactionCount }: Loan, command: LoanCommand): LocalDate | null {
  if (position.asOf !== null) return position.asOf;
  // A disbursement that was taken back left both.
  return transactionCount === 0 ? null : dayOfCommand(command);
}

function transactionBodies(
  before: Loan,
  after: Loan,
  posted: LoanTransaction,
  command: LoanCommand,
  toggles: Toggles,
): Body[] {
  const { type } = posted;
  const schedule = scheduleBody(before, after, type, toggles);
  const balances = balancesOf(after, toggles);
  return [
    {
      eventType: 'loan_transaction_posted',
      name: eventNamesOf(type).eventName,
      transaction: transactionView(after, posted),
    },
    ...feeBodies(before, after, toggles),
    {
      eventType: 'loan_balance_changed',
      changes: balanceChanges(balancesOf(before, before.publishedUnder ?? toggles), balances, after, command, {
        applicationDate: posted.valueDate,
        loanTransactionEncodedKey: posted.encodedKey,
      }),
      balances,
    },
    ...(schedule === null ? [] : [schedule]),
  ];
}

/**
 * What changed without a transaction: by the start of a day, by a change of the account or its state, or by a toggle
 * since the events before. Nothing when that changed nothing that is shown.
 */
function shownBodies(
  before: Loan,
  after: Loan,
  applicationDate: LocalDate,
  command: LoanCommand,
  toggles: Toggles,
): Body[] {
  const balances = balancesOf(after, toggles);
  const published = balancesOf(before, before.publishedUnder ?? toggles);
  const cause = { applicationDate, loanTransactionEncodedKey: null };
  const changes = balanceChanges(published, balances, after, command, cause);
  const areUnchanged = changes.length === 0 && haveSameNames(published, balances);
  const schedule = scheduleBody(before, after, null, toggles);
  return [
    ...feeBodies(before, after, toggles),
    ...(areUnchanged ? [] : [{ eventType: 'loan_balance_changed', changes, balances } as const]),
    ...(schedule === null ? [] : [schedule]),
  ];
}

/** A toggle may name a balance of zero that had no name before. */
function haveSameNames(one: Balances, other: Balances): boolean {
  return one === other || balanceNames.every((name) => (one[name] === undefined) === (other[name] === undefined));
}

function balanceChanges(
  old: Balances,
  now: Balances,
  after: Loan,
  command: LoanCommand,
  cause: Pick<BalanceChange, 'applicationDate' | 'loanTransactionEncodedKey'>,
): BalanceChange[] {
  const creationDate = toInstant(command.receivedAt);
  const changes: BalanceChange[] = [];
  for (const type of balanceNames) {
    const balanceAfter = now[type] ?? zero;
    const balanceBefore = old[type] ?? zero;
    // Most balances are still the same object.
    if (balanceAfter === balanceBefore || balanceAfter.equals(balanceBefore)) continue;
    changes.push({
      type,
      amount: balanceAfter.minus(balanceBefore),
      balanceAfter,
      applicationDate: cause.applicationDate,
      creationDate,
      loanAccountEncodedKey: after.encodedKey,
      loanTransactionEncodedKey: cause.loanTransactionEncodedKey,
    });
  }
  return changes;
}

/** One event for each fee that was added or removed, and one for each whose paid part changed. */
function feeBodies(before: Loan, after: Loan, toggles: Toggles): Body[] {
  const balances = feeBalancesOf(figuresOf(after), toggles);
  // Charges are in the order they were made, and the older ones are mostly untouched.
  const [appliedBefore, applied] = [appliedCharges(before), appliedCharges(after)];
  const untouched = commonBeginning(appliedBefore, applied);
  const earlierCharges = appliedBefore.slice(untouched);
  const charges = applied.slice(untouched);
  const old = new Map(earlierCharges.map((charge) => [charge.encodedKey, charge]));
  const kept = new Set(charges.map(({ encodedKey }) => encodedKey));
  const installmentOf = ({
    installmentKey: key,
  }: FeeCharge): Pick<LoanFeeEvent, 'installmentKey' | 'installmentNumber'> => {
    if (key === null) return {};
    // A row that an adjustment removed is in the position before.
    const row = findInstallment(after.position.installments, key) ?? findInstallment(before.position.installments, key);
    if (row === undefined) throw new Error(`no installment with key ${key}`);
    return { installmentKey: installmentEncodedKey(after, key), installmentNumber: row.number };
  };
  const feeBody = (charge: FeeCharge, kind: FeeKind, amount: Decimal, tax: Decimal): Body => ({
    eventType: 'loan_fee_event',
    ...kind,
    feeKey: charge.encodedKey,
    predefinedFeeKey: charge.predefinedFeeKey,
    feeName: charge.feeName,
    trigger: charge.trigger,
    amount,
    tax,
    allocation: charge.allocation,
    ...installmentOf(charge),
    balances,
  });
  const appliedOrRemoved = (charge: FeeCharge, sign: 1 | -1): Body =>
    feeBody(
      charge,
      kindOfCharge(charge, sign),
      signed(charge.amount.expected, sign),
      signed(charge.tax.expected, sign),
    );
  const paid = (charge: FeeCharge, amount: Decimal, tax: Decimal): Body[] => {
    if ((amount.isZero() && tax.isZero()) || charge.trigger === 'CAPITALIZED_DISBURSEMENT') return [];
    return [
      feeBody(
        charge,
        amount.isNegative() ? { feeEvent: 'ADJUSTED', adjusts: 'PAID' } : { feeEvent: 'PAID' },
        amount,
        tax,
      ),
    ];
  };
  // A reduction takes a part of a charge back, and its adjustment makes the charge as large as before.
  const reduced = (earlier: FeeCharge, charge: FeeCharge): Body[] => {
    const amount = charge.amount.expected.minus(earlier.amount.expected);
    const tax = charge.tax.expected.minus(earlier.tax.expected);
    if (amount.isZero() && tax.isZero()) return [];
    return [feeBody(charge, { feeEvent: 'ADJUSTED', adjusts: 'APPLIED' }, amount, tax)];
  };
  const removed = earlierCharges.filter(({ encodedKey }) => !kept.has(encodedKey));
  return [
    ...removed.flatMap((charge) => [
      ...paid(charge, zero.minus(charge.amount.paid), zero.minus(charge.tax.paid)),
      appliedOrRemoved(charge, -1),
    ]),
    ...charges.flatMap((charge) => {
      const earlier = old.get(charge.encodedKey);
      if (earlier === charge) return [];
      const amount = charge.amount.paid.minus(earlier?.amount.paid ?? zero);
      const tax = charge.tax.paid.minus(earlier?.tax.paid ?? zero);
      const asked = earlier === undefined ? [appliedOrRemoved(charge, 1)] : reduced(earlier, charge);
      return [...asked, ...paid(charge, amount, tax)];
    }),
  ];
}

/** The charges that are not only planned. A planned charge gets its event when applied; until then its row shows it. */
function appliedCharges(loan: Loan): readonly FeeCharge[] {
  const { position } = loan;
  return behaviourOf(loan.product).dueDateFees === 'FROM_DUE_DATE'
    ? position.charges.filter((charge) => !isPlanned(loan, position, charge))
    : position.charges;
}

/** The number of leading items that two lists share. */
function commonBeginning(one: readonly unknown[], other: readonly unknown[]): number {
  const differing = one.findIndex((item, index) => item !== other[index]);
  return differing === -1 ? one.length : differing;
}

function signed(amount: Decimal, sign: 1 | -1): Decimal {
  return sign === 1 ? amount : zero.minus(amount);
}

type FeeKind = Pick<LoanFeeEvent, 'feeEvent' | 'adjusts'>;

function kindOfCharge({ trigger }: FeeCharge, sign: 1 | -1): FeeKind {
  if (sign === -1) return { feeEvent: 'ADJUSTED', adjusts: 'APPLIED' };
  return { feeEvent: trigger === 'CAPITALIZED_DISBURSEMENT' ? 'CAPITALISED' : 'APPLIED' };
}

/**
 * Null when every row looks the same as before.
 * @param type Of the transaction that changed it; null where none did.
 */
function scheduleBody(before: Loan, after: Loan, type: LoanTransactionType | null, toggles: Toggles): Body | null {
  const { installments } = after.position;
  const changed = changedInstallments(before, after, toggles);
  const removed = before.position.installments.filter(({ key }) => findInstallment(installments, key) === undefined);
  if (changed.length === 0 && removed.length === 0) return null;
  const dues = installments.map(rowDue);
  const nextDue = installments[dues.findIndex((due) => !due.isZero())];
  return {
    eventType: 'loan_schedule_changed',
    reason: type === null ? reasonWithoutTransaction(before, changed, toggles) : scheduleReason(type, before, after),
    scheduleVersion: after.scheduleVersion + 1,
    changedInstallments: changed,
    removedInstallmentKeys: removed.map(({ key }) => installmentEncodedKey(before, key)),
    summary: {
      count: installments.length,
      nextDueDate: nextDue === undefined ? null : startOfDay(nextDue.dueDate),
      totalDue: sum(dues),
    },
  };
}

/**
 * Rows that became late say so. Otherwise a toggle shows them in another way, or overdue principal has earned interest
 * that a row now expects.
 */
function reasonWithoutTransaction(
  { publishedUnder }: Loan,
  changed: readonly InstallmentView[],
  toggles: Toggles,
): ScheduleChangeReason {
  if (changed.some(({ state }) => state === 'LATE')) return 'LATE';
  const isSwitched = publishedUnder !== null && !areSameToggles(publishedUnder, toggles);
  return isSwitched ? 'TOGGLE_SWITCHED' : 'INTEREST_ACCRUED';
}

function scheduleReason(type: LoanTransactionType, before: Loan, after: Loan): ScheduleChangeReason {
  if (type === 'REPAYMENT' && !isSamePrincipalPlan(before, after)) return 'PREPAYMENT_RECALCULATED';
  return eventNamesOf(type).scheduleReason;
}

function isSamePrincipalPlan(before: Loan, after: Loan): boolean {
  const plan = (loan: Loan): string => loan.position.installments.map((row) => row.principal.expected.toFixed()).join();
  return plan(before) === plan(after);
}

function stateBodies(before: Loan | null, after: Loan, fact: LoanFact): Body[] {
  const { accountState, accountSubState } = after.position;
  const previousAccountState = before?.position.accountState ?? null;
  const previousAccountSubState = before?.position.accountSubState ?? null;
  const isSameState = accountState === previousAccountState && accountSubState === previousAccountSubState;
  if (isSameState && fact.type !== 'LOAN_DELETED') return [];
  const name = stateEventName(fact, after, before?.position);
  return [
    {
      eventType: 'loan_state_changed',
      name,
      accountState,
      accountSubState,
      previousAccountState,
      previousAccountSubState,
    },
  ];
}

function stateEventName(fact: LoanFact, { position }: Loan, before: LoanPosition | undefined): StateEventName {
  const previous = before?.accountState;
  if (fact.type === 'LOAN_CREATED') return 'loan_created';
  if (fact.type === 'LOAN_DELETED') return 'loan_deleted';
  if (fact.type === 'STATE_CHANGED') return fact.eventName;
  if (position.accountSubState === 'WRITTEN_OFF') return 'loan_written_off';
  if (position.accountSubState === 'RESCHEDULED') return 'loan_rescheduled';
  if (position.accountSubState === 'REFINANCED') return 'loan_refinanced';
  if (position.accountState === 'CLOSED') return 'loan_closed';
  const wasTerminated = before?.accountSubState === 'TERMINATED';
  const isTerminated = position.accountSubState === 'TERMINATED';
  if (previous !== 'CLOSED' && isTerminated && !wasTerminated) return 'loan_terminated';
  if (isActive(position) && wasTerminated && !isTerminated) return 'loan_termination_undone';
  if (previous === 'ACTIVE' && position.accountState === 'ACTIVE_IN_ARREARS') return 'loan_in_arrears';
  if (previous === 'ACTIVE_IN_ARREARS' && position.accountState === 'ACTIVE') return 'loan_out_of_arrears';
  if (!isActive(position)) return 'loan_deactivated';
  if (previous === 'CLOSED') return 'loan_reopened';
  if (previous === 'APPROVED') return 'loan_activated';
  const { accountSubState } = position;
  return accountSubState === 'LOCKED' || accountSubState === 'LOCKED_CAPPING' ? 'loan_locked' : 'loan_unlocked';
}
