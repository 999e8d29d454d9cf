import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  adjust,
  applyFee,
  applyPenalty,
  approve,
  create,
  disburse,
  given,
  overpay,
  product,
  reasons,
  repay,
  when,
} from '../loan-fixtures.ts';

describe('deciding', () => {
  const commands = [
    approve,
    disburse('2011-01-23'),
    repay(1, '2011-01-23'),
    applyFee(1),
    applyPenalty(1),
    overpay(1, '2011-01-23'),
    adjust(1),
  ];
  for (const command of commands) {
    it(`refuses ${command.type} on an account that does not exist`, () => {
      expect(reasons(given(command))).to.deep.equal(['INVALID_LOAN_ACCOUNT_ID loanAccountId']);
    });
  }

  it('refuses to open an account twice', () => {
    const opened = given(create(product()));
    expect(reasons(when(opened, create(product())))).to.deep.equal(['LOAN_ACCOUNT_ID_ALREADY_IN_USE id']);
  });
});
