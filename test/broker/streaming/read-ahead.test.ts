import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import type { EventLog } from '../../../src/ports/event-log.ts';
import { AssignedPartitions } from '../../../src/broker/streaming/assigned-partitions.ts';
import { readStreamParameters } from '../../../src/broker/streaming/stream-parameters.ts';
import type { EventFilter } from '../../../src/broker/streaming/filters/event-filter.ts';
import { readFilter } from '../../../src/broker/streaming/filters/filter-parameter.ts';
import { ReadAhead, prefetchBytesMaximum, type KeepUnreadable } from '../../../src/broker/streaming/read-ahead.ts';
import { LendstreamError } from '../../../src/errors.ts';
import { silentLogger } from '../../../src/logger.ts';
import { overriding } from '../../support/stepping-log.ts';
import { recordBatch } from '../../support/kafka/record-batch.ts';
import { failingReads } from '../../support/failing-reads.ts';
import { eventually } from '../../support/eventually.ts';
import { startStreamServer, type StreamServer } from '../../support/http/stream-server.ts';

describe('what a stream reads ahead', () => {
  let server: StreamServer;
  const parameters = readStreamParameters({ batch_limit: 10 }, new Map(), 0.5);

  before(async () => {
    server = await startStreamServer();
  });

  after(() => server.stop());

  async function prepare(log: EventLog = server.log, filter?: EventFilter, keepUnreadable?: KeepUnreadable) {
    const type = await server.defineEventType(1);
    const assigned = new AssignedPartitions();
    const ownership = { eventType: type, partition: 0, state: 'assigned', nextStreamId: null, fence: 1 } as const;
    const [bounds] = await server.log.bounds([{ topic: type, partition: 0 }]);
    assigned.adopt([{ ...ownership, streamId: 'me' }], bounds === undefined ? [] : [bounds], [], 0, 0);
    const [partition] = assigned.list;
    if (partition === undefined) throw new Error('The partition was just adopted.');
    let changes = 0;
    const reads = new ReadAhead(log, silentLogger, assigned, () => (changes += 1), keepUnreadable, filter);
    return { type, held: assigned, partition, reads, changes: () => changes };
  }

  it('arrives as soon as it is published', async () => {
    const { type, partition, reads, changes } = await prepare();
    reads.begin(parameters, 0);
    expect(partition.reading).to.equal(true);
    await server.publish(type, 0, [1, 2, 3]);
    await eventually(() => changes() === 1);
    expect(partition).to.include({ reading: false, events: 3, readOffset: 3 });
    reads.stop();
  });

  it('is discarded and read again when the log shows it in another way', async () => {
    let changeCount = 0;
    const { type, partition, reads, changes } = await prepare(
      overriding<EventLog>(server.log, { changeCount: () => changeCount }),
    );
    await server.publish(type, 0, [1, 2, 3]);
    reads.begin(parameters, 0);
    await eventually(() => changes() === 1);
    reads.discardChanged();
    expect(partition.events).to.equal(3);
    // Another read waits behind them.
    reads.begin(parameters, 0);
    expect(partition.reading).to.equal(true);
    changeCount += 1;
    reads.discardChanged();
    expect(partition).to.include({ events: 0, readOffset: 0 });
    await eventually(() => !partition.reading);
    reads.begin(parameters, 0);
    await eventually(() => partition.events === 3);
    reads.discardChanged();
    expect(partition.events).to.equal(3);
    reads.stop();
  });

  it('is limited while nothing is sent', async () => {
    const { type, held: assigned, partition, reads, changes } = await prepare();
    const value = Buffer.from(JSON.stringify('x'.repeat(10_000)));
    for (let batch = 0; batch < 30; batch += 1) {
      await server.append(
        type,
        0,
        Array.from({ length: 10 }, () => ({ key: null, value })),
      );
    }
    for (let read = 1; read <= 30; read += 1) {
      reads.begin(parameters, 0);
      if (!partition.reading) break;
      await eventually(() => changes() === read);
    }
    expect(partition.reading).to.equal(false);
    expect(assigned.bufferedBytes()).to.be.within(prefetchBytesMaximum / 2, 2 * prefetchBytesMaximum);
    reads.stop();
  });

  it('is wanted until half of the amount is buffered, and then until there are enough events for a batch', async () => {
    const isWanted = async (bytes: number, limits: Record<string, number>): Promise<boolean> => {
      const { partition, reads } = await prepare();
      const values = [bytes - 1, 1].map((length) => 'x'.repeat(length));
      const entries = values.map((value, offset) => ({ offset, value }));
      partition.addRecords({ batches: [recordBatch(entries)], nextOffset: 2 });
      reads.begin(readStreamParameters(limits, new Map(), 0.5), 0);
      reads.stop();
      return partition.reading;
    };
    const half = prefetchBytesMaximum / 2;
    expect(await isWanted(half - 1, { batch_limit: 1 })).to.equal(true);
    expect(await isWanted(half, { batch_limit: 2 })).to.equal(false);
    expect(await isWanted(half, { batch_limit: 3 })).to.equal(true);
    expect(await isWanted(half, { batch_limit: 3, max_uncommitted_events: 2 })).to.equal(false);
  });

  it('is a mebibyte for all partitions together, but at least 32 KiB for each', async () => {
    const askedFor = async (partitions: number): Promise<readonly number[]> => {
      const type = await server.defineEventType(partitions);
      const assigned = new AssignedPartitions();
      const gained = Array.from({ length: partitions }, (_, partition) => {
        return { eventType: type, partition, state: 'assigned', streamId: 'me', nextStreamId: null, fence: 1 } as const;
      });
      const bounds = await server.log.bounds(gained.map(({ partition }) => ({ topic: type, partition })));
      assigned.adopt(gained, bounds, [], 0, 0);
      const asked: number[] = [];
      const log = overriding(server.log, {
        read: (position, options) => {
          asked.push(options.bytesMaximum);
          return server.log.read(position, options);
        },
      });
      const reads = new ReadAhead(log, silentLogger, assigned, () => undefined);
      reads.begin(parameters, 0);
      reads.stop();
      return [...new Set(asked)];
    };
    expect(await askedFor(1)).to.deep.equal([1_048_576]);
    expect(await askedFor(3)).to.deep.equal([349_525]);
    expect(await askedFor(33)).to.deep.equal([32_768]);
  });

  it('fills a batch that is larger than the usual amount', async () => {
    const { type, partition, reads, changes } = await prepare();
    const value = Buffer.from(JSON.stringify('x'.repeat(10_000)));
    for (let batch = 0; batch < 30; batch += 1) {
      await server.append(
        type,
        0,
        Array.from({ length: 10 }, () => ({ key: null, value })),
      );
    }
    const large = readStreamParameters({ batch_limit: 250, max_uncommitted_events: 300 }, new Map(), 0.5);
    for (let read = 1; read <= 30; read += 1) {
      reads.begin(large, 0);
      if (!partition.reading) break;
      await eventually(() => changes() === read);
    }
    expect(partition.events).to.be.at.least(250);
    reads.stop();
  });

  it('is no longer waited for after a stop, and is read again on request', async () => {
    const { type, partition, reads, changes } = await prepare();
    reads.begin(parameters, 0);
    reads.stop();
    await eventually(() => changes() === 1);
    expect(partition).to.include({ reading: false, events: 0 });
    reads.begin(parameters, 0);
    await server.publish(type, 0, [1]);
    await eventually(() => partition.events === 1);
    reads.stop();
  });

  it('is ignored when the partition was rewound in the meantime', async () => {
    const { type, partition, reads, changes } = await prepare();
    reads.begin(parameters, 0);
    partition.rewind();
    await server.publish(type, 0, [1]);
    await eventually(() => changes() === 1);
    expect(partition).to.include({ events: 0, readOffset: 0 });
    reads.stop();
  });

  it('is tried again later when the log is not available', async () => {
    const error = new LendstreamError('LOG_UNAVAILABLE', 'Later.');
    const { partition, reads, changes } = await prepare(failingReads(server.log, error));
    reads.begin(parameters, 100);
    await eventually(() => changes() === 1);
    expect(reads.retryAt).to.equal(1_100);
    reads.begin(parameters, 1_099);
    expect(partition.reading).to.equal(false);
    reads.begin(parameters, 1_100);
    expect(partition.reading).to.equal(true);
    await eventually(() => changes() === 2);
  });

  it('ends the stream with a reason when stored bytes are damaged', async () => {
    const error = new LendstreamError('CORRUPT_BATCH', 'Damaged.');
    const { type, partition, reads, changes } = await prepare(failingReads(server.log, error));
    reads.begin(parameters, 0);
    await eventually(() => changes() === 1);
    expect(partition.readFailure).to.deep.equal({ code: 'log_error', detail: `partition 0 of ${type}: Damaged.` });
    reads.begin(parameters, 0);
    expect(partition.reading).to.equal(false);
  });

  it('resumes at the oldest available event when retention was faster', async () => {
    const error = new LendstreamError('OFFSET_OUT_OF_RANGE', 'Gone.', { details: { earliest: 7, latest: 9 } });
    const { held: assigned, partition, reads, changes } = await prepare(failingReads(server.log, error));
    reads.begin(parameters, 0);
    await eventually(() => changes() === 1);
    expect(partition).to.include({ readOffset: 7, readFailure: undefined });
    expect(assigned.notices.take()).to.deep.equal(['skipped events due to retention time passed, count: 7 at most']);
  });

  it('fails when the log has no event at the position and reports no later one', async () => {
    const error = new LendstreamError('OFFSET_OUT_OF_RANGE', 'Beyond.', { details: { earliest: 0, latest: 0 } });
    const { type, held: assigned, partition, reads, changes } = await prepare(failingReads(server.log, error));
    reads.begin(parameters, 0);
    await eventually(() => changes() === 1);
    expect(partition.readFailure).to.deep.equal({ code: 'log_error', detail: `partition 0 of ${type}: Beyond.` });
    expect(assigned.notices.take()).to.deep.equal([]);
  });

  it('ends without a retry when the log was closed', async () => {
    const { reads, changes } = await prepare(failingReads(server.log, new LendstreamError('LOG_CLOSED', 'Closed.')));
    expect(reads.logClosed).to.equal(false);
    reads.begin(parameters, 0);
    await eventually(() => changes() === 1);
    expect(reads.logClosed).to.equal(true);
  });

  describe('with a filter', () => {
    const filter = readFilter('/pick=yes');
    const no = JSON.stringify({ pick: 'no', text: 'x'.repeat(10_000) });

    /** A log in which one partition goes on for ever with what is passed over. Counts the reads. */
    function endless(): { log: EventLog; reads: () => number } {
      let reads = 0;
      const read: EventLog['read'] = async ({ offset }) => {
        reads += 1;
        const entries = Array.from({ length: 100 }, (_, index) => ({ offset: offset + index, value: no }));
        return { batches: [recordBatch(entries)], nextOffset: offset + 100 };
      };
      return { log: overriding(server.log, { read }), reads: () => reads };
    }

    it('goes on while something can be sent, whatever is passed over', async () => {
      const { log } = endless();
      const { partition, reads, changes } = await prepare(log, filter);
      for (let read = 1; read <= 20; read += 1) {
        reads.begin(parameters, 0);
        await eventually(() => changes() === read);
      }
      expect(partition).to.include({ events: 0, readOffset: 2_000 });
      expect(partition.buffer).to.include({ bytes: 0, passedThrough: 1_999 });
    });

    it('stops after one read while nothing can be sent, and goes on when it can', async () => {
      const { log, reads: begun } = endless();
      const { partition, reads, changes } = await prepare(log, filter);
      for (let turn = 1; turn <= 5; turn += 1) {
        reads.begin(parameters, 0, true);
        await eventually(() => changes() === begun());
      }
      const most = Math.ceil(prefetchBytesMaximum / (100 * no.length));
      expect(begun()).to.equal(most);
      expect(partition.reading).to.equal(false);
      reads.begin(parameters, 0, false);
      expect(partition.reading).to.equal(true);
      await eventually(() => changes() === most + 1);
    });

    it('ignores what it has searched when the partition was rewound in the meantime', async () => {
      const { log } = endless();
      const { partition, reads, changes } = await prepare(log, filter);
      reads.begin(parameters, 0);
      await Promise.resolve();
      partition.rewind();
      await eventually(() => changes() === 1);
      expect(partition).to.include({ readOffset: 0, reading: false });
      expect(partition.buffer.passedThrough).to.equal(-1);
    });

    it('checks records of other producers first: those that are no events are kept, and match nothing', async () => {
      const values = ['{"pick":', '{"pick":"yes"}', 'yes', '{"pick":\n"yes"}', '{"pick":"no"}'];
      const kept: number[] = [];
      let isKept = false;
      const read: EventLog['read'] = async ({ offset }, options) => {
        if (offset > 0) return server.log.read({ topic: 'none', partition: 0, offset }, options);
        const batch = recordBatch(
          values.map((value, index) => ({ offset: index, value })),
          true,
        );
        return { batches: [{ ...batch, external: new Uint8Array(5).fill(1) }], nextOffset: 5 };
      };
      const keepUnreadable: KeepUnreadable = async (_where, records) => {
        await new Promise((resolve) => setImmediate(resolve));
        kept.push(...records.map(({ offset }) => offset));
        isKept = true;
      };
      const log = overriding(server.log, { read });
      const { partition, held: assigned, reads, changes } = await prepare(log, filter, keepUnreadable);
      reads.begin(parameters, 0);
      await eventually(() => changes() === 1);
      expect([isKept, kept]).to.deep.equal([true, [0, 2]]);
      expect(partition.events).to.equal(2);
      expect(assigned.notices.take()).to.deep.equal(['skipped records that are not JSON, count: 2']);
      const runs = partition.buffer.removeNext(2);
      expect(runs.map(({ batch }) => batch.bytes.toString())).to.deep.equal(['{"pick":"yes"},{"pick": "yes"}']);
      expect(partition.buffer.passedThrough).to.equal(4);
    });

    it('fails as without one when the read fails', async () => {
      const error = new LendstreamError('CORRUPT_BATCH', 'Damaged.');
      const { type, partition, reads, changes } = await prepare(failingReads(server.log, error), filter);
      reads.begin(parameters, 0);
      await eventually(() => changes() === 1);
      expect(partition.readFailure).to.deep.equal({ code: 'log_error', detail: `partition 0 of ${type}: Damaged.` });
    });
  });
});
