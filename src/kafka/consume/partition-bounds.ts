import type { BoundsOptions, PartitionBounds, TopicPartition } from '../../ports/event-log.ts';
import type { Clock } from '../../clock.ts';
import { LendstreamError, isLendstreamError } from '../../errors.ts';
import type { RequestSender } from '../connection/connections.ts';
import type { BrokerNode } from '../protocol/metadata-request.ts';
import type { ClusterMetadata } from '../connection/cluster-metadata.ts';
import { groupByLeader, leadershipRetry } from '../connection/partition-leaders.ts';
import { errorOf, isLeadershipError, protocolError } from '../protocol/error-codes.ts';
import { Retry, orTransientError } from '../connection/retry.ts';
import { groupByTopic, keyOf } from '../protocol/partitions-by-topic.ts';
import { timestamps, listOffsetsRequest, type ListedOffset } from '../protocol/list-offsets-request.ts';

/** How many partitions an error names at most; there may be a thousand. */
const namedMaximum = 5;

/**
 * Returns the bounds of partitions, as their leaders report them.
 * @param options.forMilliseconds How long to keep asking while leaders move, or are new to their partitions.
 * @throws UNKNOWN_TOPIC_OR_PARTITION, LOG_UNAVAILABLE
 */
export async function listBounds(
  { connections, metadata, clock }: { connections: RequestSender; metadata: ClusterMetadata; clock: Clock },
  partitions: readonly TopicPartition[],
  options: BoundsOptions & { readonly forMilliseconds?: number } = {},
): Promise<PartitionBounds[]> {
  const { forMilliseconds = leadershipRetry.forMilliseconds } = options;
  const found = new Map<string, PartitionBounds>();
  const retry = new Retry(clock, { ...leadershipRetry, forMilliseconds });
  let missing = distinct(partitions);
  while (missing.length > 0) {
    const result = await orTransientError(boundsOf(connections, metadata, missing, options));
    if (!isLendstreamError(result)) for (const bounds of result) found.set(keyOf(bounds), bounds);
    missing = missing.filter((partition) => !found.has(keyOf(partition)));
    if (missing.length === 0) break;
    for (const topic of groupByTopic(missing).keys()) metadata.forgetLeaders(topic);
    await retry.after(isLendstreamError(result) ? result : noLeader(missing));
  }
  return partitions.map((partition) => found.get(keyOf(partition)) as PartitionBounds);
}

/** Returns the bounds of those partitions whose leaders respond for them. */
async function boundsOf(
  connections: RequestSender,
  metadata: ClusterMetadata,
  partitions: readonly TopicPartition[],
  options: BoundsOptions,
): Promise<PartitionBounds[]> {
  const byLeader = await groupByLeader(metadata, partitions);
  const results = await Promise.all([...byLeader].map(([leader, led]) => boundsAt(connections, leader, led, options)));
  return results.flat();
}

/** Returns the bounds of those partitions that this broker still leads. */
async function boundsAt(
  connections: RequestSender,
  leader: BrokerNode,
  partitions: readonly TopicPartition[],
  options: BoundsOptions,
): Promise<PartitionBounds[]> {
  const listOffsets = (which: keyof typeof timestamps): Promise<ListedOffset[]> =>
    connections.send(leader, 'metadata', listOffsetsRequest(partitions, timestamps[which], options));
  let earliest: Map<string, ListedOffset>;
  let latest: Map<string, ListedOffset>;
  try {
    [earliest, latest] = (await Promise.all([listOffsets('earliest'), listOffsets('latest')])).map(
      (listed) => new Map(listed.map((each) => [keyOf(each), each])),
    ) as [Map<string, ListedOffset>, Map<string, ListedOffset>];
  } catch (error) {
    // Asking changes nothing, so a missing response is only a reason to ask again.
    if (isLendstreamError(error, 'OUTCOME_UNKNOWN') || isLendstreamError(error, 'LOG_UNAVAILABLE')) return [];
    throw error;
  }
  const bounds: PartitionBounds[] = [];
  for (const partition of partitions) {
    const first = earliest.get(keyOf(partition));
    const end = latest.get(keyOf(partition));
    const errorCode = (first?.errorCode ?? 0) === 0 ? end?.errorCode : first?.errorCode;
    if (first === undefined || end === undefined || isLeadershipError(errorCode ?? 0)) continue;
    // The broker does not know the partition yet, or it was deleted: the metadata shows which before the next attempt.
    if (errorCode === protocolError.unknownTopicOrPartition) continue;
    if (errorCode !== undefined && errorCode !== protocolError.none) {
      throw errorOf(errorCode, `Looking up the bounds of topic ${partition.topic}, partition ${partition.partition},`);
    }
    // Field by field: on Node 20 a spread with added fields takes a microsecond, and its objects take more memory,
    // which adds up to kilobytes for each idle stream.
    bounds.push({
      topic: partition.topic,
      partition: partition.partition,
      earliest: first.offset,
      latest: Math.max(first.offset, end.offset),
    });
  }
  return bounds;
}

function noLeader(missing: readonly TopicPartition[]): LendstreamError {
  const names = missing.slice(0, namedMaximum).map(keyOf).join(', ');
  const others = missing.length > namedMaximum ? ` and ${missing.length - namedMaximum} others` : '';
  return new LendstreamError('LOG_UNAVAILABLE', `No leader responds for ${names}${others}.`);
}

function distinct(partitions: readonly TopicPartition[]): TopicPartition[] {
  return [
    ...new Map(partitions.map(({ topic, partition }) => [keyOf({ topic, partition }), { topic, partition }])).values(),
  ];
}
