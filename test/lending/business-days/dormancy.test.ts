import { expect } from 'chai';
import { describe, it } from 'mocha';
import { dormancyDate, withPaidSince } from '../../../src/lending/business-days/dormancy.ts';
import {
  type Story,
  adjust,
  applyFee,
  disbursed,
  dynamicProduct,
  fee,
  loanOf,
  lock,
  payOff,
  product,
  reasons,
  reduce,
  repay,
  terminate,
  unlock,
  when,
} from '../loan-fixtures.ts';
import type { CustomPaymentAmount } from '../../../src/lending/commands.ts';
import { dueOf } from '../../../src/lending/installments.ts';
import { sum } from '../../../src/lending/money.ts';
import { storedAndRead } from '../changelog/stored-accounts.ts';
import { closedBefore } from './closed-days.ts';

const kept = product({ internalControls: { dormancyPeriodDays: 30 } });
const start = disbursed(kept);
const stateOf = (story: Story): unknown[] => {
  const { accountState, accountSubState, paidSince = null } = loanOf(story).position;
  return [accountState, accountSubState, paidSince];
};
/** All principal and interest of the account. */
function allButFees(story: Story): CustomPaymentAmount[] {
  const { installments } = loanOf(story).position;
  return [
    { customPaymentAmountType: 'PRINCIPAL', amount: sum(installments.map(({ principal }) => dueOf(principal))) },
    { customPaymentAmountType: 'INTEREST', amount: sum(installments.map(({ interest }) => dueOf(interest.amount))) },
  ];
}
const paid = when(start, repay('1261.88', '2011-02-23'));

describe('an account that its product keeps for 30 days once it is paid', () => {
  it('stays active for 30 days, and is closed on the next one by what a person could post', () => {
    expect(stateOf(paid)).to.deep.equal(['ACTIVE', null, '2011-02-23']);
    const lastDay = closedBefore(paid, '2011-03-24');
    expect(stateOf(lastDay)).to.deep.equal(['ACTIVE', null, '2011-02-23']);
    const closed = closedBefore(paid, '2011-03-25');
    expect(stateOf(closed)).to.deep.equal(['CLOSED', 'REPAID', null]);
    const told = closed.events.slice(lastDay.events.length).map((event) => ('name' in event ? event.name : null));
    expect(told).to.deep.equal(['loan_closed']);
    expect(closed.transactions.map(({ type }) => type)).to.deep.equal([
      'DISBURSEMENT',
      'REPAYMENT',
      'INTEREST_APPLIED',
    ]);
    expect(storedAndRead(loanOf(paid))).to.deep.equal(loanOf(paid));
  });

  it('is closed at once when no period is set, when it is paid off, and when it is terminated or locked', () => {
    expect(stateOf(when(disbursed(product({ internalControls: {} })), repay('1261.88', '2011-02-23')))).to.deep.equal([
      'CLOSED',
      'REPAID',
      null,
    ]);
    const none = disbursed(product({ internalControls: { dormancyPeriodDays: 0 } }));
    expect(stateOf(when(none, repay('1261.88', '2011-02-23')))[0]).to.equal('CLOSED');
    expect(stateOf(when(start, payOff('2011-02-23')))[0]).to.equal('CLOSED');
    expect(stateOf(when(when(start, lock('2011-02-23')), repay('1261.88', '2011-02-23')))[0]).to.equal('CLOSED');
    const ended = when(
      disbursed(dynamicProduct({ internalControls: { dormancyPeriodDays: 30 } })),
      terminate('2011-01-23'),
    );
    expect(stateOf(when(ended, repay(1000, '2011-01-23')))[0]).to.equal('CLOSED');
  });

  it('stays active when the last of what it owes is forgiven', () => {
    const charged = when(start, applyFee(5, { valueDate: '2011-02-22', installmentNumber: 4 }));
    const owing = when(charged, repay('1261.88', '2011-02-23', { customPaymentAmounts: allButFees(charged) }));
    expect(reasons(owing)).to.deep.equal([]);
    const forgiven = when(owing, reduce('REDUCE_FEES', 5, '2011-02-24'));
    expect(reasons(forgiven)).to.deep.equal([]);
    expect(stateOf(forgiven)).to.deep.equal(['ACTIVE', null, '2011-02-24']);
  });

  it('counts its days again once it owes something and is paid again, and from the same day when that is taken back', () => {
    const fees = { feesSettings: { allowArbitraryFees: true, fees: [fee({ id: 'own' })] } };
    const dynamic = dynamicProduct({ internalControls: { dormancyPeriodDays: 30 }, ...fees });
    const empty = when(disbursed(dynamic), repay(1000, '2011-01-23'));
    expect(stateOf(empty)).to.deep.equal(['ACTIVE', null, '2011-01-23']);
    const charged = when(empty, applyFee(5, { valueDate: '2011-02-10' }));
    expect(reasons(charged)).to.deep.equal([]);
    expect(stateOf(charged)).to.deep.equal(['ACTIVE', null, null]);
    expect(stateOf(when(charged, adjust(3)))).to.deep.equal(['ACTIVE', null, '2011-01-23']);
    const again = when(charged, repay(5, '2011-02-20'));
    expect(stateOf(again)).to.deep.equal(['ACTIVE', null, '2011-02-20']);
    expect(stateOf(when(again, adjust(4)))).to.deep.equal(['ACTIVE', null, null]);
    expect(stateOf(closedBefore(again, '2011-03-21'))[0]).to.equal('ACTIVE');
    expect(stateOf(closedBefore(again, '2011-03-22'))[0]).to.equal('CLOSED');
  });

  it('stays open while it is locked, and is closed on the day after the lock ends', () => {
    const locked = when(paid, lock('2011-03-01'));
    expect(dormancyDate(loanOf(locked))).to.equal(null);
    const later = closedBefore(locked, '2011-06-01');
    expect(stateOf(later).slice(0, 2)).to.deep.equal(['ACTIVE', 'LOCKED']);
    const unlocked = when(later, unlock('2011-06-01'));
    expect(stateOf(closedBefore(unlocked, '2011-06-01'))[0]).to.equal('ACTIVE');
    expect(stateOf(closedBefore(unlocked, '2011-06-02'))[0]).to.equal('CLOSED');
  });

  it('has its days once more when a person opens it again', () => {
    const closed = closedBefore(paid, '2011-03-25');
    const receivedAt = Date.parse('2011-05-01T12:00:00Z');
    const open = when(closed, { type: 'CHANGE_STATE', action: 'UNDO_CLOSE', receivedAt });
    expect(stateOf(open)).to.deep.equal(['ACTIVE', null, '2011-05-01']);
    expect(stateOf(closedBefore(open, '2011-05-30'))[0]).to.equal('ACTIVE');
    expect(stateOf(closedBefore(open, '2011-05-31'))[0]).to.equal('CLOSED');
  });

  it('notes nothing while it owes something', () => {
    const { position } = loanOf(start);
    expect(withPaidSince(loanOf(start), position)).to.equal(position);
    expect(dormancyDate(loanOf(start))).to.equal(null);
  });
});
