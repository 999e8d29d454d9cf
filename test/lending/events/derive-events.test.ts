import { expect } from 'chai';
import { describe, it } from 'mocha';
import { eventsBetween } from '../../../src/lending/events/derive-events.ts';
import { allTogglesOff } from '../../../src/lending/toggle-names.ts';
import { adjust, applyFee, applyPenalty, approve, disbursed, loanOf, overpay, repay, when } from '../loan-fixtures.ts';

const paid = when(when(disbursed(), applyFee(5, { installmentNumber: 1 })), repay('420.47', '2011-02-23'));
const lastEvents = (story: typeof paid, count: number): (typeof paid.events)[number][] => story.events.slice(-count);

describe('the events of a repayment', () => {
  const [transaction, feeEvent, balance, schedule] = lastEvents(paid, 4);

  it('report each changed balance, with the change and the new amount', () => {
    const changes = balance?.eventType === 'loan_balance_changed' ? balance.changes : [];
    expect(
      changes.map(({ type, amount, balanceAfter }) => `${type} ${amount.toFixed(2)} ${balanceAfter.toFixed(2)}`),
    ).to.deep.equal([
      'principalPaid 237.02 237.02',
      'principalBalance -237.02 762.98',
      'interestPaid 178.45 178.45',
      'interestBalance -178.45 83.43',
      'feesDue -5.00 0.00',
      'feesPaid 5.00 5.00',
      'feesBalance -5.00 0.00',
    ]);
  });

  it('report the fee paid, the changed rows and the remaining amounts', () => {
    expect(feeEvent).to.include({ eventType: 'loan_fee_event', feeEvent: 'PAID', installmentNumber: 1 });
    if (schedule?.eventType !== 'loan_schedule_changed') expect.fail();
    expect(schedule.changedInstallments.map(({ number, state }) => `${number} ${state}`)).to.deep.equal([
      '1 PAID',
      '2 PARTIALLY_PAID',
    ]);
    expect(schedule).to.include({ reason: 'REPAID', scheduleVersion: 3 });
    expect([schedule.summary.count, schedule.summary.nextDueDate, schedule.summary.totalDue.toFixed(2)]).to.deep.equal([
      4,
      '2011-03-23T00:00:00Z',
      '846.41',
    ]);
  });

  it('name the causing command', () => {
    const key = paid.transactions.at(-1)?.encodedKey;
    for (const event of [transaction, feeEvent, balance, schedule]) {
      expect(event).to.include({
        transactionEncodedKey: key,
        transactionType: 'REPAYMENT',
        valueDate: '2011-02-23',
        causationCommandId: '00000000-0000-4000-8000-000000000005',
      });
      expect(event?.toggles).to.deep.equal(allTogglesOff);
    }
  });

  it('are reversed by events that name the adjusted transaction', () => {
    const [reversed, feeAdjusted] = lastEvents(when(paid, adjust(3)), 4);
    expect(reversed).to.include({ name: 'loan_repayment_reversed', transactionType: 'REPAYMENT_ADJUSTMENT' });
    expect(feeAdjusted).to.include({ feeEvent: 'ADJUSTED', adjusts: 'PAID' });
    const [, chargeAdjusted] = lastEvents(when(when(paid, adjust(3)), adjust(2)), 4);
    expect(chargeAdjusted).to.include({ feeEvent: 'ADJUSTED', adjusts: 'APPLIED' });
  });
});

describe('a schedule event', () => {
  const table = [
    [applyFee(1, { installmentNumber: 1 }), 'FEE_APPLIED'],
    [applyPenalty(1), 'PENALTY_APPLIED'],
    [overpay(1, '2011-01-23'), 'PREPAYMENT_RECALCULATED'],
    [repay(1, '2011-01-23'), 'REPAID'],
    [adjust(1), 'ADJUSTED'],
  ] as const;
  for (const [command, reason] of table) {
    it(`has the reason ${reason} after ${command.type}`, () => {
      const event = when(disbursed(), command).events.findLast(
        ({ eventType }) => eventType === 'loan_schedule_changed',
      );
      expect(event).to.include({ reason });
    });
  }
});

describe('a change of the account state', () => {
  it('is reported without a transaction', () => {
    const opened = loanOf(disbursed());
    const before = { ...opened, position: { ...opened.position, accountState: 'PENDING_APPROVAL' as const } };
    const after = { ...before, position: { ...before.position, accountState: 'APPROVED' as const } };
    const command = {
      ...approve,
      type: 'CHANGE_STATE',
      action: 'APPROVE',
      commandId: 'c',
      digest: 'd',
      loanAccountId: 'L1',
      receivedAt: 0,
    } as const;
    const events = eventsBetween(
      before,
      after,
      { type: 'STATE_CHANGED', eventName: 'loan_approved', position: after.position },
      null,
      command,
      allTogglesOff,
    );
    expect(events).to.have.length(1);
    expect(events[0]).to.include({
      name: 'loan_approved',
      transactionEncodedKey: null,
      previousAccountState: 'PENDING_APPROVAL',
      sequence: opened.eventSequence + 1,
    });
  });
});
