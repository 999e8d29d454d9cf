import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { after, before, it } from 'mocha';
import { Kafka, logLevel } from 'kafkajs';
import type { KafkaLog } from '../../../src/kafka/log.ts';
import { describeOnCluster } from '../../support/cluster.ts';
import { openKafkaLog, uniqueTopic } from '../../support/kafka/log.ts';
import { runKafkaTool } from '../../support/kafka/tools.ts';
import { codeOf, records } from '../../support/log-reading.ts';

describeOnCluster('Positions of a subscription in Kafka', (cluster) => {
  let log: KafkaLog;

  before(async () => {
    log = await openKafkaLog(cluster());
  });

  after(() => log.close());

  it("are shown by Kafka's own tool as a group and its lag", async function () {
    this.timeout(60_000);
    const { name: topic } = uniqueTopic();
    await log.createTopic({ ...uniqueTopic({ partitionCount: 2 }), name: topic });
    await log.append([{ topic, partition: 1, records: records('0', '1', '2', '3', '4') }]);
    const group = randomUUID();
    await log.exportGroupOffsets(group, [
      { topic, partition: 0, offset: 0 },
      { topic, partition: 1, offset: 2 },
    ]);
    const printed = await runKafkaTool(
      'org.apache.kafka.tools.consumer.group.ConsumerGroupCommand',
      cluster().kafkaBrokers,
      ['--describe', '--group', group],
    );
    const rows = printed
      .split('\n')
      .filter((line) => line.startsWith(group))
      .map((line) => line.split(/\s+/).slice(1, 6));
    expect(rows).to.have.deep.members([
      [topic, '0', '0', '0', '0'],
      [topic, '1', '2', '5', '3'],
    ]);
  });

  it('move backwards when a reset exports them', async () => {
    const { name: topic } = uniqueTopic();
    await log.createTopic({ ...uniqueTopic(), name: topic });
    const group = randomUUID();
    await log.exportGroupOffsets(group, [{ topic, partition: 0, offset: 9 }]);
    await log.exportGroupOffsets(group, [{ topic, partition: 0, offset: 3 }]);
    expect(await log.groupOffsets(group)).to.deep.equal([{ topic, partition: 0, offset: 3 }]);
  });

  it('of a deleted topic do not prevent the export of the others', async () => {
    const { name: topic } = uniqueTopic();
    await log.createTopic({ ...uniqueTopic(), name: topic });
    const group = randomUUID();
    await log.exportGroupOffsets(group, [
      { topic: `gone.${randomUUID()}`, partition: 0, offset: 1 },
      { topic, partition: 0, offset: 4 },
    ]);
    expect(await log.groupOffsets(group)).to.deep.equal([{ topic, partition: 0, offset: 4 }]);
  });

  it('are refused while a client consumes as a member of that group', async function () {
    this.timeout(60_000);
    const { name: topic } = uniqueTopic();
    await log.createTopic({ ...uniqueTopic(), name: topic });
    const group = randomUUID();
    const consumer = new Kafka({ brokers: [...cluster().kafkaBrokers], logLevel: logLevel.NOTHING }).consumer({
      groupId: group,
    });
    const joined = new Promise((resolve) => consumer.on(consumer.events.GROUP_JOIN, resolve));
    await consumer.connect();
    await consumer.subscribe({ topic });
    await consumer.run({ eachMessage: () => Promise.resolve() });
    await joined;
    const position = [{ topic, partition: 0, offset: 1 }];
    expect(await codeOf(log.exportGroupOffsets(group, position))).to.equal('UNPROCESSABLE');
    await consumer.disconnect();
    await log.exportGroupOffsets(group, position);
    expect(await log.groupOffsets(group)).to.deep.equal(position);
  });
});
