import { Router } from 'express';
import type { Coordination, PartitionOwnership } from '../../ports/coordination.ts';
import type { HistoryRecorder } from '../../broker/subscriptions/history-recorder.ts';
import type { Registry } from '../../broker/definitions/registry.ts';
import { findSubscription } from '../../broker/definitions/subscription-lookup.ts';
import { toTimestamp } from '../../clock.ts';
import type { Responses, Schemas } from '../../contract.ts';
import { methodNotAllowed } from '../edge/streaming-errors.ts';

export interface SubscriptionStreamsServices {
  readonly registry: Registry;
  readonly coordination: Coordination;
  readonly activity: HistoryRecorder;
}

/**
 * GET /subscriptions/{id}/streams: the open streams and the partitions they hold, the last commits, and why streams
 * ended, on all processes.
 */
export function createSubscriptionStreamsRouter(services: SubscriptionStreamsServices): Router {
  const { registry, coordination, activity } = services;
  const router = Router({ caseSensitive: true });
  router
    .route('/subscriptions/:id/streams')
    .get(async (request, response) => {
      const { id } = await findSubscription(registry, request.params.id);
      const [{ sessions, partitions }, { since, lastCommits, endedStreams }] = await Promise.all([
        coordination.topology(id),
        activity.historyOf(id),
      ]);
      response.json({
        items: sessions.map(({ streamId, nodeId, openedAt, requestedPartitions }) => ({
          stream_id: streamId,
          node_id: nodeId,
          opened_at: toTimestamp(openedAt),
          assignment_type: requestedPartitions.length > 0 ? 'direct' : 'auto',
          partitions: partitions.flatMap((partition) =>
            partition.streamId === streamId ? partitionView(partition) : [],
          ),
        })),
        observed_since: toTimestamp(since),
        last_commits: lastCommits.map(({ eventType, partition, offset, committedAt }) => ({
          event_type: eventType,
          partition: String(partition),
          offset,
          committed_at: toTimestamp(committedAt),
        })),
        ended: endedStreams.map(({ streamId, endedAt, reason }) => ({
          stream_id: streamId,
          ended_at: toTimestamp(endedAt),
          reason,
        })),
      } satisfies Responses['listSubscriptionStreams']);
    })
    .all(methodNotAllowed('GET'));
  return router;
}

type AssignedPartition = Schemas['SubscriptionStreams']['items'][number]['partitions'][number];

function partitionView({ eventType, partition, state }: PartitionOwnership): AssignedPartition[] {
  return state === 'unassigned' ? [] : [{ event_type: eventType, partition: String(partition), state }];
}
