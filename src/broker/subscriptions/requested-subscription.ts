import { consumerGroupDefault } from '../definitions/subscription-id.ts';
import { FieldViolations, LendstreamError, type FieldViolation } from '../../errors.ts';
import { countViolations, lengthViolations } from '../definitions/length-limits.ts';
import { defaultStreamingLimits } from '../definitions/streaming-limits.ts';
import { annotationViolations, labelsOf, labelViolations } from '../definitions/annotations-and-labels.ts';
import { readAuthorization } from '../definitions/authorization.ts';
import type { InitialCursor, Subscription } from '../definitions/subscription.ts';
import { policyViolations } from '../definitions/unprocessable-events.ts';
import { type Fields, fieldsOf, textsOf, wrongType } from '../definitions/json-fields.ts';
import { commitTimeoutAnnotation, commitTimeoutViolations } from './commit-timeout-maximum.ts';
import { readCursorFields } from './requested-cursors.ts';

/** Reading a subscription as a client sent it. Pure. */

/** The parts of a subscription that a client sets; the service sets id and times. */
export type SubscriptionDefinition = Omit<Subscription, 'id' | 'created_at' | 'updated_at'>;

/**
 * Reads the JSON of a subscription. Unknown fields and fields that only the service sets are ignored. The event types
 * returned are sorted, without repeats.
 * @param partitionsMaximum How many partitions its event types may have together.
 * @throws MALFORMED_REQUEST for a value of the wrong JSON type or an unknown enum value; FieldViolations for all broken
 *   rules together
 */
export function readSubscription(
  body: Fields,
  partitionsMaximum: number = defaultStreamingLimits.partitionsPerSubscription,
): SubscriptionDefinition {
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
  const consumerGroup = text('consumer_group', consumerGroupDefault);
  const readFrom = readReadFrom(text('read_from', 'end'));
  const initialCursors = readCursorFields('initial_cursors', body['initial_cursors'] ?? [], violations);
  const authorization = readAuthorization(fieldsOf('authorization', body['authorization'] ?? null), roles, violations);
  const annotations = textsOf('annotations', body['annotations'] ?? {});
  const labels = textsOf('labels', body['labels'] ?? {});
  violations.push(
    ...lengthViolations('owning_application', owningApplication),
    ...lengthViolations('consumer_group', consumerGroup),
    ...eventTypeViolations(eventTypes, partitionsMaximum),
    ...cursorViolations(initialCursors, partitionsMaximum),
    ...annotationViolations(annotations, [commitTimeoutAnnotation]),
    ...policyViolations(annotations, eventTypes),
    ...commitTimeoutViolations(annotations),
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
    labels: labelsOf(labels),
  };
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
function eventTypeViolations(names: readonly string[], partitionsMaximum: number): FieldViolation[] {
  const tooMany = countViolations('event_types', names, partitionsMaximum);
  return tooMany.length > 0 ? tooMany : names.flatMap((name, index) => lengthViolations(`event_types[${index}]`, name));
}

/** Cursors are kept and shown whatever `read_from` says, so every part has a limit. */
function cursorViolations(cursors: readonly InitialCursor[], partitionsMaximum: number): FieldViolation[] {
  const tooMany = countViolations('initial_cursors', cursors, partitionsMaximum);
  if (tooMany.length > 0) return tooMany;
  return cursors.flatMap((cursor, index) =>
    (['event_type', 'partition', 'offset'] as const).flatMap((part) =>
      lengthViolations(`initial_cursors[${index}].${part}`, cursor[part]),
    ),
  );
}
