import type { TopicPartition } from '../../ports/event-log.ts';
import type { BrokerNode } from '../protocol/metadata-request.ts';
import type { ClusterMetadata } from './cluster-metadata.ts';

/** How long to keep asking leaders while they move, or are new to their partitions. Milliseconds. */
export const leadershipRetry = { forMilliseconds: 10_000, firstPauseMilliseconds: 30, pauseMillisecondsMaximum: 300 };

/**
 * Groups partitions by the broker that leads them.
 * @throws UNKNOWN_TOPIC_OR_PARTITION, LOG_UNAVAILABLE when a partition has no leader now
 */
export async function groupByLeader(
  metadata: ClusterMetadata,
  partitions: readonly TopicPartition[],
): Promise<Map<BrokerNode, TopicPartition[]>> {
  const leaders = await Promise.all(partitions.map((partition) => metadata.leaderOf(partition)));
  const byLeader = new Map<BrokerNode, TopicPartition[]>();
  for (const [index, leader] of leaders.entries()) {
    const partition = partitions[index] as TopicPartition;
    const led = byLeader.get(leader);
    if (led === undefined) byLeader.set(leader, [partition]);
    else led.push(partition);
  }
  return byLeader;
}
