import { expect } from 'chai';
import { describe, it } from 'mocha';
import { accountOf } from '../../../src/lending/views/accounts.ts';
import {
  type AskedCommand,
  create,
  disbursed,
  dynamicProduct,
  given,
  loanOf,
  lock,
  overpay,
  product,
  repay,
  texts,
  under,
  unlock,
  when,
} from '../loan-fixtures.ts';

describe('an account', () => {
  it('keeps the fee balance names of the API under any toggles', () => {
    const loan = loanOf(when(under({ ALLOW_NON_SCHEDULED_FEES: true }, disbursed()), repay(100, '2011-02-23')));
    const balances = texts(accountOf(loan).balances);
    expect(balances).to.include({
      feesDue: '0.00',
      feesBalance: '0.00',
      feesPaid: '0.00',
      principalBalance: '1000.00',
      interestPaid: '100.00',
      principalDue: '215.47',
    });
  });

  it('shows its state, dates and settings', () => {
    expect(accountOf(loanOf(disbursed()))).to.deep.include({
      id: 'L1',
      accountState: 'ACTIVE',
      loanName: 'Product',
      creationDate: '2011-01-20T12:00:01.000Z',
      approvedDate: '2040-01-01T12:00:02.000Z',
      disbursementDetails: { disbursementDate: '2011-01-23T00:00:00Z' },
    });
    expect(accountOf(loanOf(disbursed()))).not.to.have.any.keys('accountSubState', 'closedDate', 'notes');
    const adjusted = disbursed(product({ adjustInterestForFirstInstallment: true }));
    expect(accountOf(loanOf(adjusted)).modifyInterestForFirstInstallment).to.equal(true);
    expect(accountOf(loanOf(disbursed())).modifyInterestForFirstInstallment).to.equal(false);
  });

  it('shows what is locked while it is, and when it was locked last also later', () => {
    const locked = when(disbursed(), lock('2011-02-08', 'APPLY_FEES'));
    expect(accountOf(loanOf(locked))).to.deep.include({
      accountSubState: 'LOCKED',
      lockedOperations: ['APPLY_FEES'],
      lastLockedDate: '2011-02-08T00:00:00Z',
    });
    const unlocked = accountOf(loanOf(when(locked, unlock('2011-02-09'))));
    expect(unlocked).to.include({ lastLockedDate: '2011-02-08T00:00:00Z' });
    expect(unlocked).not.to.have.any.keys('accountSubState', 'lockedOperations');
    expect(accountOf(loanOf(disbursed()))).not.to.have.any.keys('lockedOperations', 'lastLockedDate');
  });

  it('has no null anywhere, in any state', () => {
    const opened = given(create(product()));
    const paid = when(disbursed(), repay('1261.88', '2011-02-23'));
    for (const story of [opened, disbursed(), disbursed(dynamicProduct()), paid]) {
      expect(JSON.stringify(accountOf(loanOf(story)))).not.to.contain('null');
    }
  });

  it('shows what its product decides beside its own fields', () => {
    const account = accountOf(
      loanOf(given({ ...create(product()), additionalFields: { assignedBranchKey: 'b' } } as AskedCommand)),
    );
    expect(account).to.deep.include({ assignedBranchKey: 'b', paymentMethod: 'HORIZONTAL', allowOffset: false });
    expect(account.interestSettings).to.include({ interestRateSource: 'FIXED_INTEREST_RATE' });
    expect(account.penaltySettings).to.deep.equal({ loanPenaltyCalculationMethod: 'NONE' });
  });

  it('counts the days since the oldest unpaid installment fell due, up to the day of its balances', () => {
    const late = (date: string): number => accountOf(loanOf(when(disbursed(), repay(1, date)))).daysLate;
    expect([late('2011-02-23'), late('2011-02-24'), late('2011-04-01')]).to.deep.equal([0, 1, 37]);
  });

  it('counts them up to a later business date that was reached, while it is active', () => {
    const loan = loanOf(when(disbursed(), repay(1, '2011-02-24')));
    const late = (reached: string | null): number => accountOf(loan, reached).daysLate;
    expect([null, '2011-02-23', '2011-02-24', '2011-02-25'].map(late)).to.deep.equal([1, 1, 1, 2]);
    const writtenOff = loanOf(when(disbursed(), { type: 'WRITE_OFF', valueDate: '2011-02-25' }));
    expect(accountOf(writtenOff, '2011-03-25').daysLate).to.equal(accountOf(writtenOff).daysLate);
  });

  it('shows the interest that a dynamic loan has accrued and that is not yet due', () => {
    const story = when(disbursed(dynamicProduct()), overpay(100, '2011-02-08'));
    expect(accountOf(loanOf(story)).accruedInterest.toFixed(2)).to.equal('4.17');
    expect(accountOf(loanOf(disbursed())).accruedInterest.toFixed(2)).to.equal('0.00');
  });

  it('shows no accrued interest of an installment from its due date on, when it becomes due', () => {
    const story = disbursed(dynamicProduct());
    const on = (date: string): string => accountOf(loanOf(when(story, overpay(100, date)))).accruedInterest.toFixed(2);
    expect([on('2011-02-22'), on('2011-02-23'), on('2011-02-24')]).to.deep.equal(['8.06', '0.00', '0.28']);
  });
});
