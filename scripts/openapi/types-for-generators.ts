/**
 * Describes with a plain type what generators of clients make no working code of: a constant that is no text, a value
 * that is a list or an object, and fields by a pattern of their names. What it says exactly is kept under `x-exactly`,
 * by which the tests judge responses.
 */

type Json = unknown;
type JsonObject = Readonly<Record<string, Json>>;

/** @param value A part of an API description that has schemas. */
export function withTypesForGenerators(value: Json): Json {
  if (Array.isArray(value)) return value.map(withTypesForGenerators);
  if (typeof value !== 'object' || value === null) return value;
  const mapped = Object.fromEntries(
    Object.entries(value as JsonObject).map(([key, item]) => [
      key,
      key === 'properties' || key === 'patternProperties'
        ? mapEach(item)
        : isKept(key)
          ? item
          : withTypesForGenerators(item),
    ]),
  );
  return withOneSimpleType(mapped);
}

/** Conditions are about exact values, and examples are no schemas. */
function isKept(key: string): boolean {
  return ['if', 'example', 'examples', 'x-refused-examples', 'x-example'].includes(key);
}

function mapEach(schemas: Json): Json {
  return Object.fromEntries(
    Object.entries(schemas as JsonObject).map(([name, schema]) => [name, unlessNull(withTypesForGenerators(schema))]),
  );
}

/** A field that can only be null has no type in most languages. */
function unlessNull(field: Json): Json {
  const { type, ...rest } = field as JsonObject;
  return type === 'null' ? { ...rest, 'x-exactly': { type } } : field;
}

function withOneSimpleType(schema: JsonObject): JsonObject {
  return withOpenNames(withoutSeveralForms(withTypeOfValues(schema)));
}

/** The type of a constant or an enumeration; a constant that is no text becomes that type alone. */
function withTypeOfValues(schema: JsonObject): JsonObject {
  const { const: constant, ...rest } = schema;
  if (typeof constant === 'boolean' || typeof constant === 'number') {
    return { type: typeOf(constant), ...rest, 'x-exactly': { const: constant } };
  }
  const values = typeof constant === 'string' ? [constant] : schema['enum'];
  if (!Array.isArray(values) || schema['type'] !== undefined) return schema;
  const types = [...new Set(values.map(typeOf))];
  if (types.filter((type) => type !== 'null').length !== 1) return schema;
  return { type: types.length === 1 ? types[0] : types, ...schema };
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  return typeof value === 'number' ? 'integer' : typeof value;
}

function withoutSeveralForms(schema: JsonObject): JsonObject {
  const { type, items: _items, ...others } = schema;
  const isOfSeveral = Array.isArray(type) && ['array', 'object'].every((each) => type.includes(each));
  return isOfSeveral ? { ...others, 'x-exactly': { type } } : schema;
}

/** Names of a pattern are any other names: types of most languages have a rule for all of these or for none. */
function withOpenNames(schema: JsonObject): JsonObject {
  const { patternProperties, ...rest } = schema;
  if (patternProperties === undefined || rest['additionalProperties'] !== false) return schema;
  const names = Object.keys(rest['properties'] ?? {});
  const exact = { patternProperties, properties: Object.fromEntries(names.map((name) => [name, {}])) };
  return { ...rest, additionalProperties: true, 'x-exactly': { ...exact, additionalProperties: false } };
}
