import type { FieldViolation } from '../../errors.ts';

/**
 * Why an event type may not have a name next to another one; undefined when it may. Kafka refuses two topics whose
 * names differ only in dots and underscores. The service's own names must also not be easy for people to confuse.
 * @param isOfService Whether the other one is the service's own.
 */
export function similarNameViolation(name: string, other: string, isOfService: boolean): FieldViolation | undefined {
  if (name === other) return undefined;
  const isTopicNameConflict = topicSpelling(name) === topicSpelling(other);
  if (!isTopicNameConflict && !(isOfService && looseSpelling(name) === looseSpelling(other))) return undefined;
  const message = isOfService
    ? `is too similar to "${other}", which belongs to the service`
    : `is too similar to "${other}": names must differ in more than dots and underscores`;
  return { field: 'name', message };
}

/** A spelling that is equal for names that Kafka does not distinguish. */
export function topicSpelling(name: string): string {
  return name.replaceAll('.', '_');
}

/** A spelling that is equal for names that people may confuse. */
export function looseSpelling(name: string): string {
  return name.toLowerCase().replaceAll(/[._-]/g, '.');
}
