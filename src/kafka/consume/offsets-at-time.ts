import type { Offset, PartitionBounds, TopicPartition } from '../../ports/event-log.ts';
import type { Clock } from '../../clock.ts';
import { isLendstreamError } from '../../errors.ts';
import type { RequestSender } from '../connection/connections.ts';
import type { ClusterMetadata } from '../connection/cluster-metadata.ts';
import { groupByLeader } from '../connection/partition-leaders.ts';
import { errorOf, protocolError } from '../protocol/error-codes.ts';
import { keyOf } from '../protocol/partitions-by-topic.ts';
import { listOffsetsRequest, type ListedOffset } from '../protocol/list-offsets-request.ts';
import { listBounds } from './partition-bounds.ts';

/** How often leaders are asked again that moved between two questions. */
const attemptsMaximum = 5;

interface Services {
  readonly connections: RequestSender;
  readonly metadata: ClusterMetadata;
  readonly clock: Clock;
}

/**
 * Returns, for each partition, the first offset whose record was appended at a time or later, as the leaders' time
 * indexes have it; the end where there is none.
 * @throws UNKNOWN_TOPIC_OR_PARTITION, LOG_UNAVAILABLE
 */
export async function listOffsetsAt(
  services: Services,
  partitions: readonly TopicPartition[],
  time: number,
): Promise<(TopicPartition & { readonly offset: Offset })[]> {
  for (let attempt = 1; ; attempt += 1) {
    // Finds the leaders, waiting for new ones, and the end for partitions without such a record.
    const bounds = await listBounds(services, partitions);
    try {
      const listed = new Map((await askLeaders(services, partitions, time)).map((each) => [keyOf(each), each]));
      return bounds.map((ends) => positionAt(ends, listed.get(keyOf(ends))));
    } catch (error) {
      if (!isLendstreamError(error) || !error.retriable || attempt === attemptsMaximum) throw error;
      for (const topic of new Set(partitions.map((partition) => partition.topic))) {
        services.metadata.forgetLeaders(topic);
      }
    }
  }
}

async function askLeaders(
  { connections, metadata }: Services,
  partitions: readonly TopicPartition[],
  time: number,
): Promise<ListedOffset[]> {
  const byLeader = await groupByLeader(metadata, partitions);
  // Kafka takes -1 for the end and refuses most other times before 1970. No record is that old.
  const timestamp = Math.max(0, time);
  const listed = await Promise.all(
    [...byLeader].map(([leader, led]) => connections.send(leader, 'metadata', listOffsetsRequest(led, timestamp, {}))),
  );
  return listed.flat();
}

/** @throws LOG_UNAVAILABLE when the broker does not lead the partition, and other errors that it reports */
function positionAt(
  { topic, partition, earliest, latest }: PartitionBounds,
  listed: ListedOffset | undefined,
): TopicPartition & { readonly offset: Offset } {
  const errorCode = listed?.errorCode ?? protocolError.leaderNotAvailable;
  if (errorCode !== protocolError.none) {
    throw errorOf(errorCode, `Looking up a time in topic ${topic}, partition ${partition},`);
  }
  const offset = listed === undefined || listed.offset < 0 ? latest : listed.offset;
  return { topic, partition, offset: Math.max(offset, earliest) };
}
