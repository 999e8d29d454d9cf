import type { TopicConfiguration } from '../ports/event-log.ts';
import type { PersistedTopic } from './thread/messages.ts';

/** The configuration as the database stores it: null stands for no limit of size. */
export function toPersistedTopic(configuration: TopicConfiguration): PersistedTopic {
  return { ...configuration, retentionBytes: configuration.retentionBytes ?? null };
}

/** The configuration of a stored topic. */
export function toConfiguration(persisted: PersistedTopic): TopicConfiguration {
  const { name, partitionCount, cleanupPolicy, retentionMilliseconds, retentionBytes } = persisted;
  return {
    name,
    partitionCount,
    cleanupPolicy,
    retentionMilliseconds,
    ...(retentionBytes === null ? {} : { retentionBytes }),
  };
}
