import { Router, type Request, type Response } from 'express';
import { parsePartition } from '../../../broker/cursors/cursor-text.ts';
import { isReadingBlocked } from '../../../broker/definitions/blacklist.ts';
import type { Registry } from '../../../broker/definitions/registry.ts';
import type { EventTypes } from '../../../broker/event-types/event-types.ts';
import {
  recentEventsBounds,
  recentEventsMaximum,
  RecentPublishers,
} from '../../../broker/retained-events/recent-publishers.ts';
import type { RequestedPlace } from '../../../broker/retained-events/retained-events.ts';
import type { Responses } from '../../../contract.ts';
import { LendstreamError } from '../../../errors.ts';
import { methodNotAllowed } from '../../edge/streaming-errors.ts';
import { partitionsWith } from '../partitions.ts';
import { consumptionBlocked } from '../subscription-events.ts';
import { requestedPlace, type EventPages } from './event-pages.ts';

export interface RetainedEventsRouterServices {
  readonly eventTypes: EventTypes;
  readonly registry: Registry;
  /** Topics that can be read here although they are no event types, with their numbers of partitions. */
  readonly otherTopics: ReadonlyMap<string, number>;
  readonly pages: EventPages;
}

/**
 * GET /event-types/{name}/partitions/{partition}/events and GET /event-types/{name}/retained-events: pages of the
 * events that the log holds, of one partition or of all in the order of time, forward or backward, and only those that
 * a request searches for. GET /event-types/{name}/publishers: who published the latest ones.
 */
export function createRetainedEventsRouter(services: RetainedEventsRouterServices): Router {
  const router = Router({ caseSensitive: true });
  const respond = async (request: Request, response: Response, partition: number | undefined): Promise<void> => {
    const topic = String(request.params['name']);
    const place = requestedPlace(request);
    const partitions = await partitionsOf(services, topic, partition, place);
    if (isReadingBlocked(services.registry, topic)) throw consumptionBlocked();
    await services.pages.respond(request, response, { topic, partitions, place });
  };

  router
    .route('/event-types/:name/partitions/:partition/events')
    .get(async (request, response) => {
      const partition = parsePartition(request.params.partition);
      if (partition === undefined) throw partitionNotFound();
      await respond(request, response, partition);
    })
    .all(methodNotAllowed('GET'));
  router
    .route('/event-types/:name/retained-events')
    .get((request, response) => respond(request, response, undefined))
    .all(methodNotAllowed('GET'));
  router
    .route('/event-types/:name/publishers')
    .get(async (request, response) => {
      const { name } = request.params;
      const { partitionCount } = await services.eventTypes.get(name);
      if (isReadingBlocked(services.registry, name)) throw consumptionBlocked();
      const publishers = new RecentPublishers();
      const page = await services.pages.find(
        response,
        {
          topic: name,
          partitions: Array.from({ length: partitionCount }, (_, partition) => partition),
          place: { direction: 'backward', from: undefined },
          searchedFor: {},
          limit: recentEventsMaximum,
          itemOf: (found) => publishers.add(found),
        },
        recentEventsBounds,
      );
      if (page === undefined) return;
      response.json({
        items: publishers.list().map(({ name: publisher, events, lastPublishedAt, lastFlowId }) => ({
          published_by: publisher,
          events,
          last_published_at: lastPublishedAt,
          last_flow_id: lastFlowId,
        })),
        events: page.items.length,
        ended_by: page.endedBy,
      } satisfies Responses['listPublishers']);
    })
    .all(methodNotAllowed('GET'));
  return router;
}

/** @throws NOT_FOUND */
async function partitionsOf(
  { eventTypes, otherTopics }: RetainedEventsRouterServices,
  name: string,
  partition: number | undefined,
  place: RequestedPlace,
): Promise<readonly number[]> {
  const named =
    partition === undefined ? ('positions' in place ? place.positions.length : 1) : partitionsWith(partition);
  const count = otherTopics.get(name) ?? (await eventTypes.getWithPartitions(name, named)).partitionCount;
  if (partition === undefined) return Array.from({ length: count }, (_, number) => number);
  if (partition >= count) throw partitionNotFound();
  return [partition];
}

function partitionNotFound(): LendstreamError {
  return new LendstreamError('NOT_FOUND', 'partition not found');
}
