import { expect } from 'chai';
import { after, before, it } from 'mocha';
import { partitionsPerTopicMaximum } from '../../../src/ports/event-log.ts';
import { eventTypeNameCharactersMaximum } from '../../../src/broker/event-types/requested-event-type.ts';
import type { KafkaLog } from '../../../src/kafka/log.ts';
import kafkajs from 'kafkajs';
import { describeOnCluster } from '../../support/cluster.ts';
import { openKafkaLog, uniqueTopic } from '../../support/kafka/log.ts';
import { int16, int32, text } from '../../support/kafka/frames.ts';
import { codeOf, records } from '../../support/log-reading.ts';
import { failureOf } from '../../support/thrown-errors.ts';
import { openLogBehindProxy } from '../log-behind-proxy.ts';

describeOnCluster('Topics of Kafka', (cluster) => {
  let log: KafkaLog;

  before(async () => {
    log = await openKafkaLog(cluster());
  });

  after(() => log.close());

  /** Settings of a topic as another client sees them. */
  async function settingsOf(topic: string): Promise<Record<string, string>> {
    const admin = new kafkajs.Kafka({
      brokers: [...cluster().kafkaBrokers],
      logLevel: kafkajs.logLevel.NOTHING,
    }).admin();
    await admin.connect();
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic }],
    });
    await admin.disconnect();
    return Object.fromEntries(
      resources.flatMap(({ configEntries }) =>
        configEntries.map(({ configName, configValue }) => [configName, configValue]),
      ),
    );
  }

  it('accept records of the maximum size and store the time of the broker', async () => {
    const topic = uniqueTopic();
    await log.createTopic(topic);
    expect(await settingsOf(topic.name)).to.include({
      'max.message.bytes': String(8 * 1024 * 1024 + 64 * 1024),
      'message.timestamp.type': 'LogAppendTime',
      'cleanup.policy': 'delete',
      'retention.ms': '3600000',
    });
  });

  it('may have names as long as those of event types', async () => {
    const { name: begin } = uniqueTopic();
    const topic = uniqueTopic({ name: begin.padEnd(eventTypeNameCharactersMaximum, 'x') });
    await log.createTopic(topic);
    expect(topic.name).to.have.length(249);
    await log.deleteTopic(topic.name);
  });

  it('are refused with our own error code when they conflict with an external topic', async () => {
    const topic = uniqueTopic();
    await log.createTopic(topic);
    const error = await failureOf(log.createTopic({ ...topic, name: topic.name.replace('test.', 'test_') }));
    expect(error).to.include({
      code: 'UNPROCESSABLE',
      message: `A topic named ${topic.name} exists: names must differ in more than dots and underscores.`,
    });
  });

  it('keep the settings that an alteration does not name, including those set by others', async () => {
    const topic = uniqueTopic({ retentionBytes: 9_000_000 });
    await log.createTopic(topic);
    await log.alterTopic(topic.name, { retentionMilliseconds: 7_200_000 });
    expect(await settingsOf(topic.name)).to.include({
      'retention.ms': '7200000',
      'retention.bytes': '9000000',
      'max.message.bytes': String(8 * 1024 * 1024 + 64 * 1024),
    });
  });

  const segments: [string, number, string][] = [
    ['a tenth of the retention', 36_000_000, '3600000'],
    ['a minute at the least', 100_000, '60000'],
    ['a week at the most', 10_000_000_000, '604800000'],
  ];
  for (const [title, retentionMilliseconds, expected] of segments) {
    it(`close their segments after ${title}, so that retention can remove them`, async () => {
      const topic = uniqueTopic({ retentionMilliseconds });
      await log.createTopic(topic);
      expect((await settingsOf(topic.name))['segment.ms']).to.equal(expected);
    });
  }

  it('get their partitions although the response is lost or another client adds as many at the same time', async () => {
    const subject = await openLogBehindProxy(cluster().kafkaBrokers);
    try {
      const topic = await subject.newTopic(1);
      subject.proxy.inject({ api: 'CreatePartitions', fault: { kind: 'lose response', disconnect: true } });
      await subject.log.alterTopic(topic, { partitionCount: 2 });
      const last = { topic, partition: 1 };
      expect(await subject.log.bounds([last])).to.deep.equal([{ ...last, earliest: 0, latest: 0 }]);
      await Promise.all([subject.log, subject.witness].map((each) => each.alterTopic(topic, { partitionCount: 4 })));
      expect((await log.listTopics()).find(({ name }) => name === topic)?.partitionCount).to.equal(4);
    } finally {
      await subject.close();
    }
  });

  it('get their partitions when the response is lost and the brokers learn of them a moment later', async () => {
    const subject = await openLogBehindProxy(cluster().kafkaBrokers);
    try {
      const topic = await subject.newTopic(1);
      const fault = { kind: 'lose response', disconnect: true } as const;
      const lost = subject.proxy.inject({ api: 'CreatePartitions', fault });
      let [earlier, earlierResponses]: [Buffer | undefined, number] = [undefined, 0];
      const patch = (body: Buffer): Buffer | undefined => {
        if (lost.hits === 0) earlier = body;
        else if (earlierResponses < 3) earlierResponses += 1;
        else return undefined;
        return earlier;
      };
      subject.proxy.inject({ api: 'Metadata', times: Infinity, fault: { kind: 'patch response', patch } });
      await subject.log.alterTopic(topic, { partitionCount: 2 });
      expect(earlierResponses).to.equal(3);
      const last = { topic, partition: 1 };
      expect(await subject.log.bounds([last])).to.deep.equal([{ ...last, earliest: 0, latest: 0 }]);
    } finally {
      await subject.close();
    }
  });

  it('report why Kafka refuses them, in its own words where it has some', async () => {
    const topic = uniqueTopic();
    await log.createTopic(topic);
    const existing = await failureOf(log.createTopic(topic));
    expect(existing).to.include({
      code: 'TOPIC_ALREADY_EXISTS',
      message: `Creating topic ${topic.name} failed: Topic '${topic.name}' already exists.`,
    });
    const missing = uniqueTopic().name;
    expect(await failureOf(log.deleteTopic(missing))).to.include({
      code: 'UNKNOWN_TOPIC_OR_PARTITION',
      message: `Deleting topic ${missing} failed: Kafka responded with 3 (unknownTopicOrPartition).`,
    });
  });

  it('are changed only in what an alteration names, and not to an impossible number of partitions', async () => {
    const subject = await openLogBehindProxy(cluster().kafkaBrokers);
    try {
      const topic = await subject.newTopic(1);
      for (const partitionCount of [0, 1.5, partitionsPerTopicMaximum + 1]) {
        const error = await failureOf(subject.log.alterTopic(topic, { partitionCount }));
        expect(error).to.have.property('code', 'UNPROCESSABLE');
        expect(error).to.have.property('message').that.includes(`may have from 1 to ${partitionsPerTopicMaximum}`);
      }
      expect(subject.proxy.requests('CreatePartitions')).to.equal(0);
      await subject.log.alterTopic(topic, { partitionCount: 2 });
      expect(subject.proxy.requests('IncrementalAlterConfigs')).to.equal(0);
      await subject.log.alterTopic(topic, { partitionCount: 2, retentionMilliseconds: 100_000 });
      expect(subject.proxy.requests('IncrementalAlterConfigs')).to.equal(1);
      expect(subject.proxy.requests('CreatePartitions')).to.equal(1);
    } finally {
      await subject.close();
    }
  });

  it('have their new settings when the change returns, although the brokers learn of them a moment later', async () => {
    const subject = await openLogBehindProxy(cluster().kafkaBrokers);
    try {
      const topic = await subject.newTopic(1);
      let [earlier, earlierResponses]: [Buffer | undefined, number] = [undefined, 0];
      const patch = (body: Buffer): Buffer | undefined => {
        if (subject.proxy.requests('IncrementalAlterConfigs') === 0) earlier = body;
        else if (earlierResponses < 3) earlierResponses += 1;
        else return undefined;
        return earlier;
      };
      subject.proxy.inject({ api: 'DescribeConfigs', times: Infinity, fault: { kind: 'patch response', patch } });
      await subject.log.alterTopic(topic, { retentionMilliseconds: 7_200_000 });
      expect(earlierResponses).to.equal(3);
      const [listed] = await subject.log.listTopics([topic]);
      expect(listed).to.have.property('retentionMilliseconds', 7_200_000);
    } finally {
      await subject.close();
    }
  });

  it('do not wait for settings that another process has replaced meanwhile', async () => {
    const topic = uniqueTopic();
    await log.createTopic(topic);
    const others = [100_000, 200_000, 300_000, 400_000];
    await Promise.all(others.map((retentionMilliseconds) => log.alterTopic(topic.name, { retentionMilliseconds })));
    const [listed] = await log.listTopics([topic.name]);
    expect(others).to.include(listed?.retentionMilliseconds);
  });

  it('are gone when their deletion returns, although the brokers learn of it a moment later', async () => {
    const subject = await openLogBehindProxy(cluster().kafkaBrokers);
    try {
      const where = await subject.newPartition();
      let [earlier, earlierResponses]: [Buffer | undefined, number] = [undefined, 0];
      const patch = (body: Buffer): Buffer | undefined => {
        if (subject.proxy.requests('DeleteTopics') === 0) earlier = body;
        else if (earlierResponses < 3) earlierResponses += 1;
        else return undefined;
        return earlier;
      };
      const when = ({ body }: { readonly body: Buffer }): boolean => body.includes(where.topic);
      subject.proxy.inject({ api: 'Metadata', when, times: Infinity, fault: { kind: 'patch response', patch } });
      await subject.log.bounds([where]);
      await subject.log.deleteTopic(where.topic);
      expect(earlierResponses).to.equal(3);
      const requests = subject.proxy.requests('ListOffsets');
      expect(await codeOf(subject.log.bounds([where]))).to.equal('UNKNOWN_TOPIC_OR_PARTITION');
      expect(subject.proxy.requests('ListOffsets')).to.equal(requests);
    } finally {
      await subject.close();
    }
  });

  it('are created although one of the brokers is down', async () => {
    const subject = await openLogBehindProxy(cluster().kafkaBrokers);
    try {
      subject.proxy.inject({
        api: 'Metadata',
        times: Infinity,
        fault: { kind: 'patch response', patch: withBrokerThatIsDown },
      });
      const topic = uniqueTopic();
      await subject.log.createTopic(topic);
      expect((await subject.log.listTopics([topic.name])).map(({ name }) => name)).to.deep.equal([topic.name]);
    } finally {
      await subject.close();
    }
  });

  it('are created together when they are asked for at the same time, each with its own outcome', async () => {
    const subject = await openLogBehindProxy(cluster().kafkaBrokers);
    try {
      const existing = uniqueTopic();
      await subject.witness.createTopic(existing);
      const [first, second] = [uniqueTopic(), uniqueTopic({ partitionCount: 2 })];
      const wanted = [first, existing, second, first];
      const codes = await Promise.all(wanted.map((topic) => codeOf(subject.log.createTopic(topic))));
      // The name that is there twice is in another request.
      expect(codes.slice(1, 3)).to.deep.equal(['TOPIC_ALREADY_EXISTS', null]);
      expect([codes[0], codes[3]]).to.have.members([null, 'TOPIC_ALREADY_EXISTS']);
      expect(subject.proxy.requests('CreateTopics')).to.equal(2);
      const listed = await subject.witness.listTopics([first.name, second.name]);
      expect(listed.map(({ name, partitionCount }) => [name, partitionCount])).to.have.deep.members([
        [first.name, 1],
        [second.name, 2],
      ]);
    } finally {
      await subject.close();
    }
  });

  it('are described once for all simultaneous appends that need their cleanup policy', async () => {
    const subject = await openLogBehindProxy(cluster().kafkaBrokers);
    try {
      const where = await subject.newPartition();
      const appends = Array.from({ length: 50 }, (_, index) => [{ ...where, records: records(`${index}`) }]);
      await Promise.all(appends.map((each) => subject.log.append(each)));
      expect(subject.proxy.requests('DescribeConfigs')).to.equal(1);
    } finally {
      await subject.close();
    }
  });

  it('are ready when their creation returns, like added partitions, however many', async () => {
    const subject = await openLogBehindProxy(cluster().kafkaBrokers);
    const questionsForBounds = async (topic: string, partitionCount: number): Promise<number> => {
      const before = subject.proxy.requests('ListOffsets');
      await subject.log.bounds(Array.from({ length: partitionCount }, (_, partition) => ({ topic, partition })));
      return subject.proxy.requests('ListOffsets') - before;
    };
    try {
      const topic = uniqueTopic({ partitionCount: 100 });
      await subject.log.createTopic(topic);
      expect(await questionsForBounds(topic.name, 100)).to.equal(2);
      await subject.log.alterTopic(topic.name, { partitionCount: 150 });
      expect(await questionsForBounds(topic.name, 150)).to.equal(2);
      await subject.log.deleteTopic(topic.name);
    } finally {
      await subject.close();
    }
  });
});

/** A Metadata response (version 5) with one more broker, at a port where nothing listens. */
function withBrokerThatIsDown(body: Buffer): Buffer {
  const throttleBytes = 4;
  const count = body.readInt32BE(throttleBytes);
  const down = Buffer.concat([int32(99), text('127.0.0.1'), int32(1), int16(-1)]);
  return Buffer.concat([body.subarray(0, throttleBytes), int32(count + 1), down, body.subarray(throttleBytes + 4)]);
}
