import { expect } from 'chai';
import { describe, it } from 'mocha';
import { figuresOf } from '../../../../src/lending/balances.ts';
import { transactionView } from '../../../../src/lending/views/transactions.ts';
import {
  adjust,
  create,
  disbursed,
  dynamicProduct,
  given,
  loanOf,
  product,
  reasons,
  refund,
  repay,
  rowsOf,
  texts,
  type Story,
  when,
} from '../../loan-fixtures.ts';

const start = disbursed(dynamicProduct());
const disbursement = (story: Story): string => story.transactions[0]?.encodedKey ?? expect.fail('not disbursed');
const refunded = (story: Story, amount: number | string, day: string): Story =>
  when(story, refund(amount, day, disbursement(story)));

describe('a refund', () => {
  const story = refunded(start, 600, '2011-01-23');

  it('lowers the principal outside the installments, and the interest of a dynamic loan from that day on', () => {
    expect(rowsOf(loanOf(story))).to.deep.equal([
      '166.67/0.00 3.33/0.00',
      '166.67/0.00 1.94/0.00',
      '66.66/0.00 0.56/0.00',
    ]);
    const { principal } = figuresOf(loanOf(story));
    expect([principal.balance.toFixed(2), principal.paid.toFixed(2)]).to.deep.equal(['400.00', '600.00']);
  });

  it('is a transaction of its own that names the disbursement', () => {
    const posted = story.transactions.at(-1) ?? expect.fail('no transaction');
    expect(texts({ type: posted.type, amount: posted.amount, principal: posted.affected.principal })).to.deep.equal({
      type: 'REFUND',
      amount: '600.00',
      principal: '600.00',
    });
    expect(transactionView(loanOf(story), posted)).to.include({ parentLoanTransactionKey: disbursement(story) });
  });

  it('is taken back exactly', () => {
    expect(loanOf(when(story, adjust(2))).position).to.deep.equal(loanOf(start).position);
  });

  it('is posted again behind an entry that is dated before it', () => {
    const later = refunded(start, 100, '2011-03-01');
    const both = when(later, repay(50, '2011-02-01'));
    expect(both.refusals).to.deep.equal([]);
    const again = both.transactions.at(-1) ?? expect.fail('no transaction');
    expect(again).to.include({ type: 'REFUND', valueDate: '2011-03-01' });
    expect(again.additionalFields).to.deep.equal({ parentLoanTransactionKey: disbursement(start) });
  });

  it('of all that was paid out closes a loan that has earned nothing yet', () => {
    expect(loanOf(refunded(start, 1000, '2011-01-23')).position).to.include({
      accountState: 'CLOSED',
      accountSubState: 'REPAID',
    });
  });

  it('may be all that is left of the disbursement, and a cent more is refused', () => {
    expect(reasons(refunded(story, '400.01', '2011-01-23'))).to.deep.equal(['INVALID_AMOUNT amount']);
    expect(refunded(story, 400, '2011-01-23').refusals).to.deep.equal([]);
  });

  it('of more than the principal that is still owed is refused', () => {
    const paid = when(start, repay(300, '2011-02-23'));
    const { balance } = figuresOf(loanOf(paid)).principal;
    expect(reasons(when(paid, refund(balance.plus('0.01'), '2011-02-23', disbursement(paid))))).to.deep.equal([
      'EXCESS_REPAYMENT_ERROR amount',
    ]);
  });

  it('is no prepayment', () => {
    const strict = dynamicProduct({
      paymentSettings: { prepaymentSettings: { prepaymentAcceptance: 'NO_PREPAYMENTS' } },
    });
    expect(refunded(disbursed(strict), 100, '2011-01-23').refusals).to.deep.equal([]);
  });

  it('is refused without its disbursement, before it, and for a loan that is not active', () => {
    expect(reasons(when(start, refund(1, '2011-01-23')))).to.deep.equal([
      'INVALID_TRANSACTION_ID linkedDisbursementKey',
    ]);
    expect(reasons(refunded(start, 1, '2011-01-22'))).to.deep.equal(['ENTRY_DATE_BEFORE_OTHER_TRANSACTION valueDate']);
    expect(reasons(refunded(start, 0, '2011-01-23'))).to.deep.equal(['INVALID_AMOUNT amount']);
    expect(reasons(when(given(create(product())), refund(1, '2011-01-23')))).to.deep.equal([
      'INVALID_ACCOUNT_STATE_FOR_REPAYMENTS',
    ]);
  });
});
