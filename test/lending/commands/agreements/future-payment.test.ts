import { expect } from 'chai';
import { describe, it } from 'mocha';
import { futurePaymentsMaximum } from '../../../../src/lending/business-days/future-payments.ts';
import { decideFuturePayment } from '../../../../src/lending/commands/agreements/future-payment.ts';
import type { Repay } from '../../../../src/lending/commands.ts';
import {
  type Story,
  adjust,
  contextOf,
  disbursed,
  given,
  create,
  approve,
  loanOf,
  nextCommand,
  product,
  reasons,
  repay,
  when,
} from '../../loan-fixtures.ts';
import { closedBefore } from '../../business-days/closed-days.ts';

const loanProduct = product({
  additionalFields: {
    paymentSettings: { prepaymentSettings: { futurePaymentsAcceptance: 'ACCEPT_FUTURE_PAYMENTS' } },
  },
});
const receivedAt = Date.parse('2011-02-01T12:00:00Z');
const ahead = (story: Story, amount: number, valueDate: string, more: object = {}): Story =>
  when(story, { ...repay(amount, valueDate, more), receivedAt });

describe('recording a repayment dated ahead', () => {
  it('posts nothing, and keeps what was asked for under the key of the command', () => {
    const story = disbursed(loanProduct);
    const command = nextCommand(story, { ...repay(100, '2011-02-10'), receivedAt }) as Repay;
    const decision = decideFuturePayment(loanOf(story), command, contextOf(story, command.commandId));
    if (!('fact' in decision) || decision.fact.type !== 'FUTURE_PAYMENT_RECORDED') throw new Error('refused');
    const { transaction } = decision.fact;
    expect(transaction).to.include({ type: 'REPAYMENT', valueDate: '2011-02-10', bookingDate: '2011-02-10' });
    expect(transaction.encodedKey).to.equal(contextOf(story, command.commandId).newKey('transaction'));
    expect(Object.values(transaction.affected).every((amount) => amount.isZero())).to.equal(true);
    expect(transaction.isSystemPosted).to.equal(false);
  });

  it('refuses what would be refused whatever happens until its day', () => {
    const story = disbursed(loanProduct);
    const refusedAs = (amount: number, valueDate: string, more: object = {}): string[] =>
      reasons(ahead(story, amount, valueDate, more));
    expect(refusedAs(10, '2011-02-02')).to.deep.equal([]);
    expect(refusedAs(10, '2999-12-31')).to.deep.equal([]);
    expect(refusedAs(10, '3000-01-01')).to.deep.equal(['INVALID_DATE valueDate']);
    expect(refusedAs(10, '2011-02-10', { bookingDate: '2011-02-10' })).to.deep.equal([]);
    expect(refusedAs(10, '2011-02-10', { bookingDate: '2011-02-11' })).to.deep.equal(['INVALID_DATE bookingDate']);
    expect(refusedAs(0, '2011-02-10')).to.deep.equal(['INVALID_AMOUNT amount']);
    expect(refusedAs(0.001, '2011-02-10')).to.deep.equal(['INVALID_AMOUNT amount']);
    expect(refusedAs(10, '2011-02-10', { installmentEncodedKey: '0'.repeat(32) })).to.deep.equal([
      'INVALID_REPAYMENT_ID installmentEncodedKey',
    ]);
    const parts = [{ customPaymentAmountType: 'INTEREST', amount: loanOf(story).loanAmount }];
    expect(refusedAs(10, '2011-02-10', { customPaymentAmounts: parts })).to.deep.equal([
      'CUSTOM_PAYMENT_AMOUNT_DIFFERENT_THAN_TOTAL_PAYMENT_AMOUNT customPaymentAmounts',
    ]);
    expect(
      refusedAs(10, '2011-02-10', {
        prepaymentRecalculationMethod: 'RECALCULATE_SCHEDULE_KEEP_SAME_NUMBER_OF_TERMS',
      }),
    ).to.deep.equal(['LOAN_PRODUCT_PREPAYMENT_OPTIONS_MISMATCH prepaymentRecalculationMethod']);
    const approved = given(create(loanProduct), approve);
    expect(reasons(ahead(approved, 10, '2011-02-10'))).to.deep.equal(['INVALID_ACCOUNT_STATE_FOR_REPAYMENTS']);
  });

  it('is refused once its externalId is taken, by one that waits too', () => {
    const first = ahead(disbursed(loanProduct), 10, '2011-02-10', { externalId: 'X1' });
    expect(reasons(ahead(first, 10, '2011-02-11', { externalId: 'X1' }))).to.deep.equal([
      'EXTERNAL_ID_ALREADY_EXISTS externalId',
    ]);
  });

  it('accepts a hundred of one account, and one more when one of them is no longer waiting', () => {
    expect(futurePaymentsMaximum).to.equal(100);
    let story = disbursed(loanProduct);
    for (let count = 1; count <= futurePaymentsMaximum; count += 1) {
      story = ahead(story, 1, `2011-02-${String(2 + (count % 20)).padStart(2, '0')}`);
      expect(story.outcome).to.equal('committed');
    }
    const full = ['FUTURE_PAYMENTS_LIMIT_EXCEEDED valueDate'];
    expect(reasons(ahead(story, 1, '2011-02-25'))).to.deep.equal(full);
    // A repayment of today is decided as ever.
    expect(when(story, { ...repay(1, '2011-02-01'), receivedAt }).outcome).to.equal('committed');
    expect(ahead(when(story, adjust(2)), 1, '2011-02-25').outcome).to.equal('committed');
    const closed = closedBefore(story, '2011-02-03');
    expect(ahead(closed, 1, '2011-02-25').outcome).to.equal('committed');
    const all = closedBefore(story, '2011-02-28');
    expect(loanOf(all).futurePayments).to.equal(undefined);
    expect(all.transactions.filter(({ type }) => type === 'REPAYMENT')).to.have.length(futurePaymentsMaximum);
  });
});
