import { expect } from 'chai';
import { CompressionTypes, Kafka, logLevel, Partitioners, type Message, type Producer } from 'kafkajs';
import { after, before, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import { recordBytesMaximum, type LogRecord, type TopicPartition } from '../../../src/ports/event-log.ts';
import type { KafkaLog } from '../../../src/kafka/log.ts';
import { describeOnCluster } from '../../support/cluster.ts';
import { openKafkaLog } from '../../support/kafka/log.ts';
import {
  appendTo,
  codeOf,
  keyed,
  readAll,
  readCount,
  records,
  recordsOf,
  type ReadRecord,
} from '../../support/log-reading.ts';
import { openLogBehindProxy, type LogBehindProxy } from '../log-behind-proxy.ts';
import { incompressible } from '../../support/values/incompressible.ts';

const atOnce = { bytesMaximum: 64 * 1024, waitMilliseconds: 0 };
const forever = { bytesMaximum: 64 * 1024, waitMilliseconds: Infinity };

describeOnCluster('Reads from Kafka', (cluster) => {
  let subject: LogBehindProxy;
  let log: KafkaLog;
  let client: Kafka;
  let producer: Producer;

  before(async () => {
    subject = await openLogBehindProxy(cluster().kafkaBrokers);
    log = subject.log;
    client = new Kafka({
      brokers: [...cluster().kafkaBrokers],
      logLevel: logLevel.NOTHING,
      retry: { initialRetryTime: 5, maxRetryTime: 200, retries: 20 },
    });
    producer = client.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await producer.connect();
  });
  after(() => Promise.all([producer.disconnect(), subject.close()]));

  /** A log without anything in memory. */
  async function withFreshLog<Answer>(use: (fresh: KafkaLog) => Promise<Answer>): Promise<Answer> {
    const fresh = await openKafkaLog(cluster());
    try {
      return await use(fresh);
    } finally {
      await fresh.close();
    }
  }

  async function sendExternal({ topic, partition }: TopicPartition, messages: readonly Message[], compression = 0) {
    await producer.send({ topic, compression, messages: messages.map((message) => ({ ...message, partition })) });
  }

  async function fetchesDuring(action: () => Promise<unknown>): Promise<number> {
    const before = subject.proxy.requests('Fetch');
    await action();
    return subject.proxy.requests('Fetch') - before;
  }

  function sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, milliseconds));
  }

  describe('what others wrote', () => {
    it('returns only the committed records of overlapping writers, from the start and from any offset', async () => {
      const where = await subject.newPartition();
      const visible = await writeOverlappingTransactions(client, where, 40);
      const last = visible.at(-1)?.[0] ?? 0;
      // A commit gets its response before the marker that ends the transaction is written.
      while (((await log.bounds([where]))[0]?.latest ?? 0) <= last) await sleep(5);
      const offsetsAndValues = (read: readonly ReadRecord[]) => read.map(({ offset, value }) => [offset, value]);
      for (const bytesMaximum of [1, 3_000, 1_000_000]) {
        const read = await withFreshLog((fresh) => readAll(fresh, where, 0, bytesMaximum));
        expect(offsetsAndValues(read)).to.deep.equal(visible);
      }
      for (let start = 0; start <= last; start += Math.ceil(last / 30)) {
        const expected = visible.filter(([offset]) => offset >= start);
        expect(offsetsAndValues(await readAll(log, where, start, 2_000))).to.deep.equal(expected);
      }
      for (const start of [1, 7, Math.floor(last / 2), last - 1]) {
        const expected = visible.filter(([offset]) => offset >= start);
        const read = await withFreshLog((fresh) => readAll(fresh, where, start));
        expect(offsetsAndValues(read)).to.deep.equal(expected);
      }
    });

    it('continues where there is only an aborted transaction', async () => {
      const where = await subject.newPartition();
      const writer = await subject.witness.openWriter(`aborting-${randomUUID()}`);
      const waiting = log.read({ ...where, offset: 0 }, forever);
      await writer.append([{ ...where, records: records('a', 'b', 'c') }]);
      await writer.abort();
      expect(await waiting).to.deep.equal({ batches: [], nextOffset: 4 });
      expect(await log.read({ ...where, offset: 2 }, atOnce)).to.deep.equal({ batches: [], nextOffset: 4 });
      expect(await log.read({ ...where, offset: 4 }, atOnce)).to.deep.equal({ batches: [], nextOffset: 4 });
      await writer.close();
    });

    it('returns nothing of an open transaction, nor records after it, until it ends', async () => {
      const where = await subject.newPartition();
      const writer = await subject.witness.openWriter(`open-${randomUUID()}`);
      await appendTo(subject.witness, where, records('before'));
      await writer.append([{ ...where, records: records('inside') }]);
      await appendTo(subject.witness, where, records('behind'));
      const first = await log.read({ ...where, offset: 0 }, atOnce);
      expect(first.batches.flatMap(recordsOf).map(({ value }) => value)).to.deep.equal(['before']);
      expect(await log.read({ ...where, offset: first.nextOffset }, atOnce)).to.deep.equal({
        batches: [],
        nextOffset: 1,
      });
      const waiting = readCount(log, where, 2, 1);
      await writer.commit();
      expect((await waiting).map(({ value }) => value)).to.deep.equal(['inside', 'behind']);
      await writer.close();
    });

    it('reads compressed batches, headers, keys and tombstones', async () => {
      const where = await subject.newPartition();
      const messages = Array.from({ length: 100 }, (_, index) => ({
        key: index % 3 === 0 ? null : `key ${index}`,
        value: index % 7 === 0 ? null : `value ${index} ${'v'.repeat(index)}`,
        headers: { trace: `${index}`, other: ['a', 'b'] },
      }));
      await sendExternal(where, messages.slice(0, 60), CompressionTypes.GZIP);
      await sendExternal(where, messages.slice(60));
      const expected = messages.map(({ key, value }, offset) => ({ offset, key, value }));
      expect(await readAll(log, where)).to.deep.equal(expected);
      for (const start of [1, 33, 59, 60, 99]) {
        expect(await withFreshLog((fresh) => readAll(fresh, where, start))).to.deep.equal(expected.slice(start));
      }
    });

    it('reads a batch of 130,000 records', async () => {
      const where = await subject.newPartition();
      const value = Buffer.from('1');
      const many: LogRecord[] = Array.from({ length: 130_000 }, () => ({ key: null, value }));
      await appendTo(subject.witness, where, many);
      const { batches, nextOffset } = await log.read({ ...where, offset: 0 }, atOnce);
      expect(batches.map(({ count }) => count)).to.deep.equal([130_000]);
      expect(nextOffset).to.equal(130_000);
      const tail = await log.read({ ...where, offset: 129_998 }, atOnce);
      expect(tail.batches.flatMap(recordsOf).map(({ offset }) => offset)).to.deep.equal([129_998, 129_999]);
    });
  });

  describe('more than fits in one response', () => {
    it('is read in turn: many partitions with large batches, all requested together with a small limit', async () => {
      const partitionCount = 16;
      const topic = await subject.newTopic(partitionCount);
      const partitions = Array.from({ length: partitionCount }, (_, partition) => ({ topic, partition }));
      const value = Buffer.from(incompressible(450 * 1024).toString('base64'));
      for (const where of partitions) await appendTo(subject.witness, where, [keyed('large', value.toString())]);
      const results = await Promise.all(
        partitions.map((where) => log.read({ ...where, offset: 0 }, { bytesMaximum: 1, waitMilliseconds: 0 })),
      );
      expect(results.map(({ batches }) => batches.flatMap(recordsOf)[0]?.value?.length)).to.deep.equal(
        partitions.map(() => value.length),
      );
    });

    it('is read beside small records: a record of the maximum size, also by waiting reads', async () => {
      const topic = await subject.newTopic(3);
      const pending = [0, 1, 2].map((partition) => readCount(log, { topic, partition }, 1));
      const value = Buffer.from(incompressible((3 / 4) * recordBytesMaximum).toString('base64'));
      await Promise.all([
        appendTo(subject.witness, { topic, partition: 0 }, records('small')),
        appendTo(subject.witness, { topic, partition: 1 }, [{ key: null, value }]),
        appendTo(subject.witness, { topic, partition: 2 }, records('small')),
      ]);
      const lengths = (await Promise.all(pending)).map(([record]) => record?.value?.length);
      expect(lengths).to.deep.equal([5, recordBytesMaximum, 5]);
    });
  });

  describe('concurrent reads', () => {
    it('return what was appended before they began, whatever is in progress for the same position', async () => {
      const where = await subject.newPartition();
      let offset = 0;
      for (let round = 0; round < 40; round += 1) {
        const earlier = [0, 1, 2].map(() => log.read({ ...where, offset }, atOnce));
        const appending = appendTo(subject.witness, where, records(`${round}`));
        while ((await Promise.race([appending, sleep(0)])) === undefined) {
          earlier.push(log.read({ ...where, offset }, atOnce));
        }
        const { batches } = await log.read({ ...where, offset }, atOnce);
        expect(batches.flatMap(recordsOf).map(({ value }) => value)).to.deep.equal([`${round}`]);
        await Promise.all(earlier);
        offset += 1;
      }
    });

    it('fail alone when they are out of range or their topic is deleted', async () => {
      const [deleted, kept, short] = [
        await subject.newPartition(),
        await subject.newPartition(),
        await subject.newPartition(),
      ];
      const gone = [0, 0, 0].map((offset) => codeOf(log.read({ ...deleted, offset }, forever)));
      const undisturbed = readCount(log, kept, 2);
      await appendTo(subject.witness, kept, records('one'));
      const beyond: unknown = await log.read({ ...short, offset: 5 }, forever).catch((thrown: unknown) => thrown);
      expect(beyond).to.deep.include({ code: 'OFFSET_OUT_OF_RANGE' });
      expect(beyond).to.have.deep.property('details', { ...short, earliest: 0, latest: 0 });
      expect(beyond).to.have.property('message').that.includes('holds offsets from 0, and the next is 0; 5 is outside');
      await subject.witness.deleteTopic(deleted.topic);
      expect(await Promise.all(gone)).to.deep.equal(gone.map(() => 'UNKNOWN_TOPIC_OR_PARTITION'));
      await appendTo(subject.witness, kept, records('two'));
      expect((await undisturbed).map(({ value }) => value)).to.deep.equal(['one', 'two']);
    });

    it('fail alone when their offset is impossible in Kafka', async () => {
      const where = await subject.newPartition();
      const waiting = readCount(log, where, 1);
      for (const offset of [2 ** 60, 2 ** 70, Number.NaN, Infinity, -1, -(2 ** 70)]) {
        expect(await codeOf(log.read({ ...where, offset }, forever))).to.equal('OFFSET_OUT_OF_RANGE');
      }
      await appendTo(subject.witness, where, records('still read'));
      expect((await waiting).map(({ value }) => value)).to.deep.equal(['still read']);
    });

    it('read a topic that another client deleted and created again from its new start', async () => {
      const where = await subject.newPartition();
      await appendTo(subject.witness, where, records('old 1', 'old 2', 'old 3'));
      const end = (await log.read({ ...where, offset: 0 }, atOnce)).nextOffset;
      const waiting = codeOf(log.read({ ...where, offset: end }, forever));
      await subject.witness.deleteTopic(where.topic);
      expect(await waiting).to.equal('UNKNOWN_TOPIC_OR_PARTITION');
      await subject.witness.createTopic({
        name: where.topic,
        partitionCount: 1,
        cleanupPolicy: 'delete',
        retentionMilliseconds: 3_600_000,
      });
      await appendTo(subject.witness, where, records('new'));
      expect((await readCount(log, where, 1)).map(({ value }) => value)).to.deep.equal(['new']);
      expect(await codeOf(log.read({ ...where, offset: end }, forever))).to.equal('OFFSET_OUT_OF_RANGE');
    });

    it('find a partition that was just added', async () => {
      const topic = await subject.newTopic(1);
      await readAll(log, { topic, partition: 0 });
      await subject.witness.alterTopic(topic, { partitionCount: 2 });
      const waiting = readCount(log, { topic, partition: 1 }, 1);
      await appendTo(subject.witness, { topic, partition: 1 }, records('added'));
      expect((await waiting).map(({ value }) => value)).to.deep.equal(['added']);
    });
  });

  describe('the cost', () => {
    it('of many reads of one backlog is that of one', async () => {
      const where = await subject.newPartition();
      const line = 'x'.repeat(1_000);
      for (let batch = 0; batch < 40; batch += 1) {
        await appendTo(subject.witness, where, Array.from({ length: 50 }, () => records(line)).flat());
      }
      let read: ReadRecord[][] = [];
      const fetches = await fetchesDuring(async () => {
        read = await Promise.all(
          Array.from({ length: 20 }, async (_, reader) => {
            await sleep(reader);
            return readAll(log, where, 0, 256 * 1024);
          }),
        );
      });
      expect(read.map(({ length }) => length)).to.deep.equal(read.map(() => 2_000));
      expect(fetches).to.be.within(2, 24);
    });
  });

  it('return new records within milliseconds to a new waiting read while everything else is idle', async () => {
    const topic = await subject.newTopic(12);
    const stop = new AbortController();
    const quiet = Array.from({ length: 11 }, (_, partition) =>
      log.read({ topic, partition, offset: 0 }, { ...forever, signal: stop.signal }),
    );
    await sleep(700);
    const where = { topic, partition: 11 };
    const delays: number[] = [];
    for (let offset = 0; offset < 30; offset += 1) {
      // Sometimes the reader is late, when a poll without it is in progress.
      if (offset % 3 === 0) await sleep(8);
      const received = log.read({ ...where, offset }, forever).then(() => performance.now());
      if (offset % 2 === 0) await sleep(4);
      await appendTo(subject.witness, where, records(`${offset}`));
      const acknowledgedAt = performance.now();
      delays.push((await received) - acknowledgedAt);
    }
    stop.abort();
    await Promise.all(quiet);
    expect(delays.toSorted((a, b) => a - b)[15]).to.be.below(40);
  });
});

/**
 * Writers with overlapping transactions, a third of them aborted, and one without transactions among them. Some keys
 * look like the marker of an aborted transaction.
 * @returns offsets and values of the committed records
 */
async function writeOverlappingTransactions(
  client: Kafka,
  { topic, partition }: TopicPartition,
  count: number,
): Promise<[number, string][]> {
  const createPartitioner = Partitioners.DefaultPartitioner;
  const plain = client.producer({ createPartitioner });
  const writers = [0, 1, 2].map(() =>
    client.producer({ createPartitioner, transactionalId: randomUUID(), maxInFlightRequests: 1, idempotent: true }),
  );
  for (const writer of [plain, ...writers]) await writer.connect();
  const visible: [number, string][] = [];
  const zeros = Buffer.alloc(4);
  await Promise.all(
    writers.map(async (writer, index) => {
      for (let round = 0; round < count / writers.length; round += 1) {
        const transaction = await writer.transaction();
        const written: [number, string][] = [];
        for (let part = 0; part < 1 + ((round + index) % 3); part += 1) {
          const value = `${index}.${round}.${part}`;
          const messages = [0, 1].map((item) => ({ partition, key: zeros, value: `${value}.${item}` }));
          const [sent] = await transaction.send({ topic, messages });
          const base = Number(sent?.baseOffset);
          written.push([base, `${value}.0`], [base + 1, `${value}.1`]);
          if (round % 4 === index) {
            const [plainly] = await plain.send({
              topic,
              messages: [{ partition, key: zeros, value: `plain ${value}` }],
            });
            visible.push([Number(plainly?.baseOffset), `plain ${value}`]);
          }
        }
        if ((round + index) % 3 === 0) await transaction.abort();
        else {
          await transaction.commit();
          visible.push(...written);
        }
      }
    }),
  );
  for (const writer of [plain, ...writers]) await writer.disconnect();
  return visible.toSorted(([one], [other]) => one - other);
}
