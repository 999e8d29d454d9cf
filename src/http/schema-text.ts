import type { Schemas, Unread } from '../contract.ts';
import { LendstreamError } from '../errors.ts';

/**
 * The text of the schema that a request carries as `{"type": "json_schema", "schema": "..."}`.
 * @throws MALFORMED_REQUEST when the type or the text is missing, or the type is another
 */
export function schemaTextOf(body: Unread<Schemas['SchemaDefinition']>): string {
  for (const field of ['type', 'schema'] as const) {
    if (typeof body[field] !== 'string') {
      throw new LendstreamError('MALFORMED_REQUEST', `Field "${field}" must be a string and must not be null`);
    }
  }
  if (String(body.type).toLowerCase() !== 'json_schema') {
    throw new LendstreamError('MALFORMED_REQUEST', 'Field "type" cannot be this. Possible values: json_schema');
  }
  return String(body.schema);
}
