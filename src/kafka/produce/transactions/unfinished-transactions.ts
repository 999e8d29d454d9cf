import type { TopicPartition } from '../../../ports/event-log.ts';
import type { Clock } from '../../../clock.ts';
import { LendstreamError, isLendstreamError } from '../../../errors.ts';
import type { RequestSender } from '../../connection/connections.ts';
import type { BrokerNode } from '../../protocol/metadata-request.ts';
import type { ClusterMetadata } from '../../connection/cluster-metadata.ts';
import { groupByLeader, leadershipRetry } from '../../connection/partition-leaders.ts';
import { errorOf, isLeadershipError, protocolError } from '../../protocol/error-codes.ts';
import { Retry, orTransientError } from '../../connection/retry.ts';
import { groupByTopic } from '../../protocol/partitions-by-topic.ts';
import { describeProducersRequest, type DescribedPartition } from '../../protocol/describe-producers-request.ts';

/** What a search for open transactions needs. */
export interface OpenTransactionsOptions {
  readonly connections: RequestSender;
  readonly metadata: ClusterMetadata;
  readonly clock: Clock;
}

/**
 * Returns the partitions in which a transaction of the producer is open, according to their leaders.
 * @throws UNKNOWN_TOPIC_OR_PARTITION, LOG_UNAVAILABLE when the leaders do not respond for a while
 */
export async function partitionsWithOpenTransaction(
  options: OpenTransactionsOptions,
  producerId: bigint,
  partitions: readonly TopicPartition[],
): Promise<TopicPartition[]> {
  const retry = new Retry(options.clock, leadershipRetry);
  for (;;) {
    const described = await orTransientError(describe(options, partitions));
    if (!isLendstreamError(described)) {
      return described
        .filter(({ producers }) =>
          producers.some((each) => each.producerId === producerId && each.transactionStart >= 0),
        )
        .map(({ topic, partition }) => ({ topic, partition }));
    }
    for (const topic of groupByTopic(partitions).keys()) options.metadata.forgetLeaders(topic);
    await retry.after(described);
  }
}

/** @throws LOG_UNAVAILABLE when the leader of any of them does not respond for it */
async function describe(
  { connections, metadata }: OpenTransactionsOptions,
  partitions: readonly TopicPartition[],
): Promise<DescribedPartition[]> {
  const byLeader = await groupByLeader(metadata, partitions);
  const describeAt = async (leader: BrokerNode, led: readonly TopicPartition[]): Promise<DescribedPartition[]> => {
    const described = await connections.send(leader, 'metadata', describeProducersRequest(led));
    for (const { topic, partition, errorCode } of described) {
      if (errorCode === protocolError.none) continue;
      const what = `Looking for open transactions in topic ${topic}, partition ${partition},`;
      const error = errorOf(errorCode, what, { topic, partition });
      // The broker does not know the partition yet, or it was deleted: the metadata shows which before the next
      // attempt.
      const isTransient = isLeadershipError(errorCode) || errorCode === protocolError.unknownTopicOrPartition;
      throw isTransient ? new LendstreamError('LOG_UNAVAILABLE', error.message, { cause: error }) : error;
    }
    return described;
  };
  const results = await Promise.all([...byLeader].map(([leader, led]) => describeAt(leader, led)));
  return results.flat();
}
