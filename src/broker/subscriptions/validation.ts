import { FieldViolations, LendstreamError, type FieldViolation } from '../../errors.ts';
import { partitionKey, type CommittedOffset, type EventTypePartition } from '../../ports/coordination.ts';
import { boundsByPartition, unavailabilityReason } from '../cursors/cursor-availability.ts';
import { parseOffset, parsePartition } from '../cursors/cursor-text.ts';
import {
  annotationViolations,
  countViolations,
  labelViolations,
  lengthViolations,
  readAuthorization,
  type KeyedTexts,
} from '../definitions/rules.ts';
import type { PartitionBounds } from '../../ports/event-log.ts';
import type { InitialCursor, Subscription } from '../definitions/subscription.ts';

/** Reading a subscription as a client sent it. Pure. */

/** Most partitions that the event types of one subscription may have together. */
export const partitionsPerSubscriptionMaximum = 100;

/** The parts of a subscription that a client sets; the service sets id and times. */
export type SubscriptionDefinition = Omit<Subscription, 'id' | 'created_at' | 'updated_at'>;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the JSON of a subscription. Unknown fields and fields that only the service sets are ignored. The event types
 * returned are sorted, without repeats.
 * @throws MALFORMED_REQUEST for a value of the wrong JSON type or an unknown enum value; FieldViolations for all broken
 *   rules together
 */
export function readSubscription(body: Fields): SubscriptionDefinition {
  const violations: FieldViolation[] = [];
  const text = (field: string, absent: string | null): string => {
    const value = body[field] === undefined ? absent : body[field];
    if (value === null) violations.push({ field, message: 'must not be null' });
    else if (typeof value !== 'string') throw wrongType(field, 'a string');
    else if (value === '') violations.push({ field, message: 'must contain at least one character' });
    return typeof value === 'string' ? value : '';
  };
  const owningApplication = text('owning_application', null);
  const eventTypes = readEventTypes(body['event_types'], violations);
  const consumerGroup = text('consumer_group', 'default');
  const readFrom = readReadFrom(text('read_from', 'end'));
  const initialCursors = readCursorFields('initial_cursors', body['initial_cursors'] ?? [], violations);
  const authorization = readAuthorization(fieldsOf('authorization', body['authorization'] ?? null), roles, violations);
  const annotations = textsOf('annotations', body['annotations'] ?? {});
  const labels = textsOf('labels', body['labels'] ?? {});
  violations.push(
    ...lengthViolations('owning_application', owningApplication),
    ...lengthViolations('consumer_group', consumerGroup),
    ...eventTypeViolations(eventTypes),
    ...cursorViolations(initialCursors),
    ...annotationViolations(annotations),
    ...unsupportedViolations(annotations),
    ...labelViolations(labels),
  );
  if (violations.length > 0) throw new FieldViolations(violations);
  return {
    owning_application: owningApplication,
    event_types: eventTypes,
    consumer_group: consumerGroup,
    read_from: readFrom,
    initial_cursors: initialCursors,
    authorization,
    annotations,
    labels: Object.fromEntries(Object.entries(labels).map(([key, value]) => [key, value ?? ''])),
  };
}

/**
 * Reads a list of positions: objects with event_type, partition and offset, all of them texts. A number is read as its
 * digits. Missing parts are added to the violations.
 * @throws MALFORMED_REQUEST for a value of the wrong JSON type
 */
export function readCursorFields(field: string, value: unknown, violations: FieldViolation[]): InitialCursor[] {
  if (!Array.isArray(value)) throw wrongType(field, 'a list');
  return value.flatMap((item: unknown, index): InitialCursor[] => {
    const path = `${field}[${index}]`;
    const cursor = fieldsOf(path, item);
    if (cursor === null) {
      violations.push({ field: path, message: 'must not be null' });
      return [];
    }
    const part = (name: string): string => {
      const given = cursor[name] ?? null;
      if (given === null) violations.push({ field: `${path}.${name}`, message: 'must not be null' });
      else if (typeof given !== 'string' && typeof given !== 'number') throw wrongType(`${path}.${name}`, 'a string');
      return given === null ? '' : String(given);
    };
    return [{ event_type: part('event_type'), partition: part('partition'), offset: part('offset') }];
  });
}

/**
 * The positions that cursors name.
 * @param counts The subscription's event types with their partition counts.
 * @throws UNPROCESSABLE naming the first partition that is not the subscription's, or the first invalid offset
 */
export function parsePositions(
  cursors: readonly InitialCursor[],
  counts: ReadonlyMap<string, number>,
): CommittedOffset[] {
  return cursors.map(({ event_type: eventType, partition: text, offset }) => {
    const partition = parsePartition(text);
    if (partition === undefined || partition >= (counts.get(eventType) ?? 0)) {
      throw new LendstreamError('UNPROCESSABLE', `non existing partition ${text}`);
    }
    return { eventType, partition, offset: parseOffset(offset) };
  });
}

/**
 * Checks that a new subscription may begin where it says.
 * @param partitions All partitions of its event types.
 * @param bounds Of all its partitions.
 * @throws UNPROCESSABLE naming the first rule that is broken
 */
export function checkInitialCursors(
  definition: SubscriptionDefinition,
  partitions: readonly EventTypePartition[],
  bounds: readonly PartitionBounds[],
): void {
  if (definition.read_from !== 'cursors') return;
  const refuse = (detail: string): never => {
    throw new LendstreamError('UNPROCESSABLE', detail);
  };
  const wanted = new Set(partitions.map(partitionKey));
  const given = definition.initial_cursors.map((cursor) => {
    const partition = parsePartition(cursor.partition);
    return partition === undefined ? undefined : partitionKey({ eventType: cursor.event_type, partition });
  });
  const covered = new Set(given);
  if ([...wanted].some((key) => !covered.has(key))) {
    refuse('initial_cursors should contain cursors for all partitions of subscription');
  }
  if (given.some((key) => key === undefined || !wanted.has(key))) {
    refuse('initial_cursors should contain cursors only for partitions of this subscription');
  }
  if (given.length > wanted.size) {
    refuse('there should be no more than 1 cursor for each partition in initial_cursors');
  }
  const byPartition = boundsByPartition(bounds);
  for (const { event_type: eventType, partition, offset } of definition.initial_cursors) {
    const position = { eventType, partition: Number(partition), offset: parseOffset(offset) };
    const reason = unavailabilityReason(position, byPartition.get(partitionKey(position)));
    if (reason !== undefined) refuse(reason);
  }
}

function readEventTypes(value: unknown, violations: FieldViolation[]): string[] {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) {
    violations.push({ field: 'event_types', message: 'must contain at least one element' });
    return [];
  }
  if (!Array.isArray(value) || value.some((name) => typeof name !== 'string')) {
    throw wrongType('event_types', 'a list of strings');
  }
  return [...new Set(value as string[])].sort();
}

function readReadFrom(text: string): Subscription['read_from'] {
  const found = (['begin', 'end', 'cursors'] as const).find((candidate) => candidate === text.toLowerCase());
  if (found === undefined && text !== '') {
    const detail = `Field "read_from" cannot be "${text}". Possible values: begin, end, cursors`;
    throw new LendstreamError('MALFORMED_REQUEST', detail);
  }
  return found ?? 'end';
}

const roles = ['admins', 'readers'] as const;

/** Each event type has at least one partition, so there cannot be more of them than partitions. */
function eventTypeViolations(names: readonly string[]): FieldViolation[] {
  const tooMany = countViolations('event_types', names, partitionsPerSubscriptionMaximum);
  return tooMany.length > 0 ? tooMany : names.flatMap((name, index) => lengthViolations(`event_types[${index}]`, name));
}

/** Cursors are kept and shown whatever `read_from` says, so every part has a limit. */
function cursorViolations(cursors: readonly InitialCursor[]): FieldViolation[] {
  const tooMany = countViolations('initial_cursors', cursors, partitionsPerSubscriptionMaximum);
  if (tooMany.length > 0) return tooMany;
  return cursors.flatMap((cursor, index) =>
    (['event_type', 'partition', 'offset'] as const).flatMap((part) =>
      lengthViolations(`initial_cursors[${index}].${part}`, cursor[part]),
    ),
  );
}

/** Annotations that tell Nakadi to skip events that a consumer cannot process. */
const deadLetterAnnotations = [
  'nakadi.zalando.org/subscription-max-event-send-count',
  'nakadi.zalando.org/subscription-unprocessable-event-policy',
];

function unsupportedViolations(annotations: KeyedTexts): FieldViolation[] {
  return deadLetterAnnotations
    .filter((key) => (annotations[key] ?? null) !== null)
    .map((key) => ({
      field: `annotations[${key}]`,
      message: 'is not supported: no event is skipped, and there is no queue for dead letters',
    }));
}

function fieldsOf(field: string, value: unknown): Fields | null {
  if (typeof value !== 'object' || Array.isArray(value)) throw wrongType(field, 'an object');
  return value as Fields | null;
}

function textsOf(field: string, value: unknown): Record<string, string | null> {
  const fields = fieldsOf(field, value) ?? {};
  if (Object.values(fields).some((item) => item !== null && typeof item !== 'string')) {
    throw wrongType(field, 'an object of strings');
  }
  return fields as Record<string, string | null>;
}

function wrongType(field: string, expected: string): LendstreamError {
  return new LendstreamError('MALFORMED_REQUEST', `Field "${field}" must be ${expected}`);
}
