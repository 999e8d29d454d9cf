import { expect } from 'chai';
import { after, before, it } from 'mocha';
import kafkajs from 'kafkajs';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KafkaLog } from '../../../src/kafka/log.ts';
import { describeOnCluster } from '../../support/cluster.ts';
import { eventually } from '../../support/eventually.ts';
import { openKafkaLog, uniqueTopic } from '../../support/kafka/log.ts';
import { appendTo, keyed, readAll } from '../../support/log-reading.ts';

/** How long a broker may take: it looks for logs to compact every fifteen seconds. Milliseconds. */
const compactionMillisecondsMaximum = 90_000;

describeOnCluster('The removal of deleted keys by Kafka', (cluster) => {
  let log: KafkaLog;
  let admin: kafkajs.Admin;

  before(async () => {
    log = await openKafkaLog(cluster());
    admin = new kafkajs.Kafka({ brokers: [...cluster().kafkaBrokers], logLevel: kafkajs.logLevel.NOTHING }).admin();
    await admin.connect();
  });

  after(async () => {
    await admin.disconnect();
    await log.close();
  });

  async function settingsOf(type: kafkajs.ConfigResourceTypes, name: string): Promise<Map<string, string>> {
    const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [{ type, name }] });
    return new Map(
      resources.flatMap(({ configEntries }) =>
        configEntries.map(({ configName, configValue }) => [configName, configValue] as const),
      ),
    );
  }

  it('is due after the lag of the topic, which the broker also closes segments by', async () => {
    const topic = uniqueTopic({ cleanupPolicy: 'compact', compactionLagMilliseconds: 86_400_000 });
    await log.createTopic(topic);
    const settings = await settingsOf(kafkajs.ConfigResourceTypes.TOPIC, topic.name);
    expect(settings.get('max.compaction.lag.ms')).to.equal('86400000');
    expect(Number(settings.get('segment.ms'))).to.be.lessThan(86_400_000);
    expect(settings.get('delete.retention.ms')).to.equal('86400000');
  });

  it('leaves their bytes in no segment file, once another record has closed the segment', async function test() {
    this.timeout(compactionMillisecondsMaximum + 30_000);
    const { brokers } = await admin.describeCluster();
    const folders = await Promise.all(
      brokers.map(async ({ nodeId }) => {
        const settings = await settingsOf(kafkajs.ConfigResourceTypes.BROKER, String(nodeId));
        return settings.get('log.dirs') ?? '';
      }),
    );
    if (!folders.every((folder) => existsSync(folder))) {
      process.stdout.write('    skipped: the folders of the brokers are on another machine\n');
      this.skip();
    }
    const topic = uniqueTopic({ cleanupPolicy: 'compact', compactionLagMilliseconds: 1_000 });
    await log.createTopic(topic);
    // Replaced segments are deleted after a minute by default.
    await admin.alterConfigs({
      validateOnly: false,
      resources: [
        {
          type: kafkajs.ConfigResourceTypes.TOPIC,
          name: topic.name,
          configEntries: [
            { name: 'cleanup.policy', value: 'compact' },
            { name: 'max.compaction.lag.ms', value: '1000' },
            { name: 'file.delete.delay.ms', value: '100' },
          ],
        },
      ],
    });
    const where = { topic: topic.name, partition: 0 };
    const secret = `secret-${randomUUID()}`;
    const isInFiles = async (text: string): Promise<boolean> => {
      for (const folder of folders) {
        const partition = join(folder, `${topic.name}-0`);
        if (!existsSync(partition)) continue;
        for (const name of await readdir(partition)) {
          const bytes = await readFile(join(partition, name)).catch(() => Buffer.alloc(0));
          if (bytes.includes(text)) return true;
        }
      }
      return false;
    };
    await appendTo(log, where, [keyed('c-1', secret), keyed('c-2', 'kept')]);
    await appendTo(log, where, [keyed('c-1', null)]);
    expect(await isInFiles(secret)).to.equal(true);
    // The newest segment is never compacted. A record that comes after the lag closes it.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await appendTo(log, where, [keyed('c-3', 'later')]);
    await eventually(async () => !(await isInFiles(secret)), compactionMillisecondsMaximum);
    expect(await isInFiles('kept')).to.equal(true);
    expect((await readAll(log, where)).map(({ key }) => key)).to.include.members(['c-2', 'c-3']);
  });
});
