import type { Request, Response } from 'express';
import { readToken, writeToken } from '../../../broker/retained-events/page-token.ts';
import type { Direction, FoundEvent } from '../../../broker/retained-events/partition-search.ts';
import {
  findEvents,
  pageEventsMaximum,
  type EventPage,
  type EventQuery,
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

/** The number of events of a page when the request names none. */
const limitDefault = 100;

/** The longest text of a condition. Characters. */
export const conditionCharactersMaximum = 1_024;

/** How many searches one process does at the same time. */
export const searchesMaximum = 8;

/** How long a client may take to receive a page. Milliseconds. */
const receiveMillisecondsMaximum = 60_000;

const jsonLinesType = 'application/x-ndjson';

/** What a page is about. */
export interface PageSource {
  readonly topic: string;
  readonly partitions: readonly number[];
  readonly place: RequestedPlace;
  /** The JSON of an event; undefined for one that is left out. Default: its place, its time and the event. */
  readonly itemOf?: (found: FoundEvent) => Buffer | undefined;
}

/** Answers requests with pages of events, a few at the same time. One for all routes of a process. */
export class EventPages {
  readonly #services: RetainedEventsServices;
  readonly #bounds: SearchBounds | undefined;
  #searches = 0;

  /** @param bounds Of the search of a page; the default but in tests. */
  constructor(services: RetainedEventsServices, bounds?: SearchBounds) {
    this.#services = services;
    this.#bounds = bounds;
  }

  /**
   * Finds what the parameters of a request ask for, and sends it as JSON or as lines.
   * @throws MALFORMED_REQUEST, UNPROCESSABLE; OVERLOADED when too many searches are in progress; what the log throws
   */
  async respond(request: Request, response: Response, source: PageSource): Promise<void> {
    const query = { ...source, searchedFor: searchedForBy(request), limit: limitOf(request) };
    const page = await this.find(response, query);
    if (page === undefined) return;
    if (request.accepts('application/json', jsonLinesType) === jsonLinesType) sendLines(response, page);
    else sendPage(response, page);
  }

  /**
   * Finds what a response needs, within the number of searches that a process does at once.
   * @param bounds Of this search, to replace those of pages.
   * @returns undefined when the client has closed the connection
   * @throws OVERLOADED, UNPROCESSABLE; what the log throws
   */
  async find(response: Response, query: EventQuery, bounds = this.#bounds): Promise<EventPage | undefined> {
    if (response.destroyed) return undefined;
    if (this.#searches >= searchesMaximum) {
      const detail = `This process does ${searchesMaximum} searches at once, and all of them are in progress.`;
      throw new LendstreamError('OVERLOADED', detail);
    }
    const leaving = new AbortController();
    this.#searches += 1;
    const receiving = after(this.#services.clock, receiveMillisecondsMaximum, () => response.destroy());
    response.on('close', () => {
      this.#searches -= 1;
      receiving.cancel();
      leaving.abort();
    });
    const page = await findEvents(this.#services, query, leaving.signal, bounds);
    return response.destroyed ? undefined : page;
  }
}

/**
 * Where a page begins.
 * @throws MALFORMED_REQUEST
 */
export function requestedPlace(request: Request, directionDefault: Direction = 'forward'): RequestedPlace {
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
  return { direction: direction === '' ? directionDefault : direction, from };
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
