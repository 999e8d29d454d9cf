/**
 * Publishing: from the body of a request to records in the log.
 * In: a JSON array of events. Out: a status for the request and for each event.
 * Start with `Publisher.publish` below: `request-parsing.ts` parses, `event-preparation.ts` validates,
 * `partitioning.ts` and `enrichment.ts` finish each event. `known-shapes/` skips that for events that look like the one
 * before, and `plain-rules/` for others that are valid by simple rules. `deleted-events.ts` prepares deletions instead.
 * `repeated-events.ts` leaves out events that were stored before, where an event type asks for that.
 */

import { systemRandom, toTimestamp, type Clock, type Random } from '../../clock.ts';
import { LendstreamError } from '../../errors.ts';
import type { Logger } from '../../logger.ts';
import type { Metrics } from '../../metrics.ts';
import { Enrichments, type Enrichment } from './enrichment.ts';
import { parseEvents, type ParsedEvents } from './request-parsing.ts';
import {
  appendBytesMaximum,
  type AppendResult,
  type EventLog,
  type LogRecord,
  type PartitionRecords,
} from '../../ports/event-log.ts';
import { appendBytes, appendBytesOfAll } from '../../ports/append-size.ts';
import type { IdClaim, PublishedIds } from '../../ports/published-ids.ts';
import { prepareDeletions } from './deleted-events.ts';
import { prepareRecords, type PreparedRecords } from './event-preparation.ts';
import { joinKeyFields, hashPartition } from './partitioning.ts';
import { prepareEventType, type PreparedEventType } from './prepared-event-type.ts';
import { deduplicationMilliseconds } from '../definitions/deduplication.ts';
import type { EventTypeRecord } from '../definitions/event-type.ts';
import type { EventTypes } from '../event-types/event-types.ts';
import { eidOf, publishedItem, type EventObject, type PublishedItem } from './response-items.ts';
import {
  claimOutcome,
  idsOfRequest,
  repetitionsOf,
  withoutRepetitions,
  type Repetition,
  type Repetitions,
  type RequestIds,
} from './repeated-events.ts';
import { KnownShapes } from './known-shapes/known-shapes.ts';
import { PlainEvents } from './plain-rules/plain-events.ts';
import { inTurns } from './long-work-in-turns.ts';

export interface PublishContext {
  readonly flowId: string;
  /** Where the request belongs in a trace, in the form of W3C's header of this name, if it does. */
  readonly traceparent?: string | undefined;
  /** The publisher, written to `metadata.published_by`. */
  readonly publishedBy: string;
}

/**
 * - 200: every event is durable.
 * - 207: the log refused some partitions; `items` say which events are durable.
 * - 422: an event is bad; nothing was written.
 */
export interface PublishOutcome {
  readonly status: 200 | 207 | 422;
  /** One for each event, in the order of the request. */
  readonly items: readonly PublishedItem[];
}

/** An event that this process wrote itself, by the definition of its event type: it is neither parsed nor validated. */
export interface PreparedEvent {
  /** UUID. */
  readonly eid: string;
  /** RFC 3339. */
  readonly occurredAt: string;
  /** The texts of the fields that choose its partition, in the order of the definition. At least one. */
  readonly keyFields: readonly string[];
  /** Its partition, where its key does not choose it. */
  readonly partition?: number;
  /** The JSON of its fields but `metadata`, on one line, without the braces around them. */
  readonly fieldsText: string;
}

export interface PublisherOptions {
  readonly eventTypes: EventTypes;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Absent where no event type asks for its repeated events to be stored once. */
  readonly publishedIds?: PublishedIds;
  /** Returns a number from 0 (inclusive) to 1 (exclusive) that spreads events over partitions. */
  readonly random?: Random;
}

/** Compiling a longer schema takes long enough to give other work its turn. Characters. */
const longSchemaCharacters = 4_096;

/** Prepares the records of a request, or says why they are refused, and yields while that takes long. */
type Preparation = Generator<void, PreparedRecords | { readonly refused: readonly PublishedItem[] }>;

/** What was appended of a request, and with what results. */
interface Appended {
  readonly appends: readonly PartitionRecords[];
  readonly results: readonly AppendResult[];
  readonly repetitions: Repetitions;
}

const noRepetitions: Repetitions = new Map();

interface PreparedPublishing {
  readonly type: PreparedEventType;
  readonly enrichments: Enrichments;
  readonly similarEvents: KnownShapes;
  readonly plainEvents: PlainEvents;
}

/**
 * Publishes events: validates, partitions and enriches them, and appends them to the log. One instance serves all event
 * types.
 */
export class Publisher {
  readonly #options: PublisherOptions;
  readonly #random: Random;
  /** What was prepared for an event type as it is defined now; a changed definition is another record. */
  readonly #prepared = new WeakMap<EventTypeRecord, PreparedPublishing>();

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.#random = options.random ?? systemRandom;
  }

  /**
   * Publishes a JSON array of events and returns when the log has a result for all of them.
   * @param body The array as it was sent.
   * @throws NOT_FOUND for an unknown event type; FORBIDDEN for one that only the service writes; MALFORMED_REQUEST when
   *   the body is no array of objects, repeats a key or is nested too deep; REQUEST_TOO_LARGE for too many events;
   *   OVERLOADED when the log accepts no more now and nothing was written; what `EventLog.append` throws; what
   *   `PublishedIds.claim` throws, where repeated events are stored once
   */
  publish(eventTypeName: string, body: Buffer, context: PublishContext): Promise<PublishOutcome> {
    return this.#publish(eventTypeName, body, (record) => this.#prepareRecords(record, body, context));
  }

  /**
   * Deletes the keys that the events of a JSON array name from a compacted event type, and returns when the deletions
   * are durable. The events themselves are neither validated against the schema nor stored.
   * @param body The array as it was sent.
   * @throws as {@link publish}; UNPROCESSABLE for an event type that is not compacted, when there is no event to say so
   */
  deleteKeys(eventTypeName: string, body: Buffer): Promise<PublishOutcome> {
    return this.#publish(eventTypeName, body, (record) => this.#prepareDeletions(record, body));
  }

  async #publish(
    eventTypeName: string,
    body: Buffer,
    prepare: (record: EventTypeRecord) => Preparation,
  ): Promise<PublishOutcome> {
    const { eventTypes, clock, metrics } = this.#options;
    const startedAt = clock.monotonic();
    const record = eventTypes.known(eventTypeName) ?? (await eventTypes.get(eventTypeName));
    const preparing = inTurns(prepare(record));
    // Short work for a known event type is done at once, in the order of the calls.
    let prepared = preparing instanceof Promise ? await preparing : preparing;
    if ('refused' in prepared && record.eventType.partition_strategy === 'user_defined') {
      // An event may name a partition that another process added a moment ago.
      const repartitioned = await eventTypes.repartitioned(record);
      if (repartitioned !== undefined) prepared = await inTurns(prepare(repartitioned));
    }
    const labels = { event_type: eventTypeName };
    if ('refused' in prepared) {
      metrics.refusedEvents.inc(labels, prepared.refused.length);
      return { status: 422, items: prepared.refused };
    }
    const { eids } = prepared;
    const appended =
      eids === undefined ? await this.#appendAll(prepared) : await this.#appendOnce(record, prepared, eids);
    const outcome = this.#outcome(eventTypeName, body, prepared, appended);
    // The log promises to read no more what it has appended.
    if (outcome.status === 200) prepared.release?.();
    const repeated = appended.repetitions.size;
    if (repeated > 0) metrics.repeatedEvents.inc(labels, repeated);
    const count = prepared.partitions.length - repeated;
    const submitted = outcome.status === 200 ? count : outcome.items.filter(isSubmitted).length - repeated;
    metrics.publishedEvents.inc(labels, submitted);
    metrics.refusedEvents.inc(labels, count - submitted);
    metrics.publishSeconds.observe(labels, (clock.monotonic() - startedAt) / 1000);
    return outcome;
  }

  /**
   * Publishes an event that this process wrote, to an event type whose partitions are chosen by hash. It is stored as
   * {@link publish} would store it, and returns when it is durable.
   * @throws NOT_FOUND for an unknown event type; OVERLOADED when the log accepts no more now and nothing was written;
   *   LOG_UNAVAILABLE when the event was not stored, or when that is unknown; what `EventLog.append` throws
   */
  async publishPrepared(eventTypeName: string, event: PreparedEvent, context: PublishContext): Promise<void> {
    const { eventTypes, log, clock, metrics, logger } = this.#options;
    const startedAt = clock.monotonic();
    const labels = { event_type: eventTypeName };
    const { type, enrichments } = this.#prepare(
      eventTypes.known(eventTypeName) ?? (await eventTypes.get(eventTypeName)),
    );
    const partition = event.partition ?? hashPartition(event.keyFields, type.partitionCount);
    const metadata = this.#enrichment(enrichments, context).plainMetadataOf(event.eid, event.occurredAt, partition);
    const value = Buffer.from(`{"metadata":${metadata},${event.fieldsText}}`);
    const records = [{ key: joinKeyFields(event.keyFields), value }];
    const [result] = await log.append([{ topic: type.name, partition, records }]);
    if (result?.outcome !== 'appended') {
      metrics.refusedEvents.inc(labels);
      if (result?.error.code === 'OVERLOADED') throw result.error;
      logger.warn({ eventType: type.name, partition, code: result?.error.code }, 'Events could not be written');
      throw new LendstreamError('LOG_UNAVAILABLE', failureText(result?.error), { cause: result?.error });
    }
    metrics.publishedEvents.inc(labels);
    metrics.publishSeconds.observe(labels, (clock.monotonic() - startedAt) / 1000);
  }

  #enrichment(enrichments: Enrichments, { publishedBy, flowId, traceparent }: PublishContext): Enrichment {
    const receivedAt = toTimestamp(this.#options.clock.now());
    return enrichments.of({ publishedBy, flowId, traceparent, receivedAt });
  }

  async #appendAll({ batches }: PreparedRecords): Promise<Appended> {
    const appends = batches.flatMap(inAppends);
    return { appends, results: await this.#append(appends, () => true), repetitions: noRepetitions };
  }

  /** Appends the events whose ids were not stored before, and not under way at the same time. */
  async #appendOnce(
    { eventType, deduplicatedSince }: EventTypeRecord,
    { partitions, batches }: PreparedRecords,
    eids: readonly string[],
  ): Promise<Appended> {
    const { publishedIds } = this.#options;
    const windowMilliseconds = deduplicationMilliseconds(eventType);
    if (publishedIds === undefined || windowMilliseconds === undefined) {
      throw new Error('There are no published ids to compare with');
    }
    const ids = idsOfRequest(eids, partitions);
    const { name: topic, created_at: createdAt } = eventType;
    const claimedSince = deduplicatedSince ?? createdAt;
    const claim = await publishedIds.claim({ topic, claimedSince, windowMilliseconds, ...ids.toClaim });
    const repetitions = repetitionsOf(ids, claim.storedIn);
    const appends = withoutRepetitions(batches, partitions, repetitions).flatMap(inAppends);
    const results = await this.#appendClaimed(claim, ids, partitions, repetitions, appends);
    return { appends, results, repetitions };
  }

  async #appendClaimed(
    claim: IdClaim,
    ids: RequestIds,
    partitions: Int32Array,
    repetitions: Repetitions,
    appends: readonly PartitionRecords[],
  ): Promise<readonly AppendResult[]> {
    let results: readonly AppendResult[] = [];
    try {
      results = await this.#append(appends, () => claim.isCurrent());
    } finally {
      const { stored, unknown } = claimOutcome(ids, partitions, repetitions, appends, results);
      // The response need not wait: until it is settled, the claim and the log say the same.
      void claim.settle(stored, unknown);
    }
    return results;
  }

  /**
   * Appends in order within each partition. After a failed append, the later ones of its partition are not stored
   * either.
   * @param mayBegin Whether another append may begin now.
   */
  async #append(appends: readonly PartitionRecords[], mayBegin: () => boolean): Promise<readonly AppendResult[]> {
    const { log } = this.#options;
    if (appends.length === 0) return [];
    // Appends are ordered by partition, ascending.
    if (!appends.some(({ partition }, index) => partition === appends[index - 1]?.partition)) {
      return mayBegin() ? log.append(appends) : appends.map(tooLate);
    }
    const partitions = [...new Set(appends.map(({ partition }) => partition))];
    const inOrder = partitions.map(async (partition) => {
      const results: AppendResult[] = [];
      for (const append of appends.filter((each) => each.partition === partition)) {
        const before = results.at(-1);
        if (before?.outcome === 'failed') results.push(before);
        else results.push(...(mayBegin() ? await log.append([append]) : [tooLate(append)]));
      }
      return results;
    });
    return (await Promise.all(inOrder)).flat();
  }

  /** Separate from waiting for the log, so that the parsed events are not kept in memory for as long. */
  *#prepareRecords(record: EventTypeRecord, body: Buffer, context: PublishContext): Preparation {
    refuseServiceAlone(record);
    const { type, enrichments, similarEvents, plainEvents } = this.#prepare(record);
    if (type.compile() && record.eventType.schema.schema.length > longSchemaCharacters) yield;
    const recordContext = { random: this.#random, enrichment: this.#enrichment(enrichments, context) };
    const fastRecords = similarEvents.prepare(body, recordContext);
    if (fastRecords !== undefined) return fastRecords;
    const plain = plainEvents.prepare(body, recordContext);
    if (plain !== undefined) {
      similarEvents.learnShapeOf(body, 1, plain.firstEnd, plain.isFirstPlain);
      return plain.records;
    }
    const parsed = parseEvents(body);
    const prepared = yield* prepareRecords(type, parsed, recordContext);
    if (!('refused' in prepared)) similarEvents.learnShape(parsed);
    return prepared;
  }

  *#prepareDeletions(record: EventTypeRecord, body: Buffer): Preparation {
    refuseServiceAlone(record);
    const parsed = parseEvents(body);
    // Parsing a large body takes long enough to give other work its turn.
    yield;
    return prepareDeletions(this.#prepare(record).type, parsed, this.#random);
  }

  #prepare(record: EventTypeRecord): PreparedPublishing {
    const known = this.#prepared.get(record);
    if (known !== undefined) return known;
    const type = prepareEventType(record);
    const prepared = {
      type,
      enrichments: new Enrichments(type),
      similarEvents: new KnownShapes(type),
      plainEvents: new PlainEvents(type),
    };
    this.#prepared.set(record, prepared);
    return prepared;
  }

  #outcome(eventType: string, body: Buffer, prepared: PreparedRecords, appended: Appended): PublishOutcome {
    const { appends, results } = appended;
    const failures = results.filter((result) => result.outcome === 'failed');
    const [failure] = failures;
    const isAllOverloaded = failures.every(({ error }) => error.code === 'OVERLOADED');
    // An append with an unknown outcome may have been stored, which a 503 response would not say.
    if (failure !== undefined && failures.length === appends.length && isAllOverloaded) throw failure.error;
    for (const { partition, error } of failures) {
      this.#options.logger.warn({ eventType, partition, code: error.code }, 'Events could not be written');
    }
    return new LazyOutcome(failures.length === 0 ? 200 : 207, () => itemsOf(parseEvents(body), prepared, appended));
  }
}

/**
 * A 200 response has no body, so most callers never read the items. Reading them parses the events again.
 *
 * This is a class because the engine makes a hidden class for each object that is written with a getter of its own. It
 * is old from the start, so all that the getter refers to would live until the whole heap is collected.
 */
class LazyOutcome implements PublishOutcome {
  readonly status: 200 | 207;
  readonly #read: () => readonly PublishedItem[];
  #items: readonly PublishedItem[] | undefined;

  constructor(status: 200 | 207, read: () => readonly PublishedItem[]) {
    this.status = status;
    this.#read = read;
  }

  get items(): readonly PublishedItem[] {
    this.#items ??= this.#read();
    return this.#items;
  }
}

/** The events of one partition, in one append or, if they exceed what a log takes at once, in several. */
function inAppends(batch: PartitionRecords): readonly PartitionRecords[] {
  // Most batches do: their records need not be unpacked.
  if (appendBytesOfAll(batch) <= appendBytesMaximum) return [batch];
  const { topic, partition, records } = batch;
  const appends: PartitionRecords[] = [];
  let from = 0;
  let bytes = 0;
  for (let index = 0; index < records.length; index += 1) {
    const more = appendBytes(records[index] as LogRecord);
    // No record alone is as large.
    if (bytes + more > appendBytesMaximum) {
      appends.push({ topic, partition, records: records.slice(from, index) });
      from = index;
      bytes = 0;
    }
    bytes += more;
  }
  return from === 0 ? [batch] : [...appends, { topic, partition, records: records.slice(from) }];
}

function itemsOf(
  { events }: ParsedEvents,
  { partitions, inEveryPartition = false }: PreparedRecords,
  { appends, results, repetitions }: Appended,
): PublishedItem[] {
  /** By partition: the outcome of each of its records, in order. */
  const outcomes = new Map<number, Iterator<RecordOutcome>>();
  for (const { partition } of appends) outcomes.set(partition, outcomesOf(partition, appends, results));
  const outcomeIn = (partition: number): Partial<RecordOutcome> => outcomes.get(partition)?.next().value ?? {};
  const items: PublishedItem[] = [];
  for (const [index, event] of events.entries()) {
    const repetition = repetitions.get(index);
    items.push(repetition === undefined ? itemOf(event, index) : repeatedItem(event, repetition, items));
  }
  return items;

  function itemOf(event: EventObject, index: number): PublishedItem {
    const partition = partitions[index] as number;
    const everywhere = inEveryPartition ? [...outcomes.keys()].map(outcomeIn) : [outcomeIn(partition)];
    const { result, place = 0 } = everywhere.find((each) => each.result?.outcome !== 'appended') ?? everywhere[0] ?? {};
    const base = { eid: eidOf(event), step: 'publishing', partition: String(partition) } as const;
    if (result?.outcome === 'appended') {
      return publishedItem('submitted', '', base.step, base.eid, base.partition, result.baseOffset + place);
    }
    const { error } = result ?? {};
    return {
      ...publishedItem('failed', failureText(error), base.step, base.eid, base.partition),
      retryable: error?.retriable === true,
    };
  }
}

/** The item of an event that was not appended. Of a repetition within the request, it is that of the first event. */
function repeatedItem(event: EventObject, repetition: Repetition, items: readonly PublishedItem[]): PublishedItem {
  const first = 'of' in repetition ? items[repetition.of] : undefined;
  if (first !== undefined && !isSubmitted(first)) return { ...first, eid: eidOf(event) };
  const partition = 'of' in repetition ? (first?.partition ?? null) : String(repetition.storedIn);
  return publishedItem('submitted', repeatedDetail, 'publishing', eidOf(event), partition);
}

/** The detail of an event that is stored already. */
export const repeatedDetail = 'The event was stored before: its eid is not new.';

/** An append that did not begin, because its claim would end before its outcome is sure to be known. */
function tooLate({ topic, partition }: PartitionRecords): AppendResult {
  const detail = 'The process was too slow to store the events. Nothing was stored; try again.';
  return { topic, partition, outcome: 'failed', error: new LendstreamError('OVERLOADED', detail) };
}

interface RecordOutcome {
  readonly result: AppendResult | undefined;
  /** Of the record among those of its append. */
  readonly place: number;
}

function* outcomesOf(
  partition: number,
  appends: readonly PartitionRecords[],
  results: readonly AppendResult[],
): Generator<RecordOutcome, undefined> {
  for (const [index, append] of appends.entries()) {
    if (append.partition !== partition) continue;
    for (let place = 0; place < append.records.length; place += 1) yield { result: results[index], place };
  }
}

/** @throws FORBIDDEN */
function refuseServiceAlone({ eventType, writtenByServiceAlone }: EventTypeRecord): void {
  if (writtenByServiceAlone !== true) return;
  throw new LendstreamError('FORBIDDEN', `Only the service writes events of type ${eventType.name}.`);
}

function isSubmitted({ publishing_status: status }: PublishedItem): boolean {
  return status === 'submitted';
}

function failureText(error: LendstreamError | undefined): string {
  if (error === undefined) return 'internal error';
  return error.code === 'OUTCOME_UNKNOWN' ? 'timed out' : error.message;
}
