/**
 * Finding events among those that the log holds.
 * In: a place, a direction and what is searched for. Out: a page of events, how much was searched, and where the next
 * page begins.
 * Start with `findEvents` below; `partition-search.ts` searches one partition, `page-token.ts` writes places down.
 */

import type { Clock } from '../../clock.ts';
import type { EventLog, Offset, PartitionBounds, TopicPartition } from '../../ports/event-log.ts';
import { parseOffset } from '../cursors/cursor-text.ts';
import { parseMoment } from '../cursors/times.ts';
import { LendstreamError } from '../../errors.ts';
import type { SearchedFor } from '../streaming/filters/batch-search.ts';
import { filterTurns } from '../streaming/filters/filter-turns.ts';
import { eventItem } from './event-item.ts';
import type { Place } from './page-token.ts';
import { PartitionSearch, type Direction, type FoundEvent } from './partition-search.ts';
import { SearchBudget, searchBounds, type SearchBounds } from './search-budget.ts';

export interface RetainedEventsServices {
  readonly log: EventLog;
  readonly clock: Clock;
}

export interface EventQuery {
  readonly topic: string;
  /** Ascending, without gaps. */
  readonly partitions: readonly number[];
  readonly place: RequestedPlace;
  readonly searchedFor: SearchedFor;
  /** The most events of the page. */
  readonly limit: number;
  /** The JSON of an event; undefined for one that is left out. Default {@link eventItem}. */
  readonly itemOf?: (found: FoundEvent) => Buffer | undefined;
}

/** Where a page begins: at the place of another page, or `from` a position that the request names. */
export type RequestedPlace = Place | { readonly direction: Direction; readonly from: string | undefined };

/** Why a page has no more events: it is full, nothing is left, or it has searched as much as one page may. */
export type PageEnd = 'limit' | 'end' | 'search_limit';

export interface EventPage {
  /** JSON texts, one for each event: its position, time, key, and the event as it is stored. */
  readonly items: readonly Buffer[];
  readonly endedBy: PageEnd;
  /** How many offsets this page has passed, of how many there are from its beginning on in its direction. */
  readonly read: number;
  readonly of: number;
  /** Records on the way that are no events. */
  readonly unreadable: number;
  /** Where the next page begins; undefined when a backward search has reached the first event. */
  readonly next: Place | undefined;
  /** Where a page in the other direction begins. */
  readonly previous: Place;
}

/** The most events of a page. */
export const pageEventsMaximum = 10_000;

/** The largest page. Bytes of its items, exceeded by less than one event. */
export const pageBytesMaximum = 8 * 1024 * 1024;

/** How much all partitions of a search read at once, and each of them at least and at most. Bytes. */
const readBytesOfSearch = 4 * 1024 * 1024;
const readBytesMinimum = 64 * 1024;
const readBytesMaximum = 1024 * 1024;

/** How many partitions are read at once. */
const readsAtOnce = 4;

/**
 * One page of the events that are searched for, over the given partitions, by the time at which they were stored.
 * @param signal Ends the search; the page then has what was found so far.
 * @throws UNPROCESSABLE for a place that cannot be read, and what the log throws
 */
export async function findEvents(
  { log, clock }: RetainedEventsServices,
  { topic, partitions, place, searchedFor, limit, itemOf = eventItem }: EventQuery,
  signal: AbortSignal,
  bounds: SearchBounds = searchBounds,
): Promise<EventPage> {
  const budget = new SearchBudget(clock, bounds);
  const topicPartitions = partitions.map((partition) => ({ topic, partition }));
  const held = await log.bounds(topicPartitions);
  const starts = await startsOf(log, place, topicPartitions, held);
  const { direction } = place;
  const readBytes = Math.min(
    Math.max(Math.floor(readBytesOfSearch / Math.max(1, partitions.length)), readBytesMinimum),
    readBytesMaximum,
  );
  const options = { log, direction, searchedFor, budget, signal, readBytes };
  const searches = held.map((partition, index) => {
    const { earliest, latest } = partition;
    const start = Math.min(Math.max(starts[index] ?? 0, earliest), latest);
    return new PartitionSearch(partition, { start, end: direction === 'forward' ? latest : earliest }, options);
  });
  const previous: Place = {
    direction: direction === 'forward' ? 'backward' : 'forward',
    positions: searches.map(({ position }) => position),
  };
  try {
    const { items, endedBy } = await collect(searches, { direction, limit, budget, signal, itemOf });
    const sum = (of: (search: PartitionSearch) => number): number =>
      searches.reduce((total, search) => total + of(search), 0);
    const isAtFirst = direction === 'backward' && endedBy === 'end';
    return {
      items,
      endedBy,
      read: sum(({ passed }) => passed),
      of: sum(({ span }) => span),
      unreadable: sum(({ unreadable }) => unreadable),
      next: isAtFirst ? undefined : { direction, positions: searches.map(({ position }) => position) },
      previous,
    };
  } finally {
    for (const search of searches) search.release();
  }
}

/** Takes events in the order of their times. */
async function collect(
  searches: readonly PartitionSearch[],
  {
    direction,
    limit,
    budget,
    signal,
    itemOf,
  }: {
    readonly direction: Direction;
    readonly limit: number;
    readonly budget: SearchBudget;
    readonly signal: AbortSignal;
    readonly itemOf: (found: FoundEvent) => Buffer | undefined;
  },
): Promise<{ items: readonly Buffer[]; endedBy: PageEnd }> {
  const sign = direction === 'forward' ? 1 : -1;
  const items: Buffer[] = [];
  let bytes = 0;
  while (items.length < limit && bytes < pageBytesMaximum) {
    const first = firstOf(searches, sign);
    const time = first?.next === undefined ? Infinity : sign * first.next.batch.appendedAt;
    // Their next events may come before the first one that was found.
    const unread = searches.filter(
      (search) => search.next === undefined && !search.isDone && sign * search.reachedAt < time,
    );
    if (unread.length === 0) {
      if (first?.next === undefined) return { items, endedBy: 'end' };
      await filterTurns.begin();
      const item = itemOf(first.next);
      first.take();
      filterTurns.spend(searches.length);
      if (item === undefined) continue;
      items.push(item);
      bytes += item.length;
      filterTurns.spend(item.length);
      continue;
    }
    if (budget.isSpent || signal.aborted) return { items, endedBy: 'search_limit' };
    unread.sort((left, right) => sign * (left.reachedAt - right.reachedAt) || left.partition - right.partition);
    await Promise.all(unread.slice(0, readsAtOnce).map((search) => search.advance()));
  }
  return { items, endedBy: 'limit' };
}

/** The partition whose next event is the first one in time. */
function firstOf(searches: readonly PartitionSearch[], sign: number): PartitionSearch | undefined {
  let first: PartitionSearch | undefined;
  let firstTime = Infinity;
  for (const search of searches) {
    const time = search.next === undefined ? Infinity : sign * search.next.batch.appendedAt;
    if (time < firstTime) [first, firstTime] = [search, time];
  }
  return first;
}

/**
 * The offset at which each partition begins; may lie outside of what is held.
 * @throws UNPROCESSABLE
 */
async function startsOf(
  log: EventLog,
  place: RequestedPlace,
  partitions: readonly TopicPartition[],
  bounds: readonly PartitionBounds[],
): Promise<readonly Offset[]> {
  const isForward = place.direction === 'forward';
  // Partitions that were added since another page begin where they begin for everybody.
  const edges = bounds.map(({ earliest, latest }) => (isForward ? earliest : latest));
  if ('positions' in place) return edges.map((edge, index) => place.positions[index] ?? edge);
  const { from = '' } = place;
  if (from === '') return edges;
  if (/^begin$/i.test(from)) return bounds.map(({ earliest }) => earliest);
  if (/^end$/i.test(from)) return bounds.map(({ latest }) => latest);
  if (from.includes(':')) return (await log.offsetsAt(partitions, parseMoment(from))).map(({ offset }) => offset);
  const offset = parseOffset(from);
  if (partitions.length > 1) {
    const detail = 'An offset is a place in one partition: begin all of them at BEGIN, END or a time.';
    throw new LendstreamError('UNPROCESSABLE', detail);
  }
  return [isForward ? offset : offset + 1];
}
