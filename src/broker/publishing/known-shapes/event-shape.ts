import { jsonByte, readString, skipString, skipValue } from '../../../json-bytes.ts';
import { isSchemaObject, type SchemaObject } from '../../schemas/schema-walk.ts';

/**
 * What the events of one producer have in common: the same keys in the same order, and values of the same kinds. Most
 * rules of most schemas require nothing else, so what one valid event has shown is true for every event of its shape.
 * Recognising a shape takes a third of the time of parsing, walking and validating.
 *
 * A shape is the text of a valid event with gaps. A gap stands where the schema requires no more of a value than its
 * type or one of two formats. All other text must be the same byte for byte, including values under any other rule. A
 * schema with rules over several values has no shape. An event without the shape may still be valid: it is checked in
 * full.
 */
export interface EventShape {
  /** The event's text around the gaps, one piece after another: one before each gap and one after the last. */
  readonly pieces: Uint8Array;
  /** Where the piece before each gap ends in `pieces`. */
  readonly pieceEnds: Int32Array;
  readonly gapKinds: Uint8Array;
  /** The index of the gap of each wanted path. */
  readonly gapsByPath: readonly number[];
}

/** The kinds of gap that a shape may have. */
export const gapKind = {
  /** Empty: it only marks a position, the start or the end of the value of the marked path. */
  mark: 0,
  /** The inside of a string without escapes. */
  text: 1,
  /** The same for a UUID: eight, four, four, four and twelve hexadecimal digits. */
  uuid: 2,
  /** The same for a date and time of RFC 3339. */
  dateTime: 3,
  /** A number without an exponent. */
  number: 4,
  integer: 5,
} as const;

type GapKind = (typeof gapKind)[keyof typeof gapKind];

/** Rules about kinds, keys and counts only: equal shapes pass or fail alike. */
const annotations = ['title', 'description', 'default', 'examples', '$comment', '$schema', '$defs', 'definitions'];
const objectRules = new Set([
  ...annotations,
  'type',
  'nullable',
  'properties',
  'required',
  'additionalProperties',
  'minProperties',
  'maxProperties',
]);
const arrayRules = new Set([...annotations, 'type', 'nullable', 'items', 'minItems', 'maxItems']);
const plainRules = new Set([...annotations, 'type', 'nullable']);

/**
 * A shape is learnt from small events only: the more of an event is plain text, the less recognising it gains. Bytes.
 */
export const shapeBytesMaximum = 16 * 1024;

export interface ShapeRequest {
  /** Holds a valid event with no white space between its tokens and no repeated keys at its top level. */
  readonly body: Uint8Array;
  /** Where that event begins and ends. */
  readonly start: number;
  readonly end: number;
  /** The schema that the event was validated with. */
  readonly schema: SchemaObject;
  /** Strings that must be gaps. */
  readonly paths: readonly (readonly string[])[];
  /** A key of the event whose value gets a mark before it and one after it, found by {@link EventShape.gapsByPath}. */
  readonly marked: string | null;
}

class NoShape extends Error {}

/**
 * The shape of an event; undefined when its schema or the event itself has none. `gapsByPath` lists paths, then marks.
 */
export function shapeOf(request: ShapeRequest): EventShape | undefined {
  if (request.end - request.start > shapeBytesMaximum) return undefined;
  try {
    return new ShapeReader(request).read();
  } catch (error) {
    if (error instanceof NoShape) return undefined;
    throw error;
  }
}

const { quote, comma, openBrace, closeBrace, openBracket, closeBracket } = jsonByte;

class ShapeReader {
  readonly #request: ShapeRequest;
  readonly #pieces: Uint8Array[] = [];
  readonly #kinds: GapKind[] = [];
  readonly #gapsByPath: number[];
  #position: number;
  /** Where the current piece begins; the next gap ends it. */
  #pieceStart: number;

  constructor(request: ShapeRequest) {
    this.#request = request;
    this.#gapsByPath = Array.from({ length: request.paths.length + 2 }, () => -1);
    this.#position = request.start;
    this.#pieceStart = request.start;
  }

  read(): EventShape {
    const { schema, body, end, paths, marked } = this.#request;
    this.#value(schema, []);
    this.#pieces.push(body.subarray(this.#pieceStart, end));
    const wanted = marked === null ? this.#gapsByPath.slice(0, paths.length) : this.#gapsByPath;
    if (this.#position !== end || wanted.includes(-1)) throw new NoShape();
    let pieceEnd = 0;
    return {
      pieces: Buffer.concat(this.#pieces),
      pieceEnds: Int32Array.from(this.#pieces, ({ length }) => (pieceEnd += length)),
      gapKinds: Uint8Array.from(this.#kinds),
      gapsByPath: wanted,
    };
  }

  #byte(): number {
    return this.#request.body[this.#position] ?? -1;
  }

  #value(schema: SchemaObject, path: readonly string[]): void {
    const byte = this.#byte();
    if (byte === openBrace) this.#object(schema, path);
    else if (byte === openBracket) this.#array(schema, path);
    else if (byte === quote) this.#string(schema, path);
    else this.#plain(schema);
  }

  #object(schema: SchemaObject, path: readonly string[]): void {
    allowOnly(schema, objectRules);
    const names = new Set<string>();
    this.#position += 1;
    while (this.#byte() !== closeBrace) {
      const name = this.#key();
      // Validators treat `__proto__` differently from other names.
      if (names.has(name) || name === '__proto__') throw new NoShape();
      names.add(name);
      const isMarked = path.length === 0 && name === this.#request.marked;
      if (isMarked) this.#mark(0);
      this.#value(schemaOfKey(schema, name), [...path, name]);
      if (isMarked) this.#mark(1);
      if (this.#byte() === comma) this.#position += 1;
    }
    this.#position += 1;
  }

  #key(): string {
    const start = this.#position;
    this.#position = skipString(this.#request.body, this.#position);
    const name = readString(this.#request.body, start, this.#position);
    // The colon.
    this.#position += 1;
    return name;
  }

  #array(schema: SchemaObject, path: readonly string[]): void {
    allowOnly(schema, arrayRules);
    const items = schema['items'] ?? {};
    this.#position += 1;
    while (this.#byte() !== closeBracket) {
      // An item has no path of keys, so no wanted path leads to it.
      this.#value(subschema(items), [...path, '']);
      if (this.#byte() === comma) this.#position += 1;
    }
    this.#position += 1;
  }

  #string(schema: SchemaObject, path: readonly string[]): void {
    const kind = kindOfText(schema);
    const start = this.#position + 1;
    this.#position = skipString(this.#request.body, this.#position);
    if (kind === undefined) return;
    const isWanted = (wanted: readonly string[]): boolean =>
      wanted.length === path.length && wanted.every((name, index) => name === path[index]);
    for (const [index, wanted] of this.#request.paths.entries()) {
      if (isWanted(wanted)) this.#gapsByPath[index] = this.#kinds.length;
    }
    this.#gap(kind, start, this.#position - 1);
  }

  /** A number, true, false or null. */
  #plain(schema: SchemaObject): void {
    const start = this.#position;
    this.#position = skipValue(this.#request.body, start);
    const isNumber = /[-\d]/.test(String.fromCharCode(this.#request.body[start] as number));
    if (!isNumber || !hasOnly(schema, plainRules)) return;
    const types = [schema['type'] ?? 'number'].flat();
    this.#gap(types.includes('number') ? gapKind.number : gapKind.integer, start, this.#position);
  }

  #mark(index: 0 | 1): void {
    this.#gapsByPath[this.#request.paths.length + index] = this.#kinds.length;
    this.#gap(gapKind.mark, this.#position, this.#position);
  }

  #gap(kind: GapKind, start: number, end: number): void {
    this.#pieces.push(this.#request.body.subarray(this.#pieceStart, start));
    this.#kinds.push(kind);
    this.#pieceStart = end;
  }
}

function hasOnly(schema: SchemaObject, rules: ReadonlySet<string>): boolean {
  return Object.keys(schema).every((keyword) => rules.has(keyword));
}

function allowOnly(schema: SchemaObject, rules: ReadonlySet<string>): void {
  if (!hasOnly(schema, rules)) throw new NoShape();
}

/** The kind of gap that a string may be under a schema; undefined when it may not be one. */
function kindOfText(schema: SchemaObject): GapKind | undefined {
  const { format, ...others } = schema;
  if (!hasOnly(others, plainRules)) return undefined;
  if (format === 'uuid') return gapKind.uuid;
  if (format === 'date-time') return gapKind.dateTime;
  return format === undefined ? gapKind.text : undefined;
}

function schemaOfKey(schema: SchemaObject, name: string): SchemaObject {
  const properties = schema['properties'];
  if (isSchemaObject(properties) && Object.hasOwn(properties, name)) return subschema(properties[name]);
  return subschema(schema['additionalProperties'] ?? {});
}

/** A valid event has no value where its schema is `false`, and a schema of `true` has no rules. */
function subschema(schema: unknown): SchemaObject {
  if (schema === true) return {};
  if (!isSchemaObject(schema)) throw new NoShape();
  return schema;
}
