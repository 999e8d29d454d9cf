import { expect } from 'chai';
import { describe, it } from 'mocha';
import { partitionCountFor } from '../../../src/broker/event-types/partition-count.ts';

describe('partitionCountFor', () => {
  it('is the larger parallelism, up to the limit, and one without a statistic', () => {
    const statistic = (read: number, write: number) =>
      partitionCountFor({ messages_per_minute: 0, message_size: 1, read_parallelism: read, write_parallelism: write });
    expect([
      partitionCountFor(null),
      statistic(1, 1),
      statistic(2, 5),
      statistic(8, 1),
      statistic(9, 100),
    ]).to.deep.equal([1, 1, 5, 8, 8]);
  });
});
