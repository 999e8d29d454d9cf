import { Router, type Request, type Response } from 'express';
import { isDeepStrictEqual } from 'node:util';
import { OwnedDefinitions } from '../../access/limits/owned-definitions.ts';
import { hasRole } from '../../broker/definitions/authorization.ts';
import type { EventType, EventTypeRecord } from '../../broker/definitions/event-type.ts';
import { subscriptionsByEventType } from '../../broker/definitions/subscription-lookup.ts';
import { isSwitchedOn } from '../../broker/definitions/feature-switches.ts';
import {
  enrichmentStrategies,
  partitionStrategies,
  readEventType,
} from '../../broker/event-types/requested-event-type.ts';
import { readBoundedSchema } from '../../broker/schemas/admin-schema.ts';
import { Subscriptions } from '../../broker/subscriptions/subscriptions.ts';
import type { Responses, Schemas } from '../../contract.ts';
import { LendstreamError, isLendstreamError } from '../../errors.ts';
import { principalOf } from '../access/principal-of-request.ts';
import { usageOf } from '../access/limits/usage-of-response.ts';
import { rightsOf } from '../access/rights.ts';
import { readJsonObject } from '../edge/request-body.ts';
import { createCursorOperationsRouter } from './cursor-operations.ts';
import { createPartitionsRouter, type EventTypesServices } from './partitions.ts';
import { isUnchanged } from '../edge/entity-tags.ts';
import { writeJsonArray } from '../edge/json-array.ts';
import { methodNotAllowed, sendProblem } from '../edge/streaming-errors.ts';
import { attributeParameter, flagParameter, pageOf, textParameter, type Page } from '../edge/query-parameters.ts';
import { lagField, lagsOfList, type WithLags } from './finding/list-lags.ts';
import { orderOf, searchOf, type Orders } from './finding/list-order.ts';
import { schemaTextOf } from './schema-text.ts';

/** Event types, their schemas and partitions, and the registry of strategies. */
export function createEventTypesRouter(services: EventTypesServices & WithLags): Router {
  const router = Router({ caseSensitive: true });
  addEventTypes(router, services);
  addSchemas(router, services);
  router.use(createPartitionsRouter(services), createCursorOperationsRouter(services));
  router
    .route('/registry/enrichment-strategies')
    .get((_request, response) => {
      response.json(enrichmentStrategies satisfies Responses['listEnrichmentStrategies']);
    })
    .all(methodNotAllowed('GET'));
  router
    .route('/registry/partition-strategies')
    .get((_request, response) => {
      response.json(partitionStrategies satisfies Responses['listPartitionStrategies']);
    })
    .all(methodNotAllowed('GET'));
  return router;
}

function addEventTypes(router: Router, services: EventTypesServices & WithLags): void {
  const { eventTypes, clock } = services;
  const subscriptions = new Subscriptions(services);
  const owned = new OwnedDefinitions(services.registry);
  router
    .route('/event-types')
    .get(async (request, response) => {
      const rights = rightsOf(response);
      const version = `${services.registry.version}-${rights.seenAs}`;
      const owner = textParameter(request, 'owning_application');
      const writer = attributeParameter(request, 'writer');
      const matches = searchOf(request);
      const lags = await lagsOfList(request, services.lags);
      const order = orderOf<EventTypeRecord>(request, {
        ...eventTypeOrders,
        [lagField]: ({ eventType }) => lags?.ofEventTypes.get(eventType.name) ?? -1,
      });
      const found = eventTypes
        .list()
        .filter((record) => rights.maySeeEventType(record))
        .filter(({ eventType }) => owner === undefined || eventType.owning_application === owner)
        .filter(({ eventType }) => writer === undefined || hasRole(eventType.authorization, 'writers', writer))
        .filter(({ eventType }) => matches?.(eventType.name, eventType.owning_application) ?? true);
      if (order !== undefined) found.sort(order);
      const items = pageItems(found, optionalPage(request));
      // Lags are no part of any definition.
      if (lags === undefined && isUnchanged(request, response, version)) return;
      response.set('Items-Total', String(found.length));
      const lagOf = ({ eventType: { name }, partitionCount }: EventTypeRecord): Lag => ({
        partitions: partitionCount,
        subscriptions: services.registry
          .listBy(subscriptionsByEventType, name)
          .filter((subscription) => rights.maySeeSubscription(subscription)).length,
        unconsumed_events: lags?.ofEventTypes.get(name) ?? null,
      });
      const write = (record: EventTypeRecord): string =>
        writeEventType(record.eventType, lags?.isShown === true ? lagOf(record) : undefined);
      // All of them, with their schemas, may be many megabytes.
      response.type('json').send(await writeJsonArray(items, write, clock));
    })
    .post(async (request, response) => {
      const definition = readEventType(await readJsonObject<'createEventType'>(request), eventTypes.limits);
      const { owning_application: owner } = definition;
      rightsOf(response).requireOwner(owner);
      await owned.whileCreating(usageOf(response), 'event-type', owner, (refuseBeyondLimit) =>
        eventTypes.create(definition, principalOf(response).name, refuseBeyondLimit),
      );
      response.status(201).end();
    })
    .all(methodNotAllowed('GET', 'POST'));
  router
    .route('/event-types/:name')
    .get(async (request, response) => {
      const { eventType } = await eventTypes.get(request.params.name);
      if (isUnchanged(request, response, services.registry.version)) return;
      response.json(viewOf(eventType) satisfies Responses['getEventType']);
    })
    .put(async (request, response) => {
      await eventTypes.get(request.params.name);
      const definition = readEventType(await readJsonObject<'updateEventType'>(request), eventTypes.limits);
      rightsOf(response).requireOwner(definition.owning_application);
      await eventTypes.update(request.params.name, definition, principalOf(response).name);
      response.status(200).end();
    })
    .delete(async (request, response) => {
      const { name } = request.params;
      if (isSwitchedOn(services.registry, 'delete_event_type_with_subscriptions')) {
        await eventTypes.checkRemovable(name);
        await subscriptions.removeAllOf(name);
      }
      try {
        await eventTypes.remove(name);
      } catch (error) {
        const inTheWay = isLendstreamError(error, 'CONFLICT')
          ? subscriptionsInTheWay(services, response, name)
          : undefined;
        if (inTheWay === undefined) throw error;
        sendProblem(response, error as LendstreamError, inTheWay);
        return;
      }
      response.status(200).end();
    })
    .all(methodNotAllowed('GET', 'PUT', 'DELETE'));
}

/** How many subscriptions a refused deletion names. */
export const subscriptionsNamedMaximum = 20;

/**
 * The subscriptions that an event type cannot be deleted for, as members of a problem: those that the sender may see,
 * by id, and how many they are. Of others it says only that there are some. Undefined when there are none.
 */
function subscriptionsInTheWay(
  { registry }: EventTypesServices,
  response: Response,
  name: string,
): Pick<Schemas['Problem'], 'subscriptions' | 'subscriptions_total' | 'other_subscriptions'> | undefined {
  const all = registry.listBy(subscriptionsByEventType, name);
  if (all.length === 0) return undefined;
  const rights = rightsOf(response);
  const seen = all.filter((subscription) => rights.maySeeSubscription(subscription));
  return {
    subscriptions_total: seen.length,
    subscriptions: seen
      .toSorted((left, right) => (left.id < right.id ? -1 : 1))
      .slice(0, subscriptionsNamedMaximum)
      .map(({ id, owning_application, consumer_group }) => ({
        subscription_id: id,
        owning_application,
        consumer_group,
      })),
    ...(seen.length < all.length ? { other_subscriptions: true } : {}),
  };
}

const eventTypeOrders: Orders<EventTypeRecord> = {
  name: ({ eventType }) => eventType.name,
  owning_application: ({ eventType }) => eventType.owning_application,
  created_at: ({ eventType }) => eventType.created_at,
  updated_at: ({ eventType }) => eventType.updated_at,
  category: ({ eventType }) => eventType.category,
  // Those of the service are last, and otherwise as before: by name.
  built_in: ({ system }) => (system ? 1 : 0),
};

type Lag = NonNullable<Schemas['EventType']['lag']>;

/** An event type as the API shows it: an audience that was never set is left out, other empty fields are null. */
function viewOf(eventType: EventType): Schemas['EventType'] {
  const { audience, ...rest } = eventType;
  // The list of versions says who made each.
  const { created_by: _by, ...schema } = rest.schema;
  const shown = { ...rest, schema };
  return audience === null ? shown : { ...shown, audience };
}

function writeEventType(eventType: EventType, lag: Lag | undefined): string {
  const view = viewOf(eventType);
  return JSON.stringify((lag === undefined ? view : { ...view, lag }) satisfies Responses['listEventTypes'][number]);
}

/** The requested page; null when the request names none, as event types are then listed whole. */
function optionalPage(request: Request): Page | null {
  const isPaged = ['limit', 'offset'].some((name) => textParameter(request, name) !== undefined);
  return isPaged ? pageOf(request) : null;
}

function pageItems<Item>(items: readonly Item[], page: Page | null): readonly Item[] {
  return page === null ? items : items.slice(page.offset, page.offset + page.limit);
}

function addSchemas(router: Router, { eventTypes, registry }: EventTypesServices): void {
  router
    .route('/event-types/:name/schemas')
    .get(async (request, response) => {
      const page = pageOf(request);
      const schemas = await eventTypes.schemas(request.params.name);
      if (isUnchanged(request, response, registry.version)) return;
      const path = `/event-types/${encodeURIComponent(request.params.name)}/schemas`;
      const _links = linksOf(path, page, schemas.length);
      response.json({ items: pageItems(schemas, page), _links } satisfies Responses['listSchemas']);
    })
    .post(async (request, response) => {
      const { name } = request.params;
      await eventTypes.get(name);
      const text = schemaTextOf(await readJsonObject<'addSchema'>(request));
      if (!flagParameter(request, 'fetch')) {
        const added = await eventTypes.addSchema(name, text, principalOf(response).name);
        response.json(added satisfies Responses['addSchema']);
        return;
      }
      const requestedSchema = readBoundedSchema(text);
      const schemas = await eventTypes.schemas(name);
      const found = schemas.find((schema) => isDeepStrictEqual(readBoundedSchema(schema.schema), requestedSchema));
      if (found === undefined) {
        throw new LendstreamError('NOT_FOUND', `EventType "${name}" has no schema equal to the one given.`);
      }
      response.json(found satisfies Responses['addSchema']);
    })
    .all(methodNotAllowed('GET', 'POST'));
  router
    .route('/event-types/:name/schemas/:version')
    .get(async (request, response) => {
      const schema = await eventTypes.schema(request.params.name, request.params.version);
      response.json(schema satisfies Responses['getSchema']);
    })
    .all(methodNotAllowed('GET'));
}

/** A page that is entirely beyond the end has no neighbours. */
function linksOf(path: string, { limit, offset }: Page, total: number): Schemas['Links'] {
  const link = (to: number): { href: string } => ({ href: `${path}?offset=${to}&limit=${limit}` });
  return {
    ...(offset > 0 && offset < total ? { prev: link(Math.max(0, offset - limit)) } : {}),
    ...(offset + limit < total ? { next: link(offset + limit) } : {}),
  };
}
