import { expect } from 'chai';
import { describe, it } from 'mocha';
import { allTogglesOff } from '../../../src/lending/toggle-names.ts';
import { balanceNames, balancesOf } from '../../../src/lending/views/balances.ts';
import { loanOf } from '../loan-fixtures.ts';
import { feeOutsideApplied, withFeesOutside } from './fees-outside-schedule.ts';

describe('the balances of a loan', () => {
  it('have only names of the list of balance names', () => {
    for (const toggles of [allTogglesOff, withFeesOutside])
      expect(balanceNames).to.include.members(Object.keys(balancesOf(loanOf(feeOutsideApplied), toggles)));
  });
});
