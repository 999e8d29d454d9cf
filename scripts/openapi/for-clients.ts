/**
 * Makes a description that generators of clients can use from one that says all that the service does.
 *
 * The service reads more than it asks for: numbers as texts, `"true"` as a boolean, JSON Patch in capital letters and
 * in small ones. A type that a generator makes of all that is of no use, and some generators leave the operation out.
 * So what clients send is described with the one form that they should send. What the service responds with is not
 * changed, because it is exactly that; where generators cannot read it, see types-for-generators.ts.
 */

import { withTypesForGenerators } from './types-for-generators.ts';

type Json = unknown;
type JsonObject = Readonly<Record<string, Json>>;

/** What they say of the form as a text does not hold for the number that is asked for. */
const keywordsOfTexts = ['pattern', 'minLength', 'maxLength'];

/** @param description As composed from schemas/. */
export function descriptionForClients(description: JsonObject): JsonObject {
  const components = description['components'] as JsonObject;
  const schemas = components['schemas'] as JsonObject;
  const paths = description['paths'] as JsonObject;
  const sent = schemasOnlySent(paths, components);
  const { responses } = components as { responses: JsonObject };
  const references = JSON.stringify(paths);
  const used = Object.entries(responses).filter(([name]) => references.includes(`"#/components/responses/${name}"`));
  const described = Object.entries(schemas).map(([name, schema]): [string, Json] => [
    name,
    sent.has(name) ? inOneForm(schema) : complete(schema),
  ]);
  return {
    ...description,
    components: withTypesForGenerators({
      ...(complete({ ...components, responses: Object.fromEntries(used), schemas: {} }) as JsonObject),
      schemas: Object.fromEntries(described),
    }),
    paths: withTypesForGenerators(mapBodies(complete(paths))),
  };
}

/** The request bodies below a value, in one form. */
function mapBodies(value: Json): Json {
  return mapEntries(value, (key, item) => (key === 'requestBody' ? inOneForm(item) : mapBodies(item)));
}

/** The names of the schemas that no response refers to. */
function schemasOnlySent(paths: JsonObject, components: JsonObject): ReadonlySet<string> {
  const schemas = components['schemas'] as JsonObject;
  const received = new Set<string>();
  const visit = (value: Json): void => {
    for (const name of referencedSchemas(value)) {
      if (received.has(name)) continue;
      received.add(name);
      visit(schemas[name]);
    }
  };
  visit(components['responses']);
  visitResponses(paths, visit);
  return new Set(Object.keys(schemas).filter((name) => !received.has(name)));
}

function visitResponses(value: Json, visit: (responses: Json) => void): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    if (key === 'responses') visit(item);
    else visitResponses(item, visit);
  }
}

function referencedSchemas(value: Json): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    key === '$ref' && typeof item === 'string' && item.startsWith('#/components/schemas/')
      ? [item.slice('#/components/schemas/'.length)]
      : referencedSchemas(item),
  );
}

/** A schema in which every list has items: generators refuse one that has none. */
function complete(value: Json): Json {
  const mapped = mapEntries(value, (key, item) => (mapsNames(key) ? mapEach(item, complete) : complete(item)));
  return withRequiredFields(isSchema(mapped) ? withItems(mapped) : mapped);
}

/** A schema that names each field that it requires: those of a branch (`then`) may be described elsewhere. */
function withRequiredFields(schema: Json): Json {
  const { required, properties = {} } = (schema ?? {}) as JsonObject;
  if (!Array.isArray(required) || typeof properties !== 'object' || properties === null) return schema;
  const missing = (required as string[]).filter((name) => !(name in properties));
  if (missing.length === 0) return schema;
  return {
    ...(schema as JsonObject),
    properties: { ...properties, ...Object.fromEntries(missing.map((name) => [name, {}])) },
  };
}

function withItems(mapped: JsonObject): JsonObject {
  const types = [mapped['type']].flat();
  const isList = types.includes('array') && mapped['items'] === undefined && mapped['prefixItems'] === undefined;
  return isList ? { ...mapped, items: {} } : mapped;
}

/** A schema of what clients send, in the one form that they should send. */
function inOneForm(value: Json): Json {
  const mapped = mapEntries(value, (key, item) => {
    if (key === 'examples' || key === 'example') return item;
    return mapsNames(key) ? mapEach(item, inOneForm) : inOneForm(item);
  });
  if (!isSchema(mapped)) return withRequiredFields(withoutRefusedExamples(mapped));
  return withRequiredFields(withItems(withDefaultInWords(withOneType(mapped))));
}

/**
 * A body whose examples follow its schema. Those that show a refusal go under `x-refused-examples`: the tests send
 * them, and no client should start from them.
 */
function withoutRefusedExamples(body: Json): Json {
  const { schema, examples } = (body ?? {}) as JsonObject;
  if (schema === undefined || typeof examples !== 'object' || examples === null) return body;
  const all = Object.entries(examples as Readonly<Record<string, JsonObject>>);
  const isRefused = ([, example]: readonly [string, JsonObject]): boolean => Number(example['x-status']) >= 400;
  const refused = all.filter(isRefused);
  if (refused.length === 0) return body;
  return {
    ...(body as JsonObject),
    examples: Object.fromEntries(all.filter((example) => !isRefused(example))),
    'x-refused-examples': Object.fromEntries(refused),
  };
}

/** The first of several types, and null if it is one of them. Of an enumeration, the values of the first type. */
function withOneType(schema: JsonObject): JsonObject {
  const { type, enum: values } = schema;
  if (Array.isArray(values)) return withOneEnumeration(schema, values);
  if (!Array.isArray(type)) return schema;
  const [first = 'null', ...others] = (type as string[]).filter((each) => each !== 'null');
  if (others.length === 0) return schema;
  const isNullable = type.includes('null');
  const kept = Object.entries(schema).filter(([key]) => first === 'string' || !keywordsOfTexts.includes(key));
  return { ...Object.fromEntries(kept), type: isNullable ? [first, 'null'] : first };
}

function withOneEnumeration(schema: JsonObject, values: readonly Json[]): JsonObject {
  const [first] = values;
  const ofOneType = values.filter((value) => typeof value === typeof first);
  const { enum: _all, ...rest } = schema;
  if (typeof first === 'boolean') return { ...rest, type: 'boolean' };
  if (typeof first === 'number') return { ...rest, type: 'integer', enum: ofOneType };
  const known = new Set<string>();
  const different = ofOneType.filter((value) => {
    const name = String(value).toLowerCase();
    return !known.has(name) && known.add(name);
  });
  const isNullable = values.includes(null);
  return { ...rest, enum: isNullable ? [...different, null] : different };
}

/** Generators take a field with a default for one that is always there. A client may leave it out. */
function withDefaultInWords(schema: JsonObject): JsonObject {
  if (!('default' in schema)) return schema;
  const { default: value, description, ...rest } = schema;
  const words = `By default ${JSON.stringify(value)}.`;
  return { ...rest, description: typeof description === 'string' ? `${description} ${words}` : words };
}

/** Whether an object is a schema. Only the keywords that this file reads count. */
function isSchema(value: Json): value is JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { type, enum: values } = value as JsonObject;
  return typeof type === 'string' || Array.isArray(type) || Array.isArray(values) || 'default' in value;
}

/** Whether a keyword has a schema for each of several names, which may themselves be those of keywords. */
function mapsNames(keyword: string): boolean {
  return keyword === 'properties' || keyword === 'patternProperties';
}

function mapEach(schemas: Json, map: (schema: Json) => Json): Json {
  return mapEntries(schemas, (_name, schema) => map(schema));
}

function mapEntries(value: Json, map: (key: string, item: Json) => Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => map('', item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, map(key, item)]));
}
