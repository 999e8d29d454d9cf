import { Router } from 'express';
import { subscriptionStatistics, subscriptionStatus } from '../../broker/subscriptions/statistics.ts';
import type { Subscription } from '../../broker/definitions/subscription.ts';
import {
  Subscriptions,
  type SubscriptionFilter,
  type SubscriptionsOptions,
} from '../../broker/subscriptions/subscriptions.ts';
import type { Responses, Schemas } from '../../contract.ts';
import { readJsonObject } from '../edge/request-body.ts';
import { methodNotAllowed } from '../edge/streaming-errors.ts';
import {
  attributeParameter,
  flagParameter,
  pageOf,
  refuseParameter,
  textParameter,
  textParameters,
  type Page,
} from '../edge/query-parameters.ts';

/** `/subscriptions`: creating, listing, showing, changing and deleting subscriptions, and their statistics. */
export function createSubscriptionsRouter(services: SubscriptionsOptions): Router {
  const subscriptions = new Subscriptions(services);
  const router = Router({ caseSensitive: true });

  router
    .route('/subscriptions')
    .post(async (request, response) => {
      const { outcome, subscription } = await subscriptions.create(await readJsonObject<'createSubscription'>(request));
      const location = `/subscriptions/${subscription.id}`;
      response.set('Location', location);
      if (outcome === 'created') response.set('Content-Location', location);
      response.status(outcome === 'created' ? 201 : 200).json(subscription satisfies Responses['createSubscription']);
    })
    .get(async (request, response) => {
      refuseParameter(request, 'token', 'limit and offset ask for pages');
      const page = pageOf(request);
      const filter: SubscriptionFilter = {
        owningApplication: textParameter(request, 'owning_application'),
        eventTypes: textParameters(request, 'event_type'),
        reader: attributeParameter(request, 'reader'),
      };
      const isShowingStatus = flagParameter(request, 'show_status');
      const found = subscriptions.list(filter, page);
      const withStatus = async (subscription: Subscription) => ({
        ...subscription,
        status: await subscriptionStatus(services, subscription),
      });
      const items = isShowingStatus ? await Promise.all(found.map(withStatus)) : found;
      const _links = linksOf(filter, page, found.length, isShowingStatus);
      response.json({ items, _links } satisfies Responses['listSubscriptions']);
    })
    .all(methodNotAllowed('GET', 'POST'));

  router
    .route('/subscriptions/:id')
    .get(async (request, response) => {
      response.json((await subscriptions.get(request.params.id)) satisfies Responses['getSubscription']);
    })
    .put(async (request, response) => {
      await subscriptions.update(request.params.id, await readJsonObject<'updateSubscription'>(request));
      response.status(204).end();
    })
    .delete(async (request, response) => {
      await subscriptions.remove(request.params.id);
      response.status(204).end();
    })
    .all(methodNotAllowed('GET', 'PUT', 'DELETE'));

  router
    .route('/subscriptions/:id/stats')
    .get(async (request, response) => {
      const subscription = await subscriptions.get(request.params.id);
      const items = await subscriptionStatistics(services, subscription, flagParameter(request, 'show_time_lag'));
      response.json({ items } satisfies Responses['getSubscriptionStatistics']);
    })
    .all(methodNotAllowed('GET'));

  return router;
}

/** A full page links to a next one, even when nothing follows. Every page but the first links to a previous one. */
function linksOf(
  { eventTypes, owningApplication, reader }: SubscriptionFilter,
  { limit, offset }: Page,
  count: number,
  isShowingStatus: boolean,
): Schemas['Links'] {
  const linkTo = (start: number): NonNullable<Schemas['Links']['next']> => {
    const parameters: [string, string | undefined][] = [
      ...eventTypes.map((name): [string, string] => ['event_type', name]),
      ['owning_application', owningApplication],
      ['reader', reader === undefined ? undefined : `${reader.data_type}:${reader.value}`],
      ['offset', String(start)],
      ['limit', String(limit)],
      ['show_status', isShowingStatus ? 'true' : undefined],
    ];
    const query = parameters.flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${encodeURIComponent(value).replaceAll('%3A', ':')}`],
    );
    return { href: `/subscriptions?${query.join('&')}` };
  };
  return {
    ...(offset > 0 ? { prev: linkTo(Math.max(0, offset - limit)) } : {}),
    ...(count === limit ? { next: linkTo(offset + limit) } : {}),
  };
}
