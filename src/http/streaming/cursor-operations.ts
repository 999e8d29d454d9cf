import { Router, type Request } from 'express';
import { formatOffset, isBegin, parseOffset, parsePartition } from '../../broker/cursors/cursor-text.ts';
import {
  cursorDistance,
  shiftCursor,
  unconsumedEvents,
  type Position,
} from '../../broker/cursors/cursor-arithmetic.ts';
import { parseMoment, positionsBefore } from '../../broker/cursors/times.ts';
import type { Responses, Requests, Schemas, Unread } from '../../contract.ts';
import { LendstreamError } from '../../errors.ts';
import { parseJson, readBody, readJsonObject } from '../edge/request-body.ts';
import { partitionView, partitionsWith, type EventTypesServices } from './partitions.ts';
import { methodNotAllowed } from '../edge/streaming-errors.ts';
import type { Offset } from '../../ports/event-log.ts';

/** The most cursors in one request. */
export const cursorsPerRequestMaximum = 1_000;

/** POST /event-types/{name}/cursor-distances, /shifted-cursors, /cursors-lag and /cursors-at. */
export function createCursorOperationsRouter({ eventTypes, log }: EventTypesServices): Router {
  const router = Router({ caseSensitive: true });

  /**
   * The offset that BEGIN stands for in each partition where a cursor has it: the one before the first event that is
   * still there.
   * @throws UNPROCESSABLE for a partition that does not exist
   */
  const beginsOf = async (name: string, cursors: readonly Schemas['Position'][]): Promise<Begins> => {
    const texts = [...new Set(cursors.filter(({ offset }) => isBegin(offset)).map(({ partition }) => partition))];
    if (texts.length === 0) return new Map();
    const named = texts.map((text) => partitionsWith(parsePartition(text)));
    const { eventType, partitionCount } = await eventTypes.getWithPartitions(name, Math.max(...named));
    const partitions = texts.map((text) => {
      const partition = parsePartition(text);
      if (partition !== undefined && partition < partitionCount) return { topic: eventType.name, partition };
      throw new LendstreamError('UNPROCESSABLE', `non existing partition ${text}`);
    });
    return new Map((await log.bounds(partitions)).map(({ partition, earliest }) => [String(partition), earliest - 1]));
  };

  router
    .route('/event-types/:name/cursor-distances')
    .post(async (request, response) => {
      const { name } = request.params;
      await eventTypes.get(name);
      const queries: readonly Unread<Requests['measureCursorDistances'][number]>[] = await readQueries(request);
      const pairs = queries.map((query) => ({
        initial_cursor: cursorOf(query.initial_cursor, 'initial_cursor.'),
        final_cursor: cursorOf(query.final_cursor, 'final_cursor.'),
      }));
      const begins = await beginsOf(
        name,
        pairs.flatMap((pair) => [pair.initial_cursor, pair.final_cursor]),
      );
      // The cursors as they were sent, so that a client recognises its own.
      const results = pairs.map((pair) => ({
        ...pair,
        distance: cursorDistance(positionOf(pair.initial_cursor, begins), positionOf(pair.final_cursor, begins)),
      }));
      response.json(results satisfies Responses['measureCursorDistances']);
    })
    .all(methodNotAllowed('POST'));
  router
    .route('/event-types/:name/shifted-cursors')
    .post(async (request, response) => {
      const { name } = request.params;
      await eventTypes.get(name);
      const queries: readonly Unread<Requests['shiftCursors'][number]>[] = await readQueries(request);
      const cursors = queries.map((query) => cursorOf(query, ''));
      const begins = await beginsOf(name, cursors);
      const results = queries.map((query, index) => {
        const position = positionOf(cursors[index] as Schemas['Position'], begins);
        const shift = query.shift ?? 0;
        if (!Number.isSafeInteger(shift)) throw malformedField('shift', 'must be a whole number');
        return cursorView({ ...position, offset: shiftCursor(position, shift as number) });
      });
      response.json(results satisfies Responses['shiftCursors']);
    })
    .all(methodNotAllowed('POST'));
  router
    .route('/event-types/:name/cursors-lag')
    .post(async (request, response) => {
      const { name } = request.params;
      await eventTypes.get(name);
      const positions = (await readQueries(request)).map((query) => positionOf(cursorOf(query, '')));
      const named = positions.map(({ partition }) => partitionsWith(parsePartition(partition)));
      const { eventType, partitionCount } = await eventTypes.getWithPartitions(name, Math.max(1, ...named));
      const partitions = positions.map(({ partition: text }) => {
        const partition = parsePartition(text);
        if (partition === undefined || partition >= partitionCount) {
          throw new LendstreamError('UNPROCESSABLE', 'Partition not found.');
        }
        return { topic: eventType.name, partition };
      });
      const bounds = await log.bounds(partitions);
      const results = bounds.map((found, index) => ({
        ...partitionView(found),
        unconsumed_events: unconsumedEvents(found, positions[index]?.offset ?? -1),
      }));
      response.json(results satisfies Responses['measureCursorLag']);
    })
    .all(methodNotAllowed('POST'));
  router
    .route('/event-types/:name/cursors-at')
    .post(async (request, response) => {
      const { name } = request.params;
      const { eventType, partitionCount } = await eventTypes.get(name);
      const { time } = await readJsonObject<'findCursorsAt'>(request);
      if (typeof time !== 'string') throw malformedField('time', 'must be a string and must not be null');
      const partitions = Array.from({ length: partitionCount }, (_, partition) => {
        return { eventType: eventType.name, partition };
      });
      const positions = await positionsBefore(log, partitions, parseMoment(time));
      const results = positions.map(({ partition, offset }) => cursorView({ partition: String(partition), offset }));
      response.json(results satisfies Responses['findCursorsAt']);
    })
    .all(methodNotAllowed('POST'));
  return router;
}

type Fields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function malformedField(field: string, message: string): LendstreamError {
  return new LendstreamError('MALFORMED_REQUEST', `Field "${field}" ${message}`);
}

async function readQueries(request: Request): Promise<readonly Fields[]> {
  const value = parseJson(await readBody(request));
  if (!Array.isArray(value) || !value.every(isObject)) {
    throw new LendstreamError('MALFORMED_REQUEST', 'The body must be a JSON array of objects.');
  }
  if (value.length > cursorsPerRequestMaximum) {
    throw new LendstreamError('UNPROCESSABLE', `At most ${cursorsPerRequestMaximum} cursors may be sent at once.`);
  }
  return value;
}

/** By partition: the offset that BEGIN stands for there. */
type Begins = ReadonlyMap<string, Offset>;

/** @param begins Where BEGIN is not the position before the very first event. */
function positionOf({ partition, offset }: Schemas['Position'], begins: Begins = new Map()): Position {
  const begin = isBegin(offset) ? begins.get(partition) : undefined;
  return { partition, offset: begin ?? parseOffset(offset) };
}

/** The partition and offset of a cursor, as text. @throws MALFORMED_REQUEST when one is missing */
function cursorOf(cursor: unknown, parent: string): Schemas['Position'] {
  const fields: Unread<Schemas['PositionQuery']> = isObject(cursor) ? cursor : {};
  const text = (name: keyof typeof fields): string => {
    const value = fields[name];
    if (typeof value !== 'string') throw malformedField(`${parent}${name}`, 'must be a string and must not be null');
    return value;
  };
  return { partition: text('partition'), offset: text('offset') };
}

function cursorView({ partition, offset }: Position): Schemas['Position'] {
  return { partition, offset: formatOffset(offset) };
}
