import { Router } from 'express';
import { formatOffset, parseOffset, parsePartition } from '../../broker/cursors/cursor-text.ts';
import { unconsumedEvents } from '../../broker/cursors/cursor-arithmetic.ts';
import type { Registry } from '../../broker/definitions/registry.ts';
import type { Clock } from '../../clock.ts';
import type { Coordination } from '../../ports/coordination.ts';
import type { EventLog, PartitionBounds } from '../../ports/event-log.ts';
import type { EventTypes } from '../../broker/event-types/event-types.ts';
import type { Responses, Schemas } from '../../contract.ts';
import { LendstreamError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { readPartitionCount } from '../../broker/event-types/partition-count.ts';
import { readJsonObject } from '../edge/request-body.ts';
import { methodNotAllowed } from '../edge/streaming-errors.ts';
import { refuseParameter, textParameter } from '../edge/query-parameters.ts';

/** The services that the routes of event types and their partitions use. */
export interface EventTypesServices {
  readonly eventTypes: EventTypes;
  readonly registry: Registry;
  readonly coordination: Coordination;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * GET /event-types/{name}/partitions and /partitions/{partition}. The latter takes `consumed_offset` and then shows the
 * number of events after it. PUT /event-types/{name}/partition-count adds partitions.
 */
export function createPartitionsRouter({ eventTypes, log }: EventTypesServices): Router {
  const router = Router({ caseSensitive: true });
  router
    .route('/event-types/:name/partitions')
    .get(async (request, response) => {
      const { eventType, partitionCount } = await eventTypes.get(request.params.name);
      refuseParameter(request, 'cursors', `POST /event-types/${eventType.name}/cursors-lag returns it`);
      const partitions = Array.from({ length: partitionCount }, (_, partition) => ({
        topic: eventType.name,
        partition,
      }));
      const views = (await log.bounds(partitions)).map(partitionView);
      response.json(views satisfies Responses['listPartitions']);
    })
    .all(methodNotAllowed('GET'));
  router
    .route('/event-types/:name/partition-count')
    .put(async (request, response) => {
      const { name } = request.params;
      await eventTypes.get(name);
      const { partition_count: wanted } = await readJsonObject<'setPartitionCount'>(request);
      await eventTypes.setPartitionCount(name, readPartitionCount(wanted));
      response.status(204).end();
    })
    .all(methodNotAllowed('PUT'));
  router
    .route('/event-types/:name/partitions/:partition')
    .get(async (request, response) => {
      const partition = parsePartition(request.params.partition);
      const { eventType, partitionCount } = await eventTypes.getWithPartitions(
        request.params.name,
        partitionsWith(partition),
      );
      if (partition === undefined || partition >= partitionCount) {
        throw new LendstreamError('NOT_FOUND', 'partition not found');
      }
      const consumedOffset = textParameter(request, 'consumed_offset');
      const offset = consumedOffset === undefined ? undefined : parseOffset(consumedOffset);
      const views = (await log.bounds([{ topic: eventType.name, partition }])).map(
        (bounds): Responses['getPartition'] => ({
          ...partitionView(bounds),
          ...(offset === undefined ? {} : { unconsumed_events: unconsumedEvents(bounds, offset) }),
        }),
      );
      response.json(views[0]);
    })
    .all(methodNotAllowed('GET'));
  return router;
}

/** The least number of partitions of an event type that has this one. */
export function partitionsWith(partition: number | undefined): number {
  return partition === undefined ? 1 : partition + 1;
}

/** A partition as the API shows it; `latest` is the offset of the next event, so the newest event is one before it. */
export function partitionView({ earliest, latest, partition }: PartitionBounds): Schemas['Partition'] {
  return {
    oldest_available_offset: formatOffset(earliest),
    newest_available_offset: formatOffset(latest - 1),
    partition: String(partition),
  };
}
