import type { FieldViolation } from '../../errors.ts';
import type { EventType } from './event-type.ts';

/** Makes an event type store a repeated event once: for how long after it was stored. Seconds. */
export const deduplicationAnnotation = 'lendstream/deduplication-window-seconds';

/** The smallest value of the annotation: an append whose outcome is unknown is decided within it. Seconds. */
export const deduplicationSecondsMinimum = 60;

/** The largest value of the annotation. Seconds. */
export const deduplicationSecondsMaximum = 86_400;

type Deduplicated = Pick<EventType, 'annotations' | 'category' | 'cleanup_policy' | 'options'>;

/** What is wrong with the annotation of an event type, if anything. */
export function deduplicationViolations(eventType: Deduplicated): FieldViolation[] {
  const text = eventType.annotations[deduplicationAnnotation] ?? null;
  const message = text === null ? undefined : violationOf(text, eventType);
  return message === undefined ? [] : [{ field: `annotations[${deduplicationAnnotation}]`, message }];
}

/** How long a repeated event is recognised; undefined where it is not. Milliseconds. */
export function deduplicationMilliseconds(eventType: Deduplicated): number | undefined {
  const text = eventType.annotations[deduplicationAnnotation] ?? null;
  // An annotation that was stored before it had a meaning may be anything.
  return text === null || violationOf(text, eventType) !== undefined ? undefined : Number(text) * 1_000;
}

function violationOf(text: string, { category, cleanup_policy, options }: Deduplicated): string | undefined {
  const seconds = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  if (seconds < deduplicationSecondsMinimum || seconds > deduplicationSecondsMaximum) {
    return `must be a whole number from ${deduplicationSecondsMinimum} to ${deduplicationSecondsMaximum}`;
  }
  if (category === 'undefined') return 'needs events with metadata.eid: category business or data';
  // The ids are read from the log when they are lost, and compaction removes events from it.
  if (cleanup_policy !== 'delete') return 'needs cleanup_policy delete';
  if (seconds * 1_000 > options.retention_time) return 'must not be longer than options.retention_time';
  return undefined;
}
