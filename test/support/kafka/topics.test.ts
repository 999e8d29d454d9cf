import { randomUUID } from 'node:crypto';
import { it } from 'mocha';
import { describeOnCluster } from '../cluster.ts';
import { eventually } from '../eventually.ts';
import { openKafkaLog } from './log.ts';
import { deleteKafkaTopics } from './topics.ts';

describeOnCluster('topics that a test file has left', (cluster) => {
  it('are deleted, also when one of them is gone already', async () => {
    const log = await openKafkaLog(cluster());
    const names = ['one', 'two', 'gone'].map((name) => `${name}-${randomUUID()}`);
    const [one = '', two = '', gone = ''] = names;
    const retention = { cleanupPolicy: 'delete', retentionMilliseconds: 3_600_000 } as const;
    try {
      for (const name of [one, two]) await log.createTopic({ name, partitionCount: 1, ...retention });
      await deleteKafkaTopics(cluster().kafkaBrokers, [one, gone, two]);
      await eventually(async () => (await log.listTopics(names)).length === 0);
    } finally {
      await log.close();
    }
  });
});
