import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  checkPartitionCount,
  partitionCountFor,
  readPartitionCount,
  statisticOf,
} from '../../../src/broker/event-types/partition-count.ts';
import { defaultStreamingLimits } from '../../../src/broker/definitions/streaming-limits.ts';
import { outcomeOf } from '../../support/thrown-errors.ts';

const { partitionsPerEventType: most } = defaultStreamingLimits;

describe('partitionCountFor', () => {
  it('is the larger parallelism, up to the limit, and one without a statistic', () => {
    const statistic = (read: number, write: number) =>
      partitionCountFor(
        { messages_per_minute: 0, message_size: 1, read_parallelism: read, write_parallelism: write },
        most,
      );
    expect([
      partitionCountFor(null, most),
      statistic(1, 1),
      statistic(2, 5),
      statistic(8, 1),
      statistic(9, 100),
    ]).to.deep.equal([1, 1, 5, 8, 8]);
  });
});

describe('statisticOf', () => {
  it('says the number of partitions, and keeps what else there was', () => {
    const statistic = { messages_per_minute: 60, message_size: 200, read_parallelism: 1, write_parallelism: 2 };
    expect(statisticOf(3, statistic)).to.deep.equal({ ...statistic, read_parallelism: 3, write_parallelism: 3 });
    expect(statisticOf(2, null)).to.deep.equal({
      messages_per_minute: 1,
      message_size: 1,
      read_parallelism: 2,
      write_parallelism: 2,
    });
  });
});

describe('the number of partitions of an event type', () => {
  it('may stay or grow up to the limit', () => {
    for (const [current, wanted] of [
      [1, 1],
      [1, most],
      [most, most],
      // A type that got more under a higher limit.
      [20, 20],
    ] as const) {
      expect(() => checkPartitionCount(current, wanted, most), `${current} to ${wanted}`).not.to.throw();
    }
  });

  it('cannot decrease, nor exceed the limit', () => {
    for (const [current, wanted, message] of [
      [2, 1, 'Number of partitions can not decrease'],
      [1, 0, 'Number of partitions can not decrease'],
      [1, -1, 'Number of partitions can not decrease'],
      [1, most + 1, `Number of partitions should not be more than ${most}`],
      [20, 21, 'Number of partitions should not be more than 20'],
    ] as const) {
      expect(outcomeOf(() => checkPartitionCount(current, wanted, most))).to.equal(`422 ${message}`);
    }
  });

  it('is read from a whole number alone', () => {
    expect(readPartitionCount(4)).to.equal(4);
    for (const value of ['4', 1.5, true, [4], {}]) {
      expect(outcomeOf(() => readPartitionCount(value))).to.equal('400 Field "partition_count" must be a whole number');
    }
    for (const value of [null, undefined]) {
      expect(() => readPartitionCount(value)).to.throw('Field "partition_count" must not be null');
    }
  });
});
