import { isDeepStrictEqual } from 'node:util';
import { LendstreamError } from '../../errors.ts';
import type { EventType } from '../definitions/event-type.ts';
import type { JsonSchema } from '../../schema-files.ts';
import { isSchemaObject, pointerStep, type SchemaObject } from './schema-walk.ts';
import { type VersionPart, raisedVersion } from './schema-versions.ts';
import { mergeSchemas, writtenDigits } from './schema-digits.ts';

/**
 * The kinds of changes between two schemas of an event type. They decide the next version.
 *
 * - *breaking*: readers of the old schema may get events that they do not understand.
 * - *narrowing*: every new event fits the old schema, but not every old event fits the new one.
 * - *extending*: properties were added.
 * - *wording*: validation sees no difference.
 */
export type SchemaChangeKind = 'breaking' | 'narrowing' | 'extending' | 'wording';

export interface SchemaChange {
  readonly kind: SchemaChangeKind;
  readonly pointer: string;
  readonly message: string;
}

export type CompatibilityMode = EventType['compatibility_mode'];

/** The part of a version that each kind of change raises, or null where the mode forbids it. */
const raises: Record<CompatibilityMode, Record<SchemaChangeKind, VersionPart | null>> = {
  compatible: { breaking: null, narrowing: null, extending: 'minor', wording: 'patch' },
  forward: { breaking: null, narrowing: 'minor', extending: 'minor', wording: 'patch' },
  none: { breaking: 'major', narrowing: 'minor', extending: 'minor', wording: 'patch' },
};

/**
 * The version of `next` when it follows `previous` at `version`. A text that differs only in its layout counts as a
 * change of wording.
 * @throws UNPROCESSABLE listing the changes that the mode forbids.
 */
export function nextSchemaVersion(
  previous: JsonSchema,
  next: JsonSchema,
  mode: CompatibilityMode,
  version: string,
): string {
  const changes = compareSchemas(previous, next);
  const forbidden = changes.filter(({ kind }) => raises[mode][kind] === null);
  if (forbidden.length > 0) {
    const findings = forbidden.map(({ pointer, message }) => `${pointer}: ${message}`).join(', ');
    throw new LendstreamError('UNPROCESSABLE', `Invalid schema: ${findings}`);
  }
  const levels = new Set(changes.map(({ kind }) => raises[mode][kind]));
  return raisedVersion(version, levels.has('major') ? 'major' : levels.has('minor') ? 'minor' : 'patch');
}

/**
 * All differences between two schemas, each with its position as a JSON pointer into the new one.
 * @throws UNPROCESSABLE when their references lead to more than {@link comparedPositionsMaximum} positions.
 */
export function compareSchemas(previous: JsonSchema, next: JsonSchema): SchemaChange[] {
  const comparison: Comparison = {
    previous,
    next,
    compared: new Set(),
    changes: [],
    positionsCompared: 0,
    equality: new WeakMap(),
  };
  compareAt(comparison, '#', previous, next);
  return comparison.changes;
}

interface Comparison {
  readonly previous: JsonSchema;
  readonly next: JsonSchema;
  /** Pairs of references that are being compared already, so that recursive schemas end. */
  readonly compared: Set<string>;
  readonly changes: SchemaChange[];
  /** How many positions were compared. */
  positionsCompared: number;
  /** The results for values that were compared already: references may lead to the same ones from many positions. */
  readonly equality: WeakMap<object, WeakMap<object, boolean>>;
}

/**
 * The most positions of two schemas that are compared. A schema has far fewer, but references may lead to the same ones
 * again and again, and comparing blocks the whole process.
 */
export const comparedPositionsMaximum = 10_000;

/** Whether two values of schemas are equal. Each pair is compared once. */
function areEqual({ equality }: Comparison, previous: unknown, next: unknown): boolean {
  if (typeof previous !== 'object' || typeof next !== 'object' || previous === null || next === null) {
    return isDeepStrictEqual(previous, next);
  }
  const known = equality.get(previous) ?? new WeakMap<object, boolean>();
  equality.set(previous, known);
  const isEqual = known.get(next) ?? isDeepStrictEqual(previous, next);
  known.set(next, isEqual);
  return isEqual;
}

/**
 * Keywords with a rule of their own below. A change of any other keyword is breaking for an assertion and wording
 * otherwise.
 */
const structural = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'prefixItems',
  'additionalItems',
  'allOf',
  'anyOf',
  'oneOf',
  'enum',
  'dependencies',
  'dependentRequired',
  'dependentSchemas',
  'id',
  '$id',
  '$ref',
  // Definitions count where references lead to them.
  'definitions',
  '$defs',
]);

const assertions = new Set([
  'const',
  'contains',
  'contentEncoding',
  'contentMediaType',
  'else',
  'exclusiveMaximum',
  'exclusiveMinimum',
  'format',
  'if',
  'maxContains',
  'maxItems',
  'maxLength',
  'maxProperties',
  'maximum',
  'minContains',
  'minItems',
  'minLength',
  'minProperties',
  'minimum',
  'multipleOf',
  'not',
  'nullable',
  'pattern',
  'patternProperties',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
  'uniqueItems',
]);

function compareAt(comparison: Comparison, pointer: string, previousSchema: unknown, nextSchema: unknown): void {
  if (typeof previousSchema === 'boolean' && previousSchema === nextSchema) return;
  comparison.positionsCompared += 1;
  if (comparison.positionsCompared > comparedPositionsMaximum) {
    const detail = `comparing it with the current schema leads to more than ${comparedPositionsMaximum} places`;
    throw new LendstreamError('UNPROCESSABLE', `Invalid schema: ${detail}`);
  }
  const report = (kind: SchemaChangeKind, message: string, at = pointer): void => {
    comparison.changes.push({ kind, pointer: at, message });
  };
  const marker = referencePair(previousSchema, nextSchema);
  if (marker !== null) {
    if (comparison.compared.has(marker)) return;
    comparison.compared.add(marker);
  }
  const previous = resolve(comparison.previous, previousSchema);
  const next = resolve(comparison.next, nextSchema);
  if (previous === undefined || next === undefined) {
    if (!areEqual(comparison, previousSchema, nextSchema)) report('breaking', 'the schema it refers to changed');
    return;
  }
  if (!areEqual(comparison, identity(previous), identity(next))) report('breaking', 'schema ids must be the same');

  const types = compareTypes(previous, next);
  if (types === 'changed') {
    report('breaking', 'schema types must be the same');
    return;
  }
  if (types === 'narrowed') report('narrowing', 'schema types became narrower');

  compareProperties(comparison, pointer, previous, next);
  compareRequired(comparison, pointer, previous, next);
  compareOpenness(comparison, pointer, previous, next, 'additionalProperties');
  compareItems(comparison, pointer, previous, next);
  compareCompositions(comparison, pointer, previous, next);
  if (!areEqual(comparison, previous['enum'], next['enum'])) {
    report('breaking', 'enum values changed', pointerStep(pointer, 'enum'));
  }
  for (const keyword of ['dependencies', 'dependentRequired', 'dependentSchemas']) {
    if (!areEqual(comparison, previous[keyword], next[keyword])) {
      report('breaking', 'dependencies changed', pointerStep(pointer, keyword));
    }
  }
  for (const keyword of new Set([...Object.keys(previous), ...Object.keys(next)])) {
    const isSame =
      areEqual(comparison, previous[keyword], next[keyword]) &&
      writtenDigits(previous, keyword) === writtenDigits(next, keyword);
    if (structural.has(keyword) || isSame) continue;
    if (assertions.has(keyword)) report('breaking', `value of ${keyword} changed`, pointerStep(pointer, keyword));
    else report('wording', `${keyword} changed`, pointerStep(pointer, keyword));
  }
}

function identity(schema: SchemaObject): unknown {
  return schema['$id'] ?? schema['id'];
}

function referencePair(previous: unknown, next: unknown): string | null {
  const references = [previous, next].map((schema) => (isSchemaObject(schema) ? schema['$ref'] : undefined));
  return references.some((reference) => reference !== undefined) ? JSON.stringify(references) : null;
}

/** How many references are followed in a row before they count as endless. */
const referenceStepsMaximum = 32;

/**
 * The schema itself: `true` and `false` are spelled out, local references are followed and merged with the keywords
 * beside them.
 */
function resolve(root: JsonSchema, schema: unknown): SchemaObject | undefined {
  let found = schema;
  let siblings: SchemaObject = {};
  for (let step = 0; step < referenceStepsMaximum; step += 1) {
    if (found === true || found === undefined) return siblings;
    if (found === false) return { not: {} };
    if (!isSchemaObject(found)) return undefined;
    const { $ref: reference, ...rest } = found;
    siblings = mergeSchemas(rest, siblings);
    if (typeof reference !== 'string') return siblings;
    found = follow(root, reference);
    if (found === undefined) return undefined;
  }
  return undefined;
}

function follow(root: JsonSchema, reference: string): unknown {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let found: unknown = root;
  for (const step of reference.slice(2).split('/')) {
    const name = nameOf(step);
    if (name === undefined || typeof found !== 'object' || found === null || !Object.hasOwn(found, name))
      return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

/** The name that a step of a reference stands for; undefined when its escapes are malformed. */
function nameOf(step: string): string | undefined {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}

const allTypes = ['null', 'boolean', 'object', 'array', 'number', 'integer', 'string'];

/**
 * The types that a schema admits; `number` admits integers. Without `type` it admits objects if it has `properties`,
 * else all types.
 */
function typesOf(schema: SchemaObject): Set<string> {
  const declared = [schema['type'] ?? (schema['properties'] === undefined ? allTypes : 'object')].flat().map(String);
  return new Set(declared.includes('number') ? [...declared, 'integer'] : declared);
}

function compareTypes(previous: SchemaObject, next: SchemaObject): 'same' | 'narrowed' | 'changed' {
  const previousTypes = typesOf(previous);
  const nextTypes = typesOf(next);
  if ([...nextTypes].some((type) => !previousTypes.has(type))) return 'changed';
  return nextTypes.size === previousTypes.size ? 'same' : 'narrowed';
}

function compareProperties(comparison: Comparison, pointer: string, previous: SchemaObject, next: SchemaObject): void {
  const previousProperties = objectOf(previous['properties']);
  const nextProperties = objectOf(next['properties']);
  const at = pointerStep(pointer, 'properties');
  for (const [name, property] of Object.entries(previousProperties)) {
    const propertyPointer = pointerStep(at, name);
    if (Object.hasOwn(nextProperties, name)) {
      compareAt(comparison, propertyPointer, property, nextProperties[name]);
    } else {
      const message = 'schema properties cannot be removed';
      comparison.changes.push({ kind: 'breaking', pointer: propertyPointer, message });
    }
  }
  for (const name of Object.keys(nextProperties)) {
    if (Object.hasOwn(previousProperties, name)) continue;
    comparison.changes.push({ kind: 'extending', pointer: pointerStep(at, name), message: 'property added' });
  }
}

function compareRequired(comparison: Comparison, pointer: string, previous: SchemaObject, next: SchemaObject): void {
  const previousNames = new Set(listOf(previous['required']));
  const nextNames = new Set(listOf(next['required']));
  const at = pointerStep(pointer, 'required');
  if ([...previousNames].some((name) => !nextNames.has(name))) {
    comparison.changes.push({ kind: 'breaking', pointer: at, message: 'required array changed' });
  } else if (nextNames.size > previousNames.size) {
    comparison.changes.push({ kind: 'narrowing', pointer: at, message: 'required array extended' });
  }
}

/** Compares what objects or lists may hold beyond the described members: anything, what a schema says, or nothing. */
function compareOpenness(
  comparison: Comparison,
  pointer: string,
  previous: SchemaObject,
  next: SchemaObject,
  keyword: 'additionalProperties' | 'additionalItems',
): void {
  const before = previous[keyword] ?? true;
  const after = next[keyword] ?? true;
  if (areEqual(comparison, before, after)) return;
  const at = pointerStep(pointer, keyword);
  if (isSchemaObject(before) && isSchemaObject(after)) {
    compareAt(comparison, at, before, after);
    return;
  }
  // From anything to something, or from something to nothing.
  const narrows = keyword === 'additionalProperties' && (isOpen(before) || after === false);
  const message = narrows ? `${keyword} became narrower` : `${keyword} changed`;
  comparison.changes.push({ kind: narrows ? 'narrowing' : 'breaking', pointer: at, message });
}

function isOpen(schema: unknown): boolean {
  return schema === true || (isSchemaObject(schema) && Object.keys(schema).length === 0);
}

function compareItems(comparison: Comparison, pointer: string, previous: SchemaObject, next: SchemaObject): void {
  for (const keyword of ['items', 'prefixItems']) {
    const before = previous[keyword];
    const after = next[keyword];
    if (before === undefined && after === undefined) continue;
    const at = pointerStep(pointer, keyword);
    if (Array.isArray(before) && Array.isArray(after)) {
      compareLists(comparison, at, before, after, 'the number of items changed');
    } else if (Array.isArray(before) || Array.isArray(after)) {
      comparison.changes.push({ kind: 'breaking', pointer: at, message: 'the number of items changed' });
    } else if (before !== undefined && after === undefined) {
      comparison.changes.push({ kind: 'breaking', pointer: at, message: 'schemas cannot be removed' });
    } else {
      compareAt(comparison, at, before, after);
    }
  }
  compareOpenness(comparison, pointer, previous, next, 'additionalItems');
}

function compareCompositions(
  comparison: Comparison,
  pointer: string,
  previous: SchemaObject,
  next: SchemaObject,
): void {
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const before = previous[keyword];
    const after = next[keyword];
    if (before === undefined && after === undefined) continue;
    const at = pointerStep(pointer, keyword);
    if (Array.isArray(before) && Array.isArray(after)) {
      compareLists(comparison, at, before, after, 'the number of subschemas changed');
    } else {
      comparison.changes.push({ kind: 'breaking', pointer: at, message: 'the way schemas are composed changed' });
    }
  }
}

function compareLists(
  comparison: Comparison,
  pointer: string,
  before: readonly unknown[],
  after: readonly unknown[],
  lengthMessage: string,
): void {
  if (before.length !== after.length) {
    comparison.changes.push({ kind: 'breaking', pointer, message: lengthMessage });
    return;
  }
  for (const [index, schema] of before.entries())
    compareAt(comparison, pointerStep(pointer, index), schema, after[index]);
}

function objectOf(value: unknown): SchemaObject {
  return isSchemaObject(value) ? value : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
