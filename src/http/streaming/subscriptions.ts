import { Router, type Request } from 'express';
import { OwnedDefinitions } from '../../access/limits/owned-definitions.ts';
import { subscriptionStatistics, subscriptionStatus } from '../../broker/subscriptions/statistics.ts';
import type { LagHistory } from '../../broker/subscriptions/lag-history.ts';
import type { Subscription } from '../../broker/definitions/subscription.ts';
import {
  Subscriptions,
  type SubscriptionFilter,
  type SubscriptionsOptions,
} from '../../broker/subscriptions/subscriptions.ts';
import type { Responses, Schemas } from '../../contract.ts';
import { LendstreamError } from '../../errors.ts';
import { usageOf } from '../access/limits/usage-of-response.ts';
import { rightsOf } from '../access/rights.ts';
import { isUnchanged } from '../edge/entity-tags.ts';
import { readJsonObject } from '../edge/request-body.ts';
import { methodNotAllowed } from '../edge/streaming-errors.ts';
import { attributeParameter, flagParameter, pageOf, textParameter, textParameters } from '../edge/query-parameters.ts';
import { lagHistoryOfItem } from './finding/lag-history.ts';
import { lagField, lagsOfList, type WithLags } from './finding/list-lags.ts';
import { orderOf, searchOf, type Orders } from './finding/list-order.ts';

interface SubscriptionsServices extends SubscriptionsOptions, WithLags {
  readonly lagHistory: LagHistory;
}

/** `/subscriptions`: creating, listing, showing, changing and deleting subscriptions, and their statistics. */
export function createSubscriptionsRouter(services: SubscriptionsServices): Router {
  const subscriptions = new Subscriptions(services);
  const owned = new OwnedDefinitions(services.registry);
  const router = Router({ caseSensitive: true });

  /** A full page links to a next one, even when nothing follows. Every page but the first links to a previous one. */
  const pageByOffset = (query: PageQuery, offset: number): FoundPage => {
    const { filter, limit } = query;
    const found = subscriptions.list(filter, { offset, limit });
    const linkTo = (start: number) => linkToPage(query, ['offset', String(start)]);
    return {
      found,
      _links: {
        ...(offset > 0 ? { prev: linkTo(Math.max(0, offset - limit)) } : {}),
        ...(found.length === limit ? { next: linkTo(offset + limit) } : {}),
      },
    };
  };

  const pageByToken = (query: PageQuery, token: string): FoundPage => {
    const page = subscriptions.listByToken(query.filter, token, query.limit);
    return {
      found: page.subscriptions,
      _links: {
        ...(page.previous === undefined ? {} : { prev: linkToPage(query, ['token', page.previous]) }),
        ...(page.next === undefined ? {} : { next: linkToPage(query, ['token', page.next]) }),
      },
    };
  };

  router
    .route('/subscriptions')
    .post(async (request, response) => {
      const body = await readJsonObject<'createSubscription'>(request);
      const rights = rightsOf(response);
      const owner = body['owning_application'];
      rights.requireOwner(owner);
      await rights.requireReadableEvents(body['event_types']);
      const { outcome, subscription } = await owned.whileCreating(
        usageOf(response),
        'subscription',
        owner,
        (refuseBeyondLimit) => subscriptions.create(body, refuseBeyondLimit),
      );
      const location = `/subscriptions/${subscription.id}`;
      response.set('Location', location);
      if (outcome === 'created') response.set('Content-Location', location);
      response.status(outcome === 'created' ? 201 : 200).json(subscription satisfies Responses['createSubscription']);
    })
    .get(async (request, response) => {
      const page = pageOf(request);
      const rights = rightsOf(response);
      const token = textParameter(request, 'token');
      const lags = await lagsOfList(request, services.lags);
      const filter: SubscriptionFilter = {
        owningApplication: textParameter(request, 'owning_application'),
        eventTypes: textParameters(request, 'event_type'),
        reader: attributeParameter(request, 'reader'),
        isVisible: rights.isRestricted ? (subscription) => rights.maySeeSubscription(subscription) : undefined,
        matches: searchOf(request),
        compare: orderOf<Subscription>(request, {
          ...subscriptionOrders,
          [lagField]: ({ id }) => lags?.ofSubscriptions.get(id) ?? -1,
        }),
      };
      if (token !== undefined && filter.compare !== undefined) {
        throw new LendstreamError(
          'MALFORMED_REQUEST',
          "Pages by 'token' have an order of their own: leave out 'sort'.",
        );
      }
      const isShowingStatus = flagParameter(request, 'show_status');
      const isShowingLagHistory = flagParameter(request, 'show_lag_history');
      const query = { filter, limit: page.limit, isShowingStatus, listing: listingOf(request) };
      const { found, _links } = token === undefined ? pageByOffset(query, page.offset) : pageByToken(query, token);
      // The status of partitions and the lag are no part of any definition.
      const version = `${services.registry.version}-${rightsOf(response).seenAs}`;
      if (!isShowingStatus && lags === undefined && isUnchanged(request, response, version)) return;
      response.set('Items-Total', String(subscriptions.count(filter)));
      const view = async (subscription: Subscription) => ({
        ...subscription,
        ...(lags?.isShown === true
          ? {
              lag: {
                unconsumed_events: lags.ofSubscriptions.get(subscription.id) ?? null,
                ...(isShowingLagHistory ? { history: lagHistoryOfItem(services.lagHistory, subscription.id) } : {}),
              },
            }
          : {}),
        ...(isShowingStatus ? { status: await subscriptionStatus(services, subscription) } : {}),
      });
      const items = await Promise.all(found.map(view));
      response.json({ items, _links } satisfies Responses['listSubscriptions']);
    })
    .all(methodNotAllowed('GET', 'POST'));

  router
    .route('/subscriptions/:id')
    .get(async (request, response) => {
      const subscription = await subscriptions.get(request.params.id);
      if (isUnchanged(request, response, services.registry.version)) return;
      response.json(subscription satisfies Responses['getSubscription']);
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

const subscriptionOrders: Orders<Subscription> = {
  owning_application: ({ owning_application: owner }) => owner,
  consumer_group: ({ consumer_group: group }) => group,
  created_at: ({ created_at: createdAt }) => createdAt,
};

/** The parameters that say what is listed and how, as links repeat them. */
function listingOf(request: Request): readonly (readonly [name: string, value: string | undefined])[] {
  return [
    ...['q', 'sort'].map((name) => [name, textParameter(request, name)] as const),
    ...['show_lag', 'show_lag_history'].map(
      (name) => [name, flagParameter(request, name) ? 'true' : undefined] as const,
    ),
  ];
}

/** What all pages of a list have in common. */
interface PageQuery {
  readonly filter: SubscriptionFilter;
  readonly limit: number;
  readonly isShowingStatus: boolean;
  readonly listing: readonly (readonly [name: string, value: string | undefined])[];
}

interface FoundPage {
  readonly found: readonly Subscription[];
  readonly _links: Schemas['Links'];
}

/** @param place The parameter that says which page. */
function linkToPage(
  { filter: { eventTypes, owningApplication, reader }, limit, isShowingStatus, listing }: PageQuery,
  place: readonly [name: string, value: string],
): { readonly href: string } {
  const parameters: (readonly [string, string | undefined])[] = [
    ...eventTypes.map((name) => ['event_type', name] as const),
    ['owning_application', owningApplication],
    ['reader', reader === undefined ? undefined : `${reader.data_type}:${reader.value}`],
    ...listing,
    place,
    ['limit', String(limit)],
    ['show_status', isShowingStatus ? 'true' : undefined],
  ];
  const query = parameters.flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value).replaceAll('%3A', ':')}`],
  );
  return { href: `/subscriptions?${query.join('&')}` };
}
