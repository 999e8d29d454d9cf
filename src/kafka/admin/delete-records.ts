import type { Offset, TopicPartition } from '../../ports/event-log.ts';
import { LendstreamError } from '../../errors.ts';
import type { KafkaConnections } from '../connection/connections.ts';
import type { KafkaRequest } from '../protocol/request.ts';
import { listOffsetsRequest, timestamps } from '../protocol/list-offsets-request.ts';
import type { ClusterMetadata } from '../connection/cluster-metadata.ts';
import { errorOf, isLeadershipError, isUnknownTopic, protocolError } from '../protocol/error-codes.ts';
import { deleteRecordsRequest } from '../protocol/delete-records-request.ts';

/** The offset in a ListOffsets response when no record is as recent as the requested time. */
const noOffset = -1;

/**
 * Deletes the records below an offset that were appended before a time. Sends each request to the partition's leader
 * once.
 * @param appendedBefore Milliseconds since the epoch.
 * @throws UNKNOWN_TOPIC_OR_PARTITION, LOG_UNAVAILABLE (also when the leadership has moved: call again later)
 */
export async function deleteRecords(
  { connections, metadata }: { readonly connections: KafkaConnections; readonly metadata: ClusterMetadata },
  { topic, partition, offset }: TopicPartition & { readonly offset: Offset },
  appendedBefore: number,
): Promise<void> {
  const topicPartition = { topic, partition };
  const leader = await metadata.leaderOf(topicPartition);
  const what = `Deleting records of topic ${topic}, partition ${partition},`;
  const send = async <Result extends { readonly errorCode: number }>(
    request: KafkaRequest<Result[]>,
  ): Promise<Result> => {
    const [result] = await connections.send(leader, 'metadata', request);
    if (result?.errorCode === protocolError.none) return result;
    const code = result?.errorCode ?? protocolError.unknownServerError;
    if (isLeadershipError(code) || isUnknownTopic(code)) metadata.forgetLeaders(topic);
    if (isLeadershipError(code)) throw new LendstreamError('LOG_UNAVAILABLE', `${what} failed: its leader has moved.`);
    throw errorOf(code, what);
  };
  // Nothing is older than the epoch, and a time below zero has a meaning of its own in ListOffsets.
  const first = await send(listOffsetsRequest([topicPartition], Math.max(0, appendedBefore), {}));
  const end = first.offset === noOffset ? offset : Math.min(offset, first.offset);
  const earliest = await send(listOffsetsRequest([topicPartition], timestamps.earliest, {}));
  if (end > earliest.offset) await send(deleteRecordsRequest(topicPartition, end));
}
