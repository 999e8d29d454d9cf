import { type ExactJson, isExactObject, readExactObject } from './exact-json.ts';

/**
 * JSON Patch (RFC 6902) as clients of the lending API write it: a list of `{op, path, value, from}` whose operations
 * are ADD, REPLACE, REMOVE and MOVE, in upper or lower case, and whose paths may lack the slash in front.
 *
 * A response leaves out what is empty, so a client cannot know which objects are there. Therefore ADD and REPLACE both
 * set a field, whether or not it was there, and the objects that its path leads through are made where they are absent.
 */

/** The most operations of one patch. */
export const operationsMaximum = 200;
/** The longest path. Characters. */
const pathCharactersMaximum = 1_000;
/** How deeply a value may be nested. */
const valueDepthMaximum = 32;

const operationNames = ['ADD', 'REPLACE', 'REMOVE', 'MOVE'] as const;
/** The name of the place after the last item of a list. */
const endOfList = '-';

/** One operation, with its paths in their parts. */
export type PatchOperation =
  | { readonly op: 'ADD' | 'REPLACE'; readonly path: readonly string[]; readonly value: unknown }
  | { readonly op: 'REMOVE'; readonly path: readonly string[] }
  | { readonly op: 'MOVE'; readonly path: readonly string[]; readonly from: readonly string[] };

/** Why one operation cannot be done. A patch with such an operation changes nothing. */
export interface PatchFault {
  /** The position of the operation in the patch, from 0. */
  readonly index: number;
  /** The part of the operation that is wrong; empty when the operation is no object. */
  readonly member: string;
  /** The path as it was sent; empty when none was. */
  readonly path: string;
  /** A sentence. */
  readonly reason: string;
}

/**
 * Reads the body of a patch.
 * @returns the operations, or the faults of their form, at most one for each operation
 * @throws SyntaxError when the body is no JSON list of 1 to {@link operationsMaximum} items
 */
export function readJsonPatch(bodyText: string): PatchReading {
  // Read inside an object, in the way all bodies are: it refuses repeated keys and keeps numbers as they were written.
  const { operations: items, ...others } = readExactObject(`{"operations":${bodyText}}`);
  if (!Array.isArray(items) || Object.keys(others).length > 0) {
    throw new SyntaxError('The JSON is not a list of operations.');
  }
  if (items.length === 0 || items.length > operationsMaximum) {
    throw new SyntaxError(`A patch has 1 to ${operationsMaximum} operations.`);
  }
  return readPatchOperations(items);
}

/** Reads the operations of a patch, however many. Returns what {@link readJsonPatch} does. */
export function readPatchOperations(items: readonly unknown[]): PatchReading {
  const operations: PatchOperation[] = [];
  const faults: PatchFault[] = [];
  for (const [index, item] of items.entries()) {
    const read = readOperation(item, index);
    if ('reason' in read) faults.push(read);
    else operations.push(read);
  }
  const [first, ...rest] = faults;
  return first === undefined ? operations : [first, ...rest];
}

/** The operations of a patch, or the faults of their form. */
export type PatchReading = readonly PatchOperation[] | readonly [PatchFault, ...PatchFault[]];

/** Whether a patch has faults of form. */
export function hasFaults(read: PatchReading): read is readonly [PatchFault, ...PatchFault[]] {
  return read.some((item) => 'reason' in item);
}

function readOperation(item: unknown, index: number): PatchOperation | PatchFault {
  if (!isExactObject(item)) return { index, member: '', path: '', reason: 'It is not an object.' };
  const { op, path, from, value, ...others } = item;
  const pathText = typeof path === 'string' ? path : '';
  const fault = (member: string, reason: string): PatchFault => ({ index, member, path: pathText, reason });
  const [other] = Object.keys(others);
  if (other !== undefined) return fault(other, 'An operation has op, path, value and from.');
  const name = operationNames.find((known) => op === known || op === known.toLowerCase());
  if (name === undefined) return fault('op', `It is one of ${operationNames.join(', ')}.`);
  const parts = readPath(path);
  if (parts === undefined) return fault('path', 'It names no field.');
  const isSet = name === 'ADD' || name === 'REPLACE';
  if (!isSet && isGiven(value)) return fault('value', `${name} has no value.`);
  if (name !== 'MOVE' && isGiven(from)) return fault('from', `${name} has no from.`);
  if (name === 'REMOVE') return { op: name, path: parts };
  if (isSet) {
    if (value === undefined) return fault('value', 'It is missing.');
    return isDeeperThan(value, valueDepthMaximum)
      ? fault('value', `It is nested more than ${valueDepthMaximum} levels deep.`)
      : { op: name, path: parts, value };
  }
  const fromParts = readPath(from);
  if (fromParts === undefined) return fault('from', 'It names no field.');
  const isInside = fromParts.length < parts.length && fromParts.every((part, place) => part === parts[place]);
  return isInside ? fault('path', 'A field cannot move into itself.') : { op: name, path: parts, from: fromParts };
}

/** Generated clients send the members that an operation does not have as null or as an empty text. */
function isGiven(member: unknown): boolean {
  return member !== undefined && member !== null && member !== '';
}

/** The parts of a JSON Pointer (RFC 6901), also without its first slash; undefined for any other value. */
function readPath(path: unknown): string[] | undefined {
  if (typeof path !== 'string' || path.length > pathCharactersMaximum || /~(?![01])/.test(path)) return undefined;
  const parts = (path.startsWith('/') ? path.slice(1) : path)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return parts.every((part) => part !== '' && part !== '__proto__') ? parts : undefined;
}

function isDeeperThan(value: unknown, levels: number): boolean {
  const items = Array.isArray(value) ? value : isExactObject(value) ? Object.values(value) : [];
  return items.length > 0 && (levels === 0 || items.some((item) => isDeeperThan(item, levels - 1)));
}

/**
 * Does the operations in their order.
 * @returns a new document, or the fault of the first operation that cannot be done; the given document never changes
 */
export function applyJsonPatch(
  document: ExactJson,
  operations: readonly PatchOperation[],
): { readonly document: ExactJson } | { readonly fault: PatchFault } {
  let current = document;
  for (const [index, operation] of operations.entries()) {
    try {
      current = applied(current, operation);
    } catch (error) {
      if (!(error instanceof PlaceError)) throw error;
      const parts = error.member === 'from' && operation.op === 'MOVE' ? operation.from : operation.path;
      return { fault: { index, member: error.member, path: `/${parts.join('/')}`, reason: error.message } };
    }
  }
  return { document: current };
}

/** A path leads to no place where its operation could be done. */
class PlaceError extends Error {
  readonly member: 'path' | 'from';

  constructor(reason: string, member: 'path' | 'from' = 'path') {
    super(reason);
    this.member = member;
  }
}

function applied(document: ExactJson, operation: PatchOperation): ExactJson {
  if (operation.op === 'REMOVE') return removed(document, operation.path).document;
  if (operation.op !== 'MOVE') return set(document, operation.path, operation.value, operation.op === 'ADD');
  const { document: rest, value } = removedFrom(document, operation.from);
  return set(rest, operation.path, value, true);
}

function removedFrom(document: ExactJson, from: readonly string[]): ReturnType<typeof removed> {
  try {
    return removed(document, from);
  } catch (error) {
    throw error instanceof PlaceError ? new PlaceError(error.message, 'from') : error;
  }
}

/** @param inserts Whether an item of a list is put before the one at its place, instead of replacing it. */
function set(document: ExactJson, path: readonly string[], value: unknown, inserts: boolean): ExactJson {
  return changed(document, path, (parent, name) => {
    if (!Array.isArray(parent)) return { ...parent, [name]: value };
    const end = name === endOfList && inserts;
    const place = end ? parent.length : placeIn(parent, name, inserts ? parent.length : parent.length - 1);
    return parent.toSpliced(place, inserts ? 0 : 1, value);
  });
}

function removed(
  document: ExactJson,
  path: readonly string[],
): { readonly document: ExactJson; readonly value: unknown } {
  let value: unknown;
  const rest = changed(document, path, (parent, name) => {
    if (Array.isArray(parent)) {
      const place = placeIn(parent, name, parent.length - 1);
      value = parent[place];
      return parent.toSpliced(place, 1);
    }
    if (!Object.hasOwn(parent, name)) throw new PlaceError('There is nothing at this path.');
    const { [name]: taken, ...others } = parent;
    value = taken;
    return others;
  });
  return { document: rest, value };
}

type Container = ExactJson | unknown[];

/** A copy of the document in which `change` has changed the object or list that holds the last part of the path. */
function changed(
  document: ExactJson,
  path: readonly string[],
  change: (parent: Container, name: string) => Container,
): ExactJson {
  const [name = '', next] = path;
  // A document is an object, and `change` makes no list of an object.
  return changedAt(document, name, next, path, change) as ExactJson;
}

function changedAt(
  parent: Container,
  name: string,
  next: string | undefined,
  path: readonly string[],
  change: (parent: Container, name: string) => Container,
): Container {
  if (next === undefined) return change(parent, name);
  const below = path.slice(1);
  const into = (child: unknown): Container => changedAt(containerAt(child, next), next, below[1], below, change);
  if (Array.isArray(parent)) {
    const place = placeIn(parent, name, parent.length - 1);
    return parent.with(place, into(parent[place]));
  }
  return { ...parent, [name]: into(Object.hasOwn(parent, name) ? parent[name] : undefined) };
}

/** The object or list at a place on the way; made where there is none. @param next What is looked for in it. */
function containerAt(value: unknown, next: string): Container {
  if (Array.isArray(value) || isExactObject(value)) return value;
  if (value !== undefined && value !== null) throw new PlaceError('The path leads through a value that has no fields.');
  if (next === endOfList) return [];
  if (wholeNumber.test(next)) throw new PlaceError('There is no list at this path.');
  return {};
}

/** @throws PlaceError when the name is no place of the list up to `last` */
function placeIn(list: readonly unknown[], name: string, last: number): number {
  const place = wholeNumber.test(name) ? Number(name) : -1;
  if (place < 0 || place > last) throw new PlaceError(`The list has ${list.length} items, counted from 0.`);
  return place;
}

const wholeNumber = /^(?:0|[1-9]\d{0,8})$/;
