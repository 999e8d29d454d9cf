import type { TopicConfiguration } from '../ports/event-log.ts';
import type { PersistedTopic } from './thread/messages.ts';

/** The configuration as the database stores it: null stands for no limit. */
export function toPersistedTopic(configuration: TopicConfiguration): PersistedTopic {
  return {
    ...configuration,
    retentionBytes: configuration.retentionBytes ?? null,
    compactionLagMilliseconds: finite(configuration.compactionLagMilliseconds),
  };
}

function finite(milliseconds: number | undefined): number | null {
  return milliseconds === undefined || milliseconds === Infinity ? null : milliseconds;
}

/** The configuration of a stored topic. */
export function toConfiguration(persisted: PersistedTopic): TopicConfiguration {
  const { name, partitionCount, cleanupPolicy, retentionMilliseconds, retentionBytes } = persisted;
  const { compactionLagMilliseconds } = persisted;
  return {
    name,
    partitionCount,
    cleanupPolicy,
    retentionMilliseconds,
    ...(retentionBytes === null ? {} : { retentionBytes }),
    ...(compactionLagMilliseconds === null ? {} : { compactionLagMilliseconds }),
  };
}
