import { newId, timestamp } from '../../client/clock.ts';

/** An event that fits a schema, as far as a schema says what fits. */

type Schema = Readonly<Record<string, unknown>>;

/** How deep an example goes into a schema that contains itself. */
const depthMaximum = 8;

/** @param type Its schema is the JSON Schema as text; one that is not JSON gives the metadata alone. */
export function exampleEvent(type: {
  readonly category: string;
  readonly name: string;
  readonly schema: { readonly schema: string };
}): object {
  let schema: unknown;
  try {
    schema = JSON.parse(type.schema.schema);
  } catch {
    schema = {};
  }
  const body = exampleOf(schema, schema, 0);
  const fields = typeof body === 'object' && body !== null && !Array.isArray(body) ? body : {};
  if (type.category === 'undefined') return fields;
  const metadata = { eid: newId(), occurred_at: timestamp() };
  return type.category === 'data'
    ? { metadata, data_type: type.name, data_op: 'C', data: fields }
    : { metadata, ...fields };
}

function exampleOf(schema: unknown, root: unknown, depth: number): unknown {
  if (typeof schema !== 'object' || schema === null || depth > depthMaximum) return {};
  const rules = schema as Schema;
  const given = [rules['const'], rules['default'], firstOf(rules['examples']), firstOf(rules['enum'])];
  const known = given.find((value) => value !== undefined);
  if (known !== undefined) return known;
  const reference = rules['$ref'];
  if (typeof reference === 'string') return exampleOf(valueAt(root, reference), root, depth + 1);
  const branch = firstOf(rules['oneOf']) ?? firstOf(rules['anyOf']);
  const merged = [
    ...(Array.isArray(rules['allOf']) ? (rules['allOf'] as Schema[]) : []),
    ...(branch === undefined ? [] : [branch as Schema]),
  ];
  const type = firstOf(rules['type']) ?? rules['type'];
  if (type === 'object' || rules['properties'] !== undefined || (type === undefined && merged.length > 0)) {
    return exampleObject([rules, ...merged], root, depth);
  }
  if (type === 'array') {
    const count = Math.max(1, Number(rules['minItems'] ?? 1));
    return Array.from({ length: Math.min(count, 10) }, () => exampleOf(rules['items'], root, depth + 1));
  }
  if (type === 'integer' || type === 'number') return exampleNumber(rules);
  if (type === 'boolean') return true;
  if (type === 'null') return null;
  return exampleText(rules);
}

function exampleObject(parts: readonly Schema[], root: unknown, depth: number): Record<string, unknown> {
  const example: Record<string, unknown> = {};
  for (const part of parts) {
    if (typeof part !== 'object' || part === null) continue;
    const properties = (part['properties'] ?? {}) as Schema;
    const required = Array.isArray(part['required']) ? (part['required'] as string[]) : [];
    // Deep inside, only what has to be there: an optional part may contain its own kind again.
    const names = depth < 3 ? new Set([...required, ...Object.keys(properties)]) : new Set(required);
    names.delete('metadata');
    for (const name of names) example[name] ??= exampleOf(properties[name] ?? {}, root, depth + 1);
  }
  return example;
}

function exampleNumber(rules: Schema): number {
  const low = rules['exclusiveMinimum'] === undefined ? rules['minimum'] : Number(rules['exclusiveMinimum']) + 1;
  const high = rules['exclusiveMaximum'] === undefined ? rules['maximum'] : Number(rules['exclusiveMaximum']) - 1;
  const wanted = Math.max(1, Number(low ?? 1));
  return high === undefined ? wanted : Math.min(wanted, Number(high));
}

function exampleText(rules: Schema): string {
  const time = timestamp();
  switch (rules['format']) {
    case 'date-time':
      return time;
    case 'date':
      return time.slice(0, 10);
    case 'time':
      return time.slice(11);
    case 'uuid':
      return newId();
    case 'email':
      return 'name@example.org';
    case 'uri':
      return `${location.origin}/`;
    default: {
      const shortest = Number(rules['minLength'] ?? 0);
      return 'example'.padEnd(shortest, 'x').slice(0, Number(rules['maxLength'] ?? Math.max(7, shortest)));
    }
  }
}

function firstOf(list: unknown): unknown {
  return Array.isArray(list) ? (list as unknown[])[0] : undefined;
}

/** The value at a pointer such as `#/definitions/amount`. */
function valueAt(root: unknown, reference: string): unknown {
  let value = root;
  for (const step of reference.replace(/^#\/?/, '').split('/').filter(Boolean)) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Schema)[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return value;
}
