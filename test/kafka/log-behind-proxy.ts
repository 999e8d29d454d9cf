import { Kafka, logLevel } from 'kafkajs';
import { randomUUID } from 'node:crypto';
import type { CleanupPolicy, LogRecord, TopicPartition } from '../../src/ports/event-log.ts';
import { systemClock, type Clock } from '../../src/clock.ts';
import { KafkaLog } from '../../src/kafka/log.ts';
import { silentLogger } from '../../src/logger.ts';
import { insist } from '../support/insist.ts';
import { openKafkaProxy, type KafkaProxy } from '../support/kafka/proxy.ts';
import { readAll } from '../support/log-reading.ts';

/** A log whose requests pass a proxy that injects faults, and another log of the same brokers without it. */
export interface LogBehindProxy {
  readonly log: KafkaLog;
  readonly proxy: KafkaProxy;
  /** Reads and creates without faults. */
  readonly witness: KafkaLog;
  /** Lets time pass for the log behind the proxy: deadlines, not timers. */
  advance(milliseconds: number): void;
  newTopic(partitionCount?: number, cleanupPolicy?: CleanupPolicy): Promise<string>;
  newPartition(): Promise<TopicPartition>;
  /** The values of a partition, in order. */
  valuesIn(where: TopicPartition): Promise<(string | null)[]>;
  close(): Promise<void>;
}

export async function openLogBehindProxy(
  brokers: readonly string[],
  options: { readonly queuedBytesMaximum?: number } = {},
): Promise<LogBehindProxy> {
  let advanced = 0;
  const clock: Clock = {
    ...systemClock,
    monotonic: () => systemClock.monotonic() + advanced,
    at: (deadline, callback) => systemClock.at(deadline - advanced, callback),
  };
  const proxy = openKafkaProxy();
  const common = { brokers, logger: silentLogger };
  const { socketFactory } = proxy;
  const log = await KafkaLog.open({ ...common, ...options, clientId: 'subject', clock, socketFactory });
  const witness = await KafkaLog.open({ ...common, clientId: 'witness', clock: systemClock });
  const newTopic = async (partitionCount = 1, cleanupPolicy: CleanupPolicy = 'delete'): Promise<string> => {
    const name = `faults-${randomUUID()}`;
    await witness.createTopic({ name, partitionCount, cleanupPolicy, retentionMilliseconds: 3_600_000 });
    return name;
  };
  return {
    log,
    proxy,
    witness,
    advance: (milliseconds) => {
      advanced += milliseconds;
    },
    newTopic,
    newPartition: async () => ({ topic: await newTopic(), partition: 0 }),
    valuesIn: async (where) => (await readAll(witness, where)).map(({ value }) => value),
    close: async () => {
      await Promise.all([log.close(), witness.close()]);
      await proxy.close();
    },
  };
}

/** A record of this size whose value begins with the name. */
export function sized(name: string, bytes: number): LogRecord {
  return { key: null, value: Buffer.from(name.padEnd(bytes, '.')) };
}

/** A topic of one partition that accepts only batches smaller than ours. Returns its name. */
export async function createSmallTopic(brokers: readonly string[], batchBytesMaximum: number): Promise<string> {
  const topic = `small-${randomUUID()}`;
  const admin = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const configEntries = [{ name: 'max.message.bytes', value: String(batchBytesMaximum) }];
    await admin.createTopics({ topics: [{ topic, numPartitions: 1, configEntries }], waitForLeaders: false });
    // Its own wait ends with an error when the broker has not heard of the topic yet.
    await insist(() => admin.fetchTopicMetadata({ topics: [topic] }));
  } finally {
    await admin.disconnect();
  }
  return topic;
}
