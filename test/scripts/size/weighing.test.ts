import { expect } from 'chai';
import { describe, it } from 'mocha';
import { weightLines } from '../../../scripts/size/lines.ts';
import { weigh } from '../../../scripts/size/weighing.ts';

describe('The weight of what is stored', () => {
  it('is that of loans, transactions, commands and events, as the service writes them', async () => {
    const weights = await weigh(40, () => {});
    const amountOf = (name: string): number => weights.find((weight) => weight.name === name)?.amount ?? Number.NaN;
    expect(amountOf('metadata of an event of 200 B')).to.be.within(100, 300);
    expect(amountOf('a loan with its disbursement, in the compacted changelog')).to.be.within(2_000, 5_000);
    const transaction = amountOf('a further transaction, in the compacted changelog');
    expect(transaction).to.be.within(500, 1_500);
    expect(amountOf('a command, with all that it writes')).to.be.above(4 * transaction);
    expect(weights.every(({ amount }) => Number.isFinite(amount))).to.equal(true);
    expect(weightLines(weights)).to.have.length(weights.length + 2);
  });
});
