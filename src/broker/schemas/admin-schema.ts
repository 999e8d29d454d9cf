import { LendstreamError } from '../../errors.ts';
import type { EventType } from '../definitions/event-type.ts';
import { parseSchema } from './schema-validator.ts';
import { refuseCostlySchema } from './schema-cost.ts';
import { listingKeywordOf, isSchemaObject, visitSchema, type SchemaObject } from './schema-walk.ts';

/** The longest schema. Characters of its text. */
export const schemaCharactersMaximum = 256 * 1024;

/** The deepest nesting of a schema. JSON levels. */
export const schemaDepthMaximum = 100;

/**
 * Reads and checks a schema that an admin gave.
 * @throws UNPROCESSABLE naming the rule and the position.
 */
export function readAdminSchema(text: string, type: Pick<EventType, 'category' | 'compatibility_mode'>): SchemaObject {
  const schema = readBoundedSchema(text);
  if (schema['type'] !== undefined && schema['type'] !== 'object') {
    throw invalid('the root must be of type "object", for events are objects');
  }
  const { required, properties } = schema;
  // Everything below the root is checked as a schema. The root is taken apart before that.
  if (required !== undefined && !Array.isArray(required)) throw invalid('#/required: must be array');
  if (properties !== undefined && !isSchemaObject(properties)) throw invalid('#/properties: must be object');
  if (type.category === 'business' && isSchemaObject(properties) && 'metadata' in properties) {
    throw invalid('the property "metadata" is reserved in events of category business');
  }
  refuseReferencesIntoLists(schema);
  visitSchema(schema, (found, pointer) => {
    for (const keyword of referring) {
      const reference = found[keyword];
      if (reference === undefined || (typeof reference === 'string' && reference.startsWith('#'))) continue;
      throw invalid(
        `[${pointer}] refers to something outside the schema, which is forbidden: ${JSON.stringify(reference)}`,
      );
    }
    if (type.compatibility_mode !== 'compatible') return;
    for (const keyword of ['not', 'additionalItems']) {
      if (keyword in found) {
        throw invalid(`Invalid schema found in [${pointer}]: extraneous key [${keyword}] is not permitted`);
      }
    }
  });
  return schema;
}

/**
 * Reads the text of an unknown schema. The result is not too long, too deep or too costly for any later use.
 * @throws UNPROCESSABLE when the schema exceeds one of these limits, or is no JSON object.
 */
export function readBoundedSchema(text: string): SchemaObject {
  if (text.length > schemaCharactersMaximum) throw invalid(`it is longer than ${schemaCharactersMaximum} characters`);
  const schema = parseSchema(text);
  if (depthOf(schema) > schemaDepthMaximum) throw invalid(`it is nested deeper than ${schemaDepthMaximum} levels`);
  refuseCostlySchema(schema);
  return schema;
}

/**
 * Checks every reference in the schema, wherever it stands, since other references may lead to it.
 * @throws UNPROCESSABLE when a reference leads to a value that a keyword lists.
 */
function refuseReferencesIntoLists(schema: SchemaObject): void {
  const remaining: unknown[] = [schema];
  for (let value = remaining.pop(); value !== undefined; value = remaining.pop()) {
    if (!isSchemaObject(value) && !Array.isArray(value)) continue;
    for (const [key, member] of Object.entries(value)) {
      const keyword = referring.has(key) && typeof member === 'string' ? listingKeywordOf(member) : undefined;
      if (keyword !== undefined) {
        const reference = JSON.stringify(member);
        throw invalid(`the reference ${reference} leads into the values of "${keyword}", which are not schemas`);
      }
      if (typeof member === 'object' && member !== null) remaining.push(member);
    }
  }
}

const referring = new Set(['$ref', '$dynamicRef', '$recursiveRef']);

function invalid(reason: string): LendstreamError {
  return new LendstreamError('UNPROCESSABLE', `Invalid schema: ${reason}`);
}

function depthOf(root: unknown): number {
  let depth = 0;
  let level: unknown[] = [root];
  // Level by level, so that no depth of nesting can exhaust the stack.
  while (level.length > 0 && depth <= schemaDepthMaximum) {
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));
    depth += 1;
  }
  return depth;
}
