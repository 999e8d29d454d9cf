import { expect } from 'chai';
import { describe, it } from 'mocha';
import { figuresOf } from '../../../src/lending/balances.ts';
import { payOffFigures } from '../../../src/lending/commands/pay-off.ts';
import { newCharge } from '../../../src/lending/fees/charges.ts';
import { addCharge, closeLedger, openLedger } from '../../../src/lending/ledger.ts';
import { payOffAmountsOf } from '../../../src/lending/views/pay-off.ts';
import {
  adjust,
  applyFee,
  applyPenalty,
  approve,
  create,
  disburse,
  disbursed,
  dynamicProduct,
  fee,
  given,
  loanOf,
  money,
  payOff,
  product,
  reasons,
  repay,
  texts,
  type Story,
  under,
  when,
} from '../loan-fixtures.ts';
import { millisecondsSince } from '../../support/values/processor-time.ts';

const postedBy = (story: Story, before: Story): string[] =>
  story.transactions.slice(before.transactions.length).map(({ type, amount }) => `${type} ${amount.toFixed(2)}`);

/** 100 at seven percent a year, due on the third of each month; the first installment is not paid. */
const hundred = given(
  create(dynamicProduct({ interestSettings: { interestRate: { defaultValue: money(7) } } }), 100),
  approve,
  disburse('2011-01-03'),
);

const charged = when(
  when(
    disbursed(dynamicProduct({ feesSettings: { fees: [fee({ id: 'outside', allocation: 'NO_ALLOCATION' })] } })),
    applyFee(30),
  ),
  applyPenalty(8),
);

describe('a pay-off', () => {
  it('of 100 at 7 %, on 15 February with the first installment unpaid, is 100.00 and 0.58 and 0.23', () => {
    const story = when(hundred, payOff('2011-02-15'));
    const { affected, amount } = story.transactions.at(-1) ?? expect.fail('no transaction');
    expect([affected.principal.toFixed(2), affected.interest.toFixed(2), amount.toFixed(2)]).to.deep.equal([
      '100.00',
      '0.81',
      '100.81',
    ]);
    expect(loanOf(story).position.installments.map(({ interest }) => interest.amount.paid.toFixed(2))).to.deep.equal([
      '0.58',
      '0.23',
      '0.00',
      '0.00',
      '0.00',
      '0.00',
    ]);
    expect(loanOf(story).position).to.include({ accountState: 'CLOSED', accountSubState: 'REPAID' });
  });

  it('applies the interest, writes down what is forgiven and pays the rest, each as a transaction', () => {
    const story = when(
      charged,
      payOff('2011-02-23', { interestPaid: money('3.33'), feesPaid: money(10), penaltyPaid: money(0) }),
    );
    expect(postedBy(story, charged)).to.deep.equal([
      'INTEREST_APPLIED 8.33',
      'INTEREST_DUE_REDUCED 5.00',
      'FEES_DUE_REDUCED 20.00',
      'PENALTIES_DUE_REDUCED 8.00',
      'REPAYMENT 1013.33',
    ]);
    expect(loanOf(story).position).to.include({ accountState: 'CLOSED', accountSubState: 'REPAID' });
    const { principal, interest, fees, penalty } = figuresOf(loanOf(story));
    expect(texts({ p: principal.paid, i: interest.paid, f: fees.paid, e: penalty.paid })).to.deep.equal({
      p: '1000.00',
      i: '3.33',
      f: '10.00',
      e: '0.00',
    });
  });

  it('is taken back by its adjustments, the last transaction first, so that everything is owed again', () => {
    const story = when(charged, payOff('2011-02-23', { interestPaid: money(0) }));
    expect(postedBy(story, charged)).to.have.length(3);
    const undone = [6, 5, 4].reduce((after, number) => when(after, adjust(number)), story);
    expect(loanOf(undone).position).to.deep.equal(loanOf(charged).position);
  });

  it('pays fees outside the schedule too, and only as much of them as is asked', () => {
    const toggled = under({ ALLOW_NON_SCHEDULED_FEES: true }, charged);
    const outside = when(toggled, applyFee(40, { predefinedFeeKey: 'outside' }));
    const all = when(outside, payOff('2011-02-23'));
    expect(postedBy(all, outside)).to.deep.equal(['INTEREST_APPLIED 8.33', 'REPAYMENT 1086.33']);
    const part = when(outside, payOff('2011-02-23', { nonScheduledFeeAmount: money(15) }));
    expect(postedBy(part, outside).slice(1)).to.deep.equal(['FEES_DUE_REDUCED 25.00', 'REPAYMENT 1061.33']);
    expect(loanOf(part).position.accountState).to.equal('CLOSED');
  });

  it('of a fixed loan pays all the scheduled interest, or as little of it as is asked', () => {
    const start = disbursed();
    expect(postedBy(when(start, payOff('2011-02-22')), start)).to.deep.equal(['REPAYMENT 1261.88']);
    const forgiving = when(start, payOff('2011-02-23', { interestPaid: money(100) }));
    expect(postedBy(forgiving, start)).to.deep.equal([
      'INTEREST_APPLIED 100.00',
      'INTEREST_DUE_REDUCED 161.88',
      'REPAYMENT 1100.00',
    ]);
    expect(loanOf(forgiving).position.accountState).to.equal('CLOSED');
  });

  it('is known by its last transaction when it comes again', () => {
    const commandId = '00000000-0000-4000-9000-000000000001';
    const story = when(charged, { ...payOff('2011-02-23'), commandId });
    const again = when(story, { ...payOff('2011-02-23'), commandId });
    expect(again.outcome).to.equal('repeated');
    expect(again.transactions).to.equal(story.transactions);
  });

  const table: readonly (readonly [what: string, amounts: Parameters<typeof payOff>[1], reason: string])[] = [
    ['31.00 of 30.00 fees', { feesPaid: money(31) }, 'PAY_OFF_INVALID_FEES_PAID payOffAdjustableAmounts.feesPaid'],
    [
      'more interest than is owed',
      { interestPaid: money('8.34') },
      'PAY_OFF_INVALID_INTEREST_PAID payOffAdjustableAmounts.interestPaid',
    ],
    [
      'half a cent of interest',
      { interestPaid: money('0.005') },
      'PAY_OFF_INVALID_INTEREST_PAID payOffAdjustableAmounts.interestPaid',
    ],
    [
      'penalties below zero',
      { penaltyPaid: money(-1) },
      'PAY_OFF_INVALID_PENALTY_PAID payOffAdjustableAmounts.penaltyPaid',
    ],
    [
      'fees outside the schedule that are not there',
      { nonScheduledFeeAmount: money(1) },
      'PAY_OFF_INVALID_FEES_PAID payOffAdjustableAmounts.nonScheduledFeeAmount',
    ],
  ];
  for (const [what, amounts, reason] of table) {
    it(`is refused with ${what}`, () => {
      expect(reasons(when(charged, payOff('2011-02-23', amounts)))).to.deep.equal([reason]);
    });
  }

  it('takes exactly what is owed', () => {
    const exact = { interestPaid: money('8.33'), feesPaid: money(30), penaltyPaid: money(8) };
    expect(postedBy(when(charged, payOff('2011-02-23', exact)), charged)).to.deep.equal([
      'INTEREST_APPLIED 8.33',
      'REPAYMENT 1046.33',
    ]);
  });

  const days: readonly (readonly [what: string, story: Story, day: string, reason: string])[] = [
    ['before the disbursement', given(create(product())), '2011-02-23', 'INVALID_ACCOUNT_STATE_FOR_REPAYMENTS'],
    ['of a closed loan', when(disbursed(), payOff('2011-02-23')), '2011-02-23', 'INVALID_ACCOUNT_STATE_FOR_REPAYMENTS'],
    ['in the future', disbursed(), '2040-01-02', 'REPAYMENT_DATE_IN_THE_FUTURE_ERROR valueDate'],
    ['outside the years that are computed', disbursed(), '3000-01-01', 'INVALID_DATE valueDate'],
    [
      'before a repayment',
      when(disbursed(), repay(1, '2011-02-02')),
      '2011-02-01',
      'ENTRY_DATE_BEFORE_OTHER_TRANSACTION valueDate',
    ],
  ];
  for (const [what, story, day, reason] of days) {
    it(`is refused ${what}`, () => {
      expect(reasons(when(story, payOff(day)))).to.deep.equal([reason]);
    });
  }

  it('is refused while more is owed than due, where the product accepts no prepayment', () => {
    const strict = { paymentSettings: { prepaymentSettings: { prepaymentAcceptance: 'NO_PREPAYMENTS' } } };
    const story = disbursed(dynamicProduct(strict));
    expect(reasons(when(story, payOff('2011-07-22')))).to.deep.equal(['PREPAYMENT_NOT_ALLOWED_ERROR']);
    expect(when(story, payOff('2011-07-23')).outcome).to.equal('committed');
  });

  it('has a preview with the amounts that it then pays, also for a day to come', () => {
    const figures = payOffFigures(loanOf(charged), '2011-02-23');
    if ('errorReason' in figures) expect.fail(figures.errorReason);
    expect(texts({ ...payOffAmountsOf(figures) })).to.include({
      principalBalance: '1000.00',
      interestBalance: '8.33',
      feeBalance: '30.00',
      penaltyBalance: '8.00',
      earlyRepaymentCharge: '0.00',
      totalBalance: '1046.33',
    });
    const later = payOffFigures(loanOf(charged), '2041-02-23');
    expect('errorReason' in later).to.equal(false);
    expect(payOffFigures(loanOf(charged), '2011-01-22')).to.include({
      errorReason: 'ENTRY_DATE_BEFORE_OTHER_TRANSACTION',
    });
  });

  it('of a loan with 10,000 fees takes less than two seconds', () => {
    const loan = loanOf(disbursed());
    const ledger = openLedger(loan, loan.position, '2011-01-23');
    for (let count = 0; count < 10_000; count += 1) {
      const encodedKey = `fee-${count}`;
      const one = {
        encodedKey,
        fee: null,
        allocation: 'INSTALLMENT',
        net: money('1.01'),
        installmentKey: 1 + (count % 4),
      } as const;
      addCharge(ledger, newCharge(loan, one));
    }
    const story = { ...disbursed(), loan: { ...loan, position: closeLedger(ledger) } };
    const before = process.cpuUsage();
    const paid = when(story, payOff('2011-02-23', { feesPaid: money(5_000) }));
    const took = millisecondsSince(before);
    expect(postedBy(paid, story)).to.deep.equal([
      'INTEREST_APPLIED 100.00',
      'FEES_DUE_REDUCED 5100.00',
      'REPAYMENT 6261.88',
    ]);
    expect(paid.events.filter(({ eventType }) => eventType === 'loan_fee_event')).to.have.length(10_001);
    expect(took).to.be.lessThan(2_000);
  });
});
