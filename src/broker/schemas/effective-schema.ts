import type { EventType } from '../definitions/event-type.ts';
import { isSchemaObject, mapSchema, type SchemaObject } from './schema-walk.ts';

/**
 * Turns the schema that an admin gave into the schema that events are validated against: the category adds the
 * envelope, compatibility mode `compatible` closes objects.
 */

/** The parts of an event type that decide how its events are validated. */
export type ValidatedType = Pick<EventType, 'name' | 'category' | 'compatibility_mode' | 'cleanup_policy'>;

/**
 * The schema of whole events of a type.
 * @param schema The type's own schema, as {@link readAdminSchema} returned it.
 */
export function effectiveSchema(schema: SchemaObject, type: ValidatedType): SchemaObject {
  const own = type.compatibility_mode === 'compatible' ? closeObjects(schema) : schema;
  // An id would make the schema a document of its own, whose references no longer reach into the envelope.
  const { $id: _ignored, id: _ignoredToo, ...anonymous } = own;
  if (type.category === 'undefined') return anonymous;
  if (type.category === 'business') {
    return {
      ...anonymous,
      properties: { ...objectOf(anonymous['properties']), metadata: metadataSchema(type) },
      required: [...new Set([...listOf(anonymous['required']), 'metadata'])],
    };
  }
  const { $schema, ...data } = moveReferences(anonymous, '#/properties/data');
  return {
    ...($schema === undefined ? {} : { $schema }),
    type: 'object',
    additionalProperties: false,
    required: ['data_type', 'data_op', 'data', 'metadata'],
    properties: {
      data_type: { type: 'string' },
      data_op: { type: 'string', enum: ['C', 'U', 'D', 'S'] },
      data,
      metadata: metadataSchema(type),
    },
  };
}

/** The fields of `metadata` that a producer may set. The broker sets the others. */
function metadataSchema({ name, cleanup_policy }: ValidatedType): SchemaObject {
  const compacted = cleanup_policy !== 'delete';
  return {
    type: 'object',
    additionalProperties: false,
    required: ['eid', 'occurred_at', ...(compacted ? ['partition_compaction_key'] : [])],
    properties: {
      eid: { type: 'string', format: 'uuid' },
      occurred_at: { type: 'string', format: 'date-time' },
      event_type: { type: 'string', enum: [name] },
      partition: { type: 'string' },
      parent_eids: { type: 'array', items: { type: 'string', format: 'uuid' } },
      flow_id: { type: 'string' },
      span_ctx: { type: 'object', additionalProperties: { type: 'string' } },
      ...(compacted ? { partition_compaction_key: { type: 'string', minLength: 1 } } : {}),
    },
  };
}

const composing = ['allOf', 'anyOf', 'oneOf', 'if', '$ref'];
/** The subschemas of these keywords describe an object together with others, so none of them can be closed alone. */
const shared = new Set(['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'dependentSchemas', 'dependencies']);
const definitions = new Set(['definitions', '$defs']);

/**
 * Closes objects: they may have only the described properties, unless the schema says otherwise. A member of a
 * composition stays open, and so does a definition. The schema that contains them is closed over all of its parts.
 */
function closeObjects(schema: SchemaObject): SchemaObject {
  const closed = mapSchema(schema, (found, _pointer, parent) => {
    if (found['additionalProperties'] !== undefined || found['unevaluatedProperties'] !== undefined) return found;
    if (parent !== null && (shared.has(parent) || definitions.has(parent))) return found;
    if (composing.some((keyword) => found[keyword] !== undefined)) return { ...found, unevaluatedProperties: false };
    if (found['type'] !== 'object' && found['properties'] === undefined) return found;
    return { ...found, additionalProperties: false };
  });
  // Older drafts do not know unevaluatedProperties. Without a declared draft the newer rules apply.
  const { $schema, ...undeclared } = closed;
  return typeof $schema === 'string' && $schema.includes('2020-12') ? closed : undeclared;
}

/** Local references start at the root, so they change when the schema becomes part of another one. */
function moveReferences(schema: SchemaObject, to: string): SchemaObject {
  return mapSchema(schema, (found) => {
    const reference = found['$ref'];
    if (typeof reference !== 'string' || (reference !== '#' && !reference.startsWith('#/'))) return found;
    return { ...found, $ref: `${to}${reference.slice(1)}` };
  });
}

function objectOf(value: unknown): SchemaObject {
  return isSchemaObject(value) ? value : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
