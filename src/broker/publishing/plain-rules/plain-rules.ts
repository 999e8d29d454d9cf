import { isSchemaObject, type SchemaObject } from '../../schemas/schema-walk.ts';

/**
 * What a schema requires of one value, where that can be checked while its bytes are walked: its kind, its keys, how
 * many it has, one of two formats, and which of some texts it is. Most schemas require nothing else of most values.
 */
export interface PlainRules {
  /** The kinds that the value may have, as the sum of their {@link valueKind}s. */
  readonly kinds: number;
  readonly format: 'uuid' | 'date-time' | null;
  /** The texts that a string may have, as Latin-1 of their UTF-8; null for any. */
  readonly texts: ReadonlySet<string> | null;
  /** The keys of an object that have rules of their own. */
  readonly keys: KeyTable;
  /** The rules of the values under all other keys; null when those are refused, or cannot be checked here. */
  readonly otherKeys: PlainRules | null;
  readonly requiredKeys: number;
  readonly keysMinimum: number;
  readonly keysMaximum: number;
  /** The rules of the items of an array; null as for {@link otherKeys}. */
  readonly items: PlainRules | null;
  readonly itemsMinimum: number;
  readonly itemsMaximum: number;
  /** The indexes of the wanted paths that lead to this value, which must then be a string without escapes. */
  readonly wanted: readonly number[];
  /** Where the value stands that the walk gives special care. */
  readonly place: 'metadata' | 'further-metadata' | null;
}

/** The kinds of value that JSON has. */
export const valueKind = { object: 1, array: 2, string: 4, number: 8, integer: 16, boolean: 32, null: 64 } as const;

const anyKind = 127;

/** A key with rules of its own. */
export interface KeyRules {
  /** Its UTF-8. */
  readonly name: Uint8Array;
  readonly hash: number;
  readonly isRequired: boolean;
  /** Null as for {@link PlainRules.otherKeys}. */
  readonly value: PlainRules | null;
}

/** Keys by their hash: at its remainder, or at the next place after it. The length is a power of two. */
export type KeyTable = readonly (KeyRules | undefined)[];

/** The hash of a key: h = 31 h + byte over its UTF-8, wrapping. */
export function hashOfKey(name: Uint8Array): number {
  let hash = 0;
  for (const byte of name) hash = (Math.imul(hash, 31) + byte) | 0;
  return hash;
}

/** Metadata fields that the enrichment overwrites, or that it always expects. */
const usualMetadata = new Set(['eid', 'occurred_at', 'event_type']);

const annotations = ['title', 'description', 'default', 'examples', '$comment', '$schema', '$defs', 'definitions'];
const checkedKeywords = new Set([
  ...annotations,
  'type',
  'nullable',
  'format',
  'enum',
  'const',
  'properties',
  'required',
  'additionalProperties',
  'minProperties',
  'maxProperties',
  'items',
  'minItems',
  'maxItems',
]);

export interface PlainRulesOptions {
  /** Strings whose positions are wanted: paths of keys. */
  readonly wantedPaths: readonly (readonly string[])[];
  /** Whether the object under the top-level key `metadata` is that of the envelope. */
  readonly hasMetadata: boolean;
}

/** The rules of a schema that a walk can check; null when the schema requires more of every event. */
export function plainRulesOf(schema: SchemaObject, options: PlainRulesOptions): PlainRules | null {
  return rulesAt(schema, [], options);
}

/** @param path The keys that lead to the value; undefined for one that is no member of objects alone. */
function rulesAt(schema: unknown, path: readonly string[] | undefined, options: PlainRulesOptions): PlainRules | null {
  if (schema === true) return rulesAt({}, path, options);
  if (!isSchemaObject(schema)) return null;
  const wanted = path === undefined ? [] : indexesOf(path, options.wantedPaths);
  const place = placeOf(path, options);
  const leadsFurther = path !== undefined && options.wantedPaths.some((wantedPath) => isWithin(path, wantedPath));
  const hasPlace = wanted.length > 0 || place !== null || leadsFurther;
  if (Object.keys(schema).length === 0 && !hasPlace) return anything;
  if (!Object.keys(schema).every((keyword) => checkedKeywords.has(keyword))) return null;
  const kinds = kindsOf(schema);
  const texts = textsOf(schema);
  const { format = null, properties = {}, required = [], items = {} } = schema;
  const isFormatKnown = format === null || format === 'uuid' || format === 'date-time';
  if (kinds === undefined || texts === undefined || !isFormatKnown) return null;
  if (!isSchemaObject(properties) || !isListOfTexts(required)) return null;
  const others = schema['additionalProperties'] ?? {};
  const names = new Set([...Object.keys(properties), ...required, ...namesWithin(path, options.wantedPaths)]);
  // Validators treat this name differently from others.
  if (names.has('__proto__')) return null;
  const keyRules = [...names].map((name): KeyRules => {
    const bytes = Buffer.from(name);
    const valueSchema = Object.hasOwn(properties, name) ? properties[name] : others;
    return {
      name: bytes,
      hash: hashOfKey(bytes),
      isRequired: required.includes(name),
      value: rulesAt(valueSchema, path === undefined ? undefined : [...path, name], options),
    };
  });
  return {
    kinds,
    format,
    texts,
    keys: tableOf(keyRules),
    otherKeys: rulesAt(others, undefined, options),
    requiredKeys: new Set(required).size,
    keysMinimum: numberOr(schema['minProperties'], 0),
    keysMaximum: numberOr(schema['maxProperties'], Number.MAX_SAFE_INTEGER),
    // A list of schemas has one for each item.
    items: Array.isArray(items) ? null : rulesAt(items, undefined, options),
    itemsMinimum: numberOr(schema['minItems'], 0),
    itemsMaximum: numberOr(schema['maxItems'], Number.MAX_SAFE_INTEGER),
    wanted,
    place,
  };
}

function placeOf(path: readonly string[] | undefined, { hasMetadata }: PlainRulesOptions): PlainRules['place'] {
  const [first, second, ...more] = path ?? [];
  if (!hasMetadata || first !== 'metadata' || more.length > 0) return null;
  if (second === undefined) return 'metadata';
  return usualMetadata.has(second) ? null : 'further-metadata';
}

/** The kinds that a schema allows; undefined when it says so in an unknown way. */
function kindsOf({ type, nullable }: SchemaObject): number | undefined {
  if (nullable !== undefined && (typeof nullable !== 'boolean' || type === undefined)) return undefined;
  if (type === undefined) return anyKind;
  let kinds = nullable === true ? valueKind.null : 0;
  for (const name of [type].flat() as unknown[]) {
    if (typeof name !== 'string' || !Object.hasOwn(valueKind, name)) return undefined;
    kinds |= valueKind[name as keyof typeof valueKind];
  }
  // Every integer is a number.
  return (kinds & valueKind.number) === 0 ? kinds : kinds | valueKind.integer;
}

/** The texts that a schema lists; null when it lists none, undefined when it lists other values. */
function textsOf(schema: SchemaObject): ReadonlySet<string> | null | undefined {
  const { enum: choices, const: only } = schema;
  if (choices === undefined && only === undefined) return null;
  const listed = choices === undefined ? [only] : choices;
  if ((choices !== undefined && only !== undefined) || !isListOfTexts(listed)) return undefined;
  return new Set(listed.map((text) => Buffer.from(text).toString('latin1')));
}

function isListOfTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((member) => typeof member === 'string');
}

function numberOr(value: unknown, absent: number): number {
  return typeof value === 'number' ? value : absent;
}

function indexesOf(path: readonly string[], wantedPaths: PlainRulesOptions['wantedPaths']): number[] {
  return [...wantedPaths.keys()].filter((index) => {
    const wantedPath = wantedPaths[index] ?? [];
    return wantedPath.length === path.length && isWithin(path, wantedPath);
  });
}

/** Whether a path begins with another. */
function isWithin(start: readonly string[], path: readonly string[]): boolean {
  return start.length <= path.length && start.every((name, index) => name === path[index]);
}

/** The keys of the object at a path that wanted paths lead through. */
function namesWithin(path: readonly string[] | undefined, wantedPaths: PlainRulesOptions['wantedPaths']): string[] {
  if (path === undefined) return [];
  return wantedPaths.flatMap((wantedPath) =>
    isWithin(path, wantedPath) ? wantedPath.slice(path.length, path.length + 1) : [],
  );
}

function tableOf(keys: readonly KeyRules[]): KeyTable {
  const size = 2 ** Math.ceil(Math.log2(keys.length * 2 + 1));
  const table: (KeyRules | undefined)[] = Array.from({ length: size }, () => undefined);
  for (const key of keys) {
    let place = key.hash & (size - 1);
    while (table[place] !== undefined) place = (place + 1) & (size - 1);
    table[place] = key;
  }
  return table;
}

/** Rules of a value that may be anything, as its members may. */
const anything: { -readonly [Rule in keyof PlainRules]: PlainRules[Rule] } = {
  kinds: anyKind,
  format: null,
  texts: null,
  keys: tableOf([]),
  otherKeys: null,
  requiredKeys: 0,
  keysMinimum: 0,
  keysMaximum: Number.MAX_SAFE_INTEGER,
  items: null,
  itemsMinimum: 0,
  itemsMaximum: Number.MAX_SAFE_INTEGER,
  wanted: [],
  place: null,
};
anything.otherKeys = anything;
anything.items = anything;
