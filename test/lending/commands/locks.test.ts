import { expect } from 'chai';
import { describe, it } from 'mocha';
import { duePenalties } from '../../../src/lending/business-days/penalties.ts';
import { figuresOf } from '../../../src/lending/balances.ts';
import {
  adjust,
  applyFee,
  applyInterest,
  applyPenalty,
  create,
  disbursed,
  dynamicProduct,
  fee,
  given,
  loanOf,
  lock,
  money,
  product,
  reasons,
  repay,
  type Story,
  unlock,
  when,
} from '../loan-fixtures.ts';

const start = disbursed(dynamicProduct());
const interestOf = (story: Story): string => figuresOf(loanOf(story)).interest.balance.toFixed(2);
const typesOf = (story: Story, before: Story): string[] =>
  story.transactions.slice(before.transactions.length).map(({ type }) => type);
const stateOf = ({ events }: Story): string | undefined =>
  events.findLast((event) => event.eventType === 'loan_state_changed')?.name;

describe('a lock', () => {
  it('of interest ends what a dynamic loan earns, and its end begins it again', () => {
    const locked = when(start, lock('2011-02-08', 'APPLY_INTEREST'));
    expect(typesOf(locked, start)).to.deep.equal(['INTEREST_LOCKED']);
    expect([interestOf(locked), stateOf(locked)]).to.deep.equal(['4.17', 'loan_locked']);
    const paid = when(locked, repay('1', '2011-04-23'));
    expect(interestOf(paid)).to.equal('3.17');
    const unlocked = when(paid, unlock('2011-05-23'));
    expect(typesOf(unlocked, paid)).to.deep.equal(['INTEREST_UNLOCKED']);
    expect([interestOf(unlocked), stateOf(unlocked)]).to.deep.equal(['3.17', 'loan_unlocked']);
    // 1000 at ten percent a year for 15 of 30 days more.
    expect(figuresOf(loanOf(when(unlocked, repay('0.01', '2011-06-08')))).interest.balance.toFixed(2)).to.equal('7.33');
  });

  it('of all operations posts one transaction for each, and what is locked is refused', () => {
    const locked = when(start, lock('2011-02-08'));
    expect(typesOf(locked, start)).to.deep.equal(['INTEREST_LOCKED', 'FEE_LOCKED', 'PENALTY_LOCKED']);
    expect(loanOf(locked).position).to.include({ accountState: 'ACTIVE', accountSubState: 'LOCKED' });
    expect(reasons(when(locked, applyFee(5, { valueDate: '2011-02-08' })))).to.deep.equal(['INVALID_ACCOUNT_STATE']);
    expect(reasons(when(locked, applyPenalty(5, { valueDate: '2011-02-08' })))).to.deep.equal([
      'INVALID_ACCOUNT_STATE',
    ]);
    expect(reasons(when(locked, applyInterest('2011-02-08')))).to.deep.equal(['INTEREST_CANNOT_BE_APPLIED']);
    expect(reasons(when(locked, lock('2011-02-08')))).to.deep.equal(['INVALID_ACCOUNT_STATE']);
    const unlocked = when(locked, unlock('2011-02-09'));
    expect(typesOf(unlocked, locked)).to.deep.equal(['INTEREST_UNLOCKED', 'FEE_UNLOCKED', 'PENALTY_UNLOCKED']);
    expect(loanOf(unlocked).position).to.deep.include({ accountSubState: null, lockedOperations: [] });
    expect(loanOf(unlocked).position.lastLockedOn).to.equal('2011-02-08');
    expect(reasons(when(unlocked, unlock('2011-02-09')))).to.deep.equal(['ACCOUNT_ALREADY_UNLOCKED']);
  });

  it('has the value date of the last one that stands', () => {
    const dateOf = (story: Story): unknown => loanOf(story).position.lastLockedOn;
    const first = when(start, lock('2011-02-08', 'APPLY_FEES'));
    const second = when(first, lock('2011-02-10', 'APPLY_INTEREST'));
    expect([dateOf(start), dateOf(first), dateOf(second)]).to.deep.equal([undefined, '2011-02-08', '2011-02-10']);
    const taken = when(second, adjust(3));
    expect(dateOf(taken)).to.equal('2011-02-08');
    expect(loanOf(when(taken, adjust(2))).position).not.to.have.property('lastLockedOn');
    expect(dateOf(when(second, unlock('2011-03-01')))).to.equal('2011-02-10');
  });

  it('of one operation leaves the others, and another lock adds them', () => {
    const fees = when(start, lock('2011-02-08', 'APPLY_FEES'));
    expect(when(fees, applyPenalty(5, { valueDate: '2011-02-08' })).outcome).to.equal('committed');
    const both = when(fees, lock('2011-02-08', 'APPLY_INTEREST', 'APPLY_FEES'));
    expect(typesOf(both, fees)).to.deep.equal(['INTEREST_LOCKED']);
    expect(loanOf(both).position.lockedOperations).to.deep.equal(['APPLY_INTEREST', 'APPLY_FEES']);
  });

  it('of fees drops those that fall due meanwhile', () => {
    const each = fee({ id: 'each', trigger: 'PAYMENT_DUE', amount: money(10), feeApplication: 'REQUIRED' });
    const withFees = disbursed(dynamicProduct({ feesSettings: { fees: [each] } }));
    const locked = when(withFees, lock('2011-02-10', 'APPLY_FEES'));
    const later = when(when(locked, unlock('2011-03-30')), repay('0.01', '2011-04-23'));
    expect(loanOf(later).position.installments.map((row) => row.fee.amount.expected.toFixed(2))).to.deep.equal([
      '0.00',
      '0.00',
      '10.00',
      '10.00',
      '10.00',
      '10.00',
    ]);
    expect(figuresOf(loanOf(later)).fees.balance.toFixed(2)).to.equal('10.00');
  });

  it('of penalties leaves out its days, also after its end', () => {
    const penaltySettings = {
      loanPenaltyCalculationMethod: 'OVERDUE_BALANCE',
      penaltyRate: { defaultValue: money(1) },
    };
    const late = disbursed(product({ penaltySettings } as Parameters<typeof product>[0]));
    const locked = when(late, lock('2011-03-01', 'APPLY_PENALTIES'));
    expect(duePenalties(loanOf(locked), '2011-03-10')).to.deep.equal([]);
    const [penalty] = duePenalties(loanOf(when(locked, unlock('2011-03-10'))), '2011-03-12');
    // Two days of one percent of 215.47.
    expect(penalty?.amount.toFixed(2)).to.equal('4.31');
  });

  it('and its end are taken back exactly', () => {
    const locked = when(start, lock('2011-02-08', 'APPLY_INTEREST'));
    const unlocked = when(locked, unlock('2011-03-08'));
    const lockedAgain = when(unlocked, adjust(3));
    expect(lockedAgain.transactions.at(-1)).to.include({ type: 'INTEREST_LOCKED' });
    expect(loanOf(lockedAgain).position).to.deep.equal(loanOf(locked).position);
    const free = when(lockedAgain, adjust(2));
    expect(free.transactions.at(-1)).to.include({ type: 'INTEREST_UNLOCKED' });
    expect(loanOf(free).position).to.deep.equal(loanOf(start).position);
    expect(reasons(when(free, adjust(5)))).to.deep.equal(['TRANSACTION_TYPE_DOES_NOT_ALLOW_ADJUSTMENT transactionId']);
  });

  it('is refused for a loan that is not active, and on days that are not possible', () => {
    expect(reasons(when(given(create(product())), lock('2011-02-23')))).to.deep.equal(['INVALID_ACCOUNT_STATE']);
    expect(reasons(when(start, lock('2040-01-02')))).to.deep.equal(['INVALID_DATE valueDate']);
    expect(reasons(when(start, unlock('2011-01-22')))).to.deep.equal(['ENTRY_DATE_BEFORE_OTHER_TRANSACTION valueDate']);
  });

  it('ends with the loan', () => {
    const locked = when(disbursed(), lock('2011-02-08'));
    const repaid = when(locked, repay('1261.88', '2011-02-23'));
    expect(loanOf(repaid).position).to.deep.include({ accountSubState: 'REPAID', lockedOperations: [] });
    expect(loanOf(when(repaid, adjust(5))).position).to.deep.equal(loanOf(locked).position);
  });
});
