import { giveWay } from '../../clock.ts';
import { FieldViolations, isLendstreamError, type FieldViolation } from '../../errors.ts';
import { readBoundedSchema } from '../schemas/admin-schema.ts';
import { parseEvents, type ParsedEvents } from './request-parsing.ts';
import { violationsOf } from './event-validation.ts';
import { prepareEventType } from './prepared-event-type.ts';
import { changedRecord, createdRecord } from '../event-types/event-type-records.ts';
import type { EventTypeRecord } from '../definitions/event-type.ts';
import type { EventTypeDefinition } from '../event-types/requested-event-type.ts';
import type { SchemaViolation } from '../schemas/violation-texts.ts';
import { compareSchemas, type SchemaChange } from '../schemas/schema-evolution.ts';
import { defaultStreamingLimits, type StreamingLimits } from '../definitions/streaming-limits.ts';
import { inTurns } from './long-work-in-turns.ts';
import { ValidationBudget } from '../schemas/validation-budget.ts';

/** Trying out a definition and an event before anything is saved or published. */

/** The outcome of trying out a definition, as the API shows it (snake_case is the API's). */
export interface DefinitionOutcome {
  readonly valid: boolean;
  /** Why it would be refused, in the words of the refusal; null when it would be accepted. */
  readonly detail: string | null;
  /** The findings about fields that `detail` joins into one text; empty when it is about something else. */
  readonly violations: readonly FieldViolation[];
  /** The version of the schema in force; null when there is no event type of that name. */
  readonly current_version: string | null;
  /** The version that the schema would have; null when the definition would be refused. */
  readonly version: string | null;
  /** The differences between the schema in force and this one; empty for a new event type or an unreadable schema. */
  readonly changes: readonly SchemaChange[];
}

export interface CheckedDefinition {
  readonly outcome: DefinitionOutcome;
  /** The event type as it would be; undefined when the definition would be refused. */
  readonly record: EventTypeRecord | undefined;
}

/**
 * The outcome of creating an event type, or of changing one, with this definition.
 * @param current The event type of that name; undefined when there is none.
 * @param read Returns the definition, or throws what is wrong with it as it was sent.
 * @param now RFC 3339
 * @throws MALFORMED_REQUEST when the body is no definition at all
 */
export function checkDefinition(
  current: EventTypeRecord | undefined,
  read: () => EventTypeDefinition,
  now: string,
  limits: StreamingLimits = defaultStreamingLimits,
): CheckedDefinition {
  const current_version = current?.eventType.schema.version ?? null;
  let definition: EventTypeDefinition | undefined;
  try {
    definition = read();
    const record =
      current === undefined ? createdRecord(definition, now, limits) : changedRecord(current, definition, now);
    const version = record.eventType.schema.version;
    const outcome = {
      valid: true,
      detail: null,
      violations: [],
      current_version,
      version,
      changes: changesOf(current, definition),
    };
    return { outcome, record };
  } catch (error) {
    if (!isLendstreamError(error, 'UNPROCESSABLE')) throw error;
    const violations = error instanceof FieldViolations ? error.violations : [];
    const changes = definition === undefined ? [] : changesOf(current, definition);
    return {
      outcome: { valid: false, detail: error.message, violations, current_version, version: null, changes },
      record: undefined,
    };
  }
}

/**
 * The violations that publishing would find in an event; empty when its schema accepts it.
 * @param event As it was sent, because publishing checks its text.
 */
export async function checkEvent(record: EventTypeRecord, event: string): Promise<readonly SchemaViolation[]> {
  let parsed: ParsedEvents;
  try {
    parsed = parseEvents(Buffer.from(`[${event}]`));
  } catch (error) {
    if (!isLendstreamError(error, 'MALFORMED_REQUEST')) throw error;
    return [{ pointer: '#', message: error.message }];
  }
  const type = prepareEventType(record);
  // The schema may just have been compiled, so other work has its turn.
  await giveWay();
  return inTurns(violationsOf(type, parsed, 0, new ValidationBudget(parsed.body.length)));
}

function changesOf(current: EventTypeRecord | undefined, { schemaText }: EventTypeDefinition): readonly SchemaChange[] {
  if (current === undefined || current.eventType.schema.schema === schemaText) return [];
  try {
    return compareSchemas(readBoundedSchema(current.eventType.schema.schema), readBoundedSchema(schemaText));
  } catch (error) {
    // A text that is no schema differs in every way; the outcome reports what is wrong with it.
    if (isLendstreamError(error)) return [];
    throw error;
  }
}
