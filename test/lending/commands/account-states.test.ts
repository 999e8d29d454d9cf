import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { StateAction } from '../../../src/lending/commands.ts';
import {
  adjust,
  create,
  disbursed,
  given,
  loanOf,
  lock,
  product,
  reasons,
  repay,
  type Story,
  when,
  writeOff,
} from '../loan-fixtures.ts';

const table: readonly (readonly [actions: string, state: string, event: string])[] = [
  ['', 'PARTIAL_APPLICATION', 'loan_created'],
  ['REQUEST_APPROVAL', 'PENDING_APPROVAL', 'loan_approval_requested'],
  ['REQUEST_APPROVAL SET_INCOMPLETE', 'PARTIAL_APPLICATION', 'loan_set_incomplete'],
  ['REQUEST_APPROVAL APPROVE', 'APPROVED', 'loan_approved'],
  ['REQUEST_APPROVAL APPROVE UNDO_APPROVE', 'PENDING_APPROVAL', 'loan_approval_undone'],
  ['REJECT', 'CLOSED REJECTED', 'loan_rejected'],
  ['REJECT UNDO_REJECT', 'PARTIAL_APPLICATION', 'loan_rejection_undone'],
  ['REQUEST_APPROVAL REJECT', 'CLOSED REJECTED', 'loan_rejected'],
  ['REQUEST_APPROVAL REJECT UNDO_REJECT', 'PENDING_APPROVAL', 'loan_rejection_undone'],
  ['WITHDRAW', 'CLOSED WITHDRAWN', 'loan_withdrawn'],
  ['REQUEST_APPROVAL APPROVE WITHDRAW', 'CLOSED WITHDRAWN', 'loan_withdrawn'],
  ['REQUEST_APPROVAL APPROVE WITHDRAW UNDO_WITHDRAW', 'APPROVED', 'loan_withdrawal_undone'],
];

const refused: readonly string[] = [
  'APPROVE',
  'SET_INCOMPLETE',
  'UNDO_APPROVE',
  'UNDO_REJECT',
  'REQUEST_APPROVAL APPROVE REJECT',
  'REQUEST_APPROVAL APPROVE APPROVE',
  'REJECT UNDO_WITHDRAW',
  'WITHDRAW UNDO_REJECT',
  'REJECT REQUEST_APPROVAL',
];

const opened = given(create(product({ newAccountSettings: { accountInitialState: 'PARTIAL_APPLICATION' } })));
const after = (actions: string): ReturnType<typeof given> =>
  actions
    .split(' ')
    .filter((action) => action !== '')
    .reduce((story, action) => when(story, { type: 'CHANGE_STATE', action: action as StateAction }), opened);

describe('the state of an account', () => {
  for (const [actions, state, event] of table) {
    it(`is ${state} after ${actions === '' ? 'it is opened' : actions}`, () => {
      const story = after(actions);
      const { accountState, accountSubState } = loanOf(story).position;
      expect([accountState, accountSubState].filter((part) => part !== null).join(' ')).to.equal(state);
      const last = story.events.at(-1);
      expect(last?.eventType === 'loan_state_changed' ? last.name : null).to.equal(event);
    });
  }

  for (const actions of refused) {
    it(`refuses the last action of ${actions}`, () => {
      expect(reasons(after(actions))).to.deep.equal(['INVALID_STATE_TRANSITION action']);
    });
  }

  it('is closed by hand only when nothing is owed, and opened again as it was', () => {
    const repaid = when(disbursed(), repay('1261.88', '2011-02-23'));
    const change = (story: Story, action: StateAction) => when(story, { type: 'CHANGE_STATE', action });
    const open = change(repaid, 'UNDO_CLOSE');
    expect(loanOf(open).position).to.deep.include({ accountState: 'ACTIVE', accountSubState: null, closedAt: null });
    expect(open.events.at(-1)).to.include({ name: 'loan_reopened' });
    const closed = change(open, 'CLOSE');
    expect(loanOf(closed).position).to.include({ accountState: 'CLOSED', accountSubState: 'REPAID' });
    expect(closed.events.at(-1)).to.include({ name: 'loan_closed' });
    expect(loanOf(change(closed, 'UNDO_CLOSE')).position).to.deep.equal(loanOf(open).position);
    for (const [story, action] of [
      [disbursed(), 'CLOSE'],
      [disbursed(), 'UNDO_CLOSE'],
      [closed, 'CLOSE'],
      [when(open, lock('2011-02-23')), 'CLOSE'],
      [when(disbursed(), writeOff('2011-02-23')), 'UNDO_CLOSE'],
    ] as const) {
      expect(reasons(change(story, action))).to.deep.equal(['INVALID_STATE_TRANSITION action']);
    }
  });

  it('that was closed by hand keeps its transactions until the closure is undone', () => {
    const repaid = when(disbursed(), repay('1261.88', '2011-02-23'));
    const open = when(repaid, { type: 'CHANGE_STATE', action: 'UNDO_CLOSE' });
    const closed = when(open, { type: 'CHANGE_STATE', action: 'CLOSE' });
    expect(reasons(when(closed, adjust(2)))).to.deep.equal(['INVALID_ACCOUNT_STATE']);
    const undone = when(when(closed, { type: 'CHANGE_STATE', action: 'UNDO_CLOSE' }), adjust(2));
    expect(loanOf(undone).position).to.deep.equal(loanOf(disbursed()).position);
  });

  it('cannot be changed by hand once the loan is disbursed', () => {
    expect(reasons(when(disbursed(), { type: 'CHANGE_STATE', action: 'UNDO_APPROVE' }))).to.deep.equal([
      'INVALID_STATE_TRANSITION action',
    ]);
  });
});
