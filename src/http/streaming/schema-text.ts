import type { Schemas, Unread } from '../../contract.ts';
import { avroRefusal } from '../../broker/event-types/requested-event-type.ts';
import { FieldViolations, LendstreamError } from '../../errors.ts';

/**
 * The text of the schema that a request carries as `{"type": "json_schema", "schema": "..."}`.
 * @throws MALFORMED_REQUEST when the type or the text is missing, or the type is not json_schema; FieldViolations when
 *   it is avro_schema
 */
export function schemaTextOf(body: Unread<Schemas['SchemaDefinition']>): string {
  for (const field of ['type', 'schema'] as const) {
    if (typeof body[field] !== 'string') {
      throw new LendstreamError('MALFORMED_REQUEST', `Field "${field}" must be a string and must not be null`);
    }
  }
  refuseOtherType(body.type);
  return String(body.schema);
}

/**
 * The text of a schema to compare. The type may be left out: then it is that of the event type.
 * @throws FieldViolations when there is no schema; MALFORMED_REQUEST when it is no string, or the type is not
 *   json_schema
 */
export function comparedSchemaTextOf({ type = null, schema = null }: Unread<Schemas['ComparedSchema']>): string {
  if (type !== null) refuseOtherType(type);
  if (schema === null) throw new FieldViolations([{ field: 'schema', message: 'must not be null' }]);
  if (typeof schema !== 'string') throw new LendstreamError('MALFORMED_REQUEST', 'Field "schema" must be a string');
  return schema;
}

function refuseOtherType(type: unknown): void {
  const name = String(type).toLowerCase();
  if (name === 'json_schema') return;
  if (name === 'avro_schema') throw new FieldViolations([{ field: 'type', message: avroRefusal }]);
  throw new LendstreamError('MALFORMED_REQUEST', 'Field "type" cannot be this. Possible values: json_schema');
}
