import { systemClock } from '../../src/clock.ts';
import { KafkaLog } from '../../src/kafka/log.ts';
import { silentLogger } from '../../src/logger.ts';
import { describeEventLog } from '../contracts/event-log.contract.ts';
import { describeOnEachKafka } from '../support/cluster.ts';
import { deleteKafkaRecords } from '../support/kafka/records.ts';

describeOnEachKafka('The log of a cluster', (cluster) => {
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
      expire: (topic) => deleteKafkaRecords(brokers, topic),
      cleanup: () => log.close(),
    };
  });
});
