import type { ParsedEvents } from './request-parsing.ts';
import type { EventRules } from '../schemas/compiled-schemas.ts';
import { fieldsPerEvent, spanField } from './event-byte-positions.ts';
import { undescribed } from '../schemas/schema-validator.ts';
import type { SchemaViolation } from '../schemas/violation-texts.ts';
import type { ValidationBudget } from '../schemas/validation-budget.ts';
import { WrittenNumbers } from '../schemas/written-numbers.ts';
import type { PreparedEventType } from './prepared-event-type.ts';

/** Up to this size the report on an invalid event lists all violations, beyond it only the first. Bytes. */
export const fullReportBytesMaximum = 64 * 1024;

/** The cost of reading an event again for the digits of its numbers. Steps of the budget for validation. */
const stepsPerLongNumber = 300;

const stepsPerByteRead = 5;

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
export function outcomeOf(
  { rules }: PreparedEventType,
  parsed: ParsedEvents,
  index: number,
  budget: ValidationBudget,
): readonly SchemaViolation[] {
  return rules.validate(parsed.events[index], budget, digitsOf(rules, parsed, index, budget));
}

export function* describedViolations(
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
