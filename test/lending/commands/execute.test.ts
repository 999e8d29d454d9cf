import { expect } from 'chai';
import { describe, it } from 'mocha';
import { alwaysOpen } from '../../../src/lending/schedule/calendar.ts';
import { execute } from '../../../src/lending/commands/execute.ts';
import { allTogglesOff } from '../../../src/lending/toggle-names.ts';
import { adjust, applyFee, applyPenalty, disbursed, loanOf, reasons, repay, under, when } from '../loan-fixtures.ts';
import { postedAmong } from '../posted-transactions.ts';
import { type AskedCommand, approve, create, disburse, given, overpay, product } from '../loan-fixtures.ts';

const commandId = '00000000-0000-4000-9000-000000000001';

describe('executing a command', () => {
  it('refuses without an event, and leaves the loan unchanged', () => {
    const start = disbursed();
    const refused = when(start, { ...repay(5000, '2011-02-23'), commandId });
    expect(reasons(refused)).to.deep.equal(['EXCESS_REPAYMENT_ERROR amount']);
    expect(refused.events).to.equal(start.events);
    expect(refused.loan).to.equal(start.loan);
  });

  const postings: Readonly<Record<string, AskedCommand>> = {
    DISBURSE: disburse('2011-01-23'),
    REPAY: repay(100, '2011-02-23'),
    APPLY_FEE: applyFee(5, { installmentNumber: 2 }),
    APPLY_PENALTY: applyPenalty(5, { installmentNumber: 2 }),
    PRINCIPAL_OVERPAYMENT: overpay(5, '2011-02-23'),
    ADJUST_TRANSACTION: adjust(1),
  };
  for (const [type, posting] of Object.entries(postings)) {
    it(`recognises a repeated ${type} by its transaction, whatever happened in between`, () => {
      const start = under({ PRINCIPAL_OVERPAYMENT: true }, type === 'DISBURSE' ? approved : disbursed());
      let story = when(start, { ...posting, commandId });
      expect(story.outcome, reasons(story).join()).to.equal('committed');
      const transaction = story.transactions.findLast((known) => known.commandId === commandId);
      if (type === 'ADJUST_TRANSACTION') story = when(story, disburse('2011-01-24'));
      for (let count = 0; count < 65; count += 1) story = when(story, applyPenalty('0.01', lastOfAll));
      const again = when(story, { ...posting, commandId });
      expect(again.outcome).to.equal('repeated');
      expect(again.loan).to.equal(story.loan);
      const execution = execute(
        loanOf(story),
        { ...applyPenaltyCommand, commandId },
        {
          toggles: allTogglesOff,
          calendar: alwaysOpen,
          newKey: () => '',
          transactions: postedAmong(story.transactions),
        },
      );
      expect(execution).to.deep.equal({ outcome: 'repeated', transaction });
    });
  }

  const lastOfAll = { installmentNumber: 1, valueDate: '2011-03-01' };
  const approved = given(create(product()), approve);
  const applyPenaltyCommand = {
    type: 'CHANGE_STATE',
    action: 'REJECT',
    digest: 'another',
    loanAccountId: 'L1',
    receivedAt: 0,
  } as const;
});
