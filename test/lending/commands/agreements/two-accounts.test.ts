import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { accrueTo } from '../../../../src/lending/accrual.ts';
import { figuresOf } from '../../../../src/lending/balances.ts';
import {
  type ContextOf,
  type ExecutionOnTwo,
  restructure,
  undoRestructuring,
} from '../../../../src/lending/commands/agreements/two-accounts.ts';
import type { RestructuringCommand, UndoRestructuringCommand } from '../../../../src/lending/commands.ts';
import type { Loan, LoanTransaction } from '../../../../src/lending/loan.ts';
import { type Decimal, sum, zero } from '../../../../src/lending/money.ts';
import type { LocalDate } from '../../../../src/lending/terms.ts';
import { balancesOf } from '../../../../src/lending/views/balances.ts';
import { scheduleOf } from '../../../../src/lending/views/schedules.ts';
import { storedAndRead } from '../../changelog/stored-accounts.ts';
import { anyStart, anyStep, anySteps, commandOf, walk } from '../../loan-arbitraries.ts';
import { propertyRuns } from '../../../support/values/property-runs.ts';
import { act, undoOfReplacement } from './replacements.ts';
import {
  type AskedCommand,
  actedAt,
  applyFee,
  applyPenalty,
  create,
  disbursed,
  dynamicProduct,
  fee,
  given,
  loanOf,
  lock,
  money,
  product,
  reasons,
  repay,
  rowsOf,
  type Story,
  when,
  withCalendar,
  writeOff,
} from '../../loan-fixtures.ts';

type Done = Extract<ExecutionOnTwo, { outcome: 'committed' }>;

const commandId = '11111111-0000-4000-8000-000000000001';
const asked = (type: RestructuringCommand['type'], more: Partial<RestructuringCommand> = {}): RestructuringCommand => ({
  type,
  commandId,
  digest: 'digest',
  receivedAt: actedAt,
  loanAccountId: 'L1',
  newAccountId: 'L2',
  product: dynamicProduct(),
  account: { firstRepaymentDate: '2011-04-23' },
  writeOffAmounts: {},
  topUpAmount: zero,
  valueDate: '2011-03-08',
  ...more,
});

/** Keys as readable texts; they need no form here. */
const contextOf =
  (story: Story, later: readonly LoanTransaction[] = []): ContextOf =>
  (loanAccountId) => {
    const all = [...story.transactions, ...later];
    const newest = (found: (one: LoanTransaction) => boolean): LoanTransaction | undefined => all.findLast(found);
    return {
      toggles: story.toggles,
      calendar: story.calendar,
      newKey: (purpose) => (purpose === 'transaction' ? `${loanAccountId} ${all.length}` : `${purpose} ${all.length}`),
      transactions: {
        hasExternalId: () => false,
        find: (key) => newest(({ encodedKey, id }) => encodedKey === key || id === key),
        postedBy: (id) => newest((one) => one.commandId === id && one.id.startsWith(`${loanAccountId}-`)),
      },
    };
  };

function done(execution: ExecutionOnTwo): Done {
  if (execution.outcome !== 'committed') throw new Error(JSON.stringify(execution));
  return execution;
}

const accountAfter = ({ steps }: Done, id: string): Loan =>
  steps.findLast(({ loan }) => loan.id === id)?.loan ?? expect.fail(`no ${id}`);
const postedBy = ({ steps }: Done): LoanTransaction[] => steps.flatMap(({ transactions }) => [...transactions]);
const textsOf = (posted: readonly LoanTransaction[]): string[] =>
  posted.map(({ id, type, amount }) => `${id} ${type} ${amount.toFixed(2)}`);
const replaced = (story: Story, command: RestructuringCommand): Done =>
  done(restructure(loanOf(story), null, command, contextOf(story)));
const reasonsOf = (execution: ExecutionOnTwo): string[] =>
  execution.outcome === 'refused'
    ? execution.refusals.map(({ errorReason, errorSource }) => `${errorReason} ${errorSource ?? ''}`.trim())
    : [];
const undo = (type: UndoRestructuringCommand['type']): UndoRestructuringCommand => ({
  type,
  commandId: '22222222-0000-4000-8000-000000000002',
  digest: 'digest',
  receivedAt: actedAt,
  loanAccountId: 'L1',
});
const undone = (story: Story, result: Done, type: UndoRestructuringCommand['type'] = 'UNDO_RESCHEDULE'): Done =>
  done(
    undoRestructuring(
      accountAfter(result, 'L1'),
      accountAfter(result, 'L2'),
      undo(type),
      contextOf(story, postedBy(result)),
    ),
  );

const start = disbursed(dynamicProduct());
const paid = when(start, repay(175, '2011-02-23'));

describe('a rescheduling', () => {
  const result = replaced(paid, asked('RESCHEDULE'));
  const [old, opened] = [accountAfter(result, 'L1'), accountAfter(result, 'L2')];

  it('transfers all that is owed to a new account and closes the old one', () => {
    // 833.33 at 10 percent a year for 15 of 30 days is 3.47. The 8.33 of the first row were paid and not applied.
    expect(textsOf(postedBy(result))).to.deep.equal([
      'L1-3 INTEREST_APPLIED 11.80',
      'L1-4 TRANSFER 836.80',
      'L2-1 DISBURSEMENT 836.80',
    ]);
    expect(old.position).to.include({ accountState: 'CLOSED', accountSubState: 'RESCHEDULED' });
    expect(figuresOf(old).total.toFixed(2)).to.equal('0.00');
    expect(opened.position).to.include({ accountState: 'ACTIVE', accountSubState: null });
    expect(figuresOf(opened).principal.balance.toFixed(2)).to.equal('836.80');
    expect(rowsOf(opened)[0]).to.equal('139.47/0.00 10.46/0.00');
  });

  it('links both accounts, also when they are stored and read', () => {
    expect(old.position.rescheduledTo).to.deep.equal({ id: 'L2', encodedKey: opened.encodedKey });
    expect(opened.originalAccount).to.deep.equal({ id: 'L1', encodedKey: old.encodedKey });
    for (const loan of [old, opened]) expect(storedAndRead(loan)).to.deep.equal(loan);
  });

  it('tells of both accounts in events that are numbered for each', () => {
    const names = result.steps.flatMap(({ events }) =>
      events.flatMap((event) =>
        event.eventType === 'loan_state_changed' ? [`${event.loanAccountId} ${event.name}`] : [],
      ),
    );
    expect(names).to.deep.equal(['L1 loan_rescheduled', 'L2 loan_created', 'L2 loan_approved', 'L2 loan_activated']);
    const numbers = result.steps.flatMap(({ events }) => events).filter(({ loanAccountId }) => loanAccountId === 'L2');
    expect(numbers.map(({ sequence }) => sequence)).to.deep.equal(numbers.map((_, index) => index + 1));
  });

  it('gives up what the write-off amounts say, and keeps the rest', () => {
    const charged = when(
      when(paid, applyFee(30, { valueDate: '2011-03-01' })),
      applyPenalty(8, { valueDate: '2011-03-01' }),
    );
    const { steps } = replaced(
      charged,
      asked('RESCHEDULE', {
        writeOffAmounts: { principal: money('33.33'), interest: money(1), fee: money(10), penalty: money(8) },
      }),
    );
    // 833.33 + 3.47 + 30 + 8, less 52.33.
    expect(textsOf(steps[0]?.transactions ?? [])).to.deep.equal([
      'L1-5 INTEREST_APPLIED 11.80',
      'L1-6 WRITE_OFF 52.33',
      'L1-7 TRANSFER 822.47',
    ]);
  });

  it('charges no fee of the disbursement again, and those for due dates', () => {
    const charging = dynamicProduct({
      feesSettings: {
        fees: [
          fee({ id: 'deducted', trigger: 'DISBURSEMENT', amount: money(5), feeApplication: 'REQUIRED' }),
          fee({ id: 'each', trigger: 'PAYMENT_DUE', amount: money(2), feeApplication: 'REQUIRED' }),
        ],
      },
    });
    const { position } = accountAfter(replaced(paid, asked('RESCHEDULE', { product: charging })), 'L2');
    expect(new Set(position.charges.map(({ trigger }) => trigger))).to.deep.equal(new Set(['PAYMENT_DUE']));
    expect(position.disbursements[0]?.paidOut.toFixed(2)).to.equal('836.80');
  });

  it('takes over the holder, the name, where the account belongs, and custom fields', () => {
    const holder = { loanName: 'Ada', accountHolderKey: 'a'.repeat(32), accountHolderType: 'CLIENT' } as const;
    const kept = { assignedBranchKey: 'b'.repeat(32), _own: { color: 'red' } };
    const former = { ...loanOf(paid), ...holder, additionalFields: { ...kept, notes: 'of the old one' } };
    const { loanName, accountHolderKey, accountHolderType, additionalFields } = accountAfter(
      replaced({ ...paid, loan: former }, asked('RESCHEDULE')),
      'L2',
    );
    expect({ loanName, accountHolderKey, accountHolderType }).to.deep.equal(holder);
    expect(additionalFields).to.deep.equal(kept);
    expect([opened.loanName, opened.accountHolderKey, opened.accountHolderType]).to.deep.equal([
      old.loanName,
      old.accountHolderKey,
      old.accountHolderType,
    ]);
  });

  it('is recognised when it comes again', () => {
    const again = restructure(old, opened, asked('RESCHEDULE'), contextOf(paid, postedBy(result)));
    expect(again).to.include({ outcome: 'repeated' });
  });

  for (const [name, story, more, expected] of [
    ['a loan that is not active', given(create(product())), {}, 'INVALID_ACCOUNT_STATE'],
    ['a loan that is written off', when(paid, writeOff('2011-03-08')), {}, 'INVALID_ACCOUNT_STATE'],
    ['a product that does not exist', paid, { product: null }, 'LOAN_PRODUCT_MISMATCH loanAccount.productTypeKey'],
    [
      'another currency',
      paid,
      { product: dynamicProduct({ currency: { code: 'CHF', digits: 2 } }) },
      'LOAN_PRODUCT_MISMATCH loanAccount.productTypeKey',
    ],
    [
      'more written off than is owed',
      paid,
      { writeOffAmounts: { interest: money('3.48') } },
      'WRITE_OFF_AMOUNT_MORE_THAN_BALANCE_AMOUNT writeOffAmounts.interest',
    ],
    [
      'a negative write-off',
      paid,
      { writeOffAmounts: { principal: money(-1) } },
      'NEGATIVE_WRITE_OFF_AMOUNT writeOffAmounts.principal',
    ],
    [
      'parts of minor units',
      paid,
      { writeOffAmounts: { principal: money('0.001') } },
      'INVALID_AMOUNT writeOffAmounts.principal',
    ],
    [
      'nothing left',
      paid,
      { writeOffAmounts: { principal: money('833.33'), interest: money('3.47') } },
      'INVALID_AMOUNT writeOffAmounts',
    ],
    [
      'a first repayment on the day itself',
      paid,
      { account: { firstRepaymentDate: '2011-03-08' } },
      'FIRST_REPAYMENT_DATE_BEFORE_EXPECTED_DISBURSEMENT_DATE loanAccount.disbursementDetails.firstRepaymentDate',
    ],
    [
      'a day before the last repayment',
      paid,
      { valueDate: '2011-02-22' },
      'ENTRY_DATE_BEFORE_OTHER_TRANSACTION loanAccount.disbursementDetails.expectedDisbursementDate',
    ],
    [
      'a day in the future',
      paid,
      { valueDate: '2040-01-02' },
      'INVALID_DISBURSEMENT_DATE loanAccount.disbursementDetails.expectedDisbursementDate',
    ],
    ['a top-up in parts of minor units', paid, { topUpAmount: money('0.001') }, 'INVALID_AMOUNT topUpAmount'],
    ['a negative top-up', paid, { topUpAmount: money(-1) }, 'NEGATIVE_TOP_UP_AMOUNT topUpAmount'],
  ] as const) {
    it(`is refused for ${name}`, () => {
      expect(reasonsOf(restructure(loanOf(story), null, asked('REFINANCE', more), contextOf(story)))).to.deep.equal([
        expected,
      ]);
    });
  }

  it('is refused when the id of the new account is in use', () => {
    const other = { ...loanOf(start), id: 'L2' };
    expect(reasonsOf(restructure(loanOf(paid), other, asked('RESCHEDULE'), contextOf(paid)))).to.deep.equal([
      'LOAN_ACCOUNT_ID_ALREADY_IN_USE loanAccount.id',
    ]);
  });
});

describe('a refinancing', () => {
  it('adds the top-up to what is transferred', () => {
    const result = replaced(when(paid, lock('2011-03-01')), asked('REFINANCE', { topUpAmount: money(500) }));
    expect(accountAfter(result, 'L1').position).to.include({ accountSubState: 'REFINANCED' });
    expect(accountAfter(result, 'L2').loanAmount.toFixed(2)).to.equal(
      (postedBy(result).find(({ type }) => type === 'TRANSFER')?.amount ?? zero).plus(500).toFixed(2),
    );
  });
});

describe('undoing a replacement', () => {
  const result = replaced(paid, asked('RESCHEDULE'));
  const { product: loanProduct, account, topUpAmount, writeOffAmounts, valueDate = '' } = asked('RESCHEDULE');
  const reschedule = (newAccountId: string): AskedCommand => ({
    type: 'RESCHEDULE',
    newAccountId,
    valueDate,
    product: loanProduct,
    account,
    topUpAmount,
    writeOffAmounts,
  });

  it('restores the old account and withdraws the new one', () => {
    const back = undone(paid, result);
    expect(accountAfter(back, 'L1').position).to.deep.equal(loanOf(paid).position);
    expect(accountAfter(back, 'L2').position).to.include({ accountState: 'CLOSED', accountSubState: 'WITHDRAWN' });
    expect(textsOf(postedBy(back)).filter((text) => text.includes('ADJUSTMENT'))).to.deep.equal([
      'L1-5 TRANSFER_ADJUSTMENT -836.80',
      'L1-6 INTEREST_APPLIED_ADJUSTMENT -11.80',
      'L2-2 DISBURSEMENT_ADJUSTMENT -836.80',
    ]);
  });

  it('withdraws the new account for good', () => {
    const back = act(act(paid, reschedule('L2')), { type: 'UNDO_RESCHEDULE' });
    const withdrawn = back.others[0] ?? expect.fail('none was withdrawn');
    expect(loanOf(withdrawn).position.accountSubState).to.equal('WITHDRAWN');
    // What it was to take over is owed by the old account again, which may be replaced by another one.
    expect(reasons(when(withdrawn, { type: 'CHANGE_STATE', action: 'UNDO_WITHDRAW' }))).to.deep.equal([
      'INVALID_STATE_TRANSITION action',
    ]);
    expect(loanOf(act(back, reschedule('L3'))).id).to.equal('L3');
  });

  it('takes back the due dates with which the new account followed the calendar since', () => {
    const scheduleSettings = { repaymentReschedulingMethod: 'NEXT_WORKING_DAY' };
    const opened = act(paid, { ...reschedule('L2'), product: dynamicProduct({ scheduleSettings }) } as AskedCommand);
    // 23 April 2011 is a Saturday.
    const weekends = withCalendar({ nonWorkingDays: ['SATURDAY', 'SUNDAY'], holidays: [] }, opened);
    const moved = when(weekends, { type: 'RECALCULATE_DUE_DATES', valueDate: '2011-03-08' });
    expect(loanOf(moved).position.installments[0]?.dueDate).to.equal('2011-04-25');
    const back = act(moved, { type: 'UNDO_RESCHEDULE' });
    expect(reasons(back)).to.deep.equal([]);
    const [withdrawn = expect.fail('no other account')] = back.others.filter(({ loan }) => loan?.id === 'L2');
    expect(withdrawn.transactions.map(({ type }) => type)).to.deep.equal([
      'DISBURSEMENT',
      'DUE_DATE_CHANGED',
      'DUE_DATE_CHANGED_ADJUSTMENT',
      'DISBURSEMENT_ADJUSTMENT',
    ]);
  });

  it('is refused once something was posted to the new account', () => {
    const opened = { ...accountAfter(result, 'L2'), adjustableTransactionKey: 'another' };
    const old = accountAfter(result, 'L1');
    expect(
      reasonsOf(undoRestructuring(old, opened, undo('UNDO_RESCHEDULE'), contextOf(paid, postedBy(result)))),
    ).to.deep.equal(['NOT_ADJUSTED_TRANSACTION_LOGGED_AFTER_CURRENT_ONE loanAccountId']);
  });

  it('has a command of its own: neither side can be adjusted alone', () => {
    const transactions = [...paid.transactions, ...postedBy(result)];
    for (const [id, transactionId] of [
      ['L1', 'L1-4'],
      ['L2', 'L2-1'],
    ] as const) {
      const story: Story = { ...paid, loan: accountAfter(result, id), transactions };
      expect(
        when(story, { type: 'ADJUST_TRANSACTION', transactionId }).refusals.map(({ errorReason }) => errorReason),
      ).to.deep.equal(['TRANSACTION_TYPE_DOES_NOT_ALLOW_ADJUSTMENT']);
    }
  });

  it('restores any loan exactly, and no money appears or vanishes', () => {
    fc.assert(
      fc.property(anyStart, anySteps, anyStep, (first, steps, step) => {
        const story = steps.reduce(walk, first);
        const command = commandOf(story, { ...step, kind: 'replace' });
        if (command?.type !== 'RESCHEDULE' && command?.type !== 'REFINANCE') throw new Error('no replacement');
        const there = act(story, command);
        fc.pre(there.outcome === 'committed');
        const old = there.others.at(-1) ?? expect.fail('none was replaced');
        const begins = owedBy(loanOf(story), command.valueDate)
          .minus(sum(Object.values(command.writeOffAmounts) as Decimal[]))
          .plus(command.topUpAmount);
        expect(loanOf(there).loanAmount.toFixed(2)).to.equal(begins.toFixed(2));
        expect(figuresOf(loanOf(there)).principal.balance.toFixed(2)).to.equal(begins.toFixed(2));
        expect(owedBy(loanOf(old)).toFixed(2)).to.equal('0.00');
        for (const account of [old, there]) expectFolded(account);
        const back = act(there, undoOfReplacement(there) ?? expect.fail('nothing to undo'));
        const withdrawn = back.others.at(-1) ?? expect.fail('none was withdrawn');
        expect(JSON.stringify(loanOf(back).position)).to.equal(JSON.stringify(loanOf(story).position));
        expect(loanOf(withdrawn).position.accountSubState).to.equal('WITHDRAWN');
        expect(owedBy(loanOf(withdrawn)).toFixed(2)).to.equal('0.00');
        for (const account of [back, withdrawn]) expectFolded(account);
      }),
      propertyRuns(100),
    );
  });
});

/** All that an account owes, on a day after its last transaction or as it is. */
function owedBy(loan: Loan, day?: LocalDate): Decimal {
  const position = day === undefined ? loan.position : accrueTo(loan, loan.position, day);
  const { total, nonScheduledFees } = figuresOf(loan, position);
  return total.plus(nonScheduledFees.balance);
}

/** The last balances and the rows that the events gave are those that the account shows. */
function expectFolded({ loan, events, toggles }: Story): void {
  if (loan === null) throw new Error('no loan');
  const last = events.findLast((event) => event.eventType === 'loan_balance_changed');
  expect(JSON.stringify(last?.balances)).to.equal(JSON.stringify(balancesOf(loan, toggles)));
  const rows = new Map<string, string>();
  for (const event of events) {
    if (event.eventType !== 'loan_schedule_changed') continue;
    for (const key of event.removedInstallmentKeys) rows.delete(key);
    for (const row of event.changedInstallments) rows.set(row.encodedKey, JSON.stringify(row));
  }
  // Of an account that was not paid out, events tell no rows.
  const isPaidOut = loan.position.disbursements.length > 0;
  const shown = isPaidOut ? scheduleOf(loan, toggles).installments.map((row) => JSON.stringify(row)) : [];
  expect([...rows.values()].toSorted()).to.deep.equal(shown.toSorted());
}
