import { expect } from 'chai';
import { describe, it } from 'mocha';
import { decodeTransaction, encodeTransaction } from '../../../src/lending/changelog/stored-transaction.ts';
import { administratorKey } from '../../../src/lending/organization.ts';
import { type TransactionView, transactionView } from '../../../src/lending/views/transactions.ts';
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
  given,
  loanOf,
  overpay,
  product,
  repay,
  texts,
  when,
} from '../loan-fixtures.ts';

const steps = [
  applyFee(50, { installmentNumber: 1 }),
  applyPenalty(1),
  repay('315.47', '2011-02-23', { externalId: 'E1', notes: 'paid' }),
  overpay(1, '2011-02-23'),
  adjust(5),
];
const story = steps.reduce(when, disbursed());

const viewsOf = (of: Story): TransactionView[] =>
  of.transactions.map((transaction) => transactionView(loanOf(of), transaction));

describe('the transactions of a loan', () => {
  it('all have the terms in force', () => {
    for (const { terms, type } of viewsOf(story)) {
      expect(terms.interestSettings.interestRate.toFixed(), type).to.equal('10');
      expect(terms.periodicPayment?.toFixed(2), type).to.equal('315.47');
    }
  });

  it('show the affected balances, as positive amounts', () => {
    const repayment = viewsOf(story)[3] ?? expect.fail();
    expect(texts(repayment.affectedAmounts)).to.deep.equal({
      principalAmount: '164.47',
      interestAmount: '100.00',
      feesAmount: '50.00',
      penaltyAmount: '1.00',
      interestFromArrearsAmount: '0.00',
      deferredInterestAmount: '0.00',
      paymentHolidaysInterestAmount: '0.00',
      fundersInterestAmount: '0.00',
      organizationCommissionAmount: '0.00',
    });
    expect(texts(repayment.accountBalances)).to.deep.equal({
      principalBalance: '835.53',
      totalBalance: '997.41',
      advancePosition: '0.00',
      arrearsPosition: '0.00',
      expectedPrincipalRedraw: '0.00',
      redrawBalance: '0.00',
    });
    expect(repayment).to.include({
      id: 'L1-4',
      type: 'REPAYMENT',
      valueDate: '2011-02-23T00:00:00Z',
      externalId: 'E1',
      notes: 'paid',
    });
  });

  it('name the user who posted them, unless the end of a day did', () => {
    const [, paid = expect.fail()] = when(disbursed(), repay(1, '2011-02-23')).transactions;
    expect(transactionView(loanOf(story), paid).userKey).to.equal(administratorKey);
    expect(transactionView(loanOf(story), { ...paid, isSystemPosted: true })).not.to.have.property('userKey');
  });

  it('have the terms that an adjustment returns to', () => {
    const [taken = expect.fail(), back = expect.fail()] = viewsOf(when(disbursed(), adjust(1)));
    expect([taken.type, taken.terms.periodicPayment?.toFixed(2)]).to.deep.equal(['DISBURSEMENT', '315.47']);
    expect([back.type, back.terms.periodicPayment]).to.deep.equal(['DISBURSEMENT_ADJUSTMENT', undefined]);
    expect(back.terms.interestSettings.interestRate.toFixed()).to.equal('10');
  });

  it('return the channel of the money, and an empty object where none was named', () => {
    const transactionDetails = { transactionChannelId: 'cash', transactionChannelKey: 'c'.repeat(256) };
    const paid = when(disbursed(), repay(1, '2011-02-23', { transactionDetails }));
    const [first, repayment] = viewsOf(paid);
    expect(first?.transactionDetails).to.deep.equal({});
    expect(repayment?.transactionDetails).to.deep.equal(transactionDetails);
    const emitted = paid.events.findLast((event) => event.eventType === 'loan_transaction_posted');
    expect(emitted?.transaction.transactionDetails).to.deep.equal(transactionDetails);
    const [, stored = expect.fail()] = paid.transactions;
    expect(decodeTransaction(encodeTransaction(stored))).to.deep.equal(stored);
  });

  it('have no null, and an empty key for an arbitrary fee', () => {
    expect(JSON.stringify(viewsOf(story))).not.to.contain('null');
    expect(viewsOf(story)[1]?.fees[0]?.predefinedFeeKey).to.equal('');
    expect(viewsOf(story)[0]).not.to.have.any.keys('externalId', 'notes', 'originalTransactionKey');
  });

  it('keep the branch that the account had, and give back what was sent with them', () => {
    const opened = given({
      ...create(product()),
      additionalFields: { assignedBranchKey: 'b', assignedCentreKey: 'c' },
    } as AskedCommand);
    const sent = { additionalFields: { originalCurrencyCode: 'EUR', _card: { token: '4000-1' }, _rows: [{ a: '1' }] } };
    const paid = [approve, { ...disburse('2011-01-23'), ...sent } as AskedCommand].reduce(when, opened);
    expect(viewsOf(paid)[0]).to.deep.include({
      branchKey: 'b',
      centreKey: 'c',
      originalCurrencyCode: 'EUR',
      _card: { token: '4000-1' },
      _rows: [{ _index: '0', a: '1' }],
    });
  });

  it('name the installment that they were added to', () => {
    const loan = loanOf(story);
    const [, charged = expect.fail()] = story.transactions;
    expect(transactionView(loan, charged).installmentEncodedKey).to.match(/00000001$/);
    expect(transactionView(loan, charged).fees[0]).to.include({ name: 'Arbitrary fee', trigger: 'ARBITRARY' });
  });
});
