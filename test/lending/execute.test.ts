import { expect } from 'chai';
import { describe, it } from 'mocha';
import { rememberedCommandsMaximum } from '../../src/lending/loan.ts';
import { applyFee, disbursed, loanOf, reasons, repay, when } from './loan-fixtures.ts';

const commandId = '00000000-0000-4000-9000-000000000001';

describe('executing a command', () => {
  it('refuses without an event, and remembers that it did', () => {
    const start = disbursed();
    const refused = when(start, { ...repay(5000, '2011-02-23'), commandId });
    expect(reasons(refused)).to.deep.equal(['EXCESS_REPAYMENT_ERROR amount']);
    expect(refused.events).to.equal(start.events);
    expect(loanOf(refused).position).to.equal(loanOf(start).position);
    expect(loanOf(refused).eventSequence).to.equal(loanOf(start).eventSequence);
    const again = when(refused, { ...repay(5000, '2011-02-23'), commandId });
    expect(again.outcome).to.equal('repeated');
    expect(loanOf(again).remembered.at(-1)).to.deep.equal({
      commandId,
      outcome: 'refused',
      transactionKey: null,
      refusals: [{ errorReason: 'EXCESS_REPAYMENT_ERROR', errorSource: 'amount' }],
    });
  });

  it('answers a repeated command with its transaction', () => {
    const paid = when(disbursed(), { ...repay(100, '2011-02-23'), commandId });
    expect(loanOf(paid).remembered.at(-1)?.transactionKey).to.equal(loanOf(paid).transactions.at(-1)?.encodedKey);
  });

  it('remembers the last commands and no more', () => {
    let story = disbursed();
    for (let count = 0; count < rememberedCommandsMaximum + 3; count += 1) {
      story = when(story, applyFee('0.01', { installmentNumber: 1 }));
    }
    expect(loanOf(story).remembered).to.have.length(rememberedCommandsMaximum);
    expect(loanOf(story).remembered[0]?.commandId).to.equal('00000000-0000-4000-8000-000000000007');
  });
});
