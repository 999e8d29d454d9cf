import { Router } from 'express';
import type { Registry } from '../../../broker/definitions/registry.ts';
import type { Subscription } from '../../../broker/definitions/subscription.ts';
import { subscriptionsByEventType } from '../../../broker/definitions/subscription-lookup.ts';
import type { EventTypes } from '../../../broker/event-types/event-types.ts';
import { compareSchemas } from '../../../broker/schemas/schema-evolution.ts';
import { parseSchema } from '../../../broker/schemas/schema-validator.ts';
import type { RecentLags } from '../../../broker/subscriptions/recent-lags.ts';
import type { Responses } from '../../../contract.ts';
import { LendstreamError } from '../../../errors.ts';
import { rightsOf } from '../../access/rights.ts';
import { pageOf, textParameter } from '../../edge/query-parameters.ts';
import { methodNotAllowed } from '../../edge/streaming-errors.ts';

export interface EventTypeHistoryServices {
  readonly eventTypes: EventTypes;
  readonly registry: Registry;
  readonly lags: RecentLags;
}

/**
 * GET /event-types/{name}/schema-changes: what differs between two versions. GET /event-types/{name}/consumers: the
 * subscriptions that name the event type, those that lack most of its events first.
 */
export function createEventTypeHistoryRouter({ eventTypes, registry, lags }: EventTypeHistoryServices): Router {
  const router = Router({ caseSensitive: true });
  router
    .route('/event-types/:name/schema-changes')
    .get(async (request, response) => {
      const { name } = request.params;
      const from = textParameter(request, 'from') ?? '';
      const to = textParameter(request, 'to') ?? 'latest';
      if (from === '') {
        throw new LendstreamError('MALFORMED_REQUEST', "'from' parameter should be the version to compare with");
      }
      const [before, after] = [await eventTypes.schema(name, from), await eventTypes.schema(name, to)];
      response.json({
        from: before.version,
        to: after.version,
        changes: compareSchemas(parseSchema(before.schema), parseSchema(after.schema)),
      } satisfies Responses['listSchemaChanges']);
    })
    .all(methodNotAllowed('GET'));
  router
    .route('/event-types/:name/consumers')
    .get(async (request, response) => {
      const { name } = request.params;
      const { limit, offset } = pageOf(request);
      const rights = rightsOf(response);
      await eventTypes.get(name);
      const unconsumed = new Map(
        (await lags.get()).flatMap(({ subscriptionId, eventType, unconsumedEvents }) =>
          eventType === name ? [[subscriptionId, unconsumedEvents] as const] : [],
        ),
      );
      const lagOf = ({ id }: Subscription): number => unconsumed.get(id) ?? 0;
      const consumers = registry
        .listBy(subscriptionsByEventType, name)
        .filter((subscription) => rights.maySeeSubscription(subscription))
        .toSorted((left, right) => lagOf(right) - lagOf(left) || (left.id < right.id ? -1 : 1));
      const items = consumers.slice(offset, offset + limit).map((subscription) => ({
        subscription_id: subscription.id,
        owning_application: subscription.owning_application,
        consumer_group: subscription.consumer_group,
        unconsumed_events: unconsumed.get(subscription.id) ?? null,
      }));
      response.json({ items, total: consumers.length } satisfies Responses['listEventTypeConsumers']);
    })
    .all(methodNotAllowed('GET'));
  return router;
}
