import { expect } from 'chai';
import * as fc from 'fast-check';
import { after, before, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import { appendBytesMaximum, recordBytesMaximum } from '../../src/ports/event-log.ts';
import { appendBytes } from '../../src/ports/append-size.ts';
import { packKeys, PackedPartitionRecords } from '../../src/ports/packed-records.ts';
import type {
  AppendResult,
  CleanupPolicy,
  EventLog,
  FencedWriter,
  LogRecord,
  Offset,
  TopicConfiguration,
  TopicPartition,
} from '../../src/ports/event-log.ts';
import { isLendstreamError } from '../../src/errors.ts';
import { appendTo, codeOf, keyed, readAll, readCount, records, recordsOf } from '../support/log-reading.ts';
import { incompressible } from '../support/values/incompressible.ts';
import { digested, readDigests, schedule } from '../support/values/large-values.ts';

/** A log under test, and the operations that only its backend has. */
export interface LogUnderTest {
  readonly log: EventLog;
  /** Closes the log and opens it again on the same data. */
  reopen(): Promise<EventLog>;
  /** Makes all records in the topic old and lets retention remove them. */
  expire(topic: string): Promise<void>;
  /** Closes the log and removes its data. */
  cleanup(): Promise<void>;
}

const bytesMaximum = 64 * 1024;
const atOnce = { bytesMaximum, waitMilliseconds: 0 };
const forever = { bytesMaximum, waitMilliseconds: Infinity };

/**
 * Every rule of the {@link EventLog} port, stated so that any backend can keep it: offsets are compared with those that
 * the log returned, never computed, and the records of a transaction are awaited.
 */
export function describeEventLog(name: string, open: () => Promise<LogUnderTest>): void {
  describe(`${name}, as an event log`, () => {
    let subject: LogUnderTest;
    let log: EventLog;

    before(async () => {
      subject = await open();
      ({ log } = subject);
    });
    after(() => subject.cleanup());

    function topicConfiguration(partitionCount: number, cleanupPolicy: CleanupPolicy = 'delete'): TopicConfiguration {
      return { name: `topic-${randomUUID()}`, partitionCount, cleanupPolicy, retentionMilliseconds: 3_600_000 };
    }

    async function newTopic(partitionCount = 1, cleanupPolicy: CleanupPolicy = 'delete'): Promise<string> {
      const configuration = topicConfiguration(partitionCount, cleanupPolicy);
      await log.createTopic(configuration);
      return configuration.name;
    }

    async function newPartition(): Promise<TopicPartition> {
      return { topic: await newTopic(), partition: 0 };
    }

    async function latestOf(where: TopicPartition): Promise<Offset> {
      const [bounds] = await log.bounds([where]);
      return bounds?.latest ?? -1;
    }

    async function valuesIn(where: TopicPartition): Promise<(string | null)[]> {
      return (await readAll(log, where)).map(({ value }) => value);
    }

    describe('topics', () => {
      it('are listed as they were created', async () => {
        const plain = topicConfiguration(3);
        const sized: TopicConfiguration = { ...topicConfiguration(1), retentionBytes: 10_000_000 };
        const compacted = topicConfiguration(2, 'compact');
        const both = topicConfiguration(1, 'compact_and_delete');
        const soon: TopicConfiguration = { ...topicConfiguration(1, 'compact'), compactionLagMilliseconds: 86_400_000 };
        const created = [plain, sized, compacted, both, soon];
        for (const configuration of created) await log.createTopic(configuration);
        const names = new Set(created.map(({ name }) => name));
        const listed = (await log.listTopics()).filter(({ name }) => names.has(name));
        expect(listed).to.have.deep.members(created);
        await log.alterTopic(compacted.name, { compactionLagMilliseconds: 1_000 });
        expect(await log.listTopics([compacted.name])).to.deep.equal([
          { ...compacted, compactionLagMilliseconds: 1_000 },
        ]);
        await log.alterTopic(compacted.name, { compactionLagMilliseconds: Infinity });
        expect(await log.listTopics([compacted.name])).to.deep.equal([compacted]);
      });

      it('are listed only for the requested names, as far as they exist', async () => {
        const [first, second, other] = [topicConfiguration(1), topicConfiguration(2, 'compact'), topicConfiguration(1)];
        for (const configuration of [first, second, other]) await log.createTopic(configuration);
        const listed = await log.listTopics([second.name, `${first.name}-missing`, first.name]);
        expect(listed).to.have.deep.members([first, second]);
        expect(await log.listTopics([`${first.name}-missing`])).to.deep.equal([]);
        expect(await log.listTopics([])).to.deep.equal([]);
      });

      it('cannot be created twice', async () => {
        const configuration = topicConfiguration(1);
        const codes = await Promise.all([
          codeOf(log.createTopic(configuration)),
          codeOf(log.createTopic(configuration)),
        ]);
        expect(codes).to.have.members([null, 'TOPIC_ALREADY_EXISTS']);
        expect(await codeOf(log.createTopic(configuration))).to.equal('TOPIC_ALREADY_EXISTS');
      });

      it('are empty, and ready for appends and reads, as soon as they are created', async () => {
        const topic = await newTopic(2);
        const both = [
          { topic, partition: 0 },
          { topic, partition: 1 },
        ];
        expect(await log.bounds(both)).to.deep.equal(both.map((where) => ({ ...where, earliest: 0, latest: 0 })));
        expect(await log.endOffsets(both)).to.deep.equal(both.map((where) => ({ ...where, latest: 0 })));
        expect(await log.read({ topic, partition: 1, offset: 0 }, atOnce)).to.deep.equal({
          batches: [],
          nextOffset: 0,
        });
        await appendTo(log, { topic, partition: 1 }, records('first'));
        expect(await valuesIn({ topic, partition: 1 })).to.deep.equal(['first']);
      });

      it('can get more partitions, and keep their records and every setting that was not named', async () => {
        const configuration: TopicConfiguration = { ...topicConfiguration(1), retentionBytes: 5_000_000 };
        const { name: topic } = configuration;
        await log.createTopic(configuration);
        await appendTo(log, { topic, partition: 0 }, records('kept'));
        await log.alterTopic(topic, { partitionCount: 3 });
        await appendTo(log, { topic, partition: 2 }, records('added'));
        expect(await valuesIn({ topic, partition: 0 })).to.deep.equal(['kept']);
        expect(await valuesIn({ topic, partition: 2 })).to.deep.equal(['added']);
        await log.alterTopic(topic, { retentionMilliseconds: 7_200_000 });
        const [listed] = await log.listTopics([topic]);
        expect(listed).to.deep.equal({ ...configuration, partitionCount: 3, retentionMilliseconds: 7_200_000 });
      });

      it('cannot get fewer partitions, and a request for it changes nothing', async () => {
        const topic = await newTopic(3);
        const alteration = { partitionCount: 2, retentionMilliseconds: 1_000 };
        expect(await codeOf(log.alterTopic(topic, alteration))).to.equal('UNPROCESSABLE');
        const [listed] = await log.listTopics([topic]);
        expect(listed).to.include({ partitionCount: 3, retentionMilliseconds: 3_600_000 });
      });

      it('that are unknown fail every method that names them', async () => {
        const topic = await newTopic();
        const unknown = { topic: `unknown-${randomUUID()}`, partition: 0 };
        const beyond = { topic, partition: 1 };
        expect(await codeOf(log.alterTopic(unknown.topic, {}))).to.equal('UNKNOWN_TOPIC_OR_PARTITION');
        expect(await codeOf(log.deleteTopic(unknown.topic))).to.equal('UNKNOWN_TOPIC_OR_PARTITION');
        for (const where of [unknown, beyond]) {
          const known = { topic, partition: 0 };
          expect(await codeOf(log.bounds([known, where]))).to.equal('UNKNOWN_TOPIC_OR_PARTITION');
          expect(await codeOf(log.endOffsets([known, where]))).to.equal('UNKNOWN_TOPIC_OR_PARTITION');
          expect(await codeOf(log.read({ ...where, offset: 0 }, atOnce))).to.equal('UNKNOWN_TOPIC_OR_PARTITION');
          expect(await codeOf(appendTo(log, where, records('lost')))).to.equal('UNKNOWN_TOPIC_OR_PARTITION');
        }
      });

      it('that are deleted fail their pending reads and leave other topics unchanged', async () => {
        const deleted = await newPartition();
        const kept = await newPartition();
        const end = await appendTo(log, kept, records('before'));
        const pending = codeOf(log.read({ ...deleted, offset: 0 }, forever));
        const undisturbed = readCount(log, kept, 2, end);
        await log.deleteTopic(deleted.topic);
        expect(await pending).to.equal('UNKNOWN_TOPIC_OR_PARTITION');
        expect(await codeOf(appendTo(log, deleted, records('late')))).to.equal('UNKNOWN_TOPIC_OR_PARTITION');
        await appendTo(log, kept, records('after'));
        expect((await undisturbed).map(({ value }) => value)).to.deep.equal(['before', 'after']);
        expect((await log.listTopics()).map(({ name }) => name)).to.not.include(deleted.topic);
      });

      it('that are deleted and created again start empty', async () => {
        const configuration = topicConfiguration(1);
        const where = { topic: configuration.name, partition: 0 };
        await log.createTopic(configuration);
        await appendTo(log, where, records('old', 'older'));
        await log.deleteTopic(where.topic);
        await log.createTopic(configuration);
        expect(await log.bounds([where])).to.deep.equal([{ ...where, earliest: 0, latest: 0 }]);
        await appendTo(log, where, records('new'));
        expect(await valuesIn(where)).to.deep.equal(['new']);
      });
    });

    describe('an append', () => {
      it('keeps the order of its records and of the appends that follow it', async () => {
        const where = await newPartition();
        const first = await appendTo(log, where, records('a', 'b', 'c'));
        const second = await appendTo(log, where, records('d'));
        const third = await appendTo(log, where, records('e', 'f'));
        const read = await readAll(log, where);
        expect(read.map(({ value }) => value)).to.deep.equal(['a', 'b', 'c', 'd', 'e', 'f']);
        expect([read[0]?.offset, read[3]?.offset, read[4]?.offset]).to.deep.equal([first, second, third]);
        const offsets = read.map(({ offset }) => offset);
        expect(offsets).to.deep.equal([...new Set(offsets)].sort((a, b) => a - b));
        expect(await latestOf(where)).to.be.greaterThan(offsets.at(-1) ?? Infinity);
      });

      it('returns a result per partition in the order of the request, and one failure affects no other', async () => {
        const topic = await newTopic(3);
        const tooLarge = { key: null, value: Buffer.alloc(recordBytesMaximum + 1) };
        const results = await log.append([
          { topic, partition: 2, records: records('two') },
          { topic, partition: 1, records: [...records('never stored'), tooLarge, ...records('nor this')] },
          { topic: `unknown-${randomUUID()}`, partition: 0, records: records('lost') },
          { topic, partition: 0, records: records('zero') },
        ]);
        expect(results.map(outcomeOf)).to.deep.equal([
          'appended',
          'RECORD_TOO_LARGE',
          'UNKNOWN_TOPIC_OR_PARTITION',
          'appended',
        ]);
        expect(results.map(({ partition }) => partition)).to.deep.equal([2, 1, 0, 0]);
        expect(await valuesIn({ topic, partition: 2 })).to.deep.equal(['two']);
        expect(await valuesIn({ topic, partition: 1 })).to.deep.equal([]);
        expect(await valuesIn({ topic, partition: 0 })).to.deep.equal(['zero']);
      });

      it('accepts a record of the maximum size', async () => {
        const where = await newPartition();
        const key = 'k'.repeat(100);
        const value = Buffer.alloc(recordBytesMaximum - key.length, 'v');
        await appendTo(log, where, [{ key, value }]);
        const { batches } = await log.read({ ...where, offset: 0 }, atOnce);
        const [batch] = batches;
        expect(batch?.bytes.subarray(batch.valueStarts[0], batch.valueEnds[0]).equals(value)).to.equal(true);
        expect(batch?.key(0)).to.equal(key);
      });

      it('accepts several records of the maximum size together, whatever their number', async () => {
        const where = await newPartition();
        const record = { key: 'key', value: Buffer.from('{"n":1}') };
        const count = Math.floor(appendBytesMaximum / appendBytes(record));
        const offset = await appendTo(
          log,
          where,
          Array.from({ length: count }, () => record),
        );
        const [bounds] = await log.bounds([where]);
        expect([offset, bounds?.latest]).to.deep.equal([0, count]);
      });

      it('counts the key as part of the record size', async () => {
        const where = await newPartition();
        const record = { key: 'k'.repeat(10), value: Buffer.alloc(recordBytesMaximum - 9) };
        expect(await codeOf(appendTo(log, where, [record]))).to.equal('RECORD_TOO_LARGE');
      });

      it('stores keys, tombstones and empty values unchanged', async () => {
        const where = await newPartition();
        const appended: LogRecord[] = [
          keyed('plain', '{"a":1}'),
          { key: null, value: Buffer.from('no key') },
          keyed('tombstone', null),
          keyed('', ''),
          keyed('ключ €', 'größer, 大'),
          { key: null, value: null },
          keyed('last', ''),
        ];
        await appendTo(log, where, appended);
        const expected = appended.map(({ key, value }) => ({ key, value: value?.toString() ?? null }));
        expect((await readAll(log, where)).map(({ key, value }) => ({ key, value }))).to.deep.equal(expected);
      });

      it('to a compacted topic needs a key for every record', async () => {
        const where = { topic: await newTopic(1, 'compact'), partition: 0 };
        expect(await codeOf(appendTo(log, where, [keyed('a', '1'), ...records('no key')]))).to.equal('UNPROCESSABLE');
        await appendTo(log, where, [keyed('b', '2')]);
        expect(await valuesIn(where)).to.deep.equal(['2']);
      });

      it('stores its records together and once, among many concurrent appends', async () => {
        const topic = await newTopic(2);
        const writers = Array.from({ length: 24 }, (_, writer) => writer);
        const rounds = Array.from({ length: 8 }, (_, round) => round);
        const baseOffsets = new Map<string, Offset>();
        await Promise.all(
          writers.map(async (writer) => {
            for (const round of rounds) {
              const name = `${writer}.${round}`;
              const own = records(...[0, 1, 2].map((part) => `${name}.${part}`));
              baseOffsets.set(name, await appendTo(log, { topic, partition: writer % 2 }, own));
            }
          }),
        );
        for (const partition of [0, 1]) {
          const read = await readAll(log, { topic, partition });
          expect(read).to.have.length((writers.length / 2) * rounds.length * 3);
          for (let index = 0; index < read.length; index += 3) {
            const name = (read[index]?.value ?? '').replace(/\.0$/, '');
            const together = read.slice(index, index + 3).map(({ value }) => value);
            expect(together).to.deep.equal([`${name}.0`, `${name}.1`, `${name}.2`]);
            expect(read[index]?.offset).to.equal(baseOffsets.get(name));
          }
          const roundsOfFirst = read.flatMap(({ value }) => (value?.startsWith(`${partition}.`) ? [value] : []));
          expect(roundsOfFirst).to.deep.equal(
            rounds.flatMap((round) => [0, 1, 2].map((p) => `${partition}.${round}.${p}`)),
          );
        }
      });

      it('is refused as retriable under too much load, and exactly the accepted ones are stored', async () => {
        const where = await newPartition();
        const value = Buffer.alloc(1024 * 1024, 'x');
        const attempts = Array.from({ length: 150 }, (_, attempt) => `${attempt}`);
        const results = await Promise.all(attempts.map((key) => log.append([{ ...where, records: [{ key, value }] }])));
        const accepted = attempts.filter((_, attempt) => results[attempt]?.[0]?.outcome === 'appended');
        const refusals = results.flat().flatMap((result) => (result.outcome === 'failed' ? [result.error] : []));
        expect(refusals.filter(({ retriable }) => !retriable)).to.deep.equal([]);
        expect(accepted).to.not.have.length(0);
        const stored = await readAll(log, where, undefined, 16 * 1024 * 1024);
        expect(stored.map(({ key }) => key)).to.have.members(accepted);
      });

      it('has read its records when it is done, so that their memory may be used for others', async () => {
        const where = await newPartition();
        const written: string[] = [];
        const values = Buffer.alloc(40_000);
        for (let round = 0; round < 20; round += 1) {
          const text = `"${String(round).padStart(3, '0').repeat(13_000)}"`;
          values.write(text, 'latin1');
          const packed = {
            ...packKeys([`key ${round}`]),
            values: values.subarray(0, text.length),
            valueEnds: Uint32Array.of(text.length),
          };
          const appending = log.append([new PackedPartitionRecords(where.topic, where.partition, packed)]);
          const [result] = await appending;
          expect(result?.outcome).to.equal('appended');
          // Nothing happens between the outcome and this.
          values.fill('x');
          written.push(text);
        }
        const read = await readAll(log, where);
        expect(read.map(({ value }) => value)).to.deep.equal(written);
      });

      it('is still stored after the log was closed and opened again', async () => {
        const other = await open();
        try {
          const configuration = topicConfiguration(2);
          const { name: topic } = configuration;
          await other.log.createTopic(configuration);
          const results = await other.log.append([
            { topic, partition: 0, records: [keyed('a', '1'), keyed('b', null)] },
            { topic, partition: 1, records: records('{"b":2}') },
          ]);
          await appendTo(other.log, { topic, partition: 0 }, records('3'));
          const before = await Promise.all([0, 1].map((partition) => readAll(other.log, { topic, partition })));
          const bounds = await other.log.bounds([{ topic, partition: 0 }]);
          const reopened = await other.reopen();
          const now = await Promise.all([0, 1].map((partition) => readAll(reopened, { topic, partition })));
          expect(now).to.deep.equal(before);
          expect(now[0]?.[0]).to.deep.equal({ offset: baseOffsetOf(results[0]), key: 'a', value: '1' });
          expect(await reopened.bounds([{ topic, partition: 0 }])).to.deep.equal(bounds);
          expect(await reopened.listTopics()).to.deep.include(configuration);
          const next = await appendTo(reopened, { topic, partition: 0 }, records('4'));
          expect(next).to.be.at.least(bounds[0]?.latest ?? Infinity);
        } finally {
          await other.cleanup();
        }
      });
    });

    describe('the offsets of a time', () => {
      /** Appends batches at different times. Returns for each its first offset and when it was appended. */
      async function appendBatches(where: TopicPartition, count: number): Promise<{ offset: Offset; at: number }[]> {
        const batches: { offset: Offset; at: number }[] = [];
        for (let index = 0; index < count; index += 1) {
          const offset = await latestOf(where);
          await appendTo(log, where, records(`first ${index}`, `second ${index}`, `third ${index}`));
          const { batches: found } = await log.read({ ...where, offset }, atOnce);
          batches.push({ offset: found[0]?.offsets[0] ?? -1, at: found[0]?.appendedAt ?? -1 });
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        return batches;
      }

      const offsetAt = async (where: TopicPartition, time: number): Promise<Offset | undefined> =>
        (await log.offsetsAt([where], time))[0]?.offset;

      it('are those of the first records appended then or later, exactly, and the end after the last', async () => {
        const where = await newPartition();
        const batches = await appendBatches(where, 9);
        for (const [index, { offset, at }] of batches.entries()) {
          expect(await offsetAt(where, at), `at batch ${index}`).to.equal(offset);
          const next = batches[index + 1]?.offset ?? (await latestOf(where));
          expect(await offsetAt(where, at + 1), `after batch ${index}`).to.equal(next);
        }
        expect(await offsetAt(where, 0)).to.equal(batches[0]?.offset);
        expect(await offsetAt(where, Date.now() + 3_600_000)).to.equal(await latestOf(where));
      });

      it('are those of the first records for every time before 1970', async () => {
        const where = await newPartition();
        const [first] = await appendBatches(where, 2);
        for (const time of [-1, -2, -3, -4, -5, -6, -3_600_000, Date.parse('0000-01-01T00:00:00Z')]) {
          expect(await offsetAt(where, time), `at ${time}`).to.equal(first?.offset);
        }
      });

      it('are given for each partition in order, and are the end of an empty one', async () => {
        const topic = await newTopic(3);
        const [batch] = await appendBatches({ topic, partition: 1 }, 1);
        const partitions = [2, 1, 0].map((partition) => ({ topic, partition }));
        expect(await log.offsetsAt(partitions, batch?.at ?? 0)).to.deep.equal([
          { topic, partition: 2, offset: 0 },
          { topic, partition: 1, offset: batch?.offset },
          { topic, partition: 0, offset: 0 },
        ]);
      });

      it('are not before the first record that is still stored, and fail for an unknown partition', async () => {
        const where = await newPartition();
        await appendBatches(where, 2);
        await subject.expire(where.topic);
        const [bounds] = await log.bounds([where]);
        expect(await offsetAt(where, 0)).to.equal(bounds?.earliest);
        expect(await codeOf(log.offsetsAt([{ topic: 'nowhere', partition: 0 }], 0))).to.equal(
          'UNKNOWN_TOPIC_OR_PARTITION',
        );
      });
    });

    describe('a read', () => {
      it('starts at any offset, also in the middle of a batch', async () => {
        const where = await newPartition();
        await appendTo(log, where, records('a', 'b', 'c', 'd'));
        await appendTo(log, where, [keyed('k5', 'e'), keyed('k6', 'f')]);
        const all = await readAll(log, where);
        for (const [index, { offset }] of all.entries()) {
          const { batches, nextOffset } = await log.read({ ...where, offset }, atOnce);
          expect(batches.flatMap(recordsOf)).to.deep.equal(all.slice(index));
          expect(nextOffset).to.equal(await latestOf(where));
        }
      });

      it('returns the records with their timestamps and their partition', async () => {
        const topic = await newTopic(2);
        const before = Date.now();
        await appendTo(log, { topic, partition: 1 }, records('a'));
        const { batches } = await log.read({ topic, partition: 1, offset: 0 }, atOnce);
        expect(batches[0]).to.include({ topic, partition: 1, count: 1 });
        expect(batches[0]?.appendedAt).to.be.within(before - 1_000, Date.now() + 1_000);
      });

      it('leaves exactly one comma between the values of a contiguous batch', async () => {
        const where = await newPartition();
        await appendTo(log, where, records('{"a":1}', '{}', '{"c":[3,4]}'));
        await appendTo(log, where, [keyed('k', '"d"'), keyed('l', null), keyed('m', '"f"')]);
        for (const { offset } of await readAll(log, where)) {
          const { batches } = await log.read({ ...where, offset }, atOnce);
          for (const batch of batches) {
            const values = recordsOf(batch).map(({ value }) => value);
            if (values.includes(null)) expect(batch.contiguous).to.equal(false);
            if (!batch.contiguous) continue;
            const run = batch.bytes.toString('utf8', batch.valueStarts[0], batch.valueEnds.at(-1));
            expect(run).to.equal(values.join(','));
          }
        }
      });

      it('returns at least one batch and exceeds its byte limit by less than one batch', async () => {
        const where = await newPartition();
        for (let batch = 0; batch < 20; batch += 1) await appendTo(log, where, records('v'.repeat(1_000)));
        const latest = await latestOf(where);
        for (const limit of [1, 999, 3_500, 10_000]) {
          let offset = 0;
          let count = 0;
          while (offset < latest) {
            const { batches, nextOffset } = await log.read(
              { ...where, offset },
              { bytesMaximum: limit, waitMilliseconds: 0 },
            );
            const sizes = batches.map((batch) => batch.count * 1_000);
            const withoutLast = sizes.slice(0, -1).reduce((sum, size) => sum + size, 0);
            expect(withoutLast).to.be.below(limit);
            expect(nextOffset).to.be.above(offset);
            count += sizes.length;
            offset = nextOffset;
          }
          expect(count).to.be.above(0);
        }
      });

      it('outside of the available offsets fails with the available offsets', async () => {
        const where = await newPartition();
        await appendTo(log, where, records('a', 'b'));
        const latest = await latestOf(where);
        for (const offset of [-1, latest + 1, latest + 1_000_000]) {
          for (const options of [atOnce, forever]) {
            const error: unknown = await log.read({ ...where, offset }, options).catch((thrown: unknown) => thrown);
            expect(isLendstreamError(error, 'OFFSET_OUT_OF_RANGE')).to.equal(true);
            expect(isLendstreamError(error) && error.details).to.include({ earliest: 0, latest });
          }
        }
      });

      it('returns nothing at the end: immediately, or after its timeout', async () => {
        const where = await newPartition();
        await appendTo(log, where, records('a'));
        const offset = await latestOf(where);
        expect(await log.read({ ...where, offset }, atOnce)).to.deep.equal({ batches: [], nextOffset: offset });
        const started = performance.now();
        const waited = await log.read({ ...where, offset }, { bytesMaximum, waitMilliseconds: 60 });
        expect(waited).to.deep.equal({ batches: [], nextOffset: offset });
        expect(performance.now() - started).to.be.above(50);
      });

      it('at the end waits for the next record, in any partition', async () => {
        const topic = await newTopic(2);
        const pending = [0, 1].map((partition) => readCount(log, { topic, partition }, 1));
        await appendTo(log, { topic, partition: 1 }, records('one'));
        expect((await pending[1])?.map(({ value }) => value)).to.deep.equal(['one']);
        await appendTo(log, { topic, partition: 0 }, records('zero'));
        expect((await pending[0])?.map(({ value }) => value)).to.deep.equal(['zero']);
      });

      it('may wait with any number of others, and one append wakes all of them', async () => {
        const where = await newPartition();
        const pending = Array.from({ length: 500 }, () => log.read({ ...where, offset: 0 }, forever));
        await appendTo(log, where, records('for all'));
        for (const { batches } of await Promise.all(pending)) {
          expect(batches.flatMap(recordsOf).map(({ value }) => value)).to.deep.equal(['for all']);
        }
      });

      it('that waits ends empty when its signal aborts, and only then', async () => {
        const where = await newPartition();
        const ended = new AbortController();
        const kept = new AbortController();
        const cancelled = Array.from({ length: 20 }, () =>
          log.read({ ...where, offset: 0 }, { ...forever, signal: ended.signal }),
        );
        const waiting = log.read({ ...where, offset: 0 }, { ...forever, signal: kept.signal });
        setImmediate(() => ended.abort());
        for (const result of await Promise.all(cancelled)) {
          expect(result).to.deep.equal({ batches: [], nextOffset: 0 });
        }
        await appendTo(log, where, records('still read'));
        expect((await waiting).batches.flatMap(recordsOf)).to.have.length(1);
        const offset = await latestOf(where);
        const late = await log.read({ ...where, offset }, { ...forever, signal: ended.signal });
        expect(late).to.deep.equal({ batches: [], nextOffset: offset });
      });

      it('returns the same records however appends and reads were split', async () => {
        const value = fc.oneof(fc.constant(null), fc.string({ maxLength: 30 }));
        const record = fc.record({ key: fc.option(fc.string({ maxLength: 5, unit: 'grapheme' })), value });
        const appends = fc.array(fc.array(record, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 6 });
        await fc.assert(
          fc.asyncProperty(appends, fc.nat(400), fc.nat(30), async (all, limit, start) => {
            const where = await newPartition();
            for (const some of all) {
              await appendTo(
                log,
                where,
                some.map(({ key, value }) => ({ key, value: value === null ? null : Buffer.from(value) })),
              );
            }
            const expected = all.flat().map(({ key, value }) => ({ key, value: asStored(value) }));
            const read = await readAll(log, where, undefined, limit + 1);
            expect(read.map(({ key, value }) => ({ key, value }))).to.deep.equal(expected);
            const from = Math.min(start, read.length - 1);
            expect(await readAll(log, where, read[from]?.offset, limit + 1)).to.deep.equal(read.slice(from));
          }),
          { numRuns: 20 },
        );
      });
    });

    describe('large records', () => {
      const mixed: readonly LogRecord[] = [
        keyed('small', '{"n":1}'),
        { key: 'schedule', value: schedule(130_000) },
        { key: 'noise', value: incompressible(100_000) },
        keyed('tombstone', null),
        { key: null, value: schedule(16 * 1024) },
        keyed('', ''),
        { key: 'ключ €', value: schedule(2_000_000) },
        keyed('last', 'größer, 大'),
      ];

      it('come back byte for byte among small ones, in order, with their keys, also after a restart', async () => {
        const other = await open();
        try {
          const configuration = topicConfiguration(4);
          const { name: topic } = configuration;
          await other.log.createTopic(configuration);
          const small = Array.from({ length: 50 }, (_, index) => keyed(`key-${index}`, `{"n":${index}}`));
          const contents = [mixed, small, [{ key: 'one', value: schedule(130_000) }], mixed.slice(2, 3)];
          const writer = await other.log.openWriter('writer');
          await writer.append(contents.map((some, partition) => ({ topic, partition, records: some })));
          await writer.commit();
          for (const [partition, some] of contents.entries()) {
            const end = (await readCount(other.log, { topic, partition }, some.length)).at(-1)?.offset ?? 0;
            expect(await appendTo(other.log, { topic, partition }, some)).to.be.above(end);
          }
          const expected = contents.map((some) => [...some, ...some].map(digested));
          const expectAll = async (opened: EventLog): Promise<void> => {
            for (const limit of [1, bytesMaximum, 16 * 1024 * 1024]) {
              for (const [partition, some] of expected.entries()) {
                expect(await readDigests(opened, { topic, partition }, limit)).to.deep.equal(some);
              }
            }
          };
          await expectAll(other.log);
          await expectAll(await other.reopen());
        } finally {
          await other.cleanup();
        }
      });

      it('are read from any offset, also in the middle of a batch', async () => {
        const where = await newPartition();
        await appendTo(log, where, mixed);
        const all = await readAll(log, where);
        for (const [index, { offset }] of all.entries()) {
          const { batches } = await log.read({ ...where, offset }, atOnce);
          expect(batches[0]?.offsets[0]).to.equal(offset);
          expect(batches[0]?.key(0)).to.equal(mixed[index]?.key);
        }
      });

      it('exceed the byte limit of a read by less than one batch, however small they are stored', async () => {
        const where = await newPartition();
        const size = 100_000;
        for (let batch = 0; batch < 20; batch += 1) await appendTo(log, where, [{ key: null, value: schedule(size) }]);
        const latest = await latestOf(where);
        let count = 0;
        for (let offset = 0; offset < latest;) {
          const { batches, nextOffset } = await log.read(
            { ...where, offset },
            { bytesMaximum: 350_000, waitMilliseconds: 0 },
          );
          expect(batches.length).to.be.within(1, 4);
          count += batches.length;
          offset = nextOffset;
        }
        expect(count).to.equal(20);
      });
    });

    describe('a writer', () => {
      it('makes its records visible with the commit, in several topics', async () => {
        const [first, second] = [await newPartition(), await newPartition()];
        const writer = await log.openWriter(`writer-${randomUUID()}`);
        await writer.append([
          { ...first, records: records('f1', 'f2') },
          { ...second, records: records('s1') },
        ]);
        await writer.append([{ ...first, records: records('f3') }]);
        expect(await valuesIn(first)).to.deep.equal([]);
        expect(await valuesIn(second)).to.deep.equal([]);
        await writer.commit();
        expect((await readCount(log, first, 3)).map(({ value }) => value)).to.deep.equal(['f1', 'f2', 'f3']);
        expect((await readCount(log, second, 1)).map(({ value }) => value)).to.deep.equal(['s1']);
        await writer.close();
      });

      it('shows its commit to reads up to ends that include it', async () => {
        const places = [await newPartition(), await newPartition()];
        const writer = await log.openWriter(`writer-${randomUUID()}`);
        for (let round = 1; round <= 20; round += 1) {
          await writer.append(places.map((where) => ({ ...where, records: records(`round ${round}`) })));
          await writer.commit();
          const ends = await log.endOffsets(places, { includeUncommitted: true });
          // The end of the transaction may follow in the log.
          for (const [index, { earliest, latest }] of (
            await log.bounds(places, { includeUncommitted: true })
          ).entries())
            expect([earliest, latest >= (ends[index]?.latest ?? Infinity)]).to.deep.equal([0, true]);
          for (const { topic, partition, latest } of ends) {
            let last: string | null | undefined;
            for (let offset = 0; offset < latest;) {
              const { batches, nextOffset } = await log.read({ topic, partition, offset }, forever);
              last = batches.flatMap(recordsOf).at(-1)?.value ?? last;
              offset = nextOffset;
            }
            expect(last).to.equal(`round ${round}`);
          }
        }
        await writer.close();
      });

      it('leaves no records when it aborts, and the log and the writer continue', async () => {
        const where = await newPartition();
        const writer = await log.openWriter(`writer-${randomUUID()}`);
        await writer.append([{ ...where, records: records('aborted') }]);
        await writer.abort();
        await writer.append([{ ...where, records: records('committed') }]);
        await writer.commit();
        await appendTo(log, where, records('plain'));
        expect((await readCount(log, where, 2)).map(({ value }) => value)).to.deep.equal(['committed', 'plain']);
        expect(await valuesIn(where)).to.deep.equal(['committed', 'plain']);
        await writer.close();
      });

      it('wakes waiting reads when it commits', async () => {
        const where = await newPartition();
        const pending = readCount(log, where, 1);
        const writer = await log.openWriter(`writer-${randomUUID()}`);
        await writer.append([{ ...where, records: records('woken') }]);
        await writer.commit();
        expect((await pending).map(({ value }) => value)).to.deep.equal(['woken']);
        await writer.close();
      });

      it('says where its commit ends in each partition', async () => {
        const [first, second, untouched] = [await newPartition(), await newPartition(), await newPartition()];
        const writer = await log.openWriter(`writer-${randomUUID()}`);
        const endIn = async (where: TopicPartition, count: number): Promise<Offset> =>
          ((await readCount(log, where, count)).at(-1)?.offset ?? 0) + 1;
        await writer.append([
          { ...first, records: records('f1', 'f2') },
          { ...second, records: records('s1') },
        ]);
        await writer.append([
          { ...first, records: records('f3') },
          { ...untouched, records: [] },
        ]);
        expect(await writer.commit()).to.have.deep.members([
          { ...first, nextOffset: await endIn(first, 3) },
          { ...second, nextOffset: await endIn(second, 1) },
        ]);
        await writer.append([{ ...second, records: records('aborted') }]);
        await writer.abort();
        await writer.append([{ ...second, records: [...records('s2', 's3'), keyed('key', null)] }]);
        expect(await writer.commit()).to.deep.equal([{ ...second, nextOffset: await endIn(second, 4) }]);
        await writer.close();
      });

      it('commits and aborts an empty transaction without error', async () => {
        const writer = await log.openWriter(`writer-${randomUUID()}`);
        expect(await writer.commit()).to.deep.equal([]);
        await writer.abort();
        await writer.close();
      });

      const steps: [string, (writer: FencedWriter, where: TopicPartition) => Promise<unknown>][] = [
        ['append', (writer, where) => writer.append([{ ...where, records: records('too late') }])],
        ['commit', (writer) => writer.commit()],
        ['abort', (writer) => writer.abort()],
      ];
      for (const [step, run] of steps) {
        it(`that was fenced off fails at ${step}, and what it had appended is aborted`, async () => {
          const where = await newPartition();
          const writerId = `writer-${randomUUID()}`;
          const earlier = await log.openWriter(writerId);
          await earlier.append([{ ...where, records: records('committed') }]);
          await earlier.commit();
          await earlier.append([{ ...where, records: records('never seen') }]);
          const later = await log.openWriter(writerId);
          expect(await codeOf(run(earlier, where))).to.equal('WRITER_FENCED');
          expect(await codeOf(earlier.commit())).to.equal('WRITER_FENCED');
          await later.append([{ ...where, records: records('by the later') }]);
          await later.commit();
          expect((await readCount(log, where, 2)).map(({ value }) => value)).to.deep.equal([
            'committed',
            'by the later',
          ]);
          expect(await valuesIn(where)).to.deep.equal(['committed', 'by the later']);
          await later.close();
        });
      }

      it('opens only when earlier commits in the named partitions are visible', async () => {
        const places = [await newPartition(), await newPartition()];
        const writerId = `writer-${randomUUID()}`;
        for (let round = 1; round <= 10; round += 1) {
          const writer = await log.openWriter(writerId, places);
          for (const where of places) expect(await valuesIn(where)).to.have.length(round - 1);
          await writer.append(places.map((where) => ({ ...where, records: records(`round ${round}`) })));
          await writer.commit();
        }
      });

      it('is not fenced off by a writer of another id', async () => {
        const where = await newPartition();
        const writer = await log.openWriter(`writer-${randomUUID()}`);
        await writer.append([{ ...where, records: records('mine') }]);
        const other = await log.openWriter(`writer-${randomUUID()}`);
        await writer.commit();
        expect((await readCount(log, where, 1)).map(({ value }) => value)).to.deep.equal(['mine']);
        await Promise.all([writer.close(), other.close()]);
      });

      it('fences off all others of its id when many are opened at the same time', async () => {
        const where = await newPartition();
        const writerId = `writer-${randomUUID()}`;
        const writers = await Promise.all([0, 1, 2, 3].map(() => log.openWriter(writerId).catch(() => undefined)));
        const last = await log.openWriter(writerId);
        for (const writer of writers) {
          if (writer === undefined) continue;
          expect(await codeOf(writer.append([{ ...where, records: records('no') }]))).to.equal('WRITER_FENCED');
        }
        await last.append([{ ...where, records: records('yes') }]);
        await last.commit();
        expect((await readCount(log, where, 1)).map(({ value }) => value)).to.deep.equal(['yes']);
        await last.close();
      });

      it('cannot be used after an error', async () => {
        const where = await newPartition();
        const writer = await log.openWriter(`writer-${randomUUID()}`);
        await writer.append([{ ...where, records: records('not committed') }]);
        const tooLarge = { key: null, value: Buffer.alloc(recordBytesMaximum + 1) };
        expect(await codeOf(writer.append([{ ...where, records: [tooLarge] }]))).to.equal('RECORD_TOO_LARGE');
        expect(await codeOf(writer.commit())).to.not.equal(null);
        await writer.close();
        const unknown = { topic: `unknown-${randomUUID()}`, partition: 0 };
        const next = await log.openWriter(writer.writerId);
        expect(await codeOf(next.append([{ ...unknown, records: records('x') }]))).to.equal(
          'UNKNOWN_TOPIC_OR_PARTITION',
        );
        await next.close();
        expect(await valuesIn(where)).to.deep.equal([]);
      });

      it('keeps what it committed, and nothing else, after a restart', async () => {
        const other = await open();
        try {
          const configuration = topicConfiguration(1);
          const where = { topic: configuration.name, partition: 0 };
          await other.log.createTopic(configuration);
          const writer = await other.log.openWriter('writer');
          await writer.append([{ ...where, records: records('committed') }]);
          await writer.commit();
          await writer.append([{ ...where, records: records('open') }]);
          const reopened = await other.reopen();
          const next = await reopened.openWriter('writer');
          await next.append([{ ...where, records: records('next') }]);
          await next.commit();
          const read = await readCount(reopened, where, 2);
          expect(read.map(({ value }) => value)).to.deep.equal(['committed', 'next']);
        } finally {
          await other.cleanup();
        }
      });
    });

    describe('retention', () => {
      it('removes old records, and reads below the earliest one fail with its offset', async () => {
        const where = await newPartition();
        const beside = await newPartition();
        await appendTo(log, where, records('old', 'older'));
        await appendTo(log, beside, records('elsewhere'));
        const end = await latestOf(where);
        await subject.expire(where.topic);
        expect(await log.bounds([where])).to.deep.equal([{ ...where, earliest: end, latest: end }]);
        await appendTo(log, where, records('new'));
        const error: unknown = await log.read({ ...where, offset: 0 }, forever).catch((thrown: unknown) => thrown);
        expect(isLendstreamError(error, 'OFFSET_OUT_OF_RANGE')).to.equal(true);
        expect(isLendstreamError(error) && error.details).to.include({ earliest: end, latest: await latestOf(where) });
        expect(await valuesIn(where)).to.deep.equal(['new']);
        expect(await valuesIn(beside)).to.deep.equal(['elsewhere']);
      });
    });

    describe('deleting records', () => {
      const later = (): number => Date.now() + 3_600_000;

      it('removes those below an offset that are old enough, and no others', async () => {
        const where = await newPartition();
        await appendTo(log, where, records('a', 'b'));
        const middle = await latestOf(where);
        await appendTo(log, where, records('c'));
        const end = await latestOf(where);
        for (const time of [0, -1, -2, -Infinity]) await log.deleteRecords({ ...where, offset: end }, time);
        expect(await valuesIn(where)).to.deep.equal(['a', 'b', 'c']);
        await log.deleteRecords({ ...where, offset: middle }, later());
        expect(await log.bounds([where])).to.deep.equal([{ ...where, earliest: middle, latest: end }]);
        expect(await valuesIn(where)).to.deep.equal(['c']);
        // Again, and below the earliest offset: nothing to do.
        await log.deleteRecords({ ...where, offset: middle }, later());
        await log.deleteRecords({ ...where, offset: 0 }, later());
        expect(await valuesIn(where)).to.deep.equal(['c']);
        await log.deleteRecords({ ...where, offset: end }, later());
        expect(await log.bounds([where])).to.deep.equal([{ ...where, earliest: end, latest: end }]);
        await appendTo(log, where, records('d'));
        expect(await valuesIn(where)).to.deep.equal(['d']);
      });

      it('keeps records that are too young', async () => {
        const where = await newPartition();
        await appendTo(log, where, records('old'));
        const appended = Date.now();
        while (Date.now() < appended + 50) await new Promise((resolve) => setTimeout(resolve, 5));
        const time = Date.now() - 20;
        await appendTo(log, where, records('young'));
        await log.deleteRecords({ ...where, offset: await latestOf(where) }, time);
        expect(await valuesIn(where)).to.deep.equal(['young']);
      });

      it('still applies after a restart, and is refused for unknown partitions and offsets', async () => {
        const other = await open();
        try {
          const configuration = { ...topicConfiguration(1), retentionMilliseconds: Infinity };
          await other.log.createTopic(configuration);
          const where = { topic: configuration.name, partition: 0 };
          await appendTo(other.log, where, records('a'));
          const [bounds] = await other.log.bounds([where]);
          const end = bounds?.latest ?? -1;
          await other.log.deleteRecords({ ...where, offset: end }, later());
          const reopened = await other.reopen();
          expect(await reopened.bounds([where])).to.deep.equal([{ ...where, earliest: end, latest: end }]);
          const [listed] = (await reopened.listTopics()).filter(({ name }) => name === configuration.name);
          expect(listed).to.deep.equal(configuration);
          expect(await codeOf(reopened.deleteRecords({ topic: 'unknown', partition: 0, offset: 0 }, 0))).to.equal(
            'UNKNOWN_TOPIC_OR_PARTITION',
          );
        } finally {
          await other.cleanup();
        }
      });
    });

    describe('group offsets', () => {
      it('are the latest export of each partition', async () => {
        const topic = await newTopic(2);
        const group = `group-${randomUUID()}`;
        expect(await log.groupOffsets(group)).to.deep.equal([]);
        await log.exportGroupOffsets(group, [
          { topic, partition: 0, offset: 1 },
          { topic, partition: 1, offset: 5 },
        ]);
        await log.exportGroupOffsets(group, [{ topic, partition: 0, offset: 3 }]);
        await log.exportGroupOffsets(`other-${group}`, [{ topic, partition: 0, offset: 9 }]);
        expect(await log.groupOffsets(group)).to.have.deep.members([
          { topic, partition: 0, offset: 3 },
          { topic, partition: 1, offset: 5 },
        ]);
      });

      it('are kept after a restart', async () => {
        const other = await open();
        try {
          const configuration = topicConfiguration(1);
          await other.log.createTopic(configuration);
          const positions = [{ topic: configuration.name, partition: 0, offset: 7 }];
          const group = `group-${randomUUID()}`;
          await other.log.exportGroupOffsets(group, positions);
          const reopened = await other.reopen();
          expect(await reopened.groupOffsets(group)).to.deep.equal(positions);
        } finally {
          await other.cleanup();
        }
      });
    });

    describe('closing', () => {
      it('completes appends in progress, fails pending reads, and rejects all later calls', async () => {
        const other = await open();
        try {
          const configuration = topicConfiguration(2);
          const where = { topic: configuration.name, partition: 0 };
          await other.log.createTopic(configuration);
          const pending = codeOf(other.log.read({ ...where, offset: 0 }, forever));
          const writer = await other.log.openWriter('writer');
          // In a separate partition, because readers of one wait for the transaction that is open in it.
          await writer.append([{ ...where, partition: 1, records: records('open') }]);
          const last = await appendTo(other.log, where, records('first')).then(() => latestIn(other.log, where));
          expect(await pending).to.equal(null);
          const waiting = codeOf(other.log.read({ ...where, offset: last }, forever));
          const underWay = appendTo(other.log, where, records('under way'));
          const closing = [other.log.close(), other.log.close()];
          const later = (): Promise<unknown>[] => [
            other.log.createTopic(topicConfiguration(1)),
            other.log.alterTopic(where.topic, {}),
            other.log.deleteTopic(where.topic),
            other.log.listTopics(),
            other.log.bounds([where]),
            other.log.append([{ ...where, records: records('late') }]),
            other.log.read({ ...where, offset: 0 }, atOnce),
            other.log.openWriter('another'),
            other.log.exportGroupOffsets('group', []),
            other.log.groupOffsets('group'),
          ];
          const whileClosing = later().map(codeOf);
          expect(await waiting).to.be.oneOf(['LOG_CLOSED', null]);
          expect(await underWay).to.be.at.least(last);
          await Promise.all(closing);
          const afterwards = [...later(), writer.append([{ ...where, records: records('late') }]), writer.commit()];
          for (const code of [...whileClosing, ...afterwards.map(codeOf)]) expect(await code).to.equal('LOG_CLOSED');
          const reopened = await other.reopen();
          expect((await readAll(reopened, where)).map(({ value }) => value)).to.deep.equal(['first', 'under way']);
        } finally {
          await other.cleanup();
        }
      });

      it('fails reads that wait for a next record', async () => {
        const other = await open();
        const configuration = topicConfiguration(1);
        await other.log.createTopic(configuration);
        const from = { topic: configuration.name, partition: 0, offset: 0 };
        const pending = [1, 2, 3].map(() => codeOf(other.log.read(from, forever)));
        await other.log.close();
        expect(await Promise.all(pending)).to.deep.equal(['LOG_CLOSED', 'LOG_CLOSED', 'LOG_CLOSED']);
        await other.cleanup();
      });
    });
  });
}

async function latestIn(log: EventLog, where: TopicPartition): Promise<Offset> {
  const [bounds] = await log.bounds([where]);
  return bounds?.latest ?? -1;
}

function outcomeOf(result: AppendResult): string {
  return result.outcome === 'failed' ? result.error.code : result.outcome;
}

function baseOffsetOf(result: AppendResult | undefined): Offset | undefined {
  return result?.outcome === 'appended' ? result.baseOffset : undefined;
}

/** The UTF-8 form of a text. */
function asStored(text: string | null): string | null {
  return text === null ? null : Buffer.from(text).toString();
}
