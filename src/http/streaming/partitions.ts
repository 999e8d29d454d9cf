import { Router } from 'express';
import { formatOffset, parseOffset, parsePartition } from '../../broker/cursors/cursor-text.ts';
import { unconsumedEvents } from '../../broker/cursors/cursor-arithmetic.ts';
import { initialiseSubscriptionsOf } from '../../broker/subscriptions/starting-offsets.ts';
import type { Registry } from '../../broker/definitions/registry.ts';
import type { Clock } from '../../clock.ts';
import type { Coordination } from '../../ports/coordination.ts';
import type { EventLog, Offset, PartitionBounds } from '../../ports/event-log.ts';
import type { EventTypes } from '../../broker/event-types/event-types.ts';
import type { Responses, Schemas } from '../../contract.ts';
import { LendstreamError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { readPartitionCount } from '../../broker/event-types/partition-count.ts';
import { readJsonObject } from '../edge/request-body.ts';
import { methodNotAllowed } from '../edge/streaming-errors.ts';
import { textParameter } from '../edge/query-parameters.ts';

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
 * GET /event-types/{name}/partitions and /partitions/{partition}. The first takes `cursors` and the latter
 * `consumed_offset`, and they then show the number of events after that. PUT /event-types/{name}/partition-count adds
 * partitions.
 */
export function createPartitionsRouter(services: EventTypesServices): Router {
  const { eventTypes, log } = services;
  const router = Router({ caseSensitive: true });
  router
    .route('/event-types/:name/partitions')
    .get(async (request, response) => {
      const consumed = consumedOffsets(
        textParameter(request, 'cursors'),
        Math.max(consumedCursorsMinimum, eventTypes.limits.partitionsPerEventType),
      );
      const named = partitionsWith(Math.max(0, ...consumed.keys()));
      const { eventType, partitionCount } = await eventTypes.getWithPartitions(request.params.name, named);
      if (named > partitionCount) throw new LendstreamError('UNPROCESSABLE', `non existing partition ${named - 1}`);
      const partitions = Array.from({ length: partitionCount }, (_, partition) => ({
        topic: eventType.name,
        partition,
      }));
      const views = (await log.bounds(partitions)).map((bounds) => viewAfter(bounds, consumed.get(bounds.partition)));
      response.json(views satisfies Responses['listPartitions']);
    })
    .all(methodNotAllowed('GET'));
  router
    .route('/event-types/:name/partition-count')
    .put(async (request, response) => {
      const { name } = request.params;
      await eventTypes.get(name);
      const { partition_count: wanted } = await readJsonObject<'setPartitionCount'>(request);
      await eventTypes.setPartitionCount(name, readPartitionCount(wanted), () =>
        initialiseSubscriptionsOf(services, name),
      );
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
      const [bounds] = await log.bounds([{ topic: eventType.name, partition }]);
      response.json(viewAfter(bounds as PartitionBounds, offset) satisfies Responses['getPartition']);
    })
    .all(methodNotAllowed('GET'));
  return router;
}

/** A partition, with how many events follow a position in it where there is one. */
function viewAfter(bounds: PartitionBounds, offset: Offset | undefined): Schemas['Partition'] {
  const view = partitionView(bounds);
  return offset === undefined ? view : { ...view, unconsumed_events: unconsumedEvents(bounds, offset) };
}

/**
 * The least limit of the positions in the parameter `cursors`. It is higher where operators let event types have more
 * partitions.
 */
export const consumedCursorsMinimum = 100;

/**
 * The positions of the parameter `cursors`, by partition: a JSON array of `{"partition", "offset"}`.
 * @throws UNPROCESSABLE
 */
function consumedOffsets(text: string | undefined, cursorsMaximum: number): ReadonlyMap<number, Offset> {
  const offsets = new Map<number, Offset>();
  if (text === undefined || text === '') return offsets;
  const cursors = parseCursors(text);
  if (cursors.length > cursorsMaximum) {
    throw new LendstreamError('UNPROCESSABLE', `cursors may have at most ${cursorsMaximum} positions`);
  }
  for (const cursor of cursors) {
    const { partition: name, offset } = (cursor ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof name !== 'string' || typeof offset !== 'string') throw unreadableCursors();
    const partition = parsePartition(name);
    if (partition === undefined) throw new LendstreamError('UNPROCESSABLE', `non existing partition ${name}`);
    if (offsets.has(partition)) {
      throw new LendstreamError('UNPROCESSABLE', `more than one cursor for partition ${name}`);
    }
    offsets.set(partition, parseOffset(offset));
  }
  return offsets;
}

/** @throws UNPROCESSABLE */
function parseCursors(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return value;
  } catch {
    // What is no JSON is no array either.
  }
  throw unreadableCursors();
}

function unreadableCursors(): LendstreamError {
  return new LendstreamError('UNPROCESSABLE', 'cursors must be a JSON array of objects with partition and offset');
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
