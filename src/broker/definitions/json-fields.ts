import { LendstreamError } from '../../errors.ts';

/** A JSON object whose fields are not checked. */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * The JSON object at a field, or null.
 * @throws MALFORMED_REQUEST for any other value
 */
export function fieldsOf(field: string, value: unknown): Fields | null {
  if (typeof value !== 'object' || Array.isArray(value)) throw wrongType(field, 'an object');
  return value as Fields | null;
}

/**
 * The JSON object of texts at a field; an empty one for null.
 * @throws MALFORMED_REQUEST for any other value
 */
export function textsOf(field: string, value: unknown): Record<string, string | null> {
  const fields = fieldsOf(field, value) ?? {};
  if (Object.values(fields).some((item) => item !== null && typeof item !== 'string')) {
    throw wrongType(field, 'an object of strings');
  }
  return fields as Record<string, string | null>;
}

/** The error for a field that has a value of the wrong JSON type (MALFORMED_REQUEST). */
export function wrongType(field: string, expected: string): LendstreamError {
  return new LendstreamError('MALFORMED_REQUEST', `Field "${field}" must be ${expected}`);
}
