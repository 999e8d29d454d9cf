import { expect } from 'chai';
import { after, before, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import { transactionMilliseconds } from '../../../../src/kafka/produce/transactions/transaction-coordinator.ts';
import type { FencedWriter, LogRecord, PartitionRecords, TopicPartition } from '../../../../src/ports/event-log.ts';
import { recordBytesMaximum } from '../../../../src/ports/event-log.ts';
import { describeOnCluster } from '../../../support/cluster.ts';
import type { ApiName } from '../../../support/kafka/frames.ts';
import { refuseWith, reportError, type Fault } from '../../../support/kafka/proxy.ts';
import { appendTo, codeOf, readCount, records } from '../../../support/log-reading.ts';
import { createSmallTopic, openLogBehindProxy, sized, type LogBehindProxy } from '../../log-behind-proxy.ts';
import { incompressible } from '../../../support/values/incompressible.ts';

const loseResponse: Fault = { kind: 'lose response', disconnect: true };
const loseRequest: Fault = { kind: 'lose request', disconnect: true };

describeOnCluster('Transactions on Kafka', (cluster) => {
  let subject: LogBehindProxy;

  before(async () => {
    subject = await openLogBehindProxy(cluster().kafkaBrokers);
  });
  after(() => subject.close());

  function openWriter(writerId: string = randomUUID()): Promise<FencedWriter> {
    return subject.log.openWriter(`writer/${writerId}`);
  }

  /** Visible values, as many as required: the markers of a transaction are written after the response to its commit. */
  async function visible(where: TopicPartition, count: number): Promise<(string | null)[]> {
    return (await readCount(subject.witness, where, count)).map(({ value }) => value);
  }

  /** All values before the next record of any writer, once no transaction is open. */
  async function allVisible(where: TopicPartition): Promise<(string | null)[]> {
    await appendTo(subject.witness, where, records('end'));
    const found = [];
    for (let offset = 0; found.at(-1) !== 'end';) {
      const { batches, nextOffset } = await subject.witness.read(
        { ...where, offset },
        { bytesMaximum: 1_000_000, waitMilliseconds: 1_000 },
      );
      for (const { bytes, count, valueStarts, valueEnds } of batches) {
        for (let index = 0; index < count; index += 1) {
          found.push(bytes.toString('utf8', valueStarts[index], valueEnds[index]));
        }
      }
      offset = nextOffset;
    }
    return found.slice(0, -1);
  }

  function to(where: TopicPartition, ...texts: readonly string[]): PartitionRecords[] {
    return [{ ...where, records: records(...texts) }];
  }

  it('do not wait for the check whether the last one was finished, however slow the broker is', async function () {
    this.timeout(30_000);
    const where = await subject.newPartition();
    const writer = await openWriter();
    await writer.append(to(where, 'a'));
    await writer.commit();
    const slow = subject.proxy.inject({
      api: 'DescribeProducers',
      times: Infinity,
      fault: { kind: 'lose response', disconnect: false },
    });
    try {
      await slow.hit;
      const startedAt = performance.now();
      await writer.append(to(where, 'b'));
      await writer.commit();
      expect(performance.now() - startedAt).to.be.below(5_000);
      expect(await visible(where, 2)).to.deep.equal(['a', 'b']);
    } finally {
      slow.remove();
    }
    await writer.append(to(where, 'c'));
    await writer.close();
    expect(await allVisible(where)).to.deep.equal(['a', 'b']);
  });

  it('are refused without asking their coordinator when a partition does not exist', async () => {
    const where = await subject.newPartition();
    const writer = await openWriter();
    const requests = subject.proxy.requests('AddPartitionsToTxn');
    const missing = { ...where, partition: 1 };
    expect(await codeOf(writer.append(to(missing, 'a')))).to.equal('UNKNOWN_TOPIC_OR_PARTITION');
    expect(subject.proxy.requests('AddPartitionsToTxn')).to.equal(requests);
    await writer.close();
  });

  it('send no requests to the brokers while they are empty', async () => {
    const writer = await openWriter();
    const requests = (['AddPartitionsToTxn', 'Produce', 'EndTxn'] as const).map((api) => subject.proxy.requests(api));
    await writer.append([]);
    await writer.append([{ topic: 'whichever', partition: 0, records: [] }]);
    await writer.commit();
    await writer.abort();
    await writer.close();
    const now = (['AddPartitionsToTxn', 'Produce', 'EndTxn'] as const).map((api) => subject.proxy.requests(api));
    expect(now).to.deep.equal(requests);
  });

  it('need one request of each kind when all of their records are in one append', async () => {
    const topic = await subject.newTopic(3);
    const writer = await openWriter();
    const apis = ['AddPartitionsToTxn', 'Produce', 'EndTxn'] as const;
    const requests = apis.map((api) => subject.proxy.requests(api));
    await writer.append([0, 1, 2].map((partition) => ({ topic, partition, records: records('a', 'b') })));
    await writer.commit();
    expect(apis.map((api, index) => subject.proxy.requests(api) - (requests[index] ?? 0))).to.deep.equal([1, 1, 1]);
    for (const partition of [0, 1, 2]) expect(await visible({ topic, partition }, 2)).to.deep.equal(['a', 'b']);
    await writer.close();
  });

  it('follow one another, and only what was committed is visible', async () => {
    const topic = await subject.newTopic(3);
    const writer = await openWriter();
    const expected = new Map([0, 1, 2].map((partition) => [partition, [] as string[]]));
    for (let round = 0; round < 60; round += 1) {
      const partitions = [round % 3, (round + 1) % 3];
      await writer.append(
        partitions.map((partition) => ({ topic, partition, records: records(`${round}`, 'second') })),
      );
      if (round % 5 === 0) await writer.append(to({ topic, partition: round % 3 }, `${round} more`));
      if (round % 4 === 1) {
        await writer.abort();
        continue;
      }
      await writer.commit();
      for (const partition of partitions) expected.get(partition)?.push(`${round}`, 'second');
      if (round % 5 === 0) expected.get(round % 3)?.push(`${round} more`);
    }
    await writer.close();
    for (const [partition, texts] of expected) expect(await allVisible({ topic, partition })).to.deep.equal(texts);
  });

  it('split records of any size into batches that the topic accepts', async () => {
    const where = await subject.newPartition();
    const writer = await openWriter();
    const many: LogRecord[] = Array.from({ length: 20 }, (_, index) => sized(`${index}`, 1024 * 1024));
    await writer.append([{ ...where, records: many }]);
    await writer.commit();
    const values = (await readCount(subject.witness, where, 20)).map(({ value }) => value?.split('.')[0]);
    expect(values).to.deep.equal(many.map((_, index) => `${index}`));
    await writer.close();
  });

  it('are written in smaller batches to a topic with a lower limit, and fail with a record too large for it', async () => {
    const topic = await createSmallTopic(cluster().kafkaBrokers, 100_000);
    const where = { topic, partition: 0 };
    const writer = await openWriter();
    const many = Array.from({ length: 30 }, (_, index) => sized(`${index}`, 10_000));
    await writer.append([{ ...where, records: many }]);
    await writer.commit();
    const huge = { key: 'huge', value: incompressible(150_000) };
    expect(await codeOf(writer.append([{ ...where, records: [huge] }]))).to.equal('RECORD_TOO_LARGE');
    await writer.close();
    const values = (await allVisible(where)).map((value) => value?.split('.')[0]);
    expect(values).to.deep.equal(many.map((_, index) => `${index}`));
  });

  it('that grow too large are refused before they are sent', async () => {
    const where = await subject.newPartition();
    const writer = await openWriter();
    const value = Buffer.alloc(recordBytesMaximum);
    const produced = subject.proxy.requests('Produce');
    const large = Array.from({ length: 9 }, () => ({ key: null, value }));
    expect(await codeOf(writer.append([{ ...where, records: large }]))).to.equal('OVERLOADED');
    expect(await codeOf(writer.commit())).to.equal('OVERLOADED');
    expect(subject.proxy.requests('Produce')).to.equal(produced);
    await writer.close();
  });

  const transientFaults: readonly (readonly [string, ApiName, Fault, number])[] = [
    ['the markers of the last transaction are still being written', 'AddPartitionsToTxn', refuseWith(51), 3],
    ['the coordinator loads when partitions are added', 'AddPartitionsToTxn', refuseWith(14), 3],
    ['the coordinator is away when partitions are added', 'AddPartitionsToTxn', refuseWith(15), 2],
    ['the coordinator moves when partitions are added', 'AddPartitionsToTxn', refuseWith(16), 2],
    ['the response to adding partitions is lost', 'AddPartitionsToTxn', loseResponse, 2],
    ['the request to add partitions is lost', 'AddPartitionsToTxn', loseRequest, 1],
    ['the response to the records is lost', 'Produce', loseResponse, 3],
    ['the records are lost', 'Produce', loseRequest, 1],
    ['the leader moves', 'Produce', refuseWith(6), 2],
    ['the leader moves after it stored the records', 'Produce', reportError(6), 1],
    ['too few replicas are in sync', 'Produce', refuseWith(19), 3],
    ['too few replicas were in sync after the records were stored', 'Produce', reportError(20), 1],
    ['a transition is in progress at the commit', 'EndTxn', refuseWith(51), 3],
    ['the coordinator loads at the commit', 'EndTxn', refuseWith(14), 2],
    ['the coordinator is away at the commit', 'EndTxn', refuseWith(15), 2],
    ['the coordinator moves at the commit', 'EndTxn', refuseWith(16), 2],
    ['the coordinator committed and could not respond', 'EndTxn', reportError(15), 1],
  ];
  for (const [what, api, fault, times] of transientFaults) {
    it(`are committed once when ${what}`, async () => {
      const topic = await subject.newTopic(2);
      const partitions = [0, 1].map((partition) => ({ topic, partition }));
      const writer = await openWriter();
      const injected = subject.proxy.inject({ api, fault, times });
      for (const text of ['a', 'b']) {
        await writer.append(partitions.map((where) => ({ ...where, records: records(text, text) })));
        await writer.commit();
      }
      await writer.close();
      expect(injected.hits).to.equal(times);
      for (const where of partitions) expect(await allVisible(where)).to.deep.equal(['a', 'a', 'b', 'b']);
    });
  }

  const openings: readonly (readonly [string, ApiName, Fault, number])[] = [
    ['the coordinator loads', 'InitProducerId', refuseWith(14), 3],
    ['the coordinator is away', 'InitProducerId', refuseWith(15), 1],
    ['the coordinator moves', 'InitProducerId', refuseWith(16), 1],
    ['an earlier transaction is still ending', 'InitProducerId', refuseWith(51), 3],
    ['the response is lost', 'InitProducerId', loseResponse, 2],
    ['the coordinator cannot be found yet', 'FindCoordinator', refuseWith(15), 3],
  ];
  for (const [what, api, fault, times] of openings) {
    it(`are begun by a writer that opens although ${what}`, async () => {
      const where = await subject.newPartition();
      const injected = subject.proxy.inject({ api, fault, times });
      const writer = await openWriter();
      expect(injected.hits).to.equal(times);
      await writer.append(to(where, 'a'));
      await writer.commit();
      expect(await visible(where, 1)).to.deep.equal(['a']);
      await writer.close();
    });
  }

  for (const [what, fault, expected] of [
    ['answer', loseResponse, ['before', 'committed or not', 'after']],
    ['request', loseRequest, ['before', 'after']],
  ] as const) {
    it(`whose commit's ${what} is lost have an unknown outcome, which the next writer of the id can see`, async () => {
      const where = await subject.newPartition();
      const name = randomUUID();
      const writer = await openWriter(name);
      await writer.append(to(where, 'before'));
      await writer.commit();
      await writer.append(to(where, 'committed or not'));
      const injected = subject.proxy.inject({ api: 'EndTxn', fault });
      expect(await codeOf(writer.commit())).to.equal('OUTCOME_UNKNOWN');
      expect(injected.hits).to.equal(1);
      expect(await codeOf(writer.append(to(where, 'nor this')))).to.equal('OUTCOME_UNKNOWN');
      await writer.close();
      const next = await openWriter(name);
      await next.append(to(where, 'after'));
      await next.commit();
      await next.close();
      expect(await allVisible(where)).to.deep.equal(expected);
    });
  }

  for (const [what, fault] of [
    ['answer', loseResponse],
    ['request', loseRequest],
  ] as const) {
    it(`whose abort's ${what} is lost leave no records behind`, async () => {
      const where = await subject.newPartition();
      const name = randomUUID();
      const writer = await openWriter(name);
      await writer.append(to(where, 'aborted'));
      subject.proxy.inject({ api: 'EndTxn', fault });
      expect(await codeOf(writer.abort())).to.equal('OUTCOME_UNKNOWN');
      await (await openWriter(name)).close();
      expect(await allVisible(where)).to.deep.equal([]);
    });
  }

  it('are aborted when their writer is closed, so that readers need not wait for later records', async () => {
    const where = await subject.newPartition();
    const writer = await openWriter();
    await writer.append(to(where, 'open'));
    await writer.close();
    expect(await codeOf(writer.commit())).to.equal('LOG_CLOSED');
    expect(await allVisible(where)).to.deep.equal([]);
  });

  it('of several concurrent writers do not affect one another', async () => {
    const topic = await subject.newTopic(1);
    const where = { topic, partition: 0 };
    const committed = await Promise.all(
      [0, 1, 2, 3].map(async (name) => {
        const writer = await openWriter();
        const texts = [];
        for (let round = 0; round < 15; round += 1) {
          await writer.append(to(where, `${name} ${round}`));
          if (round % 3 === 0) await writer.abort();
          else {
            await writer.commit();
            texts.push(`${name} ${round}`);
          }
        }
        await writer.close();
        return texts;
      }),
    );
    const values = await allVisible(where);
    expect(values).to.have.members(committed.flat());
    for (const [name, texts] of committed.entries()) {
      expect(values.filter((value) => value?.startsWith(`${name} `))).to.deep.equal(texts);
    }
  });

  const steps: readonly (readonly [string, (writer: FencedWriter, topic: string) => Promise<unknown>])[] = [
    ['append to a partition of its transaction', (writer, topic) => writer.append(to({ topic, partition: 0 }, 'late'))],
    ['append to another partition', (writer, topic) => writer.append(to({ topic, partition: 1 }, 'late'))],
    ['commit', (writer) => writer.commit()],
    ['abort', (writer) => writer.abort()],
  ];
  for (const [step, run] of steps) {
    it(`are taken over immediately, and the earlier writer is fenced at its next ${step}`, async () => {
      const topic = await subject.newTopic(2);
      const name = randomUUID();
      const earlier = await openWriter(name);
      await earlier.append(to({ topic, partition: 0 }, 'open'));
      const startedAt = performance.now();
      const later = await openWriter(name);
      // Not only when the time of its transaction is over.
      expect(performance.now() - startedAt).to.be.below(transactionMilliseconds / 2);
      expect(await codeOf(run(earlier, topic))).to.equal('WRITER_FENCED');
      expect(await codeOf(earlier.commit())).to.equal('WRITER_FENCED');
      await earlier.close();
      await later.append(to({ topic, partition: 0 }, 'later'));
      await later.commit();
      await later.close();
      expect(await allVisible({ topic, partition: 0 })).to.deep.equal(['later']);
    });
  }

  it('are taken over between two of them as well', async () => {
    const where = await subject.newPartition();
    const name = randomUUID();
    const earlier = await openWriter(name);
    await earlier.append(to(where, 'committed'));
    await earlier.commit();
    const later = await openWriter(name);
    expect(await codeOf(earlier.append(to(where, 'late')))).to.equal('WRITER_FENCED');
    await later.close();
    expect(await allVisible(where)).to.deep.equal(['committed']);
  });
});
