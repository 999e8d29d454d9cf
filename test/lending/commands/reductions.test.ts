import { expect } from 'chai';
import { describe, it } from 'mocha';
import { figuresOf } from '../../../src/lending/balances.ts';
import {
  adjust,
  applyFee,
  applyInterest,
  applyPenalty,
  create,
  disbursed,
  dynamicProduct,
  given,
  loanOf,
  money,
  product,
  reasons,
  reduce,
  repay,
  rowsOf,
  type Story,
  when,
} from '../loan-fixtures.ts';

const expectedInterest = (story: Story): string[] =>
  loanOf(story).position.installments.map(({ interest }) => interest.amount.expected.toFixed(2));
const lastOf = (story: Story) => story.transactions.at(-1) ?? expect.fail('no transaction');

describe('a reduction of interest', () => {
  it('takes it off the rows of a fixed loan, those due first first', () => {
    const story = when(disbursed(), reduce('REDUCE_INTEREST', '150', '2011-02-23'));
    expect(expectedInterest(story)).to.deep.equal(['0.00', '28.45', '54.75', '28.68']);
    expect(lastOf(story)).to.include({ type: 'INTEREST_DUE_REDUCED' });
    expect(lastOf(story).affected.interest.toFixed(2)).to.equal('150.00');
  });

  it('leaves what was paid of a row', () => {
    const paid = when(disbursed(), repay(30, '2011-02-23'));
    const story = when(paid, reduce('REDUCE_INTEREST', '80', '2011-02-23'));
    expect(rowsOf(loanOf(story)).slice(0, 2)).to.deep.equal(['215.47/0.00 30.00/30.00', '237.02/0.00 68.45/0.00']);
  });

  it('takes off what a dynamic loan has earned, and what it earns afterwards is more by it', () => {
    const story = when(disbursed(dynamicProduct()), reduce('REDUCE_INTEREST', '3', '2011-02-08'));
    expect(figuresOf(loanOf(story)).interest.balance.toFixed(2)).to.equal('1.17');
    const later = when(story, applyInterest('2011-02-23'));
    expect(figuresOf(loanOf(later)).interest.balance.toFixed(2)).to.equal('5.33');
    expect(lastOf(later).amount.toFixed(2)).to.equal('5.33');
  });

  it('counts what it takes off as applied no longer', () => {
    const applied = when(disbursed(dynamicProduct()), applyInterest('2011-02-08'));
    const story = when(when(applied, reduce('REDUCE_INTEREST', '3', '2011-02-08')), applyInterest('2011-02-23'));
    expect(lastOf(story).amount.toFixed(2)).to.equal('4.16');
    expect(figuresOf(loanOf(story)).interest.balance.toFixed(2)).to.equal('5.33');
  });

  it('takes the same share of the tax', () => {
    const taxSettings = { taxRate: money(16), taxCalculationMethod: 'EXCLUSIVE', taxesOnInterestEnabled: true };
    const story = when(disbursed(product({ taxSettings })), reduce('REDUCE_INTEREST', '58', '2011-02-23'));
    const [row] = loanOf(story).position.installments;
    expect([row?.interest.amount.expected.toFixed(2), row?.interest.tax.expected.toFixed(2)]).to.deep.equal([
      '58.00',
      '8.00',
    ]);
    expect(lastOf(story).taxes.interest.toFixed(2)).to.equal('8.00');
  });
});

describe('a reduction of fees', () => {
  const charged = when(when(disbursed(), applyFee(5, { installmentNumber: 1 })), applyFee(7, { installmentNumber: 2 }));

  it('takes them off in the order they were charged, or those of one installment', () => {
    const feesOf = (story: Story): (string | undefined)[] =>
      loanOf(story)
        .position.installments.slice(0, 2)
        .map(({ fee }) => fee.amount.expected.toFixed(2));
    expect(feesOf(when(charged, reduce('REDUCE_FEES', 6, '2011-02-01')))).to.deep.equal(['0.00', '6.00']);
    const named = reduce('REDUCE_FEES', 6, '2011-02-01', { installmentNumber: 2 });
    expect(feesOf(when(charged, named))).to.deep.equal(['5.00', '1.00']);
    expect(reasons(when(charged, reduce('REDUCE_FEES', '12.01', '2011-02-01')))).to.deep.equal([
      'INVALID_AMOUNT amount',
    ]);
  });

  it('says so for each fee, and its adjustment too', () => {
    const story = when(charged, reduce('REDUCE_FEES', 6, '2011-02-01'));
    const feeEvents = (of: Story, from: Story) =>
      of.events
        .slice(from.events.length)
        .flatMap((event) =>
          event.eventType === 'loan_fee_event' ? [`${event.feeEvent} ${event.adjusts} ${event.amount.toFixed(2)}`] : [],
        );
    expect(feeEvents(story, charged)).to.deep.equal(['ADJUSTED APPLIED -5.00', 'ADJUSTED APPLIED -1.00']);
    const undone = when(story, adjust(4));
    expect(feeEvents(undone, story)).to.deep.equal(['ADJUSTED APPLIED 5.00', 'ADJUSTED APPLIED 1.00']);
    expect(loanOf(undone).position).to.deep.equal(loanOf(charged).position);
  });
});

describe('a reduction of penalties', () => {
  it('closes a loan that owes nothing else', () => {
    const charged = when(disbursed(), applyPenalty(5, { installmentNumber: 1 }));
    const custom = [
      { customPaymentAmountType: 'PRINCIPAL', amount: money(1000) },
      { customPaymentAmountType: 'INTEREST', amount: money('261.88') },
    ];
    const paid = when(charged, repay('1261.88', '2011-02-23', { customPaymentAmounts: custom }));
    expect(loanOf(paid).position.accountState).to.equal('ACTIVE');
    const part = when(paid, reduce('REDUCE_PENALTIES', '4.99', '2011-02-24'));
    expect(loanOf(part).position.accountState).to.equal('ACTIVE');
    const all = when(part, reduce('REDUCE_PENALTIES', '0.01', '2011-02-24'));
    expect(loanOf(all).position).to.include({ accountState: 'CLOSED', accountSubState: 'REPAID' });
    expect(loanOf(when(all, adjust(5))).position).to.deep.equal(loanOf(part).position);
  });
});

describe('every reduction', () => {
  const table: readonly (readonly [what: string, amount: string, day: string, more: object, reason: string])[] = [
    ['of nothing', '0', '2011-02-23', {}, 'INVALID_AMOUNT amount'],
    ['of half a cent', '0.005', '2011-02-23', {}, 'INVALID_AMOUNT amount'],
    ['of more than is owed', '300', '2011-02-23', {}, 'INVALID_AMOUNT amount'],
    ['before the disbursement', '1', '2011-01-22', {}, 'INVALID_DATE valueDate'],
    ['in the future', '1', '2040-01-02', {}, 'INVALID_DATE valueDate'],
    [
      'of an unknown installment',
      '1',
      '2011-02-23',
      { installmentNumber: 5 },
      'INVALID_REPAYMENT_NUMBER installmentNumber',
    ],
  ];
  for (const type of ['REDUCE_INTEREST', 'REDUCE_FEES', 'REDUCE_PENALTIES'] as const) {
    for (const [what, amount, day, more, reason] of table) {
      it(`${type} is refused ${what}`, () => {
        expect(reasons(when(disbursed(), reduce(type, amount, day, more)))).to.deep.equal([reason]);
      });
    }

    it(`${type} is refused before the loan is paid out`, () => {
      expect(reasons(when(given(create(product())), reduce(type, 1, '2011-02-23')))).to.deep.equal([
        'INVALID_ACCOUNT_STATE',
      ]);
    });
  }

  it('of interest is refused before another transaction', () => {
    const paid = when(disbursed(), repay(1, '2011-02-02'));
    expect(reasons(when(paid, reduce('REDUCE_INTEREST', 1, '2011-02-01')))).to.deep.equal([
      'ENTRY_DATE_BEFORE_OTHER_TRANSACTION valueDate',
    ]);
  });
});
