import { basename } from 'node:path';
import type { Coordination } from '../../src/ports/coordination.ts';
import type { EventLog } from '../../src/ports/event-log.ts';
import type { PublishedIds } from '../../src/ports/published-ids.ts';
import { systemClock, type Clock } from '../../src/clock.ts';
import { EmbeddedCoordination } from '../../src/embedded/coordination.ts';
import { EmbeddedPublishedIds } from '../../src/embedded/published-ids/published-ids.ts';
import { EmbeddedLog } from '../../src/embedded/log.ts';
import { silentLogger, type Logger } from '../../src/logger.ts';
import { atEndOfTestFile } from './end-of-file.ts';
import { NamespacedLog } from './namespaced-log.ts';
import { removeFolder, temporaryFolder } from './processes/service.ts';
import { openPartOfEmbeddedLog, wholeOf } from './shared-embedded-log.ts';

/**
 * The backend of suites that are not about one backend: the embedded store, or, with TEST_BACKEND=cluster, the Kafka
 * and Redis of KAFKA_BROKERS and REDIS_URL. The name of a test's data folder determines its part of the cluster, so
 * that opening the same folder again finds the same data on either backend. Only the modules of that backend are
 * loaded, since some tests start a process many times. The environment is read at each use: a process of the test run
 * runs files on one backend after files on the other.
 */
export function isClusterUnderTest(): boolean {
  return process.env['TEST_BACKEND'] === 'cluster';
}

function kafkaBrokers(): string[] {
  return (process.env['KAFKA_BROKERS'] ?? '').split(',');
}

function redisUrl(): string {
  return process.env['REDIS_URL'] ?? '';
}

/** The settings by which a process uses the cluster under test; undefined on the embedded store. */
export function clusterUnderTest(): Record<string, string> | undefined {
  return isClusterUnderTest() ? { KAFKA_BROKERS: kafkaBrokers().join(','), REDIS_URL: redisUrl() } : undefined;
}

/** The part of a log that the tests of a file share, named after the folder. */
export async function openLogUnderTest(dataFolder: string, logger: Logger = silentLogger): Promise<EventLog> {
  return isClusterUnderTest() ? openPartOfKafka(dataFolder, logger) : openPartOfEmbeddedLog(basename(dataFolder));
}

/** The same for a log that several processes open, one after another: on the embedded store a file in the folder. */
export async function openLogOfProcesses(dataFolder: string): Promise<EventLog> {
  return isClusterUnderTest()
    ? openPartOfKafka(dataFolder)
    : EmbeddedLog.open({ dataFolder, logger: silentLogger, checkpointMilliseconds: 60_000 });
}

async function openPartOfKafka(dataFolder: string, logger: Logger = silentLogger): Promise<EventLog> {
  const { KafkaLog } = await import('../../src/kafka/log.ts');
  const log = await KafkaLog.open({
    brokers: kafkaBrokers(),
    clientId: 'test',
    clock: systemClock,
    logger,
  });
  return new NamespacedLog(log, basename(dataFolder), topicsOfFile());
}

/** The topics that the tests of this file have in the shared Kafka. */
let sharedTopics = new Set<string>();

/**
 * They are deleted when the tests are over: whenever a topic is made, a broker looks through all that it has, and it
 * keeps measuring those that are no longer used.
 */
function topicsOfFile(): Set<string> {
  atEndOfTestFile(deleteSharedTopics);
  return sharedTopics;
}

async function deleteSharedTopics(): Promise<void> {
  const topics = [...sharedTopics];
  sharedTopics = new Set();
  if (topics.length === 0) return;
  const { deleteKafkaTopics } = await import('./kafka/topics.ts');
  await deleteKafkaTopics(kafkaBrokers(), topics);
}

export async function openCoordinationUnderTest(
  dataFolder: string,
  log: EventLog,
  clock: Clock = systemClock,
  logger: Logger = silentLogger,
): Promise<Coordination> {
  const services = { log, clock, logger };
  if (!isClusterUnderTest()) return EmbeddedCoordination.open(services);
  const { RedisCoordination } = await import('../../src/redis/coordination.ts');
  return RedisCoordination.open({ ...services, redisUrl: redisUrl(), keyPrefix: basename(dataFolder) });
}

/** How published ids are opened by a test. */
export interface PublishedIdsOptions {
  readonly clock?: Clock;
  readonly idsMaximum?: number;
  /** Of a cluster: how long a claim may last before the log decides it. */
  readonly claimMilliseconds?: number;
}

/** The ids of published events, as another process with the same data would open them. */
export async function openPublishedIdsUnderTest(
  dataFolder: string,
  log: EventLog,
  { clock = systemClock, idsMaximum = 1_000, ...options }: PublishedIdsOptions = {},
): Promise<PublishedIds> {
  if (!isClusterUnderTest()) return new EmbeddedPublishedIds({ log, clock, idsMaximum });
  const { RedisCoordination } = await import('../../src/redis/coordination.ts');
  const services = { log, clock: systemClock, logger: silentLogger };
  const coordination = await RedisCoordination.open({
    ...services,
    redisUrl: redisUrl(),
    keyPrefix: basename(dataFolder),
  });
  const ids = coordination.publishedIds({ clock, idsMaximum, ...options });
  return {
    claim: (request) => ids.claim(request),
    close() {
      ids.close();
      void coordination.close();
    },
  };
}

/** A separate log for one test, which can be closed and opened again on the same data. */
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

/** Runs compaction where a test can trigger it; Kafka compacts at its own time. */
export async function compactLog(log: EventLog): Promise<void> {
  await wholeOf(log)?.runCompaction(Date.now() + 10 * 86_400_000);
}

/** Runs retention as of this time (milliseconds since the epoch) where a test can trigger it. */
export async function runRetention(log: EventLog, now: number): Promise<void> {
  await wholeOf(log)?.runRetention(now);
}

/** Lets retention remove everything that is in a topic now. */
export async function expireTopic(log: EventLog, topic: string): Promise<void> {
  if (!isClusterUnderTest()) {
    await log.alterTopic(topic, { retentionMilliseconds: 0 });
    await runRetention(log, Date.now() + 1);
  } else {
    const { deleteKafkaRecords } = await import('./kafka/records.ts');
    await deleteKafkaRecords(kafkaBrokers(), log instanceof NamespacedLog ? log.sharedName(topic) : topic);
  }
}
