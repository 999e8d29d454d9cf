import { isSchemaObject, type SchemaObject } from './schema-walk.ts';

/** How many parts of a schema are searched for one field. A field whose search needs more counts as described. */
const partsMaximum = 10_000;

/**
 * Whether a schema says anything about a field. Pure.
 * @param path The names of fields from the root of an event, separated by dots.
 */
export function describesField(root: SchemaObject, path: string): boolean {
  let parts = withParts([root], root);
  let partsSeen = parts.length;
  for (const name of path.split('.')) {
    if (parts.some((found) => isSchemaObject(found['patternProperties']))) return true;
    parts = withParts(
      parts.flatMap((found) => propertyOf(found, name)),
      root,
    );
    partsSeen += parts.length;
    if (partsSeen > partsMaximum) return true;
    if (parts.length === 0) return false;
  }
  return true;
}

/** For a property, `true` says as much as an empty schema. */
function propertyOf({ properties }: SchemaObject, name: string): SchemaObject[] {
  if (!isSchemaObject(properties) || !Object.hasOwn(properties, name)) return [];
  const property = properties[name];
  return [isSchemaObject(property) ? property : {}];
}

const lists = ['allOf', 'anyOf', 'oneOf'];
const branches = ['if', 'then', 'else'];

/** The schemas and all the parts that they are composed of, each once. */
function withParts(schemas: readonly SchemaObject[], root: SchemaObject): SchemaObject[] {
  const found = new Set(schemas);
  // The loop also visits the parts that it adds.
  for (const part of found) {
    const members = [...lists.flatMap((keyword) => part[keyword] ?? []), ...branches.map((keyword) => part[keyword])];
    for (const member of [...members, referred(part['$ref'], root)]) if (isSchemaObject(member)) found.add(member);
  }
  return [...found];
}

/** The target of a reference within the schema; undefined for a reference of another form. */
function referred(reference: unknown, root: SchemaObject): unknown {
  if (typeof reference !== 'string' || !/^#(\/|$)/.test(reference)) return undefined;
  let found: unknown = root;
  for (const step of reference.split('/').slice(1)) {
    const name = decodedStep(step);
    const isThere = typeof found === 'object' && found !== null && name !== undefined && Object.hasOwn(found, name);
    found = isThere ? (found as Readonly<Record<string, unknown>>)[name] : undefined;
  }
  return found;
}

function decodedStep(step: string): string | undefined {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}
