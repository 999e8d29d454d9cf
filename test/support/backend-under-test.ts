import { basename } from 'node:path';
import type { Coordination } from '../../src/ports/coordination.ts';
import type { EventLog } from '../../src/ports/event-log.ts';
import { systemClock, type Clock } from '../../src/clock.ts';
import { EmbeddedCoordination } from '../../src/embedded/coordination.ts';
import { EmbeddedLog } from '../../src/embedded/log.ts';
import { KafkaLog } from '../../src/kafka/log.ts';
import { silentLogger } from '../../src/logger.ts';
import { RedisCoordination } from '../../src/redis/coordination.ts';
import { deleteKafkaRecords } from './kafka/records.ts';
import { NamespacedLog } from './namespaced-log.ts';
import { removeFolder, temporaryFolder } from './processes/service.ts';
import { openPartOfEmbeddedLog, wholeOf } from './shared-embedded-log.ts';

/**
 * The backend that suites run on which are not about one of them: the embedded store, or, with TEST_BACKEND=cluster,
 * the Kafka and Redis of KAFKA_BROKERS and REDIS_URL. A test's folder of data names its part of the cluster, so that
 * opening the same folder again finds the same data on either backend.
 */
export const isClusterUnderTest = process.env['TEST_BACKEND'] === 'cluster';

const kafkaBrokers = (process.env['KAFKA_BROKERS'] ?? '').split(',');
const redisUrl = process.env['REDIS_URL'] ?? '';

/** The part of a log that the tests of a file share, under the name of the folder. */
export async function openLogUnderTest(dataFolder: string): Promise<EventLog> {
  return isClusterUnderTest ? openPartOfKafka(dataFolder) : openPartOfEmbeddedLog(basename(dataFolder));
}

/** The same for a log that several processes open, one after another: on the embedded store a file in the folder. */
export async function openLogOfProcesses(dataFolder: string): Promise<EventLog> {
  return isClusterUnderTest ? openPartOfKafka(dataFolder) : EmbeddedLog.open({ dataFolder, logger: silentLogger });
}

async function openPartOfKafka(dataFolder: string): Promise<EventLog> {
  const log = await KafkaLog.open({
    brokers: kafkaBrokers,
    clientId: 'test',
    clock: systemClock,
    logger: silentLogger,
  });
  return new NamespacedLog(log, basename(dataFolder));
}

export function openCoordinationUnderTest(
  dataFolder: string,
  log: EventLog,
  clock: Clock = systemClock,
): Promise<Coordination> {
  const services = { log, clock, logger: silentLogger };
  if (!isClusterUnderTest) return EmbeddedCoordination.open(services);
  return RedisCoordination.open({ ...services, redisUrl, keyPrefix: basename(dataFolder) });
}

/** A log of a test's own, which can be closed and opened again on the same data. */
export interface OwnLog {
  log: EventLog;
  reopen(): Promise<EventLog>;
  cleanup(): Promise<void>;
}

export async function openOwnLog(): Promise<OwnLog> {
  const dataFolder = await temporaryFolder();
  const own: OwnLog = {
    log: await openLogUnderTest(dataFolder),
    reopen: async () => {
      await own.log.close();
      own.log = await openLogUnderTest(dataFolder);
      return own.log;
    },
    cleanup: async () => {
      await own.log.close();
      await removeFolder(dataFolder);
    },
  };
  return own;
}

/** Lets compaction run where it can be asked to; Kafka compacts when it sees fit. */
export async function compactLog(log: EventLog): Promise<void> {
  await wholeOf(log)?.runCompaction(Date.now() + 10 * 86_400_000);
}

/** Lets retention run as of then (milliseconds since the epoch) where it can be asked to. */
export async function runRetention(log: EventLog, now: number): Promise<void> {
  await wholeOf(log)?.runRetention(now);
}

/** Lets retention take everything that is in a topic now. */
export async function expireTopic(log: EventLog, topic: string): Promise<void> {
  if (!isClusterUnderTest) {
    await log.alterTopic(topic, { retentionMilliseconds: 0 });
    await runRetention(log, Date.now() + 1);
  } else {
    await deleteKafkaRecords(kafkaBrokers, log instanceof NamespacedLog ? log.sharedName(topic) : topic);
  }
}
