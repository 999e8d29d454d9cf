import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { laterTransactions, repostedTransactionsMaximum } from '../../../src/lending/replay/later-transactions.ts';
import { addDays } from '../../../src/lending/dates.ts';
import type { LoanTransaction } from '../../../src/lending/loan.ts';
import { Decimal } from '../../../src/lending/money.ts';
import { balancesOf } from '../../../src/lending/views/balances.ts';
import { scheduleOf } from '../../../src/lending/views/schedules.ts';
import { anyProduct } from '../loan-arbitraries.ts';
import {
  type AskedCommand,
  type Story,
  adjust,
  applyFee,
  applyPenalty,
  approve,
  create,
  disburse,
  disbursed,
  dynamicProduct,
  fee,
  given,
  loanOf,
  overpay,
  product,
  reasons,
  repay,
  rowsOf,
  texts,
  under,
  when,
} from '../loan-fixtures.ts';
import { postedAmong } from '../posted-transactions.ts';
import { propertyRuns, propertyTimeFactor } from '../../support/values/property-runs.ts';

const afterAll = (start: Story, commands: readonly AskedCommand[]): Story => commands.reduce(when, start);
const kinds = ({ transactions }: Story): string[] =>
  transactions.map(({ type, amount }) => `${type} ${amount.toFixed()}`);

describe('an entry dated before transactions already posted', () => {
  const late = when(disbursed(), repay(100, '2011-03-01'));

  it('takes them back, is posted, and posts them again, all with one command', () => {
    const story = when(late, repay(50, '2011-02-10', { notes: 'found' }));
    expect(story.outcome).to.equal('committed');
    expect(kinds(story)).to.deep.equal([
      'DISBURSEMENT 1000',
      'REPAYMENT 100',
      'REPAYMENT_ADJUSTMENT -100',
      'REPAYMENT 50',
      'REPAYMENT 100',
    ]);
    const [, original, adjustment, own, again] = story.transactions;
    expect(original?.adjustmentTransactionKey).to.equal(adjustment?.encodedKey);
    expect(adjustment?.originalTransactionKey).to.equal(original?.encodedKey);
    expect([own?.notes, again?.notes]).to.deep.equal(['found', null]);
    expect(loanOf(story).adjustableTransactionKey).to.equal(again?.encodedKey);
    const posted = story.events.filter(({ eventType }) => eventType === 'loan_transaction_posted').slice(-3);
    expect(new Set(posted.map(({ causationCommandId }) => causationCommandId)).size).to.equal(1);
    expect(story.events.map(({ sequence }) => sequence)).to.deep.equal(story.events.map((_, index) => index + 1));
  });

  it('charges a fee that a later repayment then pays first', () => {
    const story = when(
      when(disbursed(), repay('315.47', '2011-02-23')),
      applyFee(10, { installmentNumber: 1, valueDate: '2011-02-01' }),
    );
    expect(story.transactions.at(-1)?.affected.fees.toFixed()).to.equal('10');
    expect(rowsOf(loanOf(story))[0]).to.equal('215.47/205.47 100.00/100.00');
  });

  it('posts them again with all that their senders asked for', () => {
    const manual = fee({ id: 'manual' });
    const start = disbursed(
      dynamicProduct({
        feesSettings: { fees: [manual] },
        taxSettings: { taxRate: new Decimal(19), taxesOnFeesEnabled: true, taxesOnPenaltyEnabled: true },
      }),
    );
    const details = {
      bookingDate: '2011-04-01',
      notes: 'n',
      transactionDetails: { transactionChannelId: 'cash' },
      additionalFields: { _set: { field: 'value' } },
    };
    const entries = [
      applyFee(10, { predefinedFeeKey: 'manual', valueDate: '2011-02-10', ...details, externalId: 'x1' }),
      applyPenalty(7, { installmentNumber: 2, valueDate: '2011-02-11', ...details, externalId: 'x2' }),
      overpay(100, '2011-02-12', {
        prepaymentRecalculationMethod: 'RESCHEDULE_REMAINING_REPAYMENTS',
        ...details,
        externalId: 'x3',
      }),
      repay(20, '2011-02-13', {
        customPaymentAmounts: [{ customPaymentAmountType: 'PRINCIPAL', amount: new Decimal(20) }],
        ...details,
        externalId: 'x4',
      }),
    ];
    const before = afterAll(start, entries);
    const story = when(before, applyPenalty(1, { valueDate: '2011-02-01' }));
    expect(story.outcome, reasons(story).join()).to.equal('committed');
    const asSent = ({
      encodedKey: _key,
      commandId: _commandId,
      commandDigest: _digest,
      id: _id,
      createdAt: _createdAt,
      undo: _undo,
      previousAdjustableKey: _previous,
      totalBalanceAfter: _total,
      terms: _terms,
      ...fields
    }: LoanTransaction): unknown => fields;
    expect(story.transactions.slice(-4).map(asSent)).to.deep.equal(before.transactions.slice(-4).map(asSent));
  });

  it('is refused with the reason of the first transaction that the loan now refuses, and changes nothing', () => {
    const repaid = when(disbursed(), repay(1200, '2011-03-01'));
    const refused = when(repaid, repay(100, '2011-02-10'));
    expect(reasons(refused)).to.deep.equal(['EXCESS_REPAYMENT_ERROR amount']);
    expect(refused.loan).to.equal(repaid.loan);
    expect(refused.transactions).to.equal(repaid.transactions);
  });

  it('leaves out an application of interest for which no interest is left', () => {
    // On thirty-day months, the 31st adds nothing to the 30th.
    const applied = when(disbursed(dynamicProduct()), { type: 'APPLY_INTEREST', valueDate: '2011-03-31' });
    const story = when(applied, { type: 'APPLY_INTEREST', valueDate: '2011-03-30' });
    expect(story.outcome).to.equal('committed');
    const [again, adjustment, first] = story.transactions.toReversed();
    expect([again?.type, again?.valueDate]).to.deep.equal(['INTEREST_APPLIED', '2011-03-30']);
    expect(adjustment?.originalTransactionKey).to.equal(first?.encodedKey);
  });

  it('is recognised when it comes again, and so are the transactions it posted again', () => {
    const commandId = '00000000-0000-4000-9000-000000000001';
    const other = '00000000-0000-4000-9000-000000000002';
    const first = when(disbursed(), { ...repay(100, '2011-03-01'), commandId });
    const story = when(first, { ...repay(50, '2011-02-10'), commandId: other });
    for (const again of [
      { ...repay(100, '2011-03-01'), commandId },
      { ...repay(50, '2011-02-10'), commandId: other },
    ]) {
      expect(when(story, again).outcome).to.equal('repeated');
    }
  });

  it('is refused on a closed account, before the disbursement, and behind more transactions than the maximum', () => {
    const closed = when(disbursed(), repay('1261.88', '2011-03-01'));
    expect(reasons(when(closed, repay(1, '2011-02-10')))).to.deep.equal(['INVALID_ACCOUNT_STATE_FOR_REPAYMENTS']);
    expect(reasons(when(late, repay(1, '2011-01-22')))).to.deep.equal([
      'ENTRY_DATE_BEFORE_OTHER_TRANSACTION valueDate',
    ]);
    expect(repostedTransactionsMaximum).to.equal(100);
    const one = applyPenalty('0.01', { installmentNumber: 1, valueDate: '2011-03-01' });
    const most = afterAll(
      disbursed(),
      Array.from({ length: repostedTransactionsMaximum }, () => one),
    );
    expect(when(most, repay(1, '2011-02-10')).outcome).to.equal('committed');
    expect(reasons(when(when(most, one), repay(1, '2011-02-10')))).to.deep.equal([
      'ENTRY_DATE_BEFORE_OTHER_TRANSACTION valueDate',
    ]);
  });

  it('keeps a fee outside the schedule that a toggle has since forbidden', () => {
    const start = disbursed(product({ feesSettings: { fees: [fee({ id: 'outside', allocation: 'NO_ALLOCATION' })] } }));
    const on = when(
      under({ ALLOW_NON_SCHEDULED_FEES: true }, start),
      applyFee(5, { predefinedFeeKey: 'outside', valueDate: '2011-03-01' }),
    );
    const story = when(under({ ALLOW_NON_SCHEDULED_FEES: false }, on), repay(10, '2011-02-10'));
    expect(story.outcome).to.equal('committed');
    expect(kinds(story).at(-1)).to.equal('FEE_CHARGED 5');
  });

  it('leads to what posting in the order of the dates leads to, in whatever order entries come', function () {
    this.timeout(120_000 * propertyTimeFactor);
    const runs = propertyRuns(150);
    let compared = 0;
    fc.assert(
      fc.property(anyProduct, anyEntries, (drawn, { entries, order }) => {
        const start = under(
          { ALLOW_NON_SCHEDULED_FEES: true },
          given(create(drawn, 5000), approve, disburse('2011-01-23')),
        );
        const isFixed = drawn.type === 'FIXED_TERM_LOAN';
        const commands = entries.map((entry) => commandOf(entry, isFixed));
        const inOrder = afterAll(start, commands);
        const shuffled = afterAll(
          start,
          order.flatMap((index) => commands[index] ?? []),
        );
        const standing = ({ transactions }: Story): number =>
          transactions.filter(
            ({ adjustmentTransactionKey, originalTransactionKey }) =>
              adjustmentTransactionKey === null && originalTransactionKey === null,
          ).length;
        // An entry may be refused in one order only: without the fee that comes later, it would pay too much.
        fc.pre(standing(inOrder) === entries.length + 1 && standing(shuffled) === entries.length + 1);
        compared += 1;
        expect(shown(shuffled)).to.equal(shown(inOrder));
      }),
      runs,
    );
    expect(compared).to.equal(runs.numRuns);
  });
});

interface Entry {
  readonly kind: 'repay' | 'overpay' | 'fee' | 'outside' | 'penalty' | 'interest';
  /** Hundredths of a cent to some hundred, small beside the loan. */
  readonly amount: number;
  readonly day: number;
}

const anyEntries = fc
  .uniqueArray(
    fc.record({
      kind: fc.constantFrom<Entry['kind']>('repay', 'repay', 'overpay', 'fee', 'outside', 'penalty', 'interest'),
      amount: fc.integer({ min: 100, max: 40_000 }),
      day: fc.integer({ min: 0, max: 200 }),
    }),
    { minLength: 2, maxLength: 6, selector: ({ day }) => day },
  )
  .chain((drawn) => {
    const entries = drawn.toSorted((one, other) => one.day - other.day);
    const indexes = entries.map((_, index) => index);
    return fc.record({
      entries: fc.constant(entries),
      order: fc.shuffledSubarray(indexes, { minLength: indexes.length }),
    });
  });

function commandOf({ kind, amount: cents, day }: Entry, isFixed: boolean): AskedCommand {
  const amount = new Decimal(cents).dividedBy(100);
  const valueDate = addDays('2011-01-23', day);
  const named = { ...(isFixed ? { installmentNumber: 1 } : {}), valueDate };
  if (kind === 'interest') return { type: 'APPLY_INTEREST', valueDate };
  if (kind === 'repay') return repay(amount, valueDate);
  if (kind === 'overpay') return overpay(amount, valueDate);
  if (kind === 'fee') return applyFee(amount, named);
  return kind === 'penalty'
    ? applyPenalty(amount, named)
    : applyFee(amount, { predefinedFeeKey: 'outside', valueDate });
}

/** Balances and schedule as they are shown, as one text. */
function shown(story: Story): string {
  const loan = loanOf(story);
  const { toggles } = story;
  const views = { balances: texts(balancesOf(loan, toggles)), schedule: scheduleOf(loan, toggles) };
  return JSON.stringify(views, (_, value: unknown) => (value instanceof Decimal ? value.toFixed() : value));
}

describe('adjusting a transaction that others followed', () => {
  const story = afterAll(disbursed(), [
    repay(100, '2011-02-10'),
    applyPenalty(5, { installmentNumber: 1, valueDate: '2011-02-24' }),
  ]);
  const byTheSystem: Story = {
    ...story,
    transactions: story.transactions.map((transaction) => ({
      ...transaction,
      isSystemPosted: transaction.id === 'L1-3',
    })),
  };

  it('is refused when a person posted one of them', () => {
    expect(reasons(when(story, adjust(2)))).to.deep.equal([
      'NOT_ADJUSTED_TRANSACTION_LOGGED_AFTER_CURRENT_ONE transactionId',
    ]);
  });

  it('takes back those that the system posted, and posts them again as its own', () => {
    const adjusted = when(byTheSystem, adjust(2));
    expect(adjusted.outcome, reasons(adjusted).join()).to.equal('committed');
    expect(kinds(adjusted).slice(3)).to.deep.equal([
      'PENALTY_ADJUSTMENT -5',
      'REPAYMENT_ADJUSTMENT -100',
      'PENALTY_APPLIED 5',
    ]);
    expect(adjusted.transactions.map(({ isSystemPosted }) => isSystemPosted)).to.deep.equal([
      false,
      false,
      true,
      false,
      false,
      true,
    ]);
    const penalty = applyPenalty(5, { installmentNumber: 1, valueDate: '2011-02-24' });
    const { position } = loanOf(when(disbursed(), { ...penalty, isSystemPosted: true }));
    expect(loanOf(adjusted).position).to.deep.equal(position);
  });

  it('is refused behind more of them than the maximum', () => {
    const penalty = applyPenalty('0.01', { installmentNumber: 1, valueDate: '2011-02-24' });
    const many = afterAll(
      when(disbursed(), repay(100, '2011-02-10')),
      Array.from({ length: repostedTransactionsMaximum + 1 }, () => penalty),
    );
    const transactions = many.transactions.map((transaction) => ({
      ...transaction,
      isSystemPosted: transaction.type === 'PENALTY_APPLIED',
    }));
    const laterThan = (transactionId: string): ReturnType<typeof laterTransactions> =>
      laterTransactions(
        loanOf(many),
        { ...adjust(2), transactionId, commandId: '', digest: '', receivedAt: 0, loanAccountId: 'L1' } as never,
        postedAmong(transactions),
      );
    expect(laterThan('L1-3')).to.have.length(repostedTransactionsMaximum);
    expect(laterThan('L1-2')).to.include({ errorReason: 'NOT_ADJUSTED_TRANSACTION_LOGGED_AFTER_CURRENT_ONE' });
  });
});
