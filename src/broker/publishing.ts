import { isAscii, isUtf8 } from 'node:buffer';
import { toTimestamp, type Clock } from '../clock.ts';
import { LendstreamError, describeError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import { effectiveSchema, readAdminSchema } from './effective-schema.ts';
import { createEnrichment, type Enrichment, type ProducerMetadata } from './enrichment.ts';
import type { AppendResult, EventLog, LogRecord, Offset, PartitionRecords } from './event-log.ts';
import { compactText, fieldsPerEvent, rawValueAt, scanEvents, spanField, type EventSpans } from './event-scanner.ts';
import type { EventTypeRecord } from './event-type.ts';
import type { EventTypes } from './event-types.ts';
import { compileValidator, describeViolations, type SchemaValidator } from './json-schema.ts';
import { absent, hashPartition, keyText, namedPartition, randomPartition, valueAt } from './partitioning.ts';

/**
 * Publishing a batch of events: validate, partition, enrich, write. A batch with a bad event is refused whole.
 *
 * Outside `metadata` an event is stored letter by letter as it was sent, less the white space between its tokens, on
 * one line: readers get these bytes, and numbers keep digits that no double could hold.
 */

/** The largest event, as sent, with its white space. Bytes. */
export const eventBytesMaximum = 999_000;

/** How deep an event may be nested. JSON levels. */
export const eventDepthMaximum = 100;

/** Up to this size an invalid event is told all that is wrong with it, beyond it the first finding. Bytes. */
export const fullReportBytesMaximum = 64 * 1024;

export interface PublishContext {
  readonly flowId: string;
  /** Who publishes, as `metadata.published_by` says. */
  readonly publishedBy: string;
}

export type PublishingStep = 'none' | 'validating' | 'partitioning' | 'enriching' | 'publishing';

/** What became of one event (snake_case is the API's). */
export interface PublishedItem {
  readonly publishing_status: 'submitted' | 'failed' | 'aborted';
  readonly detail: string;
  readonly step: PublishingStep;
  /** Empty when the event has none. */
  readonly eid: string;
  readonly partition: string | null;
  /** Where a submitted event lies. */
  readonly offset?: Offset;
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

export interface PublisherOptions {
  readonly eventTypes: EventTypes;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** From 0 (inclusive) to 1 (exclusive): spreads events over partitions. */
  readonly random?: () => number;
}

export class Publisher {
  readonly #options: PublisherOptions;
  readonly #random: () => number;
  /** What was prepared for an event type as it is defined now; a changed definition is another record. */
  readonly #prepared = new WeakMap<EventTypeRecord, PreparedEventType>();

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
  }

  /**
   * Publishes a JSON array of events and returns when the log has answered for all of them.
   * @param body The array as it was sent.
   * @throws NOT_FOUND for an unknown event type; MALFORMED_REQUEST when the body is no array of objects, repeats a key
   *   or is nested too deep; OVERLOADED when the log takes no more now and nothing was written; what `EventLog.append`
   *   throws
   */
  async publish(eventTypeName: string, body: Buffer, context: PublishContext): Promise<PublishOutcome> {
    const { eventTypes, clock, metrics, log } = this.#options;
    const startedAt = clock.monotonic();
    const type = this.#prepare(eventTypes.get(eventTypeName));
    const parsed = parseEvents(body);
    const prepared = prepareRecords(type, parsed, {
      random: this.#random,
      enrichment: createEnrichment({
        eventType: eventTypeName,
        version: type.version,
        publishedBy: context.publishedBy,
        flowId: context.flowId,
        receivedAt: toTimestamp(clock.now()),
      }),
    });
    const labels = { event_type: eventTypeName };
    if ('refused' in prepared) {
      metrics.refusedEvents.inc(labels, prepared.refused.length);
      return { status: 422, items: prepared.refused };
    }
    const results = prepared.batches.length === 0 ? [] : await log.append(prepared.batches);
    const outcome = this.#outcome(eventTypeName, parsed, prepared, results);
    const submitted = outcome.items.filter((item) => item.publishing_status === 'submitted').length;
    metrics.publishedEvents.inc(labels, submitted);
    metrics.refusedEvents.inc(labels, outcome.items.length - submitted);
    metrics.publishSeconds.observe(labels, (clock.monotonic() - startedAt) / 1000);
    return outcome;
  }

  #prepare(record: EventTypeRecord): PreparedEventType {
    const known = this.#prepared.get(record);
    if (known !== undefined) return known;
    const type = prepareEventType(record);
    this.#prepared.set(record, type);
    return type;
  }

  #outcome(
    eventType: string,
    { events }: ParsedEvents,
    { partitions, batches }: PreparedRecords,
    results: readonly AppendResult[],
  ): PublishOutcome {
    const byPartition = new Map(results.map((result) => [result.partition, result]));
    const failures = results.filter((result) => result.outcome === 'failed');
    const overloaded = failures.find(({ error }) => error.code === 'OVERLOADED');
    if (overloaded !== undefined && failures.length === batches.length) throw overloaded.error;
    for (const { partition, error } of failures) {
      this.#options.logger.warn({ eventType, partition, code: error.code }, 'Events could not be written');
    }
    const written = new Map<number, number>();
    const items = events.map((event, index): PublishedItem => {
      const partition = partitions[index] ?? 0;
      const place = written.get(partition) ?? 0;
      written.set(partition, place + 1);
      const base = { eid: eidOf(event), step: 'publishing', partition: String(partition) } as const;
      const result = byPartition.get(partition);
      if (result?.outcome === 'appended') {
        return itemOf('submitted', '', base.step, base.eid, base.partition, result.baseOffset + place);
      }
      return itemOf('failed', failureText(result?.error), base.step, base.eid, base.partition);
    });
    return { status: failures.length === 0 ? 200 : 207, items };
  }
}

function failureText(error: LendstreamError | undefined): string {
  if (error === undefined) return 'internal error';
  return error.code === 'OUTCOME_UNKNOWN' ? 'timed out' : error.message;
}

/** Fields in the order in which they are answered. */
function itemOf(
  publishing_status: PublishedItem['publishing_status'],
  detail: string,
  step: PublishingStep,
  eid: string,
  partition: string | null,
  offset?: Offset,
): PublishedItem {
  const item = { publishing_status, detail, step, eid, partition };
  return offset === undefined ? item : { ...item, offset };
}

/** What of an event type is needed for each of its events. */
export interface PreparedEventType {
  readonly name: string;
  readonly version: string;
  readonly partitionCount: number;
  readonly partitionStrategy: 'random' | 'hash' | 'user_defined';
  /** Where the key fields lie in an event. */
  readonly keyPaths: readonly (readonly string[])[];
  readonly keyNames: readonly string[];
  readonly absentKeyFieldsAllowed: boolean;
  readonly isEnriched: boolean;
  readonly isCompacted: boolean;
  readonly validate: SchemaValidator;
  readonly validateFully: SchemaValidator;
}

/** Compiles what publishing to an event type needs. */
export function prepareEventType(record: EventTypeRecord): PreparedEventType {
  const { eventType, partitionCount, absentKeyFieldsAllowed, system } = record;
  // The service's own schemas may describe the metadata that every event has.
  const rules = system ? { ...eventType, category: 'undefined' as const } : eventType;
  const schema = effectiveSchema(readAdminSchema(eventType.schema.schema, rules), eventType);
  const prefix = eventType.category === 'data' ? ['data'] : [];
  let fullValidator: SchemaValidator | undefined;
  return {
    name: eventType.name,
    version: eventType.schema.version,
    partitionCount,
    partitionStrategy: eventType.partition_strategy,
    keyPaths: eventType.partition_key_fields.map((path) => [...prefix, ...path.split('.')]),
    keyNames: eventType.partition_key_fields,
    absentKeyFieldsAllowed: absentKeyFieldsAllowed === true,
    isEnriched: eventType.category !== 'undefined',
    isCompacted: eventType.cleanup_policy !== 'delete',
    validate: compileValidator(schema, { allViolations: false }),
    validateFully: (event) => {
      fullValidator ??= compileValidator(schema);
      return fullValidator(event);
    },
  };
}

type EventObject = Readonly<Record<string, unknown>>;

export interface ParsedEvents {
  readonly body: Buffer;
  readonly events: readonly EventObject[];
  readonly spans: EventSpans;
}

/**
 * Parses the body of a publish request and finds the events' bytes in it.
 * @throws MALFORMED_REQUEST
 */
export function parseEvents(sent: Buffer): ParsedEvents {
  if (!isUtf8(sent)) throw unreadable('the body is not UTF-8.');
  let body = sent;
  let value: unknown;
  try {
    value = parseText(body);
  } catch (error) {
    const tolerated = withoutTrailingComma(body);
    if (tolerated === undefined) throw unreadable(describeError(error));
    body = tolerated;
    try {
      value = parseText(body);
    } catch {
      throw unreadable(describeError(error));
    }
  }
  if (!Array.isArray(value)) throw unreadable('an array of events is expected.');
  const events = value as unknown[];
  for (const [index, event] of events.entries()) {
    if (typeof event !== 'object' || event === null || Array.isArray(event)) {
      throw unreadable(`item ${index} of the array is not a JSON object.`);
    }
  }
  const parsed = { body, events: events as EventObject[], spans: scanEvents(body, events.length) };
  checkShape(parsed);
  return parsed;
}

function parseText(body: Buffer): unknown {
  // Both give the same text for ASCII; Latin-1 is made without decoding.
  return JSON.parse(body.toString(isAscii(body) ? 'latin1' : 'utf8'));
}

function unreadable(reason: string): LendstreamError {
  return new LendstreamError('MALFORMED_REQUEST', `Error occurred when parsing event(s). ${reason}`);
}

/** A comma between the last event and the closing bracket is tolerated: the body with a space in its place. */
function withoutTrailingComma(body: Buffer): Buffer | undefined {
  let index = body.length - 1;
  const skip = (): void => {
    while (index >= 0 && (body[index] as number) <= 0x20) index -= 1;
  };
  skip();
  if (body[index] !== 0x5d) return undefined;
  index -= 1;
  skip();
  if (body[index] !== 0x2c) return undefined;
  const repaired = Buffer.from(body);
  repaired[index] = 0x20;
  index -= 1;
  skip();
  return body[index] === 0x7d ? repaired : undefined;
}

/** A parser keeps one of several equal keys and readers may keep another, so repeats are refused. */
function checkShape({ events, spans: { fields } }: ParsedEvents): void {
  for (const [index, event] of events.entries()) {
    const base = index * fieldsPerEvent;
    const depth = fields[base + spanField.depth] ?? 0;
    if (depth > eventDepthMaximum) {
      throw unreadable(`item ${index} of the array is nested deeper than ${eventDepthMaximum} levels.`);
    }
    if (fields[base + spanField.keys] !== keyCount(event)) {
      throw unreadable(`Duplicate key in item ${index} of the array.`);
    }
    if (fields[base + spanField.metadataStart] === -1) continue;
    if (fields[base + spanField.metadataKeys] !== keyCount(event['metadata'] as EventObject)) {
      throw unreadable(`Duplicate key in the metadata of item ${index} of the array.`);
    }
  }
}

function keyCount(object: EventObject): number {
  let count = 0;
  // Parsed objects inherit nothing enumerable, and unlike Object.keys this allocates nothing.
  for (const _key in object) count += 1;
  return count;
}

export interface RecordContext {
  readonly random: () => number;
  readonly enrichment: Enrichment;
}

export interface PreparedRecords {
  /** The partition of each event. */
  readonly partitions: Int32Array;
  /** By partition, ascending; each holds its events in the order of the request. */
  readonly batches: readonly PartitionRecords[];
}

/** Takes a batch through validation, partitioning and enrichment. Pure but for `random`. */
export function prepareRecords(
  type: PreparedEventType,
  parsed: ParsedEvents,
  context: RecordContext,
): PreparedRecords | { readonly refused: readonly PublishedItem[] } {
  const { events } = parsed;
  const count = events.length;
  for (let index = 0; index < count; index += 1) {
    const detail = invalidity(type, parsed, index);
    if (detail === null) continue;
    return { refused: refuse(events, index, 'validating', 'none', detail, null) };
  }
  const partitions = new Int32Array(count);
  const keys: (string | null)[] = [];
  for (let index = 0; index < count; index += 1) {
    const placed = place(type, parsed, index, context.random);
    if (typeof placed === 'string') {
      return { refused: refuse(events, index, 'partitioning', 'validating', placed, partitions) };
    }
    partitions[index] = placed.partition;
    keys.push(placed.key);
  }
  return { partitions, batches: write(type, parsed, partitions, keys, context.enrichment) };
}

/** What is wrong with an event, or null. */
function invalidity(type: PreparedEventType, { events, spans }: ParsedEvents, index: number): string | null {
  const event = events[index];
  const base = index * fieldsPerEvent;
  const size = (spans.fields[base + spanField.end] ?? 0) - (spans.fields[base + spanField.start] ?? 0);
  const violations = type.validate(event);
  if (violations.length > 0) {
    return describeViolations(size <= fullReportBytesMaximum ? type.validateFully(event) : violations);
  }
  return size > eventBytesMaximum ? `Event too large: ${size} bytes, max size is ${eventBytesMaximum} bytes` : null;
}

function refuse(
  events: readonly EventObject[],
  failedIndex: number,
  step: PublishingStep,
  laterStep: PublishingStep,
  detail: string,
  partitions: Int32Array | null,
): PublishedItem[] {
  return events.map((event, index) => {
    const eid = eidOf(event);
    if (index === failedIndex) return itemOf('failed', detail, step, eid, null);
    if (index > failedIndex) return itemOf('aborted', '', laterStep, eid, null);
    return itemOf('aborted', '', step, eid, partitions === null ? null : String(partitions[index]));
  });
}

function eidOf(event: EventObject): string {
  const metadata = event['metadata'];
  if (typeof metadata !== 'object' || metadata === null) return '';
  const eid = (metadata as EventObject)['eid'];
  return typeof eid === 'string' ? eid : '';
}

/** The partition and the record key of an event, or why it has none. */
function place(
  type: PreparedEventType,
  parsed: ParsedEvents,
  index: number,
  random: () => number,
): { partition: number; key: string | null } | string {
  const event = parsed.events[index] as EventObject;
  const metadata = event['metadata'] as ProducerMetadata | undefined;
  const compactionKey = type.isCompacted ? (metadata?.partition_compaction_key ?? null) : null;
  if (type.partitionStrategy === 'random') {
    return { partition: randomPartition(random(), type.partitionCount), key: compactionKey };
  }
  if (type.partitionStrategy === 'user_defined') {
    const named = metadata?.partition;
    const partition = namedPartition(named, type.partitionCount);
    if (partition !== undefined) return { partition, key: compactionKey };
    return named === undefined
      ? 'Failed to resolve partition. metadata.partition is not set.'
      : `Failed to resolve partition. Partition "${named}" does not exist.`;
  }
  const fields: string[] = [];
  for (const [fieldIndex, path] of type.keyPaths.entries()) {
    const value = valueAt(event, path);
    if (value === absent || (value === null && type.absentKeyFieldsAllowed)) {
      if (type.absentKeyFieldsAllowed) continue;
      return `field ${type.keyNames[fieldIndex]} doesn't exist.`;
    }
    const start = parsed.spans.fields[index * fieldsPerEvent + spanField.start] ?? 0;
    fields.push(keyText(value, () => rawValueAt(parsed.body, start, path) ?? String(value)));
  }
  if (fields.length === 0) return `none of the fields ${type.keyNames.join(', ')} exists.`;
  return { partition: hashPartition(fields, type.partitionCount), key: compactionKey ?? fields.join(',') };
}

/**
 * Writes all events into one buffer; the records are slices of it. The bytes are put together as Latin-1 text, one
 * character for each byte, because joining strings and writing them once is several times cheaper than copying bytes
 * event by event. What is added is ASCII, so it is the same in either encoding.
 */
function write(
  type: PreparedEventType,
  { body, events, spans: { fields } }: ParsedEvents,
  partitions: Int32Array,
  keys: readonly (string | null)[],
  enrichment: Enrichment,
): PartitionRecords[] {
  const count = events.length;
  const bodyText = body.toString('latin1');
  const ends = new Int32Array(count);
  let text = '';
  for (let index = 0; index < count; index += 1) {
    const base = index * fieldsPerEvent;
    const start = fields[base + spanField.start] as number;
    const end = fields[base + spanField.end] as number;
    const isCompact = fields[base + spanField.whitespace] === 0;
    const part = (from: number, to: number): string =>
      isCompact ? bodyText.slice(from, to) : compactText(body, from, to);
    if (type.isEnriched) {
      const metadata = (events[index] as EventObject)['metadata'] as ProducerMetadata;
      text +=
        part(start, fields[base + spanField.metadataStart] as number) +
        enrichment.metadataOf(metadata, partitions[index] as number) +
        part(fields[base + spanField.metadataEnd] as number, end);
    } else text += part(start, end);
    ends[index] = text.length;
  }
  const bytes = Buffer.from(text, 'latin1');
  const records: LogRecord[][] = Array.from({ length: type.partitionCount }, () => []);
  for (let index = 0; index < count; index += 1) {
    const value = bytes.subarray(index === 0 ? 0 : ends[index - 1], ends[index]);
    (records[partitions[index] as number] as LogRecord[]).push({ key: keys[index] ?? null, value });
  }
  return records.flatMap((list, partition) =>
    list.length === 0 ? [] : [{ topic: type.name, partition, records: list }],
  );
}
