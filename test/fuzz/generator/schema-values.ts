import { resolved, type JsonObject } from '../../support/http/api-description.ts';
import type { Dice } from './dice.ts';
import { RawJson, type JsonPath } from './json-text.ts';

/** Values that a schema of the description allows, nearly allows, or just not. */

/** How deep values are made; the description has schemas that hold themselves. */
const depthMaximum = 6;

/** A value that fits the schema in what the keywords of it say that the description uses most. */
export function valueFor(schema: JsonObject, dice: Dice, depth = 0): unknown {
  const { type, ...found } = flat(schema);
  if (found['const'] !== undefined) return found['const'];
  const choices = found['enum'] as readonly unknown[] | undefined;
  if (choices !== undefined) return dice.pick(choices);
  switch (Array.isArray(type) ? dice.pick(type as unknown[]) : (type ?? typeOf(found))) {
    case 'object':
      return objectFor(found, dice, depth);
    case 'array': {
      const items = (found['items'] ?? {}) as JsonObject;
      const least = numberOf(found['minItems']) ?? 0;
      const count = depth > depthMaximum ? least : Math.max(least, dice.whole(3));
      return Array.from({ length: count }, () => valueFor(items, dice, depth + 1));
    }
    case 'integer':
    case 'number':
      return numberFor(found, dice);
    case 'boolean':
      return dice.chance(0.5);
    case 'null':
      return null;
    default:
      return textFor(found, dice);
  }
}

function typeOf(schema: JsonObject): string {
  if (schema['properties'] !== undefined || schema['additionalProperties'] !== undefined) return 'object';
  if (schema['items'] !== undefined) return 'array';
  return schema['minimum'] !== undefined || schema['maximum'] !== undefined ? 'number' : 'string';
}

function objectFor(schema: JsonObject, dice: Dice, depth: number): JsonObject {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, JsonObject>>;
  const required = new Set((schema['required'] ?? []) as readonly string[]);
  const chance = depth > depthMaximum ? 0 : 0.4;
  const members = Object.entries(properties)
    .filter(([name, property]) => typeof property === 'object' && (required.has(name) || dice.chance(chance)))
    .map(([name, property]): [string, unknown] => [name, valueFor(property, dice, depth + 1)]);
  return Object.fromEntries(members);
}

function numberFor(schema: JsonObject, dice: Dice): number {
  const least = numberOf(schema['minimum']) ?? 0;
  const most = numberOf(schema['maximum']) ?? least + 1_000;
  return dice.weighted([
    [3, least + dice.whole(Math.min(1_000, most - least + 1))],
    [1, least],
    [1, most],
  ]);
}

function textFor(schema: JsonObject, dice: Dice): string {
  switch (schema['format']) {
    case 'uuid':
      return dice.uuid();
    case 'date':
      return '2025-03-15';
    case 'date-time':
      return '2025-01-15T08:30:00Z';
    default:
  }
  const length = Math.max(numberOf(schema['minLength']) ?? 1, Math.min(numberOf(schema['maxLength']) ?? 12, 12));
  return Array.from({ length }, () => 'abcXYZ0189'.charAt(dice.whole(10))).join('');
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** The schema with what it refers to and is composed of put together, one branch of those that exclude each other. */
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

/** The schema of a place in a value; undefined where the description says nothing. */
export function schemaAt(schema: JsonObject, path: JsonPath): JsonObject | undefined {
  const found = flat(schema);
  const [step, ...rest] = path;
  if (step === undefined) return found;
  const properties = (found['properties'] ?? {}) as Readonly<Record<string, JsonObject>>;
  const next = typeof step === 'number' ? (found['items'] as JsonObject | undefined) : properties[step];
  return typeof next === 'object' ? schemaAt(next, rest) : undefined;
}

/** Values on both sides of each limit that a schema sets; none when it sets none. */
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
