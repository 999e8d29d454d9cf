import { expect } from 'chai';
import { describe, it } from 'mocha';
import { comparePartitions, partitionKey } from '../../src/broker/coordination.ts';

describe('partitions of event types', () => {
  it('have one key each', () => {
    expect(partitionKey({ eventType: 'loans.v1', partition: 10 })).to.equal('loans.v1:10');
    expect(partitionKey({ eventType: 'loans.v1', partition: 1 })).not.to.equal(
      partitionKey({ eventType: 'loans.v11', partition: 1 }),
    );
  });

  it('stand in the order of event types, then of numbers', () => {
    const ordered = [
      { eventType: 'B', partition: 3 },
      { eventType: 'a', partition: 2 },
      { eventType: 'a', partition: 10 },
      { eventType: 'b', partition: 0 },
    ];
    expect(ordered.toReversed().sort(comparePartitions)).to.deep.equal(ordered);
    expect(comparePartitions({ eventType: 'a', partition: 1 }, { eventType: 'a', partition: 1 })).to.equal(0);
  });
});
