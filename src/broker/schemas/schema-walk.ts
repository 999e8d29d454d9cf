import { copyDigits } from './schema-digits.ts';

/**
 * Walks a JSON Schema by the keywords that hold further schemas. A property that happens to be named `items` is no
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

/** Whether a value is a JSON object, and so a schema other than `true` and `false`. */
export function isSchemaObject(value: unknown): value is SchemaObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The parent's keyword that holds a schema; null at the root. */
export type ParentKeyword = string | null;

/**
 * Rebuilds a schema from the leaves up.
 * @param change Gets each schema object with its subschemas already changed, and its JSON pointer (`#` for the root).
 * @param elsewhere Pointers to schemas at positions where no keyword has a schema; none unless given.
 */
export function mapSchema(
  schema: SchemaObject,
  change: (schema: SchemaObject, pointer: string, parent: ParentKeyword) => SchemaObject,
  elsewhere: ReadonlySet<string> = new Set(),
): SchemaObject {
  return mapAt(schema, '#', null, { change, elsewhere });
}

/** The targets of all local references in a schema, wherever they stand, as pointers of {@link mapSchema}. */
export function referredTo(schema: unknown): Set<string> {
  const pointers = new Set<string>();
  const remaining: unknown[] = [schema];
  for (let value = remaining.pop(); value !== undefined; value = remaining.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    const reference: unknown = Reflect.get(value, '$ref');
    if (typeof reference === 'string' && reference.startsWith('#/')) pointers.add(decodedPointer(reference));
    for (const member of Object.values(value))
      if (typeof member === 'object' && member !== null) remaining.push(member);
  }
  return pointers;
}

/** A pointer with its percent-encoding decoded; unchanged when that is malformed. */
export function decodedPointer(reference: string): string {
  try {
    return decodeURIComponent(reference);
  } catch {
    return reference;
  }
}

/** Calls `visit` for every schema object, a parent after its subschemas. */
export function visitSchema(schema: SchemaObject, visit: (schema: SchemaObject, pointer: string) => void): void {
  mapSchema(schema, (found, pointer) => {
    visit(found, pointer);
    return found;
  });
}

/** A JSON pointer with one more step, which is escaped. */
export function pointerStep(pointer: string, step: string | number): string {
  return `${pointer}/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

interface Mapping {
  readonly change: (schema: SchemaObject, pointer: string, parent: ParentKeyword) => SchemaObject;
  readonly elsewhere: ReadonlySet<string>;
}

function mapAt(schema: SchemaObject, pointer: string, parent: ParentKeyword, mapping: Mapping): SchemaObject {
  const changed: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    const at = pointerStep(pointer, keyword);
    // Not an assignment, which would make a keyword named __proto__ the prototype.
    Object.defineProperty(changed, keyword, {
      value: mapKeyword(keyword, value, at, mapping),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  copyDigits(schema, changed);
  return mapping.change(changed, pointer, parent);
}

function mapKeyword(keyword: string, value: unknown, pointer: string, mapping: Mapping): unknown {
  const map = (child: unknown, step: string): unknown =>
    isSchemaObject(child) ? mapAt(child, step, keyword, mapping) : child;
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
  return mapping.elsewhere.size === 0 ? value : mapElsewhere(value, pointer, mapping);
}

function mapElsewhere(value: unknown, pointer: string, mapping: Mapping): unknown {
  if (Array.isArray(value)) {
    const items: unknown[] = value;
    const mapped = items.map((item, index) => mapElsewhere(item, pointerStep(pointer, index), mapping));
    copyDigits(value, mapped);
    return mapped;
  }
  if (!isSchemaObject(value)) return value;
  if (mapping.elsewhere.has(pointer)) return mapAt(value, pointer, null, mapping);
  const mapped = Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, mapElsewhere(member, pointerStep(pointer, key), mapping)]),
  );
  copyDigits(value, mapped);
  return mapped;
}

/**
 * The keyword whose listed values a reference leads into; undefined if there is none. A listed value is no schema and
 * does not count as one.
 * @param reference `#` and a JSON pointer, percent-encoded as in a URI.
 */
export function listingKeywordOf(reference: string): string | undefined {
  const steps = decodedPointer(reference).split('/');
  const at = steps.findIndex((step, index) => dataKeywords.has(step) && /^\d+$/.test(steps[index + 1] ?? ''));
  return steps[at];
}

/** Keywords that list data. A schema of the longest allowed text has too little of it to matter when it is compiled. */
export const dataKeywords = new Set([
  'enum',
  'const',
  'default',
  'examples',
  'example',
  'title',
  'description',
  '$comment',
]);
