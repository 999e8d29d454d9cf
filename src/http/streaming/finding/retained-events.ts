import { Router, type Request, type Response } from 'express';
import { parsePartition } from '../../../broker/cursors/cursor-text.ts';
import { isReadingBlocked } from '../../../broker/definitions/blacklist.ts';
import type { Registry } from '../../../broker/definitions/registry.ts';
import type { EventTypes } from '../../../broker/event-types/event-types.ts';
import { readToken, writeToken } from '../../../broker/retained-events/page-token.ts';
import {
  findEvents,
  pageEventsMaximum,
  type EventPage,
  type RequestedPlace,
  type RetainedEventsServices,
} from '../../../broker/retained-events/retained-events.ts';
import type { SearchBounds } from '../../../broker/retained-events/search-budget.ts';
import type { SearchedFor } from '../../../broker/streaming/filters/batch-search.ts';
import { condition, eventFilter, type Condition } from '../../../broker/streaming/filters/event-filter.ts';
import { readConditions } from '../../../broker/streaming/filters/filter-parameter.ts';
import { pointerStep } from '../../../broker/streaming/filters/json-pointer.ts';
import { after } from '../../../clock.ts';
import type { Responses } from '../../../contract.ts';
import { LendstreamError } from '../../../errors.ts';
import { integerParameter, textParameter } from '../../edge/query-parameters.ts';
import { methodNotAllowed } from '../../edge/streaming-errors.ts';
import { partitionsWith } from '../partitions.ts';
import { consumptionBlocked } from '../subscription-events.ts';

/** The number of events of a page when the request names none. */
const limitDefault = 100;

/** The longest text of a condition. Characters. */
export const conditionCharactersMaximum = 1_024;

/** How many searches one process does at the same time. */
export const searchesMaximum = 8;

/** How long a client may take to receive a page. Milliseconds. */
const receiveMillisecondsMaximum = 60_000;

const jsonLinesType = 'application/x-ndjson';

export interface RetainedEventsRouterServices extends RetainedEventsServices {
  readonly eventTypes: EventTypes;
  readonly registry: Registry;
  /** Topics that can be read here although they are no event types, with their numbers of partitions. */
  readonly otherTopics: ReadonlyMap<string, number>;
  readonly bounds?: SearchBounds;
}

/**
 * GET /event-types/{name}/partitions/{partition}/events and GET /event-types/{name}/retained-events: pages of the
 * events that the log holds, of one partition or of all in the order of time, forward or backward, and only those that
 * a request searches for.
 */
export function createRetainedEventsRouter(services: RetainedEventsRouterServices): Router {
  const router = Router({ caseSensitive: true });
  let searches = 0;

  const respond = async (request: Request, response: Response, partition: number | undefined): Promise<void> => {
    const name = String(request.params['name']);
    const place = requestedPlace(request);
    const searchedFor = searchedForBy(request);
    const limit = limitOf(request);
    const partitions = await partitionsOf(services, name, partition, place);
    if (isReadingBlocked(services.registry, name)) throw consumptionBlocked();
    if (response.destroyed) return;
    if (searches >= searchesMaximum) {
      const detail = `This process does ${searchesMaximum} searches at once, and all of them are in progress.`;
      throw new LendstreamError('OVERLOADED', detail);
    }
    const leaving = new AbortController();
    searches += 1;
    const receiving = after(services.clock, receiveMillisecondsMaximum, () => response.destroy());
    response.on('close', () => {
      searches -= 1;
      receiving.cancel();
      leaving.abort();
    });
    const query = { topic: name, partitions, place, searchedFor, limit };
    const page = await findEvents(services, query, leaving.signal, services.bounds);
    if (response.destroyed) return;
    if (request.accepts('application/json', jsonLinesType) === jsonLinesType) sendLines(response, page);
    else sendPage(response, page);
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

/** @throws MALFORMED_REQUEST */
function requestedPlace(request: Request): RequestedPlace {
  const [token = '', from, direction = ''] = ['token', 'from', 'direction'].map((name) => textParameter(request, name));
  if (token !== '') {
    if ((from ?? '') === '' && direction === '') return readToken(token);
    const detail = "'token' parameter says where a page begins: leave out 'from' and 'direction'";
    throw new LendstreamError('MALFORMED_REQUEST', detail);
  }
  if (direction !== '' && direction !== 'forward' && direction !== 'backward') {
    const detail = `'direction' parameter should be forward or backward, but was '${direction}'`;
    throw new LendstreamError('MALFORMED_REQUEST', detail);
  }
  return { direction: direction === 'backward' ? 'backward' : 'forward', from };
}

/** @throws MALFORMED_REQUEST */
function limitOf(request: Request): number {
  const limit = integerParameter(request, 'limit') ?? limitDefault;
  if (limit >= 1 && limit <= pageEventsMaximum) return limit;
  const detail = `'limit' parameter should have value between 1 and ${pageEventsMaximum}`;
  throw new LendstreamError('MALFORMED_REQUEST', detail);
}

/** @throws MALFORMED_REQUEST for a filter that cannot be read, UNPROCESSABLE for a text that is too long */
function searchedForBy(request: Request): SearchedFor {
  const [eid, flowId, key, text] = ['eid', 'flow_id', 'key', 'text'].map((name) => {
    const value = textParameter(request, name) ?? '';
    if (value.length <= conditionCharactersMaximum) return value;
    const detail = `'${name}' parameter may have ${conditionCharactersMaximum} characters, but has ${value.length}`;
    throw new LendstreamError('UNPROCESSABLE', detail);
  });
  const conditions: Condition[] = readConditions(request.query['filter']);
  if (eid !== undefined && eid !== '') conditions.push(metadataCondition('eid', eid));
  if (flowId !== undefined && flowId !== '') conditions.push(metadataCondition('flow_id', flowId));
  return {
    filter: conditions.length === 0 ? undefined : eventFilter(conditions),
    texts: text === undefined || text === '' ? [] : [Buffer.from(text)],
    key: key === '' ? undefined : key,
  };
}

function metadataCondition(field: string, value: string): Condition {
  return condition([pointerStep('metadata'), pointerStep(field)], value, true);
}

/** What a page says in addition to its events. */
function summaryOf({
  endedBy,
  read,
  of,
  unreadable,
  next,
  previous,
}: EventPage): Omit<Responses['findRetainedEvents'], 'items'> {
  return {
    ended_by: endedBy,
    read,
    of,
    unreadable,
    ...(next === undefined ? {} : { next: writeToken(next) }),
    previous: writeToken(previous),
  };
}

const comma = Buffer.from(',');
const lineFeed = Buffer.from('\n');

function sendPage(response: Response, page: EventPage): void {
  const pieces: Buffer[] = [Buffer.from('{"items":[')];
  for (const [index, item] of page.items.entries()) pieces.push(...(index === 0 ? [item] : [comma, item]));
  pieces.push(Buffer.from(`],${JSON.stringify(summaryOf(page)).slice(1)}`));
  response.type('json').send(Buffer.concat(pieces));
}

/** One line for each event, and a last one with what else the page says. */
function sendLines(response: Response, page: EventPage): void {
  const pieces = page.items.flatMap((item) => [item, lineFeed]);
  pieces.push(Buffer.from(`${JSON.stringify({ page: summaryOf(page) })}\n`));
  response.set('Content-Type', jsonLinesType).send(Buffer.concat(pieces));
}
