import { expect } from 'chai';
import { describe, it } from 'mocha';
import { decideBusinessDay } from '../../../src/lending/commands/business-day.ts';
import { approve, create, disbursed, given, loanOf, product, when } from '../loan-fixtures.ts';

const header = { type: 'START_BUSINESS_DAY', commandId: 'c', digest: 'd', loanAccountId: 'L1' } as const;
const now = Date.UTC(2011, 1, 24, 3);

describe('the start of a business day', () => {
  it('posts no transaction and brings the account to the day', () => {
    const story = when(disbursed(), { type: 'START_BUSINESS_DAY', businessDate: '2011-02-24', receivedAt: now });
    expect([story.outcome, story.transactions.length]).to.deep.equal(['committed', 1]);
    expect(loanOf(story).businessDate).to.equal('2011-02-24');
    expect(story.events.slice(-3).map(({ eventType }) => eventType)).to.deep.equal([
      'loan_balance_changed',
      'loan_schedule_changed',
      'loan_state_changed',
    ]);
  });

  it('is refused before the disbursement, in the future, and twice', () => {
    const reasons = (loan: Parameters<typeof decideBusinessDay>[0], businessDate: string): unknown => {
      const decision = decideBusinessDay(loan, { ...header, businessDate, receivedAt: now });
      return 'refusals' in decision ? decision.refusals.map(({ errorReason }) => errorReason) : 'accepted';
    };
    expect(reasons(loanOf(given(create(product()), approve)), '2011-02-24')).to.deep.equal(['INVALID_ACCOUNT_STATE']);
    expect(reasons(loanOf(disbursed()), '2011-02-25')).to.deep.equal(['INVALID_DATE']);
    const reached = { ...loanOf(disbursed()), businessDate: '2011-02-24' };
    expect(reasons(reached, '2011-02-24')).to.deep.equal(['INVALID_DATE']);
    expect(reasons({ ...reached, businessDate: '2011-02-23' }, '2011-02-24')).to.equal('accepted');
  });
});
