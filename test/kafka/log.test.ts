import { Kafka, logLevel } from 'kafkajs';
import { systemClock } from '../../src/clock.ts';
import { KafkaLog } from '../../src/kafka/log.ts';
import { silentLogger } from '../../src/logger.ts';
import { describeEventLog } from '../contracts/event-log.contract.ts';
import { describeOnCluster } from '../support/cluster.ts';

describeOnCluster('The log of a cluster', (cluster) => {
  describeEventLog('Kafka', async () => {
    const brokers = cluster().kafkaBrokers;
    const open = (): Promise<KafkaLog> =>
      KafkaLog.open({ brokers, clientId: 'contract', logger: silentLogger, clock: systemClock });
    let log = await open();
    return {
      get log() {
        return log;
      },
      reopen: async () => {
        await log.close();
        log = await open();
        return log;
      },
      expire: (topic) => deleteRecords(brokers, topic),
      cleanup: () => log.close(),
    };
  });
});

/** Moves the start of every partition to its end, as retention does in its own time. */
async function deleteRecords(brokers: readonly string[], topic: string): Promise<void> {
  const admin = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const offsets = await admin.fetchTopicOffsets(topic);
    await admin.deleteTopicRecords({
      topic,
      partitions: offsets.map(({ partition, offset }) => ({ partition, offset })),
    });
  } finally {
    await admin.disconnect();
  }
}
