import { resolved, type JsonObject } from '../../support/http/api-description.ts';
import type { SeededRandom } from './seeded-random.ts';
import { RawJson, type JsonPath } from './json-text.ts';

/** Values that a schema of the description allows, nearly allows, or just not. */

/** The maximum depth of values; the description has schemas that contain themselves. */
const depthMaximum = 6;

/** A value that fits the keywords of the schema that the description uses most. */
export function valueFor(schema: JsonObject, random: SeededRandom, depth = 0): unknown {
  const { type, ...found } = flat(schema);
  if (found['const'] !== undefined) return found['const'];
  const choices = found['enum'] as readonly unknown[] | undefined;
  if (choices !== undefined) return random.pick(choices);
  switch (Array.isArray(type) ? random.pick(type as unknown[]) : (type ?? typeOf(found))) {
    case 'object':
      return objectFor(found, random, depth);
    case 'array': {
      const items = (found['items'] ?? {}) as JsonObject;
      const least = numberOf(found['minItems']) ?? 0;
      const count = depth > depthMaximum ? least : Math.max(least, random.integer(3));
      return Array.from({ length: count }, () => valueFor(items, random, depth + 1));
    }
    case 'integer':
    case 'number':
      return numberFor(found, random);
    case 'boolean':
      return random.chance(0.5);
    case 'null':
      return null;
    default:
      return textFor(found, random);
  }
}

function typeOf(schema: JsonObject): string {
  if (schema['properties'] !== undefined || schema['additionalProperties'] !== undefined) return 'object';
  if (schema['items'] !== undefined) return 'array';
  return schema['minimum'] !== undefined || schema['maximum'] !== undefined ? 'number' : 'string';
}

function objectFor(schema: JsonObject, random: SeededRandom, depth: number): JsonObject {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, JsonObject>>;
  const required = new Set((schema['required'] ?? []) as readonly string[]);
  const chance = depth > depthMaximum ? 0 : 0.4;
  const members = Object.entries(properties)
    .filter(([name, property]) => typeof property === 'object' && (required.has(name) || random.chance(chance)))
    .map(([name, property]): [string, unknown] => [name, valueFor(property, random, depth + 1)]);
  return Object.fromEntries(members);
}

function numberFor(schema: JsonObject, random: SeededRandom): number {
  const least = numberOf(schema['minimum']) ?? 0;
  const most = numberOf(schema['maximum']) ?? least + 1_000;
  return random.weighted([
    [3, least + random.integer(Math.min(1_000, most - least + 1))],
    [1, least],
    [1, most],
  ]);
}

function textFor(schema: JsonObject, random: SeededRandom): string {
  switch (schema['format']) {
    case 'uuid':
      return random.uuid();
    case 'date':
      return '2025-03-15';
    case 'date-time':
      return '2025-01-15T08:30:00Z';
    default:
  }
  const length = Math.max(numberOf(schema['minLength']) ?? 1, Math.min(numberOf(schema['maxLength']) ?? 12, 12));
  return Array.from({ length }, () => 'abcXYZ0189'.charAt(random.integer(10))).join('');
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** The schema with its references and compositions merged, using one branch of exclusive ones. */
function flat(schema: JsonObject): JsonObject {
  const { allOf, oneOf, anyOf, ...own } = resolved<JsonObject>(schema);
  const [branch] = ((oneOf ?? anyOf ?? []) as readonly JsonObject[]).slice(0, 1);
  const parts = [...((allOf ?? []) as readonly JsonObject[]), ...(branch === undefined ? [] : [branch])].map(flat);
  return parts.reduce<JsonObject>((sum, part) => {
    const properties = {
      ...(part['properties'] as JsonObject | undefined),
      ...(sum['properties'] as JsonObject | undefined),
    };
    return { ...part, ...sum, ...(Object.keys(properties).length > 0 ? { properties } : {}) };
  }, own);
}

/** The schema of a place in a value; undefined where the description has none. */
export function schemaAt(schema: JsonObject, path: JsonPath): JsonObject | undefined {
  const found = flat(schema);
  const [step, ...rest] = path;
  if (step === undefined) return found;
  const properties = (found['properties'] ?? {}) as Readonly<Record<string, JsonObject>>;
  const next = typeof step === 'number' ? (found['items'] as JsonObject | undefined) : properties[step];
  return typeof next === 'object' ? schemaAt(next, rest) : undefined;
}

/** Values on both sides of each limit of a schema; none when it has none. */
export function boundariesOf(schema: JsonObject): unknown[] {
  const edges: unknown[] = [];
  for (const keyword of ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']) {
    const limit = numberOf(schema[keyword]);
    if (limit !== undefined) edges.push(limit - 1, limit, limit + 1, limit + 0.5, new RawJson(`${limit}.0`));
  }
  for (const keyword of ['minLength', 'maxLength']) {
    const limit = numberOf(schema[keyword]);
    if (limit !== undefined)
      edges.push(...[limit - 1, limit, limit + 1].map((length) => 'a'.repeat(Math.max(0, length))));
  }
  for (const keyword of ['minItems', 'maxItems']) {
    const limit = numberOf(schema[keyword]);
    if (limit === undefined || limit > 5_000) continue;
    edges.push(
      ...[limit - 1, limit, limit + 1].map((length) => Array.from({ length: Math.max(0, length) }, () => ({}))),
    );
  }
  for (const choice of (schema['enum'] ?? []) as readonly unknown[]) {
    edges.push(choice);
    if (typeof choice === 'string') edges.push(choice.toLowerCase(), ` ${choice}`, `${choice}\u0000`);
  }
  return edges;
}
