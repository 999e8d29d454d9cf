import { expect } from 'chai';
import { describe, it } from 'mocha';
import { dayOfRestructuring, isReplaced } from '../../../../src/lending/commands/agreements/restructuring.ts';
import type { RestructuringCommand, UndoRestructuringCommand } from '../../../../src/lending/commands.ts';
import { zero } from '../../../../src/lending/money.ts';
import { accountOf } from '../../../../src/lending/views/accounts.ts';
import {
  type AskedCommand,
  disbursed,
  dynamicProduct,
  loanOf,
  lock,
  money,
  reasons,
  when,
} from '../../loan-fixtures.ts';

const replace = (type: RestructuringCommand['type']): AskedCommand => ({
  type,
  newAccountId: 'L2',
  product: null,
  account: { firstRepaymentDate: '2011-04-23' },
  writeOffAmounts: { principal: money(100) },
  topUpAmount: zero,
  valueDate: '2011-02-08',
});
const undo = (type: UndoRestructuringCommand['type']): AskedCommand => ({ type });
const start = when(disbursed(dynamicProduct()), lock('2011-01-30', 'APPLY_FEES'));

describe('the old side of a replacement', () => {
  const old = when(start, replace('REFINANCE'));

  it('is closed, unlocked and names the new account', () => {
    expect(loanOf(old).position).to.deep.include({
      accountState: 'CLOSED',
      accountSubState: 'REFINANCED',
      lockedOperations: [],
    });
    expect(accountOf(loanOf(old)).rescheduledAccountKey).to.equal(loanOf(old).position.rescheduledTo?.encodedKey);
    expect(old.transactions.slice(-3).map(({ type }) => type)).to.deep.equal([
      'INTEREST_APPLIED',
      'WRITE_OFF',
      'TRANSFER',
    ]);
  });

  it('is undone by the command of the same kind, exactly', () => {
    const undone = when(old, undo('UNDO_REFINANCE'));
    expect(loanOf(undone).position).to.deep.equal(loanOf(start).position);
    expect(undone.transactions.slice(-3).map(({ type }) => type)).to.deep.equal([
      'TRANSFER_ADJUSTMENT',
      'WRITE_OFF_ADJUSTMENT',
      'INTEREST_APPLIED_ADJUSTMENT',
    ]);
    expect(reasons(when(old, undo('UNDO_RESCHEDULE')))).to.deep.equal(['INVALID_ACCOUNT_STATE']);
    expect(reasons(when(start, undo('UNDO_REFINANCE')))).to.deep.equal(['INVALID_ACCOUNT_STATE']);
  });

  it('knows the command that undoes it', () => {
    const header = { commandId: 'c', digest: 'd', receivedAt: 0, loanAccountId: 'L1' };
    expect(isReplaced(loanOf(old), { type: 'UNDO_REFINANCE', ...header })).to.equal(true);
    expect(isReplaced(loanOf(old), { type: 'UNDO_RESCHEDULE', ...header })).to.equal(false);
  });

  it('happens on the day that was asked for, or else on that of the command', () => {
    const { valueDate: _asked, ...command } = {
      ...replace('RESCHEDULE'),
      commandId: 'c',
      digest: 'd',
      receivedAt: Date.parse('2011-02-09T12:00:00Z'),
      loanAccountId: 'L1',
    } as RestructuringCommand;
    expect(dayOfRestructuring(command)).to.equal('2011-02-09');
    expect(dayOfRestructuring({ ...command, valueDate: '2011-02-08' })).to.equal('2011-02-08');
  });
});
