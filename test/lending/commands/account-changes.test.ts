import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { RequestedLoan } from '../../../src/lending/commands.ts';
import { balancesOf } from '../../../src/lending/views/balances.ts';
import { accountOf } from '../../../src/lending/views/accounts.ts';
import {
  type AskedCommand,
  type Story,
  adjust,
  applyFee,
  approve,
  create,
  disburse,
  disbursed,
  given,
  loanOf,
  money,
  product,
  reasons,
  under,
  when,
} from '../loan-fixtures.ts';

const bounded = product({ loanAmountSettings: { loanAmount: { maxValue: money(5000) } } });
const opened = given({
  ...create(bounded),
  additionalFields: { assignedBranchKey: 'b', _risk: { score: '7' } },
} as AskedCommand);
const approved = when(opened, approve);
const active = when(approved, disburse('2011-01-23'));

const same: RequestedLoan = {
  loanAmount: money(1000),
  loanName: 'Product',
  additionalFields: { assignedBranchKey: 'b', _risk: { score: '7' } },
};
const update = (story: Story, more: Partial<RequestedLoan>): Story =>
  when(story, { type: 'UPDATE_LOAN', requested: { ...same, ...more } });
const remove: AskedCommand = { type: 'DELETE_LOAN' };

describe('changing an account', () => {
  it('changes its terms before approval, under the rules of opening it', () => {
    const changed = update(opened, { loanAmount: money(2000), repaymentInstallments: 6, interestRate: money(5) });
    const loan = loanOf(changed);
    expect(loan.loanAmount.toFixed()).to.equal('2000');
    expect(loan.terms.repaymentInstallments).to.equal(6);
    expect(loan.position.rateSegments[0]?.interestRate.toFixed()).to.equal('5');
    expect(loan).to.deep.include({ id: 'L1', encodedKey: loanOf(opened).encodedKey, loanName: null });
    expect(reasons(update(opened, { loanAmount: money('5000.01') }))).to.deep.equal(['INVALID_AMOUNT loanAmount']);
    const retired = given(create(product()));
    const later = { ...retired, loan: { ...loanOf(retired), product: { ...product(), state: 'INACTIVE' as const } } };
    expect(update(later, {}).outcome).to.equal('committed');
  });

  it('reports balances and installments that a toggle shows in another way since the event before', () => {
    const charged = when(active, applyFee(5, { installmentNumber: 1 }));
    const switched = under({ ALLOW_NON_SCHEDULED_FEES: true, PRINCIPAL_OVERPAYMENT: true }, charged);
    const changed = update(switched, { notes: 'new' });
    const told = changed.events.slice(charged.events.length);
    const [balances, schedule] = told;
    if (balances?.eventType !== 'loan_balance_changed') expect.fail();
    expect(balances.balances).to.deep.equal(balancesOf(loanOf(changed), changed.toggles));
    expect(balances.changes.map(({ type, balanceAfter }) => `${type} ${balanceAfter.toFixed(2)}`)).to.deep.equal([
      'feesDue 0.00',
      'feesBalance 0.00',
      'scheduledFeesDue 5.00',
      'scheduledFeesBalance 5.00',
    ]);
    expect(schedule).to.include({ eventType: 'loan_schedule_changed', reason: 'TOGGLE_SWITCHED' });
    expect(told.at(-1)?.eventType).to.equal('loan_account_changed');
  });

  it('reports names of balances that are new, though their amounts are zero', () => {
    const switched = under({ ALLOW_NON_SCHEDULED_FEES: true }, active);
    const told = update(switched, { notes: 'new' }).events.slice(active.events.length);
    expect(told.map(({ eventType }) => eventType)).to.deep.equal(['loan_balance_changed', 'loan_account_changed']);
    const [balances] = told;
    if (balances?.eventType !== 'loan_balance_changed') expect.fail();
    expect(balances.changes).to.deep.equal([]);
    expect(balances.balances).to.include.keys('nonScheduledFeeBalance', 'scheduledFeesDue');
  });

  it('reports them also for an account whose disbursement was taken back', () => {
    const takenBack = when(active, adjust(1));
    const changed = update(under({ ALLOW_NON_SCHEDULED_FEES: true }, takenBack), { notes: 'new' });
    const balances = changed.events[takenBack.events.length];
    if (balances?.eventType !== 'loan_balance_changed') expect.fail();
    expect(balances.balances).to.deep.equal(balancesOf(loanOf(changed), changed.toggles));
  });

  it('tells of the account as it is afterwards', () => {
    for (const story of [opened, approved, active]) {
      const changed = update(story, { notes: 'new', additionalFields: { _risk: { score: '8' } } });
      const told = changed.events.slice(story.events.length);
      expect(told.map(({ eventType }) => eventType)).to.deep.equal(['loan_account_changed']);
      const [event] = told;
      expect(event?.eventType === 'loan_account_changed' && event.account).to.deep.equal(accountOf(loanOf(changed)));
      expect(accountOf(loanOf(changed))).to.deep.include({ notes: 'new', _risk: { score: '8' } });
      expect(accountOf(loanOf(changed))).not.to.have.property('assignedBranchKey');
    }
  });

  const fixed: [path: string, change: Partial<RequestedLoan>][] = [
    ['loanAmount', { loanAmount: money('1000.01') }],
    ['interestSettings.interestRate', { interestRate: money(11) }],
    ['scheduleSettings.repaymentInstallments', { repaymentInstallments: 5 }],
    ['scheduleSettings.repaymentPeriodUnit', { repaymentPeriodUnit: 'DAYS' }],
    ['scheduleSettings.repaymentPeriodCount', { repaymentPeriodCount: 2 }],
    ['scheduleSettings.gracePeriod', { gracePeriod: 1 }],
    ['scheduleSettings.fixedDaysOfMonth', { fixedDaysOfMonth: [1] }],
    ['accountHolderKey', { accountHolderKey: 'c' }],
    ['disbursementDetails.expectedDisbursementDate', { expectedDisbursementDate: '2011-01-24' }],
    ['disbursementDetails.firstRepaymentDate', { firstRepaymentDate: '2011-02-24' }],
    ['penaltySettings.penaltyRate', { penaltyRate: money(1) }],
    ['migrationEventKey', { additionalFields: { migrationEventKey: 'm' } }],
    ['disbursementDetails', { additionalFields: { disbursementDetails: { fees: [] } } }],
  ];
  for (const [path, change] of fixed) {
    it(`keeps ${path} after approval`, () => {
      for (const story of [approved, active]) {
        expect(reasons(update(story, change))).to.deep.equal([`LOAN_ACCOUNT_FIELD_NOT_EDITABLE ${path}`]);
      }
    });
  }

  it('takes every field as it is, also after approval', () => {
    const whole = {
      repaymentInstallments: 4,
      repaymentPeriodUnit: 'MONTHS',
      gracePeriod: 0,
      fixedDaysOfMonth: [],
    } as const;
    const unchanged = update(active, { ...whole, interestRate: money('10.0'), repaymentPeriodCount: 1 });
    expect(unchanged.outcome).to.equal('committed');
    const { modifiedAt: _one, eventSequence: _sequence, ...after } = loanOf(unchanged);
    const { modifiedAt: _other, eventSequence: _before, ...before } = loanOf(active);
    expect(after).to.deep.equal(before);
  });

  it('changes custom fields of the disbursement at any time', () => {
    const details = { disbursementDetails: { _disb: { purpose: 'CAR' } } };
    const changed = update(active, { additionalFields: { ...same.additionalFields, ...details } });
    expect(accountOf(loanOf(changed)).disbursementDetails).to.deep.include({ _disb: { purpose: 'CAR' } });
  });
});

describe('deleting an account', () => {
  it('is done before approval, and told as a change of state', () => {
    const deleted = when(opened, remove);
    expect(deleted.outcome).to.equal('committed');
    expect(deleted.events.at(-1)).to.deep.include({
      eventType: 'loan_state_changed',
      name: 'loan_deleted',
      accountState: 'PENDING_APPROVAL',
      previousAccountState: 'PENDING_APPROVAL',
      sequence: 2,
    });
  });

  it('is refused after approval, and for an account with transactions', () => {
    for (const story of [approved, active, disbursed()]) {
      expect(reasons(when(story, remove))).to.deep.equal(['INVALID_ACCOUNT_STATE']);
    }
    const undone = [adjust(1), { type: 'CHANGE_STATE', action: 'UNDO_APPROVE' } as const].reduce(when, active);
    expect(loanOf(undone).position.accountState).to.equal('PENDING_APPROVAL');
    expect(reasons(when(undone, remove))).to.deep.equal(['INVALID_ACCOUNT_STATE']);
  });
});
