import { Router } from 'express';
import type { Coordination, PartitionOwnership } from '../broker/coordination.ts';
import type { Registry } from '../broker/registry.ts';
import { findSubscription } from '../broker/subscription.ts';
import { toTimestamp } from '../clock.ts';
import type { Answers, Schemas } from '../contract.ts';
import { catchUpOnMiss } from './catch-up.ts';
import { methodNotAllowed } from './problem.ts';
import type { StreamHistory } from './stream-history.ts';

export interface SubscriptionStreamsServices {
  readonly registry: Registry;
  readonly coordination: Coordination;
  readonly history: StreamHistory;
}

/**
 * GET /subscriptions/{id}/streams: the streams that are open, on whatever process, and what they hold; with what the
 * process that answers saw itself since it started, the last commits and why streams ended.
 */
export function createSubscriptionStreamsRouter(services: SubscriptionStreamsServices): Router {
  const { registry, coordination, history } = services;
  registry.onChange(({ kind, name, value }) => {
    if (kind === 'subscription' && value === null) history.forget(name);
  });
  const router = Router();
  router.param('id', catchUpOnMiss(registry, 'subscription'));
  router
    .route('/subscriptions/:id/streams')
    .get(async (request, response) => {
      const { id } = findSubscription(registry, request.params.id);
      const { sessions, partitions } = await coordination.topology(id);
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
        observed_since: toTimestamp(history.since),
        last_commits: history.lastCommits(id),
        ended: history.endedStreams(id),
      } satisfies Answers['listSubscriptionStreams']);
    })
    .all(methodNotAllowed('GET'));
  return router;
}

type HeldPartition = Schemas['SubscriptionStreams']['items'][number]['partitions'][number];

function partitionView({ eventType, partition, state }: PartitionOwnership): HeldPartition[] {
  return state === 'unassigned' ? [] : [{ event_type: eventType, partition: String(partition), state }];
}
