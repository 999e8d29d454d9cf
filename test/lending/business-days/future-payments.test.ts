import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  acceptsFuturePayments,
  duePayments,
  futurePaymentsMaximum,
  futurePaymentsOf,
  isFuturePayment,
  nextPaymentDate,
  withFuturePayment,
  withoutFuturePayment,
} from '../../../src/lending/business-days/future-payments.ts';
import { nextBusinessDate } from '../../../src/lending/business-days/next-business-date.ts';
import type { Repay } from '../../../src/lending/commands.ts';
import type { FuturePayment, LoanTransaction } from '../../../src/lending/loan.ts';
import { accountOf } from '../../../src/lending/views/accounts.ts';
import { transactionView } from '../../../src/lending/views/transactions.ts';
import { storedAndRead } from '../changelog/stored-accounts.ts';
import {
  type Story,
  adjust,
  disburse,
  disbursed,
  dynamicProduct,
  fee,
  loanOf,
  lock,
  money,
  payOff,
  product,
  reasons,
  repay,
  rowsOf,
  terminate,
  texts,
  undoWriteOff,
  when,
  writeOff,
} from '../loan-fixtures.ts';
import { postedAmong } from '../posted-transactions.ts';
import { closedBefore } from './closed-days.ts';

const additionalFields = {
  paymentSettings: { prepaymentSettings: { futurePaymentsAcceptance: 'ACCEPT_FUTURE_PAYMENTS' } },
};

/** The day on which the repayments of these tests are sent. */
const receivedAt = Date.parse('2011-02-01T12:00:00Z');

/** Sends a repayment dated ahead on 1 February 2011. */
function ahead(story: Story, amount: number, valueDate: string, more: object = {}): Story {
  return when(story, { ...repay(amount, valueDate, more), receivedAt });
}

const fixedLoan = (settings: Parameters<typeof product>[0] = {}): Story =>
  disbursed(product({ additionalFields, ...settings }));
const dynamicLoan = (): Story => disbursed(dynamicProduct({ additionalFields }));

function transactionOf({ transactions }: Story, id: string): LoanTransaction {
  const found = transactions.find((transaction) => transaction.id === id);
  if (found === undefined) throw new Error(`no transaction ${id}`);
  return found;
}

const waiting = (story: Story): string[] =>
  futurePaymentsOf(loanOf(story)).map(({ amount, valueDate }) => `${amount.toFixed(2)} ${valueDate}`);

const posted = ({ transactions }: Story): string[] =>
  transactions.map(({ id, type, amount, valueDate }) => `${id} ${type} ${amount.toFixed(2)} ${valueDate}`);

describe('a repayment dated ahead', () => {
  it('is accepted of products that say so, on days after that of the command', () => {
    const withAcceptance = (futurePaymentsAcceptance: string): ReturnType<typeof product> =>
      product({ additionalFields: { paymentSettings: { prepaymentSettings: { futurePaymentsAcceptance } } } });
    expect(acceptsFuturePayments(product())).to.equal(false);
    expect(acceptsFuturePayments(withAcceptance('NO_FUTURE_PAYMENTS'))).to.equal(false);
    expect(acceptsFuturePayments(withAcceptance('ACCEPT_FUTURE_PAYMENTS'))).to.equal(true);
    expect(acceptsFuturePayments(withAcceptance('ACCEPT_OVERPAYMENTS'))).to.equal(true);

    const asked = (valueDate: string | undefined, receivedOn: string): boolean =>
      isFuturePayment({ product: product({ additionalFields }) }, {
        receivedAt,
        receivedOn,
        ...(valueDate === undefined ? {} : { valueDate }),
      } as Repay);
    expect(asked('2011-02-02', '2011-02-01')).to.equal(true);
    expect(asked('2011-02-02', '2011-02-02')).to.equal(false);
    expect(asked(undefined, '2011-02-02')).to.equal(false);
  });

  it('waits in the order of the days, and of one day in the order in which it came', () => {
    const loan = loanOf(fixedLoan());
    const payment = (transactionKey: string, valueDate: string): FuturePayment => ({
      transactionKey,
      valueDate,
      amount: money(1),
    });
    const all = [payment('a', '2011-03-02'), payment('b', '2011-03-01'), payment('c', '2011-03-02')].reduce(
      withFuturePayment,
      loan,
    );
    expect(futurePaymentsOf(all).map(({ transactionKey }) => transactionKey)).to.deep.equal(['b', 'a', 'c']);
    expect(withoutFuturePayment(all, 'other')).to.equal(all);
    const left = withoutFuturePayment(withoutFuturePayment(all, 'a'), 'b');
    expect(futurePaymentsOf(left).map(({ transactionKey }) => transactionKey)).to.deep.equal(['c']);
    expect(withoutFuturePayment(left, 'c')).to.deep.equal(loan);
    expect('futurePayments' in withoutFuturePayment(left, 'c')).to.equal(false);
  });

  it('changes nothing until its day is over, and is posted then, before its installment can be late', () => {
    const before = fixedLoan();
    const recorded = ahead(before, 315.47, '2011-02-23', { notes: 'salary', externalId: 'X1' });
    expect(recorded.outcome).to.equal('committed');
    expect(loanOf(recorded).position).to.deep.equal(loanOf(before).position);
    expect(waiting(recorded)).to.deep.equal(['315.47 2011-02-23']);
    const asked = transactionOf(recorded, 'L1-2');
    expect(asked.isWaiting).to.equal(true);
    const shown = transactionView(loanOf(recorded), asked);
    expect(shown.valueDate).to.equal('2011-02-23T00:00:00Z');
    expect(texts(shown.affectedAmounts)['principalAmount']).to.equal('0.00');
    expect(shown.amount.toFixed(2)).to.equal('315.47');
    expect(accountOf(loanOf(recorded)).futurePayments).to.deep.equal([
      { encodedKey: asked.encodedKey, amount: money(315.47), valueDate: '2011-02-23T00:00:00Z' },
    ]);

    // The end of the day before its day.
    const dayBefore = closedBefore(recorded, '2011-02-23');
    expect(waiting(dayBefore)).to.deep.equal(['315.47 2011-02-23']);
    expect(rowsOf(loanOf(dayBefore))[0]).to.equal('215.47/0.00 100.00/0.00');
    // The end of its day.
    const onItsDay = closedBefore(recorded, '2011-02-24');
    expect(waiting(onItsDay)).to.deep.equal([]);
    expect(rowsOf(loanOf(onItsDay))[0]).to.equal('215.47/215.47 100.00/100.00');
    expect(loanOf(onItsDay).position.installments[0]?.repaidDate).to.equal('2011-02-23');
    expect(loanOf(onItsDay).position.accountState).to.equal('ACTIVE');
    expect(accountOf(loanOf(onItsDay)).futurePayments).to.equal(undefined);
    // The end of the day after it does nothing more.
    const dayAfter = closedBefore(onItsDay, '2011-02-25');
    expect(posted(dayAfter)).to.deep.equal(posted(onItsDay));

    expect(posted(when(onItsDay, repay(1, '2011-02-24'))).at(-1)).to.equal('L1-4 REPAYMENT 1.00 2011-02-24');

    const { isWaiting, undo, ...now } = transactionOf(onItsDay, 'L1-2');
    expect(isWaiting).to.equal(undefined);
    expect(undo).not.to.equal(null);
    const { encodedKey, commandId, commandDigest, createdAt, notes, externalId } = asked;
    expect(now).to.include({ encodedKey, commandId, commandDigest, createdAt, notes, externalId });
    expect(now).to.include({ valueDate: '2011-02-23', bookingDate: '2011-02-23', isSystemPosted: false });
    expect(texts({ ...now.affected })).to.include({ principal: '215.47', interest: '100.00' });
    const repeated = when(onItsDay, { ...repay(315.47, '2011-02-23'), receivedAt, commandId });
    expect(repeated.outcome).to.equal('repeated');
  });

  it('tells what waits by the account, and what is posted like any repayment', () => {
    const eventsAfter = (story: Story, before: Story): string[] =>
      story.events.slice(before.events.length).map(({ eventType }) => eventType);
    const start = closedBefore(fixedLoan(), '2011-02-01');
    const recorded = ahead(start, 315.47, '2011-02-10');
    expect(eventsAfter(recorded, start)).to.deep.equal(['loan_account_changed']);
    const [event] = recorded.events.slice(-1);
    expect(event).to.include({ transactionType: 'REPAYMENT', valueDate: '2011-02-10' });
    expect(event?.transactionEncodedKey).to.equal(transactionOf(recorded, 'L1-2').encodedKey);
    const onItsDay = closedBefore(recorded, '2011-02-11');
    expect(eventsAfter(onItsDay, recorded)).to.include.members(['loan_transaction_posted', 'loan_account_changed']);
    expect(eventsAfter(onItsDay, recorded).filter((type) => type === 'loan_transaction_posted')).to.have.length(1);
  });

  it('is posted before the interest, penalties and fees of what is late', () => {
    const late = fee({ id: 'late', trigger: 'LATE_REPAYMENT', amount: money(7), feeApplication: 'REQUIRED' });
    const story = fixedLoan({
      feesSettings: { fees: [late] },
      penaltySettings: {
        loanPenaltyCalculationMethod: 'OVERDUE_BALANCE',
        loanPenaltyGracePeriod: 0,
        penaltyRate: { defaultValue: money(1) },
      },
    });
    const types = (after: Story): string[] => after.transactions.map(({ type }) => type);
    const paid = closedBefore(ahead(story, 315.47, '2011-02-23'), '2011-03-01');
    expect(types(paid)).to.deep.equal(['DISBURSEMENT', 'REPAYMENT', 'INTEREST_APPLIED']);
    // One day later it is too late.
    const tooLate = closedBefore(ahead(story, 315.47, '2011-02-24'), '2011-02-25');
    expect(types(tooLate)).to.include.members(['FEE_CHARGED', 'PENALTY_APPLIED']);
  });

  it('is posted with the end of its day also when something of a later day came before that', () => {
    for (const start of [fixedLoan(), dynamicLoan()]) {
      const recorded = ahead(start, 100, '2011-02-23');
      // The end of 23 February comes when a repayment of the 24th and one of the 26th are there.
      const late = when(when(recorded, repay(50, '2011-02-24')), repay(60, '2011-02-26'));
      expect(nextBusinessDate(loanOf(late))).to.equal('2011-02-24');
      const closed = closedBefore(late, '2011-02-24');
      expect(waiting(closed)).to.deep.equal([]);
      const inOrder = [repay(100, '2011-02-23'), repay(50, '2011-02-24'), repay(60, '2011-02-26')].reduce(when, start);
      expect(rowsOf(loanOf(closed))).to.deep.equal(rowsOf(loanOf(inOrder)));
    }
  });

  it('charges nothing for being late behind what was posted of a later day', () => {
    const late = fee({ id: 'late', trigger: 'LATE_REPAYMENT', amount: money(7), feeApplication: 'REQUIRED' });
    const strict = fixedLoan({
      feesSettings: { fees: [late] },
      penaltySettings: {
        loanPenaltyCalculationMethod: 'OVERDUE_BALANCE',
        loanPenaltyGracePeriod: 0,
        penaltyRate: { defaultValue: money(1) },
      },
    });
    const ahead23 = closedBefore(ahead(strict, 100, '2011-02-23'), '2011-02-23');
    const closed = closedBefore(when(ahead23, repay(15.47, '2011-02-26')), '2011-02-24');
    expect(waiting(closed)).to.deep.equal([]);
    const charged = (story: Story): string[] => posted(story).filter((text) => /PENALTY|FEE/u.test(text));
    expect(charged(closed)).to.deep.equal([]);
    // The day after the repayment has all of it: four days of the 200.00 that are late.
    expect(charged(closedBefore(closed, '2011-02-27')).map((text) => text.split(' ').slice(1).join(' '))).to.deep.equal(
      ['PENALTY_APPLIED 8.00 2011-02-27', 'FEE_CHARGED 7.00 2011-02-27'],
    );
  });

  it('is the same whether its days were closed one by one or all at once', () => {
    const story = ahead(ahead(ahead(dynamicLoan(), 100, '2011-03-10'), 50, '2011-02-20'), 70, '2011-03-10');
    let daily = story;
    for (const date of ['2011-02-10', '2011-02-21', '2011-02-22', '2011-03-10', '2011-03-11', '2011-03-12']) {
      daily = closedBefore(daily, date);
    }
    const atOnce = closedBefore(story, '2011-03-12');
    expect(rowsOf(loanOf(daily))).to.deep.equal(rowsOf(loanOf(atOnce)));
    expect(posted(daily)).to.deep.equal(posted(atOnce));
    // Those of one day were posted in the order in which they came.
    expect(transactionOf(atOnce, 'L1-4').previousAdjustableKey).to.equal(transactionOf(atOnce, 'L1-2').encodedKey);
  });

  it('waits for the day after the last one that the account has reached, where its own is over', () => {
    const loan = loanOf(ahead(fixedLoan(), 100, '2011-02-10'));
    expect(nextPaymentDate(loanOf(fixedLoan()))).to.equal(null);
    expect(nextPaymentDate(loan)).to.equal('2011-02-11');
    expect(nextPaymentDate({ ...loan, businessDate: '2011-02-10' })).to.equal('2011-02-11');
    expect(nextPaymentDate({ ...loan, businessDate: '2011-02-11' })).to.equal('2011-02-12');
    expect(duePayments(loan, '2011-02-10', postedAmong([]))).to.deep.equal([]);
    expect(() => duePayments(loan, '2011-02-11', postedAmong([]))).to.throw('waits');
  });

  it('asks again for all that its sender asked for', () => {
    const rows = loanOf(fixedLoan());
    const installmentEncodedKey = `${rows.encodedKey.slice(0, 24)}00000002`;
    const details = {
      bookingDate: '2011-02-09',
      externalId: 'X1',
      notes: 'n',
      transactionDetails: { transactionChannelId: 'cash' },
      customPaymentAmounts: [{ customPaymentAmountType: 'INTEREST', amount: money(10) }],
      prepaymentRecalculationMethod: 'NO_RECALCULATION',
      installmentEncodedKey,
      additionalFields: { branchKey: 'b' },
    };
    const recorded = ahead(fixedLoan(), 10, '2011-02-10', details);
    const { transactions } = recorded;
    expect(duePayments(loanOf(recorded), '2011-02-11', postedAmong(transactions))).to.deep.equal([
      {
        type: 'REPAY',
        amount: money(10),
        valueDate: '2011-02-10',
        ...details,
        futurePaymentKey: transactionOf(recorded, 'L1-2').encodedKey,
      },
    ]);
    const done = closedBefore(recorded, '2011-02-11');
    expect(rowsOf(loanOf(done))[1]).to.match(/\/10\.00$/u);
    expect(transactionOf(done, 'L1-2')).to.include({ bookingDate: '2011-02-09', notes: 'n', isInstallmentNamed: true });
  });

  it('is taken back on its day when the loan refuses it, with the reason', () => {
    const story = ahead(ahead(fixedLoan(), 5_000, '2011-02-10', { externalId: 'X1' }), 20, '2011-02-10');
    const closed = closedBefore(story, '2011-02-11');
    expect(posted(closed)).to.deep.equal([
      'L1-1 DISBURSEMENT 1000.00 2011-01-23',
      'L1-2 REPAYMENT 5000.00 2011-02-10',
      'L1-3 REPAYMENT 20.00 2011-02-10',
      'L1-4 REPAYMENT_ADJUSTMENT -5000.00 2011-02-10',
    ]);
    const refused = transactionOf(closed, 'L1-2');
    const adjustment = transactionOf(closed, 'L1-4');
    expect(refused.adjustmentTransactionKey).to.equal(adjustment.encodedKey);
    expect(refused.isWaiting).to.equal(undefined);
    expect(adjustment).to.include({
      notes: 'EXCESS_REPAYMENT_ERROR',
      isSystemPosted: true,
      originalTransactionKey: refused.encodedKey,
    });
    expect(waiting(closed)).to.deep.equal([]);
    expect(rowsOf(loanOf(closed))[0]).to.equal('215.47/0.00 100.00/20.00');
    expect(closed.events.filter(({ eventType }) => eventType === 'loan_transaction_posted')).to.have.length(2);
    expect(reasons(when(closed, adjust(2)))).to.deep.equal(['TRANSACTION_ALREADY_ADJUSTED transactionId']);
    // It has given its externalId free.
    expect(when(closed, repay(1, '2011-02-12', { externalId: 'X1' })).outcome).to.equal('committed');
  });

  it('refuses more than is owed under ACCEPT_OVERPAYMENTS too, and accepts all that is owed', () => {
    const overpayments = {
      paymentSettings: { prepaymentSettings: { futurePaymentsAcceptance: 'ACCEPT_OVERPAYMENTS' } },
    };
    const start = fixedLoan({ additionalFields: overpayments });
    const total = accountOf(loanOf(start)).balances;
    const owed = total.principalBalance.plus(total.interestBalance).toNumber();
    const paid = closedBefore(ahead(start, owed, '2011-02-10'), '2011-02-11');
    expect(loanOf(paid).position.accountSubState).to.equal('REPAID');
    const refused = closedBefore(ahead(start, owed + 0.01, '2011-02-10'), '2011-02-11');
    expect(transactionOf(refused, 'L1-3').notes).to.equal('EXCESS_REPAYMENT_ERROR');
    expect(loanOf(refused).position.accountState).to.equal('ACTIVE');
  });

  it('is taken back before its day whatever was posted since, and later like any repayment', () => {
    const recorded = when(ahead(fixedLoan(), 100, '2011-02-10'), repay(50, '2011-02-05'));
    const back = when(recorded, { ...adjust(2), receivedAt: Date.parse('2011-02-09T00:00:00Z') });
    expect(back.outcome).to.equal('committed');
    expect(waiting(back)).to.deep.equal([]);
    expect(loanOf(back).position).to.deep.equal(loanOf(recorded).position);
    expect(posted(back).at(-1)).to.equal('L1-4 REPAYMENT_ADJUSTMENT -100.00 2011-02-10');
    expect(back.events.at(-1)?.eventType).to.equal('loan_account_changed');
    expect(closedBefore(back, '2011-02-11').transactions).to.have.length(4);
    expect(reasons(when(back, adjust(2)))).to.deep.equal(['TRANSACTION_ALREADY_ADJUSTED transactionId']);
    expect(reasons(when(back, adjust(4)))).to.deep.equal(['TRANSACTION_TYPE_DOES_NOT_ALLOW_ADJUSTMENT transactionId']);
    const outside = when(recorded, { ...adjust(2), bookingDate: '2011-02-10', receivedAt } as Parameters<
      typeof when
    >[1]);
    expect(reasons(outside)).to.deep.equal(['INVALID_DATE bookingDate']);

    // The repayment that came later is still the one that can be adjusted.
    expect(rowsOf(loanOf(when(back, adjust(3))))[0]).to.equal('215.47/0.00 100.00/0.00');

    const onItsDay = closedBefore(recorded, '2011-02-11');
    expect(rowsOf(loanOf(onItsDay))[0]).to.equal('215.47/50.00 100.00/100.00');
    const after = when(onItsDay, adjust(2));
    expect(rowsOf(loanOf(after))[0]).to.equal('215.47/0.00 100.00/50.00');
    expect(waiting(after)).to.deep.equal([]);
    expect(closedBefore(after, '2011-02-20').transactions).to.have.length(after.transactions.length);
  });

  it('waits no longer while the account is closed, and again when that is undone', () => {
    const recorded = ahead(ahead(fixedLoan(), 100, '2011-02-20'), 70, '2011-02-10');
    const closed = when(recorded, writeOff('2011-02-05'));
    expect(waiting(closed)).to.deep.equal([]);
    expect(accountOf(loanOf(closed)).futurePayments).to.equal(undefined);
    expect(
      closed.events.some(
        ({ eventType, sequence }) => eventType === 'loan_account_changed' && sequence > recorded.events.length,
      ),
    ).to.equal(true);
    expect(closedBefore(closed, '2011-02-28').transactions).to.have.length(closed.transactions.length);

    const reopened = when(closed, undoWriteOff);
    expect(waiting(reopened)).to.deep.equal(['70.00 2011-02-10', '100.00 2011-02-20']);
    expect(reopened.events.at(-1)).to.include({ eventType: 'loan_state_changed' });
    const later = closedBefore(reopened, '2011-02-28');
    expect(rowsOf(loanOf(later))[0]).to.equal('215.47/70.00 100.00/100.00');
    // Taken back while the account is closed, it does not come back with it.
    const without = when(when(closed, adjust(2)), undoWriteOff);
    expect(waiting(without)).to.deep.equal(['70.00 2011-02-10']);
  });

  it('waits no longer while the loan is not paid out, and again when it is', () => {
    const taken = when(ahead(fixedLoan(), 100, '2011-02-20'), adjust(1));
    expect(taken.outcome).to.equal('committed');
    expect(waiting(taken)).to.deep.equal([]);
    expect(closedBefore(taken, '2011-03-01').transactions).to.have.length(taken.transactions.length);
    const again = when(taken, disburse('2011-02-01'));
    expect(waiting(again)).to.deep.equal(['100.00 2011-02-20']);
    expect(accountOf(loanOf(closedBefore(again, '2011-02-21'))).balances.interestPaid.toFixed(2)).to.equal('100.00');
    // Paid out after its day, the loan refuses it.
    const late = closedBefore(when(taken, disburse('2011-02-21')), '2011-02-23');
    expect(posted(late).at(-1)).to.equal('L1-5 REPAYMENT_ADJUSTMENT -100.00 2011-02-20');
    expect(late.transactions.at(-1)?.notes).to.equal('ENTRY_DATE_BEFORE_OTHER_TRANSACTION');
  });

  it('is posted to an account that is locked or terminated', () => {
    for (const command of [lock('2011-02-05', 'APPLY_INTEREST'), terminate('2011-02-05')]) {
      const changed = when(ahead(dynamicLoan(), 100, '2011-02-20'), command);
      expect(changed.outcome).to.equal('committed');
      expect(waiting(changed)).to.deep.equal(['100.00 2011-02-20']);
      const done = closedBefore(changed, '2011-02-21');
      expect(waiting(done)).to.deep.equal([]);
      expect(transactionOf(done, 'L1-2').affected.principal.isZero()).to.equal(false);
    }
  });

  it('stays with the account that a repayment of the same day closes, and waits again with it', () => {
    const loan = fixedLoan();
    const { principalBalance, interestBalance } = accountOf(loanOf(loan)).balances;
    const all = principalBalance.plus(interestBalance).toNumber();
    const closed = closedBefore(ahead(ahead(loan, all, '2011-02-10'), 30, '2011-02-10'), '2011-02-20');
    expect(loanOf(closed).position.accountState).to.equal('CLOSED');
    expect(transactionOf(closed, 'L1-3').isWaiting).to.equal(true);
    const reopened = when(closed, adjust(2));
    expect(waiting(reopened)).to.deep.equal(['30.00 2011-02-10']);
    const later = closedBefore(reopened, '2011-02-20');
    expect(rowsOf(loanOf(later))[0]).to.equal('215.47/0.00 100.00/30.00');
  });

  it('is decided beside entries dated before others and a pay-off', () => {
    const recorded = ahead(when(dynamicLoan(), repay(40, '2011-02-01')), 60, '2011-02-20');
    // An entry before the repayment of 1 February, which is posted again.
    const earlier = when(recorded, repay(10, '2011-01-28'));
    expect(earlier.outcome).to.equal('committed');
    expect(waiting(earlier)).to.deep.equal(['60.00 2011-02-20']);
    const done = closedBefore(earlier, '2011-02-21');
    const inOrder = [repay(10, '2011-01-28'), repay(40, '2011-02-01'), repay(60, '2011-02-20')].reduce(
      when,
      dynamicLoan(),
    );
    expect(rowsOf(loanOf(done))).to.deep.equal(rowsOf(loanOf(inOrder)));
    // After its day it is posted again like any other repayment.
    const again = when(done, repay(5, '2011-02-10'));
    expect(again.outcome).to.equal('committed');
    expect(transactionOf(again, 'L1-3').adjustmentTransactionKey).not.to.equal(null);
    const paidOff = when(recorded, payOff('2011-02-15'));
    expect(loanOf(paidOff).position.accountState).to.equal('CLOSED');
    expect(waiting(paidOff)).to.deep.equal([]);
  });

  it('is stored and read with its account and its transaction, like an account without one', () => {
    const recorded = ahead(fixedLoan(), 100, '2011-02-10');
    expect(storedAndRead(loanOf(recorded))).to.deep.equal(loanOf(recorded));
    expect('futurePayments' in storedAndRead(loanOf(fixedLoan()))).to.equal(false);
    expect(futurePaymentsMaximum).to.equal(100);
  });
});
