import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'mocha';
import { Kafka, logLevel } from 'kafkajs';
import { KafkaGroupOffsets } from '../../../src/kafka/admin/consumer-group-offsets.ts';
import { ClusterMetadata } from '../../../src/kafka/connection/cluster-metadata.ts';
import { Coordinators } from '../../../src/kafka/connection/coordinator.ts';
import type { KafkaLog } from '../../../src/kafka/log.ts';
import { describeOnCluster } from '../../support/cluster.ts';
import { openKafkaLog, uniqueTopic } from '../../support/kafka/log.ts';
import { runKafkaTool } from '../../support/kafka/tools.ts';
import { codeOf, records } from '../../support/log-reading.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { CoordinatingBroker } from '../coordinating-broker.ts';
import { pass } from '../simulated-broker.ts';

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

function newGroupOffsets() {
  const clock = new SimulatedClock();
  /** The codes of the next responses about positions; none when they are used up. */
  const errorCodes: number[] = [];
  /** What a group has, besides the code of each. */
  const group: {
    positions: readonly { readonly topic: string; readonly partition: number; readonly offset: number }[];
  } = { positions: [] };
  const broker = new CoordinatingBroker(clock, (request, response) => {
    const errorCode = errorCodes.shift() ?? 0;
    if (request === 'OffsetCommit') {
      response.array(['a'], (topic) => response.string(topic).int32(1).int32(0).int16(errorCode));
      return;
    }
    response.array(group.positions, ({ topic, partition, offset }) => {
      response.string(topic).int32(1).int32(partition).int64(offset).string(null).int16(0);
    });
    response.int16(errorCode);
  });
  const metadata = new ClusterMetadata(broker, [broker.address], clock);
  const offsets = new KafkaGroupOffsets({
    connections: broker,
    coordinators: new Coordinators(metadata, clock),
    clock,
  });
  return { clock, broker, errorCodes, group, offsets };
}

describe('Positions of a group', () => {
  const positions = [{ topic: 'a', partition: 0, offset: 3 }];

  it('are sent again every 50 ms for ten seconds, while the coordinator moves or loads', async () => {
    for (const errorCode of [14, 15, 16]) {
      const { clock, broker, errorCodes, offsets } = newGroupOffsets();
      errorCodes.push(...Array<number>(1_000).fill(errorCode));
      const outcome = codeOf(offsets.export('group', positions));
      await pass(clock);
      for (let passed = 0; passed < 10_000; passed += 50) await pass(clock, 50);
      expect(await outcome).to.equal('LOG_UNAVAILABLE');
      expect(broker.times).to.deep.equal(Array.from({ length: 201 }, (_, index) => 50 * index));
      expect(broker.lookups).to.equal(201);
    }
  });

  it('are sent once where the coordinator accepts them, or refuses them for good', async () => {
    for (const [errorCode, code] of [
      [0, null],
      [3, null],
      [25, 'UNPROCESSABLE'],
      [29, 'LOG_UNAVAILABLE'],
    ] as const) {
      const { clock, errorCodes, offsets } = newGroupOffsets();
      errorCodes.push(...Array<number>(1_000).fill(errorCode));
      const outcome = codeOf(offsets.export('group', positions));
      for (let passed = 0; passed < 10_100; passed += 50) await pass(clock, 50);
      expect(await outcome).to.equal(code);
    }
    const { broker, offsets } = newGroupOffsets();
    await offsets.export('group', []);
    expect([broker.times, broker.lookups]).to.deep.equal([[], 0]);
  });

  it('are returned by topic, then partition, without those that were never stored', async () => {
    const { clock, errorCodes, group, offsets } = newGroupOffsets();
    const [first, second, third] = [
      { topic: 'a', partition: 2, offset: 0 },
      { topic: 'a', partition: 10, offset: 7 },
      { topic: 'b', partition: 1, offset: 5 },
    ];
    group.positions = [third, second, { topic: 'c', partition: 0, offset: -1 }, first].filter(
      (each) => each !== undefined,
    );
    expect(await offsets.of('group')).to.deep.equal([first, second, third]);
    errorCodes.push(15);
    const again = offsets.of('group');
    await pass(clock);
    await pass(clock, 50);
    expect(await again).to.have.length(3);
    errorCodes.push(17);
    expect(await codeOf(offsets.of('group'))).to.equal('UNPROCESSABLE');
  });
});
