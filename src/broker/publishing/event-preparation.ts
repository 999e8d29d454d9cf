import type { Enrichment, ProducerMetadata } from './enrichment.ts';
import type { ParsedEvents } from './request-parsing.ts';
import type { PartitionRecords } from '../../ports/event-log.ts';
import { eventRules, type EventRules } from '../schemas/compiled-schemas.ts';
import { compactText, fieldsPerEvent, rawValueAt, spanField } from './event-byte-positions.ts';
import type { EventTypeRecord } from '../definitions/event-type.ts';
import { describeViolations, undescribed, type SchemaViolation } from '../schemas/schema-validator.ts';
import { PackedPartitionRecords } from '../../ports/packed-records.ts';
import { absent, hashPartition, keyText, namedPartition, randomPartition, valueAt } from './partitioning.ts';
import { eidOf, publishedItem, type EventObject, type PublishedItem, type PublishingStep } from './response-items.ts';
import { ValidationBudget } from '../schemas/validation-budget.ts';
import { WrittenNumbers } from '../schemas/written-numbers.ts';

/**
 * From the events of a request to the records of the log: validate, partition, enrich, write out.
 *
 * Outside `metadata` an event is stored byte for byte as it was sent, on one line, without the white space between its
 * tokens. Readers get these bytes, and numbers keep digits that no double could hold.
 */

/** The largest event as it is stored: with its enriched metadata, without white space. Bytes. */
export const eventBytesMaximum = 999_000;

/** Up to this size the report on an invalid event lists all violations, beyond it only the first. Bytes. */
export const fullReportBytesMaximum = 64 * 1024;

/** The cost of reading an event again for the digits of its numbers. Steps of the budget for validation. */
const stepsPerLongNumber = 300;
const stepsPerByteRead = 5;

/** The parts of an event type that each of its events needs. */
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
  /** The rules that events are validated with. */
  readonly rules: EventRules;
}

/** What was prepared for an event type as it is defined now; a changed definition is another record. */
const preparedTypes = new WeakMap<EventTypeRecord, PreparedEventType>();

/** Compiles what publishing to an event type needs, once for each definition. */
export function prepareEventType(record: EventTypeRecord): PreparedEventType {
  const known = preparedTypes.get(record);
  if (known !== undefined) return known;
  const prepared = prepare(record);
  preparedTypes.set(record, prepared);
  return prepared;
}

function prepare(record: EventTypeRecord): PreparedEventType {
  const { eventType, partitionCount, absentKeyFieldsAllowed, system } = record;
  const prefix = eventType.category === 'data' ? ['data'] : [];
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
    rules: eventRules(eventType.schema.schema, eventType, system),
  };
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

/** How much is validated before other work has its turn. Steps of the budget for validation. */
export const validationStepsPerTurn = 10_000_000;

/** The same in bytes of events, because starting on each event also costs time. */
export const validationBytesPerTurn = 1024 * 1024;

/**
 * Validates, partitions and enriches a batch. Pure except for `random`. Yields where validation is long: between
 * events, and before the code that describes violations is compiled and run.
 */
export function* prepareRecords(
  type: PreparedEventType,
  parsed: ParsedEvents,
  context: RecordContext,
): Generator<void, PreparedRecords | { readonly refused: readonly PublishedItem[] }> {
  const {
    events,
    spans: { fields },
  } = parsed;
  const count = events.length;
  const budget = new ValidationBudget(parsed.body.length);
  let stepsOfNextTurn = budget.steps - validationStepsPerTurn;
  let byteOfNextTurn = validationBytesPerTurn;
  for (let index = 0; index < count; index += 1) {
    const end = fields[index * fieldsPerEvent + spanField.end] as number;
    if (budget.steps < stepsOfNextTurn || end > byteOfNextTurn) {
      yield;
      stepsOfNextTurn = budget.steps - validationStepsPerTurn;
      byteOfNextTurn = end + validationBytesPerTurn;
    }
    const outcome = outcomeOf(type, parsed, index, budget);
    if (outcome.length === 0) continue;
    const violations = yield* describedViolations(type, parsed, index, budget, outcome);
    return { refused: refuse(events, index, 'validating', 'none', describeViolations(violations), null) };
  }
  const partitions = new Int32Array(count);
  const keys: (string | null)[] = [];
  for (let index = 0; index < count; index += 1) {
    const route = routeEvent(type, parsed, index, context.random);
    if (typeof route === 'string') {
      return { refused: refuse(events, index, 'partitioning', 'validating', route, partitions) };
    }
    partitions[index] = route.partition;
    keys.push(route.key);
  }
  const textOf = (index: number, partition: number): string => {
    const text = eventText(type, parsed, index, partition, context.enrichment);
    if (text.length > eventBytesMaximum) throw new EventTooLarge(index, text.length);
    return text;
  };
  try {
    return { partitions, batches: packByPartition(type, partitions, keys, textOf) };
  } catch (error) {
    if (!(error instanceof EventTooLarge)) throw error;
    return { refused: refuse(events, error.index, 'enriching', 'partitioning', error.message, partitions) };
  }
}

/** An event that is too large once it has its metadata. */
class EventTooLarge extends Error {
  readonly index: number;

  constructor(index: number, bytes: number) {
    super(`Event too large: ${bytes} bytes, max size is ${eventBytesMaximum} bytes`);
    this.index = index;
  }
}

/**
 * The violations of an event: all of them when it is small, otherwise the first. Yields before the code that describes
 * violations is compiled and run.
 */
export function* violationsOf(
  type: PreparedEventType,
  parsed: ParsedEvents,
  index: number,
  budget: ValidationBudget,
): Generator<void, readonly SchemaViolation[]> {
  return yield* describedViolations(type, parsed, index, budget, outcomeOf(type, parsed, index, budget));
}

/** Whether an event is valid, as violations without descriptions. */
function outcomeOf(
  { rules }: PreparedEventType,
  parsed: ParsedEvents,
  index: number,
  budget: ValidationBudget,
): readonly SchemaViolation[] {
  return rules.validate(parsed.events[index], budget, digitsOf(rules, parsed, index, budget));
}

function* describedViolations(
  { rules }: PreparedEventType,
  parsed: ParsedEvents,
  index: number,
  budget: ValidationBudget,
  outcome: readonly SchemaViolation[],
): Generator<void, readonly SchemaViolation[]> {
  // There are none, or the outcome already says why the event cannot be checked.
  if (outcome !== undescribed) return outcome;
  yield;
  const { fields } = parsed.spans;
  const base = index * fieldsPerEvent;
  const bytes = (fields[base + spanField.end] as number) - (fields[base + spanField.start] as number);
  const find = bytes > fullReportBytesMaximum ? rules.findFirst() : rules.findAll();
  yield;
  const found = find(parsed.events[index], budget, digitsOf(rules, parsed, index, budget));
  return found.length === 0 ? outcome : found;
}

/** The digits of an event's numbers, where a rule may need them. */
function digitsOf(
  rules: EventRules,
  { body, events, spans: { fields } }: ParsedEvents,
  index: number,
  budget: ValidationBudget,
): WrittenNumbers | undefined {
  if (!rules.requiresDigits) return undefined;
  const base = index * fieldsPerEvent;
  const longNumbers = fields[base + spanField.longNumbers] as number;
  if (longNumbers === 0) return undefined;
  const start = fields[base + spanField.start] as number;
  const end = fields[base + spanField.end] as number;
  budget.steps -= longNumbers * stepsPerLongNumber + (end - start) * stepsPerByteRead;
  return budget.steps > 0 ? new WrittenNumbers(body.toString('utf8', start, end), events[index]) : undefined;
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
    if (index === failedIndex) return publishedItem('failed', detail, step, eid, null);
    if (index > failedIndex) return publishedItem('aborted', '', laterStep, eid, null);
    return publishedItem('aborted', '', step, eid, partitions === null ? null : String(partitions[index]));
  });
}

/** The partition and the record key of an event, or why it has none. */
function routeEvent(
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
    const partitionName = metadata?.partition;
    const partition = namedPartition(partitionName, type.partitionCount);
    if (partition !== undefined) return { partition, key: compactionKey };
    return partitionName === undefined
      ? 'Failed to resolve partition. metadata.partition is not set.'
      : `Failed to resolve partition. Partition "${partitionName}" does not exist.`;
  }
  const fields: string[] = [];
  for (let fieldIndex = 0; fieldIndex < type.keyPaths.length; fieldIndex += 1) {
    const path = type.keyPaths[fieldIndex] as readonly string[];
    const value = valueAt(event, path);
    if (value === absent || (value === null && type.absentKeyFieldsAllowed)) {
      if (type.absentKeyFieldsAllowed) continue;
      return `field ${type.keyNames[fieldIndex]} doesn't exist.`;
    }
    fields.push(typeof value === 'string' ? value : writtenKeyText(parsed, index, path, value));
  }
  if (fields.length === 0) return `none of the fields ${type.keyNames.join(', ')} exists.`;
  return { partition: hashPartition(fields, type.partitionCount), key: compactionKey ?? joinKeyFields(fields) };
}

/** The text of a key field that is no string; it depends on how the value was written. */
function writtenKeyText(parsed: ParsedEvents, index: number, path: readonly string[], value: unknown): string {
  const start = parsed.spans.fields[index * fieldsPerEvent + spanField.start] as number;
  return keyText(value, () => rawValueAt(parsed.body, start, path) ?? String(value));
}

/** The key of a record, made from the fields that choose its partition. There is at least one field. */
export function joinKeyFields(fields: readonly string[]): string {
  return fields.length === 1 ? (fields[0] as string) : fields.join(',');
}

/**
 * Writes all events into one buffer; those of one partition follow one another with a comma between them. The bytes are
 * joined as Latin-1 text, one character for each byte: joining strings and writing them once is several times cheaper
 * than copying bytes event by event. All added text is ASCII, so it is the same in either encoding.
 * @param textOf Returns the Latin-1 text of an event as it is stored.
 */
export function packByPartition(
  type: PreparedEventType,
  partitions: Int32Array,
  keys: readonly (string | null)[],
  textOf: (index: number, partition: number) => string,
): PartitionRecords[] {
  const drafts: (PartitionDraft | undefined)[] = Array.from({ length: type.partitionCount });
  for (let index = 0; index < partitions.length; index += 1) {
    const partition = partitions[index] as number;
    const draft = (drafts[partition] ??= { keys: [], valueEnds: [], text: '' });
    if (draft.text !== '') draft.text += ',';
    draft.text += textOf(index, partition);
    draft.valueEnds.push(draft.text.length);
    draft.keys.push(keys[index] ?? null);
  }
  let text = '';
  for (const draft of drafts) if (draft !== undefined) text += draft.text;
  const bytes = Buffer.from(text, 'latin1');
  let start = 0;
  return drafts.flatMap((draft, partition) => {
    if (draft === undefined) return [];
    const end = start + draft.text.length;
    const values = bytes.subarray(start, end);
    start = end;
    const { keys: keysOfPartition, valueEnds } = draft;
    return [new PackedPartitionRecords(type.name, partition, { keys: keysOfPartition, values, valueEnds })];
  });
}

/** The records of one partition while they are put together. */
interface PartitionDraft {
  readonly keys: (string | null)[];
  readonly valueEnds: number[];
  text: string;
}

/** The Latin-1 text of one event as it is stored. */
function eventText(
  type: PreparedEventType,
  { body, bodyText, events, spans: { fields } }: ParsedEvents,
  index: number,
  partition: number,
  enrichment: Enrichment,
): string {
  const base = index * fieldsPerEvent;
  const start = fields[base + spanField.start] as number;
  const end = fields[base + spanField.end] as number;
  const isCompact = fields[base + spanField.whitespace] === 0;
  if (!type.isEnriched) return isCompact ? bodyText.slice(start, end) : compactText(body, start, end);
  const metadataStart = fields[base + spanField.metadataStart] as number;
  const metadataEnd = fields[base + spanField.metadataEnd] as number;
  const sentMetadata = (events[index] as EventObject)['metadata'] as ProducerMetadata;
  const metadata = enrichment.metadataOf(sentMetadata, partition);
  return isCompact
    ? bodyText.slice(start, metadataStart) + metadata + bodyText.slice(metadataEnd, end)
    : compactText(body, start, metadataStart) + metadata + compactText(body, metadataEnd, end);
}
