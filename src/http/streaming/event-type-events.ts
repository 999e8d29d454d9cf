import { Router, type Request, type Response } from 'express';
import { once } from 'node:events';
import { beforeFirst, formatOffset, parseOffset, parsePartition } from '../../broker/cursors/cursor-text.ts';
import {
  formatShortPositions,
  listedPartitionsMaximum,
  parseShortPositions,
} from '../../broker/cursors/short-positions.ts';
import { withoutTimes } from '../../broker/cursors/times.ts';
import { unavailabilityReason } from '../../broker/cursors/cursor-availability.ts';
import { isAnythingBlocked, isReadingBlocked } from '../../broker/definitions/blacklist.ts';
import type { Registry } from '../../broker/definitions/registry.ts';
import type { EventTypeRecord } from '../../broker/definitions/event-type.ts';
import type { EventLog, Offset, PartitionBounds, TopicPartition } from '../../ports/event-log.ts';
import { EventTypeStream } from '../../broker/streaming/event-type-stream.ts';
import {
  readEventTypeStreamParameters,
  type EventTypeStreamParameters,
} from '../../broker/streaming/stream-parameters.ts';
import { after, systemRandom, type Clock } from '../../clock.ts';
import { LendstreamError, describeError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import { countStream, turnsOf } from '../access/limits/usage-of-response.ts';
import { rightsOf } from '../access/rights.ts';
import { destroyAfterGracePeriod, forgetRoute, writeJsonStream } from '../edge/json-stream.ts';
import { refuseAvroStream } from './not-supported.ts';
import { eventTypeStreamsMaximum } from './open-streams.ts';
import type { StreamingLimits } from '../../broker/definitions/streaming-limits.ts';
import { sendStreamHeaders, startOfEventTypeStream, streamFormOf, withOpening } from './stream-form.ts';
import { consumptionBlocked } from './subscription-events.ts';
import { partitionsWith, type EventTypesServices } from './partitions.ts';
import { methodNotAllowed } from '../edge/streaming-errors.ts';
import { textParameter } from '../edge/query-parameters.ts';

export interface EventTypeEventsServices extends Pick<EventTypesServices, 'eventTypes' | 'log'> {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface EventTypeEventsRouter {
  readonly router: Router;
  /** How many streams are open on this process. */
  openStreams(): number;
  /** Ends every stream with its last line, accepts no more, and resolves when all responses are finished. */
  closeAll(): Promise<void>;
}

/**
 * GET /event-types/{name}/events: the events of a type without a subscription, from the positions in the header
 * `X-Nakadi-Cursors` (a JSON array of `{partition, offset}`, each the last event already seen) or from now on. It is
 * meant for looking at events, not for consuming them: nothing is committed and nothing is remembered. Mount it before
 * the publishing route, which responds to the other methods of this path.
 */
export function createEventTypeEventsRouter(services: EventTypeEventsServices): EventTypeEventsRouter {
  const { registry, eventTypes, clock, logger } = services;
  const streams = new Map<EventTypeStream, OpenEventTypeStream>();
  registry.onChange(({ kind, name, value }) => {
    if (value === null) return;
    if (kind === 'event-type') closeRepartitioned(streams, name, value as EventTypeRecord);
    if (kind === 'blacklist-entry') closeBlocked(streams, registry);
  });
  let accepting = true;
  const router = Router({ caseSensitive: true });
  const route = router.route('/event-types/:name/events');
  route.head(methodNotAllowed('GET', 'POST'));
  route.get(async (request, response) => {
    const { name } = request.params;
    countStream(response);
    if ((await eventTypes.find(name)) === undefined) throw new LendstreamError('NOT_FOUND', 'topic not found');
    if (isReadingBlocked(registry, name)) throw consumptionBlocked();
    const parameters = readParameters(request, eventTypes.limits);
    refuseAvroStream(request);
    const form = streamFormOf(request);
    const cursors = requestedCursors(request);
    const received = form.isEventStream ? receivedCursors(request) : undefined;
    const record = await eventTypes.getWithPartitions(name, partitionsNamed(received ?? cursors ?? []));
    if (received !== undefined) requirePositionsOf(record, received);
    const requested = received === undefined ? cursors : resumed(received, cursors, record);
    const positions = await readPositions(services.log, record, requested);
    if (!accepting || streams.size >= eventTypeStreamsMaximum) {
      throw new LendstreamError('OVERLOADED', 'Too many streams without a subscription are open on this process.');
    }
    if (response.destroyed) return;
    const stream = new EventTypeStream(services, positions, parameters, form.format);
    const readsAllPartitions = cursors === undefined;
    const { streamTimeoutMilliseconds } = parameters;
    // While the client reads nothing, nothing is requested from the stream, so the stream would not end by itself.
    const timer = after(clock, streamTimeoutMilliseconds, () => destroyAfterGracePeriod(response, clock));
    streams.set(stream, { response, eventType: name, ...(readsAllPartitions ? { allPartitionsOf: record } : {}) });
    // Partitions may have been added by now, or the event type blocked. If that happens later, the stream ends when
    // this process is notified.
    closeRepartitioned(streams, name, eventTypes.known(name) ?? record);
    closeBlocked(streams, registry);
    const watch = rightsOf(response).watch({ kind: 'event-type', name }, () => stream.close('access_revoked'));
    response.on('close', () => {
      watch.cancel();
      timer.cancel();
      streams.delete(stream);
      stream.close('client_closed');
    });
    sendStreamHeaders(response, form);
    forgetRoute(request);
    const source = form.isEventStream ? withOpening(startAt(positions), stream) : stream;
    writeJsonStream(
      response,
      source,
      form.encoding,
      clock,
      (error) => {
        logger.error({ error: describeError(error) }, 'A stream without a subscription was cut off by an error');
        response.destroy();
      },
      turnsOf(response),
    );
  });
  // Publishing has a router of its own, see publishing.ts.
  route.post((_request, _response, next) => next('route'));
  route.all(methodNotAllowed('GET', 'POST'));
  return {
    router,
    openStreams: () => streams.size,
    async closeAll() {
      accepting = false;
      await Promise.all(
        [...streams].map(([stream, { response }]) => {
          const closed = once(response, 'close');
          stream.close('server_shutdown');
          destroyAfterGracePeriod(response, clock);
          return closed;
        }),
      );
    },
  };
}

interface OpenEventTypeStream {
  readonly response: Response;
  readonly eventType: string;
  /** The event type as it was when the stream was opened, if the stream reads all of its partitions. */
  readonly allPartitionsOf?: EventTypeRecord;
}

/** Ends the streams that read all partitions of an event type, once it has more: they would miss those. */
function closeRepartitioned(
  streams: ReadonlyMap<EventTypeStream, OpenEventTypeStream>,
  name: string,
  { partitionCount }: EventTypeRecord,
): void {
  for (const [stream, { allPartitionsOf }] of streams) {
    if (allPartitionsOf?.eventType.name !== name || allPartitionsOf.partitionCount === partitionCount) continue;
    stream.close('repartitioned');
  }
}

function closeBlocked(streams: ReadonlyMap<EventTypeStream, OpenEventTypeStream>, registry: Registry): void {
  if (!isAnythingBlocked(registry)) return;
  for (const [stream, { eventType }] of streams) {
    if (isReadingBlocked(registry, eventType)) stream.close('consumption_blocked');
  }
}

/** Of a parameter that is sent twice the first counts, but for `filter`. */
function readParameters(request: Request, limits: StreamingLimits): EventTypeStreamParameters {
  const names = Object.keys(request.query).filter((name) => name !== 'filter');
  const first = Object.fromEntries(names.map((name) => [name, textParameter(request, name)]));
  return readEventTypeStreamParameters({ ...first, filter: request.query['filter'] }, systemRandom(), limits);
}

/**
 * The offset to begin at in each requested partition.
 * @param cursors As the header `X-Nakadi-Cursors` names them; undefined for the end of every partition.
 * @throws PRECONDITION_FAILED for a partition that does not exist or is named twice, and for a position that the log
 *   does not hold
 */
async function readPositions(
  log: EventLog,
  { eventType, partitionCount }: EventTypeRecord,
  cursors: readonly RequestedCursor[] | undefined,
): Promise<(TopicPartition & { readonly offset: Offset })[]> {
  const topic = eventType.name;
  if (cursors === undefined) {
    const partitions = Array.from({ length: partitionCount }, (_, partition) => ({ topic, partition }));
    return (await log.endOffsets(partitions)).map(({ partition, latest }) => ({ topic, partition, offset: latest }));
  }
  const timed = cursors.map((cursor) => ({ ...cursor, event_type: topic }));
  const resolved = await withoutTimes(log, timed, new Map([[topic, partitionCount]]));
  const requestedPositions = resolved.map(({ partition: text, offset }) => {
    return { topic, partition: existingPartition(text, partitionCount), offset };
  });
  requireDistinct(requestedPositions.map(({ partition }) => partition));
  const bounds = await log.bounds(requestedPositions.map(({ partition }) => ({ topic, partition })));
  return requestedPositions.map(({ partition, offset: text }, index) => {
    const partitionBounds = bounds[index] as PartitionBounds;
    const offset = readOffset(text);
    const reason = unavailabilityReason({ eventType: topic, partition, offset }, partitionBounds);
    if (reason !== undefined) throw preconditionFailed(reason);
    return { topic, partition, offset: Math.max(offset + 1, partitionBounds.earliest) };
  });
}

function readOffset(text: string): Offset {
  try {
    return parseOffset(text);
  } catch (error) {
    throw preconditionFailed(describeError(error));
  }
}

function preconditionFailed(reason: string): LendstreamError {
  return new LendstreamError('PRECONDITION_FAILED', reason);
}

/** A position in the header `X-Nakadi-Cursors`: the last event already seen. */
interface RequestedCursor {
  readonly partition: string;
  readonly offset: string;
  /** Of a cursor that was received on the stream of a subscription. */
  readonly event_type?: string;
}

/** The least number of partitions of an event type that has those of all cursors. */
function partitionsNamed(cursors: readonly RequestedCursor[]): number {
  return Math.max(1, ...cursors.map(({ partition }) => partitionsWith(parsePartition(partition))));
}

/** The positions that a request names, in a header or, where a browser sends no headers, in its URL. */
function requestedCursors(request: Request): RequestedCursor[] | undefined {
  const header = request.get('X-Nakadi-Cursors');
  if (header !== undefined) return readCursors(header, 'X-nakadi-cursors header');
  const parameter = textParameter(request, 'cursors');
  return parameter === undefined ? undefined : readCursors(parameter, 'cursors parameter');
}

/** The cursors that a browser received last, and sends when it opens a stream of events again. */
function receivedCursors(request: Request): RequestedCursor[] | undefined {
  const text = request.get('Last-Event-ID') ?? textParameter(request, 'last_event_id');
  return text === undefined || text === '' ? undefined : readCursors(text, 'Last-Event-ID header');
}

/**
 * Requires that the cursors that were received can be positions of this event type, so that a stream that continues
 * after them passes over nothing.
 * @throws PRECONDITION_FAILED for one of another event type, and for a partition that does not exist or is named twice
 */
function requirePositionsOf(
  { eventType, partitionCount }: EventTypeRecord,
  received: readonly RequestedCursor[],
): void {
  const other = received.find(({ event_type: type }) => type !== undefined && type !== eventType.name);
  if (other !== undefined) throw preconditionFailed(`cursor of another event type ${other.event_type}`);
  const partitions = received.map(({ partition }) => existingPartition(partition, partitionCount));
  requireDistinct(partitions);
}

function existingPartition(text: string, partitionCount: number): number {
  const partition = parsePartition(text);
  if (partition === undefined || partition >= partitionCount)
    throw preconditionFailed(`non existing partition ${text}`);
  return partition;
}

function requireDistinct(partitions: readonly number[]): void {
  if (new Set(partitions).size < partitions.length) throw preconditionFailed('more than one cursor for a partition');
}

/**
 * Where a stream continues whose last event was received: at its cursors. A partition that they do not name was added
 * since, and begins with its first event.
 * @param cursors Those of the request: they choose the partitions.
 */
function resumed(
  received: readonly RequestedCursor[],
  cursors: readonly RequestedCursor[] | undefined,
  { partitionCount }: EventTypeRecord,
): RequestedCursor[] {
  const chosen =
    cursors ??
    Array.from({ length: partitionCount }, (_, partition) => ({
      partition: String(partition),
      offset: formatOffset(beforeFirst),
    }));
  const offsets = new Map(received.map(({ partition, offset }) => [partition, offset]));
  return chosen.map(({ partition, offset }) => ({ partition, offset: offsets.get(partition) ?? offset }));
}

/** The first event of a stream of events that begins at these positions. */
function startAt(positions: readonly (TopicPartition & { readonly offset: Offset })[]): string {
  const read = positions.map(({ partition, offset }) => ({ partition, offset: offset - 1 }));
  const cursors = JSON.stringify(
    read.map(({ partition, offset }) => ({ partition: String(partition), offset: formatOffset(offset) })),
  );
  return startOfEventTypeStream(cursors, read.length > listedPartitionsMaximum ? formatShortPositions(read) : cursors);
}

/**
 * Reads a JSON list of cursors, or the short form of many.
 * @param source Where the text comes from, in words.
 * @throws MALFORMED_REQUEST
 */
function readCursors(text: string, source: string): RequestedCursor[] {
  const positions = parseShortPositions(text);
  if (positions !== undefined) return positions;
  const malformed = new LendstreamError('MALFORMED_REQUEST', `incorrect syntax of ${source}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformed;
  }
  if (!Array.isArray(value) || value.length === 0) throw malformed;
  return value.map((cursor: unknown) => {
    const { partition, offset, event_type: eventType } = (cursor ?? {}) as Record<string, unknown>;
    if (typeof partition !== 'string' || typeof offset !== 'string') throw malformed;
    return { partition, offset, ...(typeof eventType === 'string' ? { event_type: eventType } : {}) };
  });
}
