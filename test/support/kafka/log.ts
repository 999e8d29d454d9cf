import { randomUUID } from 'node:crypto';
import type { TopicConfiguration } from '../../../src/ports/event-log.ts';
import { systemClock } from '../../../src/clock.ts';
import { KafkaLog, type KafkaLogOptions } from '../../../src/kafka/log.ts';
import { silentLogger } from '../../../src/logger.ts';
import type { Cluster } from '../clusters/provided-cluster.ts';

/** The log of a cluster as a test opens it. */
export function openKafkaLog({ kafkaBrokers }: Cluster, options: Partial<KafkaLogOptions> = {}): Promise<KafkaLog> {
  return KafkaLog.open({
    brokers: kafkaBrokers,
    clientId: 'test',
    logger: silentLogger,
    clock: systemClock,
    ...options,
  });
}

/** A separate topic on a cluster that others use too. */
export function uniqueTopic(changes: Partial<TopicConfiguration> = {}): TopicConfiguration {
  return {
    name: `test.${randomUUID()}`,
    partitionCount: 1,
    cleanupPolicy: 'delete',
    retentionMilliseconds: 3_600_000,
    ...changes,
  };
}
