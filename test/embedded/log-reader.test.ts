import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { EventLog, Offset, RecordBatch } from '../../src/ports/event-log.ts';
import { appendTo, records, recordsOf } from '../support/log-reading.ts';
import { openTemporaryLog } from '../support/temporary-log.ts';

const orders = { topic: 'orders', partition: 0 };
const recordsPerBatch = 50;
const batchCount = 160;
const total = batchCount * recordsPerBatch;

/** Values of about 1 KB that differ from record to record. */
function valueAt(offset: Offset): string {
  return `${offset}.`.repeat(200);
}

/** Reads everything, checks each batch after this many further reads, and returns the differences. */
async function readLate(log: EventLog, readsLater: number, isReleasing: boolean): Promise<string[]> {
  const faults: string[] = [];
  const pendingBatches: (readonly RecordBatch[])[] = [];
  const checkBatches = (batches: readonly RecordBatch[]): void => {
    for (const batch of batches) {
      for (const { offset, value } of recordsOf(batch)) {
        if (value !== valueAt(offset)) faults.push(`${offset} reads ${value?.slice(0, 20)}`);
      }
      if (isReleasing) batch.release?.();
    }
  };
  let seen = 0;
  for (let offset = 0; offset < total;) {
    const { batches, nextOffset } = await log.read(
      { ...orders, offset },
      { bytesMaximum: 200_000, waitMilliseconds: 0 },
    );
    for (const { count } of batches) seen += count;
    pendingBatches.push(batches);
    if (pendingBatches.length > readsLater) checkBatches(pendingBatches.shift() ?? []);
    offset = nextOffset;
  }
  for (const batches of pendingBatches) checkBatches(batches);
  if (seen !== total) faults.push(`${seen} of ${total} records were read`);
  return faults;
}

describe('reading a backlog that is larger than the cache', () => {
  it('leaves each batch unchanged until its reader releases it, whatever other readers do', async () => {
    const temporary = await openTemporaryLog();
    try {
      await temporary.log.createTopic({
        name: 'orders',
        partitionCount: 1,
        cleanupPolicy: 'delete',
        retentionMilliseconds: 1_000_000_000,
      });
      for (let batch = 0; batch < batchCount; batch += 1) {
        const offsets = Array.from({ length: recordsPerBatch }, (_, index) => batch * recordsPerBatch + index);
        await appendTo(temporary.log, orders, records(...offsets.map(valueAt)));
      }
      for (const cacheBytesMaximum of [3 * 1024 * 1024, 1024]) {
        const log = await temporary.reopen({ cacheBytesMaximum });
        const faults = await Promise.all([
          readLate(log, 0, true),
          readLate(log, 1, true),
          readLate(log, 12, true),
          readLate(log, 12, false),
          readLate(log, 1_000, true),
        ]);
        expect(faults.flat()).to.deep.equal([]);
      }
    } finally {
      await temporary.cleanup();
    }
  });
});

describe('a read of batches in memory', () => {
  it('returns as many as fit its bytes, and one at least', async () => {
    const temporary = await openTemporaryLog();
    try {
      const { log } = temporary;
      await log.createTopic({
        name: 'orders',
        partitionCount: 1,
        cleanupPolicy: 'delete',
        retentionMilliseconds: 1_000_000_000,
      });
      for (let batch = 0; batch < 4; batch += 1) await appendTo(log, orders, records(valueAt(batch)));
      const read = async (bytesMaximum: number): Promise<readonly RecordBatch[]> =>
        (await log.read({ ...orders, offset: 0 }, { bytesMaximum, waitMilliseconds: 0 })).batches;
      const sizes = (await read(1_000_000)).map(({ bytes }) => bytes.length);
      expect(sizes).to.have.length(4);
      const [first = 0, second = 0, third = 0] = sizes;
      expect(await read(1)).to.have.length(1);
      expect(await read(first + second - 1)).to.have.length(1);
      expect(await read(first + second)).to.have.length(2);
      expect(await read(first + second + third - 1)).to.have.length(2);
      expect(await read(first + second + third)).to.have.length(3);
    } finally {
      await temporary.cleanup();
    }
  });
});
