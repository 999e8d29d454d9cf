import { expect } from 'chai';
import { describe, it } from 'mocha';
import { alwaysOpen } from '../../../src/lending/schedule/calendar.ts';
import { inSteps } from '../../../src/lending/commands/transactions-in-steps.ts';
import { interestApplied } from '../../../src/lending/commands/interest-application.ts';
import { allTogglesOff } from '../../../src/lending/toggle-names.ts';
import { actedAt, disbursed, loanOf } from '../loan-fixtures.ts';
import { postedAmong } from '../posted-transactions.ts';

const command = { commandId: '00000000-0000-4000-9000-000000000001', digest: 'd', receivedAt: actedAt };
const context = {
  toggles: allTogglesOff,
  calendar: alwaysOpen,
  newKey: (purpose: string) => purpose,
  transactions: postedAmong([]),
};
const loan = loanOf(disbursed());

describe('a command in steps', () => {
  it('decides each step on the loan that the one before led to, and passes over those that post nothing', () => {
    const seen: string[] = [];
    const decision = inSteps(loan, context, [
      (current, own) => interestApplied(current, command, own, '2011-02-23'),
      (current, own) => interestApplied(current, command, own, '2011-02-23'),
      (current, own) => {
        seen.push(current.position.asOf ?? '');
        return interestApplied(current, command, own, '2011-03-23');
      },
    ]);
    if (decision === null || !('facts' in decision)) expect.fail('no facts');
    expect(seen).to.deep.equal(['2011-02-23']);
    expect(
      decision.facts.map(({ transaction }) => [transaction.encodedKey, transaction.amount.toFixed(2)]),
    ).to.deep.equal([
      ['0/transaction', '100.00'],
      ['transaction', '78.45'],
    ]);
  });

  it('is nothing when no step posts anything', () => {
    expect(inSteps(loan, context, [() => null])).to.equal(null);
  });
});
