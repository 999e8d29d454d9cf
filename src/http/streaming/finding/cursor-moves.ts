import { Router } from 'express';
import { formatOffset } from '../../../broker/cursors/cursor-text.ts';
import { moveSubscription, type PartitionMove } from '../../../broker/subscriptions/cursor-moves.ts';
import type { CommitServices } from '../../../broker/subscriptions/commits.ts';
import type { Responses } from '../../../contract.ts';
import { rightsOf } from '../../access/rights.ts';
import { readJsonObject } from '../../edge/request-body.ts';
import { methodNotAllowed } from '../../edge/streaming-errors.ts';

/** POST /subscriptions/{id}/cursor-moves: moves the cursors of a subscription, or says what would happen. */
export function createCursorMovesRouter(services: CommitServices): Router {
  const router = Router({ caseSensitive: true });
  router
    .route('/subscriptions/:id/cursor-moves')
    .post(async (request, response) => {
      const body = await readJsonObject<'moveCursors'>(request);
      // Another subscription's cursors show how far its consumers are.
      const { subscription_id: other } = (body['to'] ?? {}) as { readonly subscription_id?: unknown };
      if (typeof other === 'string') await rightsOf(response).requireSubscription(other);
      const { items, isApplied, openStreams } = await moveSubscription(services, request.params.id, body);
      const total = (of: (item: PartitionMove) => number): number => items.reduce((sum, item) => sum + of(item), 0);
      response.json({
        applied: isApplied,
        open_streams: openStreams,
        skipped: total(({ skipped }) => skipped),
        repeated: total(({ repeated }) => repeated),
        items: items.map(({ eventType, partition, before, after, skipped, repeated }) => ({
          event_type: eventType,
          partition: String(partition),
          before: formatOffset(before),
          after: formatOffset(after),
          skipped,
          repeated,
        })),
      } satisfies Responses['moveCursors']);
    })
    .all(methodNotAllowed('POST'));
  return router;
}
