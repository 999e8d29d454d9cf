import { Router } from 'express';
import type { LagCourse, LagHistory } from '../../../broker/subscriptions/lag-history.ts';
import { Subscriptions, type SubscriptionsOptions } from '../../../broker/subscriptions/subscriptions.ts';
import { toTimestamp } from '../../../clock.ts';
import type { Responses, Schemas } from '../../../contract.ts';
import { methodNotAllowed } from '../../edge/streaming-errors.ts';

/** How many values a subscription of a list has, so that a page of a thousand stays small. */
const listValuesMaximum = 60;

/** GET /subscriptions/{id}/lag-history: what a subscription lacked in the last hour, as this process saw it. */
export function createLagHistoryRouter(services: SubscriptionsOptions, history: LagHistory): Router {
  const subscriptions = new Subscriptions(services);
  const router = Router({ caseSensitive: true });
  router
    .route('/subscriptions/:id/lag-history')
    .get(async (request, response) => {
      const { id } = await subscriptions.get(request.params.id);
      response.json(viewOf(history.of(id)) satisfies Responses['getLagHistory']);
    })
    .all(methodNotAllowed('GET'));
  return router;
}

/** The history of one subscription of a list. */
export function lagHistoryOfItem(history: LagHistory, subscriptionId: string): Schemas['LagHistory'] {
  return viewOf(history.of(subscriptionId, listValuesMaximum));
}

function viewOf({ intervalSeconds, lastAt, values }: LagCourse): Schemas['LagHistory'] {
  return {
    interval_seconds: intervalSeconds,
    last_at: lastAt === null ? null : toTimestamp(lastAt),
    unconsumed_events: [...values],
  };
}
