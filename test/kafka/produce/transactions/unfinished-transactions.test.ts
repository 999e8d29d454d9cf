import { expect } from 'chai';
import kafkajs, { Kafka, logLevel } from 'kafkajs';
import { after, before, beforeEach, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FencedWriter, TopicPartition } from '../../../../src/ports/event-log.ts';
import { WireReader, WireWriter } from '../../../../src/kafka/protocol/wire.ts';
import { describeOnCluster } from '../../../support/cluster.ts';
import type { KafkaRequest } from '../../../support/kafka/frames.ts';
import type { Fault } from '../../../support/kafka/proxy.ts';
import { codeOf, readCount, records } from '../../../support/log-reading.ts';
import { openLogBehindProxy, type LogBehindProxy } from '../../log-behind-proxy.ts';

const verification = 'transaction.partition.verification.enable';

/** The coordinator never receives the partitions, and the writer is told that they were added. */
const pretendToAdd: Fault = { kind: 'answer', body: partitionsAdded };

/**
 * A coordinator that restarts between its decision and the markers may leave partitions out. So a partition remains
 * that the coordinator does not know. The brokers would refuse records for such a partition, so for this suite they are
 * configured not to ask.
 */
describeOnCluster('Transactions that Kafka has decided but not finished', (cluster) => {
  let subject: LogBehindProxy;
  let finished: TopicPartition;
  let unfinished: TopicPartition;
  let name: string;

  before(async () => {
    await setOnBrokers(cluster().kafkaBrokers, [{ name: verification, value: 'false' }]);
    subject = await openLogBehindProxy(cluster().kafkaBrokers);
  });
  after(async () => {
    await subject.close();
    await setOnBrokers(cluster().kafkaBrokers, []);
  });
  beforeEach(async () => {
    [finished, unfinished] = [await subject.newPartition(), await subject.newPartition()];
    name = randomUUID();
  });

  function open(): Promise<FencedWriter> {
    return subject.log.openWriter(name, [finished, unfinished]);
  }

  /** A writer whose transaction is about to be ended in one partition and left out in the other. */
  async function aboutToEnd(): Promise<FencedWriter> {
    const writer = await open();
    await writer.append([{ ...finished, records: records('first') }]);
    const injected = subject.proxy.inject({ api: 'AddPartitionsToTxn', fault: pretendToAdd });
    await writer.append([{ ...unfinished, records: records('first') }]);
    expect(injected.hits).to.equal(1);
    return writer;
  }

  async function second(writer: FencedWriter): Promise<void> {
    await writer.append([finished, unfinished].map((where) => ({ ...where, records: records('second') })));
  }

  /** The values that are visible by the time at which all of these are. */
  async function visible(...values: readonly string[]): Promise<void> {
    for (const where of [finished, unfinished]) {
      const read = await readCount(subject.witness, where, values.length);
      expect(read.map(({ value }) => value)).to.deep.equal(values);
      expect(await subject.valuesIn(where)).to.deep.equal(values);
    }
  }

  it('would stay unfinished until the next one of the writer is decided', async () => {
    const writer = await aboutToEnd();
    await writer.commit();
    await writer.close();
    await readCount(subject.witness, finished, 1);
    expect(await subject.valuesIn(unfinished)).to.deep.equal([]);
    const unaware = await subject.log.openWriter(name);
    await second(unaware);
    await unaware.abort();
    await unaware.close();
    expect(await subject.valuesIn(unfinished)).to.deep.equal([]);
    expect(await subject.valuesIn(finished)).to.deep.equal(['first']);
  });

  it('are visible when the writer is opened again, if they were committed', async () => {
    const writer = await aboutToEnd();
    await writer.commit();
    await writer.close();
    const next = await open();
    expect(await subject.valuesIn(unfinished)).to.deep.equal(['first']);
    await second(next);
    await next.commit();
    await next.close();
    await visible('first', 'second');
  });

  it('are visible when the writer is opened again, if the response to their commit was lost', async () => {
    const writer = await aboutToEnd();
    subject.proxy.inject({ api: 'EndTxn', fault: { kind: 'lose response', disconnect: true } });
    expect(await codeOf(writer.commit())).to.equal('OUTCOME_UNKNOWN');
    await writer.close();
    const next = await open();
    expect(await subject.valuesIn(unfinished)).to.deep.equal(['first']);
    await next.close();
  });

  it('are invisible when the writer is opened again, if they were aborted', async () => {
    const writer = await aboutToEnd();
    await writer.abort();
    await writer.close();
    const next = await open();
    await second(next);
    await next.commit();
    await next.close();
    await visible('second');
  });

  for (const [how, fault] of [
    ['went away', { kind: 'lose request', disconnect: true }],
    ['answered nothing', { kind: 'lose response', disconnect: true }],
  ] as const) {
    it(`are finished before the next one begins, when the coordinator ${how} in between`, async () => {
      const writer = await aboutToEnd();
      await writer.commit();
      subject.proxy.inject({ api: 'AddPartitionsToTxn', fault });
      await second(writer);
      // This would abort both if the partition saw them as one transaction.
      await writer.abort();
      await writer.close();
      await visible('first');
    });
  }

  it('are finished a moment later when no other one follows', async () => {
    const writer = await aboutToEnd();
    await writer.commit();
    await visible('first');
    await second(writer);
    await writer.commit();
    await visible('first', 'second');
    await writer.close();
  });

  it('are retried later while their partitions cannot be reached', async () => {
    const writer = await aboutToEnd();
    await writer.commit();
    const injected = subject.proxy.inject({
      api: 'DescribeProducers',
      times: 3,
      fault: { kind: 'lose request', disconnect: true },
    });
    await visible('first');
    expect(injected.hits).to.equal(3);
    await writer.close();
  });
});

/** AddPartitionsToTxn, version 1: every partition was added. */
function partitionsAdded({ body }: KafkaRequest): Buffer {
  const reader = new WireReader(body);
  reader.string(); // transactional id
  reader.bigInt64(); // producer id
  reader.int16(); // its epoch
  const topics = reader.array(() => ({ topic: reader.string(), partitions: reader.array(() => reader.int32()) }));
  const writer = new WireWriter().int32(0);
  return writer
    .array(topics, ({ topic, partitions }) =>
      writer.string(topic).array(partitions, (partition) => writer.int32(partition).int16(0)),
    )
    .toBuffer();
}

/** Sets what every broker uses in addition to its own settings, and returns when they apply. */
async function setOnBrokers(
  brokers: readonly string[],
  configEntries: { readonly name: string; readonly value: string }[],
): Promise<void> {
  const admin = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const ids = (await admin.describeCluster()).brokers.map(({ nodeId }) => String(nodeId));
    const type = kafkajs.ConfigResourceTypes.BROKER;
    await admin.alterConfigs({ validateOnly: false, resources: ids.map((id) => ({ type, name: id, configEntries })) });
    const wanted = configEntries[0]?.value ?? 'true';
    for (const id of ids) {
      for (let value: string | undefined; value !== wanted; await sleep(10)) {
        const { resources } = await admin.describeConfigs({
          includeSynonyms: false,
          resources: [{ type, name: id, configNames: [verification] }],
        });
        value = resources[0]?.configEntries[0]?.configValue;
      }
    }
  } finally {
    await admin.disconnect();
  }
}
