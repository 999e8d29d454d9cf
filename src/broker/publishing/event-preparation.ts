import type { Enrichment, ProducerMetadata } from './enrichment.ts';
import type { ParsedEvents } from './request-parsing.ts';
import type { PartitionRecords } from '../../ports/event-log.ts';
import { fieldsPerEvent, spanField } from './event-byte-positions.ts';
import { compactText, rawValueAt } from './json-as-written.ts';
import { describeViolations } from '../schemas/violation-texts.ts';
import {
  absent,
  hashPartition,
  keyText,
  namedPartition,
  randomPartition,
  valueAt,
  joinKeyFields,
} from './partitioning.ts';
import { eidOf, publishedItem, type EventObject, type PublishedItem, type PublishingStep } from './response-items.ts';
import { ValidationBudget } from '../schemas/validation-budget.ts';
import type { PreparedEventType } from './prepared-event-type.ts';
import { outcomeOf, describedViolations } from './event-validation.ts';
import { packByPartition } from './records-by-partition.ts';

/**
 * From the events of a request to the records of the log: validate, partition, enrich, write out.
 *
 * Outside `metadata` an event is stored byte for byte as it was sent, on one line, without the white space between its
 * tokens. Readers get these bytes, and numbers keep digits that no double could hold.
 */

/**
 * The largest event as it was sent, with the white space between its tokens. Bytes. What is stored has other metadata,
 * whose characters may take three times as much; the log takes several times as much.
 */
export const eventBytesMaximum = 999_000;

export interface RecordContext {
  readonly random: () => number;
  readonly enrichment: Enrichment;
}

export interface PreparedRecords {
  /** The partition of each event. */
  readonly partitions: Int32Array;
  /** By partition, ascending; each holds its events in the order of the request. */
  readonly batches: readonly PartitionRecords[];
  /** Whether each event has a record in every partition, not only in its own. Default false. */
  readonly inEveryPartition?: boolean;
  /** The id of each event, where repeated events are stored once. */
  readonly eids?: readonly string[];
  /** Says that the batches are not read any more: their memory is used for another request. */
  readonly release?: () => void;
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
    const detail =
      outcome.length === 0
        ? sizeViolation(parsed, index)
        : describeViolations(yield* describedViolations(type, parsed, index, budget, outcome));
    if (detail !== undefined) return { refused: refuse(events, index, 'validating', 'none', detail, null) };
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
  const textOf = (index: number, partition: number): string =>
    eventText(type, parsed, index, partition, context.enrichment);
  const batches = packByPartition(type, partitions, keys, textOf);
  if (type.deduplicationMilliseconds === undefined) return { partitions, batches };
  return { partitions, batches, eids: events.map(eidOf) };
}

/** That an event exceeds {@link eventBytesMaximum}, in words; undefined when it does not. */
export function sizeViolation({ spans: { fields } }: ParsedEvents, index: number): string | undefined {
  const base = index * fieldsPerEvent;
  const bytes = (fields[base + spanField.end] as number) - (fields[base + spanField.start] as number);
  if (bytes <= eventBytesMaximum) return undefined;
  return `Event too large: ${bytes} bytes, max size is ${eventBytesMaximum} bytes`;
}

/**
 * The items of a request that one event rejects: the events before it were done with the step, those after it only with
 * the step before.
 */
export function refuse(
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
export function routeEvent(
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
