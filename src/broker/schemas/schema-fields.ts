import { isSchemaObject, type SchemaObject } from './json-schema-tree.ts';

/** How many parts of a schema are looked at for one field; a field that takes more counts as described. */
const partsMaximum = 10_000;

/**
 * Whether a schema says anything about a field. Pure.
 * @param path Names of fields from the root of an event on, with dots between them.
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

/** What `true` says of a property is as much as an empty schema says. */
function propertyOf({ properties }: SchemaObject, name: string): SchemaObject[] {
  if (!isSchemaObject(properties) || !Object.hasOwn(properties, name)) return [];
  const property = properties[name];
  return [isSchemaObject(property) ? property : {}];
}

const lists = ['allOf', 'anyOf', 'oneOf'];
const branches = ['if', 'then', 'else'];

/** Schemas with all that they are put together from, each once. */
function withParts(schemas: readonly SchemaObject[], root: SchemaObject): SchemaObject[] {
  const found = new Set(schemas);
  // What is added on the way is visited too.
  for (const part of found) {
    const members = [...lists.flatMap((keyword) => part[keyword] ?? []), ...branches.map((keyword) => part[keyword])];
    for (const member of [...members, referred(part['$ref'], root)]) if (isSchemaObject(member)) found.add(member);
  }
  return [...found];
}

/** What a reference within the schema leads to; undefined for one of another form. */
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
