import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  dueLateFees,
  firstLateFeeDay,
  lateFeesOf,
  requiredLateFeeDay,
} from '../../../src/lending/business-days/late-fees.ts';
import { nextBusinessDate } from '../../../src/lending/business-days/next-business-date.ts';
import { atBusinessDate } from '../../../src/lending/business-days/business-date.ts';
import {
  type Story,
  applyFee,
  applyPenalty,
  disbursed,
  dynamicProduct,
  fee,
  loanOf,
  money,
  product,
  reasons,
  repay,
  when,
} from '../loan-fixtures.ts';
import { closedBefore } from './closed-days.ts';

const late = fee({ id: 'late', trigger: 'LATE_REPAYMENT', amount: money(12), feeApplication: 'REQUIRED' });
const byHand = fee({ id: 'reminder', trigger: 'LATE_REPAYMENT', amount: money(5) });
const settings = {
  feesSettings: { allowArbitraryFees: true, fees: [late, byHand] },
  arrearsSettings: { toleranceCalculationMethod: 'ARREARS_TOLERANCE_PERIOD', tolerancePeriod: { defaultValue: 3 } },
} as const;
/** Rows of 215.47 and 100.00 on 23 February, and of as much on the 23rd of the months after it. */
const fixed = product(settings);
const dynamic = dynamicProduct(settings);

/** The fees that were charged and stand, by date, with the number of their row. */
function charged({ transactions }: Story): string[] {
  return transactions
    .filter(({ type, adjustmentTransactionKey }) => type === 'FEE_CHARGED' && adjustmentTransactionKey === null)
    .map(({ valueDate, amount, installmentKey }) => `${valueDate} ${amount.toFixed(2)} row ${installmentKey}`);
}

/** The story after a person took back the last transaction of a type, or the last one of all. */
function adjustedLast(story: Story, of?: string): Story {
  const last = story.transactions.findLast(({ type }) => of === undefined || type === of) ?? expect.fail();
  return when(story, { type: 'ADJUST_TRANSACTION', transactionId: last.encodedKey });
}

describe('the fee for a late repayment', () => {
  for (const [name, of] of [
    ['fixed', fixed],
    ['dynamic', dynamic],
  ] as const) {
    it(`is charged once to each row of a ${name} loan that owes after its tolerated days`, () => {
      const tolerated = closedBefore(disbursed(of), '2011-02-26');
      expect(charged(tolerated)).to.deep.equal([]);
      expect(charged(closedBefore(tolerated, '2011-02-27'))).to.deep.equal(['2011-02-27 12.00 row 1']);
      const [first, second] = ['2011-02-27 12.00 row 1', '2011-03-27 12.00 row 2'];
      expect(charged(closedBefore(tolerated, '2011-03-26'))).to.deep.equal([first]);
      expect(charged(closedBefore(tolerated, '2011-04-20'))).to.deep.equal([first, second]);
    });
  }

  it('is not charged to a row that was paid by then, whether a day was closed or not', () => {
    const paid = when(closedBefore(disbursed(fixed), '2011-02-26'), repay('315.47', '2011-02-26'));
    expect(charged(closedBefore(paid, '2011-03-20'))).to.deep.equal([]);
    const partly = when(closedBefore(disbursed(fixed), '2011-02-26'), repay('315.46', '2011-02-26'));
    expect(charged(closedBefore(partly, '2011-03-20'))).to.deep.equal(['2011-02-27 12.00 row 1']);
  });

  it('is charged on the next day when no day was closed on its own', () => {
    const missed = when(disbursed(fixed), repay(10, '2011-03-05'));
    expect(nextBusinessDate(loanOf(missed))).to.equal('2011-03-06');
    expect(charged(closedBefore(missed, '2011-03-20'))).to.deep.equal(['2011-03-06 12.00 row 1']);
  });

  it('is taken back by a repayment dated before it that pays the row, and comes again when that is adjusted', () => {
    const story = closedBefore(disbursed(fixed), '2011-03-01');
    const repaid = when(story, repay('315.47', '2011-02-25'));
    expect(repaid.refusals).to.deep.equal([]);
    expect(charged(repaid)).to.deep.equal([]);
    expect(loanOf(repaid).position.installments[0]?.lateFeesDecidedOn).to.equal(null);
    const adjusted = adjustedLast(repaid, 'REPAYMENT');
    expect(adjusted.refusals).to.deep.equal([]);
    expect(charged(closedBefore(adjusted, '2011-03-10'))).to.deep.equal(['2011-02-28 12.00 row 1']);
  });

  it('is posted again behind a repayment dated before it that pays a part of the row', () => {
    const repaid = when(closedBefore(disbursed(fixed), '2011-03-01'), repay(300, '2011-02-25'));
    expect(charged(repaid)).to.deep.equal(['2011-02-27 12.00 row 1']);
    expect(charged(closedBefore(repaid, '2011-03-20'))).to.deep.equal(['2011-02-27 12.00 row 1']);
    expect(repaid.transactions.at(-1)).to.include({ type: 'FEE_CHARGED', isSystemPosted: true });
  });

  it('stays away when a person takes it back', () => {
    const story = closedBefore(disbursed(fixed), '2011-03-01');
    const waived = adjustedLast(story);
    expect(charged(closedBefore(waived, '2011-03-20'))).to.deep.equal([]);
    expect(loanOf(waived).position.installments[0]?.fee.amount.expected.toFixed(2)).to.equal('0.00');
  });

  it('is not charged for days on which fees were locked, nor after them', () => {
    const locked = when(disbursed(fixed), { type: 'LOCK', lockedOperations: ['APPLY_FEES'], valueDate: '2011-02-01' });
    const closed = closedBefore(locked, '2011-03-10');
    const unlocked = when(closed, { type: 'UNLOCK', valueDate: '2011-03-10' });
    expect(unlocked.refusals).to.deep.equal([]);
    expect(charged(closedBefore(unlocked, '2011-04-20'))).to.deep.equal(['2011-03-27 12.00 row 2']);
  });

  it('can be charged by a person, once the row is late for longer than is tolerated', () => {
    for (const of of [fixed, dynamic]) {
      const story = closedBefore(disbursed(of), '2011-02-25');
      const ask = (valueDate: string, installmentNumber?: number): Story =>
        when(story, {
          type: 'APPLY_FEE',
          predefinedFeeKey: 'reminder',
          valueDate,
          ...(installmentNumber === undefined ? {} : { installmentNumber }),
        });
      expect(charged(ask('2011-02-27', 1))).to.deep.equal(['2011-02-27 5.00 row 1']);
      expect(reasons(ask('2011-02-26', 1))).to.deep.equal(['INVALID_DATE valueDate']);
      expect(reasons(ask('2011-02-27', 2))).to.deep.equal(['INVALID_DATE valueDate']);
      expect(reasons(ask('2011-02-27', 9))).to.deep.equal(['INVALID_REPAYMENT_NUMBER installmentNumber']);
      expect(reasons(ask('2011-02-27'))).to.have.length(1);
      // One that a person charges besides it does not take the place of the required one.
      expect(charged(closedBefore(ask('2011-02-27', 1), '2011-03-20'))).to.deep.equal([
        '2011-02-27 5.00 row 1',
        '2011-02-27 12.00 row 1',
      ]);
    }
  });

  it('is paid by the custom amount of its own type, and no other', () => {
    const story = closedBefore(disbursed(fixed), '2011-03-01');
    const part = (customPaymentAmountType: 'LATE_REPAYMENT_FEE' | 'MANUAL_FEE'): Story =>
      when(story, {
        type: 'REPAY',
        amount: money(12),
        valueDate: '2011-03-01',
        customPaymentAmounts: [{ customPaymentAmountType, amount: money(12) }],
      });
    expect(part('LATE_REPAYMENT_FEE').outcome).to.equal('committed');
    expect(part('MANUAL_FEE').outcome).to.equal('refused');
  });

  it('follows the penalty of its day, which is a share of what was overdue before', () => {
    const penalized = product({
      ...settings,
      penaltySettings: {
        loanPenaltyCalculationMethod: 'OVERDUE_BALANCE_INTEREST_AND_FEE',
        penaltyRate: { defaultValue: money(1) },
      },
    });
    const story = closedBefore(disbursed(penalized), '2011-02-28');
    expect(
      story.transactions.slice(1).map(({ type, valueDate, amount }) => `${type} ${valueDate} ${amount.toFixed(2)}`),
    ).to.deep.equal([
      'INTEREST_APPLIED 2011-02-23 100.00',
      // 315.47 for four days, and then 327.47 for one.
      'PENALTY_APPLIED 2011-02-27 12.62',
      'FEE_CHARGED 2011-02-27 12.00',
      'PENALTY_APPLIED 2011-02-28 3.27',
    ]);
  });

  it('is due on the first day after the tolerated ones', () => {
    const loan = loanOf(disbursed(fixed));
    const [row = expect.fail()] = loan.position.installments;
    expect(firstLateFeeDay(loan, row)).to.equal('2011-02-27');
    expect(requiredLateFeeDay(loan, row)).to.equal('2011-02-27');
    expect(requiredLateFeeDay(loan, { ...row, lateFeesDecidedOn: '2011-02-27' })).to.equal(null);
    expect(requiredLateFeeDay(loanOf(disbursed(product())), row)).to.equal(null);
    expect(lateFeesOf(fixed)).to.deep.equal([late]);
    const on = atBusinessDate({ ...loan, businessDate: '2011-02-27' });
    expect(dueLateFees(on, '2011-02-27')).to.deep.equal([{ predefinedFeeKey: 'late-key', installmentNumber: 1 }]);
    expect(dueLateFees(on, '2011-02-26')).to.deep.equal([]);
  });

  it('leaves fees and penalties that a person charges as they are', () => {
    const story = when(
      when(disbursed(fixed), applyFee(3, { installmentNumber: 1, valueDate: '2011-02-25' })),
      applyPenalty(2, { installmentNumber: 1, valueDate: '2011-02-25' }),
    );
    const back = adjustedLast(story);
    expect(loanOf(back).position.installments[0]).to.include({ lateFeesDecidedOn: null, penaltyCalculatedTo: null });
  });
});

describe('a penalty for late days', () => {
  const penalized = product({
    penaltySettings: { loanPenaltyCalculationMethod: 'OVERDUE_BALANCE', penaltyRate: { defaultValue: money(1) } },
  });
  const penalties = ({ transactions }: Story): string[] =>
    transactions
      .filter(({ type, adjustmentTransactionKey }) => type === 'PENALTY_APPLIED' && adjustmentTransactionKey === null)
      .map(({ valueDate, amount }) => `${valueDate} ${amount.toFixed(2)}`);

  it('covers its days once, also after it was posted again', () => {
    const story = when(closedBefore(disbursed(penalized), '2011-02-25'), repay(1, '2011-02-20'));
    expect(penalties(closedBefore(story, '2011-02-26'))).to.deep.equal([
      '2011-02-24 2.15',
      '2011-02-25 2.15',
      '2011-02-26 2.15',
    ]);
  });

  it('stays away when a person takes it back', () => {
    const story = closedBefore(disbursed(penalized), '2011-02-25');
    const waived = adjustedLast(story);
    expect(penalties(closedBefore(waived, '2011-02-26'))).to.deep.equal(['2011-02-24 2.15', '2011-02-26 2.15']);
  });
});
