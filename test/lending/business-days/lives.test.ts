import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { isDeepStrictEqual } from 'node:util';
import { atBusinessDate } from '../../../src/lending/business-days/business-date.ts';
import { acceptsFuturePayments, futurePaymentsOf } from '../../../src/lending/business-days/future-payments.ts';
import { figuresOf } from '../../../src/lending/balances.ts';
import { addDays } from '../../../src/lending/dates.ts';
import type { LoanEvent } from '../../../src/lending/events.ts';
import { isActive } from '../../../src/lending/loan.ts';
import { type LockSettings, dormancyPeriodDays } from '../../../src/lending/products/product.ts';
import { Decimal } from '../../../src/lending/money.ts';
import { balancesOf } from '../../../src/lending/views/balances.ts';
import { scheduleOf } from '../../../src/lending/views/schedules.ts';
import { type AccountView, accountOf } from '../../../src/lending/views/accounts.ts';
import { storedAndRead } from '../changelog/stored-accounts.ts';
import { alwaysOpen } from '../../../src/lending/schedule/calendar.ts';
import type { WorkingCalendar } from '../../../src/lending/organization.ts';
import { type Step, anyStart, anyStep, mondaysAndSpring, walk, weekendsAndSpring } from '../loan-arbitraries.ts';
import { type Story, fee, loanOf, money, repay, when, withCalendar } from '../loan-fixtures.ts';
import { accountsOf } from '../commands/agreements/replacements.ts';
import { closedBefore, onCalendarAfter } from './closed-days.ts';
import { propertyRuns, propertyTimeFactor } from '../../support/values/property-runs.ts';

/** Lives of about ten years: each step is something that a person does, or some days that are closed. */
const lives = propertyRuns(150);
const stepsMaximum = 8;
const daysPerStepMaximum = 450;

/** What a product says about late installments. */
interface Lateness {
  readonly tolerance: number;
  readonly penalties: 'NONE' | 'OVERDUE_BALANCE' | 'OVERDUE_BALANCE_INTEREST_AND_FEE' | 'OUTSTANDING_PRINCIPAL';
  readonly grace: number;
  /** The fee that each late row has; 0 for none. */
  readonly lateFee: number;
  readonly nonWorkingDaysMethod: 'INCLUDED' | 'EXCLUDED';
  /** When the account is locked in arrears. */
  readonly lockSettings: LockSettings;
}

const anyCap = fc.record({
  cappingConstraintType: fc.constantFrom('SOFT_CAP' as const, 'HARD_CAP' as const),
  cappingMethod: fc.constantFrom('OUTSTANDING_PRINCIPAL_PERCENTAGE', 'ORIGINAL_PRINCIPAL_PERCENTAGE'),
  cappingPercentage: fc.integer({ min: 0, max: 120 }).map((quarters) => money(quarters).dividedBy(4)),
});

const anyLockSettings: fc.Arbitrary<LockSettings> = fc
  .record({
    cap: fc.option(anyCap),
    period: fc.option(fc.record({ lockPeriodDays: fc.integer({ min: 0, max: 60 }) })),
  })
  .map(({ cap, period }) => ({ ...cap, ...period }));

const anyLateness: fc.Arbitrary<Lateness> = fc.record({
  tolerance: fc.integer({ min: 0, max: 40 }),
  // A penalty for every late day makes a life long.
  penalties: fc.constantFrom('NONE', 'NONE', 'NONE', 'OVERDUE_BALANCE_INTEREST_AND_FEE', 'OUTSTANDING_PRINCIPAL'),
  grace: fc.integer({ min: 0, max: 20 }),
  lateFee: fc.constantFrom(0, 7.5),
  nonWorkingDaysMethod: fc.constantFrom('INCLUDED', 'EXCLUDED'),
  lockSettings: anyLockSettings,
});

/** A calendar that the organization changes to. */
const anyCalendar = fc.constantFrom(alwaysOpen, weekendsAndSpring, mondaysAndSpring);

type LifeStep =
  | { readonly days: number }
  | { readonly step: Step }
  | { readonly calendar: WorkingCalendar }
  /** The worker is killed: another one continues with what was stored. */
  | { readonly kill: true };

const anyLife: fc.Arbitrary<readonly LifeStep[]> = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.record({ days: fc.integer({ min: 1, max: daysPerStepMaximum }) }) },
    { weight: 2, arbitrary: fc.record({ step: anyStep }) },
    { weight: 1, arbitrary: fc.record({ calendar: anyCalendar }) },
    { weight: 1, arbitrary: fc.constant({ kill: true } as const) },
  ),
  { minLength: 3, maxLength: stepsMaximum },
);

/** Repayments that are sent on the day after the disbursement, dated some days ahead. */
const anyPayments = fc.array(
  fc.record({ amount: fc.integer({ min: 1, max: 100_000 }), days: fc.integer({ min: 1, max: 200 }) }),
  { maxLength: 4 },
);

function sendAhead(story: Story, { amount, days }: { readonly amount: number; readonly days: number }): Story {
  const [sent, valueDate] = ['2011-01-24', addDays('2011-01-24', days)];
  const receivedAt = Date.parse(`${sent}T12:00:00Z`);
  return when(story, { ...repay(money(amount).dividedBy(100), valueDate), receivedAt });
}

function withLateness(story: Story, lateness: Lateness): Story {
  const { tolerance, penalties, grace, lateFee, nonWorkingDaysMethod, lockSettings } = lateness;
  const loan = loanOf(story);
  const { feesSettings } = loan.product;
  const own = fee({ id: 'late', trigger: 'LATE_REPAYMENT', amount: money(lateFee), feeApplication: 'REQUIRED' });
  const product = {
    ...loan.product,
    feesSettings: { ...feesSettings, fees: [...feesSettings.fees, ...(lateFee === 0 ? [] : [own])] },
    arrearsSettings: {
      toleranceCalculationMethod: 'ARREARS_TOLERANCE_PERIOD',
      tolerancePeriod: { defaultValue: tolerance },
      nonWorkingDaysMethod,
    },
    penaltySettings: {
      loanPenaltyCalculationMethod: penalties,
      loanPenaltyGracePeriod: grace,
      penaltyRate: { defaultValue: money('0.05') },
    },
    internalControls: { ...loan.product.internalControls, lockSettings },
  } as const;
  return { ...story, loan: { ...loan, product } };
}

function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_name, inner: unknown) => (inner instanceof Decimal ? inner.toFixed() : inner)),
  ) as unknown;
}

/** Chai shows how values differ. It takes ten times as long to find that they do not. */
function expectEqual(value: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(value, expected)) expect(value).to.deep.equal(expected);
}

/** What a consumer has that starts with these rows and balances, and applies the events. */
class Consumer {
  readonly #rows = new Map<string, unknown>();
  readonly #balances = new Map<string, Decimal>();
  #applied = 0;
  /** What waits, as the last event about the account said. */
  waiting: AccountView['futurePayments'];

  constructor(events: readonly LoanEvent[] = []) {
    this.read(events);
  }

  /** Applies the events that are new among these, and says whether there were any. */
  read(events: readonly LoanEvent[]): boolean {
    const isNew = events.length > this.#applied;
    for (const event of events.slice(this.#applied)) {
      if (event.eventType === 'loan_schedule_changed') {
        for (const key of event.removedInstallmentKeys) this.#rows.delete(key);
        for (const row of event.changedInstallments) this.#rows.set(row.encodedKey, row);
      }
      if (event.eventType === 'loan_account_changed') this.waiting = event.account.futurePayments;
      if (event.eventType !== 'loan_balance_changed') continue;
      for (const { type, amount } of event.changes) {
        this.#balances.set(type, (this.#balances.get(type) ?? money(0)).plus(amount));
      }
    }
    this.#applied = events.length;
    return isNew;
  }

  get rows(): unknown {
    const rows = [...this.#rows.values()] as { readonly number: string }[];
    return plain(rows.sort((one, other) => Number(one.number) - Number(other.number)));
  }

  get balances(): unknown {
    return plain(Object.fromEntries([...this.#balances].filter(([, amount]) => !amount.isZero())));
  }
}

function nonZero(balances: object): unknown {
  return plain(Object.fromEntries(Object.entries(balances).filter(([, amount]) => !(amount as Decimal).isZero())));
}

/** An account shows what its events told, is open as long as it owes or is kept, and is stored as it is. */
function expectShown(account: Story, consumer: Consumer): void {
  const loan = loanOf(account);
  const shown = atBusinessDate(loan);
  const isPaidOut = loan.position.disbursements.length > 0;
  expectEqual(consumer.balances, nonZero(balancesOf(shown, account.toggles)));
  expectEqual(consumer.rows, isPaidOut ? plain(scheduleOf(shown, account.toggles).installments) : []);
  expectEqual(storedAndRead(loan), loan);
  expect(consumer.waiting).to.deep.equal(accountOf(shown).futurePayments);
  const { total, nonScheduledFees } = figuresOf(shown);
  const owes = !total.isZero() || !nonScheduledFees.balance.isZero();
  const isKept = dormancyPeriodDays(loan.product) > 0 && loan.position.paidSince !== undefined;
  expect(isActive(loan.position)).to.equal(isPaidOut && (owes || isKept));
  expect(isPaidOut && owes && isKept).to.equal(false);
}

describe('any loan, through ten years of ends of days', () => {
  it('shows at every midnight what its events say, owes what it shows, and is stored as it is', function () {
    this.timeout(300_000 * propertyTimeFactor);
    fc.assert(
      fc.property(anyStart, anyLateness, anyLife, (start, lateness, life) => {
        let story = withLateness(start, lateness);
        const consumers = new Map([[loanOf(story).id, new Consumer(story.events)]]);
        let seen = accountsOf(story);
        let today = '2011-01-23';
        for (const next of life) {
          if ('days' in next) {
            // A penalty for each late day is a transaction each.
            today = addDays(today, lateness.penalties === 'NONE' ? next.days : (next.days % 30) + 1);
            story = closedBefore(story, today);
          } else if ('calendar' in next)
            story = onCalendarAfter(withCalendar(next.calendar, story), addDays(today, -1));
          else if ('kill' in next) story = { ...story, loan: storedAndRead(loanOf(story)) };
          else story = walk(story, next.step);
          for (const account of accountsOf(story)) {
            if (seen.includes(account)) continue;
            const { id } = loanOf(account);
            const consumer = consumers.get(id) ?? new Consumer();
            consumers.set(id, consumer);
            // A switch of toggles alone reports nothing: the next event does.
            if (consumer.read(account.events)) expectShown(account, consumer);
          }
          seen = accountsOf(story);
        }
        for (const { events } of accountsOf(story)) {
          expect(events.map(({ sequence }) => sequence)).to.deep.equal(events.map((_, index) => index + 1));
        }
      }),
      lives,
    );
  });

  it('posts what waits on its day, or says that it did not, and leaves nothing that is overdue', function () {
    this.timeout(300_000 * propertyTimeFactor);
    let posted = 0;
    let refused = 0;
    fc.assert(
      fc.property(anyStart, anyPayments, fc.array(anyStep, { maxLength: 3 }), (start, payments, steps) => {
        let story = payments.reduce(sendAhead, start);
        const sent = story.transactions.filter(({ isWaiting }) => isWaiting === true);
        expect(sent).to.have.length(acceptsFuturePayments(loanOf(start).product) ? payments.length : 0);
        for (const step of steps) story = walk(story, step);
        const today = '2011-12-01';
        story = closedBefore(story, today);
        const account = accountsOf(story).find((one) => loanOf(one).id === loanOf(start).id) ?? expect.fail();
        expect(futurePaymentsOf(loanOf(account)).filter(({ valueDate }) => valueDate < today)).to.deep.equal([]);
        for (const { encodedKey, id, amount } of sent) {
          const now = account.transactions.find((other) => other.encodedKey === encodedKey) ?? expect.fail();
          expect([now.id, now.amount.toFixed()]).to.deep.equal([id, amount.toFixed()]);
          const events = account.events.filter(({ transactionEncodedKey }) => transactionEncodedKey === encodedKey);
          const told = events.filter(({ eventType }) => eventType === 'loan_transaction_posted').length;
          if (now.isWaiting === true) expect(isActive(loanOf(account).position)).to.equal(false);
          else if (told === 0) expect(now.adjustmentTransactionKey).not.to.equal(null);
          expect(told).to.be.at.most(1);
          posted += told;
          refused += 1 - told;
        }
      }),
      propertyRuns(60),
    );
    expect(posted).to.be.greaterThan(0);
    expect(refused).to.be.greaterThan(0);
  });

  it('is in the same state whether each day was closed when it was over, or all at once', function () {
    this.timeout(300_000 * propertyTimeFactor);
    fc.assert(
      fc.property(
        anyStart,
        anyLateness,
        anyPayments,
        fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 8 }),
        (opened, lateness, payments, days) => {
          const start = payments.reduce(sendAhead, opened);
          let daily = withLateness(start, lateness);
          let today = '2011-01-23';
          for (const count of days) {
            today = addDays(today, lateness.penalties === 'NONE' ? count : (count % 9) + 1);
            daily = closedBefore(daily, today);
          }
          const atOnce = closedBefore(withLateness(start, lateness), today);
          const { eventSequence: _, ...one } = loanOf(daily);
          const { eventSequence: __, ...other } = loanOf(atOnce);
          expectEqual(plain(one), plain(other));
        },
      ),
      propertyRuns(40),
    );
  });
});
