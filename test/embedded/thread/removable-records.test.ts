import { expect } from 'chai';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock, type Clock } from '../../../src/clock.ts';
import type { LogRecord } from '../../../src/ports/event-log.ts';
import { startLogThread } from '../../../src/embedded/thread/log-thread.ts';
import type { MaintenanceRequests } from '../../../src/embedded/thread/messages.ts';
import { isLendstreamError } from '../../../src/errors.ts';
import { openDatabase } from '../../../src/sqlite.ts';
import { eventually } from '../../support/eventually.ts';
import { appendTo, keyed, readAll, records } from '../../support/log-reading.ts';
import { openTemporaryLog } from '../../support/temporary-log.ts';
import type { TemporaryLog } from '../../support/temporary-log.ts';
import { incompressible } from '../../support/values/incompressible.ts';

const dayMilliseconds = 86_400_000;
const where = { topic: 'orders', partition: 0 };
const states = { topic: 'states', partition: 0 };
const mebibyte = 1024 * 1024;

/** A mebibyte of records too small for an attempt to compress them, which would take most of the time. */
const mebibyteOfRecords: readonly LogRecord[] = Array.from({ length: 68 }, () => ({
  key: null,
  value: incompressible(Math.ceil(mebibyte / 68)),
}));

describe('maintaining the embedded log', () => {
  let now = 1_700_000_000_000;
  const clock: Clock = { ...systemClock, now: () => now };
  let temporary: TemporaryLog;
  beforeEach(async () => {
    temporary = await openTemporaryLog({ clock, cacheBytesMaximum: 0 });
  });
  afterEach(() => temporary.cleanup());

  async function values(partition = where): Promise<(string | null)[]> {
    return (await readAll(temporary.log, partition)).map(({ value }) => value);
  }

  describe('the write-ahead log', () => {
    /** A connection that reads one snapshot of the store for as long as it likes, like a backup. */
    function openBackup(): { readonly rows: () => number; readonly end: () => void } {
      const connection = openDatabase(join(temporary.dataFolder, 'log.db'), { returnArrays: true, readOnly: true });
      const rows = (): number => (connection.prepare('SELECT count(*) FROM batch').get() as unknown as [number])[0];
      connection.exec('BEGIN');
      rows();
      const end = (): void => {
        // Closing alone leaves the snapshot open until the statements of the connection are collected.
        connection.exec('ROLLBACK');
        connection.close();
      };
      return { rows, end };
    }

    const walBytes = (): number => statSync(join(temporary.dataFolder, 'log.db-wal')).size;

    it('grows while a backup reads, delays no write, and is reused from its start afterwards', async function () {
      this.timeout(120_000);
      await temporary.log.createTopic({
        name: where.topic,
        partitionCount: 1,
        cleanupPolicy: 'delete',
        retentionMilliseconds: Infinity,
      });
      let appended = 0;
      let slowestMilliseconds = 0;
      const append = async (all: readonly LogRecord[]): Promise<void> => {
        const startedAt = performance.now();
        await appendTo(temporary.log, where, all);
        slowestMilliseconds = Math.max(slowestMilliseconds, performance.now() - startedAt);
        appended += all.length;
      };
      await append(mebibyteOfRecords);
      const backup = openBackup();
      // Beyond 64 MiB it would be restarted at the next check, which happens once a second.
      for (let count = 0; count < 65; count += 1) await append(mebibyteOfRecords);
      slowestMilliseconds = 0;
      const endsAt = performance.now() + 3_000;
      while (performance.now() < endsAt) {
        await append(records('meanwhile'));
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      expect(slowestMilliseconds).to.be.lessThan(2_000);
      expect(backup.rows()).to.equal(1);
      expect(walBytes()).to.be.at.least(65 * mebibyte);
      backup.end();
      const whileReading = walBytes();
      // Without a pause in writing.
      await eventually(async () => {
        await append(records('afterwards'));
        return framesBytes() < 64 * mebibyte;
      }, 60_000);
      expect(walBytes()).to.be.lessThan(whileReading + 64 * mebibyte);
      expect(await values()).to.have.length(appended);
    });

    /** How much of the file is in use: what was written since it was restarted. */
    function framesBytes(): number {
      const connection = openDatabase(join(temporary.dataFolder, 'log.db'), { returnArrays: true });
      const [, frames] = connection.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() as unknown as [number, number];
      connection.close();
      return frames * 8192;
    }
  });

  describe('retention', () => {
    async function createOrders(retentionMilliseconds: number, retentionBytes?: number): Promise<void> {
      await temporary.log.createTopic({
        name: where.topic,
        partitionCount: 2,
        cleanupPolicy: 'delete',
        retentionMilliseconds,
        ...(retentionBytes === undefined ? {} : { retentionBytes }),
      });
    }

    it('by time removes whole batches that are too old, in each partition separately', async () => {
      await createOrders(dayMilliseconds);
      await appendTo(temporary.log, where, records('a', 'b'));
      now += dayMilliseconds;
      await appendTo(temporary.log, where, records('c', 'd'));
      await appendTo(temporary.log, { ...where, partition: 1 }, records('e'));
      await temporary.log.runRetention();
      expect(await values()).to.deep.equal(['a', 'b', 'c', 'd']);
      now += 1;
      await temporary.log.runRetention();
      expect(await values()).to.deep.equal(['c', 'd']);
      expect(await values({ ...where, partition: 1 })).to.deep.equal(['e']);
    });

    it('by size removes the oldest batches beyond the limit', async () => {
      await createOrders(Infinity, 10_000);
      for (let batch = 0; batch < 30; batch += 1) {
        await appendTo(temporary.log, where, records(`${batch}:`.padEnd(1_000, 'x')));
      }
      await temporary.log.runRetention();
      const kept = await values();
      expect(kept.length).to.be.within(9, 11);
      expect(kept.at(-1)).to.match(/^29:/);
    });

    it('keeps the next offset, also after a restart when no record is left', async () => {
      await createOrders(dayMilliseconds);
      await appendTo(temporary.log, where, records('a', 'b', 'c'));
      now += 2 * dayMilliseconds;
      await temporary.log.runRetention();
      const reopened = await temporary.reopen();
      expect(await reopened.bounds([where])).to.deep.equal([{ ...where, earliest: 3, latest: 3 }]);
      const error: unknown = await reopened
        .read({ ...where, offset: 2 }, { bytesMaximum: 1, waitMilliseconds: 0 })
        .catch((thrown: unknown) => thrown);
      expect(isLendstreamError(error, 'OFFSET_OUT_OF_RANGE')).to.equal(true);
      expect(await appendTo(reopened, where, records('d'))).to.equal(3);
    });

    it('leaves compacted topics alone, unless they have both policies', async () => {
      for (const [name, cleanupPolicy] of [
        ['kept', 'compact'],
        ['aged', 'compact_and_delete'],
      ] as const) {
        await temporary.log.createTopic({ name, partitionCount: 1, cleanupPolicy, retentionMilliseconds: 1_000 });
        await appendTo(temporary.log, { topic: name, partition: 0 }, [keyed('a', '1')]);
      }
      now += 2_000;
      await temporary.log.runRetention();
      expect(await values({ topic: 'kept', partition: 0 })).to.deep.equal(['1']);
      expect(await values({ topic: 'aged', partition: 0 })).to.deep.equal([]);
    });

    it('returns freed space to the disk during appends', async () => {
      await createOrders(dayMilliseconds);
      for (let batch = 0; batch < 40; batch += 1) await appendTo(temporary.log, where, mebibyteOfRecords);
      now += 2 * dayMilliseconds;
      const retention = temporary.log.runRetention();
      await appendTo(temporary.log, where, records('meanwhile'));
      await retention;
      expect(await values()).to.deep.equal(['meanwhile']);
      await temporary.reopen();
      expect(statSync(join(temporary.dataFolder, 'log.db')).size).to.be.below(20 * 1024 * 1024);
    });

    it('finishes the removal of a deleted topic that was interrupted', async () => {
      await createOrders(Infinity);
      for (let batch = 0; batch < 30; batch += 1) await appendTo(temporary.log, where, mebibyteOfRecords);
      const size = (): number => statSync(join(temporary.dataFolder, 'log.db')).size;
      await temporary.log.deleteTopic(where.topic);
      await temporary.reopen();
      await temporary.log.runRetention();
      await temporary.reopen();
      expect(size()).to.be.below(20 * 1024 * 1024);
      expect(await temporary.log.listTopics()).to.deep.equal([]);
    });
  });

  describe('compaction', () => {
    beforeEach(() =>
      temporary.log.createTopic({
        name: states.topic,
        partitionCount: 1,
        cleanupPolicy: 'compact',
        retentionMilliseconds: 0,
      }),
    );

    it('keeps the newest record of each key at its offset', async () => {
      await appendTo(temporary.log, states, [keyed('a', '1'), keyed('b', '1'), keyed('c', '1')]);
      await appendTo(temporary.log, states, [keyed('a', '2')]);
      await appendTo(temporary.log, states, [keyed('c', '2'), keyed('c', '3'), keyed('d', '1')]);
      await temporary.log.runCompaction();
      const compacted = [
        { offset: 1, key: 'b', value: '1' },
        { offset: 3, key: 'a', value: '2' },
        { offset: 5, key: 'c', value: '3' },
        { offset: 6, key: 'd', value: '1' },
      ];
      expect(await readAll(temporary.log, states)).to.deep.equal(compacted);
      for (let from = 0; from < 7; from += 1) {
        const rest = compacted.filter(({ offset }) => offset >= from);
        expect(await readAll(temporary.log, states, from)).to.deep.equal(rest);
      }
      await temporary.reopen();
      expect(await readAll(temporary.log, states)).to.deep.equal(compacted);
      expect(await temporary.log.bounds([states])).to.deep.equal([{ ...states, earliest: 0, latest: 7 }]);
    });

    it('removes tombstones once they are old, and the records that they deleted immediately', async () => {
      await appendTo(temporary.log, states, [keyed('a', '1'), keyed('b', '1')]);
      await appendTo(temporary.log, states, [keyed('a', null)]);
      await temporary.log.runCompaction();
      expect(await values(states)).to.deep.equal(['1', null]);
      now += dayMilliseconds;
      await temporary.log.runCompaction();
      expect(await values(states)).to.deep.equal(['1', null]);
      now += 1;
      await temporary.log.runCompaction();
      expect(await values(states)).to.deep.equal(['1']);
    });

    it('lets a read pass a gap at the end immediately, even a read that would wait', async () => {
      await appendTo(temporary.log, states, [keyed('a', '1')]);
      await appendTo(temporary.log, states, [keyed('a', null), keyed('b', null)]);
      now += 2 * dayMilliseconds;
      await temporary.log.runCompaction();
      const from = { ...states, offset: 0 };
      const passed = { batches: [], nextOffset: 3 };
      expect(await temporary.log.read(from, { bytesMaximum: 1_000, waitMilliseconds: Infinity })).to.deep.equal(passed);
      await temporary.reopen();
      expect(await temporary.log.read(from, { bytesMaximum: 1_000, waitMilliseconds: Infinity })).to.deep.equal(passed);
      expect(await appendTo(temporary.log, states, [keyed('a', '2')])).to.equal(3);
      expect(await values(states)).to.deep.equal(['2']);
    });

    describe('in steps', () => {
      /** How many rows each step replaces, as the maintenance thread plans them. */
      async function steps(latest: number): Promise<number[]> {
        const script = new URL('../../../src/embedded/thread/removable-records.js', import.meta.url);
        const thread = startLogThread<MaintenanceRequests>(script, () => undefined);
        await thread.call('open', { path: join(temporary.dataFolder, 'log.db') });
        const range = { ...states, partitionId: 1, compactedTo: 0, latest };
        await thread.call('beginCompaction', { ...range, keyBytesMaximum: Infinity, tombstonesBefore: 0 });
        const counts: number[] = [];
        for (let isDone = false; !isDone;) {
          const step = await thread.call('nextCompaction', null);
          ({ isDone } = step);
          counts.push(step.rows.length);
        }
        await thread.call('close', null);
        await thread.end();
        return counts;
      }

      it('replaces 64 rows at a time, so that an append waits for no more', async () => {
        for (let batch = 0; batch < 130; batch += 1) await appendTo(temporary.log, states, [keyed('a', '1')]);
        expect(await steps(130)).to.deep.equal([64, 64, 1]);
      });

      // Each row is replaced by one with a single record: a header of 48 bytes, three numbers, a key of one byte.
      for (const [bytes, expected] of [
        [64 * 1024 - 61, [4, 3]],
        [64 * 1024 - 62, [5, 2]],
      ] as const) {
        it(`ends a step with the row that brings it to 256 KiB: values of ${bytes} bytes`, async () => {
          for (let batch = 0; batch < 7; batch += 1) {
            await appendTo(temporary.log, states, [keyed('a', '1'), keyed(`${batch}`, 'x'.repeat(bytes))]);
          }
          await appendTo(temporary.log, states, [keyed('a', '1')]);
          expect(await steps(15)).to.deep.equal(expected);
        });
      }
    });

    describe('with little memory for keys', () => {
      /** Where a compaction of the partition ends. A key of one character takes 101 bytes. */
      async function endWithin(keyBytesMaximum: number, compactedTo: number): Promise<number> {
        const script = new URL('../../../src/embedded/thread/removable-records.js', import.meta.url);
        const thread = startLogThread<MaintenanceRequests>(script, () => undefined);
        await thread.call('open', { path: join(temporary.dataFolder, 'log.db') });
        const [{ latest } = expect.fail()] = await temporary.log.bounds([states]);
        const range = { ...states, partitionId: 1, compactedTo, latest };
        const request = { ...range, keyBytesMaximum, tombstonesBefore: 0 };
        const { toOffset } = await thread.call('beginCompaction', request);
        await thread.call('close', null);
        await thread.end();
        return toOffset;
      }

      it('ends behind the batch whose keys exceed it, and counts each key once', async () => {
        await appendTo(temporary.log, states, [keyed('a', '1'), keyed('b', '1')]);
        await appendTo(temporary.log, states, [keyed('a', '2'), keyed('b', '2')]);
        await appendTo(temporary.log, states, [keyed('c', '1'), keyed('d', '1')]);
        await appendTo(temporary.log, states, [keyed('e', '1')]);
        expect(await endWithin(0, 0), 'it always proceeds').to.equal(2);
        expect(await endWithin(2 * 101 - 1, 0)).to.equal(2);
        expect(await endWithin(2 * 101, 0)).to.equal(6);
        expect(await endWithin(4 * 101 - 1, 0)).to.equal(6);
        expect(await endWithin(4 * 101, 0)).to.equal(7);
        expect(await endWithin(0, 2), 'from where the last one ended').to.equal(4);
        expect(await endWithin(0, 7), 'nothing is new').to.equal(7);
      });

      it('passes over offsets without a record', async () => {
        await appendTo(temporary.log, states, [keyed('a', '1')]);
        await appendTo(temporary.log, states, [keyed('a', null)]);
        now += 2 * dayMilliseconds;
        await temporary.log.runCompaction();
        await temporary.log.runCompaction();
        expect(await values(states)).to.deep.equal([]);
        expect(await endWithin(0, 0)).to.equal(2);
      });

      it('keeps the newest record of every key, also of those that only earlier passes have seen', async () => {
        await temporary.reopen({ compactionBytesMaximum: 10 * 101 });
        const expected = new Map<string, string>();
        for (let batch = 0; batch < 60; batch += 1) {
          const appended = Array.from({ length: 5 }, (_, index) => {
            const [key, value] = [`key-${(batch * 7 + index * 11) % 97}`, `${batch}.${index}`];
            expected.set(key, value);
            return keyed(key, value);
          });
          await appendTo(temporary.log, states, appended);
          if (batch === 40) await temporary.log.runCompaction();
        }
        await temporary.log.runCompaction();
        const kept = await readAll(temporary.log, states);
        expect(kept).to.have.length(expected.size);
        expect(new Map(kept.map(({ key, value }) => [key, value]))).to.deep.equal(expected);
      });
    });

    it('is visible to readers of batches that were cached', async () => {
      await temporary.reopen({ cacheBytesMaximum: 1_000_000 });
      await appendTo(temporary.log, states, [keyed('a', '1'), keyed('a', '2')]);
      expect(await values(states)).to.deep.equal(['1', '2']);
      await temporary.log.runCompaction();
      expect(await values(states)).to.deep.equal(['2']);
    });

    it('runs while records are appended, and loses none of them', async () => {
      const expected = new Map<string, string>();
      const round = async (number: number): Promise<void> => {
        const appended = Array.from({ length: 200 }, (_, index): LogRecord => {
          const [key, value] = [`key-${(index * 7) % 50}`, `${number}.${index}`];
          expected.set(key, value);
          return keyed(key, value);
        });
        await appendTo(temporary.log, states, appended);
      };
      for (let number = 0; number < 20; number += 1) await round(number);
      const compaction = temporary.log.runCompaction();
      for (let number = 20; number < 40; number += 1) await round(number);
      await compaction;
      const newest = async (): Promise<Map<string | null, string | null>> =>
        new Map((await readAll(temporary.log, states)).map(({ key, value }) => [key, value]));
      expect(await newest()).to.deep.equal(expected);
      await temporary.log.runCompaction();
      expect(await newest()).to.deep.equal(expected);
      expect(await values(states)).to.have.length(50);
    });

    it('keeps the records that a map by key would hold, for any records and any memory for keys', async () => {
      const change = fc.record({
        key: fc.constantFrom('a', 'b', 'c', 'd'),
        value: fc.option(fc.string({ maxLength: 3 })),
      });
      const appends = fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 });
      let number = 0;
      for (let keyCount = 0; keyCount <= 5; keyCount += 1) {
        // Opening the log takes most of the time, so each memory is tried with several lists of records.
        await temporary.reopen({ compactionBytesMaximum: keyCount * 101 });
        await fc.assert(
          fc.asyncProperty(appends, fc.boolean(), async (all, isTombstoneAgePassed) => {
            const topic = `states-${(number += 1)}`;
            const partition = { topic, partition: 0 };
            const { log } = temporary;
            await log.createTopic({
              name: topic,
              partitionCount: 1,
              cleanupPolicy: 'compact',
              retentionMilliseconds: 0,
            });
            for (const some of all) {
              await appendTo(
                log,
                partition,
                some.map(({ key, value }) => keyed(key, value)),
              );
            }
            const before = await readAll(log, partition);
            if (isTombstoneAgePassed) now += 2 * dayMilliseconds;
            await log.runCompaction();
            const newest = before.filter(
              ({ key }, index) => before.findLastIndex((each) => each.key === key) === index,
            );
            const expected = newest.filter(({ value }) => value !== null || !isTombstoneAgePassed);
            expect(await readAll(log, partition)).to.deep.equal(expected);
            await log.deleteTopic(topic);
          }),
          { numRuns: 4 },
        );
      }
    });
  });
});
