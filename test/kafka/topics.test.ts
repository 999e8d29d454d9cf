import { expect } from 'chai';
import { after, before, it } from 'mocha';
import type { KafkaLog } from '../../src/kafka/log.ts';
import kafkajs from 'kafkajs';
import { describeOnCluster } from '../support/cluster.ts';
import { openKafkaLog, topicOfOnesOwn } from '../support/kafka-log.ts';

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

  it('take records of the largest size and carry the time of the broker', async () => {
    const topic = topicOfOnesOwn();
    await log.createTopic(topic);
    expect(await settingsOf(topic.name)).to.include({
      'max.message.bytes': String(8 * 1024 * 1024 + 64 * 1024),
      'message.timestamp.type': 'LogAppendTime',
      'cleanup.policy': 'delete',
      'retention.ms': '3600000',
    });
  });

  it('keep what an alteration does not name, also what somebody else has set', async () => {
    const topic = topicOfOnesOwn({ retentionBytes: 9_000_000 });
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
    it(`close their segments after ${title}, so that retention can act`, async () => {
      const topic = topicOfOnesOwn({ retentionMilliseconds });
      await log.createTopic(topic);
      expect((await settingsOf(topic.name))['segment.ms']).to.equal(expected);
    });
  }
});
