import { expect } from 'chai';
import { describe, it } from 'mocha';
import { closedWhenRepaid } from '../../../src/lending/commands/closing.ts';
import { disbursed, loanOf, repay, when } from '../loan-fixtures.ts';

describe('a loan after a movement', () => {
  const loan = loanOf(disbursed());
  const repaid = loanOf(when(disbursed(), repay('1261.88', '2011-02-23')));

  it('stays as it is while anything is owed', () => {
    expect(closedWhenRepaid(loan, loan.position, 0)).to.equal(loan.position);
  });

  it('is closed at the time of the movement that leaves nothing owed', () => {
    const open = { ...repaid.position, accountState: 'ACTIVE', accountSubState: null, closedAt: null } as const;
    expect(closedWhenRepaid(repaid, open, 1_700_000_000_000)).to.deep.equal({
      ...open,
      accountState: 'CLOSED',
      accountSubState: 'REPAID',
      closedAt: 1_700_000_000_000,
    });
  });
});
