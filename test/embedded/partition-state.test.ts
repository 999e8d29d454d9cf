import { expect } from 'chai';
import { describe, it } from 'mocha';
import { findPartition, newPartitionState } from '../../src/embedded/partition-state.ts';
import type { TopicState } from '../../src/embedded/partition-state.ts';

describe('finding a partition', () => {
  it('finds those of a topic until its deletion begins, and no others', () => {
    const persisted = { id: 1, topicId: 1, number: 0, earliest: 0, latest: 0, compactedTo: 0, compactedRecordCount: 0 };
    const partition = newPartitionState('orders', persisted);
    const configuration = {
      name: 'orders',
      partitionCount: 1,
      cleanupPolicy: 'delete',
      retentionMilliseconds: 1,
    } as const;
    const topic: TopicState = { id: 1, configuration, partitions: [partition], isDeleting: false };
    const find = (name: string, number: number) =>
      findPartition(new Map([['orders', topic]]), { topic: name, partition: number });
    expect(find('orders', 0)).to.equal(partition);
    for (const [name, number] of [
      ['orders', 1],
      ['orders', -1],
      ['unknown', 0],
    ] as const) {
      expect(() => find(name, number))
        .to.throw()
        .with.property('code', 'UNKNOWN_TOPIC_OR_PARTITION');
    }
    topic.isDeleting = true;
    expect(() => find('orders', 0))
      .to.throw()
      .with.property('code', 'UNKNOWN_TOPIC_OR_PARTITION');
  });
});
