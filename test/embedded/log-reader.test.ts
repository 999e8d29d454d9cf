import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock, type Clock } from '../../src/clock.ts';
import { BatchCache } from '../../src/embedded/batch-cache.ts';
import { LogReader } from '../../src/embedded/log-reader.ts';
import { newPartitionState } from '../../src/embedded/partition-state.ts';
import { openForWriting } from '../../src/embedded/thread/database.ts';
import { Health } from '../../src/health.ts';
import { silentLogger } from '../../src/logger.ts';
import type { EventLog, Offset, RecordBatch } from '../../src/ports/event-log.ts';
import { openDatabase } from '../../src/sqlite.ts';
import { eventually } from '../support/eventually.ts';
import { incompressible } from '../support/values/incompressible.ts';
import { schedule } from '../support/values/large-values.ts';
import { appendTo, codeOf, keyed, readAll, records, recordsOf } from '../support/log-reading.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';
import { SimulatedClock } from '../support/simulated-clock.ts';
import { watchThreads, type StartedThreads } from '../support/started-threads.ts';
import { openTemporaryLog, type TemporaryLog } from '../support/temporary-log.ts';

const mebibyte = 1024 * 1024;
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

describe('reading what is appended, from memory that appends use again', () => {
  it('leaves each batch unchanged until its readers release it', async () => {
    const temporary = await openTemporaryLog();
    try {
      const log = await temporary.reopen({ cacheBytesMaximum: 5 * mebibyte });
      await log.createTopic({
        name: 'orders',
        partitionCount: 2,
        cleanupPolicy: 'delete',
        retentionMilliseconds: 1_000_000_000,
      });
      const turns = 2 * batchCount;
      const faults: string[] = [];
      const held: {
        readonly until: number;
        readonly isReleasing: boolean;
        readonly batches: readonly RecordBatch[];
      }[] = [];
      const check = (turn: number): void => {
        for (const each of held.filter(({ until }) => until === turn)) {
          for (const batch of each.batches) {
            for (const { offset, value } of recordsOf(batch)) {
              if (value !== `${batch.partition}:${valueAt(offset)}`) faults.push(`${offset}: ${value?.slice(0, 20)}`);
            }
            if (each.isReleasing) batch.release?.();
          }
        }
      };
      for (let turn = 0; turn < turns; turn += 1) {
        const offsets = Array.from({ length: recordsPerBatch }, (_, index) => turn * recordsPerBatch + index);
        await Promise.all(
          [0, 1].map((partition) =>
            appendTo(
              log,
              { topic: 'orders', partition },
              records(...offsets.map((each) => `${partition}:${valueAt(each)}`)),
            ),
          ),
        );
        for (const [later, partition, isReleasing] of [
          [0, 0, true],
          [1, 1, true],
          [30, 0, true],
          [75, 1, true],
          [75, 0, turn % 100 > 0],
        ] as const) {
          const from = { topic: 'orders', partition, offset: turn * recordsPerBatch };
          const { batches } = await log.read(from, { bytesMaximum: mebibyte, waitMilliseconds: 0 });
          held.push({ until: Math.min(turn + later, turns - 1), isReleasing, batches });
        }
        check(turn);
      }
      expect(
        held.every(({ batches }) => batches.reduce((sum, { count }) => sum + count, 0) === recordsPerBatch),
      ).to.equal(true);
      const memories = new Set(held.map(({ batches }) => batches[0]?.bytes.buffer));
      const appendedBytes = 2 * recordsPerBatch * turns * valueAt(1_000).length;
      expect(memories.size * 2 * mebibyte).to.be.below(0.75 * appendedBytes);
      expect(faults).to.deep.equal([]);
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

describe('reading the embedded log', () => {
  let temporary: TemporaryLog;
  let now: number;
  const clock: Clock = { ...systemClock, monotonic: () => now };

  beforeEach(async () => {
    now = 0;
    temporary = await openTemporaryLog({ clock });
    for (const [name, cleanupPolicy] of [
      ['orders', 'delete'],
      ['states', 'compact'],
    ] as const) {
      await temporary.log.createTopic({ name, partitionCount: 2, cleanupPolicy, retentionMilliseconds: Infinity });
    }
  });
  afterEach(() => temporary.cleanup());

  /** Removes the stored rows behind the back of the log: what it still returns comes from memory. */
  function changeFile(statement: string): void {
    const connection = openDatabase(join(temporary.dataFolder, 'log.db'));
    // The log may be writing at this moment.
    connection.exec('PRAGMA busy_timeout = 20000');
    connection.exec(statement);
    connection.close();
  }
  const removeRows = (): void => changeFile('DELETE FROM batch');

  const read = (offset: Offset, partition = 0): ReturnType<EventLog['read']> =>
    temporary.log.read({ topic: 'orders', partition, offset }, { bytesMaximum: 4 * mebibyte, waitMilliseconds: 0 });

  /** Appends batches that take 64 KiB each in memory. */
  async function appendBatches(count: number, valueOf = incompressible): Promise<void> {
    const value = valueOf(64 * 1024 - 52);
    for (let batch = 0; batch < count; batch += 1) await appendTo(temporary.log, orders, [{ key: null, value }]);
  }

  it('finds in memory what was appended, but not to a compacted topic without readers', async () => {
    const states = { topic: 'states', partition: 0 };
    await appendTo(temporary.log, orders, records('event'));
    await appendTo(temporary.log, states, [keyed('a', 'state')]);
    removeRows();
    expect((await readAll(temporary.log, orders)).map(({ value }) => value)).to.deep.equal(['event']);
    expect(await readAll(temporary.log, states)).to.deep.equal([]);
  });

  it('finds in memory what was read before, and what follows it', async () => {
    await appendBatches(37);
    await appendTo(temporary.log, { ...orders, partition: 1 }, records('elsewhere'));
    await temporary.reopen();
    expect((await read(0)).nextOffset).to.equal(4);
    expect((await read(1)).nextOffset).to.equal(4);
    // The thread serves this after the fetch that the second read began.
    await read(0, 1);
    removeRows();
    expect((await read(0)).nextOffset).to.equal(36);
    expect((await read(36)).batches).to.deep.equal([]);
  });

  for (const [left, isShared, form, valueOf] of [
    [17, false, 'stored as they are', incompressible],
    [18, true, 'stored as they are', incompressible],
    [17, false, 'stored compressed', schedule],
    [18, true, 'stored compressed', schedule],
  ] as const) {
    it(`fetches 256 KiB, then two mebibytes, in memory that is reused where the bodies take half of it: ${left} batches, ${form}`, async () => {
      await appendBatches(36 + left, valueOf);
      await temporary.reopen({ cacheBytesMaximum: 0 });
      const fetched: [count: number, isShared: boolean][] = [];
      for (let offset = 0; offset < 36 + left;) {
        const { batches, nextOffset } = await read(offset);
        const shared = batches.filter(({ release }) => release !== undefined);
        expect(shared.length).to.be.oneOf([0, batches.length]);
        fetched.push([batches.length, shared.length > 0]);
        offset = nextOffset;
      }
      expect(fetched).to.deep.equal([
        [4, false],
        [32, true],
        [left, isShared],
      ]);
    });
  }

  it('from memory lets the rest of the process continue after ten milliseconds', async () => {
    await appendTo(temporary.log, orders, records('event'));
    let turns = 0;
    setImmediate(() => (turns += 1));
    await read(0);
    now += 10;
    await read(0);
    expect(turns).to.equal(0);
    now += 1;
    await read(0);
    expect(turns).to.equal(1);
  });

  it('that the deletion of the topic overtakes fails like a read of an unknown partition', async () => {
    await appendTo(temporary.log, orders, records('event'));
    await temporary.reopen({ cacheBytesMaximum: 0 });
    const overtaken = codeOf(read(0));
    await temporary.log.deleteTopic('orders');
    expect(await overtaken).to.equal('UNKNOWN_TOPIC_OR_PARTITION');
  });

  it('reports damage of the file with the position of the read', async () => {
    const value = Buffer.alloc(3_000, 'x');
    for (let batch = 0; batch < 50; batch += 1) await appendTo(temporary.log, orders, [{ key: null, value }]);
    await temporary.reopen({ cacheBytesMaximum: 0 });
    const file = openSync(join(temporary.dataFolder, 'log.db'), 'r+');
    const { size } = fstatSync(file);
    writeSync(file, Buffer.alloc(size - 8_192, 0xff), 0, size - 8_192, 8_192);
    closeSync(file);
    const failure: unknown = await read(7).catch((error: unknown) => error);
    expect(failure).to.include({ code: 'CORRUPT_BATCH' });
    expect(failure).to.have.deep.property('details', { ...orders, baseOffset: 7 });
  });

  it('fails as unavailable when the file cannot be read for another reason', async () => {
    await appendTo(temporary.log, orders, records('event'));
    await temporary.reopen({ cacheBytesMaximum: 0 });
    // The thread has opened the file when it has served a read.
    await read(0);
    changeFile('ALTER TABLE batch RENAME TO moved');
    expect(await codeOf(read(0))).to.equal('LOG_UNAVAILABLE');
    changeFile('ALTER TABLE moved RENAME TO batch');
    expect((await read(0)).nextOffset).to.equal(1);
  });

  it('and every other step is refused once the log is closed', async () => {
    await appendTo(temporary.log, orders, records('event'));
    await temporary.log.close();
    const { log } = temporary;
    for (const call of [read(0), log.deleteRecords({ ...orders, offset: 1 }, Infinity), log.runRetention()]) {
      expect(await codeOf(call)).to.equal('LOG_CLOSED');
    }
    expect(await codeOf(log.runCompaction())).to.equal('LOG_CLOSED');
  });
});

describe('the thread that reads the log', () => {
  const script = 'thread/fetcher.js';
  let folder: string;
  let path: string;
  let threads: StartedThreads;
  let clock: SimulatedClock;
  let health: Health;
  let reader: LogReader;

  beforeEach(async () => {
    folder = await temporaryFolder();
    path = join(folder, 'log.db');
    threads = watchThreads();
    clock = new SimulatedClock();
    health = new Health(clock);
  });
  afterEach(async () => {
    await reader.close();
    threads.stop();
    await removeFolder(folder);
  });

  const open = (): void => {
    reader = new LogReader(path, new BatchCache(), health.part('log-reader'), clock, silentLogger);
  };
  const notReady = (): string => health.notReadyReasons().join();

  /** Reads a record that the cache does not have. */
  const read = (): Promise<unknown> => {
    const persisted = { id: 1, topicId: 1, number: 0, earliest: 0, latest: 1, compactedTo: 0, compactedRecordCount: 0 };
    return reader.read(newPartitionState('orders', persisted), 0, 1);
  };

  it('is started by the first read that the cache cannot serve, and by none after the end', async () => {
    openForWriting(path).close();
    open();
    expect(threads.count(script)).to.equal(0);
    await Promise.all([read(), read()]);
    expect(threads.count(script)).to.equal(1);
    await reader.close();
    open();
    await reader.close();
    expect(await codeOf(read())).to.equal('LOG_CLOSED');
    expect(threads.count(script)).to.equal(1);
  });

  it('is started again a second after it ended, until the reader is closed', async () => {
    openForWriting(path).close();
    open();
    // A thread that ends while it opens the file would leave it locked.
    await read();
    await threads.end(script);
    expect(notReady()).to.match(/^The thread that reads the log ended; restarting it: /);
    await clock.turn(999);
    expect(threads.count(script)).to.equal(1);
    await clock.turn(1);
    expect(threads.count(script)).to.equal(2);
    await read();
    expect(notReady()).to.equal('');
    await threads.end(script);
    await reader.close();
    await clock.turn(10_000);
    expect(threads.count(script)).to.equal(2);
  });

  it('is started again a second after it found no file', async () => {
    open();
    // The thread has nothing open that it could read, and may be gone before it says so.
    expect(await codeOf(read())).to.be.oneOf(['LOG_CLOSED', 'LOG_UNAVAILABLE']);
    await eventually(() => notReady().startsWith('The log cannot be opened for reading: '));
    openForWriting(path).close();
    await clock.turn(999);
    expect(threads.count(script)).to.equal(1);
    await clock.turn(1);
    await eventually(() => notReady() === '');
    expect(threads.count(script)).to.equal(2);
    expect(clock.nextDeadline()).to.equal(Infinity);
  });
});
