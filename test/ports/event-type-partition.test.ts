import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  comparePartitions,
  describePartitions,
  isSamePartition,
  partitionKey,
} from '../../src/ports/event-type-partition.ts';

describe('partitions of event types', () => {
  it('have one distinct key each', () => {
    expect(partitionKey({ eventType: 'loans.v1', partition: 10 })).to.equal('loans.v1:10');
    expect(partitionKey({ eventType: 'loans.v1', partition: 1 })).not.to.equal(
      partitionKey({ eventType: 'loans.v11', partition: 1 }),
    );
  });

  it('are the same when event type and number are', () => {
    const partition = { eventType: 'loans', partition: 1 };
    expect(isSamePartition(partition, { ...partition })).to.equal(true);
    expect(isSamePartition(partition, { ...partition, partition: 2 })).to.equal(false);
    expect(isSamePartition(partition, { ...partition, eventType: 'loan' })).to.equal(false);
    expect(isSamePartition(partition, undefined)).to.equal(false);
  });

  it('are ordered by event type, then by number', () => {
    const ordered = [
      { eventType: 'B', partition: 3 },
      { eventType: 'a', partition: 2 },
      { eventType: 'a', partition: 10 },
      { eventType: 'b', partition: 0 },
    ];
    expect(ordered.toReversed().sort(comparePartitions)).to.deep.equal(ordered);
    expect(comparePartitions({ eventType: 'a', partition: 1 }, { eventType: 'a', partition: 1 })).to.equal(0);
  });

  it('are listed in messages in that order', () => {
    const partitions = [
      { eventType: 'payments', partition: 3 },
      { eventType: 'accounts', partition: 0 },
    ];
    expect(describePartitions(partitions)).to.equal(
      "EventTypePartition{eventType='accounts', partition='0'}, EventTypePartition{eventType='payments', partition='3'}",
    );
  });
});
