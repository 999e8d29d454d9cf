import { expect } from 'chai';
import { describe, it } from 'mocha';
import { type AccountState, isActive } from '../../src/lending/loan.ts';

describe('a loan account', () => {
  it('is active from its disbursement until it is closed, in arrears or not', () => {
    const states: Readonly<Record<AccountState, boolean>> = {
      PARTIAL_APPLICATION: false,
      PENDING_APPROVAL: false,
      APPROVED: false,
      ACTIVE: true,
      ACTIVE_IN_ARREARS: true,
      CLOSED: false,
    };
    for (const [accountState, expected] of Object.entries(states)) {
      expect(isActive({ accountState: accountState as AccountState })).to.equal(expected);
    }
  });
});
