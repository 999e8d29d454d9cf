import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { figuresOf } from '../../src/lending/balances.ts';
import { type Balances, balancesOf } from '../../src/lending/views/balances.ts';
import type { LoanEvent } from '../../src/lending/events.ts';
import { type InstallmentView, scheduleOf } from '../../src/lending/views/schedules.ts';
import { pagesOf } from '../../src/lending/changelog/stored-pages.ts';
import { storedAndRead } from './changelog/stored-accounts.ts';
import { decodeTransaction, encodeTransaction } from '../../src/lending/changelog/stored-transaction.ts';
import { type TaxedPortion, dueOf, rowDue } from '../../src/lending/installments.ts';
import { dormancyPeriodDays } from '../../src/lending/products/product.ts';
import { isSettled } from '../../src/lending/fees/settled-fees.ts';
import { Decimal, sum } from '../../src/lending/money.ts';
import { type Toggles, allTogglesOff } from '../../src/lending/toggle-names.ts';
import {
  type Step,
  anyProduct,
  anyStart,
  anySteps,
  anyToggles,
  commandOf,
  walk,
  weekendsAndSpring,
  withMethod,
} from './loan-arbitraries.ts';
import { accountsOf, act, undoOfReplacement } from './commands/agreements/replacements.ts';
import {
  type Story,
  approve,
  withCalendar,
  create,
  disburse,
  given,
  loanOf,
  money,
  repay,
  texts,
  under,
  when,
} from './loan-fixtures.ts';
import { propertyRuns } from '../support/values/property-runs.ts';

const runs = propertyRuns(50);
/** For comparisons of whole loans, which are slow in chai. */
const fewRuns = propertyRuns(20);

/** The story after each step. */
function pathOf(start: Story, steps: readonly Step[]): Story[] {
  const path = [start];
  for (const step of steps) path.push(walk(path.at(-1) ?? start, step));
  return path;
}

/** Each account of a path as each step left it that changed it: one that was replaced too. */
function statesOf(path: readonly Story[]): readonly Story[] {
  return [...new Set(path.flatMap(accountsOf))];
}

/** The same without the steps that told nothing: a switch alone reports nothing, and the next event does. */
function toldOf(path: readonly Story[]): readonly Story[] {
  const last = new Set<LoanEvent | undefined>();
  return statesOf(path).filter(({ events }) => {
    const isTold = !last.has(events.at(-1));
    last.add(events.at(-1));
    return isTold;
  });
}

/** A property that must be true of each account after each step of any story. */
function always(holds: (story: Story) => void, settings: { numRuns: number } = runs): void {
  fc.assert(
    fc.property(anyStart, anySteps, (start, steps) => {
      for (const story of statesOf(pathOf(start, steps))) holds(story);
    }),
    settings,
  );
}

describe('any loan, after any commands', () => {
  it('has expected, overpaid and written-off principal that sum to the amount lent', () => {
    always((story) => {
      const { installments, principalLent } = loanOf(story).position;
      const asked = sum(installments.flatMap((row) => [row.principal.expected, row.principalOverpaid]));
      expect(asked.plus(writtenOffOf(story)).toFixed(2)).to.equal(principalLent.toFixed(2));
    });
  });

  it('has no negative amounts, and no tax above its amount', () => {
    always((story) => {
      for (const row of loanOf(story).position.installments) {
        const amounts = [row.principal, ...[row.interest, row.fee, row.penalty].flatMap(portionsOf)];
        for (const { expected, paid } of amounts) {
          expect(paid.isNegative(), `paid ${paid.toFixed()}`).to.equal(false);
          expect(paid.lessThanOrEqualTo(expected), `${paid.toFixed()} paid of ${expected.toFixed()}`).to.equal(true);
        }
        for (const { amount, tax } of [row.interest, row.fee, row.penalty]) {
          expect(tax.expected.lessThanOrEqualTo(amount.expected)).to.equal(true);
        }
      }
    });
  });

  it('shows expected = paid + due in every group of every installment, in whole cents', () => {
    always((story) => {
      for (const row of scheduleOf(loanOf(story), story.toggles).installments) {
        const groups = [
          row.principal.amount,
          ...[row.interest, row.fee, row.penalty].flatMap((g) => [g.amount, g.tax]),
        ];
        for (const { expected, paid, due } of groups) {
          expect(expected.toFixed()).to.equal(paid.plus(due).toFixed());
          expect(due.isNegative()).to.equal(false);
          expect(Math.max(...[expected, paid, due].map((amount) => amount.decimalPlaces()))).to.be.at.most(2);
        }
      }
    });
  });

  it('has strictly ascending due dates after the disbursement, and consecutive numbers', () => {
    always((story) => {
      const { installments, disbursements, accountSubState } = loanOf(story).position;
      let before = disbursements[0]?.date ?? '';
      for (const [index, row] of installments.entries()) {
        // A loan that is terminated on the day on which it was paid out is due on that day.
        const isDueAtOnce = accountSubState !== null && row.dueDate === disbursements[0]?.date;
        expect(row.dueDate > before || isDueAtOnce, `${row.dueDate} after ${before}`).to.equal(true);
        expect(row.number).to.equal(index + 1);
        before = row.dueDate;
      }
    });
  });

  it('has a principal balance of the amount lent less the principal paid or written off', () => {
    always((story) => {
      const loan = loanOf(story);
      const { principal } = figuresOf(loan);
      const given = principal.paid.plus(writtenOffOf(story));
      expect(principal.balance.toFixed()).to.equal(loan.position.principalLent.minus(given).toFixed());
    });
  });

  it('has the same unpaid fees in its rows as in its fee charges', () => {
    always((story) => {
      const { installments, charges } = loanOf(story).position;
      for (const row of installments) {
        const own = charges.filter((charge) => charge.installmentKey === row.key);
        const due = (part: 'amount' | 'tax'): string => sum(own.map((charge) => dueOf(charge[part]))).toFixed(2);
        expect([due('amount'), due('tax')]).to.deep.equal([
          dueOf(row.fee.amount).toFixed(2),
          dueOf(row.fee.tax).toFixed(2),
        ]);
      }
    });
  });

  it('keeps no fee that is paid in full, and numbers the others in their order', () => {
    always((story) => {
      const loan = loanOf(story);
      const { charges, chargeCount } = loan.position;
      expect(charges.filter((charge) => isSettled(loan, loan.position, charge))).to.deep.equal([]);
      const numbers = charges.map(({ number }) => number);
      expect(numbers).to.deep.equal([...new Set(numbers)].toSorted((one, other) => one - other));
      expect(chargeCount).to.be.at.least(numbers.at(-1) ?? 0);
    });
  });

  it('has paid as many fees as its transactions say', () => {
    always((story) => {
      const loan = loanOf(story);
      const { fees, nonScheduledFees } = figuresOf(loan);
      const inTransactions = story.transactions
        .filter(({ type }) => /^(?:REPAYMENT|TRANSFER)(?:_ADJUSTMENT)?$/.test(type))
        .map(({ affected }) => affected.fees);
      const deducted = story.transactions
        .filter(({ type }) => type.startsWith('DISBURSEMENT'))
        .flatMap((transaction) => transaction.fees.filter(({ trigger }) => trigger === 'DISBURSEMENT'));
      const expected = sum([...inTransactions, ...deducted.map(({ amount }) => amount)]);
      expect(fees.paid.plus(nonScheduledFees.paid).toFixed(2)).to.equal(expected.toFixed(2));
    });
  });

  it('has applied as much interest of its rows as its transactions say, and no more than they expect', () => {
    always((story) => {
      const { installments } = loanOf(story).position;
      const posted = sum(
        story.transactions
          .filter(({ type }) => type.startsWith('INTEREST_APPLIED'))
          .map(({ affected }) => affected.interest),
      );
      const applied = sum(installments.map(({ interestApplied }) => interestApplied));
      // What is forgiven counts as applied no longer.
      const reduced = sum(installments.map(({ interestReduced }) => interestReduced));
      expect(applied.lessThanOrEqualTo(posted)).to.equal(true);
      expect(applied.plus(reduced).greaterThanOrEqualTo(posted)).to.equal(true);
      for (const { interest, interestApplied } of installments) {
        expect(interestApplied.lessThanOrEqualTo(interest.amount.expected)).to.equal(true);
      }
    });
  });

  it('is closed exactly when nothing is due, unless its product keeps it open for some days', () => {
    always((story) => {
      const loan = loanOf(story);
      const { total, nonScheduledFees } = figuresOf(loan);
      const isRepaid = total.isZero() && nonScheduledFees.balance.isZero();
      const { accountState, accountSubState, disbursements, paidSince } = loan.position;
      if (disbursements.length === 0) {
        // Only the undo of a replacement withdraws an account here.
        expect(accountState).to.equal(accountSubState === 'WITHDRAWN' ? 'CLOSED' : 'APPROVED');
        return;
      }
      const isKept = paidSince !== undefined;
      expect(accountState).to.equal(isRepaid && !isKept ? 'CLOSED' : 'ACTIVE');
      if (isKept) expect(isRepaid && dormancyPeriodDays(loan.product) > 0).to.equal(true);
      if (isRepaid) expect(sum(loan.position.installments.map(rowDue)).toFixed()).to.equal('0');
      expect(accountSubState).to.be.oneOf(
        accountState === 'CLOSED'
          ? ['REPAID', 'WRITTEN_OFF', 'RESCHEDULED', 'REFINANCED']
          : [null, 'LOCKED', 'TERMINATED'],
      );
    });
  });

  it('is unchanged after being stored', () => {
    always((story) => {
      const read = storedAndRead(loanOf(story));
      expect(read).to.deep.equal(loanOf(story));
      expect(pagesOf(read), 'written again').to.deep.equal(pagesOf(loanOf(story)));
      for (const transaction of story.transactions) {
        expect(decodeTransaction(encodeTransaction(transaction))).to.deep.equal(transaction);
      }
    }, fewRuns);
  });

  it('numbers its events without a gap', () => {
    always((story) => {
      expect(story.events.map(({ sequence }) => sequence)).to.deep.equal(story.events.map((_, index) => index + 1));
      expect(loanOf(story).eventSequence).to.equal(story.events.length);
    });
  });
});

describe('the events of any loan', () => {
  it('reproduce its schedule and balances, under any toggles and any switches between commands', () => {
    fc.assert(
      fc.property(anyStart, anySteps, (start, steps) => {
        for (const story of toldOf(pathOf(start, steps))) {
          // A preview is no schedule yet: once the disbursement is adjusted, nothing is left to report.
          const isPaidOut = loanOf(story).position.disbursements.length > 0;
          const shown = isPaidOut ? scheduleOf(loanOf(story), story.toggles).installments : [];
          expect(plain(foldSchedule(story.events))).to.deep.equal(plain(shown));
          const last = story.events.findLast((event) => event.eventType === 'loan_balance_changed');
          expect(plain(last?.balances)).to.deep.equal(plain(balancesOf(loanOf(story), story.toggles)));
        }
      }),
      runs,
    );
  });

  it('have balance changes that sum to the balances, however toggles are switched between commands', () => {
    fc.assert(
      fc.property(anyStart, anySteps, (start, steps) => {
        for (const story of toldOf(pathOf(start, steps))) {
          const balances = Object.entries(balancesOf(loanOf(story), story.toggles));
          expect(nonZero(foldBalances(story.events))).to.deep.equal(nonZero(balances));
        }
      }),
      runs,
    );
  });

  it('are ordered within each transaction of a command: created, transaction, fees, balances, schedule, account, state', () => {
    const order = [
      'loan_transaction_posted',
      'loan_fee_event',
      'loan_balance_changed',
      'loan_schedule_changed',
      'loan_account_changed',
      'loan_state_changed',
    ];
    const positionOf = (event: LoanEvent): number =>
      event.eventType === 'loan_state_changed' && event.name === 'loan_created' ? -1 : order.indexOf(event.eventType);
    always(({ events }) => {
      for (const [index, event] of events.entries()) {
        const next = events[index + 1];
        if (next?.causationCommandId !== event.causationCommandId) continue;
        if (next.transactionEncodedKey !== event.transactionEncodedKey) continue;
        const [position, nextPosition] = [positionOf(event), positionOf(next)];
        expect(nextPosition > position || (nextPosition === position && next.eventType === 'loan_fee_event')).to.equal(
          true,
        );
      }
    });
  });

  it('report applied and paid fees as the fee balances show them', () => {
    always((story) => {
      const { fees, nonScheduledFees } = figuresOf(loanOf(story));
      const emitted = story.events.flatMap((event) => (event.eventType === 'loan_fee_event' ? [event] : []));
      const sumOf = (kind: 'APPLIED' | 'PAID'): Decimal =>
        sum(emitted.filter(({ feeEvent, adjusts }) => (adjusts ?? feeEvent) === kind).map(({ amount }) => amount));
      // A capitalised fee is principal: it is reported as such, and reversed as an applied one.
      const capitalised = emitted.filter(
        ({ feeEvent, trigger }) => trigger === 'CAPITALIZED_DISBURSEMENT' && feeEvent === 'ADJUSTED',
      );
      const applied = sumOf('APPLIED').minus(sum(capitalised.map(({ amount }) => amount)));
      const owed = fees.balance.plus(nonScheduledFees.balance);
      expect(applied.minus(sumOf('PAID')).toFixed(2)).to.equal(owed.toFixed(2));
    });
  });

  it('show what keeps a loan open, whatever was switched since it was charged', () => {
    always((story) => {
      for (const toggles of [story.toggles, allTogglesOff, allTogglesOn]) {
        const owed = Object.entries(balancesOf(loanOf(story), toggles)).filter(([name]) =>
          /(?<!Paid)Balance$/.test(name),
        );
        const { accountState, paidSince } = loanOf(story).position;
        // One that is paid may be kept open for some days.
        const isOpen = accountState === 'ACTIVE' && paidSince === undefined;
        expect(owed.some(([, amount]) => !amount.isZero())).to.equal(isOpen);
      }
    });
  });

  it('use no name that belongs to a switched-off toggle', () => {
    fc.assert(
      fc.property(anyStart, anySteps, anyToggles, (start, steps, toggles) => {
        const story = walkAll(
          reopen(start, toggles),
          steps.filter(({ kind }) => kind !== 'toggle'),
        );
        // Toggles rename nothing in the account that `loan_account_changed` shows.
        const text = JSON.stringify(story.events.map((event) => ({ ...event, toggles: null, account: null })));
        const shown = text + JSON.stringify([balancesOf(loanOf(story), toggles), scheduleOf(loanOf(story), toggles)]);
        const has = (name: string): boolean => shown.includes(`"${name}"`);
        const isOn = toggles.ALLOW_NON_SCHEDULED_FEES;
        expect(['feesDue', 'feesPaid', 'feesBalance'].map(has)).to.deep.equal([!isOn, !isOn, !isOn]);
        expect(['scheduledFeesDue', 'nonScheduledFeeBalance', 'nonScheduledFeePaidBalance'].map(has)).to.deep.equal([
          isOn,
          isOn,
          isOn,
        ]);
        expect(has('nonScheduledPrincipalBalanceOverpayment')).to.equal(toggles.PRINCIPAL_OVERPAYMENT);
      }),
      runs,
    );
  });
});

describe('a command', () => {
  it('that is adjusted restores everything exactly', () => {
    fc.assert(
      fc.property(anyStart, anySteps, (start, steps) => {
        const path = pathOf(start, steps);
        for (const [index, story] of path.entries()) {
          const before = path[index - 1];
          const step = steps[index - 1];
          if (before === undefined || step === undefined || story.outcome !== 'committed') continue;
          if (step.kind === 'adjust' || step.kind === 'toggle') continue;
          const undoing = story.others.length > before.others.length ? undoOfReplacement(story) : null;
          // A pay-off may have posted several transactions.
          const posted = undoing === null ? story.transactions.slice(before.transactions.length) : [];
          // One that re-decided others has its own test.
          if (posted.some(({ undo }) => undo === null)) continue;
          const after = posted.reduceRight(
            (undone, { encodedKey }) => when(undone, { type: 'ADJUST_TRANSACTION', transactionId: encodedKey }),
            undoing === null ? story : act(story, undoing),
          );
          expect(after.outcome).to.equal('committed');
          expect(loanOf(after).position).to.deep.equal(loanOf(before).position);
          expect(plain(scheduleOf(loanOf(after), allTogglesOff))).to.deep.equal(
            plain(scheduleOf(loanOf(before), allTogglesOff)),
          );
        }
      }),
      runs,
    );
  });

  it('that posted a transaction changes nothing the second time', () => {
    fc.assert(
      fc.property(anyStart, anySteps, (start, steps) => {
        let story = start;
        for (const step of steps) {
          const command = step.kind === 'toggle' ? null : commandOf(story, step);
          if (command === null) continue;
          const named = {
            ...command,
            commandId: `00000000-0000-4000-9000-${String(story.commandCount).padStart(12, '0')}`,
          };
          const { id } = loanOf(story);
          const posted = story.transactions.length;
          story = act(story, named);
          const own = accountsOf(story).find(({ loan }) => loan?.id === id) ?? story;
          if (own.transactions.length === posted) continue;
          const again = when(own, named);
          expect(again.outcome).to.equal('repeated');
          expect(again.loan).to.equal(own.loan);
          expect(again.events).to.equal(own.events);
        }
      }),
      runs,
    );
  });
});

describe('repaying a and then b on the same day', () => {
  it('leads to the same balances as repaying a + b, without recalculation', () => {
    const share = fc.integer({ min: 1, max: 99 });
    const days = fc.integer({ min: 0, max: 120 });
    fc.assert(
      fc.property(anyProduct, share, share, days, (drawn, first, second, daysLater) => {
        const plainProduct = withMethod(drawn, 'NO_RECALCULATION', 'PRINCIPAL_EXPECTED_FIXED');
        const start = given(create(plainProduct), approve, disburse('2011-01-23'));
        const date = new Date(Date.UTC(2011, 0, 23 + daysLater)).toISOString().slice(0, 10);
        const probe = commandOf(start, { ...fullShare, daysLater });
        if (probe === null || probe.type !== 'REPAY') throw new Error('no repayment');
        const a = probe.amount.times(first).dividedBy(200).toDecimalPlaces(2);
        const b = probe.amount.times(second).dividedBy(200).toDecimalPlaces(2);
        fc.pre(a.greaterThan(0) && b.greaterThan(0));
        const apart = when(when(start, repay(a, date)), repay(b, date));
        const together = when(start, repay(a.plus(b), date));
        expect([apart.outcome, together.outcome]).to.deep.equal(['committed', 'committed']);
        expect(texts(balancesOf(loanOf(apart), allTogglesOff))).to.deep.equal(
          texts(balancesOf(loanOf(together), allTogglesOff)),
        );
        expect(loanOf(apart).position.installments).to.deep.equal(loanOf(together).position.installments);
      }),
      runs,
    );
  });
});

describe('a preview', () => {
  it('equals the schedule right after the disbursement', () => {
    fc.assert(
      fc.property(anyProduct, anyToggles, (drawn, toggles) => {
        const opened = when(withCalendar(weekendsAndSpring, under(toggles)), {
          ...create(drawn),
          expectedDisbursementDate: '2011-01-23',
        } as ReturnType<typeof create>);
        const previewed = scheduleOf(loanOf(opened), toggles, weekendsAndSpring);
        const out = when(when(opened, approve), disburse('2011-01-23'));
        expect(plain(scheduleOf(loanOf(out), toggles))).to.deep.equal(plain(previewed));
      }),
      runs,
    );
  });
});

const fullShare: Step = {
  kind: 'repayAll',
  share: 100,
  daysLater: 0,
  installment: 1,
  toggles: allTogglesOff,
  product: null,
};

/** Principal of write-offs that were not taken back. */
function writtenOffOf({ transactions }: Story): Decimal {
  return sum(transactions.filter(({ type }) => type.startsWith('WRITE_OFF')).map(({ affected }) => affected.principal));
}

function walkAll(start: Story, steps: readonly Step[]): Story {
  return steps.reduce(walk, start);
}

/** The same account opened again under other toggles. */
function reopen(start: Story, toggles: Toggles): Story {
  const { product, loanAmount } = loanOf(start);
  const opened = when(withCalendar(start.calendar, under(toggles)), create(product, loanAmount));
  return when(when(opened, approve), disburse('2011-01-23'));
}

function portionsOf({ amount, tax }: TaxedPortion): TaxedPortion['amount'][] {
  return [amount, tax];
}

function foldSchedule(events: readonly LoanEvent[]): InstallmentView[] {
  const rows = new Map<string, InstallmentView>();
  for (const event of events) {
    if (event.eventType !== 'loan_schedule_changed') continue;
    for (const key of event.removedInstallmentKeys) rows.delete(key);
    for (const row of event.changedInstallments) rows.set(row.encodedKey, row);
  }
  return [...rows.values()].sort((one, other) => Number(one.number) - Number(other.number));
}

const allTogglesOn: Toggles = {
  ALLOW_NON_SCHEDULED_FEES: true,
  PRINCIPAL_OVERPAYMENT: true,
  fixInstallmentTaxOnPenalty: true,
};

/** The balances that are not zero, by name. */
function nonZero(balances: Iterable<[string, Decimal]>): Record<string, string> {
  const kept = [...balances]
    .filter(([, amount]) => !amount.isZero())
    .map(([name, amount]) => [name, amount.toFixed(2)]);
  return Object.fromEntries(kept) as Record<string, string>;
}

function foldBalances(events: readonly LoanEvent[]): Map<string, Decimal> {
  const sums = new Map<string, Decimal>();
  for (const event of events) {
    if (event.eventType !== 'loan_balance_changed') continue;
    for (const { type, amount, balanceAfter } of event.changes) {
      const total = (sums.get(type) ?? money(0)).plus(amount);
      expect(balanceAfter.toFixed()).to.equal(total.toFixed());
      sums.set(type, total);
    }
  }
  return sums;
}

/** Decimals as text, so that 0 and -0, or two objects with one amount, are equal. */
function plain(value: Balances | undefined | object): unknown {
  return JSON.parse(
    JSON.stringify(value ?? null, (_, field: unknown) => (field instanceof Decimal ? field.toFixed() : field)),
  );
}
