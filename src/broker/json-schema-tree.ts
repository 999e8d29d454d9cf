/**
 * Walking a JSON Schema: which keywords hold further schemas. A property that happens to be named `items` is no
 * keyword, so a plain walk over the JSON would misread it.
 */

const schemaKeywords = new Set([
  'additionalItems',
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
const schemaListKeywords = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const schemaMapKeywords = new Set(['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties']);

/** A schema that is not `true` or `false`. */
export type SchemaObject = Readonly<Record<string, unknown>>;

export function isSchemaObject(value: unknown): value is SchemaObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** How a schema hangs in its parent: the parent's keyword, or null at the root. */
export type ParentKeyword = string | null;

/**
 * Rebuilds a schema from the leaves up.
 * @param change Gets each schema object with its subschemas already changed, and its JSON pointer (`#` for the root).
 */
export function mapSchema(
  schema: SchemaObject,
  change: (schema: SchemaObject, pointer: string, parent: ParentKeyword) => SchemaObject,
): SchemaObject {
  return mapAt(schema, '#', null, change);
}

/** Calls `visit` for every schema object, a parent after its subschemas. */
export function visitSchema(schema: SchemaObject, visit: (schema: SchemaObject, pointer: string) => void): void {
  mapSchema(schema, (found, pointer) => {
    visit(found, pointer);
    return found;
  });
}

/** One more step of a JSON pointer, escaped. */
export function pointerStep(pointer: string, step: string | number): string {
  return `${pointer}/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

type Change = (schema: SchemaObject, pointer: string, parent: ParentKeyword) => SchemaObject;

function mapAt(schema: SchemaObject, pointer: string, parent: ParentKeyword, change: Change): SchemaObject {
  const changed: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    const at = pointerStep(pointer, keyword);
    // Not an assignment, which would make a keyword named __proto__ the prototype.
    Object.defineProperty(changed, keyword, {
      value: mapKeyword(keyword, value, at, change),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return change(changed, pointer, parent);
}

function mapKeyword(keyword: string, value: unknown, pointer: string, change: Change): unknown {
  const map = (child: unknown, step: string): unknown =>
    isSchemaObject(child) ? mapAt(child, step, keyword, change) : child;
  if (schemaKeywords.has(keyword)) return map(value, pointer);
  const mapList = (list: readonly unknown[]): unknown[] =>
    list.map((child, index) => map(child, pointerStep(pointer, index)));
  if (schemaListKeywords.has(keyword)) return Array.isArray(value) ? mapList(value) : value;
  // One schema for all items or, before draft 2020-12, one for each.
  if (keyword === 'items') return Array.isArray(value) ? mapList(value) : map(value, pointer);
  // A dependency is a schema or a list of names.
  if (schemaMapKeywords.has(keyword) || keyword === 'dependencies') {
    if (!isSchemaObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, child]) => [name, map(child, pointerStep(pointer, name))]),
    );
  }
  return value;
}
